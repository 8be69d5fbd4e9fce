//! One transaction: a draft, the gate for each operation, one record of the log, then the state.
//! This is the only place that appends to the log.

use uuid::Uuid;

use crate::admission::gate::{Admission, Gate};
use crate::admission::rights::{Right, Rights};
use crate::lineage::receipt::{Asker, Receipt, receipt};
use crate::lineage::touch::touched;
use crate::model::event::{Event, Stamp, Transaction};
use crate::model::limits::OPERATIONS_MAX;
use crate::model::operation::Operation;
use crate::model::refusal::{Reason, Refusal, Verdict};
use crate::store::apply::seal;
use crate::store::codec;
use crate::store::draft::Draft;
use crate::store::error::StoreError;
use crate::store::log::Log;
use crate::store::rows::{Lookup, Rows};
use crate::store::state::State;
use crate::time::Recorded;

/// When a transaction is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Now: this clock reading, or one microsecond after the last transaction (R5).
    Now(Recorded),
    /// As the line says (R15): later than the last transaction and not later than the clock.
    Replayed {
        /// What the line says.
        recorded: Recorded,
        /// What the clock says.
        clock: Recorded,
    },
}

/// What is to be written in one go.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its id; one that the log has already changes nothing (R9a).
    pub tx_id: Uuid,
    /// Whether the id was given by whoever asks; it is then remembered even if nothing changes.
    pub given: bool,
    /// When.
    pub when: When,
    /// What, in line order.
    pub operations: &'a [Operation],
    /// Judge only; write nothing.
    pub dry_run: bool,
    /// Work out receipts (R33); bulk loading does without.
    pub receipts: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict on each operation, in order. After a refused one there are none.
    pub admissions: Vec<Admission>,
    /// The transaction's stamp, if one was written.
    pub stamp: Option<Stamp>,
    /// The receipts of the operations that take something back or undo that, each with the place
    /// of its operation (R33). In a transaction of several operations each tells what differs
    /// between before and after the whole transaction, below what it is about.
    pub receipts: Vec<(usize, Receipt)>,
}

impl Outcome {
    /// The refused operation, if there is one: its place and why.
    pub fn refused(&self) -> Option<(usize, &Refusal)> {
        self.admissions.iter().enumerate().find_map(|(place, admission)| match &admission.verdict {
            Verdict::Refused(refusal) => Some((place, refusal)),
            Verdict::Admitted | Verdict::Unchanged | Verdict::Held => None,
        })
    }
}

/// The one writer: the log's only owner.
pub struct Writer {
    log: Log,
}

impl Writer {
    /// Takes the log.
    pub fn new(log: Log) -> Self {
        Self { log }
    }

    /// The log, to read and to sync.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Hands what was appended to the operating system, without waiting for the disk.
    ///
    /// # Errors
    /// When the file cannot be written; the log then takes nothing more.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        Ok(self.log.flush()?)
    }

    /// Waits until what was appended is on the disk.
    ///
    /// # Errors
    /// When the disk fails; the log then takes nothing more.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        Ok(self.log.sync()?)
    }

    /// The same, and gives back the room that was reserved ahead: for closing.
    ///
    /// # Errors
    /// As [`Writer::sync`].
    pub fn trim(&mut self) -> Result<(), StoreError> {
        Ok(self.log.trim()?)
    }

    /// Judges and, unless something is refused, appends a transaction and lets the state take it
    /// in. Durable only after a sync.
    ///
    /// # Errors
    /// When the store cannot be read or the log cannot be written; nothing is taken in then.
    pub fn transact(
        &mut self,
        state: &State,
        rights: &Rights,
        request: &Request<'_>,
    ) -> Result<Outcome, StoreError> {
        if request.given && state.transaction(request.tx_id)?.is_some() {
            return Ok(all(request, &Verdict::Unchanged));
        }
        let last = state.counters();
        let recorded = match instant(request.when, last.recorded) {
            Ok(recorded) => recorded,
            Err(refusal) => return Ok(first_refused(refusal)),
        };
        if request.operations.len() > OPERATIONS_MAX {
            let message =
                format!("a transaction has at most {OPERATIONS_MAX} operations; split it");
            return Ok(first_refused(Refusal::new(Reason::LimitExceeded, message)));
        }
        let mut stamp = Stamp { seq: last.seq + 1, place: 0, recorded };
        let mut draft = state.draft();
        let mut admissions = Vec::with_capacity(request.operations.len());
        let mut events = Vec::with_capacity(request.operations.len());
        let mut places = Vec::new();
        for (place, operation) in request.operations.iter().enumerate() {
            let mut admission = Gate { draft: &mut draft, rights, stamp }.admit(operation)?;
            let refused = matches!(admission.verdict, Verdict::Refused(_));
            if let Some(event) = admission.event.take() {
                events.push(event);
                places.push((place, stamp));
                stamp.place += 1;
            }
            admissions.push(admission);
            if refused {
                return Ok(Outcome { admissions, stamp: None, receipts: Vec::new() });
            }
        }
        let receipts = if request.receipts {
            let asker = Asker {
                visible: &|scope| rights.allows(Right::Read, scope),
                before: last.recorded,
                after: recorded,
                dry_run: request.dry_run,
            };
            receipts(&draft, &events, &places, &asker)?
        } else {
            Vec::new()
        };
        if (events.is_empty() && !request.given) || request.dry_run {
            return Ok(Outcome { admissions, stamp: None, receipts });
        }
        seal(&mut draft, request.tx_id, stamp);
        let transaction = Transaction { tx_id: request.tx_id, seq: stamp.seq, recorded, events };
        self.log.append(stamp.seq, &codec::to_bytes(&transaction)?)?;
        state.absorb(draft.into_rows());
        Ok(Outcome { admissions, stamp: Some(stamp), receipts })
    }
}

/// The receipts of what was applied to a draft.
fn receipts(
    draft: &Draft<'_>,
    events: &[Event],
    places: &[(usize, Stamp)],
    asker: &Asker<'_>,
) -> Result<Vec<(usize, Receipt)>, StoreError> {
    let mut receipts = Vec::new();
    for (event, (place, stamp)) in events.iter().zip(places) {
        let Some(tenant) = &event.tenant else { continue };
        if let Some(touched) = touched(draft, tenant, &event.action, *stamp)? {
            receipts.push((*place, receipt(draft, &touched, asker)?));
        }
    }
    Ok(receipts)
}

fn instant(when: When, last: Recorded) -> Result<Recorded, Refusal> {
    match when {
        When::Now(clock) if clock > last => Ok(clock),
        When::Now(_) => last.next().map_err(|error| Refusal::new(Reason::BadTime, error.to_string())),
        When::Replayed { recorded, .. } if recorded <= last => Err(Refusal::new(
            Reason::NotIncreasing,
            format!("recorded_at {recorded} is not later than the last recorded instant {last}; replay in order, each transaction once"),
        )
        .at("recorded_at")),
        When::Replayed { recorded, clock } if recorded > clock => Err(Refusal::new(
            Reason::InFuture,
            format!("recorded_at {recorded} is later than the clock, {clock}; nothing is known before it is recorded"),
        )
        .at("recorded_at")),
        When::Replayed { recorded, .. } => Ok(recorded),
    }
}

fn all(request: &Request<'_>, verdict: &Verdict) -> Outcome {
    let admission = |operation: &Operation| Admission {
        verdict: verdict.clone(),
        id: crate::admission::gate::subject_of(&operation.action).cloned(),
        event: None,
    };
    let admissions = request.operations.iter().map(admission).collect();
    Outcome { admissions, stamp: None, receipts: Vec::new() }
}

fn first_refused(refusal: Refusal) -> Outcome {
    let admission = Admission { verdict: Verdict::Refused(refusal), id: None, event: None };
    Outcome { admissions: vec![admission], stamp: None, receipts: Vec::new() }
}
