//! Allen's thirteen relations between two periods (Allen 1983), as SQL:2011 and the temporal
//! glossary use them. Every two periods stand in exactly one.

use crate::time::instant::Instant;
use crate::time::period::Period;

/// How one period lies to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allen {
    /// Ends before the other starts.
    Before,
    /// Ends where the other starts.
    Meets,
    /// Starts before the other and ends inside it.
    Overlaps,
    /// Starts with the other and ends before it does.
    Starts,
    /// Lies inside the other, touching neither end.
    During,
    /// Starts inside the other and ends with it.
    Finishes,
    /// The same period.
    Equals,
    /// The other lies before this one.
    After,
    /// The other meets this one.
    MetBy,
    /// The other overlaps this one.
    OverlappedBy,
    /// The other starts this one.
    StartedBy,
    /// The other lies inside this one.
    Contains,
    /// The other finishes this one.
    FinishedBy,
}

impl<A> Period<A> {
    /// How this period lies to another. Constant time.
    pub fn relation(&self, other: &Self) -> Allen {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let from = self.from().cmp(&other.from());
        let until = ends(self.until(), other.until());
        let gap = |a: &Self, b: &Self| a.until().zip(b.from()).map(|(until, from)| until.cmp(&from));
        match (gap(self, other), gap(other, self)) {
            (Some(Less), _) => return Allen::Before,
            (Some(Equal), _) => return Allen::Meets,
            (_, Some(Less)) => return Allen::After,
            (_, Some(Equal)) => return Allen::MetBy,
            (Some(Greater) | None, Some(Greater) | None) => {}
        }
        match (from, until) {
            (Equal, Equal) => Allen::Equals,
            (Equal, Less) => Allen::Starts,
            (Equal, Greater) => Allen::StartedBy,
            (Less, Less) => Allen::Overlaps,
            (Less, Equal) => Allen::FinishedBy,
            (Less, Greater) => Allen::Contains,
            (Greater, Less) => Allen::During,
            (Greater, Equal) => Allen::Finishes,
            (Greater, Greater) => Allen::OverlappedBy,
        }
    }
}

/// Order of two ends, an open one last.
fn ends<A>(a: Option<Instant<A>>, b: Option<Instant<A>>) -> std::cmp::Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.cmp(&b),
        (None, None) => std::cmp::Ordering::Equal,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (Some(_), None) => std::cmp::Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::instant::Valid;
    use std::collections::HashMap;

    #[test]
    fn every_two_periods_stand_in_one_relation_and_its_converse() {
        let at = |m: i64| Valid::from_micros(m).unwrap();
        let ends = [None, Some(0), Some(1), Some(2), Some(3), Some(4)].map(|end| end.map(at));
        let mut periods = Vec::new();
        for from in ends {
            periods.extend(ends.iter().filter_map(|until| Period::new(from, *until).ok()));
        }
        let converse = HashMap::from([
            (Allen::Before, Allen::After), (Allen::Meets, Allen::MetBy), (Allen::Overlaps, Allen::OverlappedBy),
            (Allen::Starts, Allen::StartedBy), (Allen::During, Allen::Contains), (Allen::Finishes, Allen::FinishedBy),
            (Allen::Equals, Allen::Equals),
        ]);
        for a in &periods {
            for b in &periods {
                let (there, back) = (a.relation(b), b.relation(a));
                assert!(converse.get(&there) == Some(&back) || converse.get(&back) == Some(&there), "{a:?} {b:?}");
                let apart = matches!(there, Allen::Before | Allen::Meets | Allen::After | Allen::MetBy);
                assert_eq!(a.overlaps(b), !apart);
                assert_eq!(a.meets(b), there == Allen::Meets);
            }
        }
    }
}
