//! The envelope of a record: version, checksum, body.
//!
//! ```text
//! version: u8 | flags: u8 (zero) | crc32c: u32, little endian | body: bincode, standard
//! ```
//!
//! The checksum covers the table's name and the key too, so a record that stands in the wrong
//! place is as damaged as one with a flipped bit. redb checks its pages only when it repairs a
//! file, and bincode reads most flipped bits as another value without complaint; the checksum is
//! what keeps wrong bytes from being served.

use bincode::config::{Configuration, Fixint, Limit, LittleEndian, Varint};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::checksum::CRC_32C;
use crate::store::error::Error;
use crate::store::tables::Table;

/// A thing that a table keeps. Its layout never changes: a new one gets a new version.
pub(crate) trait Record: Serialize + DeserializeOwned {
    /// The version of the layout that is written.
    const VERSION: u8 = 1;
}

/// Writes a record into its envelope.
///
/// # Errors
///
/// [`Error::Bug`] when the record is larger than [`RECORD_BYTES_MAX`].
pub(crate) fn encode<R: Record>(table: Table, key: &[u8], record: &R) -> Result<Vec<u8>, Error> {
    let mut out = vec![R::VERSION, FLAGS, 0, 0, 0, 0];
    bincode::serde::encode_into_std_write(record, &mut out, bincode::config::standard())
        .map_err(|_| Error::Bug("a record cannot be written"))?;
    if out.len() > RECORD_BYTES_MAX {
        return Err(Error::Bug("a record is too large"));
    }
    let body = out.get(HEAD_BYTES..).unwrap_or(&[]);
    let crc = checksum(table, key, [R::VERSION, FLAGS], body).to_le_bytes();
    if let Some(room) = out.get_mut(2..HEAD_BYTES) {
        room.copy_from_slice(&crc);
    }
    Ok(out)
}

/// Reads a record out of its envelope.
///
/// # Errors
///
/// [`Error::Damaged`] when the checksum does not fit, [`Error::Newer`] when the version is one of
/// the future.
pub(crate) fn decode<R: Record>(table: Table, key: &[u8], bytes: &[u8]) -> Result<R, Error> {
    let damaged = Error::Damaged { table: table.name() };
    let (version, body) = open(table, key, bytes).ok_or_else(|| damaged.clone())?;
    if version != R::VERSION {
        return Err(Error::Newer { found: u32::from(version), known: u32::from(R::VERSION) });
    }
    match bincode::serde::decode_from_slice::<R, _>(body, CONFIG) {
        Ok((record, read)) if read == body.len() => Ok(record),
        Ok(_) | Err(_) => Err(damaged),
    }
}

/// Whether a value is a whole envelope, whatever is in it.
pub(crate) fn is_sound(table: Table, key: &[u8], bytes: &[u8]) -> bool {
    open(table, key, bytes).is_some()
}

fn open<'a>(table: Table, key: &[u8], bytes: &'a [u8]) -> Option<(u8, &'a [u8])> {
    let ([version, flags, a, b, c, d], body) = bytes.split_first_chunk::<HEAD_BYTES>()?;
    let crc = u32::from_le_bytes([*a, *b, *c, *d]);
    let sound = *flags == FLAGS && checksum(table, key, [*version, *flags], body) == crc;
    sound.then_some((*version, body))
}

fn checksum(table: Table, key: &[u8], head: [u8; 2], body: &[u8]) -> u32 {
    // The lengths keep the end of one part from being read as the beginning of the next.
    let name = table.name().as_bytes();
    let lengths = [name.len().to_le_bytes(), key.len().to_le_bytes()];
    CRC_32C.of(&[lengths.as_flattened(), name, key, &head, body])
}

/// Bytes of the largest record: the baseline of a schedule, and some room.
const RECORD_BYTES_MAX: usize = 5 * 1024 * 1024;
const HEAD_BYTES: usize = 6;
/// No flag means anything yet; other values are refused.
const FLAGS: u8 = 0;
const CONFIG: Configuration<LittleEndian, Varint, Limit<RECORD_BYTES_MAX>> =
    bincode::config::standard().with_limit::<RECORD_BYTES_MAX>();
/// Named so that the other integer encoding is a compile error here and not a surprise on disk.
const _: fn() -> Configuration<LittleEndian, Fixint> = bincode::config::legacy;

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    struct Sample {
        name: String,
        amount: i64,
        list: Vec<u16>,
    }

    impl Record for Sample {}

    const KEY: &[u8] = b"key";

    fn sample() -> Sample {
        Sample { name: "a name".into(), amount: -7, list: vec![1, 300, 65_535] }
    }

    fn encoded() -> Vec<u8> {
        encode(Table::Runs, KEY, &sample()).unwrap()
    }

    fn is_damaged(result: &Result<Sample, Error>) -> bool {
        matches!(result, Err(Error::Damaged { table: "runs-1" }))
    }

    #[test]
    fn a_record_reads_back_from_its_envelope() {
        let read: Sample = decode(Table::Runs, KEY, &encoded()).unwrap();
        assert_eq!(read, sample());
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let mut bytes = encoded();
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(is_damaged(&decode(Table::Runs, KEY, &bytes)), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_cut_or_lengthened_record_is_found() {
        let bytes = encoded();
        for len in 0..bytes.len() {
            assert!(is_damaged(&decode(Table::Runs, KEY, &bytes[..len])), "{len} bytes");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(is_damaged(&decode(Table::Runs, KEY, &longer)));
    }

    #[test]
    fn a_record_in_the_wrong_place_is_found() {
        let bytes = encoded();
        assert!(is_damaged(&decode(Table::Runs, b"kez", &bytes)));
        let elsewhere: Result<Sample, _> = decode(Table::Ghosts, KEY, &bytes);
        assert!(matches!(elsewhere, Err(Error::Damaged { table: "ghosts-1" })));
    }

    #[test]
    fn a_record_of_the_future_is_told_from_a_damaged_one() {
        #[derive(Serialize, Deserialize)]
        struct Next(u8);
        impl Record for Next {
            const VERSION: u8 = 2;
        }
        let bytes = encode(Table::Runs, KEY, &Next(1)).unwrap();
        let read: Result<Sample, _> = decode(Table::Runs, KEY, &bytes);
        assert!(matches!(read, Err(Error::Newer { found: 2, known: 1 })));
    }
}
