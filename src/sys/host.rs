//! Who this process is.

/// The user as whom this process runs.
#[must_use]
pub fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}
