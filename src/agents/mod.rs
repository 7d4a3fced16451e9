//! The room `agents`.
