//! Delegations: their terms, and whether a chain of them covers an operation (OMS 6.11, 28.7).

use std::collections::BTreeSet;

use crate::codec::Value;
use crate::grain::{Grain, Namespace, Time, Type};

use super::Rule;

/// The authority that one author gives another (OMS 6.11, 28.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delegation {
    from: String,
    to: String,
    is_active: bool,
    namespaces: Option<Vec<Namespace>>,
    types: Option<Vec<u8>>,
    tools: Vec<String>,
    depth: Option<i64>,
    expires: Option<Time>,
}

/// An operation of a delegated author, as far as delegations restrict it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DelegatedOperation<'a> {
    /// The namespace.
    pub namespace: Option<&'a str>,
    /// The person.
    pub user: Option<&'a str>,
    /// The type byte of the grain that it creates; `None` for a change to a stored grain.
    pub creates: Option<u8>,
    /// The tool that the grain records as invoked.
    pub tool: Option<&'a str>,
    /// Whether it delegates further.
    pub delegates: bool,
}

/// A delegation in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredDelegation {
    /// Its terms.
    pub delegation: Delegation,
    /// Whether it is in force: current, not disputed, and not from a file without verification.
    pub in_force: bool,
    /// Whether it binds its delegatee in this operation, in force or not: a delegation of the
    /// operator binds everywhere, one of an agent inside the namespaces it names.
    pub binds: bool,
}

impl Delegation {
    /// The relation that makes a Goal or a Belief a delegation.
    pub(crate) const RELATION: &str = "mg:delegates_to";

    /// Returns the delegation that a grain declares.
    ///
    /// A delegation written by another author than the delegator is none, and so is one to oneself:
    /// an author can neither give nor take the authority of another.
    pub(crate) fn of(grain: &Grain) -> Option<Self> {
        let is_delegation = matches!(grain.type_(), Type::Goal | Type::Belief)
            && grain.text("relation") == Some(Self::RELATION);
        let (from, to) = (grain.text("subject")?, grain.text("object")?);
        let is_own = grain.text("author_did").is_none_or(|author| author == from);
        if !is_delegation || !is_own || from == to {
            return None;
        }
        let texts = |name: &str| {
            let texts = grain.field(name)?.texts();
            Some(texts.map(str::to_owned).collect::<Vec<_>>())
        };
        let number = |name: &str| grain.field(name).map(|value| value.as_i64().unwrap_or(0));
        Some(Self {
            from: from.to_owned(),
            to: to.to_owned(),
            is_active: grain
                .text("goal_state")
                .is_none_or(|state| state == "active"),
            namespaces: texts("authorized_namespaces")
                .map(|names| names.into_iter().map(Namespace::new).collect()),
            types: grain.field("authorized_types").map(bytes),
            tools: texts("authorized_tools").unwrap_or_default(),
            depth: number("delegation_depth"),
            expires: number("delegation_expiry").map(Time::from_ms),
        })
    }

    /// Returns the delegator.
    pub(crate) fn from(&self) -> &str {
        &self.from
    }

    /// Returns the delegatee.
    pub(crate) fn to(&self) -> &str {
        &self.to
    }

    /// Returns whether it names a namespace that contains another; one that covers all names none.
    pub(crate) fn names(&self, namespace: &str) -> bool {
        let named = self.namespaces().unwrap_or_default();
        named.iter().any(|outer| outer.contains(namespace))
    }

    /// Returns the namespaces it covers, with those inside them; `None` if it covers all.
    pub(crate) fn namespaces(&self) -> Option<&[Namespace]> {
        let named = self.namespaces.as_deref()?;
        (!named.iter().any(|name| name.as_str() == "*")).then_some(named)
    }

    /// Judges whether it covers an operation that was delegated `below` times since.
    fn covers(
        &self,
        operation: &DelegatedOperation<'_>,
        now: Time,
        below: usize,
    ) -> Result<(), Rule> {
        if !self.is_active {
            return Err(Rule::Delegation);
        }
        if self.expires.is_some_and(|end| now >= end) {
            return Err(Rule::DelegationExpired);
        }
        let namespace = operation.namespace.unwrap_or_default();
        let is_open = self
            .namespaces()
            .is_none_or(|named| named.iter().any(|outer| outer.contains(namespace)));
        let creates = |byte: u8| {
            self.types
                .as_ref()
                .is_none_or(|types| types.contains(&byte))
        };
        let uses = |tool: &str| self.tools.is_empty() || self.tools.iter().any(|own| own == tool);
        if !is_open || !operation.creates.is_none_or(creates) || !operation.tool.is_none_or(uses) {
            return Err(Rule::DelegationScope);
        }
        let handed_on = i64::try_from(below).unwrap_or(i64::MAX);
        if self.depth.is_some_and(|most| handed_on > most) {
            return Err(Rule::DelegationDepth);
        }
        Ok(())
    }
}

impl<'a> DelegatedOperation<'a> {
    /// Returns the operation of putting a grain.
    pub(crate) fn put(grain: &'a Grain) -> Self {
        Self {
            namespace: grain.text("namespace"),
            user: grain.text("user_id"),
            creates: Some(grain.type_().byte()),
            tool: grain.text("tool_name"),
            delegates: Delegation::of(grain).is_some(),
        }
    }

    /// Returns the operation of reading a grain, or of changing its status.
    pub(crate) fn touch(grain: &'a Grain) -> Self {
        Self {
            namespace: grain.text("namespace"),
            user: grain.text("user_id"),
            ..Self::default()
        }
    }
}

/// Judges whether an author may do an operation (OMS 6.11). An author that no delegation binds acts
/// on its own authority; a delegatee needs a delegation in force that covers the operation, given
/// by an author who may do as much and may delegate it.
///
/// `held` returns all delegations to an author, also those no longer in force: the end of a
/// delegation does not free its delegatee.
///
/// # Errors
/// Those of `held`.
pub(crate) fn authorize_delegated<E>(
    author: &str,
    operation: &DelegatedOperation<'_>,
    now: Time,
    held: &mut dyn FnMut(&str) -> Result<Vec<StoredDelegation>, E>,
) -> Result<Result<(), Rule>, E> {
    let mut miss = None;
    let mut seen = BTreeSet::new();
    let mut pending = vec![(author.to_owned(), usize::from(operation.delegates))];
    while let Some((who, below)) = pending.pop() {
        // A cycle of delegations grows in depth and never reaches an author of its own authority.
        if below > CHAIN_MAX || !seen.insert((who.clone(), below)) {
            continue;
        }
        let delegations = held(&who)?;
        if !delegations.iter().any(|one| one.binds) {
            return Ok(Ok(()));
        }
        for StoredDelegation {
            delegation,
            in_force,
            binds,
        } in delegations
        {
            let covers = match in_force {
                true => delegation.covers(operation, now, below),
                false => Err(Rule::Delegation),
            };
            match covers {
                Ok(()) => pending.push((delegation.from, below + 1)),
                // Of several that do not cover it, the closest one gives the more useful rule. One
                // that does not bind the author must not show in an answer.
                Err(rule) if binds && miss.is_none_or(|miss| miss == Rule::Delegation) => {
                    miss = Some(rule);
                }
                Err(_) => {}
            }
        }
    }
    Ok(Err(miss.unwrap_or(Rule::Delegation)))
}

/// Returns the type bytes of an array; one that is not understood opens nothing.
fn bytes(value: &Value) -> Vec<u8> {
    let items = value.as_array().unwrap_or_default().iter();
    items
        .filter_map(|item| u8::try_from(item.as_i64()?).ok())
        .collect()
}

/// The longest chain of delegations that is followed: longer ones are not intended by anyone.
const CHAIN_MAX: usize = 16;
