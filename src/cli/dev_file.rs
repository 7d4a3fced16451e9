//! `dev.json`: what a developer's programs need to know, in one file beside the data.
//!
//! Its key and its secret stay the same for a directory, so that what was configured with them
//! keeps working. The file is for its owner only, and is always whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What is in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DevFile {
    /// Where the API is, with its version.
    pub(super) base_url: String,
    /// A key with every right.
    pub(super) api_key: String,
    /// What webhooks are signed with.
    pub(super) signing_secret: String,
    /// Whose the key is.
    pub(super) account_id: String,
    /// Where webhooks are forwarded to, when somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) forward_to: Option<String>,
}

/// What was found in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No file: the directory is new, or not a developer's.
    Nothing,
    /// A file that cannot be read as one; says why.
    Damaged(String),
    /// A file.
    File(DevFile),
}

/// Where the file of a directory is.
pub(super) fn path(dir: &Path) -> PathBuf {
    dir.join("dev.json")
}

/// Reads the file of a directory.
pub(super) fn read(dir: &Path) -> Found {
    match fs::read(path(dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
        Err(error) => Found::Damaged(error.to_string()),
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(file) => Found::File(file),
            Err(error) => Found::Damaged(error.to_string()),
        },
    }
}

/// Writes the file of a directory, in place of any that was there.
///
/// # Errors
///
/// The operating system's; the old file is still there then.
pub(super) fn write(dir: &Path, file: &DevFile) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(file).map_err(io::Error::other)?;
    text.push(b'\n');
    let unfinished = dir.join("dev.json~");
    // One that a crash left behind may have other rights.
    let _ = fs::remove_file(&unfinished);
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    out.write_all(&text)?;
    out.sync_all()?;
    fs::rename(&unfinished, path(dir))
}

/// Keeps a directory out of the version control of the project it stands in.
pub(super) fn hide(dir: &Path) {
    // Whoever does not want that has a file of their own; whoever has no git misses nothing.
    let file = OpenOptions::new().write(true).create_new(true).open(dir.join(".gitignore"));
    let _ = file.and_then(|mut it| it.write_all(b"*\n"));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn sample() -> DevFile {
        DevFile {
            base_url: "http://127.0.0.1:7270/v1".to_owned(),
            api_key: "service_sk_x".to_owned(),
            signing_secret: "whsec_x".to_owned(),
            account_id: "01920f3c-1d2e-7a4b-8c5d-6e7f80910a1b".to_owned(),
            forward_to: None,
        }
    }

    #[test]
    fn the_file_is_private_and_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), Found::Nothing);
        for _ in 0..2 {
            write(dir.path(), &sample()).unwrap();
            assert_eq!(read(dir.path()), Found::File(sample()));
        }
        let mode = fs::metadata(path(dir.path())).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn where_to_forward_may_be_there_or_not() {
        let dir = tempfile::tempdir().unwrap();
        for forward_to in [None, Some("http://127.0.0.1:3000/hooks".to_owned())] {
            let file = DevFile { forward_to, ..sample() };
            write(dir.path(), &file).unwrap();
            assert_eq!(read(dir.path()), Found::File(file));
        }
    }

    #[test]
    fn a_directory_is_hidden_from_git_unless_somebody_said_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let told = dir.path().join(".gitignore");
        hide(dir.path());
        assert_eq!(fs::read_to_string(&told).unwrap(), "*\n");
        fs::write(&told, "dev.json\n").unwrap();
        hide(dir.path());
        assert_eq!(fs::read_to_string(&told).unwrap(), "dev.json\n");
    }

    #[test]
    fn a_file_that_is_not_one_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "{", "[]", "{\"base_url\":1}", "{}"] {
            fs::write(path(dir.path()), text).unwrap();
            assert!(matches!(read(dir.path()), Found::Damaged(_)), "{text}");
        }
    }
}
