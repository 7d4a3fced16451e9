//! The name under which a model is offered, such as `local/llama:8b`.

use std::fmt;

/// The name of a model: 1 to 128 visible ASCII characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelId(String);

impl ModelId {
    /// Reads a name; `None` when it is empty, too long, or has other characters in it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=CHARS_MAX).contains(&text.len());
        let plain = text.bytes().all(|it| it.is_ascii_graphic() && !FORBIDDEN.contains(&it));
        (fits && plain).then(|| Self(text.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Characters of a name.
const CHARS_MAX: usize = 128;
/// Visible characters that would break a list in a setting or a path in a log.
const FORBIDDEN: [u8; 4] = [b'"', b',', b'\\', b'`'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_visible() {
        for text in ["a", "offline/echo", "vendor/name:tag", "C:/models/x.gguf", &"m".repeat(128)] {
            assert_eq!(ModelId::parse(text).map(|it| it.to_string()), Some(text.to_owned()));
        }
        for text in ["", " ", "a b", "a,b", "ü", "a\n", "\"", &"m".repeat(129)] {
            assert_eq!(ModelId::parse(text), None, "{text:?}");
        }
    }
}
