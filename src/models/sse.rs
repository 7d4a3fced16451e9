//! Event streams, read as they come, whatever the size of the pieces.
//!
//! Lines end with CR, LF or both. Comments, ids and retry times are skipped. An event that is
//! not ended by an empty line before the stream ends is given out too: who reads it decides
//! whether it is whole. Source: the HTML standard, "Server-sent events".

use std::collections::VecDeque;

/// Reads events out of bytes.
#[derive(Debug)]
pub struct EventReader {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last line ended with CR: an LF after it belongs to it.
    skips_lf: bool,
    is_first_line: bool,
    ready: VecDeque<Event>,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its data; lines are joined with LF.
    pub data: Vec<u8>,
    /// Whether it was named as an error.
    pub is_error: bool,
}

/// A line, or all data of an event, is longer than any sensible one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Default for EventReader {
    fn default() -> Self {
        Self::new()
    }
}

impl EventReader {
    /// Nothing read yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: Vec::new(),
            event: Event { data: Vec::new(), is_error: false },
            has_data: false,
            skips_lf: false,
            is_first_line: true,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    ///
    /// [`TooLong`]: the stream is none, or a hostile one.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), TooLong> {
        loop {
            if self.skips_lf && !bytes.is_empty() {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
                self.skips_lf = false;
            }
            let Some(end) = bytes.iter().position(|it| matches!(it, b'\r' | b'\n')) else {
                return self.extend_line(bytes);
            };
            let (head, tail) = bytes.split_at(end);
            self.extend_line(head)?;
            self.skips_lf = tail.first() == Some(&b'\r');
            bytes = tail.get(1..).unwrap_or_default();
            self.end_line()?;
        }
    }

    /// Takes the end of the stream.
    ///
    /// # Errors
    ///
    /// [`TooLong`], as [`EventReader::feed`].
    pub fn end(&mut self) -> Result<(), TooLong> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        self.end_event();
        Ok(())
    }

    /// The next event that is complete.
    #[must_use]
    pub fn next_event(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len().saturating_add(bytes.len()) > EVENT_BYTES_MAX {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), TooLong> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_first_line) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            self.end_event();
        } else {
            self.field(&line)?;
        }
        line.clear();
        self.line = line;
        Ok(())
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let colon = line.iter().position(|it| *it == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => self.add_data(value)?,
            b"event" => self.event.is_error = value == b"error",
            // llama.cpp once wrote its errors so.
            b"error" => {
                self.event.is_error = true;
                self.add_data(value)?;
            }
            // A comment, an id, a time to wait, or something new.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), TooLong> {
        let data = &mut self.event.data;
        if data.len().saturating_add(value.len()) >= EVENT_BYTES_MAX {
            return Err(TooLong);
        }
        if self.has_data {
            data.push(b'\n');
        }
        data.extend_from_slice(value);
        self.has_data = true;
        Ok(())
    }

    fn end_event(&mut self) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            self.ready.push_back(event);
        }
    }
}

/// Bytes of a line, and of all data of an event. Source: the contract, section 5.
const EVENT_BYTES_MAX: usize = 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut reader = EventReader::new();
        for piece in pieces {
            reader.feed(piece).unwrap();
        }
        reader.end().unwrap();
        std::iter::from_fn(|| reader.next_event()).collect()
    }

    #[track_caller]
    fn check_data(stream: &str, data: &[&str]) {
        let events = read(&[stream.as_bytes()]);
        let found: Vec<_> = events.iter().map(|it| String::from_utf8_lossy(&it.data)).collect();
        assert_eq!(found, data, "{stream:?}");
        assert!(events.iter().all(|it| !it.is_error));
    }

    #[test]
    fn lines_end_in_three_ways_and_events_with_an_empty_line() {
        check_data("data: a\n\ndata: b\n\n", &["a", "b"]);
        check_data("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check_data("data: a\r\rdata: b\r\r", &["a", "b"]);
        check_data("data: a\r\n\ndata: b\n\r\n", &["a", "b"]);
    }

    #[test]
    fn one_space_after_the_colon_is_not_part_of_the_value() {
        check_data("data:a\n\n", &["a"]);
        check_data("data:  a\n\n", &[" a"]);
        check_data("data\n\n", &[""]);
        check_data("data: a:b\n\n", &["a:b"]);
    }

    #[test]
    fn comments_and_fields_without_meaning_here_are_skipped() {
        check_data(": hello\n\nid: 7\nretry: 10\nevent: message\ndata: a\n: more\n\n\n\n", &["a"]);
        check_data("\u{feff}data: a\n\n", &["a"]);
        check_data("dat: a\n\nDATA: b\n\n", &[]);
    }

    #[test]
    fn lines_of_data_are_joined_and_an_event_may_lack_its_end() {
        check_data("data: {\ndata: }\n\n", &["{\n}"]);
        check_data("data: a\n\ndata: b", &["a", "b"]);
        check_data("", &[]);
    }

    #[test]
    fn errors_are_known_by_the_name_of_the_event_or_of_the_field() {
        for stream in ["event: error\ndata: a\n\n", "error: a\n\n"] {
            assert_eq!(read(&[stream.as_bytes()]), [Event { data: b"a".to_vec(), is_error: true }]);
        }
        let events = read(&[b"event: error\ndata: a\n\ndata: b\n\n"]);
        assert!(!events[1].is_error);
    }

    #[test]
    fn a_line_and_an_event_have_a_limit() {
        let mut reader = EventReader::new();
        let piece = vec![b'x'; 64 * 1024];
        let fed = (0..100).position(|_| reader.feed(&piece).is_err());
        assert_eq!(fed, Some(16));
        let mut reader = EventReader::new();
        let line = [b"data: ", &piece[..], b"\n"].concat();
        let fed = (0..100).position(|_| reader.feed(&line).is_err());
        assert_eq!(fed, Some(15));
    }

    proptest! {
        #[test]
        fn where_the_stream_is_cut_changes_nothing(
            stream in "(data: ?[a:{}]{0,3}|:c|event: error|é|\r|\n|\r\n|\n\n){0,30}",
            cuts in proptest::collection::vec(0..100_usize, 0..6),
        ) {
            let bytes = stream.as_bytes();
            let whole = read(&[bytes]);
            let single: Vec<_> = bytes.chunks(1).collect();
            prop_assert_eq!(&read(&single), &whole);
            let mut pieces = vec![bytes];
            for cut in cuts {
                let last = pieces.pop().unwrap();
                let (head, tail) = last.split_at(cut.min(last.len()));
                pieces.extend([head, tail]);
            }
            prop_assert_eq!(read(&pieces), whole);
        }
    }
}
