//! grainstore: an embedded, content-addressed memory store for AI agents.
//!
//! The rooms below are declared in dependency order: a module may use the modules above it and
//! nothing below (`tests/it/tidy.rs` holds the crate to it).

pub mod codec;
pub mod grain;
pub mod crypto;
pub mod policy;
pub mod interchange;
pub mod ledger;
pub mod index;
pub mod text;
