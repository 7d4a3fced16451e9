//! Signals of the operating system: the end, a look at the files again, and a limit of the disk.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that a running daemon listens to.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    /// Begins to listen. From now on the limit of a file's size is an error and not a death.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub(super) fn listen() -> io::Result<Self> {
        // Nobody waits for it; that there is a listener keeps the process alive. A closed pipe is
        // an error for every Rust program, without a listener.
        let _ = signal(SignalKind::from_raw(SIGXFSZ))?;
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits until somebody wants the process to end, or its terminal is gone.
    ///
    /// # Cancel safety
    ///
    /// Safe: no signal is lost.
    pub(super) async fn end(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }

    /// Waits until somebody wants the process to end; SIGHUP is no end and calls `again`.
    ///
    /// # Cancel safety
    ///
    /// Safe: no signal is lost.
    pub(super) async fn end_or(&mut self, again: impl Fn()) {
        loop {
            tokio::select! {
                // What was asked for before the end is done before the end.
                biased;
                _ = self.hangup.recv() => again(),
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
            }
        }
    }
}

/// The number of the signal for a file that would grow beyond its limit; the same on Linux, macOS
/// and the BSDs.
const SIGXFSZ: i32 = 25;
