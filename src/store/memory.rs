//! The engine that keeps everything in memory and forgets it when dropped: for tests, for stores
//! that need no disk, and as the plain answer the other engine is compared with.
//!
//! It must not promise durability: `sync` does nothing.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::store::engine::{Engine, EngineError, Entries, Entry, Write, check_keys};

const NAME: &str = "memory";

/// Ordered keys in memory.
#[derive(Debug, Default)]
pub struct Memory {
    map: RwLock<BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl Memory {
    /// Makes an empty engine.
    pub fn new() -> Memory {
        Memory::default()
    }

    // A thread that panicked while holding the lock left a map that is still a map: nothing in
    // this file can panic between the changes of a batch except an allocation that aborts.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Vec<u8>, Vec<u8>>> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn first_in(&self, from: Bound<&[u8]>, until: Bound<&[u8]>) -> Option<Entry> {
        self.read()
            .range::<[u8], _>((from, until))
            .next()
            .map(|(key, value)| (key.clone(), value.clone()))
    }
}

impl Engine for Memory {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        Ok(self.read().get(key).cloned())
    }

    fn floor(&self, key: &[u8]) -> Result<Option<Entry>, EngineError> {
        let map = self.read();
        let mut before = map.range::<[u8], _>((Bound::Unbounded, Bound::Included(key)));
        Ok(before.next_back().map(|(key, value)| (key.clone(), value.clone())))
    }

    fn scan(&self, from: &[u8], until: Option<&[u8]>) -> Entries<'_> {
        let mut lower = Bound::Included(from.to_vec());
        let until = until.map(<[u8]>::to_vec);
        Box::new(std::iter::from_fn(move || {
            let from = lower.as_ref().map(Vec::as_slice);
            let end = match &until {
                None => Bound::Unbounded,
                Some(end) => Bound::Excluded(end.as_slice()),
            };
            // `BTreeMap::range` panics on an empty or backward range.
            if let (Bound::Included(from) | Bound::Excluded(from), Bound::Excluded(end)) =
                (from, end)
                && from >= end
            {
                return None;
            }
            let entry = self.first_in(from, end)?;
            lower = Bound::Excluded(entry.0.clone());
            Some(Ok(entry))
        }))
    }

    fn apply(&self, batch: Vec<Write>) -> Result<(), EngineError> {
        check_keys(NAME, &batch)?;
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        for write in batch {
            match write {
                Write::Put(key, value) => map.insert(key, value),
                Write::Remove(key) => map.remove(&key),
            };
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), EngineError> {
        Ok(())
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn size_bytes(&self) -> Result<u64, EngineError> {
        let bytes = self.read().iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
        Ok(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}
