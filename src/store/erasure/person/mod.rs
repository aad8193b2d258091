//! A person's data (GDPR Art. 15 and 17, AIMEM 5.2): one selector, which the report and the erasure
//! share, so that what is reported is what is erased.
//!
//! Grains are compared field by field in the ledger itself, so a field without an index, and an
//! index that is wrong, hide nothing (revision 1.6, 28.4.4).

mod erase;
mod identity;
#[cfg_attr(not(feature = "sealing"), path = "no_keys.rs")]
mod keys;
mod receipt;
mod report;
mod scope;

pub(crate) use erase::erase_person;
pub use erase::{ErasureScope, PersonErasure};
pub use identity::Person;
pub(in crate::store::erasure) use keys::destroy_keys;
pub(crate) use receipt::agrees_with;
#[cfg(feature = "signatures")]
pub(crate) use receipt::erasure_receipt;
pub use report::{PersonGrain, PersonReport};
pub(crate) use report::{person_report, persons_seen, unite_users};
