//! The loops, over days of simulated time.

mod clock;
mod ends;
mod hang_up;
mod landed;
mod steps;
mod stop;
mod turns;
mod upkeep;
