//! A store whose ledger is shared by many machines: the directory is a cache of a sequence elsewhere,
//! and its ledger the first frames of that, byte for byte.
//!
//! | question | file |
//! | --- | --- |
//! | the turn among machines, its renewal, its sharing out | `shared_ledger.rs`, `renewal.rs`, `rivals.rs` |
//! | a frame that the sequence takes, bodies that it blanks | `shared_ledger.rs`, `steps.rs` |
//! | how the ledger of the cache is brought to the head of the sequence | `pull.rs` |
//! | the thread that looks for news; the mark of a cache | `watch.rs`, `cache.rs` |

mod cache;
mod pull;
mod renewal;
mod rivals;
mod shared_ledger;
mod steps;
mod watch;

pub(crate) use cache::{authorize_cache, mark_cache};
pub(crate) use pull::pull_all;
pub(super) use shared_ledger::{Lease, SharedLedger};
pub(crate) use steps::{blank_shared, leave_expunged, offer, shared_age, take_expunged};
pub(crate) use watch::pull;
pub(super) use watch::watch;
