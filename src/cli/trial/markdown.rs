//! Shows a report on a terminal: headings and strong words in bold, the rest as it is.

use crate::cli::output::{Paint, bold};

/// The report for a terminal; without paint, the Markdown itself.
pub(super) fn rendered(markdown: &str, paint: Paint) -> String {
    if paint == Paint::Off {
        return ended(markdown.to_owned());
    }
    let mut is_code = false;
    let lines = markdown.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            return String::new();
        }
        let text = line.trim_start_matches('#');
        match text.strip_prefix(' ') {
            _ if is_code => line.to_owned(),
            Some(heading) if text.len() < line.len() => bold(heading, paint),
            Some(_) | None => strong(line, paint),
        }
    });
    ended(lines.collect::<Vec<_>>().join("\n"))
}

/// Puts what stands between pairs of `**` in bold.
fn strong(line: &str, paint: Paint) -> String {
    let parts: Vec<&str> = line.split("**").collect();
    if parts.len().is_multiple_of(2) {
        return line.to_owned();
    }
    let part = |(nth, text): (usize, &&str)| {
        if nth.is_multiple_of(2) { (*text).to_owned() } else { bold(text, paint) }
    };
    parts.iter().enumerate().map(part).collect()
}

fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, shown: &str) {
        assert_eq!(rendered(markdown, Paint::On), shown, "{markdown}");
    }

    #[test]
    fn headings_and_strong_words_are_bold() {
        check("# Title", "\x1b[1mTitle\x1b[0m\n");
        check("a **b** c", "a \x1b[1mb\x1b[0m c\n");
        check("#hashtag", "#hashtag\n");
        check("odd ** mark", "odd ** mark\n");
        check("```\n# code **x**\n```", "\n# code **x**\n");
    }

    #[test]
    fn a_report_that_nobody_sees_stays_markdown() {
        assert_eq!(rendered("# Title\n**a**", Paint::Off), "# Title\n**a**\n");
    }
}
