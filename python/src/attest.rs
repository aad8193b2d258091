//! Signed statements about a store: checkpoints of its ledger, receipts for grains and for erasures.

use grainstore::crypto::{ErasureReceipt, Offline, Receipt};
use grainstore::store::{InclusionProof, Person};
use grainstore_server::receipt_json;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;
use crate::signing::SigningKey;
use crate::store::Store;
use crate::value::address;

/// The message, the signer, the time of the erasure, the number of entries of the ledger then, of erased
/// grains, of entries that were blanked, of grains that mention the person, and whether the erasure is
/// proven to be in the ledger that was signed.
type Opened = (String, i64, u64, u64, u64, u64, Vec<(String, String)>, bool);

/// Verifies the signature of a receipt for an erasure and returns its content.
#[pyfunction]
pub(crate) fn open_erasure_receipt(py: Python<'_>, message: &[u8]) -> PyResult<Opened> {
    let (receipt, signer) = opened(py, message)?;
    let kept = receipt.kept.iter();
    let kept = kept.map(|(address, rule)| (address.to_string(), rule.clone()));
    Ok((
        signer,
        receipt.time.ms(),
        receipt.entries,
        receipt.erased,
        receipt.blanked,
        receipt.mentions,
        kept.collect(),
        InclusionProof::prove_erasure(&receipt),
    ))
}

/// Returns whether a receipt is about the person of an identifier.
#[pyfunction]
pub(crate) fn erasure_receipt_names(py: Python<'_>, message: &[u8], id: &str) -> PyResult<bool> {
    let (receipt, _) = opened(py, message)?;
    Ok(Person::new(id).ids().iter().any(|id| receipt.names(id)))
}

/// Returns a receipt as the JSON document that `grainstore user verify` reads.
#[pyfunction]
pub(crate) fn erasure_receipt_json(py: Python<'_>, message: &[u8]) -> PyResult<String> {
    let document = receipt_json(message);
    let document = document.map_err(|source| error::of(py, &source.into()))?;
    Ok(format!("{document:#}"))
}

/// Verifies the signature of a receipt for a grain: the signer, the address, the entry and the time.
#[pyfunction]
pub(crate) fn open_receipt(py: Python<'_>, message: &[u8]) -> PyResult<(String, String, u64, i64)> {
    let opened = Receipt::open(message, &Offline);
    let (receipt, signer) = opened.map_err(|source| error::of(py, &source.into()))?;
    let address = receipt.grain.to_string();
    let signer = signer.did.to_string();
    Ok((signer, address, receipt.sequence, receipt.time.ms()))
}

fn opened(py: Python<'_>, message: &[u8]) -> PyResult<(ErasureReceipt, String)> {
    let opened = ErasureReceipt::open(message, &Offline);
    let (receipt, signer) = opened.map_err(|source| error::of(py, &source.into()))?;
    Ok((receipt, signer.did.to_string()))
}

#[pymethods]
impl Store {
    fn agrees_with(&self, py: Python<'_>, message: &[u8]) -> PyResult<bool> {
        self.ask(py, |store| {
            let (receipt, _) = ErasureReceipt::open(message, &Offline)?;
            store.admin()?.agrees_with(&receipt)
        })
    }

    fn receipt<'py>(
        &self,
        py: Python<'py>,
        of: &Bound<'_, PyAny>,
        key: &Bound<'_, SigningKey>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (address, key) = (address(of)?, key.get().key());
        let message = self.ask(py, |store| {
            store.maintenance()?.receipt(&address, key, &key.did())
        })?;
        Ok(PyBytes::new(py, &message))
    }

    fn checkpoint<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'_, SigningKey>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let key = key.get().key();
        let message = self.ask(py, |store| store.maintenance()?.checkpoint(key, &key.did()))?;
        Ok(PyBytes::new(py, &message))
    }

    /// Returns the signer of a checkpoint, its time, its number of entries, and whether the ledger begins
    /// with these.
    fn verify_checkpoint(
        &self,
        py: Python<'_>,
        message: &[u8],
    ) -> PyResult<(String, i64, u64, bool)> {
        let checked = self.ask(py, |store| store.maintenance()?.verify_checkpoint(message))?;
        let signed = checked.checkpoint;
        let signer = checked.signer.did.to_string();
        Ok((
            signer,
            signed.time.ms(),
            signed.entries,
            checked.is_of_this_ledger,
        ))
    }
}
