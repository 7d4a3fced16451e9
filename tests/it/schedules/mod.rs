//! Schedules by whole daemons in simulated time: the API, the slots, and what goes wrong.

mod plans;

mod api;
mod changes;
mod refusals;

mod baselines;
mod clocks;
mod crowds;
mod damage;
mod deaths;
mod keys;
mod missed;
mod model;
mod one_shot;
mod policies;
mod random;

mod slots;
