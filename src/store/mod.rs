//! The store: opens, locks and joins the rooms above; every change passes through here
//! (OMS 28.3, 28.4).
//!
//! A change is a ledger frame. Once it is durable it is applied to the index and fed to the text
//! view, and only then acknowledged. What the rooms above cannot decide alone (is this address
//! here already, may that grain be superseded) is gathered here and asked there.

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
#[cfg(feature = "interchange")]
mod import;
mod maintenance;
mod handle;

#[cfg(test)]
mod tests;

pub use commit::NewGrain;
pub use consent::{Consent, ConsentFilter, ErasureReport, PendingErasure};
pub use error::Error;
pub use governance::{
    AgentCard, Article, Asked, ClauseReport, ClockState, Coverage, Explanation, Hold,
    Justification, PolicyReport, Review, Signature,
};
pub use handle::{HandedBack, HandedOff, Handoff};
#[cfg(feature = "interchange")]
pub use import::{Conflict, Conflicting, Denied, Summary};
pub use instance::{Admin, Maintenance, RecoveryReport, Store};
pub use lineage::{Fork, Heads};
pub use maintenance::{
    Backup, Checked, Compacted, Finding, Report, Restored, Severity, Sizes, Stats, verify_damaged,
};
pub use options::{Clock, Create, Durability, Options, SystemClock};
pub use read::{AuditedRead, Embedding, Page, Version};
pub use records::{Authorization, RecordedAuthorization, RequiredConsent, Until};
pub use state::Withdrawal;
