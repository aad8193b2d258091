//! The ledger as an audit trail: proofs of entries and of growth, the log that people read, and the
//! export for a verifier that is not this program (OMS 17.3).
//!
//! The trail is the ledger itself: nothing is written twice, and the tree over it is derived.

mod describe;
#[cfg(feature = "signatures")]
mod export;
mod log;
mod note;
mod proof;
mod record;

pub use log::{AuditEntry, AuditFilter};
pub use note::Audit;
#[cfg(feature = "signatures")]
pub(crate) use note::inclusion_proof;
pub(crate) use note::{anchored, audit};
pub use proof::InclusionProof;
pub(crate) use record::record_check;
#[cfg(feature = "interchange")]
pub(crate) use record::record_export;
