//! A disk in memory that a test can break, hold up, and take away in the middle of a commit.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use errand::store::{Disk, MasterKey, StorageBackend};

/// The disk; clones share it. It lets one holder in at a time, like the lock of a file.
#[derive(Clone, Debug, Default)]
pub struct TestDisk(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    gate_opened: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    held: bool,
    trouble: Option<Trouble>,
    is_shut: bool,
    /// Syncs that are let through a gate that is shut, and those that stand in front of it.
    passes: u64,
    waiting: u64,
    cut: Option<Cut>,
    /// Syncs until the one that fails, which is on disk all the same.
    lying_sync: Option<u64>,
}

/// How every write, growth and sync fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// There is no space left.
    Full,
    /// The device does not answer.
    Broken,
}

/// What is lost when the process ends in the middle of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing that was written: the host lives on.
    OfProcess,
    /// What was not synced: the host lost its power.
    OfPower,
}

/// Holds syncs up.
pub struct Gate(TestDisk);

impl Gate {
    /// Lets one sync through.
    pub fn pass(&self) {
        self.0.state().passes += 1;
        self.0.0.gate_opened.notify_all();
    }

    /// Whether a sync stands in front of it that may not go on.
    pub fn is_waited_for(&self) -> bool {
        let state = self.0.state();
        state.waiting > 0 && state.passes == 0
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let mut state = self.0.state();
        (state.is_shut, state.passes) = (false, 0);
        drop(state);
        self.0.0.gate_opened.notify_all();
    }
}

/// An end that is to come.
#[derive(Debug)]
struct Cut {
    /// Acts that are still done.
    acts: u64,
    loss: Loss,
    synced: Vec<u8>,
    /// What the end has left, once it came.
    image: Option<Vec<u8>>,
}

impl TestDisk {
    /// A disk that has `image` on it.
    pub fn on(image: Vec<u8>) -> Self {
        let disk = Self::default();
        disk.state().bytes = image;
        disk
    }

    /// What the next process would find: what is there now, or what the end has left.
    pub fn image(&self) -> Vec<u8> {
        let state = self.state();
        let left = state.cut.as_ref().and_then(|it| it.image.as_ref());
        left.unwrap_or(&state.bytes).clone()
    }

    /// Makes it fail until it is healed.
    pub fn fail(&self, trouble: Trouble) {
        self.state().trouble = Some(trouble);
    }

    /// Makes it work again.
    pub fn heal(&self) {
        self.state().trouble = None;
    }

    /// Makes the sync of that number from now, counted from 1, fail although its bytes are kept.
    pub fn fail_sync(&self, number: u64) {
        self.state().lying_sync = Some(number);
    }

    /// Holds every sync up for as long as the gate lives.
    pub fn shut(&self) -> Gate {
        self.state().is_shut = true;
        Gate(self.clone())
    }

    /// Ends the process after `acts` more writes, growths and syncs.
    ///
    /// The process does not notice; what it does from then on is not in [`TestDisk::image`].
    pub fn cut_after(&self, acts: u64, loss: Loss) {
        let mut state = self.state();
        let synced = state.bytes.clone();
        state.cut = Some(Cut { acts, loss, synced, image: None });
    }

    /// Whether the process has ended; what it does now happens nowhere.
    pub fn has_ended(&self) -> bool {
        self.state().cut.as_ref().is_some_and(|it| it.image.is_some())
    }

    /// Takes the end back if it did not come; whether it came.
    pub fn was_cut(&self) -> bool {
        let mut state = self.state();
        let came = state.cut.as_ref().is_some_and(|it| it.image.is_some());
        if !came {
            state.cut = None;
        }
        came
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }
}

impl State {
    /// What happens before each act.
    fn act(&mut self) -> io::Result<()> {
        match self.trouble {
            Some(Trouble::Full) => return Err(io::ErrorKind::StorageFull.into()),
            Some(Trouble::Broken) => return Err(io::Error::other("the device does not answer")),
            None => {}
        }
        let Some(cut) = self.cut.as_mut().filter(|it| it.image.is_none()) else { return Ok(()) };
        if cut.acts == 0 {
            cut.image = Some(match cut.loss {
                Loss::OfProcess => self.bytes.clone(),
                Loss::OfPower => std::mem::take(&mut cut.synced),
            });
        } else {
            cut.acts -= 1;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.act()?;
        if let Some(cut) = self.cut.as_mut().filter(|it| it.image.is_none()) {
            cut.synced.clone_from(&self.bytes);
        }
        self.lying_sync = self.lying_sync.and_then(|it| it.checked_sub(1));
        if self.lying_sync.take_if(|it| *it == 0).is_some() {
            return Err(io::Error::other("the device does not answer"));
        }
        Ok(())
    }
}

impl Disk for TestDisk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        if std::mem::replace(&mut self.state().held, true) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(Box::new(Holder { disk: self.clone(), is_closed: AtomicBool::new(false) }))
    }

    fn path(&self) -> &Path {
        Path::new("(test)")
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
    disk: TestDisk,
    is_closed: AtomicBool,
}

impl StorageBackend for Holder {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.state().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.disk.state();
        let start = index(offset)?;
        out.copy_from_slice(state.bytes.get(start..start + out.len()).ok_or_else(beyond)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        state.act()?;
        state.bytes.resize(index(len)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.waiting += 1;
        let is_held = |it: &mut State| it.is_shut && it.passes == 0;
        let mut state = self.disk.0.gate_opened.wait_while(state, is_held).unwrap();
        state.waiting -= 1;
        state.passes = state.passes.saturating_sub(1);
        state.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        state.act()?;
        let start = index(offset)?;
        let room = state.bytes.get_mut(start..start + data.len());
        room.ok_or_else(beyond)?.copy_from_slice(data);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        if !self.is_closed.swap(true, Ordering::AcqRel) {
            self.disk.state().held = false;
        }
        Ok(())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| beyond())
}

fn beyond() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "beyond the end of the file")
}
