//! Why a signature does not fit: tries the usual causes, and names the one that explains it.

use std::fmt;

use serde_json::Value;

use crate::domain::signature::{Mistake, SigningSecret};
use crate::domain::time::Timestamp;

/// What made a signature not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// Whoever computed the signature made a mistake.
    Signer(Mistake),
    /// The body has line ends at its end that were not signed.
    LineEnd,
    /// The body was parsed and written again; its compact form is what was signed.
    Rewritten,
    /// The body is not in the form in which events are written, so it was written again.
    NotCompact,
    /// The body is in that form; what is left is another secret, or a changed value.
    Unknown,
}

impl Cause {
    /// Finds the cause of a mismatch.
    pub(super) fn of(
        secret: &SigningSecret,
        timestamp: &str,
        signature: &str,
        body: &[u8],
    ) -> Self {
        if let Some(mistake) = secret.mistake(timestamp, signature, body) {
            return Self::Signer(mistake);
        }
        let fits = |body: &[u8]| is_signed(secret, timestamp, signature, body);
        if fits(body.trim_ascii_end()) {
            return Self::LineEnd;
        }
        let parsed: Option<Value> = serde_json::from_slice(body).ok();
        match parsed.and_then(|it| serde_json::to_vec(&it).ok()) {
            Some(compact) if fits(&compact) => Self::Rewritten,
            Some(compact) if compact != body => Self::NotCompact,
            Some(_) | None => Self::Unknown,
        }
    }
}

/// Whether the signature fits, whatever the time.
pub(super) fn is_signed(
    secret: &SigningSecret,
    timestamp: &str,
    signature: &str,
    body: &[u8],
) -> bool {
    let seconds = timestamp.parse::<i64>().ok().and_then(|it| it.checked_mul(1000));
    seconds.is_some_and(|millis| {
        let then = Timestamp::from_millis(millis);
        secret.verify(timestamp, signature, body, then, std::time::Duration::ZERO).is_ok()
    })
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signer(Mistake::DecodedKey) => {
                "it was made with the decoded base64 as the key; the key is the whole text of the \
                 secret, `whsec_` included"
            }
            Self::Signer(Mistake::BareKey) => {
                "it was made without `whsec_`; the key is the whole text of the secret"
            }
            Self::Signer(Mistake::BodyAlone) => {
                "it was made over the body alone; signed are the timestamp, a dot and the body"
            }
            Self::LineEnd => {
                "without the line end at its end the body would fit: save it byte for byte"
            }
            Self::Rewritten => {
                "the body was parsed and written again: verify the bytes as they came, before any \
                 parser sees them"
            }
            Self::NotCompact => {
                "the body is not in the form in which events are written: it was parsed and \
                 written again, or it is not an event of this service"
            }
            Self::Unknown => {
                "either this is not the secret of the receiver that the request was sent to, or \
                 something in the body was changed"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_767_225_600;
    const BODY: &str = r#"{"id":"x","data":{"output":"café ✓\n","error":null}}"#;

    fn cause(body: &str) -> Cause {
        let secret = SigningSecret::new([7; 33]);
        let signature = secret.sign(AT, BODY.as_bytes());
        Cause::of(&secret, &AT.to_string(), &signature, body.as_bytes())
    }

    #[test]
    fn what_happened_to_a_body_is_found_out() {
        let escaped = BODY.replace('é', "\\u00e9").replace('✓', "\\u2713");
        let spaced = BODY.replace(':', ": ").replace(',', ", ");
        assert_eq!(cause(&format!("{BODY}\n")), Cause::LineEnd);
        assert_eq!(cause(&format!("{BODY}\r\n")), Cause::LineEnd);
        for rewritten in [&escaped, &spaced, &format!("\n{BODY}")] {
            assert_eq!(cause(rewritten), Cause::Rewritten, "{rewritten}");
        }
        assert_eq!(cause("{ \"id\": \"y\" }"), Cause::NotCompact);
        assert_eq!(cause(&BODY.replace('x', "y")), Cause::Unknown);
        assert_eq!(cause("not json"), Cause::Unknown);
    }

    #[test]
    fn a_mistake_of_the_signer_goes_before_the_body() {
        let secret = SigningSecret::new([7; 33]);
        let bare = SigningSecret::new([8; 33]);
        let signature = bare.sign(AT, BODY.as_bytes());
        let found = Cause::of(&secret, &AT.to_string(), &signature, BODY.as_bytes());
        assert_eq!(found, Cause::Unknown);
        assert!(!is_signed(&secret, &i64::MAX.to_string(), &signature, BODY.as_bytes()));
    }
}
