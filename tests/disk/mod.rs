//! Disks for tests: one that plays power cuts, one that fails, and what both are made of.
//!
//! Both keep their bytes in memory, outlive their holders, and let one holder in at a time, like
//! the lock of a file does.

#![allow(dead_code, unused_imports, reason = "every test uses another part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod crash;
mod fault;
mod quiet;

use std::io;

pub(crate) use crash::{Crash, CrashDisk, History, Honesty};
pub(crate) use fault::{Act, Extent, Failure, Fault, FaultDisk};
pub(crate) use quiet::quietly;

/// The bytes of a file, and whether somebody has it open.
#[derive(Clone, Debug, Default)]
struct Bytes {
    bytes: Vec<u8>,
    held: bool,
}

impl Bytes {
    fn hold(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.held, true) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = index(offset)?;
        let found = self.bytes.get(start..start.saturating_add(out.len()));
        out.copy_from_slice(found.ok_or_else(beyond)?);
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let start = index(offset)?;
        let room = self.bytes.get_mut(start..start.saturating_add(data.len()));
        room.ok_or_else(beyond)?.copy_from_slice(data);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.bytes.resize(index(len)?, 0);
        Ok(())
    }
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| beyond())
}

fn beyond() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "beyond the end of the file")
}
