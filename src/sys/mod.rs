//! The host: what the program cannot repeat, and what watches it.
//!
//! Time, randomness and signals come in through this room and nowhere else, so that a test can
//! own all of them. Counters and log output leave through it.

pub mod clock;
pub mod entropy;
pub mod host;

pub mod beats;
pub mod shutdown;

pub mod metrics;
pub mod telemetry;
