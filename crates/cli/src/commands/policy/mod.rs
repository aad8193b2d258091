//! Commands of the operator that protect data: holds, consent, regimes, reviews, audited reads and
//! the trusted clock.
//!
//! Trust in signers is in `signing`.

mod clock;
mod consent;
mod consent_erasure;
mod consent_list;
mod explain;
mod hold;
mod policy_tool;
mod reads;
mod regime;
pub(crate) mod regime_args;
mod report;
mod review;

pub(crate) use clock::suspicion;
pub(crate) use consent::ConsentTool;
pub(crate) use hold::HoldTool;
pub(crate) use policy_tool::PolicyTool;
