//! Reading the log back, from any sequence number on, and checking all of it.
//!
//! A reader owns what it needs: it sees what was flushed when it began, and the log may go on
//! being appended to meanwhile. It must not return a frame that does not follow the one before.

use std::collections::VecDeque;
use std::sync::Arc;

use uuid::Uuid;

use crate::store::frame::{Header, Seal};
use crate::store::log::Log;
use crate::store::log::error::LogError;
use crate::store::medium::Medium;
use crate::store::segment::{self, HEADER_BYTES, Step, Walk};

/// What [`Log::verify`] went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// Frames found whole.
    pub frames: u64,
    /// Bytes of their payloads, decompressed.
    pub payload_bytes: u64,
}

impl Log {
    /// Frames with their payloads from `seq` on, in order, as far as they were flushed when this
    /// was called. Segments before are skipped by name, frames before by their headers.
    ///
    /// # Errors
    /// None when called; the iterator gives [`LogError::Io`], [`LogError::Damaged`] or
    /// [`LogError::Gap`] where it meets them, and ends.
    pub fn read_from(&self, seq: u64) -> Result<Frames, LogError> {
        let from = seq.max(1);
        let until = self.durable.flushed().seq;
        let firsts = self.earlier.iter().map(|(first, _)| *first).chain([self.last.first]);
        let mut firsts: VecDeque<u64> = firsts.collect();
        while firsts.get(1).is_some_and(|first| *first <= from) {
            firsts.pop_front();
        }
        let mut start = None;
        if firsts.len() == 1 {
            start = self.last.marks.iter().rfind(|(seq, _)| *seq <= from).copied();
        }
        let next = start.or_else(|| firsts.front().map(|first| (*first, 0)));
        let next = next.map_or(from, |(seq, _)| seq);
        Ok(Frames {
            medium: Arc::clone(&self.medium),
            store: self.store,
            firsts,
            start: start.map(|(_, at)| at),
            walk: None,
            next,
            from,
            until,
            ended: from > until,
        })
    }

    /// Reads every flushed frame of every segment: headers, checksums, sequence numbers, payloads.
    /// Linear in the size of the log.
    ///
    /// # Errors
    /// The first fault: [`LogError::Damaged`], [`LogError::Gap`] or [`LogError::Io`].
    pub fn verify(&self) -> Result<Verified, LogError> {
        let mut verified = Verified { frames: 0, payload_bytes: 0 };
        for frame in self.read_from(1)? {
            let (_, payload) = frame?;
            verified.frames += 1;
            verified.payload_bytes += u64::try_from(payload.len()).unwrap_or_default();
        }
        Ok(verified)
    }
}

/// Frames of a log in order: sequence number and payload.
pub struct Frames {
    medium: Arc<dyn Medium>,
    store: Uuid,
    // Segments not finished yet, the one being read first.
    firsts: VecDeque<u64>,
    // Where to begin in the first of them, if not at its start.
    start: Option<u64>,
    walk: Option<Walk>,
    // The sequence number that comes next, read or skipped.
    next: u64,
    from: u64,
    until: u64,
    ended: bool,
}

impl Frames {
    // The next frame at or after `from`; the caller has seen that there is one.
    fn frame(&mut self) -> Result<(u64, Vec<u8>), LogError> {
        loop {
            let Some(&first) = self.firsts.front() else {
                return Err(self.damaged(0, "the log ends here".to_owned()));
            };
            let mut walk = match self.walk.take() {
                Some(walk) => walk,
                None => self.begin(first)?,
            };
            match walk.skip().map_err(|source| self.unread(source))? {
                Step::Frame(header, offset) if header.seq != self.next => {
                    let (path, expected) = (self.medium.shown(&segment::name(first)), self.next);
                    return Err(LogError::Gap { path, offset, expected, found: header.seq });
                }
                Step::Frame(header, at) => {
                    self.next = self.next.saturating_add(1);
                    if header.seq >= self.from {
                        let payload = self.payload(&mut walk, &header, at)?;
                        self.walk = Some(walk);
                        return Ok((header.seq, payload));
                    }
                    self.walk = Some(walk);
                }
                Step::End if self.firsts.get(1) == Some(&self.next) => {
                    self.zeros(&mut walk)?;
                    self.firsts.pop_front();
                }
                Step::End => {
                    let what = format!("frame {} is missing", self.next);
                    return Err(self.damaged(walk.at(), what));
                }
                Step::Bad(what) => return Err(self.damaged(walk.at(), what.to_owned())),
            }
        }
    }

    fn begin(&mut self, first: u64) -> Result<Walk, LogError> {
        let start = self.start.take();
        let start = start.unwrap_or(u64::try_from(HEADER_BYTES).unwrap_or_default());
        let name = segment::name(first);
        let fault = |source| LogError::io(self.medium.shown(&name), "read", source);
        let file = self.medium.open(&name).map_err(fault)?;
        let header = super::recovery::header(self.medium.as_ref(), &name, file.as_ref())?;
        if header.store != self.store || header.first != first {
            return Err(self.damaged(0, "its header was changed".to_owned()));
        }
        let seal = Seal { store: self.store, first };
        Walk::new(file, seal, start).map_err(fault)
    }

    fn payload(&self, walk: &mut Walk, header: &Header, at: u64) -> Result<Vec<u8>, LogError> {
        let payload = walk.payload(header, at).map_err(|source| self.unread(source))?;
        let what = || format!("the payload of frame {} does not match its checksum", header.seq);
        payload.ok_or_else(|| self.damaged(at, what()))
    }

    // Behind the last frame of a segment that another follows, there must be nothing.
    fn zeros(&self, walk: &mut Walk) -> Result<(), LogError> {
        let rest = walk.rest(self.next).map_err(|source| self.unread(source))?;
        if rest.bytes == 0 {
            return Ok(());
        }
        Err(self.damaged(walk.at(), "something stands behind its last frame".to_owned()))
    }

    fn damaged(&self, offset: u64, what: String) -> LogError {
        let first = self.firsts.front().copied().unwrap_or_default();
        LogError::Damaged { path: self.medium.shown(&segment::name(first)), offset, what }
    }

    fn unread(&self, source: std::io::Error) -> LogError {
        let first = self.firsts.front().copied().unwrap_or_default();
        LogError::io(self.medium.shown(&segment::name(first)), "read", source)
    }
}

impl Iterator for Frames {
    type Item = Result<(u64, Vec<u8>), LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || self.next > self.until {
            return None;
        }
        let frame = self.frame();
        self.ended = frame.is_err();
        Some(frame)
    }
}
