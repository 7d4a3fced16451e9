//! Undoing the codings of a body while it arrives, within limits.
//!
//! At most two codings are undone. Memory is bounded by the windows of the codings and one step
//! of each; output is counted as it is made, so a bomb stops soon after its first megabyte.

use bytes::{Bytes, BytesMut};

use crate::outbound::coding::{Coding, Corrupt, Step};
use crate::outbound::{Error, Headers, Limits, Method, TooLarge};

/// The way from the bytes of a body as it is sent to those that are meant.
#[derive(Debug)]
pub(super) struct Decoder {
    /// The last one applied stands first: it is undone first.
    layers: Vec<Layer>,
    names: Vec<String>,
    wire_bytes: usize,
    decoded_bytes: usize,
}

/// One coding and room for what one step of it makes.
#[derive(Debug)]
struct Layer {
    coding: Coding,
    room: Box<[u8]>,
}

/// Where decoded bytes go, and how many may.
struct Sink<'a> {
    out: BytesMut,
    wire_bytes: usize,
    decoded_bytes: &'a mut usize,
    limits: &'a Limits,
}

impl Decoder {
    /// Reads from the headers which codings there are.
    ///
    /// # Errors
    ///
    /// [`Error::BadEncoding`] when one is unknown or there are too many.
    pub(super) fn new(method: Method, headers: &Headers) -> Result<Self, Error> {
        let tokens = |name| headers.all(name).flat_map(|it| it.split(',')).map(str::trim);
        let framings: Vec<_> = tokens("transfer-encoding").filter(|it| !it.is_empty()).collect();
        let is_plain = match framings[..] {
            [] => true,
            [only] => only.eq_ignore_ascii_case("chunked"),
            _ => false,
        };
        let names: Vec<_> = tokens("content-encoding")
            .map(str::to_ascii_lowercase)
            .filter(|it| !it.is_empty() && it != "identity")
            .collect();
        if method == Method::Head {
            return Ok(Self { layers: Vec::new(), names, wire_bytes: 0, decoded_bytes: 0 });
        }
        // The HTTP library undoes chunks and leaves every other framing in the body.
        if !is_plain || names.len() > CODINGS_MAX {
            return Err(Error::BadEncoding);
        }
        let codings: Option<Vec<_>> = names.iter().rev().map(|it| Coding::named(it)).collect();
        let layer = |coding| Layer { coding, room: vec![0; STEP_BYTES].into() };
        let layers = codings.ok_or(Error::BadEncoding)?.into_iter().map(layer).collect();
        Ok(Self { layers, names, wire_bytes: 0, decoded_bytes: 0 })
    }

    /// Decodes the next piece of the body.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] or [`Error::BadEncoding`]; nothing sensible can follow.
    pub(super) fn feed(&mut self, piece: &Bytes, limits: &Limits) -> Result<Bytes, Error> {
        self.wire_bytes = self.wire_bytes.saturating_add(piece.len());
        if self.wire_bytes > limits.wire_bytes {
            return Err(Error::TooLarge(TooLarge::Wire));
        }
        let mut sink = Sink {
            out: BytesMut::new(),
            wire_bytes: self.wire_bytes,
            decoded_bytes: &mut self.decoded_bytes,
            limits,
        };
        if self.layers.is_empty() {
            sink.count(piece.len())?;
            return Ok(piece.clone());
        }
        run(&mut self.layers, piece, &mut sink)?;
        Ok(sink.out.freeze())
    }

    /// Says that the body has ended.
    ///
    /// # Errors
    ///
    /// [`Error::BadEncoding`] when a coding has not; a body of no bytes at all is complete.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let is_complete = self.layers.iter().all(|it| it.coding.is_complete());
        if is_complete { Ok(()) } else { Err(Error::BadEncoding) }
    }

    /// Bytes of the body so far, as they were sent.
    pub(super) const fn wire_bytes(&self) -> usize {
        self.wire_bytes
    }

    /// The codings, as the other side named them.
    pub(super) fn content_encoding(&self) -> Option<String> {
        (!self.names.is_empty()).then(|| self.names.join(", "))
    }
}

impl Sink<'_> {
    fn count(&mut self, bytes: usize) -> Result<(), Error> {
        let total = self.decoded_bytes.saturating_add(bytes);
        *self.decoded_bytes = total;
        if total > BOMB_BYTES && total > self.wire_bytes.saturating_mul(BOMB_RATIO) {
            return Err(Error::TooLarge(TooLarge::Ratio));
        }
        if total > self.limits.decoded_bytes {
            return Err(Error::TooLarge(TooLarge::Decoded));
        }
        Ok(())
    }
}

/// Sends `input` through the first layer, and all that it makes through the others.
fn run(layers: &mut [Layer], mut input: &[u8], sink: &mut Sink<'_>) -> Result<(), Error> {
    let Some((layer, others)) = layers.split_first_mut() else {
        sink.count(input.len())?;
        sink.out.extend_from_slice(input);
        return Ok(());
    };
    loop {
        let step = layer.coding.step(input, &mut layer.room);
        let Step { used, made } = step.map_err(|Corrupt| Error::BadEncoding)?;
        input = input.get(used..).unwrap_or_default();
        if made > 0 {
            run(others, layer.room.get(..made).unwrap_or_default(), sink)?;
        } else if used == 0 {
            return Ok(());
        }
    }
}

/// What one step of a coding makes at most.
const STEP_BYTES: usize = 32 * 1024;
/// Codings that are undone. Source: the contract, section 6.
const CODINGS_MAX: usize = 2;
/// Output from which on the ratio counts. Source: the contract, section 6.
const BOMB_BYTES: usize = 1024 * 1024;
/// Output for each byte of input that no sensible page reaches. Source: the contract, section 6.
const BOMB_RATIO: usize = 100;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use hyper::HeaderMap;
    use hyper::header::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    fn decoder(method: Method, name: &'static str, value: &str) -> Result<Decoder, Error> {
        let mut map = HeaderMap::new();
        map.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        Decoder::new(method, &Headers::of(&map))
    }

    /// Decodes `body` in pieces of `size` bytes.
    fn decode(codings: &str, body: &[u8], size: usize, limits: &Limits) -> Result<Vec<u8>, Error> {
        let mut decoder = decoder(Method::Get, "content-encoding", codings)?;
        let mut out = Vec::new();
        for piece in body.chunks(size) {
            out.extend_from_slice(&decoder.feed(&Bytes::copy_from_slice(piece), limits)?);
        }
        decoder.finish()?;
        Ok(out)
    }

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(plain: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn deflate(plain: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(plain: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn text() -> Vec<u8> {
        (0..2_000_u32)
            .flat_map(|it| it.wrapping_mul(2_654_435_761).to_string().into_bytes())
            .collect()
    }

    #[test]
    fn every_coding_is_undone_however_it_is_cut() {
        let plain = text();
        for (codings, body) in [
            ("", plain.clone()),
            ("identity", plain.clone()),
            ("gzip", gzip(&plain)),
            ("X-GZIP", gzip(&plain)),
            ("deflate", zlib(&plain)),
            ("deflate", deflate(&plain)),
            ("zstd", zstd(&plain)),
            ("gzip, gzip", gzip(&gzip(&plain))),
            ("deflate,\tzstd", zstd(&deflate(&plain))),
            ("gzip", [gzip(&plain[..100]), gzip(&plain[100..])].concat()),
            ("zstd", [zstd(&plain[..100]), zstd(&plain[100..])].concat()),
        ] {
            for size in [1, 7, 4096, usize::MAX] {
                let found = decode(codings, &body, size, &Limits::default());
                assert!(found.as_ref() == Ok(&plain), "{codings} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_body_without_a_byte_is_complete_in_any_coding() {
        for codings in ["", "gzip", "deflate", "br", "zstd", "gzip, br"] {
            assert_eq!(decode(codings, b"", 1, &Limits::default()), Ok(Vec::new()), "{codings}");
        }
    }

    #[test]
    fn what_is_cut_off_or_not_coded_as_it_says_is_refused() {
        let plain = text();
        let bodies = [
            ("gzip", gzip(&plain)),
            ("deflate", zlib(&plain)),
            ("deflate", deflate(&plain)),
            ("zstd", zstd(&plain)),
        ];
        for (codings, body) in bodies {
            for end in [1, 2, 3, 5, 11, body.len() / 2, body.len() - 1] {
                let found = decode(codings, &body[..end], 1000, &Limits::default());
                assert_eq!(found, Err(Error::BadEncoding), "{codings} cut at {end}");
            }
        }
        for codings in ["gzip", "zstd", "deflate", "br"] {
            let found =
                decode(codings, b"<!doctype html><title>plain</title>", 9, &Limits::default());
            assert_eq!(found, Err(Error::BadEncoding), "{codings}");
        }
    }

    #[test]
    fn a_wrong_checksum_is_refused_and_bytes_behind_the_end_are_not_read() {
        let good = gzip(b"hello");
        for at in [good.len() - 1, good.len() - 5] {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert_eq!(decode("gzip", &bad, 99, &Limits::default()), Err(Error::BadEncoding));
        }
        for (codings, body) in [("gzip", good), ("deflate", zlib(b"hello"))] {
            let trailed = [&body[..], b"\n\0\0 trailing"].concat();
            assert_eq!(decode(codings, &trailed, 3, &Limits::default()).unwrap(), b"hello");
        }
    }

    #[test]
    fn codings_that_are_unknown_or_too_many_are_refused() {
        for codings in ["compress", "gzip, exi", "gzip, br, gzip", "gzip;q=1", "chunked"] {
            let found = decoder(Method::Get, "content-encoding", codings);
            assert_eq!(found.unwrap_err(), Error::BadEncoding, "{codings}");
            assert!(decoder(Method::Head, "content-encoding", codings).is_ok());
        }
        for framing in ["gzip, chunked", "chunked, chunked", "identity", "gzip"] {
            let found = decoder(Method::Get, "transfer-encoding", framing);
            assert_eq!(found.unwrap_err(), Error::BadEncoding, "{framing}");
        }
        assert!(decoder(Method::Get, "transfer-encoding", "Chunked").is_ok());
    }

    #[test]
    fn a_bomb_stops_soon_after_its_first_megabyte() {
        let zeros = vec![0; 16 * 1024 * 1024];
        let roomy = Limits { decoded_bytes: usize::MAX, ..Limits::default() };
        for (codings, body) in [
            ("gzip", gzip(&zeros)),
            ("gzip, gzip", gzip(&gzip(&zeros))),
            ("deflate", zlib(&zeros)),
            ("zstd", zstd(&zeros)),
        ] {
            let mut decoder = decoder(Method::Get, "content-encoding", codings).unwrap();
            let mut pieces = body.chunks(1000).map(Bytes::copy_from_slice);
            let found = pieces.find_map(|it| decoder.feed(&it, &roomy).err());
            assert_eq!(found, Some(Error::TooLarge(TooLarge::Ratio)), "{codings}");
            assert!(decoder.decoded_bytes < 2 * BOMB_BYTES, "{codings}: {}", decoder.decoded_bytes);
        }
    }

    #[test]
    fn both_sizes_have_their_limit() {
        let limits = Limits { wire_bytes: 10, decoded_bytes: 12, ..Limits::default() };
        let wire = Err(Error::TooLarge(TooLarge::Wire));
        assert_eq!(decode("", b"0123456789", 3, &limits).unwrap(), b"0123456789");
        assert_eq!(decode("", b"0123456789a", 3, &limits), wire);
        let limits = Limits { wire_bytes: 1000, ..limits };
        let decoded = Err(Error::TooLarge(TooLarge::Decoded));
        assert_eq!(decode("gzip", &gzip(b"0123456789ab"), 3, &limits).unwrap(), b"0123456789ab");
        assert_eq!(decode("gzip", &gzip(b"0123456789abc"), 3, &limits), decoded);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            codings in "(gzip|deflate|br|zstd)(, (gzip|br|zstd))?",
            noise: Vec<u8>,
            changes: Vec<(prop::sample::Index, u8)>,
        ) {
            let limits = Limits::default();
            let _ = decode(&codings, &noise, 7, &limits);
            let plain = &text()[..2000];
            for mut body in [gzip(plain), zlib(plain), deflate(plain), zstd(plain)] {
                for (at, byte) in &changes {
                    let at = at.index(body.len());
                    body[at] = *byte;
                }
                let _ = decode(&codings, &body, 100, &limits);
            }
        }
    }
}
