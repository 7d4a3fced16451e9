//! What is printed from the table: the settings that hold, a file to begin with, the reference.

use std::fmt::Write as _;
use std::path::Path;

use crate::config::environment::Environment;
use crate::config::file::{VERSION, VERSION_KEY};
use crate::config::loaded::Loaded;
use crate::config::model_print::{EXAMPLE, effective_models, model_listing, model_reference};
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
    out + &effective_models(&loaded.models, origins)
}

/// A settings file with every setting explained and, apart from the profile's, commented out.
#[must_use]
pub fn commented_file(profile: Profile) -> String {
    let mut out = format!(
        "# Settings of errand. A setting that is commented out has the value shown, or none where\n\
         # that is said. Flags such as --listen and variables such as ERRAND_HTTP_LISTEN win over\n\
         # this file. `errand config check FILE` checks it, `errand config show` prints what holds.\n\
         {VERSION_KEY} = {VERSION}\n"
    );
    let mut section = "";
    for setting in Setting::all() {
        if setting.section() != section {
            section = setting.section();
            push(&mut out, format_args!("\n[{section}]\n"));
        } else {
            out.push('\n');
        }
        let unset = match setting.default {
            Preset::Unset | Preset::DataDir(_) => {
                format!(" Without it: {}.", default_words(setting))
            }
            Preset::Is(_) | Preset::Modes(..) => String::new(),
        };
        let text = format!("{} Takes {}.{unset}", setting.meaning, setting.expectation());
        for line in wrapped(&text) {
            push(&mut out, format_args!("# {line}\n"));
        }
        match profile.value(setting.name) {
            Some(value) => push(&mut out, format_args!("{} = {value}\n", setting.key())),
            None => push(&mut out, format_args!("#{} = {}\n", setting.key(), example(setting))),
        }
    }
    out + EXAMPLE
}

/// All settings for people.
#[must_use]
pub fn listing() -> String {
    let mut out = String::new();
    for setting in Setting::all() {
        push(&mut out, format_args!("{} [{}]\n", setting.name, setting.variable()));
        let takes = format!("{} Takes {}.", setting.meaning, setting.expectation());
        for line in wrapped(&takes) {
            push(&mut out, format_args!("    {line}\n"));
        }
        for line in wrapped(&format!("Default: {}", default_words(setting))) {
            push(&mut out, format_args!("    {line}\n"));
        }
    }
    out + &model_listing()
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
                default_cell(setting),
                setting.expectation(),
                setting.variable(),
                setting.meaning,
            ),
        );
    }
    out + &model_reference()
}

/// The help of a flag that mirrors a setting.
///
/// Empty for a name that no setting has, which a test of the flags refuses.
#[must_use]
pub fn help(name: &str) -> String {
    let Some(setting) = Setting::find(name) else { return String::new() };
    let first = setting.meaning.split(". ").next().unwrap_or_default().trim_end_matches('.');
    format!("{first} [{}; default: {}]", setting.variable(), default_words(setting))
}

impl Setting {
    /// The default in the form of a variable, for people.
    #[must_use]
    pub fn default_words(&self) -> String {
        default_words(self)
    }
}

fn default_words(setting: &Setting) -> String {
    let word = |it: &str| if it.is_empty() { "none".to_owned() } else { it.to_owned() };
    match setting.default {
        Preset::Unset => "none".to_owned(),
        Preset::Is(all) => word(all),
        Preset::Modes(serve, dev) => format!("{}; dev: {}", word(serve), word(dev)),
        Preset::DataDir(dev) => format!(
            "$STATE_DIRECTORY, else $XDG_DATA_HOME/errand, else ~/.local/share/errand; dev: {dev}"
        ),
    }
}

/// The default as the reference shows it.
fn default_cell(setting: &Setting) -> String {
    let value = |mode| format!("`{}`", default_value(setting, mode).unwrap_or_default());
    match setting.default {
        Preset::Unset => "none".to_owned(),
        Preset::Is(_) => value(Mode::Serve),
        Preset::Modes(..) => format!("{}; dev: {}", value(Mode::Serve), value(Mode::Dev)),
        Preset::DataDir(dev) => format!(
            "`$STATE_DIRECTORY`, else `$XDG_DATA_HOME/errand`, else `~/.local/share/errand`; \
             dev: `{dev}`"
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
    /// Every profile.
    pub const ALL: [Self; 3] = [Self::Local, Self::Proxy, Self::Docker];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Proxy => "proxy",
            Self::Docker => "docker",
        }
    }

    /// Reads the word for a profile.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
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

/// Breaks a text into lines of at most [`COMMENT_CHARS`] characters, at spaces.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= COMMENT_CHARS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

pub(super) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

/// Characters of a line of a comment.
const COMMENT_CHARS: usize = 90;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::{Sources, load};
    use crate::config::loaded::Source;
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
        assert_eq!(given(&loaded).len(), Setting::all().count());
        let mut shown = loaded.config;
        let mut default = Config::serve(shown.data.dir.clone());
        let ids: Vec<String> = shown.chat.models.drain(..).map(|it| it.id.to_string()).collect();
        assert_eq!(ids, ["local/llama3.2", "local/qwen", "hosted/large"]);
        // Only these have no default.
        (shown.http.tls, shown.outbound.extra_roots) = (None, None);
        (shown.data.master_key_file, default.data.master_key_file) = (None, None);
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
        let (reference, models) = reference.split_once("\n\n").unwrap();
        let rows: Vec<&str> = reference.lines().skip(2).collect();
        assert_eq!(rows.len(), Setting::all().count());
        for row in rows {
            assert_eq!(row.matches(" | ").count(), 5, "{row}");
        }
        for row in models.lines().skip(2) {
            assert_eq!(row.matches('|').count(), 5, "{row}");
        }
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        let (long, word) = ("a".repeat(60), "b".repeat(100));
        assert_eq!(wrapped("one two three"), ["one two three"]);
        assert_eq!(wrapped(&format!("{long} {long} c")), [long.clone(), format!("{long} c")]);
        assert_eq!(wrapped(&word), [word]);
    }
}
