//! A directory that is gone when its owner is.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::cli::exit::{Exit, Failure};
use crate::config::Environment;
use crate::domain::id::{Id, Instance};
use crate::sys::clock::Clock;
use crate::sys::entropy::Entropy;

/// A private directory, removed with everything in it when dropped.
#[derive(Debug)]
pub(super) struct Temporary(PathBuf);

impl Temporary {
    /// Makes one where the environment wants temporary files.
    ///
    /// # Errors
    ///
    /// When the operating system refuses.
    pub(super) fn make(environment: &Environment) -> Result<Self, Failure> {
        let name: Id<Instance> = Entropy::system().id(Clock::host().now());
        let path = environment.temporary().join(format!("errand-{name}"));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| {
            let what = format!("{} could not be made: {error}", path.display());
            Failure::new(Exit::Failed, what)
        })?;
        Ok(Self(path))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// The operating system's; what could not be removed is still there.
    pub(super) fn remove(self) -> io::Result<()> {
        fs::remove_dir_all(&self.0)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It is gone already after `remove`; what else stays is for the system to clean.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_private_and_goes_with_everything_in_it() {
        let base = tempfile::tempdir().unwrap();
        let here = base.path().display().to_string();
        let environment = Environment::of(base.path(), &[("TMPDIR", &here)]);
        let temporary = Temporary::make(&environment).unwrap();
        let path = temporary.path().to_owned();
        assert!(path.starts_with(base.path()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(path.join("file"), "x").unwrap();
        temporary.remove().unwrap();
        assert!(!path.exists());
        drop(Temporary::make(&environment).unwrap());
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }
}
