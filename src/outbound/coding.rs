//! One coding of a body, undone in small steps.
//!
//! A step takes some input and makes no more output than there is room for; whoever calls
//! decides whether there is another. That keeps a few bytes from becoming gigabytes in one call.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use crate::outbound::inflate::{Deflate, Gzip};
use crate::outbound::zstd::Zstd;

/// The bytes are not what the coding makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corrupt;

/// What a step took and made, in bytes. When both are zero it wants more input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) used: usize,
    pub(super) made: usize,
}

/// A coding, and how far it has been undone.
#[derive(Debug)]
pub(super) enum Coding {
    Gzip(Gzip),
    Deflate(Deflate),
    Brotli(Box<Brotli>),
    Zstd(Box<Zstd>),
}

/// RFC 7932.
pub(super) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    is_fresh: bool,
    is_over: bool,
}

impl Coding {
    /// The coding with this name, in lower case.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "gzip" | "x-gzip" => Self::Gzip(Gzip::new()),
            "deflate" => Self::Deflate(Deflate::new()),
            "br" => Self::Brotli(Box::new(Brotli::new())),
            "zstd" => Self::Zstd(Box::new(Zstd::new())),
            _ => return None,
        })
    }

    /// Takes some of `input` and writes what it makes to the front of `out`.
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, Corrupt> {
        match self {
            Self::Gzip(it) => it.step(input, out),
            Self::Deflate(it) => it.step(input, out),
            Self::Brotli(it) => it.step(input, out),
            Self::Zstd(it) => it.step(input, out),
        }
    }

    /// Whether the body may end here.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::Gzip(it) => it.is_complete(),
            Self::Deflate(it) => it.is_complete(),
            Self::Brotli(it) => it.is_fresh || it.is_over,
            Self::Zstd(it) => it.is_complete(),
        }
    }
}

impl Step {
    /// Takes everything and makes nothing of it.
    pub(super) const fn skip(input: &[u8]) -> Self {
        Self { used: input.len(), made: 0 }
    }
}

impl Brotli {
    fn new() -> Self {
        // The strict form knows no windows above 16 MiB; the lax one would make room for 1 GiB.
        let alloc = StandardAlloc::default;
        let state = BrotliState::new_strict(alloc(), alloc(), alloc());
        Self { state, is_fresh: true, is_over: false }
    }

    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<Step, Corrupt> {
        if self.is_over || (self.is_fresh && input.is_empty()) {
            return Ok(Step::skip(input));
        }
        self.is_fresh = false;
        let (mut input_left, mut used) = (input.len(), 0);
        let (mut room_left, mut made, mut total) = (out.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut input_left,
            &mut used,
            input,
            &mut room_left,
            &mut made,
            out,
            &mut total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultSuccess => self.is_over = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultFailure => return Err(Corrupt),
        }
        Ok(Step { used, made })
    }
}

impl std::fmt::Debug for Brotli {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Brotli").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Undoes a whole body, byte by byte or at once.
    fn undo(name: &str, body: &[u8], size: usize) -> Result<Vec<u8>, Corrupt> {
        let mut coding = Coding::named(name).unwrap();
        let (mut all, mut room) = (Vec::new(), [0; 5]);
        for mut piece in body.chunks(size) {
            loop {
                let step = coding.step(piece, &mut room)?;
                piece = &piece[step.used..];
                all.extend_from_slice(&room[..step.made]);
                if step == Step::default() {
                    break;
                }
            }
        }
        if coding.is_complete() { Ok(all) } else { Err(Corrupt) }
    }

    /// Undoes `body` in pieces of one byte and in one piece, and compares.
    #[track_caller]
    pub(in crate::outbound) fn check(name: &str, body: &[u8], plain: Result<&[u8], Corrupt>) {
        for size in [1, usize::MAX] {
            assert_eq!(undo(name, body, size).as_deref(), plain.as_ref().copied(), "in {size}s");
        }
    }

    #[test]
    fn brotli_is_undone_and_its_huge_windows_are_refused() {
        let hello = "1b1e00f81d09364e746f248657656809c2c2966c696f298925f2d4012aed36e54509";
        let hello = bytes(hello);
        check("br", &hello, Ok(b"hello hello hello hello, brotli"));
        check("br", &[&hello[..], b"trailing"].concat(), Ok(b"hello hello hello hello, brotli"));
        check("br", &hello[..hello.len() - 1], Err(Corrupt));
        // A window of 2^30 bytes, which only the lax form knows.
        check("br", &[0x11, 0x1E, 0, 0, 0, 0], Err(Corrupt));
    }

    #[test]
    fn fourteen_bytes_of_brotli_become_megabytes_only_step_by_step() {
        let bomb = bytes("9bffff3ff82700e2b14020f7fe07");
        let mut coding = Coding::named("br").unwrap();
        let (mut room, mut input, mut total) = ([1; 4096], &bomb[..], 0);
        loop {
            let step = coding.step(input, &mut room).unwrap();
            input = &input[step.used..];
            total += step.made;
            assert!(room[..step.made].iter().all(|it| *it == 0));
            if step == Step::default() {
                break;
            }
        }
        assert!(coding.is_complete());
        assert_eq!(total, 4 * 1024 * 1024);
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |it: u8| u8::try_from(char::from(it).to_digit(16).unwrap()).unwrap();
        hex.as_bytes().chunks(2).map(|it| digit(it[0]) << 4 | digit(it[1])).collect()
    }
}
