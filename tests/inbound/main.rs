//! The room `inbound` from outside: raw bytes in, raw bytes out, on simulated time.

mod answers;
mod bodies;
mod deadlines;
mod listening;
mod refusals;
mod shutdown;
mod support;
