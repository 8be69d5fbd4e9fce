//! One segment file of the log: its name, its header, and a walk along its frames.
//!
//! ```text
//! magic     7 bytes  "asoflog"
//! version   1 byte   0
//! store     16 bytes uuid of the store
//! first     8 bytes  sequence number of the first frame; the file is named after it
//! previous  8 bytes  first sequence number of the segment before; 0 for the first segment
//! crc32c    4 bytes  of all the above
//! frames, then zeros up to the end of the reserved room
//! ```
//!
//! A segment gets its name only once its header is synced, so a file with a segment's name and a
//! bad header is damage, never a crash. A walk must not interpret payloads, and must not decide
//! what a fault means: `log/recovery.rs` does.

use std::io;
use std::sync::Arc;

use uuid::Uuid;

use crate::store::frame::{self, Header, Seal};
use crate::store::medium::MediumFile;

/// Bytes every segment begins with.
pub const MAGIC: [u8; 7] = *b"asoflog";
/// The format this code reads and writes.
pub const VERSION: u8 = 0;
/// Bytes of a segment's header: where the first frame is.
pub const HEADER_BYTES: usize = 44;
/// Bytes read from a file at a time while walking.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// The fields of a segment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// The store the log belongs to.
    pub store: Uuid,
    /// Sequence number of the first frame.
    pub first: u64,
    /// First sequence number of the segment before; 0 for the first segment.
    pub previous: u64,
}

/// Why a segment's header does not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFault {
    /// It was written in a format this code does not know.
    Version(u8),
    /// It is damaged.
    Damaged,
}

impl SegmentHeader {
    /// The bytes at the start of the file.
    pub fn written(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(self.store.as_bytes());
        bytes.extend_from_slice(&self.first.to_le_bytes());
        bytes.extend_from_slice(&self.previous.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header.
    ///
    /// # Errors
    /// [`HeaderFault::Version`] when the magic is right and the version is not ours;
    /// [`HeaderFault::Damaged`] when anything else does not fit.
    pub fn read(bytes: &[u8]) -> Result<SegmentHeader, HeaderFault> {
        let version = match bytes.split_first_chunk::<7>() {
            Some((magic, rest)) if *magic == MAGIC => rest.first().copied(),
            Some(_) | None => None,
        };
        match version {
            None => return Err(HeaderFault::Damaged),
            Some(VERSION) => {}
            Some(other) => return Err(HeaderFault::Version(other)),
        }
        SegmentHeader::fields(bytes).ok_or(HeaderFault::Damaged)
    }

    fn fields(bytes: &[u8]) -> Option<SegmentHeader> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>()?;
        let (fields, checksum) = bytes.split_last_chunk::<4>()?;
        if u32::from_le_bytes(*checksum) != crc32c::crc32c(fields) {
            return None;
        }
        let (store, rest) = fields.get(MAGIC.len() + 1..)?.split_first_chunk()?;
        let (first, rest) = rest.split_first_chunk()?;
        Some(SegmentHeader {
            store: Uuid::from_bytes(*store),
            first: u64::from_le_bytes(*first),
            previous: u64::from_le_bytes(rest.try_into().ok()?),
        })
    }
}

/// The name of the segment that begins with this sequence number; names sort as numbers do.
pub fn name(first: u64) -> String {
    format!("{first:020}.log")
}

/// The name a segment has until it is ready.
pub fn unready_name(first: u64) -> String {
    format!("{first:020}.new")
}

/// The sequence number a segment's name says, if it is a segment's name.
pub fn first_of(file_name: &str) -> Option<u64> {
    let first = file_name.strip_suffix(".log")?.parse().ok()?;
    (name(first) == file_name).then_some(first)
}

/// Whether a file is a segment that was never finished.
pub fn is_unready(file_name: &str) -> bool {
    let digits = file_name.strip_suffix(".new");
    digits.is_some_and(|digits| digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// What a walk meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A frame, and the offset of its header.
    Frame(Header, u64),
    /// Nothing is written here: the file ends, or zeros begin.
    End,
    /// Something is written here and it is no whole frame; the text says how that shows.
    Bad(&'static str),
}

/// What lies behind the place where a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// Bytes up to the last one that is not zero.
    pub bytes: u64,
    /// Sequence number and offset of a whole frame that proves the place to have been synced.
    pub proof: Option<(u64, u64)>,
}

/// A walk along the frames of a file.
pub struct Walk {
    file: Arc<dyn MediumFile>,
    seal: Seal,
    at: u64,
    end: u64,
    chunk: Vec<u8>,
    chunk_at: u64,
}

impl Walk {
    /// Begins at offset `at`, which must be the header of a frame or the end of the last one.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn new(file: Arc<dyn MediumFile>, seal: Seal, at: u64) -> io::Result<Walk> {
        let end = file.length()?;
        Ok(Walk { file, seal, at, end, chunk: Vec::new(), chunk_at: 0 })
    }

    /// Where the walk stands, as an offset in bytes.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Length of the file when the walk began, in bytes.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Steps over the next frame, checking its header and its payload.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn step(&mut self) -> io::Result<Step> {
        let step = self.skip()?;
        if let Step::Frame(header, at) = step
            && !header.matches(self.stored(&header, at)?)
        {
            self.at = at;
            return Ok(Step::Bad("the checksum of a payload does not match"));
        }
        Ok(step)
    }

    /// Steps over the next frame, checking its header only.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn skip(&mut self) -> io::Result<Step> {
        let (seal, at, end) = (self.seal, self.at, self.end);
        let bytes = self.bytes(at, frame::HEADER_BYTES)?;
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(Step::End);
        }
        let Some(bytes) = bytes.first_chunk() else {
            return Ok(Step::Bad("the header of a frame is cut short"));
        };
        let Some(header) = Header::read(bytes, &seal, at) else {
            return Ok(Step::Bad("the checksum of a frame's header does not match"));
        };
        let next = payload_at(at).saturating_add(u64::from(header.length));
        if next > end {
            return Ok(Step::Bad("a payload is cut short"));
        }
        self.at = next;
        Ok(Step::Frame(header, at))
    }

    /// The payload of a frame met by this walk; `None` when it does not match its header.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn payload(&mut self, header: &Header, at: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(header.payload(self.stored(header, at)?))
    }

    /// Looks at everything behind the place where the walk stands, where frame `seq` should be.
    /// Linear in the length of the file; the walk stays where it is.
    ///
    /// # Errors
    /// As the operating system says.
    pub fn rest(&mut self, seq: u64) -> io::Result<Rest> {
        let mut rest = Rest { bytes: 0, proof: None };
        let mut at = self.at;
        while at < self.end {
            let start = self.at;
            let bytes = self.bytes(at, CHUNK_BYTES)?;
            let length = u64::try_from(bytes.len()).unwrap_or_default();
            if length == 0 {
                break;
            }
            let mut candidates = Vec::new();
            if bytes.iter().fold(0, |any, byte| any | byte) != 0 {
                let last = bytes.iter().rposition(|byte| *byte != 0).unwrap_or_default();
                rest.bytes = at - start + u64::try_from(last).unwrap_or_default() + 1;
                let found = bytes.windows(frame::MAGIC.len()).zip(at..);
                let found = found.filter(|(window, _)| **window == frame::MAGIC);
                candidates.extend(found.map(|(_, at)| at));
            }
            for candidate in candidates {
                if rest.proof.is_none() {
                    rest.proof = self.proof(seq, candidate)?;
                }
            }
            // A magic may lie across two chunks; the last chunk has none after it.
            let overlap = if at + length < self.end { 3.min(length - 1) } else { 0 };
            at += length - overlap;
        }
        Ok(rest)
    }

    // Sequence number and offset, if a whole frame stands there that knew `seq` to be synced.
    fn proof(&mut self, seq: u64, at: u64) -> io::Result<Option<(u64, u64)>> {
        let (seal, end) = (self.seal, self.end);
        let bytes = self.bytes(at, frame::HEADER_BYTES)?.first_chunk();
        let Some(header) = bytes.and_then(|bytes| Header::read(bytes, &seal, at)) else {
            return Ok(None);
        };
        let whole = payload_at(at).saturating_add(u64::from(header.length)) <= end;
        if !whole || header.synced_before() < seq || !header.matches(self.stored(&header, at)?) {
            return Ok(None);
        }
        Ok(Some((header.seq, at)))
    }

    fn stored(&mut self, header: &Header, at: u64) -> io::Result<&[u8]> {
        let length = usize::try_from(header.length).unwrap_or(usize::MAX);
        self.bytes(payload_at(at), length)
    }

    // Up to `count` bytes at an offset; less only when the file ends before.
    fn bytes(&mut self, at: u64, count: usize) -> io::Result<&[u8]> {
        let left = usize::try_from(self.end.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = count.min(left);
        let held = at.checked_sub(self.chunk_at).and_then(|from| usize::try_from(from).ok());
        let held = held.filter(|from| self.chunk.get(*from..from.saturating_add(count)).is_some());
        let from = if let Some(from) = held {
            from
        } else {
            self.chunk.resize(count.max(CHUNK_BYTES).min(left), 0);
            let read = self.file.read_at(at, &mut self.chunk)?;
            self.chunk.truncate(read);
            self.chunk_at = at;
            0
        };
        let rest = self.chunk.get(from..).unwrap_or_default();
        Ok(rest.get(..count).unwrap_or(rest))
    }
}

fn payload_at(at: u64) -> u64 {
    at.saturating_add(u64::try_from(frame::HEADER_BYTES).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_numbers_and_read_back() {
        assert_eq!(name(1), "00000000000000000001.log");
        assert!(name(9) < name(10) && name(10) < name(u64::MAX));
        for first in [0, 1, 12_345, u64::MAX] {
            assert_eq!(first_of(&name(first)), Some(first));
            assert!(is_unready(&unready_name(first)) && !is_unready(&name(first)));
        }
        for other in ["1.log", "+0000000000000000001.log", "00000000000000000001.new", ".log", ""] {
            assert_eq!(first_of(other), None);
        }
    }

    #[test]
    fn a_header_reads_back_and_every_flipped_bit_and_length_is_noticed() {
        let header = SegmentHeader { store: Uuid::from_u128(7), first: 90, previous: 40 };
        let bytes = header.written();
        assert_eq!(bytes.len(), HEADER_BYTES);
        assert_eq!(SegmentHeader::read(&bytes), Ok(header));
        for place in 0..bytes.len() {
            assert_eq!(SegmentHeader::read(&bytes[..place]), Err(HeaderFault::Damaged));
            let mut hurt = bytes.clone();
            hurt[place] ^= 4;
            let fault = if place == 7 { HeaderFault::Version(4) } else { HeaderFault::Damaged };
            assert_eq!(SegmentHeader::read(&hurt), Err(fault));
        }
    }
}
