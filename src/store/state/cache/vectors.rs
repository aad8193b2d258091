//! A cache of the matrices of models, built from the ledger on first use.

use std::collections::BTreeMap;

use parking_lot::RwLock;

use crate::ledger::EntryId;
use crate::vector::Matrix;

#[derive(Debug, Default)]
pub(crate) struct Vectors(RwLock<BTreeMap<String, View>>);

/// The vectors of one model.
#[derive(Debug)]
struct View {
    matrix: Matrix,
    /// The number of ledger entries that it covers.
    seen: u64,
    /// The row of the grain by the row of the entry, so that erased vectors are forgotten.
    entries: BTreeMap<EntryId, EntryId>,
}

/// A vector of a grain, with the rows of both.
#[derive(Debug)]
pub(crate) struct StoredAt {
    /// The row of the entry.
    pub(crate) entry: EntryId,
    /// The row of the grain.
    pub(crate) grain: EntryId,
    pub(crate) vector: Vec<f32>,
}

impl Vectors {
    /// Passes on the matrix of a model that covers the first `end` entries of the ledger; `None` if
    /// the model has no vector. `read` returns the vectors of the model from an entry on.
    ///
    /// # Errors
    /// As `read`.
    pub(crate) fn with<T, E>(
        &self,
        model: &str,
        end: u64,
        read: impl FnOnce(EntryId) -> Result<Vec<StoredAt>, E>,
        ask: impl FnOnce(&Matrix) -> T,
    ) -> Result<Option<T>, E> {
        {
            let views = self.0.read();
            if let Some(view) = views.get(model).filter(|view| view.seen >= end) {
                return Ok(Some(ask(&view.matrix)));
            }
        }
        let mut views = self.0.write();
        let seen = views.get(model).map_or(0, |view| view.seen);
        for stored in read(EntryId::new(seen))? {
            let view = views.entry(model.to_owned()).or_insert_with(|| View {
                matrix: Matrix::new(stored.vector.len()),
                seen: 0,
                entries: BTreeMap::new(),
            });
            if view.matrix.set(stored.grain, &stored.vector) {
                view.entries.insert(stored.entry, stored.grain);
            }
        }
        Ok(views.get_mut(model).map(|view| {
            view.seen = view.seen.max(end);
            ask(&view.matrix)
        }))
    }

    /// Forgets all vectors.
    #[cfg(feature = "sealing")]
    pub(super) fn clear(&self) {
        self.0.write().clear();
    }

    pub(super) fn forget(&self, erased: &[EntryId]) {
        for view in self.0.write().values_mut() {
            for row in erased {
                if let Some(grain) = view.entries.remove(row) {
                    view.matrix.remove(grain);
                }
            }
        }
    }
}
