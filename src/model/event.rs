//! Events: operations as the gate let them through, with what it decided. A transaction of events
//! is one record of the log; everything else is derived from them (SPEC section 4, R17).

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::kind::{Kind, KindSet};
use crate::model::name::{Id, Tenant};
use crate::model::operation::Action;
use crate::time::Recorded;

/// What the gate decided about an operation; all that replaying it needs beside the operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Kept but not used until confirmed.
    pub held: bool,
    /// A claim that had been taken back, said again by a person (R23).
    pub reasserted: bool,
    /// The kind in force, after the cap of R20; of the fact, or of the one who acts.
    pub kind: Option<Kind>,
    /// Kinds of the copies that a supersession reaches (R22): those not stronger than the writer's.
    pub reach: KindSet,
    /// The ids of what this one is held against.
    pub against: Vec<Id>,
}

/// One admitted operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its tenant; `None` only for a declaration made before the first tenant came (R10a).
    pub tenant: Option<Tenant>,
    /// What was done, with every id made.
    pub action: Action,
    /// The kind given for the one who acts, as written.
    pub kind: Option<Kind>,
    /// Who wrote it.
    pub actor: Option<String>,
    /// What the gate decided.
    pub decision: Decision,
}

/// What one commit writes: all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its id, by which a second import knows it (R9a).
    pub tx_id: Uuid,
    /// Its place in the log, from 1.
    pub seq: u64,
    /// When the store came to know it.
    pub recorded: Recorded,
    /// What it holds, in line order.
    pub events: Vec<Event>,
}

/// Where and when an event stands: sequence, place in the transaction, recorded instant. Stamps
/// order everything (R41).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Sequence number of the transaction.
    pub seq: u64,
    /// Place in the transaction, from 0.
    pub place: u32,
    /// Recorded instant of the transaction.
    pub recorded: Recorded,
}
