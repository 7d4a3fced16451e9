//! Signatures of webhooks: who holds the secret can tell that a request is ours and unchanged.
//!
//! A signature is HMAC-SHA256 over the timestamp, a dot and the bytes of the body as they are
//! sent. The key is the whole text of the secret, `whsec_` included. The same request also
//! carries the signature of Standard Webhooks, whose key is what the secret's base64 stands for.
//!
//! Source: service interface, "Events", rules 4 to 6; the contract, section 8.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac};

use crate::domain::event::EventId;
use crate::domain::time::Timestamp;

/// The signing secret of a receiver: shown once, never printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret {
    text: String,
    bytes: Vec<u8>,
}

/// Why a request is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disbelief {
    /// The timestamp is no number of seconds.
    BadTimestamp,
    /// The timestamp is further from the receiver's clock than allowed.
    Stale,
    /// The signature has another form.
    BadForm,
    /// The signature is that of another text or another secret.
    Mismatch,
}

/// A usual mistake of a program that computes a signature; each gives another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The key is what the base64 of the secret stands for.
    DecodedKey,
    /// The key is the secret without its prefix.
    BareKey,
    /// The timestamp and the dot are not signed with the body.
    BodyAlone,
}

impl SigningSecret {
    /// Makes a secret out of random bytes.
    #[must_use]
    pub fn new(random: [u8; SECRET_BYTES]) -> Self {
        let text = format!("{PREFIX}{}", STANDARD.encode(random));
        Self { text, bytes: random.to_vec() }
    }

    /// Reads a secret; `None` unless it is `whsec_` and the base64 of 24 to 64 bytes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (24..=64).contains(&bytes.len()).then(|| Self { text: text.to_owned(), bytes })
    }

    /// The whole secret, to be shown once to its owner.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Eight characters by which its owner tells it from others: the start of its SHA-256.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let hash = digest::digest(&digest::SHA256, self.text.as_bytes());
        hex(hash.as_ref().get(..4).unwrap_or_default())
    }

    /// The value of `X-Service-Signature`: `v1=` and 64 letters of lower-case hex.
    #[must_use]
    pub fn sign(&self, timestamp: i64, body: &[u8]) -> String {
        let tag = tag(self.text.as_bytes(), &[timestamp.to_string().as_bytes(), b".", body]);
        format!("{SCHEME}{}", hex(tag.as_ref()))
    }

    /// The value of `webhook-signature`: `v1,` and base64. Source: Standard Webhooks 1.0.
    #[must_use]
    pub fn sign_standard(&self, id: EventId, timestamp: i64, body: &[u8]) -> String {
        let (id, timestamp) = (id.to_string(), timestamp.to_string());
        let parts = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
        format!("v1,{}", STANDARD.encode(tag(&self.bytes, &parts)))
    }

    /// Does what a receiver has to: checks the age first, then the signature in constant time.
    ///
    /// `timestamp` and `signature` are the headers as they came, `now` is the receiver's clock and
    /// `skew` the difference it puts up with.
    ///
    /// # Errors
    ///
    /// Why the request is not believed; the right answer is then 401.
    pub fn verify(
        &self,
        timestamp: &str,
        signature: &str,
        body: &[u8],
        now: Timestamp,
        skew: Duration,
    ) -> Result<(), Disbelief> {
        let seconds: i64 = timestamp
            .parse()
            .ok()
            .filter(|it: &i64| it.to_string() == timestamp)
            .ok_or(Disbelief::BadTimestamp)?;
        if seconds.abs_diff(now.seconds()) > skew.as_secs() {
            return Err(Disbelief::Stale);
        }
        let given = signature.strip_prefix(SCHEME).and_then(unhex).ok_or(Disbelief::BadForm)?;
        let signed = [timestamp.as_bytes(), b".", body].concat();
        hmac::verify(&key(self.text.as_bytes()), &signed, &given).map_err(|_| Disbelief::Mismatch)
    }

    /// Finds the mistake by which a signature that does not fit was computed, if it is a usual
    /// one. What it finds is no reason to believe the request.
    #[must_use]
    pub fn mistake(&self, timestamp: &str, signature: &str, body: &[u8]) -> Option<Mistake> {
        let given = signature.strip_prefix(SCHEME).and_then(unhex)?;
        let whole = self.text.as_bytes();
        let bare = whole.strip_prefix(PREFIX.as_bytes()).unwrap_or(whole);
        let signed = [timestamp.as_bytes(), b".", body].concat();
        let tries = [
            (Mistake::DecodedKey, self.bytes.as_slice(), signed.as_slice()),
            (Mistake::BareKey, bare, signed.as_slice()),
            (Mistake::BodyAlone, whole, body),
        ];
        let found = tries
            .into_iter()
            .find(|(_, secret, signed)| hmac::verify(&key(secret), signed, &given).is_ok());
        found.map(|it| it.0)
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}…{}", self.fingerprint())
    }
}

impl fmt::Display for Disbelief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadTimestamp => "the timestamp is not a number of seconds",
            Self::Stale => "the timestamp is too far from this clock",
            Self::BadForm => "the signature is not v1= and 64 hexadecimal digits",
            Self::Mismatch => "the signature does not fit the body and the secret",
        })
    }
}

impl std::error::Error for Disbelief {}

fn key(bytes: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, bytes)
}

fn tag(secret: &[u8], parts: &[&[u8]]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(&key(secret));
    parts.iter().for_each(|it| context.update(it));
    context.sign()
}

/// Writes bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut out = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Reads 64 hexadecimal digits, in either case.
fn unhex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| pair.get(at).and_then(|it| char::from(*it).to_digit(16));
        *byte = u8::try_from(digit(0)?.checked_mul(16)?.checked_add(digit(1)?)?).ok()?;
    }
    Some(out)
}

/// What every signing secret begins with. Source: service interface, "Webhook receiver".
pub const PREFIX: &str = "whsec_";
/// Random bytes of a new secret; a multiple of three, so that its base64 has no padding.
pub const SECRET_BYTES: usize = 33;
/// The tag of the scheme. Source: service interface, "Versioning", rule 4.
const SCHEME: &str = "v1=";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;
    use crate::domain::limits::SIGNATURE_SKEW_MAX;

    const BODY: &str = concat!(
        r#"{"id":"0190f3a0-7c1e-7cc3-9f5e-2b1c3d4e5f60","type":"agent.run.succeeded","#,
        r#""created_at":"2026-01-01T00:00:00.000000+00:00","data":{"#,
        r#""run_id":"0190f3a0-7c1d-7000-8000-000000000001","kind":"seo_audit","#,
        r#""status":"succeeded","output":"café ✓","output_truncated":false,"error":null,"#,
        r#""cost":"1.50"}}"#,
    );
    const AT: i64 = 1_767_225_600;
    const SIGNED: &str = "v1=a6d962347de505881127a0c43da661f1c80c60843a620e0c338e9e252b94a62a";

    fn secret() -> SigningSecret {
        SigningSecret::new(std::array::from_fn(|it| u8::try_from(it).unwrap()))
    }

    fn verify(timestamp: &str, signature: &str, body: &str, late: i64) -> Result<(), Disbelief> {
        let now = Timestamp::from_millis((AT + late) * 1000);
        secret().verify(timestamp, signature, body.as_bytes(), now, SIGNATURE_SKEW_MAX)
    }

    #[test]
    fn both_signatures_are_those_of_an_independent_computation() {
        assert_eq!(secret().reveal(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g");
        assert_eq!(secret().sign(AT, BODY.as_bytes()), SIGNED);
        let id = Id::parse("0190f3a0-7c1e-7cc3-9f5e-2b1c3d4e5f60").unwrap();
        let standard = secret().sign_standard(id, AT, BODY.as_bytes());
        assert_eq!(standard, "v1,9Vc/TaiR5XFKQIonu6By75NtIUNvogIUqdz90r3RHDY=");
    }

    /// Source: service interface, "Events", rule 6.
    #[test]
    fn a_receiver_believes_what_is_signed_and_at_most_five_minutes_off() {
        let at = AT.to_string();
        for late in [0, 300, -300] {
            assert_eq!(verify(&at, SIGNED, BODY, late), Ok(()), "{late}");
        }
        for late in [301, -301, i64::MAX / 2000] {
            assert_eq!(verify(&at, SIGNED, BODY, late), Err(Disbelief::Stale), "{late}");
        }
        assert_eq!(verify(&at, &SIGNED.to_uppercase(), BODY, 0), Err(Disbelief::BadForm));
        assert_eq!(verify(&at, &SIGNED[..66], BODY, 0), Err(Disbelief::BadForm));
        assert_eq!(verify(&at, SIGNED, "{}", 0), Err(Disbelief::Mismatch));
        for wrong in ["", "x", "+1767225600", "01767225600", "1767225600.0", "1e9"] {
            assert_eq!(verify(wrong, SIGNED, BODY, 0), Err(Disbelief::BadTimestamp), "{wrong}");
        }
    }

    #[test]
    fn a_signature_with_any_digit_changed_is_not_believed() {
        for at in 3..SIGNED.len() {
            let mut wrong = SIGNED.to_owned().into_bytes();
            wrong[at] = if wrong[at] == b'0' { b'1' } else { b'0' };
            let wrong = String::from_utf8(wrong).unwrap();
            assert_eq!(verify(&AT.to_string(), &wrong, BODY, 0), Err(Disbelief::Mismatch));
        }
    }

    #[test]
    fn usual_mistakes_are_told_from_what_fits_and_from_each_other() {
        let (secret, at, body) = (secret(), AT.to_string(), BODY.as_bytes());
        let signed = [at.as_bytes(), b".", body].concat();
        let bare = &secret.reveal()[PREFIX.len()..];
        for (mistake, secret_bytes, text) in [
            (Mistake::DecodedKey, &secret.bytes[..], &signed[..]),
            (Mistake::BareKey, bare.as_bytes(), &signed[..]),
            (Mistake::BodyAlone, secret.reveal().as_bytes(), body),
        ] {
            let signature = format!("v1={}", hex(tag(secret_bytes, &[text]).as_ref()));
            assert_eq!(secret.mistake(&at, &signature, body), Some(mistake));
            assert_eq!(verify(&at, &signature, BODY, 0), Err(Disbelief::Mismatch));
        }
        assert_eq!(secret.mistake(&at, SIGNED, body), None);
        assert_eq!(secret.mistake(&at, "v1=", body), None);
    }

    #[test]
    fn only_the_prefix_and_base64_of_a_sensible_length_is_a_secret() {
        assert_eq!(SigningSecret::parse(secret().reveal()), Some(secret()));
        for wrong in ["", "whsec_", "whsec_AAEC", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka", "whsec_é"]
        {
            assert_eq!(SigningSecret::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn debugging_a_secret_does_not_show_it() {
        let shown = format!("{:?}", secret());
        assert_eq!(shown, format!("whsec_…{}", secret().fingerprint()));
        assert!(!shown.contains("AAEC"));
    }
}
