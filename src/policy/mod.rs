//! Decisions about operations (OMS 23): facts in, verdict out; no disk, no clock.
//!
//! The store gathers the facts, asks, and applies the verdict; nothing else decides. Signatures are
//! verified before: a signer in the facts has signed this operation on this grain.

mod authorization;
mod identity;
mod protection;
mod rule;
mod decide;
mod consent;
mod retention;
mod supersession;
mod trust;
mod capability;
mod delegation;
mod lasting;
mod transfer;
mod regime;
mod violation;

mod error;

pub use authorization::{Authorization, RecordedAuthorization};
pub use capability::{Capability, Role};
pub(crate) use consent::{Consented, Party, documents, holds, is_withdrawal, person_of};
pub use decide::{Actor, Operation};
pub(crate) use delegation::{
    DelegatedOperation, Delegation, StoredDelegation, authorize_delegated,
};
pub use error::Error;
pub(crate) use identity::{check_ownership, is_ownership};
pub use lasting::is_lasting;
#[cfg(feature = "interchange")]
pub(crate) use lasting::{AIMEM_RECORD, DNA};
pub(crate) use protection::{evidence_of, starts_early, waits};
pub use regime::{Clause, Regime};
pub(crate) use retention::{deletion_requires, regulation};
pub use rule::Rule;
pub(crate) use supersession::{gives_consent, implies_supersession, says_why_derived};
pub use transfer::Purpose;
pub(crate) use transfer::{hold_refs, is_opted_out, may_leave, profile_fields};
pub(crate) use trust::Trusts;
pub use trust::{Doubt, Trust, TrustRule};
pub use violation::Violation;

// Internal, without a promise: for the tests, simulator, fuzz targets and benches of this crate.
#[doc(hidden)]
pub use self::{
    decide::{Facts, TrustedNow, Verdict, decide},
    protection::{Mode, Protection, Scope, is_transition},
    regime::{Regimes, Requires, When},
    retention::retained_until,
};
