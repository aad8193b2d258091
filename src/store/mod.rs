//! The store: opens, locks and joins the modules above; every change passes through here
//! (OMS 28.3, 28.4).
//!
//! A change is a ledger frame. Once it is durable, its entries are applied to the index, the state
//! and the text view, and only then it is acknowledged. State changes by applying committed entries
//! and by nothing else, so a store that was open all the time and one opened afresh are the same
//! (`state`).
//!
//! | question | file |
//! | --- | --- |
//! | a store as a caller reaches it, and the owner's access; the public operations on both | `handle/access.rs`; `src/face/` |
//! | opening: files, lock, recovery; what a crash left; the text view | `engine/open.rs`; `opening/open.rs`; `engine/text/` |
//! | what a committed entry changes: index, state, caches, text | `engine/apply.rs` |
//! | an open store: its files, its state, its queue | `engine/instance.rs` |
//! | a store that another process writes, opened for reading | `engine/follow.rs` |
//! | the body of each kind of entry, encoded and decoded | `records/mod.rs` and the files beside it |
//! | a batch of entries before it is written | `records/frame.rs` |
//! | holds, consents, trust, regimes, reviews, actors, the clock, as the ledger leaves them | `state/` |
//! | what a decision rests on: ledger, state, caches, keys, clock, as of a snapshot | `view/core.rs` |
//! | whose grains are sealed; which entries of a frame are | `view/persons.rs`; `txn/seal.rs` |
//! | unlocking and locking a sealed person; what waits for it | `engine/persons/overlay.rs`, `keys/unlock.rs`; `erasure/unlocking.rs` |
//! | which grains wait for a vector of a model; how they are embedded | `engine/embedding/`; `commit/embed.rs` |
//! | where a put is finished and queued | `commit/put.rs`, `txn/group.rs` |
//! | which rules a new grain passes, for each way in | `rules/table.rs`; asked in `rules/admit.rs` |
//! | group commit: leaders and followers | `engine/queue.rs` |
//! | the right to change, and the frame of a change | `txn/transaction.rs`, `txn/frame.rs` |
//! | where a frame becomes durable | `txn/append.rs` |
//! | get, list, history, status | `read/get.rs`; single entries `view/lookup.rs` |
//! | an entry as a change feed tells it | `read/change.rs` |
//! | which reads are recorded; which wait for a consent or a review | `read/audit.rs`; `read/consented.rs`, `read/review.rs` |
//! | supersession, heads, lineage walks | `lineage/supersede.rs`, `view/heads.rs`, `view/walk.rs` |
//! | what protects a grain; how policy is asked | `view/protection.rs`, `lineage/change.rs` |
//! | contradiction, verification, holds, reviews, trust, regimes, delegation | `governance/` |
//! | who may withdraw a consent; the effects of a withdrawal | `view/consents.rs`; `rules/consent.rs` |
//! | what a withdrawal erases; what it may of locked persons | `erasure/withdrawn.rs`; `erasure/waiting.rs` |
//! | a consent that a namespace demands | `view/demand.rs` |
//! | where a grain came from: owner, agent, file | `view/origin.rs` |
//! | deletion: what nothing keeps, blanking; tombstones | `erasure/delete.rs`, `erase.rs`; `rules/stored.rs` |
//! | protection that outlives a deleted grain | `erasure/protections.rs` |
//! | the vault in the store: adding persons, rotating, escrow | `keys/` |
//! | everything about a person: the report, the erasure | `erasure/person/` |
//! | files that come in | `import/batch.rs` |
//! | check, repair, compact, backup, restore, checkpoints | `maintenance/` |
//! | a copy of the ledger elsewhere | `replica.rs`; `crates/replica` |
//! | proofs, notes, the log and its export | `audit/` |
//! | handing a task from agent to agent | `governance/handoff.rs` |
//!
//! The modules are declared in dependency order; `tests/it/tidy/rooms.rs` holds them to it. `view` and
//! `rules` only read: a `View` is the store as of a snapshot, and a rule is a function of it.

mod embedder;
mod error;
#[cfg(feature = "signatures")]
mod note_schedule;
mod options;

mod records;
mod state;
mod view;
mod rules;
mod engine;
mod txn;
mod handle;
pub(crate) mod commit;
pub(crate) mod read;
pub(crate) mod lineage;
pub(crate) mod governance;
pub(crate) mod consent;
pub(crate) mod audit;
pub(crate) mod erasure;
#[cfg(feature = "sealing")]
pub(crate) mod keys;
#[cfg(feature = "interchange")]
pub(crate) mod import;
pub(crate) mod opening;
pub(crate) mod maintenance;
#[doc(hidden)]
pub mod replica;

#[cfg(test)]
mod tests;

pub use audit::{Audit, AuditEntry, AuditFilter, InclusionProof};
pub use commit::{NewGrain, Put};
pub use consent::{Consent, ConsentFilter};
pub use embedder::{Embedder, EmbedderStatus};
pub use engine::RecoveryReport;
#[cfg(feature = "text")]
pub(crate) use engine::language;
#[doc(hidden)]
pub use engine::untrusted_file_system;
pub use erasure::{
    ErasureReport, ErasureScope, PendingErasure, Person, PersonErasure, PersonGrain, PersonReport,
};
pub use error::Error;
pub use governance::{
    AgentCard, Article, Asked, ClauseReport, ClockState, Coverage, Explanation, HandedOff, Handoff,
    Hold, Justification, PolicyReport,
};
pub(crate) use handle::{Access, Owner};
#[cfg(feature = "interchange")]
pub use import::{Conflict, Summary};
#[cfg(feature = "sealing")]
pub use keys::{Escrow, VaultAdmin, VaultStatus};
pub use lineage::{Fork, Heads};
pub use maintenance::{
    Backup, Checked, Compacted, Finding, Lost, Recovered, Report, Restored, Severity, Sizes, Stats,
};
#[cfg(feature = "signatures")]
pub use note_schedule::NoteSchedule;
pub use options::{Clock, Create, Durability, Options, SystemClock};
#[cfg(feature = "interchange")]
pub(crate) use read::ReadRecorder;
pub use read::{AddressList, AuditedRead, Change, Changed, Embedding, Review};
pub use records::{BlindFields, RequiredConsent, Until};
#[doc(hidden)]
pub use rules::describe as describe_rules;
pub use state::Withdrawal;
pub use view::{Signature, Version};

pub use crate::policy::{Authorization, RecordedAuthorization};
#[cfg(feature = "sealing")]
pub use crate::vault::{Root, ShredRoot, User};
