//! The loops, over days of simulated time.

mod clock;
mod ends;
mod stop;
mod turns;
mod upkeep;
