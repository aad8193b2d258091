//! Sealed persons in an open store (OMS 12.4, 20.2): the vault, the keys of those who are unlocked, and
//! the overlays of the index with their entries.
//!
//! A sealed entry is folded as its card until its person is unlocked. Then the same fold as for
//! any entry puts it into an overlay of the index, which locking drops. Keys are in `vault`.

mod follow;
mod overlay;
mod vault;

pub(super) use follow::{move_overlays, open_followed};
pub(super) use overlay::without_expired;
pub(crate) use overlay::{lock_persons, lock_wiped, renew_unlocked, unlock_for_writer};
pub(crate) use vault::{is_vault_rotten, master_key, vault_fault, vault_of, vault_or_new};
