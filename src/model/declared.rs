//! What has been declared of a predicate, as of a recorded instant (R13).

use serde::{Deserialize, Serialize};

use crate::model::event::Stamp;
use crate::model::kind::Authority;
use crate::model::operation::{Cardinality, Declaration, Then};
use crate::time::{Recorded, Span};

/// All declarations of one predicate, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declarations(pub Vec<(Stamp, Declaration)>);

/// The rules of one predicate at one recorded instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether anything was declared by then.
    pub declared: bool,
    /// How many values hold at once.
    pub cardinality: Cardinality,
    /// The type of its values, if declared.
    pub value_type: Option<String>,
    /// Whose word counts more.
    pub authority: Authority,
    /// What comes after an override that does not say.
    pub then: Option<Then>,
    /// How often its facts must be looked at.
    pub review_every: Option<Span>,
}

impl Declarations {
    /// The rules as of `known_at`: each declaration adds to those before it; what it does not give
    /// stays. Linear in the declarations.
    pub fn rules(&self, known_at: Recorded) -> Rules {
        let mut rules = Rules::default();
        for (_, said) in self.0.iter().take_while(|(stamp, _)| stamp.recorded <= known_at) {
            rules.declared = true;
            rules.cardinality = said.cardinality.unwrap_or(rules.cardinality);
            rules.value_type = said.value_type.clone().or(rules.value_type);
            rules.authority = said.authority.unwrap_or(rules.authority);
            rules.then = said.then.or(rules.then);
            rules.review_every = said.review_every.or(rules.review_every);
        }
        rules
    }
}
