//! The vault: each person's data key, wrapped so that it can be destroyed (OMS 12.4, 20.3).
//!
//! A data key is wrapped under a key that is made of the master key, the user id and the random key
//! of a bucket; the bucket keys are sealed under a root of 32 bytes that lies outside the database.
//! Erasing a person renews the key of their bucket and the root, and overwrites the old root: old
//! pages and copies of the database open with nothing that still exists. Copies of the root are
//! beyond its reach (docs/security.md).
//!
//! | question | file |
//! | --- | --- |
//! | create, open, resume after a crash | `instance.rs` |
//! | add, list, unlock and lock persons | `users.rs` |
//! | the root swap: erase, renew, rotate | `swap.rs` |
//! | the erasable root: trait and file | `root/` |
//! | redb, its tables and rows | `file/` |
//! | the keys of an unlocked person | `keys/` |
//!
//! The vault is the only file that cannot be derived from the ledger, and no backup has it.

#![deny(clippy::indexing_slicing)]

mod error;
mod root;
mod file;
mod keys;
mod instance;
mod users;
mod swap;

#[cfg(test)]
mod tests;

pub use error::Error;
pub(crate) use file::slot::hold_name;
pub use instance::{Vault, VaultFiles};
pub use keys::unlocked::{Unlocked, UserKeys};
pub use root::file_root::FileShredRoot;
pub(crate) use root::medium::Medium;
pub use root::{Root, ShredRoot};
#[cfg(feature = "interchange")]
pub(crate) use root::{restore_root, root_copy};
pub use swap::ErasedKey;
pub use users::User;
