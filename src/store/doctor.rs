//! Stub of the doctor.
use crate::store::{Error, Store};
/// f
#[derive(Debug)]
pub struct Findings {
    /// p
    pub problems: Vec<String>,
}
/// e
/// # Errors
/// e
pub fn examine(_store: &Store) -> Result<Findings, Error> {
    Ok(Findings { problems: Vec::new() })
}
