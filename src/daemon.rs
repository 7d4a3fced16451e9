//! The wiring of everything.
