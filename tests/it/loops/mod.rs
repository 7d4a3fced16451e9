//! The loops, over days of simulated time.
