//! Group commit: many writers wait for their frames to be synced, one of them syncs for all.
//!
//! ```text
//! writer 1 ─ append, flush ─ wait ─ leads: fdatasync ───────────► done
//! writer 2 ─── append, flush ─ wait ······ leads: fdatasync ────► done
//! writer 3 ───── append, flush ─ wait ···· follows ─────────────► done
//! ```
//!
//! While one sync runs, others gather; the next leader syncs for all of them. A failure reaches
//! every waiter, and everyone who comes later: nobody may try again (see `log/durable.rs`).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::store::log::{LogError, SyncHandle};

/// The meeting place of writers that wait for one sync.
pub struct GroupSync {
    handle: SyncHandle,
    // Whether somebody is syncing.
    busy: Mutex<bool>,
    turn: Condvar,
}

impl GroupSync {
    /// A meeting place for the writers of one log.
    pub fn new(handle: SyncHandle) -> GroupSync {
        GroupSync { handle, busy: Mutex::new(false), turn: Condvar::new() }
    }

    /// Returns once frame `seq` and all before it would outlive a power loss. The frame must have
    /// been flushed. Costs at most the sync that runs and one more.
    ///
    /// # Errors
    /// [`LogError::Io`] or [`LogError::NoSpace`] for the one whose sync failed,
    /// [`LogError::Poisoned`] for all others; [`LogError::NotFlushed`] when the frame was not
    /// handed to the operating system before.
    pub fn wait(&self, seq: u64) -> Result<(), LogError> {
        let mut busy = self.busy();
        // Each round either someone else's sync ends, or this thread's own does.
        while self.handle.synced() < seq {
            if *busy {
                busy = self.turn.wait(busy).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            *busy = true;
            drop(busy);
            let lead = Lead(self);
            let flushed = self.handle.sync()?;
            drop(lead);
            if flushed < seq {
                return Err(LogError::NotFlushed { seq, flushed });
            }
            busy = self.busy();
        }
        Ok(())
    }

    /// The last sequence number known to outlive a power loss.
    pub fn synced(&self) -> u64 {
        self.handle.synced()
    }

    fn busy(&self) -> MutexGuard<'_, bool> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Gives the lead back however the sync ends; whoever waits then finds the frame synced, or leads
// and is told of the failure.
struct Lead<'a>(&'a GroupSync);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        *self.0.busy() = false;
        self.0.turn.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use uuid::Uuid;

    use super::*;
    use crate::store::faulty::{Crash, Failing, Faulty};
    use crate::store::log::Log;

    const STORE: Uuid = Uuid::from_u128(7);

    fn log_on(medium: &Faulty) -> Log {
        Log::create_on(Arc::new(medium.clone()), STORE).unwrap().with_segment_bytes(4_096)
    }

    #[test]
    fn every_writer_returns_with_its_frame_synced_and_segments_roll_over_meanwhile() {
        let medium = Faulty::new();
        let log = log_on(&medium);
        let group = GroupSync::new(log.sync_handle());
        let log = Mutex::new(log);
        let syncs_before = medium.syncs();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let seq = {
                            let mut log = log.lock().unwrap();
                            let seq = log.last_seq() + 1;
                            log.append(seq, &seq.to_le_bytes().repeat(4)).unwrap();
                            log.flush().unwrap();
                            seq
                        };
                        group.wait(seq).unwrap();
                        assert!(group.synced() >= seq);
                    }
                });
            }
        });
        assert!(medium.syncs() - syncs_before <= 400 + 3 * 10);
        let after = medium.crash(Crash::LoseUnsynced);
        let (log, opened) = Log::open_on(Arc::new(after), STORE, 400).unwrap();
        assert_eq!((opened.last_seq, opened.cut_bytes), (400, 0));
        assert_eq!(log.verify().unwrap().frames, 400);
    }

    #[test]
    fn a_failed_sync_reaches_every_waiter_and_is_never_tried_again() {
        let medium = Faulty::new();
        let mut log = log_on(&medium);
        let group = GroupSync::new(log.sync_handle());
        for seq in 1..=8 {
            log.append(seq, b"payload").unwrap();
        }
        log.flush().unwrap();
        medium.fail(Failing::Once(medium.calls() + 1));
        let failures = std::thread::scope(|scope| {
            let wait = |seq| {
                let group = &group;
                scope.spawn(move || group.wait(seq).unwrap_err())
            };
            let waiting: Vec<_> = (1..=8).map(wait).collect();
            waiting.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let told = failures.iter().filter(|e| matches!(e, LogError::Io { .. })).count();
        let later = failures.iter().filter(|e| matches!(e, LogError::Poisoned { .. })).count();
        assert_eq!((told, later), (1, 7));
        assert_eq!(group.synced(), 0);
        assert!(matches!(group.wait(1), Err(LogError::Poisoned { .. })));
        assert!(matches!(log.append(9, b"x"), Err(LogError::Poisoned { .. })));
    }

    #[test]
    fn waiting_for_what_was_not_flushed_is_refused_instead_of_waiting_for_ever() {
        let mut log = log_on(&Faulty::new());
        let group = GroupSync::new(log.sync_handle());
        log.append(1, b"buffered").unwrap();
        assert!(matches!(group.wait(1), Err(LogError::NotFlushed { seq: 1, flushed: 0 })));
        log.flush().unwrap();
        group.wait(1).unwrap();
    }
}
