//! The lines of a robots.txt: numbered, split into key and value, cut at the size limit.

/// Bytes of a file that crawlers must read and need not read past. Source: RFC 9309, 2.5.
pub const BYTES_MAX: usize = 500 * 1024;

/// A line that says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The line's number, from 1.
    pub line: u32,
    /// What stands before the colon; none when there is no colon.
    pub key: Option<&'a [u8]>,
    /// What stands after it, or the whole line.
    pub value: &'a [u8],
}

/// The part of a file that counts, and what was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readable<'a> {
    /// The part that counts, without a byte order mark and without a line that was cut.
    pub bytes: &'a [u8],
    /// Whether it began with a byte order mark.
    pub has_mark: bool,
    /// The number of the first line that crawlers need not read.
    pub ignored_from: Option<u32>,
}

/// Cuts a file where crawlers may stop reading.
#[must_use]
pub fn readable(file: &[u8]) -> Readable<'_> {
    let kept = file.get(..BYTES_MAX).unwrap_or(file);
    let is_cut = kept.len() < file.len();
    let whole_lines = if is_cut { until_last_line_end(kept) } else { kept };
    let unmarked = whole_lines.strip_prefix(MARK.as_bytes());
    let bytes = unmarked.unwrap_or(whole_lines);
    let ignored_from = is_cut.then(|| next_line_number(bytes));
    Readable { bytes, has_mark: unmarked.is_some(), ignored_from }
}

/// The lines that are neither blank nor comments.
///
/// LF, CR and CR LF end a line; what follows a `#` is a comment.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    lines(bytes).filter_map(|(line, text)| {
        let text = text.split(|it| *it == b'#').next().unwrap_or_default().trim_ascii();
        let colon = text.iter().position(|it| *it == b':');
        let (key, value) = match colon.and_then(|it| text.split_at_checked(it)) {
            Some((key, value)) => (Some(key.trim_ascii()), value.trim_ascii_start()),
            None => (None, text),
        };
        let value =
            if key.is_some() { value.get(1..).unwrap_or_default().trim_ascii() } else { value };
        (!text.is_empty()).then_some(Record { line, key, value })
    })
}

/// Lines with their numbers.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = Some(bytes);
    let mut number: u32 = 0;
    std::iter::from_fn(move || {
        let text = rest?;
        number = number.saturating_add(1);
        let end = text.iter().position(|it| matches!(it, b'\n' | b'\r'));
        let Some((line, after)) = end.and_then(|it| text.split_at_checked(it)) else {
            rest = None;
            return Some((number, text));
        };
        rest = after.strip_prefix(b"\r\n").or_else(|| after.get(1..));
        Some((number, line))
    })
}

fn until_last_line_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|it| matches!(it, b'\n' | b'\r'));
    end.and_then(|it| bytes.get(..=it)).unwrap_or_default()
}

fn next_line_number(bytes: &[u8]) -> u32 {
    lines(bytes).last().map_or(1, |(number, _)| number)
}

/// The byte order mark of UTF-8.
const MARK: &str = "\u{feff}";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_records(file: &str, expected: &[(u32, Option<&str>, &str)]) {
        let found: Vec<_> = records(file.as_bytes())
            .map(|it| (it.line, it.key.map(text), text(it.value)))
            .collect();
        assert_eq!(found, expected, "{file:?}");
    }

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn lines_end_in_three_ways_and_comments_do_not_count() {
        check_records("", &[]);
        check_records("a: 1\nb:2", &[(1, Some("a"), "1"), (2, Some("b"), "2")]);
        check_records("a: 1\rb:2\r", &[(1, Some("a"), "1"), (2, Some("b"), "2")]);
        check_records("a: 1\r\n\r\n# no\r\nb:2 # yes", &[(1, Some("a"), "1"), (4, Some("b"), "2")]);
        check_records(" Allow : /a:b ", &[(1, Some("Allow"), "/a:b")]);
        check_records("no colon", &[(1, None, "no colon")]);
        check_records(":", &[(1, Some(""), "")]);
    }

    #[test]
    fn what_lies_past_the_limit_is_left_out_with_the_line_that_it_cuts() {
        let line = "Disallow: /filler/000\n";
        let file = format!("\u{feff}{}", line.repeat(BYTES_MAX / line.len() + 10));
        let cut = readable(file.as_bytes());
        assert!(cut.has_mark);
        assert!(cut.bytes.ends_with(b"/000\n"));
        let kept = u32::try_from(records(cut.bytes).count()).unwrap();
        assert_eq!(cut.ignored_from, Some(kept + 1));
        let small = readable(b"a: 1");
        assert_eq!((small.bytes, small.has_mark, small.ignored_from), (&b"a: 1"[..], false, None));
    }

    #[test]
    fn one_endless_line_leaves_nothing() {
        let file = vec![b'x'; BYTES_MAX + 1];
        let cut = readable(&file);
        assert_eq!((cut.bytes.len(), cut.ignored_from), (0, Some(1)));
    }
}
