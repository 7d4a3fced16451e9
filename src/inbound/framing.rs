//! Where requests begin and end in the bytes of a connection: a second opinion on their lengths.
//!
//! A request with both a `Content-Length` and a `Transfer-Encoding` has two ends, and a proxy that
//! takes the other one can be made to smuggle a request through. hyper takes the encoding, forgets
//! the length and tells nobody, so this file follows the same bytes and remembers. It judges
//! nothing else: what is malformed, hyper refuses. Where this file cannot follow, it says that the
//! next request is ambiguous, so that whoever confuses it gets nothing through.

/// Follows the requests of one connection.
#[derive(Debug)]
pub(super) struct Framing {
    at: At,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
    length: Option<u64>,
    is_chunked: bool,
    is_unclear: bool,
    heads: u64,
    ambiguous: Option<u64>,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// A request line, or empty lines before it.
    Start,
    /// A header line.
    Head,
    /// A body, or a chunk of one, of which so many bytes are left.
    Body(u64),
    Chunk(u64),
    /// The line that begins a chunk, and the one that ends it.
    ChunkSize,
    ChunkEnd,
    /// The lines after the last chunk.
    Trailers,
    /// Nothing that can be followed.
    Lost,
}

impl Framing {
    /// At the beginning of a connection.
    pub(super) const fn new() -> Self {
        Self {
            at: At::Start,
            begun: Vec::new(),
            length: None,
            is_chunked: false,
            is_unclear: false,
            heads: 0,
            ambiguous: None,
        }
    }

    /// Which request of the connection, from zero, has two lengths; it is the last one followed.
    pub(super) const fn ambiguous(&self) -> Option<u64> {
        self.ambiguous
    }

    /// Follows the next bytes.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.at {
                At::Lost => return,
                At::Body(left) => self.pass(left, bytes, At::Body, At::Start),
                At::Chunk(left) => self.pass(left, bytes, At::Chunk, At::ChunkEnd),
                At::Start | At::Head | At::ChunkSize | At::ChunkEnd | At::Trailers => {
                    self.pass_line(bytes)
                }
            };
        }
    }

    /// Passes over content; `then` is what follows it.
    fn pass<'a>(
        &mut self,
        left: u64,
        bytes: &'a [u8],
        within: fn(u64) -> At,
        then: At,
    ) -> &'a [u8] {
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left.saturating_sub(u64::try_from(here).unwrap_or(u64::MAX));
        self.at = if left == 0 { then } else { within(left) };
        bytes.get(here..).unwrap_or_default()
    }

    fn pass_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = bytes.iter().position(|it| *it == b'\n') else {
            self.keep(bytes);
            return &[];
        };
        let (line, rest) = bytes.split_at(end);
        if self.begun.is_empty() {
            self.line(line);
        } else {
            self.keep(line);
            let mut whole = std::mem::take(&mut self.begun);
            self.line(&whole);
            whole.clear();
            self.begun = whole;
        }
        rest.get(1..).unwrap_or_default()
    }

    /// Keeps the beginning of a line, as far as any line that matters goes.
    fn keep(&mut self, part: &[u8]) {
        let space = LINE_BYTES_KEPT.saturating_sub(self.begun.len());
        self.begun.extend(part.iter().take(space));
    }

    fn line(&mut self, line: &[u8]) {
        let (line, has_return) = line.strip_suffix(b"\r").map_or((line, false), |it| (it, true));
        self.at = match self.at {
            At::Start if line.is_empty() => At::Start,
            At::Start => {
                self.length = None;
                self.is_chunked = false;
                self.is_unclear = false;
                At::Head
            }
            At::Head if line.is_empty() => self.end_of_head(),
            At::Head => {
                self.header(line);
                At::Head
            }
            At::ChunkSize => match chunk_size(line) {
                None => self.lose(),
                Some(0) => At::Trailers,
                Some(size) => At::Chunk(size),
            },
            At::ChunkEnd if line.is_empty() => At::ChunkSize,
            // hyper ends a trailer at a carriage return only.
            At::Trailers if !has_return => self.lose(),
            At::ChunkEnd => self.lose(),
            At::Trailers if line.is_empty() => At::Start,
            At::Trailers => At::Trailers,
            content @ (At::Body(_) | At::Chunk(_) | At::Lost) => content,
        };
    }

    fn header(&mut self, line: &[u8]) {
        // Nearly every line is told apart by its first letter.
        if !matches!(line.first(), Some(b'C' | b'c' | b'T' | b't')) {
            return;
        }
        let colon = line.iter().position(|it| *it == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            self.length = number(value, 10);
            self.is_unclear |= self.length.is_none();
        }
    }

    fn end_of_head(&mut self) -> At {
        if self.is_unclear || (self.is_chunked && self.length.is_some()) {
            return self.lose();
        }
        self.heads = self.heads.saturating_add(1);
        match self.length {
            _ if self.is_chunked => At::ChunkSize,
            None | Some(0) => At::Start,
            Some(length) => At::Body(length),
        }
    }

    /// Ends the following: the present head, or the next one, is ambiguous.
    fn lose(&mut self) -> At {
        self.ambiguous = Some(self.heads);
        At::Lost
    }
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|it| matches!(it, b';' | b' ' | b'\t')).next()?;
    number(digits, 16)
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let is_plain = digits.len() < LINE_BYTES_KEPT && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_plain)?;
    u64::from_str_radix(digits, radix).ok()
}

/// More than a header with a length has, and more than a chunk's size.
const LINE_BYTES_KEPT: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    const SMUGGLED: &str =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n";

    /// Feeds the text whole, byte by byte and in pairs of every cut.
    #[track_caller]
    fn check(text: &str, ambiguous: Option<u64>) {
        for cut in 0..text.len() {
            let mut framing = Framing::new();
            framing.feed(&text.as_bytes()[..cut]);
            framing.feed(&text.as_bytes()[cut..]);
            assert_eq!(framing.ambiguous(), ambiguous, "cut at {cut}: {text:?}");
        }
        let mut framing = Framing::new();
        text.as_bytes().chunks(1).for_each(|it| framing.feed(it));
        assert_eq!(framing.ambiguous(), ambiguous, "byte by byte: {text:?}");
    }

    #[test]
    fn a_request_with_two_lengths_is_noticed_in_either_order() {
        check(SMUGGLED, Some(0));
        check("\r\n\nPOST / HTTP/1.1\ntransfer-encoding:chunked\ncontent-LENGTH:\t9 \n\n", Some(0));
        check("P / H\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: x\r\n\r\n", Some(0));
    }

    #[test]
    fn requests_before_it_are_followed_to_their_ends() {
        let sized = "POST / HTTP/1.1\r\nContent-Length: 12\r\n\r\n\r\n\r\nhello:\r\n";
        assert_eq!(sized.split_once("\r\n\r\n").unwrap().1.len(), 12);
        check(&format!("{sized}{SMUGGLED}"), Some(1));
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n\
                       a;x=y\r\n0123456789\r\n2 \r\n\r\n\r\n0\r\nContent-Length: 5\r\n\r\n";
        check(chunked, None);
        check(&format!("{chunked}GET / HTTP/1.1\r\n\r\n{SMUGGLED}"), Some(2));
    }

    #[test]
    fn a_length_in_a_body_or_in_another_header_is_none() {
        let body = "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let head = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        check(&format!("{head}{body}{head}{body}"), None);
        check("P / H\r\nTransfer-Encoding: chunked\r\nX-Content-Length: 1\r\n\r\n0\r\n\r\n", None);
        check("P / H\r\nTransfer-Encoding: chunked\r\nContent-Lengths: 1\r\n\r\n0\r\n\r\n", None);
    }

    #[test]
    fn whoever_confuses_this_file_gets_no_further_request_through() {
        let chunked = "P / H\r\nTransfer-Encoding: chunked\r\n\r\n";
        let next = "GET / HTTP/1.1\r\n\r\n";
        for body in ["xyz\r\n", "+1\r\na\r\n", "1\r\nab\r\n", "0\r\nx: y\n\n", "\r\n"] {
            check(&format!("{chunked}{body}{next}"), Some(1));
        }
        let zeros = "0".repeat(300);
        check(&format!("{chunked}{zeros}5\r\n12345\r\n0\r\n\r\n{next}"), Some(1));
        for length in ["+3", "-1", "3, 3", "", "99999999999999999999"] {
            check(&format!("P / H\r\nContent-Length: {length}\r\n\r\n{next}"), Some(0));
        }
        let padding = " ".repeat(300);
        let padded = format!("P / H\r\nContent-Length:{padding}3\r\n");
        let mut framing = Framing::new();
        let (first, second) = padded.split_at(200);
        framing.feed(first.as_bytes());
        framing.feed(second.as_bytes());
        framing.feed(b"Transfer-Encoding: chunked\r\n\r\n");
        assert_eq!(framing.ambiguous(), Some(0));
    }

    #[test]
    fn an_endless_line_takes_no_space() {
        let mut framing = Framing::new();
        framing.feed(&vec![b'x'; 100_000]);
        framing.feed(&vec![b'x'; 100_000]);
        assert!(framing.begun.len() <= LINE_BYTES_KEPT);
    }
}
