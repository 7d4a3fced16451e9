//! The master key's file: 64 hexadecimal digits that only their owner can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::domain::signature::hex;
use crate::store::seal::MasterKey;

/// Reads the key; `None` when there is no such file.
///
/// # Errors
///
/// The operating system's; also when others can read the file, or it holds something else.
pub(crate) fn read(path: &Path) -> io::Result<Option<MasterKey>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|it| named(path, &it.to_string()))?,
    };
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        return Err(named(path, "others can read it; make it private with chmod 600"));
    }
    let key = parse(text.trim_end()).ok_or_else(|| named(path, "is not 64 hexadecimal digits"))?;
    Ok(Some(key))
}

/// Writes a new key; when this returns it is on disk.
///
/// # Errors
///
/// The operating system's; also when the file is there already.
pub(crate) fn write(path: &Path, key: &MasterKey) -> io::Result<()> {
    let unfinished = with_suffix(path);
    // One that a crash has left may be readable for others.
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(format!("{}\n", hex(key)).as_bytes())?;
    file.sync_all()?;
    // A link, because a renaming would replace a key that another process has just written.
    fs::hard_link(&unfinished, path).map_err(|it| named(path, &it.to_string()))?;
    fs::remove_file(&unfinished)?;
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    File::open(directory.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

fn parse(text: &str) -> Option<MasterKey> {
    let mut key = MasterKey::default();
    if text.len() != key.len() * 2 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(key)
}

fn with_suffix(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn named(path: &Path, problem: &str) -> io::Error {
    io::Error::other(format!("{}: {problem}", path.display()))
}

/// What the file is called in a data directory.
pub(crate) const FILE_NAME: &str = "master.key";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_only_its_owner_can_read_it() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(FILE_NAME);
        assert_eq!(read(&path).unwrap(), None);
        write(&path, &[0xAB; 32]).unwrap();
        assert_eq!(read(&path).unwrap(), Some([0xAB; 32]));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_key_that_is_there_is_never_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(FILE_NAME);
        write(&path, &[1; 32]).unwrap();
        assert!(write(&path, &[2; 32]).is_err());
        assert_eq!(read(&path).unwrap(), Some([1; 32]));
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_no_key_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(FILE_NAME);
        write(&path, &[1; 32]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for wrong in ["", "00", &"g".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
            fs::write(&path, wrong).unwrap();
            assert!(read(&path).is_err(), "{wrong}");
        }
    }
}
