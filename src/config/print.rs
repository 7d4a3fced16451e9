//! What is printed from the table: the settings that hold, a file to begin with, the reference.

use std::fmt::Write as _;
use std::path::Path;

use crate::config::environment::Environment;
use crate::config::file::{VERSION, VERSION_KEY};
use crate::config::load::Loaded;
use crate::config::shape::Mode;
use crate::config::table::{Preset, Reload, Setting};

/// What a file to begin with is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// One machine, nobody else.
    Local,
    /// Behind a reverse proxy on the same machine.
    Proxy,
    /// In a container.
    Docker,
}

/// Whether sources are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origins {
    /// Behind each value, as a comment.
    Shown,
    /// Not at all.
    Hidden,
}

/// The settings that hold, as a settings file.
#[must_use]
pub fn effective_file(loaded: &Loaded, origins: Origins) -> String {
    let mut out = format!("{VERSION_KEY} = {VERSION}\n");
    let mut section = "";
    for effective in &loaded.settings {
        let setting = effective.setting;
        if setting.section() != section {
            section = setting.section();
            push(&mut out, format_args!("\n[{section}]\n"));
        }
        let line = match &effective.value {
            Some(value) => format!("{} = {value}", setting.key()),
            None => format!("# {} is not set", setting.key()),
        };
        match origins {
            Origins::Shown => push(&mut out, format_args!("{line:<42}  # {}\n", effective.source)),
            Origins::Hidden => push(&mut out, format_args!("{line}\n")),
        }
    }
    out
}

/// A settings file with every setting explained and, apart from the profile's, commented out.
#[must_use]
pub fn commented_file(profile: Profile) -> String {
    let mut out = format!(
        "# Settings of errand. A line that begins with # is a comment; a setting that is commented\n\
         # out has the value shown. Flags and variables such as ERRAND_HTTP_LISTEN win over this\n\
         # file. `errand config check FILE` checks it, `errand config show` shows what holds.\n\
         {VERSION_KEY} = {VERSION}\n"
    );
    let mut section = "";
    for setting in Setting::all() {
        if setting.section() != section {
            section = setting.section();
            push(&mut out, format_args!("\n[{section}]\n"));
        }
        for line in wrapped(setting.meaning, COMMENT_CHARS) {
            push(&mut out, format_args!("# {line}\n"));
        }
        let takes = capitalised(&setting.expectation());
        for line in wrapped(&format!("{takes}."), COMMENT_CHARS) {
            push(&mut out, format_args!("# {line}\n"));
        }
        match profile.value(setting.name) {
            Some(value) => push(&mut out, format_args!("{} = {value}\n", setting.key())),
            None => push(&mut out, format_args!("#{} = {}\n", setting.key(), example(setting))),
        }
    }
    out
}

/// The reference of all settings, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from(
        "| Setting | Default | Value | Variable | Read again | Meaning |\n|---|---|---|---|---|---|\n",
    );
    for setting in Setting::all() {
        let again = match setting.reload {
            Reload::Restart => "at the next start",
            Reload::Hangup => "the file, at SIGHUP",
        };
        push(
            &mut out,
            format_args!(
                "| `{}` | {} | {} | `{}` | {again} | {} |\n",
                setting.name,
                default_text(setting, "`"),
                setting.expectation(),
                setting.variable(),
                setting.meaning,
            ),
        );
    }
    out
}

/// The help of a flag that mirrors a setting.
///
/// Empty for a name that no setting has, which a test of the flags refuses.
#[must_use]
pub fn help(name: &str) -> String {
    let Some(setting) = Setting::find(name) else { return String::new() };
    let meaning = setting.meaning.trim_end_matches('.');
    format!("{meaning} [{}; default: {}]", setting.variable(), default_text(setting, ""))
}

impl Setting {
    /// The default in words, for people; `mark` goes around values.
    #[must_use]
    pub fn default_text(&self) -> String {
        default_text(self, "")
    }
}

fn default_text(setting: &Setting, mark: &str) -> String {
    let value = |mode| format!("{mark}{}{mark}", default_value(setting, mode).unwrap_or_default());
    match setting.default {
        Preset::Unset => "none".to_owned(),
        Preset::Is(_) => value(Mode::Serve),
        Preset::Modes(..) => format!("{}; dev: {}", value(Mode::Serve), value(Mode::Dev)),
        Preset::DataDir(dev) => format!(
            "{mark}$STATE_DIRECTORY{mark}, else {mark}$XDG_DATA_HOME/errand{mark}, else \
             {mark}~/.local/share/errand{mark}; dev: {mark}{dev}{mark}"
        ),
    }
}

/// The default as a settings file writes it.
fn default_value(setting: &Setting, mode: Mode) -> Option<String> {
    let here = Environment::of(Path::new("/"), &[]);
    let value = setting.default_value(mode, &here)?;
    setting.read(&value, &here).ok().map(|it| it.text)
}

/// The default, or something that shows the form where there is none.
fn example(setting: &Setting) -> String {
    default_value(setting, Mode::Serve)
        .unwrap_or_else(|| format!("\"/etc/errand/{}.pem\"", setting.key()))
}

impl Profile {
    /// Reads `local`, `proxy` or `docker`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "local" => Some(Self::Local),
            "proxy" => Some(Self::Proxy),
            "docker" => Some(Self::Docker),
            _ => None,
        }
    }

    fn value(self, name: &str) -> Option<&'static str> {
        match (self, name) {
            (Self::Proxy, "http.listen") => Some("\"127.0.0.1:7270\""),
            (Self::Proxy, "proxy.trusted") => Some("[\"127.0.0.1/32\", \"::1/128\"]"),
            (Self::Docker, "data.dir") => Some("\"/data\""),
            (Self::Docker, "http.listen") => Some("\"0.0.0.0:7270\""),
            (Self::Docker, "log.format") => Some("\"json\""),
            (Self::Local | Self::Proxy | Self::Docker, _) => None,
        }
    }
}

/// Breaks a text into lines of at most `max` characters, at spaces.
fn wrapped(text: &str, max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= max => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

/// Characters of a line of a comment.
const COMMENT_CHARS: usize = 90;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::{Source, Sources, load};
    use crate::config::shape::Config;

    fn load_text(text: &str) -> Loaded {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errand.toml");
        std::fs::write(&path, text).unwrap();
        let environment = Environment::of(Path::new("/"), &[]);
        let mode = Mode::Serve;
        let sources =
            Sources { mode, environment: &environment, file: Some(path), flags: Vec::new() };
        load(&sources).unwrap_or_else(|it| panic!("{it}\n{text}"))
    }

    fn given(loaded: &Loaded) -> Vec<&'static str> {
        let given = loaded.settings.iter().filter(|it| it.source != Source::Default);
        given.map(|it| it.setting.name).collect()
    }

    #[test]
    fn a_file_to_begin_with_is_a_good_file_and_sets_what_its_profile_needs() {
        assert!(given(&load_text(&commented_file(Profile::Local))).is_empty());
        let proxy = load_text(&commented_file(Profile::Proxy));
        assert_eq!(given(&proxy), ["http.listen", "proxy.trusted"]);
        assert_eq!(proxy.config.http.edge.trusted_proxies.len(), 2);
        let docker = load_text(&commented_file(Profile::Docker));
        assert_eq!(given(&docker), ["data.dir", "http.listen", "log.format"]);
    }

    #[test]
    fn the_values_of_a_file_to_begin_with_are_the_defaults() {
        let text = commented_file(Profile::Local);
        let uncommented: Vec<&str> = text
            .lines()
            .map(|it| match it.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') => rest,
                _ => it,
            })
            .collect();
        let loaded = load_text(&uncommented.join("\n"));
        assert_eq!(given(&loaded).len(), Setting::all().len());
        let mut shown = loaded.config;
        let mut default = Config::serve(shown.data.dir.clone());
        // Only these have no default.
        (shown.http.tls, shown.outbound.extra_roots) = (None, None);
        (default.http.tls, default.outbound.extra_roots) = (None, None);
        assert_eq!(format!("{shown:?}"), format!("{default:?}"));
    }

    #[test]
    fn the_settings_that_hold_are_a_good_file_with_the_same_values() {
        let first = load_text("[billing.rates]\nUSD = \"1.08\"\n[queue]\nworkers = 3");
        for origins in [Origins::Shown, Origins::Hidden] {
            let again = load_text(&effective_file(&first, origins));
            assert_eq!(format!("{:?}", again.config), format!("{:?}", first.config));
        }
        let shown = effective_file(&first, Origins::Shown);
        assert!(shown.contains("errand.toml:4\n") && shown.contains("  # default\n"), "{shown}");
    }

    #[test]
    fn the_reference_has_one_row_for_each_setting_and_no_broken_cell() {
        let reference = reference();
        let rows: Vec<&str> = reference.lines().skip(2).collect();
        assert_eq!(rows.len(), Setting::all().len());
        for row in rows {
            assert_eq!(row.matches(" | ").count(), 5, "{row}");
        }
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 3), ["unbreakable"]);
    }
}
