//! Every resource of the API: what it answers, and what it refuses.

mod runs;
