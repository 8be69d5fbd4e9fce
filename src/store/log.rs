//! The log: the truth of the store, as frames in segment files (R44). Everything else is derived.
//!
//! ```text
//! append ─► buffer ─► flush: one write ─► segment file, room reserved ahead ─► sync: fdatasync
//! ```
//!
//! Invariants:
//! - sequence numbers begin at 1 and have no gaps, within a segment and from one to the next;
//! - a segment is synced whole before the next one gets its name;
//! - bytes behind the last frame of a segment are zeros;
//! - after a failed write or sync nothing is appended any more: what the disk holds is unknown.
//!
//! The log must not interpret payloads and must not repair: a torn tail is cut, damage is named.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

pub use crate::store::log::durable::SyncHandle;
pub use crate::store::log::error::LogError;
pub use crate::store::log::reading::{Frames, Verified};
pub use crate::store::log::recovery::Opened;

use crate::store::frame::{Draft, Seal};
use crate::store::log::durable::{Durable, Flushed};
use crate::store::medium::{Directory, Medium, MediumFile};
use crate::store::segment::{self, SegmentHeader};

mod durable;
mod error;
mod reading;
mod recovery;

/// Bytes at which a segment ends and the next begins; a longer frame has a segment to itself. Open
/// reads the last segment, so this bounds opening.
pub const SEGMENT_BYTES: u64 = 64 << 20;
/// Bytes reserved at first; small, since most stores are.
pub const RESERVE_BYTES_MIN: u64 = 1 << 20;
/// Bytes reserved at a time once the log has grown: the step doubles up to this.
pub const RESERVE_BYTES_MAX: u64 = 16 << 20;
/// Bytes buffered before they are flushed unasked, so that a bulk load stays small in memory.
pub const BUFFER_BYTES: usize = 1 << 20;
/// Bytes between two remembered places of the last segment, which spare reading it from its start.
const MARK_BYTES: u64 = 1 << 20;

/// An open log. One thread appends; syncing and reading need no hold of it.
pub struct Log {
    medium: Arc<dyn Medium>,
    store: Uuid,
    // First sequence number and length in bytes of the segments before the last.
    earlier: Vec<(u64, u64)>,
    last: Last,
    buffer: Vec<u8>,
    last_seq: u64,
    durable: Arc<Durable>,
    segment_bytes: u64,
}

// The segment that is appended to.
struct Last {
    file: Arc<dyn MediumFile>,
    first: u64,
    // Where the next frame goes, buffered ones counted; where the buffer begins.
    end: u64,
    flushed: u64,
    // Room there is; how much to ask for next. No more is asked for where it cannot be had.
    reserved: u64,
    step: u64,
    reserving: bool,
    // Sequence number and offset of a frame every so often.
    marks: Vec<(u64, u64)>,
}

impl Log {
    /// Makes the log of a new store in a directory, which is made if it is not there.
    ///
    /// # Errors
    /// [`LogError::Exists`] when the directory holds a log; [`LogError::NoSpace`] and
    /// [`LogError::Io`].
    pub fn create(dir: &Path, store: Uuid) -> Result<Log, LogError> {
        let made = std::fs::create_dir_all(dir);
        made.map_err(|source| LogError::io(dir.to_owned(), "make", source))?;
        Log::create_on(Arc::new(Directory::new(dir)), store)
    }

    /// Like [`Log::create`], on any medium.
    ///
    /// # Errors
    /// As [`Log::create`].
    pub fn create_on(medium: Arc<dyn Medium>, store: Uuid) -> Result<Log, LogError> {
        let path = medium.shown("");
        let names = medium.list().map_err(|source| LogError::io(path.clone(), "list", source))?;
        if names.iter().any(|name| segment::first_of(name).is_some()) {
            return Err(LogError::Exists { path });
        }
        let header = SegmentHeader { store, first: 1, previous: 0 };
        let last = Last::create(medium.as_ref(), &header, SEGMENT_BYTES)?;
        Ok(Log::over(medium, store, Vec::new(), last, 0))
    }

    /// Opens a log and cuts a torn tail. `must_reach` is the highest sequence number that a
    /// checkpoint or the mark of a clean close has seen, 0 if none. Reads the headers of all
    /// segments and the frames of the last one; decompresses nothing. Earlier segments are checked
    /// as they are read, and by [`Log::verify`].
    ///
    /// # Errors
    /// [`LogError::NoSegments`], [`LogError::MissingSegment`], [`LogError::ForeignStore`],
    /// [`LogError::Version`], [`LogError::Damaged`], [`LogError::Gap`], [`LogError::Short`] and
    /// [`LogError::Io`]. Nothing was cut then, unless cutting itself failed.
    pub fn open(dir: &Path, store: Uuid, must_reach: u64) -> Result<(Log, Opened), LogError> {
        Log::open_on(Arc::new(Directory::new(dir)), store, must_reach)
    }

    /// Like [`Log::open`], on any medium.
    ///
    /// # Errors
    /// As [`Log::open`].
    pub fn open_on(
        medium: Arc<dyn Medium>,
        store: Uuid,
        must_reach: u64,
    ) -> Result<(Log, Opened), LogError> {
        let found = recovery::opened(medium.as_ref(), store, must_reach)?;
        let opened = found.opened;
        Ok((Log::over(medium, store, found.earlier, found.last, opened.last_seq), opened))
    }

    fn over(
        medium: Arc<dyn Medium>,
        store: Uuid,
        earlier: Vec<(u64, u64)>,
        last: Last,
        last_seq: u64,
    ) -> Log {
        let path = medium.shown(&segment::name(last.first));
        let flushed = Flushed { file: Arc::clone(&last.file), path, seq: last_seq };
        let durable = Arc::new(Durable::new(flushed));
        let (buffer, segment_bytes) = (Vec::new(), SEGMENT_BYTES);
        Log { medium, store, earlier, last, buffer, last_seq, durable, segment_bytes }
    }

    /// Makes segments of another length, for tests that want many of them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_segment_bytes(mut self, bytes: u64) -> Log {
        self.segment_bytes = bytes;
        self
    }

    /// Adds a frame. It is buffered; [`Log::flush`] hands it to the operating system. Room is
    /// reserved here, so a full disk refuses the frame before anything of it is kept.
    ///
    /// # Errors
    /// [`LogError::OutOfOrder`], [`LogError::TooLong`] and [`LogError::NoSpace`] leave the log as
    /// it was; [`LogError::Io`] poisons it; [`LogError::Poisoned`] when it was. A full disk may
    /// also poison it where room cannot be reserved.
    pub fn append(&mut self, seq: u64, payload: &[u8]) -> Result<(), LogError> {
        self.durable.check()?;
        let expected = self.last_seq.saturating_add(1);
        if seq != expected {
            return Err(LogError::OutOfOrder { expected, given: seq });
        }
        let behind = self.last_seq.saturating_sub(self.durable.synced());
        let behind = u32::try_from(behind).unwrap_or(u32::MAX);
        let too_long = LogError::TooLong { bytes: payload.len() };
        let draft = Draft::new(seq, behind, payload).ok_or(too_long)?;
        let holds_frames = seq > self.last.first;
        if holds_frames && self.last.end.saturating_add(draft.bytes()) > self.segment_bytes {
            self.roll_over(seq)?;
        }
        let until = self.last.end.saturating_add(draft.bytes());
        if let Err(error) = self.last.reserve(&self.shown(), until, self.segment_bytes) {
            return Err(self.kept_or_poisoned(error));
        }
        self.last.mark(seq, self.last.end);
        draft.place(&self.seal(), self.last.end, &mut self.buffer);
        self.last.end = until;
        self.last_seq = seq;
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    /// Hands buffered frames to the operating system in one write. They outlive the process then,
    /// not a power loss.
    ///
    /// # Errors
    /// [`LogError::Io`] and [`LogError::NoSpace`], which poison the log: part of a frame may be
    /// written, and is cut off again where that is possible. [`LogError::Poisoned`] when it was.
    pub fn flush(&mut self) -> Result<(), LogError> {
        self.durable.check()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Err(source) = self.last.file.write_at(self.last.flushed, &self.buffer) {
            let error = self.durable.poisoned(LogError::io(self.shown(), "write", source));
            // Opening would cut it as well; this only leaves less to explain.
            drop(self.last.file.set_length(self.last.flushed));
            return Err(error);
        }
        self.buffer.clear();
        self.last.flushed = self.last.end;
        self.durable.flushed().seq = self.last_seq;
        Ok(())
    }

    /// Flushes, and returns once everything appended would outlive a power loss.
    ///
    /// # Errors
    /// As [`Log::flush`] and [`SyncHandle::sync`].
    pub fn sync(&mut self) -> Result<(), LogError> {
        self.flush()?;
        self.durable.sync().map(drop)
    }

    /// Syncs and gives reserved room back, so that the next open has nothing to search and a small
    /// store takes little room.
    ///
    /// # Errors
    /// As [`Log::sync`]; what was appended is safe if only giving back failed.
    pub fn close(mut self) -> Result<(), LogError> {
        self.trim()
    }

    /// Like [`Log::close`], where the log cannot be given away.
    ///
    /// # Errors
    /// As [`Log::close`].
    pub fn trim(&mut self) -> Result<(), LogError> {
        self.sync()?;
        self.last.trim(&self.shown())?;
        self.last.reserved = self.last.end;
        Ok(())
    }

    /// Something that syncs what was flushed, from any thread and without the log.
    pub fn sync_handle(&self) -> SyncHandle {
        SyncHandle { durable: Arc::clone(&self.durable) }
    }

    /// The sequence number of the last frame, buffered ones counted; 0 when there is none.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Bytes of all segments up to their last frames, buffered ones counted, reserved room not.
    pub fn size_bytes(&self) -> u64 {
        let earlier = self.earlier.iter().map(|(_, bytes)| *bytes);
        earlier.fold(self.last.end, u64::saturating_add)
    }

    // Ends the last segment before frame `seq` and begins the next with it.
    fn roll_over(&mut self, seq: u64) -> Result<(), LogError> {
        self.sync()?;
        let header = SegmentHeader { store: self.store, first: seq, previous: self.last.first };
        let next = Last::create(self.medium.as_ref(), &header, self.segment_bytes);
        let next = next.map_err(|error| self.kept_or_poisoned(error))?;
        // Room that stays reserved behind the old segment is read as zeros and harms nothing.
        drop(self.last.trim(&self.shown()));
        self.earlier.push((self.last.first, self.last.end));
        self.last = next;
        let path = self.shown();
        let mut flushed = self.durable.flushed();
        *flushed = Flushed { file: Arc::clone(&self.last.file), path, seq: flushed.seq };
        Ok(())
    }

    // A full disk that refused before anything was written harms nothing.
    fn kept_or_poisoned(&self, error: LogError) -> LogError {
        if matches!(error, LogError::NoSpace { .. }) { error } else { self.durable.poisoned(error) }
    }

    fn seal(&self) -> Seal {
        Seal { store: self.store, first: self.last.first }
    }

    fn shown(&self) -> PathBuf {
        self.medium.shown(&segment::name(self.last.first))
    }
}

impl Last {
    // A segment that holds its header, under its own name and synced.
    fn create(
        medium: &dyn Medium,
        header: &SegmentHeader,
        segment_bytes: u64,
    ) -> Result<Last, LogError> {
        let unready = segment::unready_name(header.first);
        let made = Last::unnamed(medium, header, segment_bytes, &unready);
        let ready = made.and_then(|last| {
            // Never `NoSpace`, which would let appending go on in the segment before: a segment
            // that may have got its name already is the last one from then on.
            let path = medium.shown(&unready);
            let fault = |source| LogError::Io { path: path.clone(), action: "name", source };
            medium.rename(&unready, &segment::name(header.first)).map_err(fault)?;
            medium.sync_names().map_err(fault)?;
            Ok(last)
        });
        if ready.is_err() {
            // Opening takes it away as well.
            drop(medium.remove(&unready));
        }
        ready
    }

    fn unnamed(
        medium: &dyn Medium,
        header: &SegmentHeader,
        segment_bytes: u64,
        unready: &str,
    ) -> Result<Last, LogError> {
        let path = medium.shown(unready);
        let fault = |action| {
            let path = path.clone();
            move |source| LogError::io(path, action, source)
        };
        let file = medium.create(unready).map_err(fault("make"))?;
        let bytes = header.written();
        let end = u64::try_from(bytes.len()).unwrap_or_default();
        let mut last = Last {
            file,
            first: header.first,
            end,
            flushed: end,
            reserved: 0,
            step: if header.previous == 0 { RESERVE_BYTES_MIN } else { RESERVE_BYTES_MAX },
            reserving: true,
            marks: Vec::new(),
        };
        last.reserve(&path, end, segment_bytes)?;
        last.file.write_at(0, &bytes).map_err(fault("write"))?;
        last.file.sync().map_err(fault("sync"))?;
        Ok(last)
    }

    // Makes sure that there is room up to `until`.
    fn reserve(&mut self, path: &Path, until: u64, segment_bytes: u64) -> Result<(), LogError> {
        if !self.reserving || until <= self.reserved {
            return Ok(());
        }
        let ahead = self.reserved.saturating_add(self.step).min(segment_bytes).max(until);
        // On a disk that is nearly full, what is needed may still fit.
        let got = match self.file.reserve(ahead) {
            Ok(got) => Ok((got, ahead)),
            Err(_) => self.file.reserve(until).map(|got| (got, until)),
        };
        let (got, reserved) =
            got.map_err(|source| LogError::io(path.to_owned(), "reserve room in", source))?;
        self.reserving = got;
        self.reserved = reserved;
        self.step = self.step.saturating_mul(2).min(RESERVE_BYTES_MAX);
        Ok(())
    }

    fn trim(&self, path: &Path) -> Result<(), LogError> {
        let fault = |source| LogError::io(path.to_owned(), "trim", source);
        self.file.set_length(self.end).map_err(fault)?;
        self.file.sync().map_err(fault)
    }

    fn mark(&mut self, seq: u64, at: u64) {
        let before = self.marks.last().map_or(0, |(_, at)| *at);
        if at.saturating_sub(before) >= MARK_BYTES {
            self.marks.push((seq, at));
        }
    }
}

#[cfg(test)]
mod tests;
