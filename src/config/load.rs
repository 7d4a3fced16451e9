//! Puts the sources together: a flag beats a variable, a variable the file, the file the default.
//!
//! Everything that is wrong is told at once, each with its place.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::config::environment::Environment;
use crate::config::error::{Fault, Place, Refused};
use crate::config::file;
use crate::config::loaded::{Effective, Loaded, Source};
use crate::config::models::{self, MODELS_KEY};
use crate::config::raw::{Line, Raw};
use crate::config::reading::Reading;
use crate::config::shape::{Config, Mode};
use crate::config::table::Setting;
use crate::config::variables::{self, CONFIG_VARIABLE};

/// Where settings may come from.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    /// What the daemon is run for. A developer's daemon looks for no file by itself.
    pub mode: Mode,
    /// The variables and the directory.
    pub environment: &'a Environment,
    /// The settings file, when somebody named one.
    pub file: Option<PathBuf>,
    /// The flags of the command line that set something.
    pub flags: Vec<Flag>,
}

/// A flag of the command line that sets something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The flag, such as `--listen`.
    pub flag: &'static str,
    /// The setting, such as `http.listen`.
    pub setting: &'static str,
    /// The value, in the form of a variable.
    pub value: String,
}

/// A value that somebody gave.
pub(super) struct Given {
    pub(super) place: Place,
    pub(super) value: Raw,
}

/// Reads all sources and puts them together.
///
/// # Errors
///
/// [`Refused`] with everything that is wrong.
pub fn load(sources: &Sources<'_>) -> Result<Loaded, Refused> {
    let mut faults = Vec::new();
    let path = find_file(sources, &mut faults);
    let lines = path.as_deref().map_or_else(Vec::new, |it| read_file(it, &mut faults));
    variables::check(sources.environment, &mut faults);
    let mut config = Config::blank(sources.mode);
    let mut settings = Vec::new();
    for setting in Setting::all() {
        let given = flag(sources, setting)
            .or_else(|| variables::value(sources.environment, setting, &mut faults))
            .or_else(|| path.as_deref().and_then(|it| in_file(it, &lines, setting)));
        let (reading, source) = match given {
            Some(Given { place, value }) => {
                let read = setting.read(&value, sources.environment);
                let read = read.map_err(|what| faults.push(Fault::new(place.clone(), what)));
                (read.ok(), Source::Given(place))
            }
            None => (default(setting, sources), Source::Default),
        };
        if let Some(reading) = &reading {
            (reading.apply)(&mut config);
        }
        settings.push(Effective { setting, value: reading.map(|it| it.text), source });
    }
    let found = path
        .as_deref()
        .map_or_else(Vec::new, |it| models::read(it, &lines, sources.environment, &mut faults));
    let (offered, models) = found.into_iter().unzip();
    config.chat.models = offered;
    check_together(&config, &settings, &mut faults);
    if faults.is_empty() {
        return Ok(Loaded { config, file: path, settings, models });
    }
    faults.sort_by(|one, other| one.place.cmp(&other.place));
    Err(Refused { faults })
}

impl Config {
    /// Every setting at its default for customers, with the data in `dir`.
    #[must_use]
    pub fn serve(dir: PathBuf) -> Self {
        Self::defaults(Mode::Serve, dir)
    }

    /// Every setting at its default for a developer, with the data in `dir`.
    #[must_use]
    pub fn dev(dir: PathBuf) -> Self {
        Self::defaults(Mode::Dev, dir)
    }

    fn defaults(mode: Mode, dir: PathBuf) -> Self {
        let environment = Environment::default();
        let sources = Sources { mode, environment: &environment, file: None, flags: Vec::new() };
        let mut config = Self::blank(mode);
        for reading in Setting::all().filter_map(|it| default(it, &sources)) {
            (reading.apply)(&mut config);
        }
        config.data.dir = dir;
        config
    }
}

/// The default; its value always can be read, which a test of the table shows.
fn default(setting: &Setting, sources: &Sources<'_>) -> Option<Reading> {
    let value = setting.default_value(sources.mode, sources.environment)?;
    setting.read(&value, sources.environment).ok()
}

fn flag(sources: &Sources<'_>, setting: &Setting) -> Option<Given> {
    let mut values = sources.flags.iter().filter(|it| it.setting == setting.name).peekable();
    let place = Place::Flag(values.peek()?.flag);
    let values: Vec<&str> = values.map(|it| it.value.as_str()).collect();
    Some(Given { place, value: Raw::Words(values.join(",")) })
}

/// The settings file: the one that was named, or the first that is there.
fn find_file(sources: &Sources<'_>, faults: &mut Vec<Fault>) -> Option<PathBuf> {
    let here = sources.environment;
    let named = sources.file.clone().or_else(|| here.var(CONFIG_VARIABLE).map(PathBuf::from));
    if let Some(named) = named {
        return Some(here.absolute(&named));
    }
    if sources.mode == Mode::Dev {
        return None;
    }
    here.config_files().into_iter().find(|path| match fs::metadata(path) {
        Ok(found) => found.is_file(),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let what = format!("it may be there but cannot be seen: {error}");
            faults.push(Fault::new(Place::File(path.clone()), what));
            false
        }
        Err(_) => false,
    })
}

fn read_file(path: &Path, faults: &mut Vec<Fault>) -> Vec<Line> {
    let text = match read_limited(path, FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(error) => {
            let what = format!("cannot be read: {error}");
            faults.push(Fault::new(Place::File(path.to_owned()), what));
            return Vec::new();
        }
    };
    let lines = file::read(path, &text).unwrap_or_else(|wrong| {
        faults.extend(wrong);
        Vec::new()
    });
    for line in lines.iter().filter(|it| it.name != MODELS_KEY) {
        if Setting::find(&line.name).is_none() {
            let place = Place::Line(path.to_owned(), line.line);
            let meant = Setting::meant(&line.name).map(|it| it.name);
            let what = unknown(&format!("{} is not a setting", line.name), meant);
            faults.push(Fault::new(place, what));
        }
    }
    lines
}

fn in_file(path: &Path, lines: &[Line], setting: &Setting) -> Option<Given> {
    let line = lines.iter().find(|it| it.name == setting.name)?;
    Some(Given { place: Place::Line(path.to_owned(), line.line), value: line.value.clone() })
}

/// Refuses values that are good alone and wrong together.
fn check_together(config: &Config, settings: &[Effective], faults: &mut Vec<Fault>) {
    let given = |name: &str| {
        let found = settings.iter().find(|it| it.setting.name == name)?;
        match &found.source {
            Source::Given(place) => Some(place.clone()),
            Source::Default => None,
        }
    };
    match (given("tls.cert"), given("tls.key")) {
        (Some(place), None) => faults.push(Fault::new(place, "tls.cert needs tls.key as well")),
        (None, Some(place)) => faults.push(Fault::new(place, "tls.key needs tls.cert as well")),
        (Some(_), Some(_)) | (None, None) => {}
    }
    if let Some(place) = given("billing.rates")
        && config.billing.rates.contains_key(&config.billing.currency)
    {
        let what = format!(
            "billing.rates has {}, which is billing.currency itself",
            config.billing.currency
        );
        faults.push(Fault::new(place, what));
    }
    if let Some(place) = given("chat.discover")
        && config.mode == Mode::Serve
        && config.chat.discovers
    {
        let what = "chat.discover is for `errand dev`, because what it finds is free of charge: \
                    write [[models]] instead";
        faults.push(Fault::new(place, what));
    }
}

/// What to say about a name that none has.
pub(super) fn unknown(what: &str, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("{what}; did you mean {meant}?"),
        None => format!("{what}; `errand config keys` lists all"),
    }
}

/// Reads a text of at most `max` bytes.
pub(super) fn read_limited(path: &Path, max: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = fs::File::open(path)?.take(max.saturating_add(1)).read_to_string(&mut text)?;
    if u64::try_from(read).is_ok_and(|it| it <= max) {
        return Ok(text);
    }
    Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {max} bytes")))
}

/// Bytes of a settings file.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Verify;

    /// A directory with a settings file of that text.
    fn with_file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errand.toml");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    fn load_all(
        text: &str,
        variables: &[(&str, &str)],
        flags: &[(&'static str, &'static str, &str)],
    ) -> Result<Loaded, Refused> {
        let (_dir, path) = with_file(text);
        let environment = Environment::of(Path::new("/place"), variables);
        let flag = |(flag, setting, value): &(&'static str, &'static str, &str)| Flag {
            flag,
            setting,
            value: (*value).to_owned(),
        };
        let flags = flags.iter().map(flag).collect();
        load(&Sources { mode: Mode::Serve, environment: &environment, file: Some(path), flags })
    }

    #[track_caller]
    fn refusals(text: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let refused = load_all(text, variables, &[]).expect_err("this must be refused");
        let path = |it: &Fault| it.to_string().rsplit('/').next().unwrap_or_default().to_owned();
        refused.faults.iter().map(path).collect()
    }

    #[test]
    fn a_flag_beats_a_variable_which_beats_the_file_which_beats_the_default() {
        let file = "[http]\nlisten = \"127.0.0.1:1\"\nidle_timeout = \"1m\"\n\
                    [data]\nverify = \"always\"\ncache_size = \"2MiB\"";
        let variables = [("ERRAND_HTTP_LISTEN", "127.0.0.1:2"), ("ERRAND_DATA_VERIFY", "never")];
        let flags =
            [("--listen", "http.listen", "127.0.0.1:3"), ("--listen", "http.listen", "[::1]:4")];
        let loaded = load_all(file, &variables, &flags).unwrap();
        let ports: Vec<u16> = loaded.config.http.listen.iter().map(|it| it.port()).collect();
        assert_eq!(ports, [3, 4]);
        assert_eq!(loaded.config.data.verify, Verify::Never);
        assert_eq!(loaded.config.data.cache_bytes, 2 * 1024 * 1024);
        assert_eq!(loaded.config.http.edge.idle_timeout.as_secs(), 60);
        assert_eq!(loaded.config.http.edge.header_timeout.as_secs(), 10);
        let source = |name: &str| {
            let found = loaded.settings.iter().find(|it| it.setting.name == name).unwrap();
            found.source.to_string().rsplit('/').next().unwrap().to_owned()
        };
        assert_eq!(source("http.listen"), "--listen");
        assert_eq!(source("data.verify"), "ERRAND_DATA_VERIFY");
        assert_eq!(source("data.cache_size"), "errand.toml:6");
        assert_eq!(source("http.header_timeout"), "default");
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once_with_its_place() {
        let file = "[http]\nlisten = 7\nheadr_timeout = \"1s\"\n[agents]\nprice_seo_audit = 0.02";
        let told = refusals(file, &[("ERRAND_LOG_LEVEL", "loud")]);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[0].starts_with("ERRAND_LOG_LEVEL: log.level must be a level"), "{told:?}");
        assert!(told[1].starts_with("errand.toml:2: http.listen must be one or more IP"));
        let meant = "http.headr_timeout is not a setting; did you mean http.header_timeout?";
        assert_eq!(told[2], format!("errand.toml:3: {meant}"));
        assert!(told[3].contains("write \"0.02\""), "{told:?}");
    }

    #[test]
    fn what_is_good_alone_and_wrong_together_is_refused() {
        let told = refusals("[tls]\ncert = \"c.pem\"", &[]);
        assert_eq!(told, ["errand.toml:2: tls.cert needs tls.key as well"]);
        let told = refusals("[billing.rates]\nEUR = \"1\"", &[]);
        assert_eq!(
            told,
            ["errand.toml:1: billing.rates has EUR, which is billing.currency itself"]
        );
    }

    #[test]
    fn a_file_that_was_named_must_be_there_and_be_small() {
        let environment = Environment::of(Path::new("/place"), &[("ERRAND_CONFIG", "/no/file")]);
        let sources = |file| Sources {
            mode: Mode::Serve,
            environment: &environment,
            file,
            flags: Vec::new(),
        };
        let told = load(&sources(None)).unwrap_err().to_string();
        assert!(told.starts_with("/no/file: cannot be read"), "{told}");
        let (_dir, path) = with_file(&"#".repeat(2_000_000));
        let told = load(&sources(Some(path))).unwrap_err().to_string();
        assert!(told.contains("more than 1048576 bytes"), "{told}");
    }

    #[test]
    fn a_developers_daemon_looks_for_no_file_and_reaches_its_own_machine() {
        let (dir, _) = with_file("[http]\nlisten = \"127.0.0.1:1\"");
        let directory = dir.path().display().to_string();
        let variables = [("CONFIGURATION_DIRECTORY", directory.as_str()), ("HOME", "/home/ana")];
        let environment = Environment::of(Path::new("/place"), &variables);
        let of = |mode| {
            let sources = Sources { mode, environment: &environment, file: None, flags: vec![] };
            load(&sources).unwrap()
        };
        let (serve, dev) = (of(Mode::Serve), of(Mode::Dev));
        assert_eq!(serve.config.http.listen[0].port(), 1);
        assert_eq!(dev.config.http.listen[0].port(), 7270);
        assert_eq!(dev.config.data.dir, Path::new("/place/.errand"));
        assert!(dev.config.limits.rates.key.is_none() && dev.config.agents.politeness.is_zero());
        assert_eq!(dev.config.outbound.allow.len(), 6);
        assert!(serve.config.limits.rates.key.is_some() && serve.config.outbound.allow.is_empty());
    }

    #[test]
    fn defaults_need_no_environment() {
        let config = Config::serve("/data".into());
        assert_eq!(config.data.dir, Path::new("/data"));
        assert!(config.queue.workers >= 2 && config.queue.account_workers >= 1);
        assert_eq!(config.agents.prices["seo_audit"].to_string(), "0.02");
        assert!(Config::dev("/data".into()).limits.rates.key.is_none());
    }
}
