//! Decisions about operations (OMS 23): facts in, verdict out; no disk, no clock.
//!
//! The store gathers the facts, asks, and applies the verdict; nothing else decides. Signatures are
//! verified before: a signer in the facts has signed this operation on this grain.

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

pub use capability::{Capability, Role};
pub use consent::{Consented, holds};
pub(crate) use consent::{Party, person_of};
pub use decide::{Actor, Facts, Operation, TrustedNow, Verdict, decide};
pub use delegation::{DelegatedOperation, Delegation, StoredDelegation, authorize_delegated};
pub use error::Error;
pub use identity::{check_ownership, is_ownership};
pub use lasting::is_lasting;
#[cfg(feature = "interchange")]
pub(crate) use lasting::{AIMEM_RECORD, DNA};
pub use protection::{Mode, Protection, Scope, is_transition, starts_early};
pub(crate) use protection::{evidence_of, waits};
pub use regime::{Clause, Regime, Regimes, Requires, When};
pub use retention::retained_until;
pub use rule::Rule;
pub use supersession::{implies_supersession, says_why_derived};
pub use transfer::{Purpose, may_leave};
pub(crate) use transfer::{is_opted_out, profile_fields};
pub use trust::{Doubt, Trust, TrustRule, Trusts};
pub use violation::Violation;
