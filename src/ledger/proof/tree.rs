//! The Merkle tree over the leaves of a ledger (RFC 9162, 2.1).
//!
//! Only the right edge is kept: what proofs need besides is in [`super::history`].

use sha2::{Digest, Sha256};

/// The Merkle tree over the leaves of a ledger, grown leaf by leaf.
///
/// Only the roots of its full subtrees are kept, one for each bit of the number of leaves that is
/// set: the leaves are in the ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MerkleTree {
    len: u64,
    /// The roots of full subtrees, the largest first.
    full: Vec<[u8; 32]>,
}

impl MerkleTree {
    /// Returns the number of leaves.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Adds the next leaf of the chain.
    pub(crate) fn push(&mut self, leaf: [u8; 32]) {
        let mut root = leaf;
        // As in binary counting, each carry joins two subtrees of equal size.
        for _ in 0..self.len.trailing_ones() {
            if let Some(left) = self.full.pop() {
                root = node(&left, &root);
            }
        }
        self.full.push(root);
        self.len = self.len.saturating_add(1);
    }

    /// Returns the root; SHA-256 of nothing while there is no leaf.
    pub(crate) fn root(&self) -> [u8; 32] {
        let joined = self.full.iter().rev().copied();
        joined
            .reduce(|right, left| node(&left, &right))
            .unwrap_or_else(|| Sha256::digest([]).into())
    }
}

/// Returns the node above two others: SHA-256(0x01 ‖ left ‖ right).
pub(super) fn node(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    let hash = Sha256::new().chain_update([0x01]);
    hash.chain_update(left)
        .chain_update(right)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9162, 2.1.1, to the letter: split at the largest power of two below the number.
    fn naive(leaves: &[[u8; 32]]) -> [u8; 32] {
        match leaves {
            [] => Sha256::digest([]).into(),
            [leaf] => *leaf,
            _ => {
                let split = leaves.len().next_power_of_two() / 2;
                let (left, right) = leaves.split_at(split);
                node(&naive(left), &naive(right))
            }
        }
    }

    #[test]
    fn the_root_is_that_of_the_definition_for_every_number_of_leaves() {
        let mut leaves = Vec::new();
        let mut tree = MerkleTree::default();
        for n in 0..300_u16 {
            assert_eq!(tree.root(), naive(&leaves), "{n} leaves");
            let leaf: [u8; 32] = Sha256::digest(n.to_be_bytes()).into();
            tree.push(leaf);
            leaves.push(leaf);
            assert_eq!(tree.len(), leaves.len() as u64);
        }
    }
}
