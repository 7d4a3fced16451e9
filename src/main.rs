//! The `errand` command.

fn main() {}
