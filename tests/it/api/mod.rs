//! Every resource of the API: what it answers, and what it refuses.

mod account;
mod bodies;
mod catalogue;
mod errors;
mod ids;
mod keys;
mod lists;
mod pages;
mod rates;
mod restrictions;
mod routes;
mod runs;
