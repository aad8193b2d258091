//! Proofs: the Merkle tree over the leaves, and the verification of all bytes of a ledger.
//!
//! Signed checkpoints are made by the store.

pub(super) mod tree;
pub(super) mod verify;
