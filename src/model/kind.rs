//! Kinds and authority (R20): who says it, and whose word counts more.

use serde::{Deserialize, Serialize};

use crate::model::refusal::{Reason, Refusal};

/// How a fact or source came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A person said so.
    Stated,
    /// A tool or sensor read it.
    Observed,
    /// Somebody else's word, read somewhere.
    Reported,
    /// Concluded, guessed, summarised.
    Inferred,
}

impl Kind {
    /// All kinds, strongest first by default.
    pub const ALL: [Self; 4] = [Self::Stated, Self::Observed, Self::Reported, Self::Inferred];

    /// The word used in journals and answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Observed => "observed",
            Self::Reported => "reported",
            Self::Inferred => "inferred",
        }
    }

    /// The kind a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A set of kinds, as one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindSet(u8);

impl KindSet {
    /// Every kind.
    pub const ALL: Self = Self(0b1111);

    /// The kinds for which `keep` holds.
    pub fn of(keep: impl Fn(Kind) -> bool) -> Self {
        Self(Kind::ALL.into_iter().filter(|k| keep(*k)).map(|k| 1 << (k as u8)).sum())
    }

    /// Whether the set holds a kind.
    pub fn has(self, kind: Kind) -> bool {
        self.0 & (1 << (kind as u8)) != 0
    }
}

/// The order of kinds of one predicate: a rank for each kind, 0 the strongest; equal ranks tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority([u8; 4]);

impl Default for Authority {
    /// `[["stated","observed"],"reported","inferred"]` (R13).
    fn default() -> Self {
        Self([0, 0, 1, 2])
    }
}

impl Authority {
    /// An order from tiers, strongest first. Kinds not named rank below all named ones, as a tie.
    ///
    /// # Errors
    /// `bad_value` when a kind stands twice or no kind is named.
    pub fn new(tiers: &[Vec<Kind>]) -> Result<Self, Refusal> {
        let mut ranks = [u8::MAX; 4];
        for (rank, tier) in tiers.iter().enumerate() {
            for kind in tier {
                let place = ranks.get_mut(*kind as usize);
                if let Some(place) = place {
                    if *place != u8::MAX {
                        return Err(Refusal::new(
                            Reason::BadValue,
                            format!(
                                "`authority` names {:?} twice; each kind stands once",
                                kind.word()
                            ),
                        )
                        .at("authority"));
                    }
                    *place = u8::try_from(rank).unwrap_or(u8::MAX - 1);
                }
            }
        }
        if ranks.iter().all(|r| *r == u8::MAX) {
            return Err(Refusal::new(
                Reason::BadValue,
                "`authority` names no kind; list stated, observed, reported, inferred, strongest first",
            )
            .at("authority"));
        }
        Ok(Self(ranks))
    }

    /// The rank of a kind; 0 is the strongest.
    pub fn rank(self, kind: Kind) -> u8 {
        let Self([stated, observed, reported, inferred]) = self;
        match kind {
            Kind::Stated => stated,
            Kind::Observed => observed,
            Kind::Reported => reported,
            Kind::Inferred => inferred,
        }
    }

    /// Whether `a` is strictly weaker than `b`.
    pub fn weaker(self, a: Kind, b: Kind) -> bool {
        self.rank(a) > self.rank(b)
    }

    /// The weaker of the two; the first when they tie.
    pub fn weakest(self, a: Kind, b: Kind) -> Kind {
        if self.weaker(b, a) { b } else { a }
    }

    /// The tiers, strongest first.
    pub fn tiers(self) -> Vec<Vec<Kind>> {
        let mut ranks: Vec<u8> = Kind::ALL.into_iter().map(|k| self.rank(k)).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
            .into_iter()
            .filter(|r| *r != u8::MAX)
            .map(|r| Kind::ALL.into_iter().filter(|k| self.rank(*k) == r).collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_and_observed_tie_by_default_and_the_rest_follow() {
        let order = Authority::default();
        assert!(
            !order.weaker(Kind::Stated, Kind::Observed)
                && !order.weaker(Kind::Observed, Kind::Stated)
        );
        assert!(
            order.weaker(Kind::Reported, Kind::Observed)
                && order.weaker(Kind::Inferred, Kind::Reported)
        );
    }

    #[test]
    fn a_declared_order_prints_back() {
        let tiers =
            vec![vec![Kind::Observed], vec![Kind::Stated, Kind::Reported], vec![Kind::Inferred]];
        assert_eq!(Authority::new(&tiers).unwrap().tiers(), tiers);
        assert!(Authority::new(&[vec![Kind::Stated], vec![Kind::Stated]]).is_err());
    }
}
