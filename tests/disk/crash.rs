//! A disk that remembers every operation, and can show what a power cut would have left.
//!
//! What was synced is there. Of what was done since then, any part may be: each write is there,
//! is not, or is torn at 512 bytes; each change of the length is there or is not. That is more
//! than a real disk does wrong, and everything it may do.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use errand::store::{Disk, MasterKey, StorageBackend};
use errand::sys::entropy::Entropy;

use super::Bytes;

/// The disk; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CrashDisk(Arc<Mutex<Log>>);

#[derive(Debug, Default)]
struct Log {
    now: Bytes,
    history: History,
}

/// What was done to a disk since it was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    start: Vec<u8>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Write { offset: usize, data: Vec<u8> },
    SetLen(usize),
    Sync,
}

/// Whether a disk does what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Honesty {
    /// Every sync is one.
    Honest,
    /// One sync in so many is one; the others only say so.
    OneIn(usize),
}

/// A power cut after some operation.
pub(crate) struct Crash<'a> {
    /// How many operations were done.
    pub(crate) at: usize,
    synced: &'a [u8],
    loose: &'a [Step],
}

impl CrashDisk {
    /// A disk that has `image` on it, synced.
    pub(crate) fn on(image: Vec<u8>) -> Self {
        let history = History { start: image.clone(), steps: Vec::new() };
        let now = Bytes { bytes: image, held: false };
        Self(Arc::new(Mutex::new(Log { now, history })))
    }

    /// How many operations were done so far.
    pub(crate) fn steps(&self) -> usize {
        self.log().history.steps.len()
    }

    /// What was done so far.
    pub(crate) fn history(&self) -> History {
        self.log().history.clone()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap()
    }
}

impl History {
    /// How many operations there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Cuts the power before the first operation and after each one.
    pub(crate) fn crashes(&self, honesty: Honesty, mut look: impl FnMut(&Crash<'_>)) {
        let mut synced = self.start.clone();
        let (mut first_loose, mut syncs) = (0, 0);
        for at in 0..=self.steps.len() {
            let loose = &self.steps[first_loose..at];
            look(&Crash { at, synced: &synced, loose });
            if !matches!(self.steps.get(at), Some(Step::Sync)) {
                continue;
            }
            syncs += 1;
            let real = match honesty {
                Honesty::Honest => true,
                Honesty::OneIn(some) => syncs % some == 0,
            };
            if real {
                loose.iter().for_each(|step| apply(&mut synced, step, |_| true));
                first_loose = at + 1;
            }
        }
    }
}

impl Crash<'_> {
    /// What is on the disk when the power is back: nothing loose with seed 0, all of it with
    /// seed 1, and some of it with any other.
    pub(crate) fn image(&self, seed: u64) -> Vec<u8> {
        let mut image = self.synced.to_vec();
        let chance = Entropy::seeded(seed ^ (self.at as u64) << 32);
        for step in self.loose {
            match (seed, chance.below(3)) {
                (0, _) | (2.., 0) => {}
                (1, _) | (_, 1) => apply(&mut image, step, |_| true),
                _ => match step {
                    Step::Write { .. } => apply(&mut image, step, |_| chance.below(2) == 0),
                    Step::SetLen(_) | Step::Sync => apply(&mut image, step, |_| true),
                },
            }
        }
        image
    }
}

/// Does a step again, with those of its sectors that `arrives` lets through.
fn apply(image: &mut Vec<u8>, step: &Step, mut arrives: impl FnMut(usize) -> bool) {
    match step {
        Step::Write { offset, data } => {
            for (number, sector) in data.chunks(SECTOR_BYTES).enumerate() {
                let at = offset + number * SECTOR_BYTES;
                // Where the growth of the file was lost, so is what was written behind its end.
                let end = (at + sector.len()).min(image.len());
                if arrives(number) && at < end {
                    image[at..end].copy_from_slice(&sector[..end - at]);
                }
            }
        }
        Step::SetLen(len) => image.resize(*len, 0),
        Step::Sync => {}
    }
}

impl Disk for CrashDisk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.log().now.hold()?;
        Ok(Box::new(Holder { disk: self.clone(), closed: AtomicBool::new(false) }))
    }

    fn path(&self) -> &Path {
        Path::new("(crash)")
    }

    fn master_key(&self) -> io::Result<Option<MasterKey>> {
        Ok(Some([7; 32]))
    }

    fn keep_master_key(&self, _: &MasterKey) -> io::Result<()> {
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

#[derive(Debug)]
struct Holder {
    disk: CrashDisk,
    closed: AtomicBool,
}

impl StorageBackend for Holder {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.log().now.bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.log().now.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut log = self.disk.log();
        log.now.set_len(len)?;
        log.history.steps.push(Step::SetLen(super::index(len)?));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.log().history.steps.push(Step::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut log = self.disk.log();
        log.now.write(offset, data)?;
        let step = Step::Write { offset: super::index(offset)?, data: data.to_vec() };
        log.history.steps.push(step);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.disk.log().now.held = false;
        }
        Ok(())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// What a disk writes as a whole.
const SECTOR_BYTES: usize = 512;
