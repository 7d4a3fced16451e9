//! A disk that keeps what is written to it in memory and leaves the one below alone.
//!
//! redb writes when it opens a file that was not closed. Where a disk takes no writes, those go
//! here, and the file can be read all the same. They are few: the header and, at the end, the map
//! of free pages; both are thrown away with the overlay.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend};

/// Writes in memory over a disk that is only read.
#[derive(Debug)]
pub(crate) struct Overlay {
    below: Box<dyn StorageBackend>,
    above: Mutex<Above>,
}

/// What differs from the disk below.
#[derive(Debug)]
struct Above {
    /// Whole blocks by their number.
    blocks: BTreeMap<u64, Box<Block>>,
    /// Bytes of the file.
    len: u64,
    /// Bytes of the file below that were never cut off.
    below_len: u64,
}

type Block = [u8; BLOCK_BYTES];

impl Overlay {
    /// Lays an overlay over `below`.
    ///
    /// # Errors
    ///
    /// The operating system's, when the length cannot be read.
    pub(crate) fn over(below: Box<dyn StorageBackend>) -> io::Result<Self> {
        let len = below.len()?;
        let above = Mutex::new(Above { blocks: BTreeMap::new(), len, below_len: len });
        Ok(Self { below, above })
    }

    fn above(&self) -> MutexGuard<'_, Above> {
        self.above.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block as it is below: zeros where there is nothing.
    fn block_below(&self, number: u64, below_len: u64) -> io::Result<Block> {
        let mut block = [0; BLOCK_BYTES];
        let start = number.saturating_mul(BLOCK_BYTES as u64);
        let there = below_len.saturating_sub(start).min(BLOCK_BYTES as u64);
        let there = usize::try_from(there).unwrap_or(0);
        if let Some(part) = block.get_mut(..there).filter(|it| !it.is_empty()) {
            self.below.read(start, part)?;
        }
        Ok(block)
    }
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.above().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let above = self.above();
        check_range(offset, out.len(), above.len)?;
        for (number, at, part) in blocks_of_mut(offset, out) {
            let block = match above.blocks.get(&number) {
                Some(block) => **block,
                None => self.block_below(number, above.below_len)?,
            };
            part.iter_mut().zip(block.iter().skip(at)).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut above = self.above();
        if len < above.len {
            // What is cut off reads as zeros should the file grow again.
            let (number, kept) = (len / BLOCK_BYTES as u64, len % BLOCK_BYTES as u64);
            let mut edge = match above.blocks.get(&number) {
                Some(block) => block.clone(),
                None => Box::new(self.block_below(number, above.below_len)?),
            };
            let kept = usize::try_from(kept).unwrap_or(0);
            edge.iter_mut().skip(kept).for_each(|byte| *byte = 0);
            drop(above.blocks.split_off(&number));
            above.blocks.insert(number, edge);
            above.below_len = above.below_len.min(len);
        }
        above.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut above = self.above();
        check_range(offset, data.len(), above.len)?;
        for (number, at, part) in blocks_of(offset, data) {
            let mut block = match above.blocks.remove(&number) {
                Some(block) => block,
                None => Box::new(self.block_below(number, above.below_len)?),
            };
            block.iter_mut().skip(at).zip(part).for_each(|(to, from)| *to = *from);
            above.blocks.insert(number, block);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.below.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.try_lock_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.below.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.below.query_lock_range(start, end)
    }
}

/// The parts of a range: the number of each block, where the part begins in it, and its bytes.
fn blocks_of(offset: u64, data: &[u8]) -> impl Iterator<Item = (u64, usize, &[u8])> {
    let mut left = data;
    let mut offset = offset;
    std::iter::from_fn(move || {
        let (number, at, len) = first_part(offset, left.len())?;
        let (part, rest) = left.split_at_checked(len)?;
        left = rest;
        offset = offset.saturating_add(len as u64);
        Some((number, at, part))
    })
}

/// The same for a range that is filled.
fn blocks_of_mut(offset: u64, out: &mut [u8]) -> impl Iterator<Item = (u64, usize, &mut [u8])> {
    let mut left = out;
    let mut offset = offset;
    std::iter::from_fn(move || {
        let (number, at, len) = first_part(offset, left.len())?;
        let (part, rest) = std::mem::take(&mut left).split_at_mut_checked(len)?;
        left = rest;
        offset = offset.saturating_add(len as u64);
        Some((number, at, part))
    })
}

/// The block at `offset`, the place in it, and how many of `left` bytes belong to it.
fn first_part(offset: u64, left: usize) -> Option<(u64, usize, usize)> {
    let at = usize::try_from(offset % BLOCK_BYTES as u64).ok()?;
    let len = left.min(BLOCK_BYTES.saturating_sub(at));
    (len > 0).then_some((offset / BLOCK_BYTES as u64, at, len))
}

fn check_range(offset: u64, bytes: usize, len: u64) -> io::Result<()> {
    let end = u64::try_from(bytes).ok().and_then(|it| offset.checked_add(it));
    if end.is_none_or(|it| it > len) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "beyond the end of the file"));
    }
    Ok(())
}

/// Bytes of a block: a page of redb.
const BLOCK_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::entropy::Entropy;
    use redb::backends::InMemoryBackend;

    fn filled(len: usize) -> InMemoryBackend {
        let disk = InMemoryBackend::new();
        disk.set_len(len as u64).unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
        disk.write(0, &bytes).unwrap();
        disk
    }

    fn content(disk: &impl StorageBackend) -> Vec<u8> {
        let mut out = vec![0; usize::try_from(disk.len().unwrap()).unwrap()];
        disk.read(0, &mut out).unwrap();
        out
    }

    #[derive(Debug)]
    struct Shared(std::sync::Arc<InMemoryBackend>);

    impl StorageBackend for Shared {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }
        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }
        fn set_len(&self, _: u64) -> io::Result<()> {
            panic!("the disk below is only read")
        }
        fn sync_data(&self) -> io::Result<()> {
            panic!("the disk below is only read")
        }
        fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
            panic!("the disk below is only read")
        }
    }

    #[test]
    fn an_overlay_reads_like_a_disk_that_takes_writes_and_leaves_the_one_below_alone() {
        for seed in 0..50 {
            let entropy = Entropy::seeded(seed);
            let number = |end: usize| usize::try_from(entropy.below(end as u64)).unwrap();
            let start = 20_000 + number(500);
            let (plain, below) = (filled(start), std::sync::Arc::new(filled(start)));
            let overlay = Overlay::over(Box::new(Shared(below.clone()))).unwrap();
            for _ in 0..40 {
                let len = content(&plain).len();
                if number(4) == 0 {
                    let len = 1 + number(30_000) as u64;
                    plain.set_len(len).unwrap();
                    overlay.set_len(len).unwrap();
                } else {
                    let offset = number(len);
                    let [byte] = entropy.bytes();
                    let data = vec![byte; 1 + number((len - offset).min(9_000))];
                    plain.write(offset as u64, &data).unwrap();
                    overlay.write(offset as u64, &data).unwrap();
                }
                assert_eq!(content(&overlay), content(&plain), "seed {seed}");
            }
            assert_eq!(content(below.as_ref()), content(&filled(start)));
        }
    }

    #[test]
    fn nothing_is_read_or_written_beyond_the_end() {
        let overlay = Overlay::over(Box::new(filled(10))).unwrap();
        assert!(overlay.read(5, &mut [0; 6]).is_err());
        assert!(overlay.write(11, &[]).is_err());
        assert!(overlay.write(u64::MAX, &[0]).is_err());
    }
}
