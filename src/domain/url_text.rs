//! The text of a URL, taken apart before any parser may repair it.
//!
//! Parsers for browsers strip tabs, turn backslashes round, and drop an empty user name without
//! a word. Rules about what was written must look at what was written. Nothing is decoded here.

/// The parts of `scheme://userinfo@host:port/path?query#fragment`, as they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlText<'a> {
    /// What stands before the first colon.
    pub scheme: &'a str,
    /// What stands before the last `@` of the authority; empty is not the same as absent.
    pub userinfo: Option<&'a str>,
    /// The host, with its brackets if it has any.
    pub host: &'a str,
    /// What stands after the host's colon; empty is not the same as absent.
    pub port: Option<&'a str>,
    /// Path and query, with their first character.
    pub tail: &'a str,
    /// What stands after the first `#`; empty is not the same as absent.
    pub fragment: Option<&'a str>,
}

impl<'a> UrlText<'a> {
    /// Takes a text apart; `None` when it has no scheme with `//` behind it.
    #[must_use]
    pub fn split(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        let rest = rest.strip_prefix("//").filter(|_| is_scheme(scheme))?;
        let (rest, fragment) = split_off(rest, '#');
        let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (userinfo, place) = match authority.rsplit_once('@') {
            Some((userinfo, place)) => (Some(userinfo), place),
            None => (None, authority),
        };
        let (host, port) = split_port(place);
        Some(Self { scheme, userinfo, host, port, tail, fragment })
    }

    /// Whether everything but the host is ASCII.
    #[must_use]
    pub fn is_ascii_outside_host(&self) -> bool {
        let optional = [self.userinfo, self.port, self.fragment];
        self.tail.is_ascii() && optional.into_iter().flatten().all(str::is_ascii)
    }
}

/// Whether a text could stand before the colon of a URL. Source: RFC 3986, section 3.1.
#[must_use]
pub fn is_scheme(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
}

/// Reads a port in its plain spelling: no sign, no leading zero, 1 to 65535.
#[must_use]
pub fn plain_port(text: &str) -> Option<u16> {
    let plain = !text.starts_with('0') && text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn split_off(text: &str, at: char) -> (&str, Option<&str>) {
    match text.split_once(at) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// Splits at the first colon that is not inside brackets.
fn split_port(place: &str) -> (&str, Option<&str>) {
    let closed = if place.starts_with('[') { place.find(']').unwrap_or(place.len()) } else { 0 };
    let (bracketed, rest) = place.split_at(closed);
    match rest.split_once(':') {
        Some((rest_of_host, port)) => {
            let (host, _) = place.split_at(bracketed.len().saturating_add(rest_of_host.len()));
            (host, Some(port))
        }
        None => (place, None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_place(text: &str, userinfo: Option<&str>, host: &str, port: Option<&str>) {
        let parts = UrlText::split(text).unwrap();
        assert_eq!((parts.userinfo, parts.host, parts.port), (userinfo, host, port), "{text}");
    }

    #[test]
    fn empty_parts_are_not_absent_parts() {
        check_place("https://a.b", None, "a.b", None);
        check_place("https://@a.b:", Some(""), "a.b", Some(""));
        check_place("https://u:p@q@a.b:1:2", Some("u:p@q"), "a.b", Some("1:2"));
        check_place("https://[::1]:80/", None, "[::1]", Some("80"));
        check_place("https://[::1]x:80", None, "[::1]x", Some("80"));
        check_place("https://[::1", None, "[::1", None);
        check_place("https://::1", None, "", Some(":1"));
        check_place("https://?@:#", None, "", None);
        let parts = UrlText::split("HTTP://a/b?c#d#e").unwrap();
        assert_eq!((parts.scheme, parts.tail, parts.fragment), ("HTTP", "/b?c", Some("d#e")));
        assert_eq!(UrlText::split("https://a#").unwrap().fragment, Some(""));
    }

    #[test]
    fn without_scheme_and_slashes_it_is_not_taken_apart() {
        for text in
            ["", "a", "//a", "://a", "https:a", "https:/a", "1http://a", "ht tp://a", "é://a"]
        {
            assert_eq!(UrlText::split(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_port_is_plain_digits() {
        assert_eq!(plain_port("443"), Some(443));
        for text in ["", "0", "0443", "+1", "-1", "65536", "4４3", " 1", "99999999999999999999"] {
            assert_eq!(plain_port(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_part_is_lost_or_changed(text in "[a-z]{1,3}://[a@:\\[\\]/?#é%]{0,12}") {
            let parts = UrlText::split(&text).unwrap();
            let UrlText { scheme, userinfo, host, port, tail, fragment } = parts;
            let userinfo = userinfo.map_or(String::new(), |it| format!("{it}@"));
            let port = port.map_or(String::new(), |it| format!(":{it}"));
            let fragment = fragment.map_or(String::new(), |it| format!("#{it}"));
            prop_assert_eq!(format!("{scheme}://{userinfo}{host}{port}{tail}{fragment}"), text);
        }
    }
}
