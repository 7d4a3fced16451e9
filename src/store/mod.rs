//! The one redb file: opening it, reading it, and changing it.
//!
//! A change is a closure over a [`Txn`], which holds every table; all that must be true together
//! is written by one closure. [`Store::write`] returns after the change is on disk, together with
//! what others asked for meanwhile (`writer`). A read is a closure over a [`View`], one moment of
//! the file that no writer disturbs. Neither crosses an `await`.

mod codec;
mod disk;
mod error;
mod file;
mod handle;
mod key;
mod key_file;
mod open;
mod operation;
mod overlay;
mod tables;
mod till;
mod txn;
mod view;
mod writer;

pub mod meta;

pub mod accounts;
mod entry_row;
pub mod keys;
pub mod ledger;
pub mod queue;
mod run_row;
pub mod runs;
pub mod runs_list;
mod walk;

pub mod deliveries;
mod delivery_row;
pub mod events;
pub mod outbox;
pub mod receivers;
pub mod seal;

pub mod baselines;
pub mod schedules;
pub mod spends;
pub mod ticks;

pub mod doctor;

#[cfg(feature = "sim")]
pub use disk::MemoryDisk;
pub use disk::{Disk, FileDisk, StorageBackend};
pub use error::Error;
pub use file::Store;
pub use handle::Health;
pub use open::{DataDir, Options, Verify};
pub use seal::{MasterKey, Seal};
pub use till::{NotReserved, Reservation, Spender};
pub use txn::Txn;
pub use view::{Rows, Tables, View};
