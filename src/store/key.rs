//! Keys of rows: fixed parts one after another, so that their bytes sort as their parts do.

use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// The key of a row, or the beginning of one.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    bytes: [u8; KEY_BYTES_MAX],
    len: usize,
}

impl Key {
    /// The empty beginning, before every key.
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; KEY_BYTES_MAX], len: 0 }
    }

    /// The key that begins with an id.
    pub(crate) fn of<T>(id: Id<T>) -> Self {
        Self::new().id(id)
    }

    /// Goes on with an id.
    pub(crate) fn id<T>(self, id: Id<T>) -> Self {
        self.bytes(id.as_bytes())
    }

    /// Goes on with a number.
    pub(crate) fn u8(self, number: u8) -> Self {
        self.bytes(&[number])
    }

    /// Goes on with a number.
    pub(crate) fn u16(self, number: u16) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    /// Goes on with a number.
    pub(crate) fn u64(self, number: u64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    /// Goes on with a time; times before 1970 count as 1970.
    pub(crate) fn time(self, at: Timestamp) -> Self {
        self.u64(u64::try_from(at.millis()).unwrap_or(0))
    }

    /// Goes on with bytes. What does not fit is cut: callers bound what they pass.
    pub(crate) fn bytes(mut self, part: &[u8]) -> Self {
        let end = self.len.saturating_add(part.len()).min(KEY_BYTES_MAX);
        if let Some(room) = self.bytes.get_mut(self.len..end) {
            room.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
        }
        self.len = end;
        self
    }

    /// The bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    /// The first key after all that begin with this one; `None` when there is none.
    pub(crate) fn end(mut self) -> Option<Self> {
        while let Some(at) = self.len.checked_sub(1) {
            let last = self.bytes.get_mut(at)?;
            if *last < u8::MAX {
                *last = last.saturating_add(1);
                return Some(self);
            }
            *last = 0;
            self.len = at;
        }
        None
    }
}

/// Takes the parts of a stored key off its front.
pub(crate) struct Parts<'a>(pub(crate) &'a [u8]);

impl Parts<'_> {
    /// The next `N` bytes.
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    /// The next id.
    pub(crate) fn id<T>(&mut self) -> Option<Id<T>> {
        self.take().map(Id::from_bytes)
    }
}

/// Bytes of the longest key: an account, a label of 128 characters, a separator and a run.
const KEY_BYTES_MAX: usize = 16 + 1 + 4 * 128 + 1 + 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_beginning_is_after_all_that_begin_so() {
        let check = |bytes: &[u8], end: Option<&[u8]>| {
            let found = Key::new().bytes(bytes).end();
            assert_eq!(found.as_ref().map(Key::as_slice), end, "{bytes:?}");
        };
        check(&[1, 2], Some(&[1, 3]));
        check(&[1, 255], Some(&[2]));
        check(&[255, 255], None);
        check(&[], None);
    }

    #[test]
    fn numbers_and_times_sort_as_bytes_do() {
        let keys = [0, 1, 255, 256, 65_536, u64::MAX].map(|it| Key::new().u64(it));
        assert!(keys.windows(2).all(|it| it[0].as_slice() < it[1].as_slice()));
        let early = Key::new().time(Timestamp::from_millis(-5));
        assert_eq!(early.as_slice(), Key::new().u64(0).as_slice());
    }
}
