//! Who this process is, and what the host lets it do.

/// The user as whom this process runs.
#[must_use]
pub fn uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Raises the number of files that this process may have open as far as it may; the number.
#[must_use]
pub fn raise_open_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(OPEN_FILES_WANTED, |it| it.min(OPEN_FILES_WANTED));
    if limit.current.is_some_and(|it| it < wanted) {
        // Where it stays as it was, there are fewer connections at the same time.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
    let current = getrlimit(Resource::Nofile).current;
    current.and_then(|it| usize::try_from(it).ok()).unwrap_or(usize::MAX)
}

/// Open files that are enough for every setting.
const OPEN_FILES_WANTED: u64 = 65_536;
