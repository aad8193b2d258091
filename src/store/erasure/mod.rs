//! Erasure: deleting grains with all their traces, on request or after a withdrawn consent, and
//! refusing to store them again.

mod delete;
mod erase;
mod person;
mod protections;
#[cfg(feature = "sealing")]
mod unlocking;
mod waiting;
mod withdrawn;

pub use person::{ErasureScope, Person, PersonErasure, PersonGrain, PersonReport};
pub use withdrawn::{ErasureReport, PendingErasure};
