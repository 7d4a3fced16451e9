//! What a source says about a setting, before its row in the table understands it.

use crate::domain::secret::redact;

/// A value as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    /// A variable, a flag or a default: one text for every kind, lists with commas.
    Words(String),
    /// A string of the file.
    Text(String),
    /// A whole number of the file, in decimal digits.
    Integer(String),
    /// A number with a point or an exponent.
    Float(String),
    /// A list of the file.
    List(Vec<Self>),
    /// A table of the file.
    Table(Vec<(String, Self)>),
    /// `true` or `false`.
    Truth(bool),
    /// A list of tables, such as `[[models]]`.
    Tables(Vec<Block>),
    /// Something that no setting is, by the name that TOML has for it.
    Other(&'static str),
}

/// A value of the file with its name and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The name that it has there, which may be that of no setting.
    pub(super) name: String,
    /// Its line, counted from one.
    pub(super) line: usize,
    /// The value.
    pub(super) value: Raw,
}

/// One of a list of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The line where it begins, counted from one.
    pub(super) line: usize,
    /// What stands in it.
    pub(super) lines: Vec<Line>,
}

impl Raw {
    /// The text; `None` when it is not one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Words(it) | Self::Text(it) => Some(it),
            Self::Integer(_)
            | Self::Float(_)
            | Self::List(_)
            | Self::Table(_)
            | Self::Truth(_)
            | Self::Tables(_)
            | Self::Other(_) => None,
        }
    }

    /// The digits of a whole number; `None` when it is not one.
    pub(super) fn digits(&self) -> Option<&str> {
        match self {
            Self::Words(it) | Self::Integer(it) => Some(it),
            Self::Text(_)
            | Self::Float(_)
            | Self::List(_)
            | Self::Table(_)
            | Self::Truth(_)
            | Self::Tables(_)
            | Self::Other(_) => None,
        }
    }

    /// The items of a list; one text is a list of one.
    pub(super) fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::Words(words) => Some(parts(words).map(|it| Self::Words(it.to_owned())).collect()),
            Self::List(items) => Some(items.clone()),
            Self::Text(_) | Self::Integer(_) => Some(vec![self.clone()]),
            Self::Float(_) | Self::Table(_) | Self::Truth(_) | Self::Tables(_) | Self::Other(_) => {
                None
            }
        }
    }

    /// The entries of a table; of words, `NAME=VALUE` with commas between them.
    pub(super) fn entries(&self) -> Option<Vec<(String, Self)>> {
        match self {
            Self::Words(words) => parts(words).map(entry).collect(),
            Self::Table(entries) => Some(entries.clone()),
            Self::Text(_)
            | Self::Integer(_)
            | Self::Float(_)
            | Self::List(_)
            | Self::Truth(_)
            | Self::Tables(_)
            | Self::Other(_) => None,
        }
    }

    /// Whether it is true; `None` when it is neither that nor false.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::Truth(it) => Some(*it),
            Self::Words(_)
            | Self::Text(_)
            | Self::Integer(_)
            | Self::Float(_)
            | Self::List(_)
            | Self::Table(_)
            | Self::Tables(_)
            | Self::Other(_) => None,
        }
    }

    /// How a message shows it: short, and without what looks like a key.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Words(it) | Self::Text(it) => {
                let cut: String = it.chars().take(SHOWN_CHARS_MAX).collect();
                let more = if cut.len() < it.len() { "…" } else { "" };
                format!("{:?}", redact(&cut) + more)
            }
            Self::Integer(it) | Self::Float(it) => it.clone(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Truth(it) => it.to_string(),
            Self::Tables(_) => "a list of tables".to_owned(),
            Self::Other(name) => (*name).to_owned(),
        }
    }
}

fn parts(words: &str) -> impl Iterator<Item = &str> {
    words.split(',').map(str::trim).filter(|it| !it.is_empty())
}

fn entry(part: &str) -> Option<(String, Raw)> {
    let (name, value) = part.split_once('=')?;
    Some((name.trim().to_owned(), Raw::Words(value.trim().to_owned())))
}

/// Characters of a value that a message repeats.
const SHOWN_CHARS_MAX: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lists_and_tables_where_those_are_wanted() {
        let words = Raw::Words("a, b,,c".to_owned());
        let word = |it: &str| Raw::Words(it.to_owned());
        assert_eq!(words.items(), Some(vec![word("a"), word("b"), word("c")]));
        assert_eq!(words.entries(), None);
        let table = Raw::Words("USD=1.08, CHF = 0.95".to_owned());
        let entries = [("USD".to_owned(), word("1.08")), ("CHF".to_owned(), word("0.95"))];
        assert_eq!(table.entries(), Some(entries.to_vec()));
        assert_eq!(word("").items(), Some(vec![]));
    }

    #[test]
    fn a_message_shows_no_key_and_no_long_value() {
        let key = Raw::Text(format!("service_sk_{}", "a".repeat(46)));
        assert_eq!(key.shown(), "\"service_sk_…\"");
        assert_eq!(Raw::Text("a\nb".to_owned()).shown(), "\"a\\nb\"");
        assert!(Raw::Text("x".repeat(1_000)).shown().chars().count() < 70);
    }
}
