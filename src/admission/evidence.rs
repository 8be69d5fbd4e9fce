//! What a write rests on: its source and premises, the kind they allow (R20), the rules of memory
//! kinds (R20b), late writes (R19), and the writes that bring evidence: source, artifact, support.

use crate::admission::gate::{Checked, Gate, Stop, Target, refuse};
use crate::admission::rights::Right;
use crate::lineage::strength::strength;
use crate::lineage::walk::path_up;
use crate::model::event::Decision;
use crate::model::kind::{Authority, Kind};
use crate::model::limits::{IDS_MAX, JUSTIFICATIONS_MAX};
use crate::model::name::{Id, Tenant};
use crate::model::node::{NodeNo, What};
use crate::model::operation::{ArtifactText, Memory, Operation, Premises, SourceText, Statement};
use crate::model::refusal::Reason;
use crate::store::draft::Draft;
use crate::store::rows::{Lookup, NodeView};
use crate::time::{Period, Start, Valid};

/// What a write rests on, found.
pub(super) struct Evidence {
    /// Each alternative, a fact's own source last.
    pub(super) justifications: Vec<Vec<NodeNo>>,
    /// The kind of its source, if it has one.
    pub(super) source_kind: Option<Kind>,
}

impl Gate<'_, '_> {
    /// Finds and checks the source and the premises of a write by the node `of`.
    pub(super) fn evidence(
        &self,
        tenant: &Tenant,
        of: &Id,
        source: Option<&Id>,
        derived_from: &Premises,
        read_at: Option<u64>,
    ) -> Checked<Evidence> {
        let too_many = derived_from.len() > JUSTIFICATIONS_MAX
            || derived_from.iter().any(|p| p.len() > IDS_MAX);
        if too_many {
            return refuse(
                Reason::LimitExceeded,
                format!(
                    "`derived_from` has at most {JUSTIFICATIONS_MAX} alternatives of {IDS_MAX} ids"
                ),
            );
        }
        let mut justifications = Vec::new();
        for alternative in derived_from {
            if alternative.is_empty() {
                return refuse(
                    Reason::BadLine,
                    "`derived_from` holds an empty list; name what it was made from",
                );
            }
            let mut premises = Vec::with_capacity(alternative.len() + 1);
            for id in alternative {
                if id == of {
                    return refuse(
                        Reason::Cycle,
                        format!("{of} cannot be derived from itself: {of} → {of}"),
                    );
                }
                premises.push(self.premise(tenant, id, read_at)?.no);
            }
            justifications.push(premises);
        }
        let Some(source) = source else {
            return Ok(Evidence { justifications, source_kind: None });
        };
        let source = self.source_target(tenant, source)?;
        if justifications.is_empty() {
            justifications.push(Vec::new());
        }
        for premises in &mut justifications {
            if !premises.contains(&source.no) {
                premises.push(source.no);
            }
        }
        Ok(Evidence { justifications, source_kind: Some(source.kind) })
    }

    /// A premise: not changed since it was read (R19), open, not held.
    fn premise(&self, tenant: &Tenant, id: &Id, read_at: Option<u64>) -> Checked<Target> {
        let target = self.find(tenant, id)?;
        self.not_stale(&target, read_at)?;
        self.find_open(tenant, id)
    }

    fn source_target(&self, tenant: &Tenant, id: &Id) -> Checked<Target> {
        let target = self.find(tenant, id)?;
        match target.node {
            NodeView::Source(_) => self.find_open(tenant, id),
            NodeView::Fact(..) | NodeView::Artifact(_) => refuse(
                Reason::UnknownTarget,
                format!(
                    "`source` names {id}, which is a {}; facts and artifacts go into `derived_from`",
                    target.node.type_word()
                ),
            ),
        }
    }

    /// The kind in force: its own, else its source's, else inferred if derived; never stronger
    /// than its evidence, by the order of its own predicate, as of this write (R20).
    pub(super) fn effective_kind(
        &self,
        own: Option<Kind>,
        evidence: &Evidence,
        order: Authority,
    ) -> Checked<Kind> {
        let derived = (!evidence.justifications.is_empty()).then_some(Kind::Inferred);
        let Some(kind) = own.or(evidence.source_kind).or(derived) else {
            return self.no_source();
        };
        let rows: &Draft<'_> = self.draft;
        let cap = strength(rows, &evidence.justifications, order, self.stamp.recorded)?;
        Ok(cap.map_or(kind, |cap| order.weakest(kind, cap)))
    }

    pub(super) fn no_source<T>(&self) -> Checked<T> {
        refuse(
            Reason::NoSource,
            "it names no `source`, no `kind` and no `derived_from`; say where it comes from (a person: \"kind\":\"stated\")",
        )
    }

    /// R20b.
    pub(super) fn memory_rule(&self, said: &Statement, kind: Kind) -> Checked<()> {
        let Some(memory) = said.memory else { return Ok(()) };
        let evidence = said.source.is_some() || !said.derived_from.is_empty();
        let fault = match memory {
            Memory::Working if said.valid_until.is_none() => {
                "working memory ends: give `valid_until`"
            }
            Memory::Procedural if said.when.is_empty() => {
                "a way of working names what it applies to: give `when`"
            }
            Memory::Procedural if !evidence => {
                "a way of working names its evidence: give `source` or `derived_from`"
            }
            Memory::Semantic | Memory::Episodic
                if !evidence && !matches!(kind, Kind::Stated | Kind::Observed) =>
            {
                "give `source` or `derived_from`, or a kind `stated` or `observed`"
            }
            Memory::Working | Memory::Procedural | Memory::Semantic | Memory::Episodic => {
                return Ok(());
            }
        };
        refuse(Reason::MemoryRule, fault)
    }

    /// R2 for a period as written; an unknown start bounds nothing.
    pub(super) fn period(&self, from: Start, until: Option<Valid>) -> Checked<()> {
        let from = match from {
            Start::At(from) => Some(from),
            Start::Always => None,
            Start::Unknown => return Ok(()),
        };
        Period::new(from, until).map_err(|error| {
            let reason = if error.code() == "empty_period" {
                Reason::EmptyPeriod
            } else {
                Reason::InvertedPeriod
            };
            Stop::Refused(crate::model::refusal::Refusal::new(reason, error.to_string()))
        })?;
        Ok(())
    }

    /// R19: not closed, superseded or ended after it was read.
    fn not_stale(&self, premise: &Target, read_at: Option<u64>) -> Checked<()> {
        let Some(read_at) = read_at else { return Ok(()) };
        let changed = self.last_change(&premise.node);
        if changed <= read_at {
            return Ok(());
        }
        refuse(
            Reason::StalePremise,
            format!(
                "{} changed at {changed}, after it was read at {read_at}; read again and redo the work",
                premise.id
            ),
        )
    }

    /// The sequence number of the last event that closed, ended or superseded a node; 0 if none.
    fn last_change(&self, node: &NodeView) -> u64 {
        let closing = |what: &What| match what {
            What::Ended(_)
            | What::Retracted(_)
            | What::Corrected(_)
            | What::Rejected
            | What::Disabled => true,
            What::Reinstated | What::Enabled | What::Confirmed | What::Affirmed(_) => false,
        };
        let changes = node.life().into_iter().flat_map(|life| &life.changes);
        let own =
            changes.filter(|change| closing(&change.what)).map(|change| change.stamp.seq).max();
        let superseded = match node {
            NodeView::Fact(slot, place) => slot
                .facts()
                .filter(|(_, fact)| !fact.links.is_empty())
                .flat_map(|(_, fact)| {
                    let standing = fact.life.standing(self.stamp.recorded);
                    fact.links
                        .iter()
                        .filter(|link| link.reaches(*place))
                        .filter_map(move |link| link.since(&standing))
                })
                .map(|stamp| stamp.seq)
                .max(),
            NodeView::Source(source) => source.succeeded.iter().map(|s| s.stamp.seq).max(),
            NodeView::Artifact(artifact) => artifact.succeeded.iter().map(|s| s.stamp.seq).max(),
        };
        own.max(superseded).unwrap_or(0)
    }

    pub(super) fn source(&mut self, tenant: &Tenant, said: &SourceText) -> Checked<Decision> {
        self.may(Right::Write, &said.scope)?;
        if let Some(node) = self.taken(tenant, &said.id)? {
            return match node {
                NodeView::Source(old) if old.said == *said => Err(Stop::Unchanged),
                NodeView::Source(_) | NodeView::Fact(..) | NodeView::Artifact(_) => {
                    self.id_taken(&said.id, &node)
                }
            };
        }
        let order = Authority::default();
        let mut decision = Decision { kind: Some(said.kind), ..Decision::default() };
        for id in &said.supersedes {
            let old = self.successor_of(tenant, &said.id, id, &said.scope, "source")?;
            if order.weaker(said.kind, old.kind) {
                decision.held = true;
                decision.against.push(old.id);
            }
        }
        Ok(decision)
    }

    pub(super) fn artifact(
        &mut self,
        tenant: &Tenant,
        said: &ArtifactText,
        operation: &Operation,
    ) -> Checked<Decision> {
        self.may(Right::Write, &said.scope)?;
        if let Some(node) = self.taken(tenant, &said.id)? {
            return match node {
                NodeView::Artifact(old) if old.said == *said => Err(Stop::Unchanged),
                NodeView::Source(_) | NodeView::Fact(..) | NodeView::Artifact(_) => {
                    self.id_taken(&said.id, &node)
                }
            };
        }
        if said.derived_from.is_empty() {
            return refuse(
                Reason::NoSource,
                "an artifact names what it was made from: give `derived_from`",
            );
        }
        self.period(said.valid_from, said.valid_until)?;
        self.evidence(tenant, &said.id, None, &said.derived_from, operation.read_at)?;
        for id in &said.supersedes {
            self.successor_of(tenant, &said.id, id, &said.scope, "artifact")?;
        }
        Ok(Decision::default())
    }

    /// A source or artifact that is to be superseded: of the same type, open, of a scope that is
    /// one's own or an ancestor.
    fn successor_of(
        &self,
        tenant: &Tenant,
        of: &Id,
        id: &Id,
        scope: &crate::model::scope::Scope,
        wanted: &str,
    ) -> Checked<Target> {
        if id == of {
            return refuse(Reason::Cycle, format!("{of} cannot supersede itself: {of} → {of}"));
        }
        let old = self.find(tenant, id)?;
        if old.node.type_word() != wanted {
            return refuse(
                Reason::SlotMismatch,
                format!("{id} is a {}, not a {wanted}", old.node.type_word()),
            );
        }
        if !old.scope.covers(scope) {
            return refuse(
                Reason::ScopeMismatch,
                format!(
                    "{id} is of scope {}, which is neither {scope} nor an ancestor of it",
                    old.scope
                ),
            );
        }
        self.may(Right::Supersede, scope)?;
        self.find_open(tenant, id)
    }

    pub(super) fn support(
        &mut self,
        tenant: &Tenant,
        id: &Id,
        premises: &Premises,
        operation: &Operation,
    ) -> Checked<Decision> {
        let target = self.find(tenant, id)?;
        self.may(Right::Write, &target.scope)?;
        if matches!(target.node, NodeView::Source(_)) {
            return refuse(Reason::BadLine, format!("{id} is a source; a source rests on nothing"));
        }
        if premises.is_empty() {
            return refuse(
                Reason::NoSource,
                "`support` names what the target rests on: give `derived_from`",
            );
        }
        let evidence = self.evidence(tenant, id, None, premises, operation.read_at)?;
        for premise in evidence.justifications.iter().flatten() {
            let rows: &Draft<'_> = self.draft;
            if let Some(path) = path_up(rows, *premise, target.no)? {
                let mut names = vec![id.to_string()];
                for no in path {
                    names.push(self.draft.id_of(no)?.to_string());
                }
                return refuse(
                    Reason::Cycle,
                    format!("derived-from would run in a circle: {}", names.join(" → ")),
                );
            }
        }
        Ok(Decision::default())
    }

    /// The node that has an id already.
    pub(super) fn taken(&self, tenant: &Tenant, id: &Id) -> Checked<Option<NodeView>> {
        match self.draft.find_id(tenant, id)? {
            Some(no) => Ok(Some(self.draft.node(no)?)),
            None => Ok(None),
        }
    }

    pub(super) fn id_taken<T>(&self, id: &Id, node: &NodeView) -> Checked<T> {
        let readable = node.scope().is_some_and(|scope| self.rights.allows(Right::Read, scope));
        let what = if readable {
            format!("by a {} with other content", node.type_word())
        } else {
            "already".to_owned()
        };
        refuse(
            Reason::IdTaken,
            format!("the id {id} is taken {what}; choose another, or leave `id` out"),
        )
    }
}
