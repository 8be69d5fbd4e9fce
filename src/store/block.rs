//! One block of the packed map: ascending entries, keys front-coded, checksummed.
//!
//! ```text
//! version  1 byte   1
//! form     1 byte   0 as it is, 1 zstd
//! length   4 bytes  of the body before compression, little end first
//! crc32c   4 bytes  of the block's key, then version, form, length and the stored body
//! body     entries: shared, suffix length, value length (varints), suffix, value
//! ```
//!
//! `shared` counts the bytes a key has in common with the one before it; the first entry's key is
//! the block's own key, shared in full. The checksum covers the block's key, so a block that turns
//! up under another key is noticed.
//!
//! Reading must never trust a length it has not compared with what is there.

use crate::store::compression::{compressed, decompressed};
use crate::store::engine::Entry;

/// The version this code writes; it reads no other.
pub const VERSION: u8 = 1;
/// Bytes before the body.
pub const HEADER_BYTES: usize = 10;
/// Bytes of the longest body. Its length is kept in four bytes, and a block is held in memory.
pub const BODY_BYTES_MAX: usize = 1 << 30;

const RAW: u8 = 0;
const ZSTD: u8 = 1;

/// Why a block does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockFault {
    /// It carries a version this code does not know.
    Version(u8),
    /// It is damaged; the text says how that shows.
    Damaged(&'static str),
}

/// A block that has been checked and decompressed.
#[derive(Debug)]
pub struct Block {
    key: Vec<u8>,
    body: Vec<u8>,
}

impl Block {
    /// Checks and decompresses a stored block. Linear in its length.
    ///
    /// # Errors
    /// [`BlockFault::Version`] when it was written by other code; [`BlockFault::Damaged`] when the
    /// checksum or a length does not fit.
    pub fn read(key: &[u8], stored: &[u8]) -> Result<Block, BlockFault> {
        let fault = BlockFault::Damaged("it is shorter than its header");
        let (header, body) = stored.split_first_chunk::<HEADER_BYTES>().ok_or(fault)?;
        let &[version, form, l0, l1, l2, l3, c0, c1, c2, c3] = header;
        if version != VERSION {
            return Err(BlockFault::Version(version));
        }
        let head = [version, form, l0, l1, l2, l3];
        if checksum(key, &head, body) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(BlockFault::Damaged("its checksum does not match"));
        }
        let fault = BlockFault::Damaged("its length does not match");
        let length = usize::try_from(u32::from_le_bytes([l0, l1, l2, l3])).map_err(|_| fault)?;
        if length > BODY_BYTES_MAX {
            return Err(fault);
        }
        let body = match form {
            RAW if body.len() == length => body.to_vec(),
            ZSTD => decompressed(body, length).ok_or(fault)?,
            _ => return Err(fault),
        };
        Ok(Block { key: key.to_vec(), body })
    }

    /// Steps through the entries in order.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { key: self.key.clone(), rest: &self.body, started: false }
    }

    /// The value of a key, if it is in this block. Linear in the length of the block.
    ///
    /// # Errors
    /// [`BlockFault::Damaged`] when an entry before it is malformed.
    pub fn value(&self, key: &[u8]) -> Result<Option<&[u8]>, BlockFault> {
        let mut cursor = self.cursor();
        while let Some(value) = cursor.step()? {
            match cursor.key().cmp(key) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Ok(Some(value)),
                std::cmp::Ordering::Greater => return Ok(None),
            }
        }
        Ok(None)
    }

    /// All entries in order.
    ///
    /// # Errors
    /// [`BlockFault::Damaged`] when one is malformed.
    pub fn entries(&self) -> Result<Vec<Entry>, BlockFault> {
        let mut entries = Vec::new();
        let mut cursor = self.cursor();
        while let Some(value) = cursor.step()? {
            entries.push((cursor.key().to_vec(), value.to_vec()));
        }
        Ok(entries)
    }
}

/// A place between two entries of a block.
#[derive(Debug)]
pub struct Cursor<'a> {
    key: Vec<u8>,
    rest: &'a [u8],
    started: bool,
}

impl<'a> Cursor<'a> {
    /// The key of the entry stepped over last; before the first step, the block's key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Steps over the next entry and returns its value; `None` at the end.
    ///
    /// # Errors
    /// [`BlockFault::Damaged`] when the entry is cut short or out of order.
    pub fn step(&mut self) -> Result<Option<&'a [u8]>, BlockFault> {
        if self.rest.is_empty() {
            let empty = Err(BlockFault::Damaged("it holds no entry"));
            return if self.started { Ok(None) } else { empty };
        }
        let short = BlockFault::Damaged("an entry is cut short");
        let shared = varint(&mut self.rest).ok_or(short)?;
        let suffix_length = varint(&mut self.rest).ok_or(short)?;
        let value_length = varint(&mut self.rest).ok_or(short)?;
        let (suffix, rest) = self.rest.split_at_checked(suffix_length).ok_or(short)?;
        let (value, rest) = rest.split_at_checked(value_length).ok_or(short)?;
        let replaced = self.key.get(shared..).ok_or(short)?;
        let first = suffix.is_empty() && replaced.is_empty();
        let in_order = if self.started { suffix > replaced } else { first };
        if !in_order {
            return Err(BlockFault::Damaged("its keys are out of order"));
        }
        self.key.truncate(shared);
        self.key.extend_from_slice(suffix);
        self.rest = rest;
        self.started = true;
        Ok(Some(value))
    }
}

/// Bytes an entry takes in a body when it comes after `before`.
pub fn coded_bytes(before: Option<&[u8]>, key: &[u8], value: &[u8]) -> usize {
    let shared = before.map_or(key.len(), |before| shared_bytes(before, key));
    let suffix = key.len() - shared;
    varint_bytes(shared) + varint_bytes(suffix) + varint_bytes(value.len()) + suffix + value.len()
}

/// A stored block. The entries must be ascending, at least one, and together within
/// [`BODY_BYTES_MAX`]: the caller has counted them with [`coded_bytes`].
pub fn written(entries: &[Entry]) -> Vec<u8> {
    let mut body = Vec::new();
    let block_key = entries.first().map_or(&[][..], |(key, _)| key.as_slice());
    let mut before = block_key;
    for (key, value) in entries {
        let shared = shared_bytes(before, key);
        let suffix = key.get(shared..).unwrap_or_default();
        for length in [shared, suffix.len(), value.len()] {
            push_varint(&mut body, length);
        }
        body.extend_from_slice(suffix);
        body.extend_from_slice(value);
        before = key;
    }
    let [l0, l1, l2, l3] = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes();
    let (form, body) = match compressed(&body) {
        Some(smaller) => (ZSTD, smaller),
        None => (RAW, body),
    };
    let head = [VERSION, form, l0, l1, l2, l3];
    let mut stored = Vec::with_capacity(HEADER_BYTES + body.len());
    stored.extend_from_slice(&head);
    stored.extend_from_slice(&checksum(block_key, &head, &body).to_le_bytes());
    stored.extend_from_slice(&body);
    stored
}

fn checksum(key: &[u8], head: &[u8], body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c_append(crc32c::crc32c(key), head), body)
}

fn shared_bytes(before: &[u8], key: &[u8]) -> usize {
    before.iter().zip(key).take_while(|(a, b)| a == b).count()
}

fn varint_bytes(number: usize) -> usize {
    let bits = usize::BITS - number.leading_zeros();
    usize::try_from(bits.div_ceil(7).max(1)).unwrap_or(usize::MAX)
}

fn push_varint(bytes: &mut Vec<u8>, mut number: usize) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or_default();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0_usize;
    for shift in (0..usize::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let low = usize::from(byte & 0x7f);
        // Bits that would be shifted out make the number another one.
        if low.leading_zeros() < shift {
            return None;
        }
        number |= low << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<Entry> {
        let value = |n: usize| vec![u8::try_from(n % 7).unwrap(); n * 3];
        (0..40).map(|n| (format!("slot/{n:03}").into_bytes(), value(n))).collect()
    }

    #[test]
    fn a_block_reads_back_what_was_written() {
        let entries = sample();
        let stored = written(&entries);
        let block = Block::read(&entries[0].0, &stored).unwrap();
        assert_eq!(block.entries().unwrap(), entries);
        assert_eq!(block.value(b"slot/007").unwrap(), Some(entries[7].1.as_slice()));
        assert_eq!(block.value(b"slot/0075").unwrap(), None);
        assert_eq!(block.value(b"slot/9").unwrap(), None);
    }

    #[test]
    fn coded_bytes_counts_what_the_body_takes() {
        let entries = sample();
        let mut before = None;
        let mut bytes = 0;
        for (key, value) in &entries {
            bytes += coded_bytes(before, key, value);
            before = Some(key.as_slice());
        }
        let block = Block::read(&entries[0].0, &written(&entries)).unwrap();
        assert_eq!(block.body.len(), bytes);
    }

    #[test]
    fn the_same_block_under_another_key_is_damage() {
        let stored = written(&sample());
        let fault = Block::read(b"slot/001", &stored).unwrap_err();
        assert_eq!(fault, BlockFault::Damaged("its checksum does not match"));
    }

    #[test]
    fn every_flipped_byte_and_every_length_is_noticed() {
        for entries in [sample(), vec![(b"k".to_vec(), b"v".to_vec())]] {
            let key = entries[0].0.clone();
            let stored = written(&entries);
            for place in 0..stored.len() {
                assert!(Block::read(&key, &stored[..place]).is_err());
                for bit in 0..8 {
                    let mut hurt = stored.clone();
                    hurt[place] ^= 1 << bit;
                    assert!(Block::read(&key, &hurt).is_err(), "byte {place} bit {bit}");
                }
            }
        }
    }

    #[test]
    fn a_body_that_lies_under_a_right_checksum_is_refused_without_a_panic() {
        let bodies: [&[u8]; 8] = [
            b"",
            b"\x01",
            b"\x01\x00\x05v",
            b"\x02\x00\x00",
            b"\x00\x01\x00k",
            b"\x01\x00\x00\x01\x00\x00",
            b"\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        ];
        for body in bodies {
            let [l0, l1, l2, l3] = u32::try_from(body.len()).unwrap().to_le_bytes();
            let head = [VERSION, RAW, l0, l1, l2, l3];
            let mut stored = head.to_vec();
            stored.extend_from_slice(&checksum(b"k", &head, body).to_le_bytes());
            stored.extend_from_slice(body);
            let block = Block::read(b"k", &stored).unwrap();
            assert!(matches!(block.entries(), Err(BlockFault::Damaged(_))), "{body:?}");
        }
    }

    #[test]
    fn numbers_of_every_length_come_back() {
        for shift in 0..usize::BITS {
            for number in [1_usize << shift, (1_usize << shift) - 1, usize::MAX >> shift] {
                let mut bytes = Vec::new();
                push_varint(&mut bytes, number);
                assert_eq!(bytes.len(), varint_bytes(number));
                let mut rest = bytes.as_slice();
                assert_eq!((varint(&mut rest), rest.len()), (Some(number), 0));
            }
        }
    }
}
