//! API keys: made once, shown once, kept only as a hash.
//!
//! A key is `service_sk_`, forty random letters and digits, and six more that check the rest, so
//! that a mistyped or invented key is refused without a look-up. Nothing here prints a key by
//! accident: [`ApiKey`] has no `Display`, and its `Debug` shows the first characters only.
//!
//! Source: service interface, "Authentication", rules 2 and 3.

use std::fmt;

use ring::digest;

use crate::domain::checksum::CRC_32;

/// The full text of an API key, in the hands of the one who made or sent it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// SHA-256 of a key's full text: the only form in which a key is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyHash([u8; 32]);

impl ApiKey {
    /// Makes a key out of random bytes that `fill` writes.
    pub fn generate(mut fill: impl FnMut(&mut [u8])) -> Self {
        let mut text = String::from(PREFIX);
        let mut random = [0; 64];
        while text.len() < BODY_END {
            fill(&mut random);
            // 248 is the largest multiple of 62 in a byte; above it letters would not be equally likely.
            for letter in
                random.iter().filter(|it| **it < 248).filter_map(|it| base62(u32::from(*it)))
            {
                if text.len() < BODY_END {
                    text.push(letter);
                }
            }
        }
        text.push_str(&tail(&text));
        Self(text)
    }

    /// Reads a key that a caller sent; `None` when it cannot be one of ours.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != KEY_CHARS || !text.starts_with(PREFIX) {
            return None;
        }
        let (checked, found) = text.split_at_checked(BODY_END)?;
        let plain = checked.bytes().skip(PREFIX.len()).all(|it| it.is_ascii_alphanumeric());
        (plain && tail(checked) == found).then(|| Self(text.to_owned()))
    }

    /// The hash under which the key is stored.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        let mut out = [0; 32];
        out.copy_from_slice(digest::digest(&digest::SHA256, self.0.as_bytes()).as_ref());
        KeyHash(out)
    }

    /// The whole key, to be shown once to its owner.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The start of the key, by which its owner recognises it: `service_sk_` and six characters.
    #[must_use]
    pub fn hint(&self) -> String {
        self.0.chars().take(HINT_CHARS).collect()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}…", self.hint())
    }
}

impl KeyHash {
    /// Takes the bytes of a stored hash.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// Replaces everything in `text` that looks like a key or a signing secret.
///
/// Texts of callers that are echoed in an error or a log line pass through here, because a key
/// pasted into the wrong field must not be repeated. Source: the contract, section 2.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, prefix)) = first_secret(rest) {
        let (before, secret) = rest.split_at(at);
        out.push_str(before);
        out.push_str(prefix);
        out.push('…');
        let body = secret.strip_prefix(prefix).unwrap_or("");
        let is_secret = |it: char| it.is_ascii_alphanumeric() || "+/=_-".contains(it);
        rest = body.trim_start_matches(is_secret);
    }
    out.push_str(rest);
    out
}

fn first_secret(text: &str) -> Option<(usize, &'static str)> {
    SECRET_PREFIXES.iter().filter_map(|it| text.find(it).map(|at| (at, *it))).min()
}

fn tail(checked: &str) -> String {
    let mut rest = CRC_32.of(&[checked.as_bytes()]);
    let mut letters = ['0'; TAIL_CHARS];
    for letter in letters.iter_mut().rev() {
        *letter = base62(rest).unwrap_or('0');
        rest /= 62;
    }
    letters.iter().collect()
}

fn base62(number: u32) -> Option<char> {
    ALPHABET.get((number % 62) as usize).map(|it| char::from(*it))
}

/// What every key begins with. Source: service interface, "Authentication", rule 2.
pub const PREFIX: &str = "service_sk_";
/// What texts begin with that must never be repeated.
const SECRET_PREFIXES: [&str; 2] = [PREFIX, "whsec_"];
/// Length of a key in characters: prefix, forty random, six of checksum. Source: the contract, section 3.
const KEY_CHARS: usize = 57;
const TAIL_CHARS: usize = 6;
const BODY_END: usize = KEY_CHARS - TAIL_CHARS;
const HINT_CHARS: usize = 17;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ApiKey {
        let mut next = 0_u8;
        ApiKey::generate(|out| {
            for byte in out {
                next = next.wrapping_mul(29).wrapping_add(101);
                *byte = next;
            }
        })
    }

    #[test]
    fn a_key_has_the_documented_form_and_reads_back() {
        let key = sample();
        let text = key.reveal();
        assert_eq!(text.len(), 57);
        assert!(text.starts_with("service_sk_"));
        assert!(text.bytes().skip(11).all(|it| it.is_ascii_alphanumeric()));
        assert_eq!(ApiKey::parse(text), Some(key.clone()));
    }

    #[test]
    fn a_key_with_any_character_changed_is_refused() {
        let text = sample().reveal().to_owned();
        for at in 0..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[at] = if wrong[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(ApiKey::parse(std::str::from_utf8(&wrong).unwrap()), None, "at {at}");
        }
        for wrong in ["", "service_sk_", &text[..56], &format!("{text}0"), &"é".repeat(30)] {
            assert_eq!(ApiKey::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn debugging_a_key_does_not_show_it() {
        let key = sample();
        let shown = format!("{key:?} {:?}", key.hash());
        assert!(!shown.contains(&key.reveal()[17..]), "{shown}");
    }

    #[test]
    fn key_shaped_texts_are_redacted_wherever_they_stand() {
        let key = sample();
        let text = format!("a {} b whsec_AAEC/w== c service_sk_", key.reveal());
        assert_eq!(redact(&text), "a service_sk_… b whsec_… c service_sk_…");
        assert_eq!(redact("nothing here"), "nothing here");
    }
}
