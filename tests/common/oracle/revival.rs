//! No return (R23) and no intake of what is suppressed (R24).

use super::Refusal;
use super::world::{Body, Fact, How, NOW, Node, What, World};

/// Whether a fact must wait because its claim was stopped; refused if the same source says it again.
pub(super) fn check(w: &World, node: &Node, kind: &str) -> Result<bool, Refusal> {
    let Body::Fact(fact) = &node.body else {
        return Ok(false);
    };
    let own = w.find(&node.tenant, &node.id);
    let same = |&i: &usize| {
        w.nodes[i].scope == node.scope
            && w.fact(i).is_some_and(|f| f.value == fact.value && f.when == fact.when)
            && Some(i) != own
    };
    let copies: Vec<usize> =
        w.slot(&node.tenant, &fact.subject, &fact.predicate).into_iter().filter(same).collect();
    let from_same_source = |i: &usize| same_source(w, fact, kind, *i);
    if node.by_id {
        let again = copies.iter().any(|i| w.erased(*i).is_some() && from_same_source(i));
        return if again { Err("revival") } else { Ok(false) };
    }
    let standing = |i: &usize| w.open(*i, NOW) && !w.held(*i, NOW) && !superseded(w, *i);
    if copies.iter().any(standing) {
        return Ok(false);
    }
    let stopped: Vec<usize> =
        copies.into_iter().filter(|&i| !w.open(i, NOW) || superseded(w, i)).collect();
    if stopped.iter().any(from_same_source) {
        return Err("revival");
    }
    Ok(stopped.iter().any(|&i| stopped_hard(w, i)) && kind != "stated")
}

/// Superseded in its own scope by something that was not taken back as if it had never been.
fn superseded(w: &World, copy: usize) -> bool {
    let counts = |s: &usize| {
        w.nodes[*s].scope == w.nodes[copy].scope && !w.never_was(*s, NOW) && !w.held(*s, NOW)
    };
    w.superseders(copy, NOW, None).keys().any(counts)
}

/// Erased, disabled, rejected or retracted as mistaken.
fn stopped_hard(w: &World, copy: usize) -> bool {
    let closed = matches!(w.closing(copy, NOW), Some((How::Mistaken | How::Rejected, _)));
    closed || w.erased(copy).is_some() || w.disabled(copy, NOW).is_some()
}

/// Same id, or same uri and `stated_at`, or same text; without source, whatever is not `stated`.
fn same_source(w: &World, fact: &Fact, kind: &str, copy: usize) -> bool {
    let Some(new) = fact.source else {
        return kind != "stated";
    };
    let Some(old) = w.fact(copy).and_then(|f| f.source) else {
        return false;
    };
    if new == old {
        return true;
    }
    match (&w.nodes[new].body, &w.nodes[old].body) {
        (
            Body::Source { uri: uri_a, text: text_a, stated_at: at_a },
            Body::Source { uri: uri_b, text: text_b, stated_at: at_b },
        ) => {
            let same_place = uri_a.is_some() && uri_a == uri_b && at_a == at_b;
            same_place || (text_a.is_some() && text_a == text_b)
        }
        _ => false,
    }
}

/// Refuses a fact that a rule in force says not to take in.
pub(super) fn check_suppressed(w: &World, node: &Node, kind: &str) -> Result<(), Refusal> {
    let Body::Fact(fact) = &node.body else {
        return Ok(());
    };
    for (number, act) in w.acts.iter().enumerate() {
        let What::Suppressed { tenant, id, rule, .. } = &act.what else {
            continue;
        };
        let lifted = w.acts[number..].iter().any(
            |later| matches!(&later.what, What::Unsuppressed { tenant: t, id: i } if t == tenant && i == id),
        );
        let fits = *tenant == node.tenant
            && scope_fits(&rule.scope, &node.scope)
            && rule.subject.as_ref().is_none_or(|g| glob_fits(g, &fact.subject))
            && rule.predicate.as_ref().is_none_or(|g| glob_fits(g, &fact.predicate))
            && rule.kind.as_ref().is_none_or(|k| k == kind)
            && rule.until.is_none_or(|until| w.recorded < until);
        if fits && !lifted {
            return Err("suppressed");
        }
    }
    Ok(())
}

/// `*` is one segment, `**` any number of them, none included.
fn scope_fits(pattern: &str, scope: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let scope: Vec<&str> = scope.split('/').collect();
    segments_fit(&pattern, &scope)
}

fn segments_fit(pattern: &[&str], scope: &[&str]) -> bool {
    match (pattern.first(), scope.first()) {
        (None, None) => true,
        (Some(&"**"), _) => {
            segments_fit(&pattern[1..], scope)
                || (!scope.is_empty() && segments_fit(pattern, &scope[1..]))
        }
        (Some(p), Some(s)) if *p == "*" || p == s => segments_fit(&pattern[1..], &scope[1..]),
        _ => false,
    }
}

/// `*` is any run of characters.
fn glob_fits(glob: &str, text: &str) -> bool {
    match glob.split_once('*') {
        None => glob == text,
        Some((head, tail)) => {
            let Some(rest) = text.strip_prefix(head) else {
                return false;
            };
            let ends = rest.char_indices().map(|(i, _)| i).chain([rest.len()]);
            ends.into_iter().any(|i| glob_fits(tail, &rest[i..]))
        }
    }
}
