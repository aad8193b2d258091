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

pub(crate) use delete::{delete, delete_batch};
#[cfg(feature = "sealing")]
pub(crate) use erase::{erase_replaced, resume_erasures_as};
pub(crate) use erase::{expunge_followed, resume_erasures};
pub(crate) use keeper::{require_keeper, tend};
#[cfg(feature = "signatures")]
pub(crate) use person::erasure_receipt;
pub use person::{ErasureScope, Person, PersonErasure, PersonGrain, PersonReport};
pub(crate) use person::{agrees_with, erase_person, person_report, persons_seen, unite_users};
pub(crate) use protections::{protected_by, resting_on};
#[cfg(feature = "sealing")]
pub(crate) use unlocking::{is_unlocked, lock, unlock};
pub use withdrawn::{ErasureReport, PendingErasure};
pub(crate) use withdrawn::{pending_erasures, run_consent_erasures, waiting_persons};
