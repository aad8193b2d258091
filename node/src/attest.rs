//! Signed statements about a store: checkpoints of its ledger, receipts for grains and for erasures.

use std::collections::HashMap;

use grainstore::crypto::{self, Offline};
use grainstore::store::{InclusionProof, Person};
use grainstore_server::receipt_json;
use napi::bindgen_prelude::{Result, Uint8Array};
use napi_derive::napi;

use crate::ask::{Abort, Promised};
use crate::failure;
use crate::signing::SigningKey;
use crate::store::Store;
use crate::value::address;

/// The content of a receipt for an erasure.
#[napi(object, object_from_js = false)]
pub struct OpenedErasure {
    /// The DID of the signer, whom the reader may trust or not.
    pub signer: String,
    /// When the erasure was complete, by the clock of the store, in milliseconds since 1970.
    pub time: i64,
    /// The number of entries of the ledger then.
    pub entries: f64,
    /// The number of grains that were erased.
    pub erased: f64,
    /// The number of entries that were blanked: grains, and entries about them.
    pub blanked: f64,
    /// The number of grains that mention the person and stay.
    pub mentions: f64,
    /// The grains that stay, each with the rule that keeps it.
    pub kept: HashMap<String, String>,
    /// Whether the entries of the erasure are proven to be in the ledger that was signed.
    pub is_proven: bool,
}

/// Verifies the signature of a receipt for an erasure and returns its content.
#[napi]
pub fn open_erasure_receipt(message: Uint8Array) -> Result<OpenedErasure> {
    let (receipt, signer) = opened(&message)?;
    let kept = receipt.kept.iter();
    Ok(OpenedErasure {
        signer,
        time: receipt.time.ms(),
        entries: receipt.entries as f64,
        erased: receipt.erased as f64,
        blanked: receipt.blanked as f64,
        mentions: receipt.mentions as f64,
        kept: kept
            .map(|(address, rule)| (address.to_string(), rule.clone()))
            .collect(),
        is_proven: InclusionProof::prove_erasure(&receipt),
    })
}

/// Returns whether a receipt is about the person of an identifier.
#[napi]
pub fn erasure_receipt_names(message: Uint8Array, id: String) -> Result<bool> {
    let (receipt, _) = opened(&message)?;
    Ok(Person::new(&id).ids().iter().any(|id| receipt.names(id)))
}

/// Returns a receipt as the JSON document that `grainstore user verify` reads.
#[napi]
pub fn erasure_receipt_json(message: Uint8Array) -> Result<String> {
    let document = receipt_json(&message);
    let document = document.map_err(|source| failure::of(&source.into()))?;
    Ok(format!("{document:#}"))
}

/// The content of a receipt for a grain.
#[napi(object, object_from_js = false)]
pub struct OpenedReceipt {
    /// The DID of the signer, whom the reader may trust or not.
    pub signer: String,
    pub address: String,
    /// The number of the entry of the ledger.
    pub entry: f64,
    /// When it was stored, by the clock of the store, in milliseconds since 1970.
    pub time: i64,
}

/// Verifies the signature of a receipt for a grain and returns its content.
#[napi]
pub fn open_receipt(message: Uint8Array) -> Result<OpenedReceipt> {
    let opened = crypto::Receipt::open(&message, &Offline);
    let (receipt, signer) = opened.map_err(|source| failure::of(&source.into()))?;
    Ok(OpenedReceipt {
        signer: signer.did.to_string(),
        address: receipt.grain.to_string(),
        entry: receipt.sequence as f64,
        time: receipt.time.ms(),
    })
}

fn opened(message: &[u8]) -> Result<(crypto::ErasureReceipt, String)> {
    let opened = crypto::ErasureReceipt::open(message, &Offline);
    let (receipt, signer) = opened.map_err(|source| failure::of(&source.into()))?;
    Ok((receipt, signer.did.to_string()))
}

/// A checkpoint, compared with the ledger of a store.
#[napi(object, object_from_js = false)]
pub struct Checkpoint {
    /// The DID of the signer, whom the reader may trust or not.
    pub signer: String,
    /// When it was signed, in milliseconds since 1970.
    pub time: i64,
    /// The number of entries that were signed.
    pub entries: f64,
    /// Whether the ledger begins with these entries; if not, it was rolled back or rewritten.
    pub is_of_this_ledger: bool,
}

#[napi]
impl Store {
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn agrees_with(&self, message: Uint8Array, abort: Option<&Abort>) -> Promised<bool> {
        let message = message.to_vec();
        self.ask(abort, move |store| {
            let (receipt, _) = crypto::ErasureReceipt::open(&message, &Offline)?;
            store.admin()?.agrees_with(&receipt)
        })
    }

    #[napi(ts_return_type = "Promise<Uint8Array>")]
    pub fn receipt(
        &self,
        of: String,
        key: &SigningKey,
        abort: Option<&Abort>,
    ) -> Result<Promised<Uint8Array>> {
        let (address, key) = (address(&of)?, key.shared());
        Ok(self.ask(abort, move |store| {
            let message = store.maintenance()?.receipt(&address, &key, &key.did())?;
            Ok(Uint8Array::from(message))
        }))
    }

    #[napi(ts_return_type = "Promise<Uint8Array>")]
    pub fn checkpoint(&self, key: &SigningKey, abort: Option<&Abort>) -> Promised<Uint8Array> {
        let key = key.shared();
        self.ask(abort, move |store| {
            let message = store.maintenance()?.checkpoint(&key, &key.did())?;
            Ok(Uint8Array::from(message))
        })
    }

    #[napi(ts_return_type = "Promise<Checkpoint>")]
    pub fn verify_checkpoint(
        &self,
        message: Uint8Array,
        abort: Option<&Abort>,
    ) -> Promised<Checkpoint> {
        let message = message.to_vec();
        self.ask(abort, move |store| {
            let checked = store.maintenance()?.verify_checkpoint(&message)?;
            Ok(Checkpoint {
                signer: checked.signer.did.to_string(),
                time: checked.checkpoint.time.ms(),
                entries: checked.checkpoint.entries as f64,
                is_of_this_ledger: checked.is_of_this_ledger,
            })
        })
    }
}
