//! Keys of the derived state: one ordered space, told apart by a first byte. Names hold no control
//! characters (R9), so a zero byte ends one; numbers are eight bytes, big end first, so that byte
//! order is number order.
//!
//! | tag | after it | row |
//! |---|---|---|
//! | `M` | | id of the store |
//! | `m` | | counters and the sequence number applied |
//! | `t` | tenant | when it first came |
//! | `x` | tenant 0 scope | when it was first written to |
//! | `i` | tenant 0 id | number of the node |
//! | `n` | node | a source, an artifact, or where a fact stands |
//! | `k` | tenant 0 subject 0 predicate | number of the slot |
//! | `q` | tenant 0 predicate 0 subject | number of the slot |
//! | `s` | slot | its name |
//! | `c` | slot, chunk | facts |
//! | `d` | premise, dependent | a derived-from edge, backwards |
//! | `p` | tenant 0 predicate | declarations |
//! | `z` | tenant | suppressions |
//! | `h` | tenant 0 node | a node that came held |
//! | `u` | transaction id | its sequence number |
//! | `o` | recorded instant | its sequence number |

use uuid::Uuid;

use crate::model::name::{Id, Predicate, Subject, Tenant};
use crate::model::node::{NodeNo, SlotNo};
use crate::time::Recorded;

/// The counters' key.
pub const COUNTERS: &[u8] = b"m";

/// The key of the id of the store that the rows are of.
pub const STORE: &[u8] = b"M";

fn named(tag: u8, parts: &[&str]) -> Vec<u8> {
    let length = parts.iter().map(|part| part.len() + 1).sum::<usize>();
    let mut key = Vec::with_capacity(length + 1);
    key.push(tag);
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            key.push(0);
        }
        key.extend_from_slice(part.as_bytes());
    }
    key
}

fn numbered(tag: u8, numbers: &[u64]) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + numbers.len() * 8);
    key.push(tag);
    for number in numbers {
        key.extend_from_slice(&number.to_be_bytes());
    }
    key
}

/// A tenant.
pub fn tenant(tenant: &str) -> Vec<u8> {
    named(b't', &[tenant])
}

/// All tenants.
pub fn tenants() -> Vec<u8> {
    vec![b't']
}

/// A scope of a tenant; with an empty scope, the prefix of all.
pub fn scope(tenant: &str, scope: &str) -> Vec<u8> {
    named(b'x', &[tenant, scope])
}

/// An id.
pub fn id(tenant: &Tenant, id: &Id) -> Vec<u8> {
    named(b'i', &[tenant.as_str(), id.as_str()])
}

/// A node.
pub fn node(no: NodeNo) -> Vec<u8> {
    numbered(b'n', &[no.0])
}

/// All nodes.
pub fn nodes() -> Vec<u8> {
    vec![b'n']
}

/// A slot by name.
pub fn slot_named(tenant: &Tenant, subject: &Subject, predicate: &Predicate) -> Vec<u8> {
    named(b'k', &[tenant.as_str(), subject.as_str(), predicate.as_str()])
}

/// All slots of a subject.
pub fn slots_of_subject(tenant: &Tenant, subject: &Subject) -> Vec<u8> {
    named(b'k', &[tenant.as_str(), subject.as_str(), ""])
}

/// All slots of a tenant.
pub fn slots_of_tenant(tenant: &Tenant) -> Vec<u8> {
    named(b'k', &[tenant.as_str(), ""])
}

/// A slot by predicate first.
pub fn slot_by_predicate(tenant: &Tenant, predicate: &Predicate, subject: &str) -> Vec<u8> {
    named(b'q', &[tenant.as_str(), predicate.as_str(), subject])
}

/// A slot by number.
pub fn slot(no: SlotNo) -> Vec<u8> {
    numbered(b's', &[no.0])
}

/// All slots by number.
pub fn slots() -> Vec<u8> {
    vec![b's']
}

/// A chunk of a slot.
pub fn chunk(no: SlotNo, chunk: u32) -> Vec<u8> {
    numbered(b'c', &[no.0, u64::from(chunk)])
}

/// All chunks of a slot.
pub fn chunks(no: SlotNo) -> Vec<u8> {
    numbered(b'c', &[no.0])
}

/// A dependent of a premise.
pub fn dependent(premise: NodeNo, dependent: NodeNo) -> Vec<u8> {
    numbered(b'd', &[premise.0, dependent.0])
}

/// All dependents of a premise.
pub fn dependents(premise: NodeNo) -> Vec<u8> {
    numbered(b'd', &[premise.0])
}

/// The number a key ends with.
pub fn last_number(key: &[u8]) -> Option<u64> {
    let at = key.len().checked_sub(8)?;
    Some(u64::from_be_bytes(key.get(at..)?.try_into().ok()?))
}

/// The text after the first zero byte of a key made of names.
pub fn last_name(key: &[u8]) -> Option<&str> {
    let at = key.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(key.get(at + 1..)?).ok()
}

/// The text after the tag of a key made of one name.
pub fn only_name(key: &[u8]) -> Option<&str> {
    std::str::from_utf8(key.get(1..)?).ok()
}

/// The declarations of a predicate.
pub fn declared(tenant: &str, predicate: &str) -> Vec<u8> {
    named(b'p', &[tenant, predicate])
}

/// The suppressions of a tenant, in one row: every write asks for them.
pub fn suppressions(tenant: &Tenant) -> Vec<u8> {
    named(b'z', &[tenant.as_str()])
}

/// A node that came held.
pub fn held(tenant: &Tenant, no: NodeNo) -> Vec<u8> {
    let mut key = held_all(tenant);
    key.extend_from_slice(&no.0.to_be_bytes());
    key
}

/// All nodes of a tenant that came held.
pub fn held_all(tenant: &Tenant) -> Vec<u8> {
    named(b'h', &[tenant.as_str(), ""])
}

/// A transaction by id.
pub fn transaction(id: Uuid) -> Vec<u8> {
    let mut key = vec![b'u'];
    key.extend_from_slice(id.as_bytes());
    key
}

/// A recorded instant; order of bytes is order of time.
pub fn recorded(at: Recorded) -> Vec<u8> {
    numbered(b'o', &[at.micros().cast_unsigned() ^ (1 << 63)])
}

/// The end of all keys that start with a prefix, exclusive.
pub fn after(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    end
}
