//! A disk that fails when it is told to.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use errand::store::{Disk, MasterKey, StorageBackend};

use super::Bytes;

/// The disk; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    now: Bytes,
    /// What the last sync that worked has left; kept while a fault may need it.
    synced: Option<Vec<u8>>,
    /// Whether what was written since then is gone when the file is opened again.
    forgotten: bool,
    fault: Option<Fault>,
    acts: u64,
    failures: u64,
}

/// What is done to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// The file is made longer or shorter.
    SetLen,
    /// What was written is put where it outlives a power cut.
    Sync,
}

/// How an act fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is no space. Nothing is changed.
    Full,
    /// The device does not work. Nothing is changed.
    Broken,
    /// Half of the bytes are read or written, then there is no space.
    Short,
    /// The device does not work, and what was written since the last sync is not on it, although
    /// it reads as if it were until the file is opened again.
    Forgetful,
}

/// How long it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Once.
    Once,
    /// Until somebody calls [`FaultDisk::heal`].
    Onwards,
}

/// A failure to come.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// What fails.
    pub(crate) acts: Vec<Act>,
    /// How many of them work before.
    pub(crate) after: u64,
    /// How.
    pub(crate) failure: Failure,
    /// How long.
    pub(crate) extent: Extent,
}

impl FaultDisk {
    /// A disk that has `image` on it.
    pub(crate) fn on(image: Vec<u8>) -> Self {
        let now = Bytes { bytes: image, held: false };
        Self(Arc::new(Mutex::new(State { now, ..State::default() })))
    }

    /// Everything that is on it.
    pub(crate) fn image(&self) -> Vec<u8> {
        self.state().now.bytes.clone()
    }

    /// Makes it fail; the acts are counted from now on.
    pub(crate) fn arm(&self, fault: Fault) {
        let mut state = self.state();
        state.synced = (fault.failure == Failure::Forgetful).then(|| state.now.bytes.clone());
        (state.acts, state.failures, state.fault) = (0, 0, Some(fault));
    }

    /// Makes it work again.
    pub(crate) fn heal(&self) {
        self.state().fault = None;
    }

    /// How many acts of the fault there were since it was armed, and how many of them failed.
    pub(crate) fn acts_and_failures(&self) -> (u64, u64) {
        let state = self.state();
        (state.acts, state.failures)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl State {
    /// Whether the act fails, and how.
    fn fails(&mut self, act: Act) -> Option<Failure> {
        let fault = self.fault.as_ref().filter(|it| it.acts.contains(&act))?;
        self.acts += 1;
        let due = match fault.extent {
            Extent::Once => self.acts == fault.after + 1,
            Extent::Onwards => self.acts > fault.after,
        };
        let failure = due.then_some(fault.failure)?;
        self.failures += 1;
        self.forgotten |= failure == Failure::Forgetful;
        Some(failure)
    }
}

impl Failure {
    fn error(self) -> io::Error {
        io::Error::from_raw_os_error(match self {
            Self::Full | Self::Short => ENOSPC,
            Self::Broken | Self::Forgetful => EIO,
        })
    }

    /// How many of so many bytes get through.
    const fn part(self, bytes: usize) -> usize {
        match self {
            Self::Short => bytes / 2,
            Self::Full | Self::Broken | Self::Forgetful => 0,
        }
    }
}

impl Disk for FaultDisk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        let mut state = self.state();
        state.now.hold()?;
        if std::mem::take(&mut state.forgotten)
            && let Some(synced) = state.synced.clone()
        {
            state.now.bytes = synced;
        }
        Ok(Box::new(Holder { disk: self.clone(), closed: AtomicBool::new(false) }))
    }

    fn path(&self) -> &Path {
        Path::new("(fault)")
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
    disk: FaultDisk,
    closed: AtomicBool,
}

impl StorageBackend for Holder {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().now.bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let failure = state.fails(Act::Read);
        let part = failure.map_or(out.len(), |it| it.part(out.len()));
        state.now.read(offset, &mut out[..part])?;
        failure.map_or(Ok(()), |it| Err(it.error()))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        match state.fails(Act::SetLen) {
            Some(failure) => Err(failure.error()),
            None => state.now.set_len(len),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        if let Some(failure) = state.fails(Act::Sync) {
            return Err(failure.error());
        }
        if state.synced.is_some() && !state.forgotten {
            state.synced = Some(state.now.bytes.clone());
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let failure = state.fails(Act::Write);
        let part = failure.map_or(data.len(), |it| it.part(data.len()));
        state.now.write(offset, &data[..part])?;
        failure.map_or(Ok(()), |it| Err(it.error()))
    }

    fn close(&self) -> io::Result<()> {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.disk.state().now.held = false;
        }
        Ok(())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// "Input/output error". Source: errno(3).
const EIO: i32 = 5;
/// "No space left on device". Source: errno(3).
const ENOSPC: i32 = 28;
