//! Whether a Consent grain allows an operation now, and for which person and party (OMS 8.10).
//!
//! Withdrawals are facts of the store and are not judged here.

use crate::codec::Value;
use crate::crypto::Did;
use crate::grain::{Grain, Time, Type};

use super::Capability;

/// An operation that a consent can allow (OMS 8.10, `scope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consented {
    /// Storing grains that rest on it.
    Store,
    /// Reading them.
    Retrieve,
}

impl Consented {
    /// Returns the specification's word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Retrieve => "retrieve",
        }
    }
}

/// Returns whether a grain is a Consent that allows an operation now: a grant, with the operation
/// in its scope, inside its window. Whether it was withdrawn is not in it.
pub(crate) fn holds(consent: &Grain, operation: Consented, now: Time) -> bool {
    let mut scope = consent.field("scope").into_iter().flat_map(Value::texts);
    is_grant(consent, now) && scope.any(|named| named == operation.name())
}

/// Returns whether a grain is a Consent that withdraws another, whatever it names as that.
pub(crate) fn is_withdrawal(grain: &Grain) -> bool {
    let withdraws = grain.field("is_withdrawal").and_then(Value::as_bool) == Some(true);
    withdraws && grain.type_() == Type::Consent
}

/// Returns whether a grain is a Consent that grants anything, inside its window.
fn is_grant(consent: &Grain, now: Time) -> bool {
    let bound = |field: &str| consent.field(field).and_then(Value::as_i64);
    consent.type_() == Type::Consent
        && consent.field("is_withdrawal").and_then(Value::as_bool) == Some(false)
        && bound("valid_from").is_none_or(|from| from <= now.ms())
        && bound("valid_to").is_none_or(|to| now.ms() < to)
}

/// Returns whether a Consent documents the basis of a grain (OMS A.3, A.6): a grant inside its
/// window, of the person that the grain is about where the grain names one by a DID.
pub(crate) fn documents(consent: &Grain, grain: &Grain, now: Time) -> bool {
    let subject = consent.text("subject_did").map(Did::bare);
    is_grant(consent, now) && person_of(grain).is_none_or(|person| subject == Some(person))
}

/// The party that stores or reads a grain under a consent that its namespace demands (ruling P10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Party {
    /// The owner of the store, who acts for each grantee.
    Owner,
    /// The actor of a narrowed handle.
    Actor(Did),
    /// A narrowed handle without an actor: no consent is given to it.
    Unnamed,
}

impl Party {
    /// Returns the party that holds a capability; `None` is the owner's.
    pub(crate) fn of(capability: Option<&Capability>) -> Self {
        let capability = capability.filter(|it| !it.is_owners());
        match capability.map(Capability::acts_as) {
            None => Self::Owner,
            Some(Some(did)) => Self::Actor(did.clone()),
            Some(None) => Self::Unnamed,
        }
    }

    /// Returns whether a consent is given to it.
    pub(crate) fn is_grantee_of(&self, consent: &Grain) -> bool {
        let grantee = consent.text("grantee_did").map(Did::bare);
        match self {
            Self::Owner => true,
            Self::Actor(did) => grantee == Some(did.as_str()),
            Self::Unnamed => false,
        }
    }
}

/// Returns the DID of the person that a grain is about: its `subject_did`, else its `user_id` or
/// `subject` where that is a DID (ruling P10).
pub(crate) fn person_of(grain: &Grain) -> Option<&str> {
    let did = |name| grain.text(name).filter(|text| text.starts_with("did:"));
    let person = grain.text("subject_did").or_else(|| did("user_id"));
    person.or_else(|| did("subject")).map(Did::bare)
}
