//! The vault in the store: opened when it is first needed, changed through one handle, and each change
//! told in the ledger (OMS 20.3).
//!
//! The vault itself, which knows no store, is the room `crate::vault`.

mod admin;
mod escrow;
mod opening;
mod rekey;
mod seal;
mod status;

pub use admin::VaultAdmin;
pub(crate) use opening::{is_vault_rotten, vault_fault};
pub use status::{Escrow, VaultStatus};
