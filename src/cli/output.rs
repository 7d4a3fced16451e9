//! What commands print: text for people, JSON for scripts or CSV for spreadsheets, on standard
//! output; remarks and failures on standard error.
//!
//! Colours appear on a terminal only, and not where somebody refused them.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use crate::cli::args::{Form, Global};
use crate::cli::exit::{Exit, Failure};
use crate::config::Environment;

/// Where a command prints to.
#[derive(Clone, Debug)]
pub(super) struct Output {
    form: Form,
    colour: Paint,
    colour_of_errors: Paint,
    errors_are_seen: bool,
}

/// Whether text is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    /// With the escapes of a terminal.
    On,
    /// As it is.
    Off,
}

impl Output {
    /// What the flags and the environment ask for.
    pub(super) fn new(global: &Global, environment: &Environment) -> Self {
        let refused = global.no_color || environment.refuses_colour();
        let paint = |is_terminal| if is_terminal && !refused { Paint::On } else { Paint::Off };
        let errors_are_seen = io::stderr().is_terminal();
        Self {
            form: global.output,
            colour: paint(io::stdout().is_terminal()),
            colour_of_errors: paint(errors_are_seen),
            errors_are_seen,
        }
    }

    /// Whether scripts read the output.
    pub(super) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Whether a spreadsheet reads the output.
    pub(super) fn is_csv(&self) -> bool {
        self.form == Form::Csv
    }

    /// Whether text on standard output is painted.
    pub(super) const fn paint(&self) -> Paint {
        self.colour
    }

    /// Prints text and a line's end.
    ///
    /// # Errors
    ///
    /// When standard output does not take it; without a word when its reader is gone.
    pub(super) fn line(&self, text: impl Display) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        written(writeln!(out, "{text}").and_then(|()| out.flush()))
    }

    /// Prints text that ends its lines itself.
    ///
    /// # Errors
    ///
    /// As [`Self::line`].
    pub(super) fn text(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Prints labels and values, one pair a line, values below each other.
    ///
    /// # Errors
    ///
    /// As [`Self::line`].
    pub(super) fn facts(&self, facts: &[(&str, String)]) -> Result<(), Failure> {
        self.text(&facts_text(facts, self.colour))
    }

    /// Prints a table with a head; `nothing` when it has no rows.
    ///
    /// # Errors
    ///
    /// As [`Self::line`].
    pub(super) fn table(
        &self,
        head: &[&str],
        rows: &[Vec<String>],
        nothing: &str,
    ) -> Result<(), Failure> {
        if rows.is_empty() {
            self.line(nothing)
        } else {
            self.text(&table_text(head, rows, self.colour))
        }
    }

    /// Prints one JSON value.
    ///
    /// # Errors
    ///
    /// As [`Self::line`].
    pub(super) fn json(&self, value: &Value) -> Result<(), Failure> {
        self.line(value)
    }

    /// Says something beside the matter: on standard output for people, out of the way of scripts.
    ///
    /// # Errors
    ///
    /// As [`Self::line`].
    pub(super) fn aside(&self, label: &str, value: &str) -> Result<(), Failure> {
        if self.form != Form::Text {
            self.remark(&format!("{label}: {value}"));
            return Ok(());
        }
        self.facts(&[(label, value.to_owned())])
    }

    /// Says something on standard error; nobody has to hear it.
    pub(super) fn remark(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Shows how far something is, in place of what was shown before, where somebody sees it.
    pub(super) fn progress(&self, text: &str) {
        if self.errors_are_seen {
            let mut errors = io::stderr().lock();
            let _ = write!(errors, "\r\x1b[K{text}").and_then(|()| errors.flush());
        }
    }

    /// Says why the command could not do its work.
    pub(super) fn failure(&self, failure: &Failure) {
        if !failure.what.is_empty() {
            let word = painted("error", RED, self.colour_of_errors);
            self.remark(&format!("{word}: {failure}"));
        }
    }

    /// The text in bold, where that is seen.
    pub(super) fn strong(&self, text: &str) -> String {
        painted(text, BOLD, self.colour)
    }
}

/// The text in bold.
pub(super) fn bold(text: &str, paint: Paint) -> String {
    painted(text, BOLD, paint)
}

/// Labels and values, values below each other.
fn facts_text(facts: &[(&str, String)], paint: Paint) -> String {
    let width = facts.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let width = width.max(FACT_LABEL_CHARS);
    let line = |(label, value): &(&str, String)| {
        let gap = " ".repeat(width.saturating_sub(label.chars().count()));
        let value = value.replace('\n', &format!("\n{}", " ".repeat(width.saturating_add(4))));
        format!("  {}{gap}  {value}\n", painted(label, DIM, paint))
    };
    facts.iter().map(line).collect()
}

/// A table whose columns are as wide as their widest cell.
fn table_text(head: &[&str], rows: &[Vec<String>], paint: Paint) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|it| it.get(column));
        let title = head.get(column).map_or(0, |it| it.chars().count());
        cells.map(|it| it.chars().count()).max().unwrap_or(0).max(title)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let titles: Vec<String> = head.iter().map(|it| (*it).to_owned()).collect();
    let mut out = painted(&line(&titles), DIM, paint);
    for row in rows {
        out.push('\n');
        out.push_str(&line(row));
    }
    out.push('\n');
    out
}

fn painted(text: &str, style: &str, paint: Paint) -> String {
    match paint {
        Paint::On => format!("\x1b[{style}m{text}\x1b[0m"),
        Paint::Off => text.to_owned(),
    }
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| {
        // A reader that has gone has seen enough.
        let is_gone = error.kind() == io::ErrorKind::BrokenPipe;
        let what = if is_gone { String::new() } else { format!("could not print: {error}") };
        Failure::new(Exit::Failed, what)
    })
}

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "1;31";
/// Characters that labels have room for, so that the values of most outputs stand below each other.
const FACT_LABEL_CHARS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_each_other() {
        let facts = [("id", "7".to_owned()), ("long label here", "a\nb".to_owned())];
        let text = facts_text(&facts, Paint::Off);
        assert_eq!(text, "  id               7\n  long label here  a\n                   b\n");
        assert_eq!(facts_text(&facts[..1], Paint::Off), "  id         7\n");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["1".to_owned(), "é".to_owned()], vec!["1000".to_owned(), String::new()]];
        assert_eq!(table_text(&["ID", "NAME"], &rows, Paint::Off), "ID    NAME\n1     é\n1000\n");
    }

    #[test]
    fn paint_is_there_or_not() {
        assert_eq!(bold("x", Paint::Off), "x");
        assert_eq!(bold("x", Paint::On), "\x1b[1mx\x1b[0m");
    }
}
