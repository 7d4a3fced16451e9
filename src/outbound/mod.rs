//! The room `outbound`.
