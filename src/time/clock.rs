//! Clocks: the one place of the floor where the time of day comes in.
//!
//! Only the `db` floor asks a clock; everything else is told the instant, so that an answer is a
//! pure function of its arguments. [`SystemClock`] alone reads the machine's clock.
//!
//! Invariant: what [`RecordedClock::assign`] gives strictly increases, whatever the clock under it
//! does (R5). No lock is held: the instants stand in atomics.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::time::error::TimeError;
use crate::time::instant::Recorded;

/// Something that tells the present instant. It may step back.
///
/// ```
/// use asof::time::{Clock, FixedClock, Recorded};
/// let clock: Box<dyn Clock> = Box::new(FixedClock::new(Recorded::from_micros(5)?));
/// assert_eq!(clock.now().micros(), 5);
/// # Ok::<(), asof::time::TimeError>(())
/// ```
pub trait Clock: Send + Sync {
    /// The present instant, to the microsecond.
    fn now(&self) -> Recorded;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Recorded {
        (**self).now()
    }
}

impl<C: Clock + ?Sized> Clock for Box<C> {
    fn now(&self) -> Recorded {
        (**self).now()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Recorded {
        (**self).now()
    }
}

/// The clock of the machine, in UTC; set to an instant that cannot be printed, it stands at the
/// nearest that can.
///
/// ```
/// use asof::time::{Clock, Recorded, SystemClock};
/// assert!(SystemClock.now() > Recorded::parse_rfc3339("2020-01-01T00:00:00Z")?);
/// # Ok::<(), asof::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Recorded {
        clamped(chrono::Utc::now().timestamp_micros())
    }
}

/// A clock that stands where it was set: for tests and for `--clock T`.
///
/// ```
/// use asof::time::{Clock, FixedClock, Recorded};
/// let clock = FixedClock::new(Recorded::from_micros(5)?);
/// clock.set(Recorded::from_micros(3)?);
/// assert_eq!(clock.now(), Recorded::from_micros(3)?);
/// # Ok::<(), asof::time::TimeError>(())
/// ```
pub struct FixedClock {
    micros: AtomicI64,
}

impl FixedClock {
    /// Makes a clock that stands at `at`.
    ///
    /// ```
    /// use asof::time::{Clock, FixedClock, Recorded};
    /// assert_eq!(FixedClock::new(Recorded::MIN).now(), Recorded::MIN);
    /// ```
    pub const fn new(at: Recorded) -> Self {
        Self { micros: AtomicI64::new(at.micros()) }
    }

    /// Sets it, forwards or back. Constant time; may be called from any thread.
    ///
    /// ```
    /// use asof::time::{Clock, FixedClock, Recorded};
    /// let clock = FixedClock::new(Recorded::MIN);
    /// clock.set(Recorded::MAX);
    /// assert_eq!(clock.now(), Recorded::MAX);
    /// ```
    pub fn set(&self, at: Recorded) {
        self.micros.store(at.micros(), Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Recorded {
        clamped(self.micros.load(Ordering::SeqCst))
    }
}

impl fmt::Debug for FixedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FixedClock").field(&self.now()).finish()
    }
}

/// The clock of a store: another clock, held to never fall behind what has been recorded.
///
/// Source: R5, R7.
///
/// ```
/// use asof::time::{Clock, FixedClock, Recorded, RecordedClock};
/// let at = |micros| Recorded::from_micros(micros);
/// let clock = RecordedClock::new(FixedClock::new(at(100)?), at(500)?);
/// assert_eq!(clock.now(), at(500)?);
/// assert_eq!(clock.assign()?, at(501)?);
/// assert_eq!(clock.now(), at(501)?);
/// # Ok::<(), asof::time::TimeError>(())
/// ```
pub struct RecordedClock<C> {
    clock: C,
    last: AtomicI64,
}

impl<C: Clock> RecordedClock<C> {
    /// Makes the clock of a store whose last recorded instant is `last`; [`Recorded::MIN`] for an
    /// empty store.
    ///
    /// ```
    /// use asof::time::{Clock, Recorded, RecordedClock, SystemClock};
    /// let clock = RecordedClock::new(SystemClock, Recorded::MIN);
    /// assert!(clock.now() > Recorded::MIN);
    /// ```
    pub const fn new(clock: C, last: Recorded) -> Self {
        Self { clock, last: AtomicI64::new(last.micros()) }
    }

    /// Gives the next recorded instant, `max(clock, last + 1 µs)`, and remembers it as the last.
    /// Constant time; from several threads, each call gives an instant of its own.
    ///
    /// An instant that was assigned and then not recorded leaves a gap, which harms nothing.
    ///
    /// Source: R5.
    ///
    /// ```
    /// use asof::time::{FixedClock, Recorded, RecordedClock};
    /// let clock = RecordedClock::new(FixedClock::new(Recorded::from_micros(9)?), Recorded::MIN);
    /// assert_eq!((clock.assign()?.micros(), clock.assign()?.micros()), (9, 10));
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TimeError::OutOfRange`] when the last recorded instant is [`Recorded::MAX`].
    pub fn assign(&self) -> Result<Recorded, TimeError> {
        let clock = self.clock.now();
        let mut last = self.last();
        loop {
            let next = clock.max(last.next()?);
            let swapped = self.last.compare_exchange_weak(
                last.micros(),
                next.micros(),
                Ordering::SeqCst,
                Ordering::SeqCst,
            );
            match swapped {
                Ok(_) => return Ok(next),
                Err(moved) => last = clamped(moved),
            }
        }
    }

    /// Takes note of an instant recorded without being assigned here, as replay does; an earlier
    /// one than the last changes nothing. Constant time.
    ///
    /// Source: R5, R15.
    ///
    /// ```
    /// use asof::time::{FixedClock, Recorded, RecordedClock};
    /// let clock = RecordedClock::new(FixedClock::new(Recorded::MIN), Recorded::MIN);
    /// clock.advance_to(Recorded::from_micros(7)?);
    /// clock.advance_to(Recorded::from_micros(3)?);
    /// assert_eq!(clock.last(), Recorded::from_micros(7)?);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn advance_to(&self, recorded: Recorded) {
        self.last.fetch_max(recorded.micros(), Ordering::SeqCst);
    }

    /// The last recorded instant; [`Recorded::MIN`] while there is none. Constant time.
    ///
    /// ```
    /// use asof::time::{Recorded, RecordedClock, SystemClock};
    /// let clock = RecordedClock::new(SystemClock, Recorded::MIN);
    /// let recorded = clock.assign()?;
    /// assert_eq!(clock.last(), recorded);
    /// # Ok::<(), asof::time::TimeError>(())
    /// ```
    pub fn last(&self) -> Recorded {
        clamped(self.last.load(Ordering::SeqCst))
    }

    /// The clock under it, which may lie behind the last recorded instant.
    ///
    /// Source: R15 (`in_future` is judged by it).
    ///
    /// ```
    /// use asof::time::{Clock, FixedClock, Recorded, RecordedClock};
    /// let clock = RecordedClock::new(FixedClock::new(Recorded::MIN), Recorded::MAX);
    /// assert_eq!(clock.wall().now(), Recorded::MIN);
    /// ```
    pub const fn wall(&self) -> &C {
        &self.clock
    }
}

impl<C: Clock> Clock for RecordedClock<C> {
    /// `max(clock, last recorded instant)`, so that a writer sees its own write (R7).
    fn now(&self) -> Recorded {
        // The clock first: what is recorded while it is being read is then seen as well.
        let clock = self.clock.now();
        clock.max(self.last())
    }
}

impl<C: Clock> fmt::Debug for RecordedClock<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedClock").field("last", &self.last()).finish_non_exhaustive()
    }
}

/// The recorded instant nearest to a number of microseconds.
fn clamped(micros: i64) -> Recorded {
    let nearest = micros.clamp(Recorded::MIN.micros(), Recorded::MAX.micros());
    Recorded::from_micros(nearest).unwrap_or(Recorded::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn at(micros: i64) -> Recorded {
        Recorded::from_micros(micros).unwrap()
    }

    #[test]
    fn recorded_instants_follow_the_clock_while_it_runs_ahead() {
        let wall = FixedClock::new(at(100));
        let clock = RecordedClock::new(&wall, Recorded::MIN);
        assert_eq!(clock.assign().unwrap(), at(100));
        wall.set(at(250));
        assert_eq!(clock.assign().unwrap(), at(250));
    }

    #[test]
    fn recorded_instants_increase_by_a_microsecond_while_the_clock_stands_or_steps_back() {
        let wall = FixedClock::new(at(100));
        let clock = RecordedClock::new(&wall, Recorded::MIN);
        assert_eq!([clock.assign().unwrap(), clock.assign().unwrap()], [at(100), at(101)]);
        wall.set(at(5));
        assert_eq!([clock.assign().unwrap(), clock.assign().unwrap()], [at(102), at(103)]);
    }

    #[test]
    fn a_store_opened_with_a_clock_behind_its_last_record_goes_on_after_it() {
        let clock = RecordedClock::new(FixedClock::new(at(100)), at(5_000));
        assert_eq!(clock.now(), at(5_000));
        assert_eq!(clock.assign().unwrap(), at(5_001));
    }

    #[test]
    fn now_is_never_before_what_was_just_written_and_assigns_nothing() {
        let wall = FixedClock::new(at(100));
        let clock = RecordedClock::new(&wall, Recorded::MIN);
        let written = clock.assign().unwrap();
        wall.set(at(1));
        assert_eq!((clock.now(), clock.now(), clock.last()), (written, written, written));
        wall.set(at(900));
        assert_eq!((clock.now(), clock.last()), (at(900), written));
    }

    #[test]
    fn what_replay_records_moves_the_last_instant_and_never_back() {
        let clock = RecordedClock::new(FixedClock::new(at(100)), at(40));
        clock.advance_to(at(300));
        clock.advance_to(at(200));
        assert_eq!(clock.last(), at(300));
        assert_eq!(clock.assign().unwrap(), at(301));
    }

    #[test]
    fn after_the_last_instant_there_is_nothing_is_assigned() {
        let clock = RecordedClock::new(SystemClock, Recorded::MAX);
        assert_eq!(clock.assign().unwrap_err().code(), "bad_time");
        assert_eq!(clock.last(), Recorded::MAX);
    }

    #[test]
    fn threads_never_share_a_recorded_instant() {
        let clock: RecordedClock<Arc<dyn Clock>> =
            RecordedClock::new(Arc::new(FixedClock::new(at(100))), Recorded::MIN);
        let assigned: Vec<Recorded> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| (0..500).map(|_| clock.assign().unwrap()).collect::<Vec<_>>())
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let distinct: BTreeSet<Recorded> = assigned.iter().copied().collect();
        assert_eq!(distinct.len(), 2_000);
        assert_eq!(distinct.last(), Some(&at(2_099)));
    }

    #[test]
    fn a_clock_set_outside_what_can_be_printed_stands_at_the_edge() {
        assert_eq!(clamped(i64::MIN), Recorded::MIN);
        assert_eq!(clamped(i64::MAX), Recorded::MAX);
    }
}
