//! The readable form of a receipt for an erasure.

use data_encoding::HEXLOWER;
use grainstore::crypto::{self, ErasureReceipt, Offline};
use serde_json::{Value, json};

/// Returns a receipt with its readable part, which is derived from the signed message.
///
/// ```
/// assert!(grainstore_server::receipt_json(b"no receipt").is_err());
/// ```
///
/// # Errors
/// As [`ErasureReceipt::open`].
pub fn receipt_json(message: &[u8]) -> Result<Value, crypto::Error> {
    let (receipt, signer) = ErasureReceipt::open(message, &Offline)?;
    let hex = |bytes: &[u8]| HEXLOWER.encode(bytes);
    let persons: Vec<_> = receipt.persons.iter().map(|hash| hex(hash)).collect();
    let kept = receipt.kept.iter();
    let kept = kept.map(|(address, rule)| json!({ "address": address.to_string(), "rule": rule }));
    let escrows = receipt.escrows.iter();
    let escrows = escrows.map(|(name, end)| json!({ "name": name, "until": end.ms() }));
    let mut document = json!({
        "receipt": hex(message),
        "signer": signer.did.as_str(),
        "store_id": hex(&receipt.store),
        "nonce": hex(&receipt.nonce),
        "persons": persons,
        "time": receipt.time.ms(),
        "entries": receipt.entries,
        "head": hex(&receipt.head),
        "begun": receipt.begun,
        "erased": receipt.erased,
        "root": hex(&receipt.root),
        "entries_blanked": receipt.blanked,
        "kept": kept.collect::<Vec<_>>(),
        "mentions": receipt.mentions,
        "records": receipt.records,
    });
    if receipt.locked_persons > 0 {
        document["locked_persons"] = json!(receipt.locked_persons);
    }
    if let Some(tree) = &receipt.tree {
        let proofs = receipt.proofs.iter().map(|proof| hex(proof));
        document["tree"] = json!(hex(tree));
        document["proofs"] = json!(proofs.collect::<Vec<_>>());
    }
    if let Some((before, after)) = receipt.epochs {
        document["epochs"] = json!([before, after]);
    }
    if let Some(check) = &receipt.key_check {
        document["key_check"] = json!(hex(check));
    }
    if !receipt.escrows.is_empty() {
        document["escrows"] = json!(escrows.collect::<Vec<_>>());
    }
    Ok(document)
}
