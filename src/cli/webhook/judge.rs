//! Judges a request as the interface wants receivers to: signature and age first, then the id.
//!
//! Source: service interface, "Events", rules 4 to 6, and "Errors".

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::cli::webhook::cause::{Cause, is_signed};
use crate::domain::event::{EventId, EventType};
use crate::domain::id::Id;
use crate::domain::run::RunId;
use crate::domain::signature::{Disbelief, SigningSecret};
use crate::domain::time::Timestamp;

/// What a receiver looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery<'a> {
    /// `X-Service-Event-Id`; `None` when it is not known here, and then not compared.
    pub(super) event_id: Option<&'a str>,
    /// `X-Service-Timestamp`.
    pub(super) timestamp: &'a str,
    /// `X-Service-Signature`.
    pub(super) signature: &'a str,
    /// The body as it came.
    pub(super) body: &'a [u8],
}

/// What a receiver knows by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver<'a> {
    /// Its secret.
    pub(super) secret: &'a SigningSecret,
    /// Its clock.
    pub(super) now: Timestamp,
    /// The difference of clocks that it puts up with.
    pub(super) skew: Duration,
}

/// An event that is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Believed {
    /// Its name.
    pub(in crate::cli) id: EventId,
    /// What happened, if the type is a known one.
    pub(in crate::cli) kind: Option<EventType>,
    /// To which run, if it is named.
    pub(in crate::cli) run: Option<RunId>,
    /// How many seconds ago it was signed; negative when its clock is ahead.
    pub(in crate::cli) age: i64,
}

/// Why a request is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// One of the headers that are needed for a signature is not there.
    NoHeader(&'static str),
    /// The timestamp is no number of seconds.
    BadTimestamp,
    /// The timestamp is too far off.
    Stale {
        /// How old it is, in seconds; negative when it is ahead.
        age: i64,
        /// How far it may be off.
        skew: Duration,
        /// Whether the time is all that is wrong.
        is_signed: bool,
    },
    /// The signature has another form.
    BadForm,
    /// The signature does not fit.
    Mismatch(Cause),
    /// The body is signed, and no JSON.
    NotJson,
    /// The body has no id.
    NoId,
    /// The header names another event than the body.
    OtherId {
        /// What the header says.
        header: String,
        /// What the body says.
        body: EventId,
    },
}

impl Receiver<'_> {
    /// Judges a request.
    ///
    /// # Errors
    ///
    /// The first [`Doubt`].
    pub(super) fn judge(&self, delivery: &Delivery<'_>) -> Result<Believed, Doubt> {
        let Delivery { event_id, timestamp, signature, body } = *delivery;
        for (name, value) in [(TIMESTAMP, timestamp), (SIGNATURE, signature)] {
            if value.is_empty() {
                return Err(Doubt::NoHeader(name));
            }
        }
        // What is no number is found out below.
        let signed_at: i64 = timestamp.parse().unwrap_or_default();
        let age = self.now.seconds().saturating_sub(signed_at);
        let verdict = self.secret.verify(timestamp, signature, body, self.now, self.skew);
        verdict.map_err(|why| match why {
            Disbelief::BadTimestamp => Doubt::BadTimestamp,
            Disbelief::Stale => {
                let is_signed = is_signed(self.secret, timestamp, signature, body);
                Doubt::Stale { age, skew: self.skew, is_signed }
            }
            Disbelief::BadForm => Doubt::BadForm,
            Disbelief::Mismatch => {
                Doubt::Mismatch(Cause::of(self.secret, timestamp, signature, body))
            }
        })?;
        let event: Value = serde_json::from_slice(body).map_err(|_| Doubt::NotJson)?;
        let text = |path| event.pointer(path).and_then(Value::as_str);
        let id: EventId = text("/id").and_then(Id::parse).ok_or(Doubt::NoId)?;
        if let Some(header) = event_id.filter(|it| *it != id.to_string()) {
            return Err(Doubt::OtherId { header: header.to_owned(), body: id });
        }
        let kind = text("/type").and_then(EventType::parse);
        Ok(Believed { id, kind, run: text("/data/run_id").and_then(Id::parse), age })
    }
}

impl Believed {
    /// The word for what happened, if it is a known one.
    pub(in crate::cli) fn kind(&self) -> Option<&'static str> {
        self.kind.map(EventType::as_str)
    }
}

impl Doubt {
    /// What a receiver answers. Source: service interface, "Errors".
    pub(super) const fn status(&self) -> u16 {
        match self {
            Self::NoHeader(_)
            | Self::BadTimestamp
            | Self::Stale { .. }
            | Self::BadForm
            | Self::Mismatch(_) => 401,
            Self::NotJson | Self::NoId | Self::OtherId { .. } => 400,
        }
    }

    /// The word for it, for scripts.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::NoHeader(_) => "no_header",
            Self::BadTimestamp => "bad_timestamp",
            Self::Stale { .. } => "stale",
            Self::BadForm => "bad_form",
            Self::Mismatch(_) => "mismatch",
            Self::NotJson => "not_json",
            Self::NoId => "no_id",
            Self::OtherId { .. } => "other_id",
        }
    }

    /// What is known beyond that.
    pub(super) fn more(&self) -> Option<String> {
        match self {
            Self::Stale { is_signed: true, .. } => Some(
                "the signature fits: either a clock is wrong, or somebody sent an old request again"
                    .to_owned(),
            ),
            Self::Stale { is_signed: false, .. } => {
                Some("the signature does not fit either".to_owned())
            }
            Self::Mismatch(cause) => Some(cause.to_string()),
            Self::NoHeader(_)
            | Self::BadTimestamp
            | Self::BadForm
            | Self::NotJson
            | Self::NoId
            | Self::OtherId { .. } => None,
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeader(name) => write!(f, "there is no {name}"),
            Self::BadTimestamp => write!(f, "{}", Disbelief::BadTimestamp),
            Self::Stale { age, skew, .. } => {
                let way = if *age < 0 { "ahead of this clock" } else { "old" };
                let (off, skew) = (span(age.unsigned_abs()), span(skew.as_secs()));
                write!(f, "the timestamp is {off} {way}; at most {skew} are believed")
            }
            Self::BadForm => write!(f, "{}", Disbelief::BadForm),
            Self::Mismatch(_) => write!(f, "{}", Disbelief::Mismatch),
            Self::NotJson => f.write_str("the body is signed but no JSON"),
            Self::NoId => f.write_str("the body has no id that is a UUID"),
            Self::OtherId { header, body: id } if header.is_empty() => {
                write!(f, "there is no {EVENT_ID}; the id in the body is {id}")
            }
            Self::OtherId { header, body: id } => {
                write!(f, "the id in the body is {id}, and {EVENT_ID} is {header:?}")
            }
        }
    }
}

/// What is known, or a dash.
pub(super) fn or_dash(known: Option<impl fmt::Display>) -> String {
    known.map_or_else(|| "-".to_owned(), |it| it.to_string())
}

/// Seconds for people: the two largest units.
pub(super) fn span(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, 0) => format!("{minutes} min"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, ..) => format!("{days} d {hours} h"),
    }
}

/// The header with the event's name. Source: service interface, "Events", rule 4.
pub(super) const EVENT_ID: &str = "X-Service-Event-Id";
/// The header with the time of the signature. Source: service interface, "Events", rule 4.
pub(super) const TIMESTAMP: &str = "X-Service-Timestamp";
/// The header with the signature. Source: service interface, "Events", rule 4.
pub(super) const SIGNATURE: &str = "X-Service-Signature";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::Event;
    use crate::domain::limits::SIGNATURE_SKEW_MAX;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    /// The verdict on a body that is signed `age` seconds ago, with this header.
    fn verdict(body: &[u8], age: i64, event_id: Option<&str>) -> Result<Believed, Doubt> {
        let secret = SigningSecret::new([7; 33]);
        let at = NOW.seconds() - age;
        let (timestamp, signature) = (at.to_string(), secret.sign(at, body));
        let receiver = Receiver { secret: &secret, now: NOW, skew: SIGNATURE_SKEW_MAX };
        let (timestamp, signature) = (timestamp.as_str(), signature.as_str());
        receiver.judge(&Delivery { event_id, timestamp, signature, body })
    }

    fn sample() -> Event {
        let account = Id::from_bytes([1; 16]);
        Event::sample(EventType::NoSignal, account, Id::new(NOW, 0, [2; 8]), "")
    }

    /// Source: service interface, "Events", rule 6, and "Errors".
    #[test]
    fn the_answer_is_that_of_the_interface() {
        let event = sample();
        let (body, id) = (event.body.as_bytes(), event.id.to_string());
        let (kind, run) = (Some(EventType::NoSignal), Some(event.run));
        let believed = Believed { id: event.id, kind, run, age: 7 };
        assert_eq!(verdict(body, 7, Some(&id)), Ok(believed));
        assert_eq!(verdict(body, 7, None), Ok(believed));
        let status = |it: Result<Believed, Doubt>| it.unwrap_err().status();
        assert_eq!(status(verdict(body, 301, Some(&id))), 401);
        assert_eq!(status(verdict(body, -301, Some(&id))), 401);
        for other in ["", &id.to_uppercase(), "01010101-0101-0101-0101-010101010101"] {
            assert_eq!(status(verdict(body, 0, Some(other))), 400, "{other}");
        }
        for other in ["", "{", "[]", "{}", "{\"id\":1}", "{\"id\":\"\"}"] {
            assert_eq!(status(verdict(other.as_bytes(), 0, None)), 400, "{other}");
        }
    }

    #[test]
    fn what_is_not_signed_is_not_believed_and_the_body_not_looked_at() {
        let secret = SigningSecret::new([7; 33]);
        let receiver = Receiver { secret: &secret, now: NOW, skew: SIGNATURE_SKEW_MAX };
        let (at, good) = (NOW.seconds().to_string(), secret.sign(NOW.seconds(), b"{}"));
        for (timestamp, signature, word) in [
            ("", good.as_str(), "no_header"),
            (&at, "", "no_header"),
            ("x", &good, "bad_timestamp"),
            ("0", &good, "stale"),
            (&at, "v1=00", "bad_form"),
            (&at, &secret.sign(NOW.seconds(), b"[]"), "mismatch"),
        ] {
            let delivery = Delivery { event_id: None, timestamp, signature, body: b"{}" };
            let doubt = receiver.judge(&delivery).unwrap_err();
            assert_eq!((doubt.as_str(), doubt.status()), (word, 401));
        }
    }

    #[test]
    fn a_stale_timestamp_is_told_with_how_far_it_is_off() {
        let doubt = verdict(sample().body.as_bytes(), 603, None).unwrap_err();
        let text = "the timestamp is 10 min 3 s old; at most 5 min are believed";
        assert_eq!(doubt.to_string(), text);
        assert!(doubt.more().unwrap().starts_with("the signature fits"));
        let doubt = verdict(b"{}", -7300, None).unwrap_err();
        assert!(doubt.to_string().contains("2 h 1 min ahead of this clock"), "{doubt}");
        assert_eq!(
            (span(59), span(60), span(90_000)),
            ("59 s".into(), "1 min".into(), "1 d 1 h".into())
        );
    }
}
