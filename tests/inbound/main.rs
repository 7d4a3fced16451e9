//! The room `inbound` from outside: raw bytes in, raw bytes out, on simulated time.

mod answers;
mod bodies;
mod deadlines;
#[cfg(test)]
mod listening;
mod refusals;
mod sequences;
mod shutdown;
#[cfg(test)]
mod support;
