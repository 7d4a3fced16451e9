//! Identifiers: sixteen bytes that sort by birth, one type for each kind of thing.
//!
//! An [`Id`] is a `UUIDv7`: 48 bits of milliseconds, then a counter and random bits. Two ids of
//! different things cannot be mixed up, because the type says what they name. Ids of two
//! instances may meet; nothing assumes otherwise.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use ring::digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::domain::time::Timestamp;

/// The name of one `T`.
pub struct Id<T> {
    bytes: [u8; 16],
    of: PhantomData<fn() -> T>,
}

/// Names an account; the marker type has no values.
pub enum Account {}
/// Names an API key.
pub enum Key {}
/// Names a run.
pub enum Run {}
/// Names a chat.
pub enum Chat {}
/// Names a schedule.
pub enum Schedule {}
/// Names a webhook receiver.
pub enum Receiver {}
/// Names an event.
pub enum Event {}
/// Names the delivery of one event to one receiver.
pub enum Delivery {}
/// Names one installation, that is one data file.
pub enum Instance {}

impl<T> Id<T> {
    /// Makes the id of something born at `at`, told from its contemporaries by `counter` and
    /// `random`.
    ///
    /// `counter` takes the twelve bits after the time, so ids of one millisecond sort by it;
    /// higher bits are dropped. Times before 1970 count as 1970.
    #[must_use]
    pub fn new(at: Timestamp, counter: u16, random: [u8; 8]) -> Self {
        let [hi, lo] = counter.to_be_bytes();
        let [a, b, c, d, e, f, g, h] = random;
        let millis = u64::try_from(at.millis()).unwrap_or(0);
        let tail = [hi, lo, a, b, c, d, e, f, g, h];
        Self::from_bytes(
            *uuid::Builder::from_unix_timestamp_millis(millis, &tail).as_uuid().as_bytes(),
        )
    }

    /// Makes the id of something born at `at` that follows from `parts` alone, so that whoever
    /// makes it again makes the same.
    ///
    /// The bits after the time are those of a hash of the parts.
    #[must_use]
    pub fn derived(at: Timestamp, parts: &[[u8; 16]]) -> Self {
        let hash = digest::digest(&digest::SHA256, parts.concat().as_slice());
        let mut random = [0; 8];
        random.iter_mut().zip(hash.as_ref()).for_each(|(to, from)| *to = *from);
        let counter =
            hash.as_ref().iter().rev().take(2).fold(0, |all, it| all << 8 | u16::from(*it));
        Self::new(at, counter, random)
    }

    /// Takes the bytes of an id that was stored before.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self { bytes, of: PhantomData }
    }

    /// The sixteen bytes; they compare as the ids do.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.bytes
    }

    /// When the thing was born, to the millisecond.
    #[must_use]
    pub fn born_at(&self) -> Timestamp {
        let [a, b, c, d, e, f, ..] = self.bytes;
        let millis = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    /// Reads the canonical text: 36 characters, lower case.
    ///
    /// Anything else is `None`, so that a malformed id and an unknown one can get the same answer.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let id = Uuid::try_parse(text).ok()?;
        let canonical = id.as_hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text;
        canonical.then(|| Self::from_bytes(*id.as_bytes()))
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Uuid::from_bytes(self.bytes), f)
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Serialised as sixteen raw bytes: the stored form, never the JSON form.
impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bytes.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <[u8; 16]>::deserialize(deserializer).map(Self::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "019a9ec0-6400-7001-8203-040506070809";

    fn sample(millis: i64, counter: u16) -> Id<Run> {
        Id::new(Timestamp::from_millis(millis), counter, [2, 3, 4, 5, 6, 7, 8, 9])
    }

    #[test]
    fn an_id_carries_its_birth_and_reads_back_from_its_text() {
        let id = sample(1_763_600_000_000, 1);
        assert_eq!(id.to_string(), TEXT);
        assert_eq!(Id::parse(TEXT), Some(id));
        assert_eq!(id.born_at(), Timestamp::from_millis(1_763_600_000_000));
    }

    #[test]
    fn ids_sort_by_time_then_by_counter() {
        assert!(sample(1, 0xFFF) < sample(2, 0));
        assert!(sample(2, 6) < sample(2, 7));
    }

    #[test]
    fn a_derived_id_follows_from_its_parts_and_carries_its_birth() {
        let at = Timestamp::from_millis(1_763_600_000_000);
        let id: Id<Run> = Id::derived(at, &[[1; 16], [2; 16]]);
        assert_eq!(id, Id::derived(at, &[[1; 16], [2; 16]]));
        assert_eq!(id.born_at(), at);
        assert_ne!(id, Id::derived(at, &[[2; 16], [1; 16]]));
        assert_eq!(Id::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn only_the_canonical_text_is_an_id() {
        let texts = [
            "",
            "nonsense",
            "019A9EC0-6400-7001-8203-040506070809",
            "019a9ec06400700182030405060708 09",
            "{019a9ec0-6400-7001-8203-040506070809}",
            "urn:uuid:019a9ec0-6400-7001-8203-040506070809",
            "019a9ec0640070018203040506070809",
            " 019a9ec0-6400-7001-8203-040506070809",
        ];
        for text in texts {
            assert_eq!(Id::<Run>::parse(text), None, "{text:?}");
        }
    }
}
