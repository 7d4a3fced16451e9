//! Cron expressions: when a schedule runs, in five fields and in UTC.
//!
//! The dialect is that of Vixie cron without what its text cannot say plainly: no seconds, no
//! years, no nicknames, no time zones, no `L`, `W`, `#`, `?`, `H` or `~`. What would be guessed at
//! is refused with a hint, and so is what never comes. The days follow Vixie's rule: when one of
//! the two day fields begins with `*`, a day must match both, otherwise either.
//!
//! Everything is pure. A search allocates nothing and is bounded by the 400 years after which the
//! calendar repeats.

mod expression;
mod field;
mod set;

mod read;

mod reason;
mod refusal;

mod month;
mod rate;
mod search;

mod reading;
mod warning;

pub use expression::Cron;
pub use field::Field;
pub use rate::Rate;
pub use reason::{CronError, CronReason};
pub use warning::Warning;
