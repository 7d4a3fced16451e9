//! One path pattern: `*` for any characters, `$` for the end, octets compared percent-encoded.
//!
//! Source: RFC 9309, sections 2.2.2 and 2.2.3.

/// A pattern, ready to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The pattern in the form of [`comparable`], stars and end mark included.
    text: String,
}

impl Pattern {
    /// Takes a pattern as it stands in the file.
    #[must_use]
    pub fn new(written: &[u8]) -> Self {
        Self { text: encode(written, Stars::Special) }
    }

    /// How specific it is: the longer of two matching rules wins. In octets.
    #[must_use]
    pub const fn specificity(&self) -> usize {
        self.text.len()
    }

    /// Whether a path matches; the path must come from [`comparable`].
    ///
    /// Takes time in proportion to the lengths of both: each piece between stars is looked for
    /// once, from where the piece before it ended.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let (body, to_the_end) = match self.text.strip_suffix('$') {
            Some(body) => (body, true),
            None => (self.text.as_str(), false),
        };
        let mut pieces = body.split('*');
        let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or_default()) else {
            return false;
        };
        let Some(last) = pieces.next_back() else {
            return !to_the_end || rest.is_empty();
        };
        for piece in pieces {
            let Some(at) = rest.find(piece) else { return false };
            rest = rest.get(at.saturating_add(piece.len())..).unwrap_or_default();
        }
        if to_the_end { rest.ends_with(last) } else { rest.contains(last) }
    }
}

/// Brings a path with its query into the form that patterns are compared with.
///
/// Octets that need no percent-encoding lose it, all others get it in capitals.
#[must_use]
pub fn comparable(path: &str) -> String {
    encode(path.as_bytes(), Stars::Literal)
}

/// Whether `*` and `$` mean something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stars {
    Special,
    Literal,
}

fn encode(bytes: &[u8], stars: Stars) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (*first, escaped(after)) {
            (b'%', Some(octet)) => {
                rest = after.get(2..).unwrap_or_default();
                if is_unreserved(octet) {
                    out.push(char::from(octet))
                } else {
                    percent(&mut out, octet)
                }
            }
            (b'*', _) if stars == Stars::Special => out.push('*'),
            (b'$', _) if stars == Stars::Special && after.is_empty() => out.push('$'),
            (b'*' | b'$', _) => percent(&mut out, *first),
            (0x21..=0x7e, _) => out.push(char::from(*first)),
            _ => percent(&mut out, *first),
        }
    }
    out
}

/// The octet that two hexadecimal digits at the start of `rest` stand for.
fn escaped(rest: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
    let is_hex = digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

const fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

fn percent(out: &mut String, octet: u8) {
    out.push('%');
    for digit in [octet >> 4, octet & 15] {
        let digit = char::from_digit(u32::from(digit), 16).unwrap_or('0');
        out.push(digit.to_ascii_uppercase());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_match(pattern: &str, path: &str, expected: bool) {
        let found = Pattern::new(pattern.as_bytes()).matches(&comparable(path));
        assert_eq!(found, expected, "{pattern} on {path}");
    }

    #[test]
    fn a_pattern_matches_from_the_start_of_the_path() {
        check_match("/", "/page", true);
        check_match("/page", "/page", true);
        check_match("/page", "/pages/1", true);
        check_match("/page", "/other/page", false);
        check_match("page", "/page", false);
        check_match("/PAGE", "/page", false);
        check_match("/page?", "/page?x=1", true);
    }

    #[test]
    fn stars_stand_for_anything_and_the_dollar_for_the_end() {
        check_match("/pa*e$", "/page", true);
        check_match("/*.php$", "/a/b.php", true);
        check_match("/*.php$", "/a/b.php?x", false);
        check_match("/*?session=", "/a?session=1", true);
        check_match("*/b", "/a/b", true);
        check_match("/a*", "/a", true);
        check_match("/a**b*$", "/a-b-c", true);
        check_match("/$", "/", true);
        check_match("/$", "/a", false);
        check_match("/ab*ab$", "/ab", false);
        check_match("$", "/", false);
        check_match("*$", "/anything", true);
    }

    #[test]
    fn octets_compare_equal_however_they_are_written() {
        check_match("/caf%C3%A9", "/caf%c3%a9", true);
        check_match("/café", "/caf%C3%A9", true);
        check_match("/%61bc", "/abc", true);
        check_match("/a%2Fb", "/a/b", false);
        check_match("/a%2fb", "/a%2Fb", true);
        check_match("/%zz", "/%zz", true);
        check_match("/price%24", "/price$", true);
        check_match("/a$b", "/a$b", true);
        check_match("/%2A", "/*", true);
        check_match("/%2A", "/x", false);
    }

    #[test]
    fn hostile_patterns_take_no_longer_than_others() {
        let pattern = Pattern::new("/*a".repeat(20_000).as_bytes());
        let path = comparable(&"a/".repeat(1_000));
        for _ in 0..200 {
            assert!(!pattern.matches(&path));
        }
        check_match(
            &format!("/{}b", "*a".repeat(1_000)),
            &format!("/{}", "a".repeat(2_000)),
            false,
        );
    }

    proptest! {
        #[test]
        fn any_bytes_make_a_pattern_and_a_path_matches_itself(
            bytes: Vec<u8>,
            path in "/[ -~é]{0,40}",
        ) {
            let _ = Pattern::new(&bytes).matches(&comparable(&path));
            let literal = comparable(&path);
            prop_assert!(Pattern::new(literal.as_bytes()).matches(&literal));
        }

        #[test]
        fn stars_mean_what_a_slow_matcher_says(pattern in "[ab*]{0,8}[$]?", path in "[ab]{0,10}") {
            let fast = Pattern::new(pattern.as_bytes()).matches(&path);
            let [pattern, path] = [pattern, path].map(|it| it.chars().collect::<Vec<_>>());
            prop_assert_eq!(fast, slow(&pattern, &path));
        }
    }

    /// The rule written down as it reads, in exponential time.
    fn slow(pattern: &[char], path: &[char]) -> bool {
        match pattern {
            [] => true,
            ['$'] => path.is_empty(),
            ['*', rest @ ..] => (0..=path.len()).any(|it| slow(rest, &path[it..])),
            [first, rest @ ..] => path.first() == Some(first) && slow(rest, &path[1..]),
        }
    }
}
