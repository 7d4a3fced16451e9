//! The room `inbound`.
