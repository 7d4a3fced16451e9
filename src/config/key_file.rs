//! Files with keys for upstreams: named in the settings, read when they are needed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::config::error::{Fault, Place};
use crate::config::load::read_limited;
use crate::outbound::Bearer;

/// A file with a key for an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Where the settings say so.
    pub place: Place,
}

impl KeyFile {
    /// Reads the key.
    ///
    /// # Errors
    ///
    /// [`Fault`] when the file cannot be read, others can read it, or there is no key in it. What
    /// is in it is never repeated.
    pub fn read(&self) -> Result<Bearer, Fault> {
        let path = self.path.display();
        let wrong = |what: String| Fault::new(self.place.clone(), format!("api_key_file: {what}"));
        let unreadable = |error| wrong(format!("{path} cannot be read: {error}"));
        let found = fs::metadata(&self.path).map_err(unreadable)?;
        if found.permissions().mode() & OTHERS != 0 {
            return Err(wrong(format!("others can read {path}; make it private with chmod 600")));
        }
        let text = read_limited(&self.path, KEY_BYTES_MAX).map_err(unreadable)?;
        Bearer::new(&text).ok_or_else(|| wrong(format!("{path} must have one line with a key")))
    }
}

/// The rights of everybody but the owner.
const OTHERS: u32 = 0o077;
/// Bytes of a file with a key.
const KEY_BYTES_MAX: u64 = 16 * 1024;

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_key_is_in_a_file_that_only_its_owner_can_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let place = Place::Line("errand.toml".into(), 7);
        let file = KeyFile { path: path.clone(), place };
        let refused = || file.read().expect_err("this must be refused").to_string();
        assert!(refused().starts_with("errand.toml:7: api_key_file: "), "{}", refused());
        fs::write(&path, "sk-one\n").unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(refused().ends_with("make it private with chmod 600"), "{mode:o}");
        }
        for mode in [0o600, 0o400] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(file.read().ok(), Bearer::new("sk-one"));
        }
    }

    #[test]
    fn a_file_without_a_key_is_refused_and_not_repeated() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let file = KeyFile { path: path.clone(), place: Place::File("errand.toml".into()) };
        for text in ["", " \n", "sk-one\nsk-two\n", "sk-ä", &"k".repeat(20_000)] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            let told = file.read().expect_err("this must be refused").to_string();
            assert!(!told.contains("sk-") && !told.contains("kkk"), "{told}");
        }
    }
}
