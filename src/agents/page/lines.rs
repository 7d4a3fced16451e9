//! Lines and columns of a text, found from byte offsets without counting from the start.

/// A place in a text, as editors count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line, from 1. LF, CR and CR LF end one.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

/// Knows the places of some bytes of one text, at equal distances, so that any other is near one.
#[derive(Clone, Debug)]
pub struct Lines {
    marks: Vec<Place>,
}

impl Lines {
    /// Goes through `text` once.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut marks = Vec::with_capacity(bytes.len() / STRIDE + 1);
        let mut place = START;
        for chunk in 0..=bytes.len() / STRIDE {
            marks.push(place);
            let from = chunk.saturating_mul(STRIDE);
            place = advance(place, bytes, from, from.saturating_add(STRIDE));
        }
        Self { marks }
    }

    /// The place of the character that starts at the byte `offset` of the same text.
    #[must_use]
    pub fn place(&self, text: &str, offset: usize) -> Place {
        let offset = offset.min(text.len());
        let mark = self.marks.get(offset / STRIDE).copied().unwrap_or(START);
        let from = offset.saturating_sub(offset % STRIDE);
        advance(mark, text.as_bytes(), from, offset)
    }
}

/// Moves `place`, which is that of the byte at `from`, to the byte at `to`.
fn advance(mut place: Place, bytes: &[u8], from: usize, to: usize) -> Place {
    let to = to.min(bytes.len());
    for at in from..to {
        let byte = bytes.get(at).copied().unwrap_or(0);
        let ends = byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        if ends {
            place = Place { line: place.line.saturating_add(1), column: 1 };
        } else if byte & 0b1100_0000 != 0b1000_0000 {
            place.column = place.column.saturating_add(1);
        }
    }
    place
}

const START: Place = Place { line: 1, column: 1 };
/// Bytes between two known places.
const STRIDE: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_place(text: &str, offset: usize, line: u32, column: u32) {
        let found = Lines::of(text).place(text, offset);
        assert_eq!(found, Place { line, column }, "byte {offset} of {} bytes", text.len());
    }

    #[test]
    fn every_kind_of_line_end_counts_once() {
        check_place("", 0, 1, 1);
        check_place("ab\ncd", 4, 2, 2);
        check_place("ab\r\ncd", 4, 2, 1);
        check_place("ab\rcd", 3, 2, 1);
        check_place("\r\r\n\n", 4, 4, 1);
        check_place("ab", 99, 1, 3);
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        check_place("äöü<", 6, 1, 4);
        check_place("水\n水水x", 10, 2, 3);
    }

    #[test]
    fn places_far_inside_a_text_are_the_same_as_counted_from_the_start() {
        let text = "é\r\n".repeat(3000) + &"x".repeat(5000);
        let lines = Lines::of(&text);
        for offset in [0, 2047, 2048, 2049, 11_999, 12_000, 14_096, 16_999] {
            let counted = advance(START, text.as_bytes(), 0, offset);
            assert_eq!(lines.place(&text, offset), counted, "byte {offset}");
        }
        assert_eq!(lines.place(&text, 12_100), Place { line: 3001, column: 101 });
    }
}
