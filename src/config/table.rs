//! A row of the table of settings, and what can be asked of the whole table.

use std::fmt;

use crate::config::environment::{Environment, PREFIX};
use crate::config::kind::Kind;
use crate::config::nearest::nearest;
use crate::config::raw::Raw;
use crate::config::reading::{Problem, Reading};
use crate::config::shape::Mode;
use crate::config::{rows, work_rows};

/// One setting: its name, its values, its default and its meaning.
pub struct Setting {
    /// Its section and its key, such as `http.listen`.
    pub name: &'static str,
    /// When a new value is noticed.
    pub reload: Reload,
    /// What it is for, in a sentence.
    pub meaning: &'static str,
    pub(super) kind: Kind,
    pub(super) default: Preset,
}

/// When a new value is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reload {
    /// At the next start.
    Restart,
    /// When the daemon gets SIGHUP, the named file is read again.
    Hangup,
}

/// What holds when nobody says anything.
pub(super) enum Preset {
    /// This, in the form of a variable.
    Is(&'static str),
    /// This for customers and that for a developer.
    Modes(&'static str, &'static str),
    /// Nothing.
    Unset,
    /// The directory that the environment names, or that one for a developer.
    DataDir(&'static str),
}

impl Setting {
    /// Every setting, section by section.
    pub fn all() -> impl Iterator<Item = &'static Self> + Clone {
        rows::ROWS.iter().chain(&work_rows::ROWS)
    }

    /// The setting of that name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::all().find(|it| it.name == name)
    }

    /// The setting that somebody meant by a name that none has.
    #[must_use]
    pub fn meant(name: &str) -> Option<&'static Self> {
        nearest(name, Self::all().map(|it| it.name)).and_then(Self::find)
    }

    /// The section, such as `http`.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(section, _)| section)
    }

    /// The name in its section, such as `listen`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, key)| key)
    }

    /// The variable that sets it, such as `ERRAND_HTTP_LISTEN`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.replace('.', "_").to_uppercase())
    }

    /// What values it takes, to stand after "must be".
    #[must_use]
    pub fn expectation(&self) -> String {
        self.kind.expectation()
    }

    /// Understands a value; the error is for the one who gave it.
    pub(super) fn read(&self, raw: &Raw, here: &Environment) -> Result<Reading, String> {
        self.kind.read(raw, here).map_err(|problem| match problem {
            Problem::Kind => {
                format!("{} must be {}, not {}", self.name, self.expectation(), raw.shown())
            }
            Problem::Value(why) => format!("{}: {why}", self.name),
        })
    }

    /// The value when nobody says anything; `None` when there is none.
    pub(super) fn default_value(&self, mode: Mode, here: &Environment) -> Option<Raw> {
        let words = |it: &str| Some(Raw::Words(it.to_owned()));
        match (&self.default, mode) {
            (Preset::Is(it) | Preset::Modes(it, _), Mode::Serve) => words(it),
            (Preset::Is(it) | Preset::Modes(_, it) | Preset::DataDir(it), Mode::Dev) => words(it),
            (Preset::DataDir(_), Mode::Serve) => words(&here.data_dir().display().to_string()),
            (Preset::Unset, _) => None,
        }
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Setting({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::agents::Catalogue;

    #[test]
    fn names_are_a_section_of_one_word_and_a_key_and_occur_once() {
        let mut names = BTreeSet::new();
        let mut sections = Vec::new();
        for setting in Setting::all() {
            let letter = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_';
            let word = |it: &str| it.bytes().all(letter);
            assert!(word(setting.section()) && !setting.section().contains('_'));
            assert!(word(setting.key()), "{}", setting.name);
            assert!(names.insert(setting.variable()), "{} occurs twice", setting.name);
            if sections.last() != Some(&setting.section()) {
                sections.push(setting.section());
            }
        }
        let distinct: BTreeSet<_> = sections.iter().collect();
        assert_eq!(distinct.len(), sections.len(), "a section is torn apart: {sections:?}");
    }

    #[test]
    fn every_default_is_a_value_of_its_setting_in_both_modes() {
        let here = Environment::of(Path::new("/place"), &[("HOME", "/home/ana")]);
        for setting in Setting::all() {
            for mode in [Mode::Serve, Mode::Dev] {
                let default = setting.default_value(mode, &here);
                let read = default.map(|it| setting.read(&it, &here).map(|it| it.text));
                assert!(read.clone().is_none_or(|it| it.is_ok()), "{}: {read:?}", setting.name);
            }
        }
    }

    #[test]
    fn every_kind_that_comes_with_the_daemon_has_a_price() {
        for entry in Catalogue::built_in(crate::domain::receiver::UrlPolicy::Public).entries() {
            let name = format!("agents.price_{}", entry.kind);
            assert!(Setting::find(&name).is_some(), "{name} is not in the table");
        }
    }

    #[test]
    fn meanings_are_sentences() {
        for setting in Setting::all() {
            assert!(setting.meaning.ends_with('.'), "{}", setting.name);
            assert!(setting.meaning.starts_with(|it: char| it.is_ascii_uppercase()));
        }
    }
}
