//! Webhooks by whole daemons in simulated time: the rules of the interface, the API, and what goes
//! wrong.

mod hooks;

mod api;
mod logs;
mod refusals;

mod ahead;
mod backlog;
mod clocks;
mod damage;
mod deaths;
mod deletions;
mod disks;
mod drain;
mod fairness;
mod names;
mod outcomes;
mod overload;
mod payload;
mod random;
mod request;
mod retries;
mod urls;
mod who;
