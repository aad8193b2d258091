//! The keys of messages that a renewed data key still opens.

use std::collections::BTreeSet;

use crate::crypto::RetainedKeys;
use crate::ledger::{self, EntryId};
use crate::store::Error;
use crate::store::engine::Engine;
use crate::store::records::{SealedRecord, Uid};
use crate::vault::{self, Unlocked};

/// Returns the keys of the messages of every entry that is stored of a person, but for those
/// that go.
///
/// # Errors
/// `ERR_STORAGE_DAMAGED`; storage errors.
pub(crate) fn retained_keys(
    engine: &Engine,
    uid: &Uid,
    keys: &Unlocked,
    gone: &BTreeSet<EntryId>,
) -> Result<RetainedKeys, Error> {
    let mut headers = Vec::new();
    for row in engine.snapshot().sealed_for(uid).rows()?.iter() {
        if gone.contains(&row) {
            continue;
        }
        let entry = match engine.ledger().read(row) {
            Err(ledger::Error::Erased { .. }) => continue,
            entry => entry?,
        };
        let Some(mut sealed) = SealedRecord::decode(&entry.body) else {
            continue;
        };
        // The index holds a hash of the pseudonym.
        if sealed.card.uid == *uid {
            sealed.envelope.truncate(RetainedKeys::HEADER_LEN);
            sealed.envelope.shrink_to_fit();
            headers.push(sealed.envelope);
        }
    }
    let keys = keys.keys().ok_or(Error::Locked)?;
    let retained = keys.retain(&headers);
    Ok(retained.map_err(|_| vault::Error::Damaged {
        reason: "an entry that its person does not open",
    })?)
}
