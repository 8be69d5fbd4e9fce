//! The two axes of time, as types without values.
//!
//! Why: what is generic over the axis (an instant, a period) is written once, and the compiler
//! keeps the two apart. No third axis can be added from outside: the trait is sealed.

use std::fmt;
use std::hash::Hash;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ValidAxis {}
    impl Sealed for super::RecordedAxis {}
}

/// One of the two axes of time. Nothing else can be one.
///
/// ```
/// use asof::time::{Axis, ValidAxis};
/// assert_eq!(ValidAxis::NAME, "valid");
/// ```
pub trait Axis: sealed::Sealed + Copy + Ord + Hash + fmt::Debug + Send + Sync + 'static {
    /// Its name in answers and messages: `valid` or `recorded`.
    const NAME: &'static str;
}

/// The axis on which facts hold in the world. Source: SQL:2011 application time.
///
/// ```
/// use asof::time::{Instant, Valid, ValidAxis};
/// let at: Instant<ValidAxis> = Valid::MIN;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValidAxis {}

/// The axis on which the store came to know things. Source: SQL:2011 system time.
///
/// ```
/// use asof::time::{Instant, Recorded, RecordedAxis};
/// let at: Instant<RecordedAxis> = Recorded::MIN;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordedAxis {}

impl Axis for ValidAxis {
    const NAME: &'static str = "valid";
}

impl Axis for RecordedAxis {
    const NAME: &'static str = "recorded";
}
