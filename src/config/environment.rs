//! What the process finds around itself: variables and directories.
//!
//! [`Environment::of_process`] is the one door; everything else takes the environment as data, so
//! a test makes its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables of a process and the directory it stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// Variables whose value is not text.
    unreadable: Vec<String>,
    directory: PathBuf,
}

impl Environment {
    /// The environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let mut found = Self {
            directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
            ..Self::default()
        };
        for (name, value) in std::env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => {
                    found.variables.insert(name, value);
                }
                (Ok(name), Err(_)) => found.unreadable.push(name),
                // A name that is not text is none of ours.
                (Err(_), _) => {}
            }
        }
        found
    }

    /// An environment of these variables, in the directory `directory`.
    #[must_use]
    pub fn of(directory: &Path, variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            variables: variables.iter().map(owned).collect(),
            unreadable: Vec::new(),
            directory: directory.to_owned(),
        }
    }

    /// The value of a variable; `None` when it is absent or empty.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }

    /// Makes a path absolute.
    #[must_use]
    pub fn absolute(&self, path: &Path) -> PathBuf {
        // Joining an absolute path gives that path. `.` and `..` are left to the system, because
        // a directory on the way may be a link.
        let plain = path.strip_prefix("./").unwrap_or(path);
        self.directory.join(plain)
    }

    /// The directory for what may be forgotten.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.var("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), |it| self.absolute(Path::new(it)))
    }

    /// Whether this variable asks for output without colours.
    ///
    /// Source: no-color.org; terminals that call themselves `dumb` have none either.
    #[must_use]
    pub fn refuses_colour(&self) -> bool {
        self.var("NO_COLOR").is_some() || self.var("TERM") == Some("dumb")
    }

    /// Where the data of `errand serve` is kept when no setting says it.
    pub(super) fn data_dir(&self) -> PathBuf {
        self.first_of("STATE_DIRECTORY")
            .or_else(|| self.base("XDG_DATA_HOME", ".local/share"))
            .unwrap_or_else(|| PathBuf::from("/var/lib/errand"))
    }

    /// Where a settings file is looked for when no setting says it, in this order.
    pub(super) fn config_files(&self) -> Vec<PathBuf> {
        let directories = [
            self.first_of("CONFIGURATION_DIRECTORY"),
            Some(PathBuf::from("/etc/errand")),
            self.base("XDG_CONFIG_HOME", ".config"),
        ];
        directories.into_iter().flatten().map(|it| it.join(CONFIG_NAME)).collect()
    }

    /// The variables of ours, and those of them whose value is not text.
    pub(super) fn ours(&self) -> (impl Iterator<Item = (&str, &str)>, impl Iterator<Item = &str>) {
        let texts = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let unreadable = self.unreadable.iter().map(String::as_str);
        (texts.filter(|(name, _)| is_ours(name)), unreadable.filter(|name| is_ours(name)))
    }

    /// The first of the directories that systemd lists in a variable.
    fn first_of(&self, name: &str) -> Option<PathBuf> {
        self.var(name)?.split(':').next().map(PathBuf::from)
    }

    /// The directory `errand` in a base directory. Source: XDG Base Directory Specification.
    fn base(&self, name: &str, under_home: &str) -> Option<PathBuf> {
        let named = self.var(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let base = named.or_else(|| self.var("HOME").map(|it| Path::new(it).join(under_home)))?;
        Some(base.join("errand"))
    }
}

/// Whether a variable is ours to understand.
///
/// A cluster that has a service called `errand` sets `ERRAND_PORT…` and `ERRAND_SERVICE_…` for
/// every container; those are not meant for us.
fn is_ours(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| {
        !(rest == "PORT" || rest.starts_with("PORT_") || rest.starts_with("SERVICE_"))
    })
}

/// What the names of our variables begin with.
pub(super) const PREFIX: &str = "ERRAND_";
const CONFIG_NAME: &str = "errand.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_data_dir(variables: &[(&str, &str)], expected: &str) {
        let environment = Environment::of(Path::new("/place"), variables);
        assert_eq!(environment.data_dir(), Path::new(expected), "{variables:?}");
    }

    #[test]
    fn data_is_kept_where_the_system_says_else_where_the_user_keeps_it() {
        let home = ("HOME", "/home/ana");
        let systemd = ("STATE_DIRECTORY", "/var/lib/errand:/var/lib/other");
        check_data_dir(&[home, ("XDG_DATA_HOME", "/data"), systemd], "/var/lib/errand");
        check_data_dir(&[home, ("XDG_DATA_HOME", "/data")], "/data/errand");
        check_data_dir(&[home, ("XDG_DATA_HOME", "relative")], "/home/ana/.local/share/errand");
        check_data_dir(&[home, ("XDG_DATA_HOME", "")], "/home/ana/.local/share/errand");
        check_data_dir(&[], "/var/lib/errand");
    }

    #[test]
    fn a_settings_file_is_looked_for_in_three_places() {
        let variables = [("HOME", "/home/ana"), ("CONFIGURATION_DIRECTORY", "/run/conf")];
        let files = Environment::of(Path::new("/"), &variables).config_files();
        let expected = ["/run/conf", "/etc/errand", "/home/ana/.config/errand"];
        assert_eq!(files, expected.map(|it| Path::new(it).join("errand.toml")));
    }

    #[test]
    fn variables_that_a_cluster_sets_for_a_service_are_not_ours() {
        for name in ["ERRAND_PORT", "ERRAND_PORT_7270_TCP", "ERRAND_SERVICE_HOST", "PATH"] {
            assert!(!is_ours(name), "{name}");
        }
        assert!(is_ours("ERRAND_HTTP_LISTEN") && is_ours("ERRAND_PORTS"));
    }

    #[test]
    fn the_process_has_an_environment() {
        assert!(Environment::of_process().var("PATH").is_some());
        assert_eq!(Environment::of_process().var("ERRAND_NO_SUCH_VARIABLE"), None);
    }
}
