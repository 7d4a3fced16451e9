//! Why a chat request is not taken: a code, the place, and a sentence.
//!
//! Everything here is the caller's fault and is found before anything is held or sent on.

use std::fmt;

use crate::domain::secret::redact;

/// The first thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where, as a path such as `messages[2].content[0].type`; fit to be repeated to the caller.
    pub param: String,
    /// What.
    pub problem: Problem,
}

/// What is wrong with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is required and not there.
    Missing,
    /// It is of another type than the one named.
    Type(&'static str),
    /// Its value cannot be used; says what it must be.
    Value(&'static str),
    /// It asks for what a text model does not do here.
    Unsupported,
    /// It is content that is no text.
    ContentPart,
    /// Nobody knows it, and the key is strict.
    Unknown,
}

impl Refusal {
    /// Something wrong at `param`; a name of the caller's in it is cut and its secrets taken out.
    #[must_use]
    pub fn new(param: &str, problem: Problem) -> Self {
        Self { param: shown(param), problem }
    }

    /// The word for it in an error body. Source: the contract, section 2.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.problem {
            Problem::Missing => "missing_field",
            Problem::Type(_) => "invalid_type",
            Problem::Value(_) => "invalid_value",
            Problem::Unsupported => "unsupported_parameter",
            Problem::ContentPart => "unsupported_content_part",
            Problem::Unknown => "unknown_parameter",
        }
    }

    /// The sentence for the caller.
    #[must_use]
    pub fn message(&self) -> String {
        format!("{self}.")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.param)?;
        match self.problem {
            Problem::Missing => f.write_str("is required"),
            Problem::Type(expected) => write!(f, "must be {expected}"),
            Problem::Value(expected) => f.write_str(expected),
            Problem::Unsupported => {
                f.write_str("asks for something that text models do not do here")
            }
            Problem::ContentPart => f.write_str("must be \"text\": only text is taken"),
            Problem::Unknown => f.write_str("is not a parameter"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A name of the caller's, fit for an error or a header: short, visible ASCII, no secret.
pub(super) fn shown(name: &str) -> String {
    let visible = |it: char| if it.is_ascii_graphic() && it != ',' { it } else { '?' };
    let cut: String = redact(name).chars().take(SHOWN_CHARS_MAX).collect();
    cut.replace('…', "...").chars().map(visible).collect()
}

/// Characters of a caller's text that are repeated to the caller.
const SHOWN_CHARS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_has_its_code_and_a_sentence() {
        for (problem, code) in [
            (Problem::Missing, "missing_field"),
            (Problem::Type("a string"), "invalid_type"),
            (Problem::Value("must not be empty"), "invalid_value"),
            (Problem::Unsupported, "unsupported_parameter"),
            (Problem::ContentPart, "unsupported_content_part"),
            (Problem::Unknown, "unknown_parameter"),
        ] {
            let refusal = Refusal::new("messages[0].content", problem);
            assert_eq!(refusal.code(), code);
            let message = refusal.message();
            assert!(message.starts_with("`messages[0].content` "), "{message}");
            assert!(message.ends_with('.'), "{message}");
        }
    }

    #[test]
    fn a_name_that_is_repeated_is_short_visible_and_no_secret() {
        let long = "x".repeat(1000);
        assert_eq!(shown(&long).len(), SHOWN_CHARS_MAX);
        assert_eq!(shown("a\r\nb,ü"), "a??b??");
        let key = format!("service_sk_{}", "A".repeat(46));
        assert_eq!(shown(&key), "service_sk_...");
    }
}
