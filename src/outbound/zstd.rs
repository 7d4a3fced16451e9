//! Zstandard, undone in small steps.
//!
//! The library wants whole headers and whole blocks; this holds what came until there is one.
//! Windows are at most 8 MiB, as RFC 9659 has it for HTTP. Dictionaries are unknown here.

use std::io::Read as _;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::outbound::coding::{Corrupt, Step};

/// Frames of RFC 8878, one behind the other.
pub(super) struct Zstd {
    frame: FrameDecoder,
    part: Part,
    held: Vec<u8>,
    has_checksum: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The head of a frame, or the end of the body.
    Head,
    /// A block.
    Block,
    /// Bytes of a frame that carries nothing.
    Skipped(u32),
}

impl Zstd {
    pub(super) fn new() -> Self {
        let mut frame = FrameDecoder::new();
        frame.set_max_window_size(WINDOW_BYTES_MAX);
        Self { frame, part: Part::Head, held: Vec::new(), has_checksum: false }
    }

    /// Whether the body may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.part == Part::Head && self.held.is_empty()
    }

    /// As [`Coding::step`](crate::outbound::coding::Coding::step).
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, Corrupt> {
        let made = self.frame.read(out).map_err(|_| Corrupt)?;
        if made > 0 {
            return Ok(Step { used: 0, made });
        }
        if let Part::Skipped(left) = self.part {
            let used = input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let left = left.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
            self.part = if left == 0 { Part::Head } else { Part::Skipped(left) };
            return Ok(Step { used, made });
        }
        let missing = self.needed()?.saturating_sub(self.held.len());
        let (taken, _) = input.split_at(missing.min(input.len()));
        self.held.extend_from_slice(taken);
        if !self.held.is_empty() && self.held.len() == self.needed()? {
            self.use_held()?;
        }
        Ok(Step { used: taken.len(), made })
    }

    /// How long the head or block is of which some bytes are held, as far as they tell.
    fn needed(&self) -> Result<usize, Corrupt> {
        match self.part {
            Part::Head => head_bytes(&self.held),
            Part::Block => self.block_bytes(),
            Part::Skipped(_) => Ok(0),
        }
    }

    /// Source: RFC 8878, section 3.1.1.2.
    fn block_bytes(&self) -> Result<usize, Corrupt> {
        let Some((&[low, middle, high], _)) = self.held.split_first_chunk() else {
            return Ok(BLOCK_HEAD_BYTES);
        };
        let head = u32::from_le_bytes([low, middle, high, 0]);
        let size = usize::try_from(head >> 3).map_err(|_| Corrupt)?;
        let content = match head >> 1 & 3 {
            // A block that repeats one byte has a size, but only that byte.
            1 => 1,
            0 | 2 => size,
            _ => return Err(Corrupt),
        };
        if size > BLOCK_BYTES_MAX {
            return Err(Corrupt);
        }
        let checksum = if head & 1 == 1 && self.has_checksum { CHECKSUM_BYTES } else { 0 };
        Ok(BLOCK_HEAD_BYTES.saturating_add(content).saturating_add(checksum))
    }

    fn use_held(&mut self) -> Result<(), Corrupt> {
        let held = std::mem::take(&mut self.held);
        self.part = match self.part {
            Part::Head if held.first() != Some(&MAGIC_FIRST) => {
                let length = held.last_chunk().map(|it| u32::from_le_bytes(*it)).ok_or(Corrupt)?;
                if length == 0 { Part::Head } else { Part::Skipped(length) }
            }
            Part::Head => {
                self.frame.reset(&held[..]).map_err(|_| Corrupt)?;
                self.has_checksum = held.get(4).is_some_and(|it| it & 4 != 0);
                Part::Block
            }
            Part::Block => {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let is_over = self.frame.decode_blocks(&held[..], one).map_err(|_| Corrupt)?;
                if is_over { Part::Head } else { Part::Block }
            }
            Part::Skipped(left) => Part::Skipped(left),
        };
        Ok(())
    }
}

impl std::fmt::Debug for Zstd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Zstd").field("part", &self.part).finish_non_exhaustive()
    }
}

/// How long a frame's head is, as far as its first bytes tell.
///
/// Source: RFC 8878, sections 3.1.1.1 and 3.1.2.
fn head_bytes(held: &[u8]) -> Result<usize, Corrupt> {
    let Some((magic, rest)) = held.split_first_chunk::<4>() else {
        return Ok(MAGIC_BYTES);
    };
    if SKIPPED_MAGIC.contains(&u32::from_le_bytes(*magic)) {
        return Ok(MAGIC_BYTES.saturating_mul(2));
    }
    if u32::from_le_bytes(*magic) != MAGIC {
        return Err(Corrupt);
    }
    let Some(descriptor) = rest.first() else {
        return Ok(MAGIC_BYTES.saturating_add(1));
    };
    let is_single = descriptor & 0x20 != 0;
    let dictionary = match descriptor & 3 {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 4,
    };
    let content = match descriptor >> 6 {
        0 => usize::from(is_single),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let window = usize::from(!is_single);
    Ok([MAGIC_BYTES, 1, window, dictionary, content].iter().sum())
}

const MAGIC: u32 = 0xFD2F_B528;
const MAGIC_FIRST: u8 = 0x28;
const MAGIC_BYTES: usize = 4;
const SKIPPED_MAGIC: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
const BLOCK_HEAD_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;
/// Source: RFC 8878, section 3.1.1.2.4.
const BLOCK_BYTES_MAX: usize = 128 * 1024;
/// Source: RFC 9659.
const WINDOW_BYTES_MAX: u64 = 8 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn undo(body: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let mut zstd = Zstd::new();
        let (mut all, mut room, mut rest) = (Vec::new(), [0; 1000], body);
        loop {
            let step = zstd.step(rest, &mut room)?;
            rest = &rest[step.used..];
            all.extend_from_slice(&room[..step.made]);
            if step == Step::default() {
                return if zstd.is_complete() { Ok(all) } else { Err(Corrupt) };
            }
        }
    }

    const MAGIC_LE: [u8; 4] = MAGIC.to_le_bytes();

    /// A frame with a window, one raw block and no checksum.
    fn frame(window: u8, plain: &[u8]) -> Vec<u8> {
        let head = (u32::try_from(plain.len()).unwrap() << 3 | 1).to_le_bytes();
        [&MAGIC_LE[..], &[0, window], &head[..3], plain].concat()
    }

    #[test]
    fn frames_that_carry_nothing_are_skipped() {
        let skipped = [&[0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let empty = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0];
        let body =
            [&skipped[..], &frame(0, b"hello"), &empty, &frame(0, b" you"), &skipped].concat();
        assert_eq!(undo(&body).unwrap(), b"hello you");
        assert_eq!(undo(&skipped[..10]), Err(Corrupt));
    }

    #[test]
    fn windows_above_eight_megabytes_and_dictionaries_are_refused() {
        let window = |log: u8| frame((log - 10) << 3, b"x");
        assert_eq!(undo(&window(23)).unwrap(), b"x");
        assert_eq!(undo(&window(24)), Err(Corrupt));
        assert_eq!(undo(&[&MAGIC_LE[..], &[1, 0, 7], &[9, 0, 0, b'x']].concat()), Err(Corrupt));
        let single_of_a_gigabyte = [&MAGIC_LE[..], &[0xA0], &[0, 0, 0, 0x40]].concat();
        assert_eq!(undo(&single_of_a_gigabyte), Err(Corrupt));
    }

    #[test]
    fn blocks_that_are_too_large_or_of_no_kind_are_refused() {
        let head = [&MAGIC_LE[..], &[0, 0x68]].concat();
        let repeat = |size: u32| [&head[..], &(size << 3 | 3).to_le_bytes()[..3], b"a"].concat();
        assert_eq!(undo(&repeat(131_072)).unwrap(), vec![b'a'; 131_072]);
        assert_eq!(undo(&repeat(131_073)), Err(Corrupt));
        assert_eq!(undo(&[&head[..], &[7, 0, 0]].concat()), Err(Corrupt));
    }
}
