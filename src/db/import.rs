//! Import (R15, R16): journal lines through the gate. Lines are read and parsed in batches on all
//! cores, judged one transaction after the other, and synced every so often; the report counts
//! only what is synced.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::Value as Json;
use uuid::Uuid;

use crate::admission::commit::{Outcome, Request, When};
use crate::admission::rights::Rights;
use crate::db::error::DbError;
use crate::db::session::made_id;
use crate::db::store::Store;
use crate::exchange::lines::{LineFault, Lines, RawLine};
use crate::exchange::read::{self, Grouping, Line, Reading};
use crate::model::form::Object;
use crate::model::limits::{IMPORT_SYNC_LINES, IMPORT_SYNC_MILLIS, LINE_BYTES_MAX};
use crate::model::refusal::{Reason, Refusal, Verdict};
use crate::store::rows::Lookup;
use crate::time::{Recorded, Zone};

/// How a journal is imported.
#[derive(Default)]
pub struct ImportOptions<'a> {
    /// Honour `recorded_at` (history loading, restoring an export).
    pub replay: bool,
    /// Stop at the first refused transaction.
    pub strict: bool,
    /// Judge each transaction on its own; write nothing. Transactions do not see each other.
    pub dry_run: bool,
    /// The zone of local times on lines without `tz`.
    pub zone: Option<Zone>,
    /// Where refused lines go; made when the first is refused.
    pub rejects: Option<PathBuf>,
    /// Told the number of lines read so far.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
}

/// A refused line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLine {
    /// Its number, counted from 1.
    pub line: u64,
    /// Why.
    pub refusal: Refusal,
}

/// What an import came to. Counts are of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Lines that are not blank.
    pub lines: u64,
    /// Taken in.
    pub admitted: u64,
    /// Known already.
    pub unchanged: u64,
    /// Taken in, waiting to be confirmed.
    pub held: u64,
    /// The offending line of each refused transaction, and why.
    pub refused: Vec<RefusedLine>,
    /// All lines of refused transactions.
    pub refused_lines: u64,
    /// Sequence number of the first transaction written.
    pub first_seq: Option<u64>,
    /// Sequence number of the last.
    pub last_seq: Option<u64>,
    /// Where refused lines went, if any were.
    pub rejects: Option<PathBuf>,
}

/// Refused lines listed in the report; more are only in the rejects file.
const REFUSED_SHOWN: usize = 1_000;

impl ImportReport {
    /// The JSON form.
    pub fn json(&self) -> Json {
        let refused = |line: &RefusedLine| {
            Object::default()
                .with("line", line.line)
                .with("reason", line.refusal.reason.code())
                .with("message", line.refusal.message.as_str())
                .some("field", line.refusal.field.clone())
                .json()
        };
        Object::default()
            .with("lines", self.lines)
            .with("admitted", self.admitted)
            .with("unchanged", self.unchanged)
            .with("held", self.held)
            .with("refused", self.refused.iter().map(refused).collect::<Vec<_>>())
            .with("refused_lines", self.refused_lines)
            .with("first_seq", self.first_seq)
            .with("last_seq", self.last_seq)
            .some("rejects", self.rejects.as_ref().map(|path| path.display().to_string()))
            .json()
    }
}

struct Parsed {
    raw: RawLine,
    line: Result<Line, Refusal>,
    group: Grouping,
}

/// Lines parsed at once.
const BATCH: usize = 2_048;

struct Import<'a, 'p> {
    store: &'a Store,
    rights: &'a Rights,
    options: ImportOptions<'p>,
    report: ImportReport,
    rejects: Option<BufWriter<File>>,
    unsynced: u64,
    synced_at: Instant,
    stop: bool,
}

impl Store {
    /// Imports a journal as the store's owner. Each line is a transaction of its own, unless lines
    /// share a transaction id or label, or in replay their recorded instant.
    ///
    /// # Errors
    /// When the text cannot be read, the rejects file cannot be written or the disk fails; what was
    /// synced before stays.
    pub fn import(
        &self,
        from: impl BufRead,
        options: ImportOptions<'_>,
    ) -> Result<ImportReport, DbError> {
        self.import_as(&Rights::owner(), from, options)
    }

    /// Imports a short journal text, plainly.
    ///
    /// # Errors
    /// As [`Store::import`].
    pub fn import_text(&self, text: &str) -> Result<ImportReport, DbError> {
        self.import(text.as_bytes(), ImportOptions::default())
    }

    pub(super) fn import_as(
        &self,
        rights: &Rights,
        from: impl BufRead,
        options: ImportOptions<'_>,
    ) -> Result<ImportReport, DbError> {
        let import = Import {
            store: self,
            rights,
            options,
            report: ImportReport::default(),
            rejects: None,
            unsynced: 0,
            synced_at: Instant::now(),
            stop: false,
        };
        import.run(from)
    }
}

impl Import<'_, '_> {
    fn run(mut self, from: impl BufRead) -> Result<ImportReport, DbError> {
        let mut lines = Lines::new(from);
        let mut waiting: VecDeque<Parsed> = VecDeque::new();
        let mut group: Vec<Parsed> = Vec::new();
        let zone = match self.options.zone {
            Some(zone) => Some(zone),
            None => self.store.zone()?,
        };
        while !self.stop {
            let Some(next) = waiting.pop_front() else {
                let batch = match batch(&mut lines) {
                    Ok(batch) => batch,
                    Err(error) => {
                        // What was judged so far is in; the last group may lack lines, so it is not.
                        self.sync()?;
                        return Err(error);
                    }
                };
                if batch.is_empty() {
                    break;
                }
                let replay = self.options.replay;
                let parse = |raw: RawLine| parsed(raw, zone.as_ref(), replay);
                waiting = batch.into_par_iter().map(parse).collect::<Vec<_>>().into();
                self.progress();
                continue;
            };
            self.report.lines += 1;
            if !group.last().is_none_or(|last| together(last, &next, self.options.replay)) {
                let full = std::mem::take(&mut group);
                self.transaction(&full)?;
            }
            group.push(next);
        }
        if !self.stop && !group.is_empty() {
            self.transaction(&group)?;
        }
        self.sync()?;
        self.progress();
        if let Some(mut rejects) = self.rejects.take() {
            rejects.flush().map_err(|source| self.rejects_error(source))?;
        }
        Ok(self.report)
    }

    fn progress(&mut self) {
        let lines = self.report.lines;
        if let Some(progress) = &mut self.options.progress {
            progress(lines);
        }
    }

    fn transaction(&mut self, group: &[Parsed]) -> Result<(), DbError> {
        let known = group.first().and_then(|parsed| parsed.group.tx_id);
        if let Some(id) = known
            && self.store.inner.state.transaction(id)?.is_some()
        {
            self.report.unchanged += group.len() as u64;
            return Ok(());
        }
        let whole = group.iter().take_while(|parsed| parsed.line.is_ok()).count();
        let outcome = self.judge(group, whole)?;
        if let Some((at, refusal)) = outcome.refused() {
            return self.refuse(group, at, refusal.clone());
        }
        if let Some(Err(refusal)) = group.get(whole).map(|parsed| &parsed.line) {
            let refusal = refusal.clone();
            return self.refuse(group, whole, refusal);
        }
        for admission in &outcome.admissions {
            match admission.verdict {
                Verdict::Admitted => self.report.admitted += 1,
                Verdict::Unchanged => self.report.unchanged += 1,
                Verdict::Held => self.report.held += 1,
                Verdict::Refused(_) => {}
            }
        }
        if let Some(stamp) = outcome.stamp {
            self.report.first_seq.get_or_insert(stamp.seq);
            self.report.last_seq = Some(stamp.seq);
        }
        self.unsynced += group.len() as u64;
        let due = self.synced_at.elapsed() >= Duration::from_millis(IMPORT_SYNC_MILLIS);
        if self.unsynced >= IMPORT_SYNC_LINES || due { self.sync() } else { Ok(()) }
    }

    /// Puts the first lines of a group through the gate; if they are not all of it, the group is
    /// refused anyway, and this only finds whether a line before the broken one is the first fault.
    fn judge(&self, group: &[Parsed], whole: usize) -> Result<Outcome, DbError> {
        let read: Vec<&Line> =
            group.iter().take(whole).filter_map(|parsed| parsed.line.as_ref().ok()).collect();
        let operations: Vec<_> = read.iter().map(|line| line.operation.clone()).collect();
        let grouping = group.first().map(|parsed| parsed.group.clone()).unwrap_or_default();
        let given = group.iter().find_map(|parsed| parsed.group.tx_id);
        let clock = self.store.inner.clock.now();
        let request = Request {
            tx_id: given.unwrap_or_else(Uuid::now_v7),
            given: given.is_some(),
            when: when(self.options.replay, grouping.recorded_at, clock),
            operations: &operations,
            dry_run: self.options.dry_run || whole < group.len(),
            receipts: false,
        };
        Ok(self.store.writer().transact(&self.store.inner.state, self.rights, &request)?)
    }

    fn sync(&mut self) -> Result<(), DbError> {
        if !self.options.dry_run {
            let mut writer = self.store.writer();
            self.store.settle(&mut writer)?;
        }
        self.unsynced = 0;
        self.synced_at = Instant::now();
        Ok(())
    }

    fn refuse(&mut self, group: &[Parsed], at: usize, refusal: Refusal) -> Result<(), DbError> {
        self.report.refused_lines += group.len() as u64;
        self.stop = self.options.strict;
        for (place, parsed) in group.iter().enumerate() {
            let offending = (place == at).then_some(&refusal);
            self.reject(&parsed.raw, offending)?;
        }
        if let Some(parsed) = group.get(at)
            && self.report.refused.len() < REFUSED_SHOWN
        {
            self.report.refused.push(RefusedLine { line: parsed.raw.number, refusal });
        }
        Ok(())
    }

    fn rejects_error(&self, source: std::io::Error) -> DbError {
        let path = self
            .options
            .rejects
            .as_ref()
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        DbError::File { what: "write", path, source }
    }

    fn reject(&mut self, raw: &RawLine, refusal: Option<&Refusal>) -> Result<(), DbError> {
        let Some(path) = self.options.rejects.clone() else { return Ok(()) };
        if self.rejects.is_none() {
            let file = File::create(&path).map_err(|source| self.rejects_error(source))?;
            self.rejects = Some(BufWriter::new(file));
            self.report.rejects = Some(path);
        }
        let text = match &raw.text {
            Ok(text) | Err(LineFault::NotUtf8(_, text) | LineFault::TooLong(text)) => text,
        };
        let line = Object::default()
            .with("line", raw.number)
            .some("reason", refusal.map(|refusal| refusal.reason.code()))
            .some("message", refusal.map(|refusal| refusal.message.clone()))
            .with("text", text.as_str())
            .json();
        let written = match &mut self.rejects {
            Some(rejects) => writeln!(rejects, "{line}"),
            None => Ok(()),
        };
        written.map_err(|source| self.rejects_error(source))
    }
}

fn when(replay: bool, recorded: Option<Recorded>, clock: Recorded) -> When {
    match recorded {
        Some(recorded) if replay => When::Replayed { recorded, clock },
        Some(_) | None => When::Now(clock),
    }
}

fn batch(lines: &mut Lines<impl BufRead>) -> Result<Vec<RawLine>, DbError> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut bytes = 0;
    while batch.len() < BATCH && bytes < LINE_BYTES_MAX {
        let next = lines.next_line().map_err(|source| DbError::File {
            what: "read",
            path: "the journal".to_owned(),
            source,
        })?;
        let Some(line) = next else { break };
        bytes += line.text.as_ref().map_or(0, String::len);
        batch.push(line);
    }
    Ok(batch)
}

fn parsed(raw: RawLine, zone: Option<&Zone>, replay: bool) -> Parsed {
    let line = match &raw.text {
        Ok(text) => read::line(text, &Reading { zone, replay, make_id: &made_id }),
        Err(LineFault::TooLong(_)) => Err(Refusal::new(
            Reason::LimitExceeded,
            format!(
                "the line is longer than {LINE_BYTES_MAX} bytes; split it, or keep the text elsewhere and give its `uri`"
            ),
        )),
        Err(LineFault::NotUtf8(place, _)) => Err(Refusal::new(
            Reason::BadLine,
            format!("the line is not UTF-8 from byte {place} on; convert the file"),
        )),
    };
    let group = match (&line, &raw.text) {
        (Ok(line), _) => line.grouping(),
        (Err(_), Ok(text)) => read::grouping(text),
        (Err(_), Err(_)) => Grouping::default(),
    };
    Parsed { raw, line, group }
}

/// Whether a line belongs to the transaction of the one before it.
fn together(last: &Parsed, next: &Parsed, replay: bool) -> bool {
    let (last, next) = (&last.group, &next.group);
    if let (Some(a), Some(b)) = (last.tx_id, next.tx_id) {
        return a == b;
    }
    let labelled = last.tx.is_some() && last.tx == next.tx;
    let same_instant = replay && last.recorded_at.is_some() && last.recorded_at == next.recorded_at;
    labelled || (same_instant && last.tx_id.is_none() && next.tx_id.is_none())
}
