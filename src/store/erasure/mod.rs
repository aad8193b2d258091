//! Erasure: deleting grains with all their traces, on request or after a withdrawn consent, and
//! refusing to store them again.

mod delete;
mod erase;
mod keeper;
mod person;
mod protections;
#[cfg(feature = "sealing")]
mod unlocking;
mod waiting;
mod withdrawn;

pub(crate) use erase::resume_erasures;
#[cfg(feature = "sealing")]
pub(crate) use erase::{erase_replaced, resume_erasures_as};
pub(crate) use keeper::{require_keeper, tend};
pub use person::{ErasureScope, Person, PersonErasure, PersonGrain, PersonReport};
pub use withdrawn::{ErasureReport, PendingErasure};
