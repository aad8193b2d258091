//! Consent (OMS 8.10): its rules, the consents that stand, and the erasures that withdrawals ask for.

mod erasure;
mod list;
mod rules;

pub use erasure::{ErasureReport, PendingErasure};
pub use list::{Consent, ConsentFilter};
