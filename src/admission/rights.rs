//! Who may do what where (R10a): a session's tenant and grants, bound when it is opened.

use crate::model::name::Tenant;
use crate::model::scope::{Scope, ScopePattern};

/// What a grant allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// To see what is there.
    Read,
    /// To state, add, affirm.
    Write,
    /// To take the place of what is there, to settle conflicts and proposals.
    Supersede,
    /// To end, correct, retract, disable and undo these.
    Retract,
    /// To remove content.
    Erase,
}

/// Rights over the scopes of a pattern.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The scopes.
    pub scopes: ScopePattern,
    /// What is allowed there.
    pub rights: Vec<Right>,
}

/// A principal with what it may do.
#[derive(Clone, Debug)]
pub struct Rights {
    tenant: Option<Tenant>,
    grants: Option<Vec<Grant>>,
}

impl Rights {
    /// The store's owner: everything, in every tenant. For the command line and for import.
    pub fn owner() -> Self {
        Self { tenant: None, grants: None }
    }

    /// Everything within one tenant.
    pub fn owner_of(tenant: Tenant) -> Self {
        Self { tenant: Some(tenant), grants: None }
    }

    /// What the grants allow, within one tenant.
    pub fn granted(tenant: Tenant, grants: Vec<Grant>) -> Self {
        Self { tenant: Some(tenant), grants: Some(grants) }
    }

    /// The tenant it is bound to; `None` for the store's owner.
    pub fn tenant(&self) -> Option<&Tenant> {
        self.tenant.as_ref()
    }

    /// Whether a right covers a scope.
    pub fn allows(&self, right: Right, scope: &Scope) -> bool {
        let home = self.tenant.as_ref().is_none_or(|tenant| tenant.as_str() == scope.tenant_str());
        let granted = self.grants.as_ref().is_none_or(|grants| {
            grants.iter().any(|grant| grant.rights.contains(&right) && grant.scopes.matches(scope))
        });
        home && granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_covers_its_pattern_its_rights_and_its_tenant_only() {
        let tenant = Tenant::new("acme").unwrap();
        let grant =
            Grant { scopes: ScopePattern::new("acme/a/**").unwrap(), rights: vec![Right::Read] };
        let rights = Rights::granted(tenant, vec![grant]);
        let scope = |text| Scope::new(text).unwrap();
        assert!(rights.allows(Right::Read, &scope("acme/a/x")));
        assert!(!rights.allows(Right::Write, &scope("acme/a/x")));
        assert!(!rights.allows(Right::Read, &scope("acme/b")));
        assert!(!rights.allows(Right::Read, &scope("other/a")));
        assert!(Rights::owner().allows(Right::Erase, &scope("other/a")));
    }
}
