//! Which page an agent may fetch: the rules for an address that a caller names.
//!
//! People type these, so a missing scheme is added and spaces around the text are dropped. What
//! decides where the request goes stays strict: scheme, user name, host and port. Names are not
//! looked up here: what DNS answers is judged again at every fetch.

use std::borrow::Cow;
use std::fmt;

use url::Url;

use crate::domain::limits::URL_BYTES_MAX;
use crate::domain::receiver::{UrlPolicy, UrlReason};
use crate::domain::url_text::{UrlText, is_scheme, plain_port};

/// A URL that an agent may fetch, in its one spelling and without a fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageUrl(Url);

impl PageUrl {
    /// Reads an address that a person typed or a page linked to.
    ///
    /// # Errors
    ///
    /// The reason of the first rule that does not hold; a fragment is dropped, never a reason.
    pub fn parse(text: &str, policy: UrlPolicy) -> Result<Self, UrlReason> {
        let text = text.trim_matches(|it: char| it.is_ascii_whitespace());
        if text.is_empty() || text.len() > URL_BYTES_MAX || text.chars().any(is_forbidden) {
            return Err(UrlReason::Invalid);
        }
        let text = with_scheme(text)?;
        let parts = UrlText::split(&text).ok_or(UrlReason::Invalid)?;
        if parts.userinfo.is_some() {
            return Err(UrlReason::Credentials);
        }
        if !parts.port.is_none_or(|it| port_is_taken(it, policy)) {
            return Err(UrlReason::Port);
        }
        let host = policy.host(parts.host)?;
        let mut url = Url::parse(&text).map_err(|_| UrlReason::Invalid)?;
        url.set_fragment(None);
        // Escapes make some texts longer.
        let is_same = host.is_of(&url) && url.as_str().len() <= URL_BYTES_MAX;
        is_same.then_some(Self(url)).ok_or(UrlReason::Invalid)
    }

    /// The URL in its one spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The URL, for whoever fetches it or resolves links against it.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Adds `https` where no scheme was written, and refuses schemes that are not the web's.
///
/// `example.org:8080` has a port, not a scheme; `mailto:x` has a scheme.
fn with_scheme(text: &str) -> Result<Cow<'_, str>, UrlReason> {
    if text.starts_with("//") {
        return Ok(Cow::Owned(format!("https:{text}")));
    }
    match text.split_once(':') {
        Some((head, _)) if is_web_scheme(head) => Ok(Cow::Borrowed(text)),
        Some((head, tail)) if is_scheme(head) && !starts_with_port(tail) => Err(UrlReason::Scheme),
        Some(_) | None => Ok(Cow::Owned(format!("https://{text}"))),
    }
}

fn is_web_scheme(text: &str) -> bool {
    text.eq_ignore_ascii_case("https") || text.eq_ignore_ascii_case("http")
}

fn starts_with_port(text: &str) -> bool {
    let port = text.split(['/', '?', '#']).next().unwrap_or_default();
    !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit())
}

/// Control characters, and the backslash, which some parsers take for a slash.
fn is_forbidden(it: char) -> bool {
    it.is_control() || it == '\\'
}

fn port_is_taken(text: &str, policy: UrlPolicy) -> bool {
    plain_port(text).is_some_and(|port| match policy {
        UrlPolicy::Public => PAGE_PORTS.contains(&port),
        UrlPolicy::Development => true,
    })
}

/// Ports of pages on the public network. Source: the contract, section 6.
pub const PAGE_PORTS: [u16; 4] = [80, 443, 8080, 8443];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(reason: UrlReason, texts: &[&str]) {
        for text in texts {
            assert_eq!(PageUrl::parse(text, UrlPolicy::Public), Err(reason), "{text:?}");
        }
    }

    #[test]
    fn what_does_not_lead_to_a_public_page_is_refused() {
        let long = format!("example.org/{}", "a".repeat(2048));
        let grows = format!("example.org/{}", "é".repeat(500));
        let invalid = [
            "",
            "  ",
            "https:example.org",
            "http:/example.org",
            "https://",
            "https:///x",
            "/path",
            "https://exa\tmple.org",
            "https://example.org/a\nb",
            "https://example.org\\@10.0.0.1/",
            "https://exam%70le.org/",
            "https://[::1",
            &long,
            &grows,
        ];
        check(UrlReason::Invalid, &invalid);
        let schemes = ["ftp://a.example", "javascript:alert(1)", "mailto:a@b.example", "data:,x"];
        check(UrlReason::Scheme, &schemes);
        check(UrlReason::Credentials, &["https://u:p@a.example", "@a.example", "//@a.example/"]);
        let ports = ["a.example:22", "https://a.example:", "a.example:0", "a.example:080/"];
        check(UrlReason::Port, &ports);
        let hosts = [
            "localhost",
            "127.1",
            "intranet:8080",
            "https://a.example./",
            "x.local",
            "a b.example",
        ];
        check(UrlReason::Host, &hosts);
        check(
            UrlReason::AddressNotAllowed,
            &["127.0.0.1", "http://[::1]:8080/", "//169.254.169.254"],
        );
    }

    #[test]
    fn what_people_type_becomes_one_spelling() {
        for (text, kept) in [
            ("Example.org", "https://example.org/"),
            (" example.org:8080/a b \n", "https://example.org:8080/a%20b"),
            ("//example.org/x", "https://example.org/x"),
            ("HTTP://example.org:80/#top", "http://example.org/"),
            ("bücher.example/über?q=ü", "https://xn--bcher-kva.example/%C3%BCber?q=%C3%BC"),
            ("https://example.org/a/../b?x=a@b:c", "https://example.org/b?x=a@b:c"),
            ("8.8.8.8", "https://8.8.8.8/"),
        ] {
            assert_eq!(PageUrl::parse(text, UrlPolicy::Public).unwrap().as_str(), kept, "{text}");
        }
    }

    #[test]
    fn development_takes_local_names_and_ports_and_leaves_addresses_to_the_guard() {
        for (text, kept) in [
            ("localhost:3000/x", "https://localhost:3000/x"),
            ("http://127.0.0.1:4001/", "http://127.0.0.1:4001/"),
            ("http://[::1]:9/", "http://[::1]:9/"),
        ] {
            let url = PageUrl::parse(text, UrlPolicy::Development).unwrap();
            assert_eq!(url.as_str(), kept);
        }
        let odd = PageUrl::parse("http://0x7f.1/", UrlPolicy::Development);
        assert_eq!(odd, Err(UrlReason::Host));
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_is_taken_is_taken_again(text in any::<String>()) {
            for before in ["", "http://", "https://a.example/"] {
                let text = format!("{before}{text}");
                if let Ok(url) = PageUrl::parse(&text, UrlPolicy::Public) {
                    prop_assert_eq!(PageUrl::parse(url.as_str(), UrlPolicy::Public), Ok(url));
                }
            }
        }
    }
}
