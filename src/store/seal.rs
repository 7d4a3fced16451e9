//! Secrets that must be read again: encrypted with a key that is not in the file.
//!
//! A sealed text is bound to the thing that it belongs to, so it opens nowhere else: put into
//! another row, it is as damaged as one with a flipped bit. The master key stands in a file of its
//! own; whoever has the data file alone has no secret.

use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};

use crate::store::codec::Record;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::tables::Table;
use crate::store::txn::Txn;
use crate::store::view::{self, Tables};

/// Seals and opens with one master key.
pub struct Seal(LessSafeKey);

/// A text that only its seal opens: a nonce, the encrypted text and its tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed(Vec<u8>);

/// A known text, sealed with the master key of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SealRow(Sealed);

impl Record for SealRow {}

/// The bytes of a master key.
pub type MasterKey = [u8; 32];
/// Random bytes that no other text was sealed with.
pub type NonceBytes = [u8; NONCE_LEN];

impl Seal {
    /// The seal of a master key.
    ///
    /// # Errors
    ///
    /// [`Error::Bug`] when the key cannot be used, which no key of this length is.
    pub fn new(key: &MasterKey) -> Result<Self, Error> {
        let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| Error::Bug("a key's length"))?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Encrypts a text for the thing named `owner`.
    ///
    /// # Errors
    ///
    /// [`Error::Bug`] when the text is too large, which no secret is.
    pub fn seal(&self, owner: &[u8], nonce: NonceBytes, text: &str) -> Result<Sealed, Error> {
        let mut out = text.as_bytes().to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(owner),
                &mut out,
            )
            .map_err(|_| Error::Bug("a secret could not be sealed"))?;
        Ok(Sealed([nonce.as_slice(), &out].concat()))
    }

    /// Decrypts the text of the thing named `owner`; `None` when it is not its text, or was sealed
    /// with another key.
    #[must_use]
    pub fn open(&self, owner: &[u8], sealed: &Sealed) -> Option<String> {
        let (nonce, text) = sealed.0.split_first_chunk::<NONCE_LEN>()?;
        let mut text = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, Aad::from(owner), &mut text).ok()?;
        String::from_utf8(opened.to_vec()).ok()
    }
}

/// Whether the file was sealed with the seal at hand; a file that was never sealed is, from now on.
///
/// # Errors
///
/// [`Error::MasterKey`] when it was sealed with another one.
pub fn check(txn: &mut Txn<'_>, seal: &Seal, nonce: NonceBytes) -> Result<(), Error> {
    match find(txn)? {
        Some(row) if seal.open(OWNER, &row.0).as_deref() == Some(TEXT) => Ok(()),
        Some(_) => Err(Error::MasterKey),
        None => txn.put(Table::Meta, &key(), &SealRow(seal.seal(OWNER, nonce, TEXT)?)),
    }
}

/// Whether the file was ever sealed.
///
/// # Errors
///
/// What the disk says.
pub fn is_sealed(tables: &impl Tables) -> Result<bool, Error> {
    Ok(find(tables)?.is_some())
}

fn find(tables: &impl Tables) -> Result<Option<SealRow>, Error> {
    view::record(tables, Table::Meta, &key())
}

fn key() -> Key {
    Key::new().bytes(META_KEY)
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(…)")
    }
}

/// Where the known text stands among what is known of the file.
pub(crate) const META_KEY: &[u8] = b"seal";
/// Whose text the known text is.
const OWNER: &[u8] = b"errand";
/// The known text.
const TEXT: &str = "this file is sealed with the right key";

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(key: u8) -> Seal {
        Seal::new(&[key; 32]).unwrap()
    }

    #[test]
    fn a_text_opens_for_its_owner_and_its_key_alone() {
        let sealed = seal(1).seal(b"owner", [9; 12], "whsec_x").unwrap();
        assert_eq!(seal(1).open(b"owner", &sealed).as_deref(), Some("whsec_x"));
        assert_eq!(seal(1).open(b"other", &sealed), None);
        assert_eq!(seal(2).open(b"owner", &sealed), None);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let sealed = seal(1).seal(b"owner", [9; 12], "whsec_x").unwrap();
        for bit in 0..sealed.0.len() * 8 {
            let mut wrong = sealed.clone();
            wrong.0[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(seal(1).open(b"owner", &wrong), None, "bit {bit}");
        }
        for len in 0..sealed.0.len() {
            assert_eq!(seal(1).open(b"owner", &Sealed(sealed.0[..len].to_vec())), None);
        }
    }

    #[test]
    fn a_sealed_text_does_not_show_the_text() {
        let sealed = seal(1).seal(b"owner", [9; 12], "whsec_x").unwrap();
        assert!(!sealed.0.windows(5).any(|it| it == b"whsec"));
    }
}
