//! The money of accounts, whatever happens to their runs.
