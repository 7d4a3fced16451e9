//! Whole daemons with faults: crashes, restarts, the same seed twice.
mod crash;
mod damage;
