//! One frame of the log: a header of fixed length, then the payload. All numbers little end first.
//!
//! ```text
//! magic      4 bytes  a5 'f' 'r' 'm'
//! flags      1 byte   bit 0: the payload is its raw length (4 bytes), then zstd
//! seq        8 bytes  sequence number
//! behind     4 bytes  frames before this one not known to be synced when this one was written
//! length     4 bytes  of the payload as stored
//! payload    4 bytes  crc32c of the payload as stored
//! header     4 bytes  crc32c of the seal, the frame's offset in the file, and all fields above
//! ```
//!
//! The seal (store and segment) and the offset make a frame valid in one place only: bytes that
//! look like a frame inside a payload, or that were copied from another log, do not pass.
//!
//! `behind` lets recovery tell a crash from damage. Writes that were not synced may reach the disk
//! in any order, so after a power loss a torn frame may precede whole ones. A later frame that
//! knew the torn one to be synced proves damage; one that did not proves nothing.

use uuid::Uuid;

use crate::store::compression::{compressed, decompressed};

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 29;
/// Bytes every frame begins with. The first is rare in text, which makes searching quick.
pub const MAGIC: [u8; 4] = [0xa5, b'f', b'r', b'm'];
/// Bytes of the longest payload before compression: a frame is held in memory whole, and its
/// length is kept in four bytes.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 30;

const ZSTD: u8 = 1;

/// What a frame's header is bound to besides its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// The store the log belongs to.
    pub store: Uuid,
    /// First sequence number of the segment.
    pub first: u64,
}

impl Seal {
    fn checksum(&self, at: u64, fields: &[u8]) -> u32 {
        let sum = crc32c::crc32c(self.store.as_bytes());
        let sum = crc32c::crc32c_append(sum, &self.first.to_le_bytes());
        let sum = crc32c::crc32c_append(sum, &at.to_le_bytes());
        crc32c::crc32c_append(sum, fields)
    }
}

/// The fields of a frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    flags: u8,
    /// Sequence number.
    pub seq: u64,
    /// Frames before this one that were not known to be synced when it was written.
    pub behind: u32,
    /// Bytes of the payload as stored.
    pub length: u32,
    checksum: u32,
}

impl Header {
    /// Reads a header found at offset `at`; `None` when it is not one.
    pub fn read(bytes: &[u8; HEADER_BYTES], seal: &Seal, at: u64) -> Option<Header> {
        let (fields, checksum) = bytes.split_last_chunk::<4>()?;
        let (magic, rest) = fields.split_first_chunk::<4>()?;
        if *magic != MAGIC || u32::from_le_bytes(*checksum) != seal.checksum(at, fields) {
            return None;
        }
        let (&flags, rest) = rest.split_first()?;
        let (seq, rest) = rest.split_first_chunk()?;
        let (behind, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let header = Header {
            flags,
            seq: u64::from_le_bytes(*seq),
            behind: u32::from_le_bytes(*behind),
            length: u32::from_le_bytes(*length),
            checksum: u32::from_le_bytes(rest.try_into().ok()?),
        };
        (flags & !ZSTD == 0).then_some(header)
    }

    /// The last sequence number that was known to be synced when this frame was written; 0 when
    /// more frames were behind than can be counted.
    pub fn synced_before(&self) -> u64 {
        if self.behind == u32::MAX {
            return 0;
        }
        self.seq.saturating_sub(1).saturating_sub(u64::from(self.behind))
    }

    /// Whether the stored payload is the one this header was written with.
    pub fn matches(&self, stored: &[u8]) -> bool {
        u32::try_from(stored.len()) == Ok(self.length) && crc32c::crc32c(stored) == self.checksum
    }

    /// The payload as it was appended; `None` when it does not match or decompress.
    pub fn payload(&self, stored: &[u8]) -> Option<Vec<u8>> {
        if !self.matches(stored) {
            return None;
        }
        if self.flags & ZSTD == 0 {
            return Some(stored.to_vec());
        }
        let (length, packed) = stored.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        if length > PAYLOAD_BYTES_MAX { None } else { decompressed(packed, length) }
    }

    fn written(&self, seal: &Seal, at: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.push(self.flags);
        bytes.extend_from_slice(&self.seq.to_le_bytes());
        bytes.extend_from_slice(&self.behind.to_le_bytes());
        bytes.extend_from_slice(&self.length.to_le_bytes());
        bytes.extend_from_slice(&self.checksum.to_le_bytes());
        let checksum = seal.checksum(at, &bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// A frame that has its content but not its place yet.
#[derive(Debug)]
pub struct Draft {
    header: Header,
    stored: Vec<u8>,
}

impl Draft {
    /// Compresses and sums up a payload of at most [`PAYLOAD_BYTES_MAX`] bytes; `None` when it is
    /// longer. Linear in its length.
    pub fn new(seq: u64, behind: u32, payload: &[u8]) -> Option<Draft> {
        if payload.len() > PAYLOAD_BYTES_MAX {
            return None;
        }
        let (flags, stored) = match compressed(payload) {
            Some(packed) => {
                let mut stored = u32::try_from(payload.len()).ok()?.to_le_bytes().to_vec();
                stored.extend_from_slice(&packed);
                (ZSTD, stored)
            }
            None => (0, payload.to_vec()),
        };
        let length = u32::try_from(stored.len()).ok()?;
        let checksum = crc32c::crc32c(&stored);
        Some(Draft { header: Header { flags, seq, behind, length, checksum }, stored })
    }

    /// Bytes the frame takes in a file.
    pub fn bytes(&self) -> u64 {
        let header = u64::try_from(HEADER_BYTES).unwrap_or_default();
        header.saturating_add(u64::from(self.header.length))
    }

    /// Appends the frame as it stands at offset `at` of the segment with this seal.
    pub fn place(&self, seal: &Seal, at: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.header.written(seal, at));
        out.extend_from_slice(&self.stored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEAL: Seal = Seal { store: Uuid::from_u128(7), first: 1 };

    fn framed(payload: &[u8]) -> (Header, Vec<u8>) {
        let mut bytes = Vec::new();
        let draft = Draft::new(9, 2, payload).unwrap();
        draft.place(&SEAL, 44, &mut bytes);
        assert_eq!(draft.bytes(), bytes.len() as u64);
        let header = Header::read(bytes.first_chunk().unwrap(), &SEAL, 44).unwrap();
        (header, bytes)
    }

    #[test]
    fn a_frame_reads_back_compressed_or_not() {
        for payload in [Vec::new(), b"short".to_vec(), b"again and again ".repeat(100)] {
            let (header, bytes) = framed(&payload);
            assert_eq!((header.seq, header.behind, header.synced_before()), (9, 2, 6));
            assert_eq!(header.payload(&bytes[HEADER_BYTES..]), Some(payload));
        }
    }

    #[test]
    fn a_header_holds_in_its_own_place_only() {
        let (_, bytes) = framed(b"short");
        let head = bytes.first_chunk().unwrap();
        let elsewhere = Seal { first: 2, ..SEAL };
        let foreign = Seal { store: Uuid::from_u128(8), ..SEAL };
        assert_eq!(Header::read(head, &SEAL, 45), None);
        assert_eq!(Header::read(head, &elsewhere, 44), None);
        assert_eq!(Header::read(head, &foreign, 44), None);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for payload in [b"short".to_vec(), b"again and again ".repeat(100)] {
            let (_, bytes) = framed(&payload);
            for place in 0..bytes.len() * 8 {
                let mut hurt = bytes.clone();
                hurt[place / 8] ^= 1 << (place % 8);
                let header = Header::read(hurt.first_chunk().unwrap(), &SEAL, 44);
                let read = header.and_then(|header| header.payload(&hurt[HEADER_BYTES..]));
                assert_eq!(read, None, "bit {place}");
            }
        }
    }
}
