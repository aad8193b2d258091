//! The proof of one entry: its header, and the way from it to the root of a note.
//!
//! A header holds no content: a salted commitment to it, its length, its kind, the time, and the
//! entry that names the actor. So a proof stays valid when the content is erased, and reveals none.

use sha2::{Digest, Sha256};

use crate::crypto::{ErasureReceipt, Note};
use crate::ledger::{EntryHeader, EntryId, verify_inclusion};

/// The proof that an entry is in the first entries of a ledger, as RFC 9162 has it.
///
/// ```
/// use grainstore::ledger::EntryId;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::event("hello"))?;
/// store.put(Draft::event("hello again"))?;
/// let audit = store.maintenance()?.audit();
/// let (note, proof) = (audit.head()?, audit.prove(EntryId::new(1), 2)?);
/// assert!(proof.is_in(&note) && proof.entry() == EntryId::new(1));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InclusionProof {
    /// The header of the entry, as in its segment.
    pub header: [u8; EntryHeader::LEN],
    /// The leaf of the entry before; of the first, SHA-256(store id).
    pub before: [u8; 32],
    /// The number of entries under the root.
    pub entries: u64,
    /// The hashes from the leaf to the root, the lowest first.
    pub path: Vec<[u8; 32]>,
}

impl InclusionProof {
    /// Returns the sequence of the entry.
    pub fn entry(&self) -> EntryId {
        let [a, b, c, d, e, f, g, h, ..] = self.header;
        EntryId::new(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }

    /// Returns the leaf of the entry: SHA-256(0x00 ‖ leaf before ‖ header).
    pub fn leaf(&self) -> [u8; 32] {
        let hash = Sha256::new().chain_update([0x00]).chain_update(self.before);
        hash.chain_update(self.header).finalize().into()
    }

    /// Returns whether it proves the entry under the root of a note, whose signatures are for
    /// [`Note::is_signed_by`] to verify.
    pub fn is_in(&self, note: &Note) -> bool {
        self.entries == note.entries() && self.proves(&note.root())
    }

    /// Returns whether the proofs in a receipt are of the entries that it says began the erasure, and
    /// hold under its root. True for a receipt of an earlier version, which has neither.
    pub fn prove_erasure(receipt: &ErasureReceipt) -> bool {
        let Some(tree) = &receipt.tree else {
            return receipt.proofs.is_empty();
        };
        let proofs = receipt.proofs.iter().zip(&receipt.begun);
        receipt.proofs.len() == receipt.begun.len()
            && proofs.into_iter().all(|(bytes, begun)| {
                let proof = Self::of_bytes(bytes, receipt.entries);
                proof.is_some_and(|proof| proof.entry().get() == *begun && proof.proves(tree))
            })
    }

    pub(crate) fn proves(&self, root: &[u8; 32]) -> bool {
        let entry = self.entry().get();
        verify_inclusion(entry, self.entries, &self.leaf(), &self.path, root)
    }

    /// Returns header, leaf before and path, one behind the other.
    #[cfg(feature = "signatures")]
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.header.to_vec();
        bytes.extend(self.before);
        bytes.extend(self.path.as_flattened());
        bytes
    }

    /// Reads header, leaf before and path, one behind the other.
    fn of_bytes(bytes: &[u8], entries: u64) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk()?;
        let (before, rest) = rest.split_first_chunk()?;
        let (path, rest) = rest.as_chunks();
        rest.is_empty().then(|| Self {
            header: *header,
            before: *before,
            entries,
            path: path.to_vec(),
        })
    }
}
