//! Receivers: where webhooks may go, and the rules for their URLs, in their order.
//!
//! A [`ReceiverUrl`] exists only if every rule held; the first one that did not is the reason.
//! The rules look at the text as it was written, then at one parse of it. Names are not looked
//! up here: what DNS answers is judged again at every send.
//!
//! Source: service interface, "Events", rule 3; the contract, section 8.

use std::fmt;
use std::net::IpAddr;

use url::Url;

use crate::domain::account::AccountId;
use crate::domain::address::{self, Verdict};
use crate::domain::host::{BadHost, Host, Names};
use crate::domain::id::{self, Id};
use crate::domain::limits::URL_BYTES_MAX;
use crate::domain::time::Timestamp;
use crate::domain::url_text::{UrlText, plain_port};

/// The name of a receiver.
pub type ReceiverId = Id<id::Receiver>;

/// Where the events of an account go. Its secret is kept apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Its name.
    pub id: ReceiverId,
    /// Whose events it gets.
    pub account: AccountId,
    /// Its address, as it was taken; judged again at every send.
    pub url: String,
    /// What its secret is told by.
    pub fingerprint: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Since when nothing is sent to it.
    pub disabled_at: Option<Timestamp>,
}

/// A URL that webhooks may be sent to, in its one spelling.
#[derive(Clone, PartialEq, Eq)]
pub struct ReceiverUrl(Url);

/// Which URLs are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlPolicy {
    /// Those of the public network.
    Public,
    /// Also plain HTTP, any port and names of one machine; addresses are left to the guard.
    Development,
}

/// Why a URL is not taken; the words are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlReason {
    /// It is not a URL, is too long, or holds characters that do not belong there.
    Invalid,
    /// Its scheme is another.
    Scheme,
    /// It carries a user name or a password, if only an empty one.
    Credentials,
    /// It has a fragment, if only an empty one.
    Fragment,
    /// Its port is another.
    Port,
    /// Its host is no name of the public network.
    Host,
    /// Its host is an address that is not public.
    AddressNotAllowed,
}

impl ReceiverUrl {
    /// Reads a URL and checks every rule.
    ///
    /// # Errors
    ///
    /// The reason of the first rule that does not hold.
    pub fn parse(text: &str, policy: UrlPolicy) -> Result<Self, UrlReason> {
        if text.len() > URL_BYTES_MAX
            || text.bytes().any(|it| it <= b' ' || b"\x7F\\".contains(&it))
        {
            return Err(UrlReason::Invalid);
        }
        let parts = UrlText::split(text).ok_or(UrlReason::Invalid)?;
        if !parts.is_ascii_outside_host() {
            return Err(UrlReason::Invalid);
        }
        if !scheme_is_taken(parts.scheme, policy) {
            return Err(UrlReason::Scheme);
        }
        if parts.userinfo.is_some() {
            return Err(UrlReason::Credentials);
        }
        if parts.fragment.is_some() {
            return Err(UrlReason::Fragment);
        }
        if !parts.port.is_none_or(|it| port_is_taken(it, policy)) {
            return Err(UrlReason::Port);
        }
        let host = policy.host(parts.host)?;
        let url = Url::parse(text).map_err(|_| UrlReason::Invalid)?;
        // Escapes make some texts longer.
        let is_same = host.is_of(&url) && url.as_str().len() <= URL_BYTES_MAX;
        is_same.then_some(Self(url)).ok_or(UrlReason::Invalid)
    }

    /// The URL in its one spelling: host in lower case, dot segments and `:443` gone.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The URL, for whoever sends to it.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.0
    }

    /// The host alone, for logs: a path may hold a secret of the receiver.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
}

impl fmt::Debug for ReceiverUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReceiverUrl({}/…)", self.host())
    }
}

impl UrlPolicy {
    /// Reads a host and judges it if it is an address.
    ///
    /// # Errors
    ///
    /// [`UrlReason::Invalid`], [`UrlReason::Host`] or [`UrlReason::AddressNotAllowed`].
    pub fn host(self, text: &str) -> Result<Host, UrlReason> {
        let names = match self {
            Self::Public => Names::Public,
            Self::Development => Names::Any,
        };
        let host = Host::parse(text, names).map_err(|it| match it {
            BadHost::Malformed => UrlReason::Invalid,
            BadHost::Refused => UrlReason::Host,
        })?;
        match &host {
            Host::Address(ip) if self.refuses(*ip) => Err(UrlReason::AddressNotAllowed),
            Host::Address(_) | Host::Name(_) => Ok(host),
        }
    }

    fn refuses(self, ip: IpAddr) -> bool {
        self == Self::Public && address::judge(ip) != Verdict::Public
    }
}

impl UrlReason {
    /// Every reason, in the order of the rules.
    pub const ALL: [Self; 7] = [
        Self::Invalid,
        Self::Scheme,
        Self::Credentials,
        Self::Fragment,
        Self::Port,
        Self::Host,
        Self::AddressNotAllowed,
    ];

    /// The word for it in the interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "url_invalid",
            Self::Scheme => "url_scheme",
            Self::Credentials => "url_credentials",
            Self::Fragment => "url_fragment",
            Self::Port => "url_port",
            Self::Host => "url_host",
            Self::AddressNotAllowed => "address_not_allowed",
        }
    }
}

impl fmt::Display for UrlReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "not a valid URL",
            Self::Scheme => "the scheme is not allowed",
            Self::Credentials => "user names and passwords are not allowed",
            Self::Fragment => "fragments are not allowed",
            Self::Port => "the port is not allowed",
            Self::Host => "the host is not a public name or a plainly written address",
            Self::AddressNotAllowed => "the address is not public",
        })
    }
}

impl std::error::Error for UrlReason {}

fn scheme_is_taken(scheme: &str, policy: UrlPolicy) -> bool {
    match policy {
        UrlPolicy::Public => scheme.eq_ignore_ascii_case("https"),
        UrlPolicy::Development => {
            scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
        }
    }
}

fn port_is_taken(text: &str, policy: UrlPolicy) -> bool {
    match policy {
        UrlPolicy::Public => text == PUBLIC_PORT,
        UrlPolicy::Development => plain_port(text).is_some(),
    }
}

/// The one port of receivers. Source: service interface, "Limits".
const PUBLIC_PORT: &str = "443";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(policy: UrlPolicy, reason: UrlReason, texts: &[&str]) {
        for text in texts {
            assert_eq!(ReceiverUrl::parse(text, policy), Err(reason), "{text:?}");
        }
    }

    #[test]
    fn characters_that_parsers_repair_make_a_url_invalid() {
        let long = format!("https://a.example/{}", "a".repeat(2048));
        let grows = format!("https://a.example/{}", "\"".repeat(1000));
        let texts = [
            "",
            " https://a.example/",
            "https://a.example/ ",
            "https://a.exa\tmple/",
            "\u{0}",
            "https://a.example/\r\n",
            "https://a.example\\@10.0.0.1/",
            "https://a.example/é",
            "https://é@a.example/",
            "https://a.example:４４３/",
            "https:a.example",
            "a.example",
            "//a.example/",
            "https:/a.example",
            "https://",
            "https:///a.example",
            "mailto:a@b.example",
            "https://a.example/?q=é",
            "https://a.example/#é",
            "https://a.ex\u{200B}ample/",
            "https://%61.example/",
            "https://[::1%25lo]/",
            "https://[::1/",
            &long,
            &grows,
        ];
        check(UrlPolicy::Public, UrlReason::Invalid, &texts);
        check(UrlPolicy::Development, UrlReason::Invalid, &texts);
    }

    #[test]
    fn the_first_rule_that_is_broken_is_the_reason() {
        check(
            UrlPolicy::Public,
            UrlReason::Scheme,
            &["http://u@localhost:1/#f", "ftp://a.example"],
        );
        check(UrlPolicy::Public, UrlReason::Credentials, &["https://@localhost:1/#f"]);
        check(
            UrlPolicy::Public,
            UrlReason::Fragment,
            &["https://localhost:1/#", "https://10.0.0.1#@"],
        );
        let ports = [
            "https://localhost:1/",
            "https://a.example:/",
            "https://a.example:0443/",
            "https://a.example:443:443/",
            "https://::1/",
            "https://[::1]:444/",
        ];
        check(UrlPolicy::Public, UrlReason::Port, &ports);
        check(
            UrlPolicy::Public,
            UrlReason::Host,
            &["https://localhost:443/", "https://a.example./"],
        );
        check(
            UrlPolicy::Public,
            UrlReason::AddressNotAllowed,
            &["https://10.0.0.1", "https://[::1]"],
        );
    }

    #[test]
    fn a_url_is_kept_in_one_spelling() {
        for (text, kept) in [
            ("HTTPS://HOOKS.Example.ORG:443", "https://hooks.example.org/"),
            ("https://a.example/x/../y/./z?b=1&a=%2f", "https://a.example/y/z?b=1&a=%2f"),
            ("https://bücher.example/in", "https://xn--bcher-kva.example/in"),
            ("https://1.1.1.1/in%23", "https://1.1.1.1/in%23"),
            ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/"),
        ] {
            assert_eq!(ReceiverUrl::parse(text, UrlPolicy::Public).unwrap().as_str(), kept);
        }
    }

    #[test]
    fn development_takes_plain_http_any_port_and_leaves_addresses_to_the_guard() {
        for text in [
            "http://localhost:3000/hook",
            "http://127.0.0.1:8080/",
            "http://[::1]/",
            "https://printer.local:8443/",
            "http://hook/",
            "https://10.0.0.1/",
        ] {
            assert!(ReceiverUrl::parse(text, UrlPolicy::Development).is_ok(), "{text}");
        }
        let dev = UrlPolicy::Development;
        check(dev, UrlReason::Scheme, &["ftp://localhost/", "file:///etc/passwd", "gopher://a/"]);
        check(dev, UrlReason::Credentials, &["http://@localhost/"]);
        check(dev, UrlReason::Fragment, &["http://localhost/#"]);
        check(
            dev,
            UrlReason::Port,
            &["http://localhost:0/", "http://localhost:070/", "http://a:65536/"],
        );
        check(dev, UrlReason::Host, &["http://127.1/", "http://0x7f000001/", "http://localhost./"]);
    }

    #[test]
    fn debugging_a_url_does_not_show_its_path() {
        let url = ReceiverUrl::parse("https://a.example/token-1?t=2", UrlPolicy::Public).unwrap();
        assert_eq!(format!("{url:?}"), "ReceiverUrl(a.example/…)");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = ReceiverUrl::parse(&text, UrlPolicy::Public);
            let _ = ReceiverUrl::parse(&format!("https://{text}"), UrlPolicy::Development);
        }

        #[test]
        fn what_is_taken_is_taken_again_and_means_the_same(
            text in "https://[a-c0-9.:\\[\\]_x-]{1,14}(:443)?[/?][ -~]{0,8}"
        ) {
            if let Ok(url) = ReceiverUrl::parse(&text, UrlPolicy::Public) {
                let again = ReceiverUrl::parse(url.as_str(), UrlPolicy::Public);
                prop_assert_eq!(again.as_ref(), Ok(&url));
                prop_assert!(url.url().username().is_empty() && url.url().password().is_none());
                prop_assert_eq!(url.url().port_or_known_default(), Some(443));
            }
        }
    }
}
