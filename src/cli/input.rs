//! Reads what somebody saved or types: a file or standard input, byte for byte and bounded.

use std::fs::File;
use std::io::{self, Read};

use crate::cli::exit::{Exit, Failure};

/// Reads a file, or standard input for `-`, of at most `max` bytes.
///
/// # Errors
///
/// [`Exit::NotFound`] when there is no such file; [`Exit::Usage`] when it is larger.
pub(super) fn read(path: &str, max: usize) -> Result<Vec<u8>, Failure> {
    let (name, bytes) = match path {
        "-" => ("standard input", take(io::stdin().lock(), max)),
        path => (path, File::open(path).and_then(|it| take(it, max))),
    };
    let bytes = bytes.map_err(|error| {
        let is_absent = error.kind() == io::ErrorKind::NotFound;
        let exit = if is_absent { Exit::NotFound } else { Exit::Failed };
        Failure::new(exit, format!("{name} could not be read: {error}"))
    })?;
    if bytes.len() > max {
        let what = format!("{name} has more than {max} bytes, which is more than is ever taken");
        return Err(Failure::new(Exit::Usage, what));
    }
    Ok(bytes)
}

/// Reads until the end, or one byte beyond `max`.
fn take(from: impl Read, max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    from.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("body");
        let path = path.to_str().unwrap();
        assert_eq!(read(path, 4).unwrap_err().exit, Exit::NotFound);
        std::fs::write(path, b"\x00\r\n\n").unwrap();
        assert_eq!(read(path, 4).unwrap(), b"\x00\r\n\n");
        assert_eq!(read(path, 3).unwrap_err().exit, Exit::Usage);
    }
}
