//! The vault in the store: opened when it is first needed, changed through one handle, and each change
//! told in the ledger (OMS 20.3).
//!
//! The vault itself, which knows no store, is the room `crate::vault`.

mod admin;
mod escrow;
mod events;
mod rekey;
mod retained;
mod seal;
mod status;
mod unlock;

pub use admin::VaultAdmin;
pub(crate) use admin::vault;
#[cfg(feature = "signatures")]
pub(crate) use escrow::remaining_escrows;
pub(crate) use events::tell;
pub(crate) use rekey::rekey_due_in_passing;
pub(crate) use retained::retained_keys;
pub(crate) use seal::seal_unsealed;
pub use status::{Escrow, VaultStatus};
pub(crate) use unlock::unlock_person;
