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
mod import;
mod maintenance;
mod handle;

#[cfg(test)]
mod tests;

pub use commit::put::NewGrain;
pub use consent::erasure::{Cascaded, Due};
pub use consent::list::{Consent, ConsentFilter, Withdrawal};
pub use consent::rules::Required;
pub use erasure::delete::Deletion;
pub use error::Error;
pub use governance::explain::{Asked, Explanation};
pub use governance::hold::Hold;
pub use governance::identity::AgentCard;
pub use governance::justification::Grounds;
pub use governance::regime::Breach;
pub use governance::report::{Article, ClauseReport, Held, PolicyReport};
pub use governance::review::Review;
pub use governance::trust::Signature;
pub use handle::access::Access;
pub use handle::handoff::{HandedBack, HandedOff, Handoff};
pub use import::{Conflict, Conflicting, Denied, Summary};
pub use instance::open::{Opened, Store};
pub(crate) use instance::text_feed::language;
pub use lineage::heads::{Fork, Heads};
pub use maintenance::backup::Backup;
pub use maintenance::check::{Finding, Report, Severity, verify_damaged};
pub use maintenance::checkpoint::Checked;
pub use maintenance::compact::{Compacted, Sizes};
pub use maintenance::restore::{Restored, Until};
pub use maintenance::stats::Stats;
pub use options::{Clock, Create, Durability, Options, SystemClock};
pub use read::audit::AuditedRead;
pub(crate) use read::audit::Outgoing;
pub use read::get::{Page, Version};
pub use records::authorization::{Decided, Mandate};
pub use state::trusted_clock::ClockState;
pub use state::vectors::Embedding;
