//! What servers call `gzip` and `deflate`, undone in small steps.
//!
//! A gzip body is one or more members, each with a checksum that must be right. A deflate body
//! has a zlib frame or none. Bytes behind the end are not read, as browsers have it.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::outbound::coding::{Corrupt, Step};

/// Members of RFC 1952, one behind the other.
#[derive(Debug)]
pub(super) struct Gzip {
    part: GzipPart,
    is_first: bool,
}

/// Which part of a member comes next.
#[derive(Debug)]
enum GzipPart {
    /// A member, or the end of the body.
    Start,
    Head(GzipHead),
    Body(Inflate, Crc),
    /// The checksum and length, of which some bytes came.
    Tail(Crc, Vec<u8>),
    /// Something else stands behind the last member; it is not read.
    Over,
}

/// The head of a member, of which some bytes came.
#[derive(Clone, Copy, Debug)]
struct GzipHead {
    /// What follows the fixed part, until it has come.
    flags: u8,
    field: GzipField,
}

/// Which byte of a head comes next.
#[derive(Clone, Copy, Debug)]
enum GzipField {
    /// The byte with this number of the fixed part.
    Fixed(u8),
    ExtraLow,
    ExtraHigh(u8),
    Extra(u16),
    Text(u8),
    Sum(u8),
    End,
}

/// RFC 1950, or RFC 1951 without the frame: servers send either under this name.
#[derive(Debug)]
pub(super) struct Deflate {
    /// The first bytes, until there are the two that tell.
    held: Vec<u8>,
    inflate: Option<Inflate>,
}

/// Deflated bytes, of which some came.
#[derive(Debug)]
struct Inflate {
    core: Decompress,
    is_over: bool,
}

impl Inflate {
    fn new(frame: Frame) -> Self {
        let core = match frame {
            Frame::None => Decompress::new(false),
            Frame::Zlib => Decompress::new(true),
        };
        Self { core, is_over: false }
    }

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, Corrupt> {
        let (used_before, made_before) = (self.core.total_in(), self.core.total_out());
        let status = self.core.decompress(input, out, FlushDecompress::None);
        self.is_over = status.map_err(|_| Corrupt)? == Status::StreamEnd;
        let since = |now: u64, before| usize::try_from(now - before).map_err(|_| Corrupt);
        let used = since(self.core.total_in(), used_before)?;
        let made = since(self.core.total_out(), made_before)?;
        Ok(Step { used, made })
    }
}

/// What stands around deflated bytes.
#[derive(Clone, Copy)]
enum Frame {
    None,
    Zlib,
}

impl Deflate {
    pub(super) const fn new() -> Self {
        Self { held: Vec::new(), inflate: None }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.inflate.as_ref().map_or(self.held.is_empty(), |it| it.is_over)
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, Corrupt> {
        if let Some(inflate) = &mut self.inflate {
            return if inflate.is_over { Ok(Step::skip(input)) } else { inflate.step(input, out) };
        }
        let Some(byte) = input.first() else {
            return Ok(Step::default());
        };
        self.held.push(*byte);
        let mut made = 0;
        if let [first, second] = self.held[..] {
            let inflate = self.inflate.insert(Inflate::new(frame_of(first, second)));
            made = inflate.step(&[first, second], out)?.made;
        }
        Ok(Step { used: 1, made })
    }
}

/// Whether two bytes can begin a zlib frame. Source: RFC 1950, section 2.2.
const fn frame_of(first: u8, second: u8) -> Frame {
    let is_zlib = first & 0x0F == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31);
    if is_zlib { Frame::Zlib } else { Frame::None }
}

impl Gzip {
    pub(super) const fn new() -> Self {
        Self { part: GzipPart::Start, is_first: true }
    }

    pub(super) const fn is_complete(&self) -> bool {
        matches!(self.part, GzipPart::Start | GzipPart::Over)
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, Corrupt> {
        if let GzipPart::Body(inflate, crc) = &mut self.part {
            let step = inflate.step(input, out)?;
            crc.update(out.get(..step.made).unwrap_or_default());
            if inflate.is_over {
                self.part = GzipPart::Tail(std::mem::take(crc), Vec::new());
            }
            return Ok(step);
        }
        let Some(byte) = input.first() else {
            return Ok(Step::default());
        };
        match &mut self.part {
            GzipPart::Start if !self.is_first && *byte != MAGIC[0] => self.part = GzipPart::Over,
            GzipPart::Start => {
                self.is_first = false;
                self.part = GzipPart::Head(GzipHead::new().take(*byte)?);
            }
            GzipPart::Head(head) => {
                *head = head.take(*byte)?;
                if matches!(head.field, GzipField::End) {
                    self.part = GzipPart::Body(Inflate::new(Frame::None), Crc::new());
                }
            }
            GzipPart::Tail(crc, held) => {
                held.push(*byte);
                if held.len() == TAIL_BYTES {
                    if *held != [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat() {
                        return Err(Corrupt);
                    }
                    self.part = GzipPart::Start;
                }
            }
            GzipPart::Over | GzipPart::Body(..) => return Ok(Step::skip(input)),
        }
        Ok(Step { used: 1, made: 0 })
    }
}

/// Source: RFC 1952, section 2.3.
impl GzipHead {
    const fn new() -> Self {
        Self { flags: 0, field: GzipField::Fixed(0) }
    }

    fn take(self, byte: u8) -> Result<Self, Corrupt> {
        let then = |field| Ok(Self { field, ..self });
        match self.field {
            GzipField::Fixed(at) => {
                if MAGIC.get(usize::from(at)).is_some_and(|it| *it != byte) {
                    return Err(Corrupt);
                }
                match at {
                    3 if byte & RESERVED != 0 => Err(Corrupt),
                    3 => Ok(Self { flags: byte, field: GzipField::Fixed(4) }),
                    9 => Ok(self.after(0)),
                    _ => then(GzipField::Fixed(at + 1)),
                }
            }
            GzipField::ExtraLow => then(GzipField::ExtraHigh(byte)),
            GzipField::ExtraHigh(low) => match u16::from_le_bytes([low, byte]) {
                0 => Ok(self.after(HAS_EXTRA)),
                length => then(GzipField::Extra(length)),
            },
            GzipField::Extra(1) => Ok(self.after(HAS_EXTRA)),
            GzipField::Extra(left) => then(GzipField::Extra(left - 1)),
            GzipField::Text(flag) if byte == 0 => Ok(self.after(flag)),
            GzipField::Text(_) | GzipField::End => Ok(self),
            GzipField::Sum(1) => Ok(self.after(HAS_SUM)),
            GzipField::Sum(left) => then(GzipField::Sum(left - 1)),
        }
    }

    /// The head when the field with this flag has come.
    const fn after(self, flag: u8) -> Self {
        let flags = self.flags & !flag;
        let field = if flags & HAS_EXTRA != 0 {
            GzipField::ExtraLow
        } else if flags & HAS_NAME != 0 {
            GzipField::Text(HAS_NAME)
        } else if flags & HAS_COMMENT != 0 {
            GzipField::Text(HAS_COMMENT)
        } else if flags & HAS_SUM != 0 {
            GzipField::Sum(2)
        } else {
            GzipField::End
        };
        Self { flags, field }
    }
}

/// What every gzip member begins with: two marks, and deflate as its method.
const MAGIC: [u8; 3] = [0x1F, 0x8B, 8];
const HAS_SUM: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;
const RESERVED: u8 = 0xE0;
/// Bytes of a member's checksum and length.
const TAIL_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::coding::tests::check;

    /// "hello\n" in the raw form of deflate.
    const RAW: [u8; 8] = [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xE7, 0x02, 0x00];
    /// Its checksum and length.
    const TAIL: [u8; 8] = [0x20, 0x30, 0x3A, 0x36, 6, 0, 0, 0];

    #[test]
    fn every_part_of_a_gzip_head_is_stepped_over() {
        for (flags, extra) in [
            (0, &b""[..]),
            (1, b""),
            (4, b"\x03\0abc"),
            (4, b"\0\0"),
            (8, b"name\0"),
            (16, b"comment\0"),
            (2, b"\xAA\xBB"),
            (31, b"\x01\0x\0\0\xAA\xBB"),
        ] {
            let head = [&[0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 3][..], extra].concat();
            check("gzip", &[&head[..], &RAW, &TAIL].concat(), Ok(b"hello\n"));
            check("gzip", &head, Err(Corrupt));
        }
        for head in [&[0x1F, 0x8B, 7][..], &[0x1F, 0x8A], &[0x1F, 0x8B, 8, 32, 0, 0, 0, 0, 0, 3]] {
            check("gzip", &[head, &RAW, &TAIL].concat(), Err(Corrupt));
        }
    }

    #[test]
    fn deflate_is_known_with_and_without_its_frame() {
        let sum = 0x084B_021F_u32.to_be_bytes();
        check("deflate", &RAW, Ok(b"hello\n"));
        check("deflate", &[&[0x78, 0x9C][..], &RAW, &sum].concat(), Ok(b"hello\n"));
        check("deflate", &[&[0x78, 0x9C][..], &RAW, &[0; 4]].concat(), Err(Corrupt));
    }
}
