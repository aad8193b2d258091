//! The store: opens, locks and joins the rooms above; every change passes through here
//! (OMS 28.3, 28.4).
//!
//! A change is a ledger frame. Once it is durable it is applied to the index and fed to the text
//! view, and only then acknowledged. What the rooms above cannot decide alone (is this address
//! here already, may that grain be superseded) is gathered here and asked there.

mod access;
mod accesses;
mod ancestry;
mod backup;
mod caller;
mod cascade;
mod check;
mod checkpoint;
mod delegation;
mod delete;
mod commit;
mod compact;
mod embedding;
mod consent;
mod consents;
mod entry;
mod expiry;
mod explain;
mod floor;
mod grounds;
mod heads;
mod hold;
mod handoff;
mod identity;
mod implied;
mod import;
mod mandate;
mod manifest;
mod open;
mod options;
mod permit;
mod protect;
mod read;
mod read_audit;
mod ready;
mod regime;
mod repair;
mod replay;
mod report;
mod restore;
mod review;
mod signature;
mod standing;
mod stats;
mod supersede;
mod text_view;
mod trust;
mod turns;
mod write;

mod error;

#[cfg(test)]
mod tests;

pub use access::Access;
pub use backup::Backup;
pub use cascade::{Cascaded, Due};
pub use check::{Finding, Report, Severity, verify_damaged};
pub use checkpoint::Checked;
pub use compact::{Compacted, Sizes};
pub use consent::Required;
pub use consents::{Consent, ConsentFilter, Withdrawal};
pub use delete::Deletion;
pub use embedding::Embedding;
pub use error::Error;
pub use explain::{Asked, Explanation};
pub use floor::ClockState;
pub use grounds::Grounds;
pub use handoff::{HandedBack, HandedOff, Handoff};
pub use heads::{Fork, Heads};
pub use hold::Hold;
pub use identity::AgentCard;
pub use import::{Conflict, Conflicting, Denied, Summary};
pub use mandate::{Decided, Mandate};
pub use open::{Opened, Store};
pub use options::{Clock, Create, Durability, Options, SystemClock};
pub use read::{Page, Version};
pub use read_audit::AuditedRead;
pub(crate) use read_audit::Outgoing;
pub use regime::Breach;
pub use report::{Article, ClauseReport, Held, PolicyReport};
pub use restore::{Restored, Until};
pub use review::Review;
pub use stats::Stats;
pub(crate) use text_view::language;
pub use trust::Signature;
pub use write::NewGrain;
