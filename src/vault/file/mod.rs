//! The database of the vault: redb on the store's disk, its tables, and the bytes of its rows.

pub(super) mod backend;
pub(super) mod lock;
pub(super) mod meta;
mod read_backend;
pub(super) mod retained;
pub(super) mod slot;
pub(super) mod tables;
