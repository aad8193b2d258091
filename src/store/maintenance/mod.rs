//! Maintenance: checking, repairing, compacting, backing up and restoring a store, its statistics,
//! and signed checkpoints of its ledger.

mod anchor;
#[cfg(feature = "signatures")]
mod attest;
mod backup;
mod check;
mod check_lineages;
mod check_signatures;
mod checkpoint;
mod compact;
mod recovery;
mod repair;
mod report;
mod restore;
mod restore_target;
mod stats;
mod views;

pub use backup::Backup;
pub use check::verify_damaged;
pub use checkpoint::Checked;
pub use compact::{Compacted, Sizes};
pub use recovery::{Lost, Recovered, recover, recover_on, recoverable};
pub use report::{Finding, Report, Severity};
pub use restore::Restored;
pub use stats::Stats;
