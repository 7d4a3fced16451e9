//! The host of a URL: a name that DNS may be asked for, or an address.
//!
//! A host passes only in a spelling that every parser reads the same way: an address in its
//! plain form, a name of letters, digits, hyphens and underscores. What one parser would repair
//! (octal numbers, missing parts, circled digits, trailing dots) is refused.

use std::net::IpAddr;

/// A host in its one spelling: names in lower case, other scripts as A-labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name for DNS, without a trailing dot.
    Name(String),
    /// An address; nobody is asked.
    Address(IpAddr),
}

/// Which names are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Those that mean the same everywhere.
    Public,
    /// Also those of one machine or one network, such as `localhost` or `printer`.
    Any,
}

/// Why a text is not a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHost {
    /// It is empty, escaped, bracketed wrongly, has a zone, or hides characters.
    Malformed,
    /// It is a name or a number, but not one that is taken.
    Refused,
}

impl Host {
    /// Reads the text between `//` (or `@`) and the port or path of a URL.
    ///
    /// # Errors
    ///
    /// [`BadHost`]; the order of its two reasons is the order of checks.
    pub fn parse(text: &str, names: Names) -> Result<Self, BadHost> {
        if text.is_empty() || text.contains('%') || text.chars().any(is_invisible) {
            return Err(BadHost::Malformed);
        }
        if text.contains(['[', ']']) {
            let Ok(url::Host::Ipv6(v6)) = url::Host::parse(text) else {
                return Err(BadHost::Malformed);
            };
            return Ok(Self::Address(v6.into()));
        }
        match url::Host::parse(text) {
            Ok(url::Host::Ipv4(v4)) if v4.to_string() == text => Ok(Self::Address(v4.into())),
            Ok(url::Host::Domain(name)) if is_name(&name, names) => Ok(Self::Name(name)),
            Ok(_) | Err(_) => Err(BadHost::Refused),
        }
    }

    /// Whether `url` has this very host.
    #[must_use]
    pub fn is_of(&self, url: &url::Url) -> bool {
        match (self, url.host()) {
            (Self::Name(name), Some(url::Host::Domain(found))) => name == found,
            (Self::Address(IpAddr::V4(ip)), Some(url::Host::Ipv4(found))) => *ip == found,
            (Self::Address(IpAddr::V6(ip)), Some(url::Host::Ipv6(found))) => *ip == found,
            (Self::Name(_) | Self::Address(_), _) => false,
        }
    }
}

fn is_name(name: &str, names: Names) -> bool {
    let labels = || name.split('.');
    let well_formed = name.len() <= NAME_CHARS_MAX && labels().all(is_label);
    // A last label without a letter would be read as a number by somebody.
    let ends_in_word =
        labels().next_back().is_some_and(|it| it.contains(|c: char| !c.is_ascii_digit()));
    let public = match names {
        Names::Any => true,
        Names::Public => {
            labels().count() > 1 && !LOCAL_SUFFIXES.iter().any(|it| ends_with(name, it))
        }
    };
    well_formed && ends_in_word && public
}

fn is_label(label: &str) -> bool {
    let plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-' || it == b'_';
    (1..=LABEL_CHARS_MAX).contains(&label.len())
        && label.bytes().all(plain)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether `name` is `suffix` or lies below it.
fn ends_with(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether a character has no width of its own, so that two hosts could look the same.
fn is_invisible(it: char) -> bool {
    INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&it))
}

/// Names that mean something else on every machine or network. Source: RFC 6761, RFC 6762,
/// RFC 7686, RFC 8375, RFC 9476, and ICANN's reservation of `internal`.
const LOCAL_SUFFIXES: [&str; 6] = ["localhost", "local", "internal", "home.arpa", "onion", "alt"];
/// Characters of a whole name, without the trailing dot. Source: RFC 1035.
const NAME_CHARS_MAX: usize = 253;
/// Characters between two dots. Source: RFC 1035.
const LABEL_CHARS_MAX: usize = 63;
/// Soft hyphens, joiners, direction marks, fillers, variation selectors and tags.
const INVISIBLE: [(char, char); 15] = [
    ('\u{AD}', '\u{AD}'),
    ('\u{34F}', '\u{34F}'),
    ('\u{61C}', '\u{61C}'),
    ('\u{115F}', '\u{1160}'),
    ('\u{17B4}', '\u{17B5}'),
    ('\u{180B}', '\u{180F}'),
    ('\u{200B}', '\u{200F}'),
    ('\u{202A}', '\u{202E}'),
    ('\u{2060}', '\u{206F}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{FE00}', '\u{FE0F}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFA0}', '\u{FFA0}'),
    ('\u{1D173}', '\u{1D17A}'),
    ('\u{E0000}', '\u{E0FFF}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(why: BadHost, names: Names, texts: &[&str]) {
        for text in texts {
            assert_eq!(Host::parse(text, names), Err(why), "{text:?}");
        }
    }

    #[test]
    fn numbers_in_any_other_spelling_than_the_plain_one_are_refused() {
        let texts = [
            "0",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "0x",
            "00.0.0.0",
            "127.0.0.1.",
            "127.0.0.01",
            "1.2.3.4.5",
            "256.1.1.1",
            "4294967296",
            "1.1.1.0x1",
            "１２７.0.0.1",
            "①②⑦.0.0.1",
            "127。0。0。1",
            "127．0．0．1",
            "a.b.1",
            "a.b.0x1f",
            "example.0",
            "1..1.1.1",
            "१२७.0.0.1",
        ];
        check_refused(BadHost::Refused, Names::Any, &texts);
        let plain = Host::parse("127.0.0.1", Names::Public);
        assert_eq!(plain, Ok(Host::Address("127.0.0.1".parse().unwrap())));
    }

    #[test]
    fn brackets_hold_an_ipv6_address_and_nothing_else() {
        let texts = [
            "[]",
            "[",
            "]",
            "[::1",
            "::1]",
            "[::1].",
            "[::1]x",
            "[127.0.0.1]",
            "[v1.fe80::1]",
            "[::1%eth0]",
            "[::1%25eth0]",
            "[:::]",
            "[::127.1]",
            "[::0177.0.0.1]",
            "a[b",
            "[[::1]]",
            "[1:2:3:4:5:6:7:8:9]",
            "[ ::1]",
            "[::g]",
        ];
        check_refused(BadHost::Malformed, Names::Any, &texts);
        for text in ["[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]", "[::0.0.0.1]"] {
            let found = Host::parse(text, Names::Public);
            assert_eq!(found, Ok(Host::Address("::1".parse().unwrap())), "{text}");
        }
    }

    #[test]
    fn hidden_and_escaped_characters_are_malformed() {
        let texts = [
            "",
            "hooks.example.org%2e",
            "%31.1.1.1",
            "ex\u{200B}ample.org",
            "ex\u{AD}ample.org",
            "\u{FEFF}example.org",
            "example\u{2060}.org",
            "a\u{200D}b.org",
            "a\u{FE0F}.org",
        ];
        check_refused(BadHost::Malformed, Names::Any, &texts);
    }

    #[test]
    fn names_that_dns_cannot_hold_are_refused() {
        let long_label = format!("{}.example.org", "a".repeat(64));
        let long_name = ["a".repeat(60).as_str(); 5].join(".");
        let texts = [
            ".",
            "..",
            ".example.org",
            "example..org",
            "example.org.",
            "example.org..",
            "-a.example.org",
            "a-.example.org",
            "exa mple.org",
            "a,b.example.org",
            "a!b.org",
            "a<b.org",
            "a:b.org",
            "*.example.org",
            "xn--a.example.org",
            "xn--.example.org",
            "\u{85}a.example.org",
            "a\u{A0}b.example.org",
            "a\u{2F}b.example.org",
            "a\u{FF0F}b.example.org",
            "℀.example.org",
            &long_label,
            &long_name,
        ];
        check_refused(BadHost::Refused, Names::Any, &texts);
    }

    #[test]
    fn names_of_one_machine_or_network_are_taken_only_when_asked_for() {
        let texts = [
            "localhost",
            "LOCALHOST",
            "a.localhost",
            "ⓛocalhost",
            "ｌｏｃａｌｈｏｓｔ",
            "printer.local",
            "db.internal",
            "internal",
            "router.home.arpa",
            "home.arpa",
            "x.onion",
            "x.alt",
            "intranet",
            "com",
        ];
        check_refused(BadHost::Refused, Names::Public, &texts);
        for text in texts {
            assert!(Host::parse(text, Names::Any).is_ok(), "{text}");
        }
        for text in ["notlocal.example.org", "mylocal.org", "arpa.example.org", "altalt.org"] {
            assert!(Host::parse(text, Names::Public).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_name_has_one_spelling() {
        for (text, name) in [
            ("HOOKS.Example.ORG", "hooks.example.org"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER。example", "xn--bcher-kva.example"),
            ("my_hooks.example.org", "my_hooks.example.org"),
            ("1.example.org", "1.example.org"),
            ("a--b.example.org", "a--b.example.org"),
        ] {
            assert_eq!(Host::parse(text, Names::Public), Ok(Host::Name(name.to_owned())), "{text}");
        }
    }
}
