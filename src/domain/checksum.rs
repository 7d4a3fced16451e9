//! Cyclic checksums: CRC-32C for stored records, CRC-32 for the tail of an API key.
//!
//! They find accidents, not attackers. Eight tables let eight bytes be taken at once.

/// A cyclic redundancy check of 32 bits, reflected, with all bits inverted before and after.
pub struct Crc {
    tables: [[u32; 256]; 8],
}

/// CRC-32C (Castagnoli), which guards stored records.
pub static CRC_32C: Crc = Crc::new(0x82F6_3B78);

/// CRC-32 (IEEE 802.3), which ends an API key.
pub static CRC_32: Crc = Crc::new(0xEDB8_8320);

impl Crc {
    const fn new(polynomial: u32) -> Self {
        Self { tables: tables(polynomial) }
    }

    /// The checksum of the parts, as if they stood one after another.
    #[must_use]
    pub fn of(&self, parts: &[&[u8]]) -> u32 {
        !parts.iter().fold(u32::MAX, |crc, part| self.update(crc, part))
    }

    fn update(&self, mut crc: u32, bytes: &[u8]) -> u32 {
        let [t0, t1, t2, t3, t4, t5, t6, t7] = &self.tables;
        let at = |table: &[u32; 256], byte: u8| table.get(usize::from(byte)).copied().unwrap_or(0);
        let (chunks, rest) = bytes.as_chunks::<8>();
        for &[a, b, c, d, e, f, g, h] in chunks {
            let [w, x, y, z] = (crc ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
            crc = at(t7, w) ^ at(t6, x) ^ at(t5, y) ^ at(t4, z);
            crc ^= at(t3, e) ^ at(t2, f) ^ at(t1, g) ^ at(t0, h);
        }
        for &byte in rest {
            let [low, ..] = crc.to_le_bytes();
            crc = (crc >> 8) ^ at(t0, low ^ byte);
        }
        crc
    }
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler, which refuses an index out of range"
)]
const fn tables(polynomial: u32) -> [[u32; 256]; 8] {
    let mut tables = [[0_u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let previous = tables[table - 1][byte];
            tables[table][byte] = (previous >> 8) ^ tables[0][(previous & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_values_of_the_catalogues_come_out() {
        assert_eq!(CRC_32C.of(&[b"123456789"]), 0xE306_9283);
        assert_eq!(CRC_32.of(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(CRC_32C.of(&[&[0; 32]]), 0x8A91_36AA);
        assert_eq!(CRC_32C.of(&[]), 0);
    }

    #[test]
    fn parts_count_as_one_text() {
        let text = b"a text that is longer than two chunks of eight";
        let whole = CRC_32C.of(&[text]);
        for cut in 0..text.len() {
            let (head, tail) = text.split_at(cut);
            assert_eq!(CRC_32C.of(&[head, tail]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn every_flipped_bit_changes_the_checksum() {
        let mut text = *b"one record of a table";
        let whole = CRC_32C.of(&[&text]);
        for bit in 0..text.len() * 8 {
            text[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(CRC_32C.of(&[&text]), whole, "bit {bit}");
            text[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
