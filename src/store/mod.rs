//! The store: opens, locks and joins the rooms above; every change passes through here
//! (OMS 28.3, 28.4).
//!
//! A change is a ledger frame. Once it is durable it is applied to the index and fed to the text
//! view, and only then acknowledged. The rooms above decide from facts that the store gathers:
//! whether an address is stored already, what protects a grain.

mod error;
mod options;

mod records;
mod state;
mod instance;
mod commit;
mod read;
mod lineage;
mod governance;
mod consent;
mod erasure;
mod import;
mod maintenance;
mod handle;

#[cfg(test)]
mod tests;

pub use commit::NewGrain;
pub use consent::{Consent, ConsentFilter};
pub use erasure::{ErasureReport, PendingErasure};
pub use error::Error;
pub use governance::{
    AgentCard, Article, Asked, ClauseReport, ClockState, Coverage, Explanation, Hold,
    Justification, PolicyReport, Review,
};
pub use handle::{HandedBack, HandedOff, Handoff};
pub use import::{Conflict, Conflicting, Denied, Summary};
pub(crate) use instance::language;
pub use instance::{Admin, Maintenance, RecoveryReport, Store};
pub use lineage::{Fork, Heads};
pub use maintenance::{
    Backup, Checked, Compacted, Finding, Report, Restored, Severity, Sizes, Stats, verify_damaged,
};
pub use options::{Clock, Create, Durability, Options, SystemClock};
pub use read::{AuditedRead, Embedding, Page, Signature, Version};
pub use records::{Authorization, RecordedAuthorization, RequiredConsent, Until};
pub use state::Withdrawal;
