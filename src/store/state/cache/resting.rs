//! A cache of what grains rest on and whom they are about: a grain never changes, so each is read
//! once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::ledger::EntryId;
use crate::process::Mutex;
use crate::store::Error;

/// The facts about a grain that decide under which consent it is read (OMS 8.10).
#[derive(Debug)]
pub(crate) struct Resting {
    pub(crate) is_consent: bool,
    pub(crate) namespace: String,
    /// The consent in its `processing_basis`.
    pub(crate) basis: Option<ContentAddress>,
    pub(crate) person: Option<String>,
}

/// The facts about grains that were read, by row.
#[derive(Debug, Default)]
pub(crate) struct RestingCache(Mutex<HashMap<EntryId, Arc<Resting>>>);

impl RestingCache {
    /// Returns the facts about the grain of a row, read now if they are not remembered.
    ///
    /// # Errors
    /// As `read`.
    pub(crate) fn get_or(
        &self,
        row: EntryId,
        read: impl FnOnce() -> Result<Resting, Error>,
    ) -> Result<Arc<Resting>, Error> {
        if let Some(known) = self.0.lock().get(&row) {
            return Ok(Arc::clone(known));
        }
        let resting = Arc::new(read()?);
        let mut known = self.0.lock();
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(row, Arc::clone(&resting));
        Ok(resting)
    }

    pub(super) fn forget(&self, erased: &[EntryId]) {
        let mut known = self.0.lock();
        erased.iter().for_each(|row| {
            known.remove(row);
        });
    }
}

/// A bound of some ten megabytes; facts beyond it are read again.
const REMEMBERED_MAX: usize = 1 << 16;
