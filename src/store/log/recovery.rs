//! Opening a log: what belongs to it, where it ends, and whether its end is a crash or damage.
//!
//! ```text
//! names ─► headers, a chain from the first ─► walk along the last segment ─► what is behind?
//!   zeros: the end · torn, nothing behind knew it synced: cut · else: damage, nothing is touched
//! ```
//!
//! A place is torn when its frame is not whole and no whole frame behind it knew it to be synced.
//! Frames behind it that were not synced either are cut with it: they were never acknowledged.
//! It must not cut before everything that speaks for damage has been asked.
//!
//! Frames that nobody is known to have synced are about to be built upon, so they are made durable
//! first. Syncing alone would not do: after a sync that failed, the system shows what it could not
//! write and takes it for written. They are written once more, with the same bytes.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use uuid::Uuid;

use crate::store::frame::Seal;
use crate::store::log::error::LogError;
use crate::store::log::{Last, RESERVE_BYTES_MIN};
use crate::store::medium::{Medium, MediumFile};
use crate::store::segment::{
    self, CHUNK_BYTES, HEADER_BYTES, HeaderFault, SegmentHeader, Step, Walk,
};

/// What opening found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// Sequence number of the last whole frame; 0 when there is none.
    pub last_seq: u64,
    /// Bytes of a torn tail that were cut off; 0 after a clean close, and mostly after a crash.
    pub cut_bytes: u64,
}

pub(super) struct Found {
    pub(super) earlier: Vec<(u64, u64)>,
    pub(super) last: Last,
    pub(super) opened: Opened,
}

pub(super) fn opened(medium: &dyn Medium, store: Uuid, must_reach: u64) -> Result<Found, LogError> {
    let mut files = segments(medium, store)?;
    let Some((first, file, _)) = files.pop() else {
        return Err(LogError::NoSegments { path: medium.shown("") });
    };
    let earlier = files.into_iter().map(|(first, _, bytes)| (first, bytes)).collect();
    let path = medium.shown(&segment::name(first));
    let fault = |action| {
        let path = path.clone();
        move |source| LogError::io(path, action, source)
    };
    let start = u64::try_from(HEADER_BYTES).unwrap_or_default();
    let seal = Seal { store, first };
    let mut walk = Walk::new(Arc::clone(&file), seal, start).map_err(fault("read"))?;
    let mut last = Last {
        file,
        first,
        end: start,
        flushed: start,
        reserved: walk.end(),
        step: RESERVE_BYTES_MIN,
        reserving: true,
        marks: Vec::new(),
    };
    let mut next = first;
    // Sequence numbers and offsets of the frames not known to be synced.
    let mut unsynced = VecDeque::new();
    let ended = loop {
        match walk.step().map_err(fault("read"))? {
            Step::Frame(header, at) if header.seq == next => {
                last.mark(next, at);
                unsynced.push_back((next, at));
                let synced = header.synced_before().max(must_reach);
                while unsynced.front().is_some_and(|(seq, _)| *seq <= synced) {
                    unsynced.pop_front();
                }
                next = next.saturating_add(1);
            }
            Step::Frame(header, offset) => {
                return Err(LogError::Gap { path, offset, expected: next, found: header.seq });
            }
            Step::End => break "zeros stand where a frame was",
            Step::Bad(what) => break what,
        }
    };
    let (offset, last_seq) = (walk.at(), next.saturating_sub(1));
    let rest = walk.rest(next).map_err(fault("read"))?;
    if let Some((later, at)) = rest.proof {
        let what = format!("{ended}, and frame {later} at byte {at} shows it was synced");
        return Err(LogError::Damaged { path, offset, what });
    }
    if last_seq < must_reach {
        return Err(LogError::Short { path, offset, last: last_seq, must_reach });
    }
    if rest.bytes > 0 {
        last.file.set_length(offset).map_err(fault("cut"))?;
        last.reserved = offset;
    }
    if let Some((_, from)) = unsynced.front() {
        written_again(last.file.as_ref(), *from, offset).map_err(fault("write"))?;
    }
    last.file.sync().map_err(fault("sync"))?;
    medium.sync_names().map_err(fault("sync the name of"))?;
    (last.end, last.flushed) = (offset, offset);
    Ok(Found { earlier, last, opened: Opened { last_seq, cut_bytes: rest.bytes } })
}

fn written_again(file: &dyn MediumFile, from: u64, until: u64) -> io::Result<()> {
    let mut at = from;
    while at < until {
        let left = usize::try_from(until - at).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(CHUNK_BYTES)];
        let read = file.read_at(at, &mut bytes)?;
        if read < bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.write_at(at, &bytes)?;
        at = at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
    }
    Ok(())
}

type Segment = (u64, Arc<dyn MediumFile>, u64);

// All segments with their lengths, in order, their headers checked.
fn segments(medium: &dyn Medium, store: Uuid) -> Result<Vec<Segment>, LogError> {
    let path = medium.shown("");
    let names = match medium.list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LogError::NoSegments { path });
        }
        listed => listed.map_err(|source| LogError::io(path, "list", source))?,
    };
    let mut firsts: Vec<u64> = names.iter().filter_map(|name| segment::first_of(name)).collect();
    firsts.sort_unstable();
    let mut found = Vec::new();
    let mut previous = 0;
    for first in firsts {
        let name = segment::name(first);
        let fault = |source| LogError::io(medium.shown(&name), "read", source);
        let file = medium.open(&name).map_err(fault)?;
        let header = header(medium, &name, file.as_ref())?;
        if header.store != store {
            let path = medium.shown(&name);
            return Err(LogError::ForeignStore { path, found: header.store, expected: store });
        }
        if header.first != first {
            let what = format!("its header says it begins with frame {}", header.first);
            return Err(LogError::Damaged { path: medium.shown(&name), offset: 0, what });
        }
        if header.previous != previous || (previous == 0 && first != 1) {
            let missing = if header.previous == 0 { 1 } else { header.previous };
            return Err(LogError::MissingSegment { path: medium.shown(&segment::name(missing)) });
        }
        let bytes = file.length().map_err(fault)?;
        found.push((first, file, bytes));
        previous = first;
    }
    for name in names.iter().filter(|name| segment::is_unready(name)) {
        let taken = medium.remove(name);
        taken.map_err(|source| LogError::io(medium.shown(name), "remove", source))?;
    }
    Ok(found)
}

pub(super) fn header(
    medium: &dyn Medium,
    name: &str,
    file: &dyn MediumFile,
) -> Result<SegmentHeader, LogError> {
    let path = medium.shown(name);
    let mut bytes = [0; HEADER_BYTES];
    let read = file.read_at(0, &mut bytes);
    let read = read.map_err(|source| LogError::io(path.clone(), "read", source))?;
    match SegmentHeader::read(bytes.get(..read).unwrap_or_default()) {
        Ok(header) => Ok(header),
        Err(HeaderFault::Version(version)) => Err(LogError::Version { path, version }),
        Err(HeaderFault::Damaged) => {
            let what = "its header does not read".to_owned();
            Err(LogError::Damaged { path, offset: 0, what })
        }
    }
}
