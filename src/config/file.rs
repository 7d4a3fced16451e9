//! Reads a settings file: TOML whose sections are tables, with the line of every value.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::config::error::{Fault, Place};
use crate::config::models::MODELS_KEY;
use crate::config::raw::{Block, Line, Raw};
use crate::config::table::Setting;

/// Reads the text of the file at `path`, which only messages use.
///
/// # Errors
///
/// What is wrong with the file as a whole: it is no TOML, of another version, or has sections that
/// do not exist. Its values are the caller's to judge.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<Line>, Vec<Fault>> {
    let line_of = |at: usize| {
        let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
        before.iter().filter(|it| **it == b'\n').count().saturating_add(1)
    };
    let at = |offset| Place::Line(path.to_owned(), line_of(offset));
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |it| it.start);
        vec![Fault::new(at(offset), error.message().to_owned())]
    })?;
    let mut lines = Vec::new();
    let mut faults = Vec::new();
    for (name, value) in table.get_ref() {
        let (start, name) = (name.span().start, name.get_ref());
        let value = value.get_ref();
        if name == VERSION_KEY {
            if raw(value, &line_of) != Raw::Integer(VERSION.to_owned()) {
                let what = format!("{VERSION_KEY} must be {VERSION} for this version");
                faults.push(Fault::new(at(start), what));
            }
        } else if let Some(section) = value.as_table() {
            if let Some(what) = unknown_section(name, section.len()) {
                faults.push(Fault::new(at(start), what));
                continue;
            }
            lines.extend(entries(section, &line_of).into_iter().map(|it| {
                let name = format!("{name}.{}", it.name);
                Line { name, ..it }
            }));
        } else {
            let value = raw(value, &line_of);
            lines.push(Line { name: name.to_string(), line: line_of(start), value });
        }
    }
    if faults.is_empty() { Ok(lines) } else { Err(faults) }
}

/// What to say about a section that does not exist; nothing when it does, or when its keys say
/// better what was meant.
fn unknown_section(name: &str, keys: usize) -> Option<String> {
    if name == MODELS_KEY {
        let what = "write [[models]] for each model; what holds for all of them is in [chat]";
        return Some(what.to_owned());
    }
    let mut sections: Vec<&str> = Setting::all().map(Setting::section).collect();
    sections.dedup();
    if sections.contains(&name) {
        return None;
    }
    let meant = crate::config::nearest::nearest(name, sections.iter().copied());
    match meant {
        Some(meant) => Some(format!("there is no section [{name}]; did you mean [{meant}]?")),
        None if keys > 0 => None,
        None => {
            Some(format!("there is no section [{name}]; the sections are {}", sections.join(", ")))
        }
    }
}

/// What stands in a table, with the line of each.
fn entries(table: &DeTable<'_>, line_of: &dyn Fn(usize) -> usize) -> Vec<Line> {
    let entry = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| Line {
        name: name.get_ref().to_string(),
        line: line_of(name.span().start),
        value: raw(value.get_ref(), line_of),
    };
    table.iter().map(entry).collect()
}

fn raw(value: &DeValue<'_>, line_of: &dyn Fn(usize) -> usize) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => {
            Raw::Integer(number.as_str().to_owned())
        }
        DeValue::Integer(_) => Raw::Other("a number that is not decimal"),
        DeValue::Float(number) => Raw::Float(number.as_str().to_owned()),
        DeValue::Boolean(it) => Raw::Truth(*it),
        DeValue::Datetime(_) => Raw::Other("a date"),
        DeValue::Array(items) => {
            let block = |it: &Spanned<DeValue<'_>>| {
                let lines = entries(it.get_ref().as_table()?, line_of);
                Some(Block { line: line_of(it.span().start), lines })
            };
            match items.iter().map(block).collect::<Option<Vec<_>>>() {
                Some(blocks) if !blocks.is_empty() => Raw::Tables(blocks),
                _ => Raw::List(items.iter().map(|it| raw(it.get_ref(), line_of)).collect()),
            }
        }
        DeValue::Table(table) => {
            let lines = entries(table, line_of).into_iter();
            Raw::Table(lines.map(|it| (it.name, it.value)).collect())
        }
    }
}

/// The key that tells which rules the file was written for; absent, it is this version.
pub(super) const VERSION_KEY: &str = "config_version";
/// The rules of this version.
pub(super) const VERSION: &str = "1";

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let faults = read(Path::new("f.toml"), text).expect_err("this must be refused");
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn values_come_with_their_names_and_lines() {
        let text = "config_version = 1\n\n[http]\nlisten = [\"[::1]:1\"]\n\n\
                    [billing.rates]\nUSD = \"1.08\"\n";
        let mut lines = read(Path::new("f.toml"), text).unwrap();
        lines.sort_by_key(|it| it.line);
        let listen = Raw::List(vec![Raw::Text("[::1]:1".to_owned())]);
        let rates = Raw::Table(vec![("USD".to_owned(), Raw::Text("1.08".to_owned()))]);
        assert_eq!(
            lines,
            [
                Line { name: "http.listen".to_owned(), line: 4, value: listen },
                Line { name: "billing.rates".to_owned(), line: 6, value: rates },
            ]
        );
    }

    #[test]
    fn a_broken_file_is_refused_with_the_line() {
        assert_eq!(faults("[http]\nlisten = \n").len(), 1);
        assert!(faults("[http]\nlisten = \n")[0].starts_with("f.toml:2: "));
        assert!(faults("[http]\na = 1\na = 2\n")[0].starts_with("f.toml:3: duplicate key"));
        assert!(faults("\n\u{0}")[0].starts_with("f.toml:2: "));
    }

    #[test]
    fn another_version_of_the_rules_is_refused() {
        for text in ["config_version = 2", "config_version = \"1\"", "config_version = 1.0"] {
            assert_eq!(faults(text), ["f.toml:1: config_version must be 1 for this version"]);
        }
        assert_eq!(read(Path::new("f.toml"), "").unwrap(), []);
    }

    #[test]
    fn a_section_that_does_not_exist_is_led_back_to_one_that_does() {
        assert_eq!(
            faults("\n[htpp]\nlisten = 1"),
            ["f.toml:2: there is no section [htpp]; did you mean [http]?"]
        );
        assert!(faults("[smtp]")[0].contains("the sections are data, http, tls"));
        assert_eq!(read(Path::new("f.toml"), "[server]\nlisten = 1").unwrap().len(), 1);
    }
}
