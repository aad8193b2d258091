//! Proofs: the Merkle tree over the leaves, proofs of single entries and of growth, and the
//! verification of all bytes of a ledger.
//!
//! Signed checkpoints are made by the store.

pub(super) mod history;
pub(super) mod path;
pub(super) mod tree;
pub(super) mod verify;
