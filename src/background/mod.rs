//! The room `background`.
