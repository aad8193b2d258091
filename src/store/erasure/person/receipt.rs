//! Receipts for erasures of persons: signed by the operator's key, and compared with a ledger.

use crate::code::ErrorCode;
use crate::crypto::ErasureReceipt;
#[cfg(feature = "signatures")]
use crate::crypto::{Did, SigningKey};
use crate::ledger::EntryId;
#[cfg(feature = "signatures")]
use crate::store::audit::inclusion_proof;
#[cfg(feature = "signatures")]
use crate::store::engine::note;
#[cfg(all(feature = "sealing", feature = "signatures"))]
use crate::store::keys::remaining_escrows;
use crate::store::records::Record;
use crate::store::{Admin, Error, InclusionProof};

#[cfg(feature = "signatures")]
use super::erase::PersonErasure;

impl Admin<'_> {
    /// Signs a receipt for the erasure of a person, and returns the message, which is for the
    /// person and the operator. The store keeps no copy: the nonce in it names the person.
    ///
    /// # Errors
    /// `ERR_KEY`; `ERR_NO_RANDOMNESS`.
    #[cfg(feature = "signatures")]
    pub fn erasure_receipt(
        self,
        erasure: &PersonErasure,
        key: &SigningKey,
        did: &Did,
    ) -> Result<Vec<u8>, Error> {
        let engine = self.engine();
        let mut nonce = [0; 32];
        engine.random().fill(&mut nonce)?;
        let proofs = erasure.begun.iter().map(|row| {
            let proof = inclusion_proof(engine, *row, erasure.entries)?;
            Ok(proof.to_bytes())
        });
        let ids = erasure.person.ids().iter();
        let kept = erasure.kept.iter();
        let receipt = ErasureReceipt {
            store: engine.store_id(),
            nonce,
            persons: ids
                .map(|id| ErasureReceipt::commitment(&nonce, id))
                .collect(),
            time: erasure.time,
            entries: erasure.entries,
            head: erasure.head,
            tree: Some(note(engine, Some(erasure.entries))?.root()),
            proofs: proofs.collect::<Result<_, Error>>()?,
            begun: erasure.begun.iter().map(|row| row.get()).collect(),
            erased: erasure.erased.len() as u64,
            root: ErasureReceipt::root_of(&erasure.erased),
            blanked: erasure.blanked,
            kept: kept
                .map(|(address, rule)| (*address, rule.name().to_owned()))
                .collect(),
            mentions: erasure.mentions.len() as u64,
            locked_persons: erasure.locked_persons,
            records: erasure.records,
            #[cfg(feature = "sealing")]
            epochs: erasure.keys.first().map(|key| (key.from, key.to)),
            #[cfg(not(feature = "sealing"))]
            epochs: None,
            #[cfg(feature = "sealing")]
            key_check: erasure.keys.first().map(|key| key.key_check),
            #[cfg(not(feature = "sealing"))]
            key_check: None,
            #[cfg(feature = "sealing")]
            escrows: remaining_escrows(engine, erasure.time),
            #[cfg(not(feature = "sealing"))]
            escrows: Vec::new(),
        };
        Ok(receipt.sign(key, did)?)
    }

    /// Returns whether a receipt is of this store, is proven in itself, and the store's ledger begins with the entries that
    /// the receipt states, the erasures among them. Every byte of the ledger is read and verified.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`.
    pub fn agrees_with(self, receipt: &ErasureReceipt) -> Result<bool, Error> {
        let engine = self.engine();
        let found = engine.ledger().verify_at(&[receipt.entries])?;
        let mut heads = found.tree_heads.iter();
        let is_same = receipt.store == engine.store_id()
            && found.findings.is_empty()
            && InclusionProof::prove_erasure(receipt)
            && heads.any(|at| {
                let is_root = receipt.tree.is_none_or(|tree| tree == at.root);
                is_root && at.entries == receipt.entries && at.head == receipt.head
            });
        if !is_same {
            return Ok(false);
        }
        for row in receipt.begun.iter().copied().map(EntryId::new) {
            if row.get() >= receipt.entries {
                return Ok(false);
            }
            match engine.record_at(row) {
                Ok(Record::Erasing(_)) => {}
                Err(error) if error.code() != ErrorCode::Erased => return Err(error),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
