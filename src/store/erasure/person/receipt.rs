//! Receipts for erasures of persons: signed by the operator's key, and compared with a ledger.

use crate::code::ErrorCode;
use crate::crypto::ErasureReceipt;
#[cfg(feature = "signatures")]
use crate::crypto::{Did, SigningKey};
use crate::ledger::{EntryId, verify_at};
#[cfg(feature = "signatures")]
use crate::store::audit::inclusion_proof;
#[cfg(feature = "signatures")]
use crate::store::engine::note;
#[cfg(all(feature = "sealing", feature = "signatures"))]
#[cfg(feature = "signatures")]
use crate::store::keys::remaining_escrows;
use crate::store::records::Record;
use crate::store::{Error, InclusionProof, Owner};

#[cfg(feature = "signatures")]
use super::erase::PersonErasure;

/// See [`Admin::erasure_receipt`](crate::Admin::erasure_receipt).
#[cfg(feature = "signatures")]
pub(crate) fn erasure_receipt(
    owner: Owner<'_>,
    erasure: &PersonErasure,
    key: &SigningKey,
    did: &Did,
) -> Result<Vec<u8>, Error> {
    let engine = owner.engine();
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

/// See [`Admin::agrees_with`](crate::Admin::agrees_with).
pub(crate) fn agrees_with(owner: Owner<'_>, receipt: &ErasureReceipt) -> Result<bool, Error> {
    let engine = owner.engine();
    let found = verify_at(engine.ledger(), &[receipt.entries])?;
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
