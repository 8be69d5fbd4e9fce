//! Clocks. Only the `db` floor asks one; everything below is told the time.

use std::sync::{Mutex, PoisonError};

use crate::time::instant::Recorded;

/// Something that tells the time.
pub trait Clock: Send + Sync {
    /// The present instant. It may step back; recorded instants do not (R5).
    fn now(&self) -> Recorded;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Recorded {
        Recorded::from_micros(chrono::Utc::now().timestamp_micros()).unwrap_or(Recorded::MAX)
    }
}

/// A clock that stands where it is set, for tests and demonstrations.
#[derive(Debug)]
pub struct FixedClock(Mutex<Recorded>);

impl FixedClock {
    /// A clock that shows `at`.
    pub fn new(at: Recorded) -> Self {
        Self(Mutex::new(at))
    }

    /// Sets it, forwards or back.
    pub fn set(&self, at: Recorded) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Recorded {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
