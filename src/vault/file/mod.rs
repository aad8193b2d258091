//! The database of the vault: redb on the store's disk, its tables, and the bytes of its rows.

pub(super) mod backend;
pub(super) mod copy;
pub(super) mod lock;
pub(super) mod meta;
mod read_backend;
pub(super) mod retained;
pub(super) mod slot;
pub(super) mod tables;

/// The folder of the vault.
pub(super) const FOLDER: &str = "vault";
pub(super) const DATABASE: &str = "vault/vault.redb";
/// The name under which a database is written.
pub(super) const TEMPORARY: &str = "vault/vault.redb.new";
