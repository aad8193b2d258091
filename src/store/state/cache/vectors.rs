//! A cache of the matrices of models, built from the ledger on first use.

use std::collections::BTreeMap;

use parking_lot::RwLock;

use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::vector::Matrix;

#[derive(Debug, Default)]
pub(crate) struct Vectors(RwLock<Views>);

#[derive(Debug, Default)]
struct Views {
    of_models: BTreeMap<String, View>,
    /// The entries of unlocked persons that became readable after they were committed.
    revealed: RowSet,
}

/// The vectors of one model.
#[derive(Debug)]
struct View {
    matrix: Matrix,
    /// The number of ledger entries that it covers.
    seen: u64,
    /// The row of the grain by the row of the entry, so that erased vectors are forgotten.
    entries: BTreeMap<EntryId, EntryId>,
    /// Entries among the first `seen` that are to be read yet.
    missing: RowSet,
}

/// A vector of a grain, with the row of the grain.
#[derive(Debug)]
pub(crate) struct StoredAt {
    /// The row of the grain.
    pub(crate) grain: EntryId,
    pub(crate) vector: Vec<f32>,
}

impl Vectors {
    /// Passes on the matrix of a model that covers the first `end` entries of the ledger; `None` if
    /// the model has no vector. `rows` returns the entries that hold a vector, and `read` reads one
    /// of them; it returns `None` for a vector of another model.
    ///
    /// # Errors
    /// As `rows` and `read`.
    pub(crate) fn with<T, E>(
        &self,
        model: &str,
        end: u64,
        rows: impl FnOnce() -> Result<RowSet, E>,
        mut read: impl FnMut(EntryId) -> Result<Option<StoredAt>, E>,
        ask: impl FnOnce(&Matrix) -> T,
    ) -> Result<Option<T>, E> {
        {
            let views = self.0.read();
            let view = views.of_models.get(model);
            if let Some(view) = view.filter(|view| view.seen >= end && view.missing.is_empty()) {
                return Ok(Some(ask(&view.matrix)));
            }
        }
        let mut views = self.0.write();
        let rows = rows()?;
        let known = views.of_models.get(model);
        let (seen, mut missing) = match known {
            Some(view) => (view.seen, view.missing.clone()),
            None => (0, RowSet::default()),
        };
        let mut unread = missing.clone();
        unread.intersect(&rows);
        let unread: Vec<_> = unread.iter().collect();
        for entry in unread.into_iter().chain(rows.iter_from(EntryId::new(seen))) {
            let Some(stored) = read(entry)? else {
                continue;
            };
            let view = views.of_models.entry(model.to_owned());
            let view = view.or_insert_with(|| View::new(stored.vector.len()));
            if view.matrix.set(stored.grain, &stored.vector) {
                view.entries.insert(entry, stored.grain);
            }
        }
        // A snapshot from before the unlocking lacks entries: a later one reads them.
        if seen == 0 {
            missing.unite(&views.revealed);
        }
        missing.subtract(&rows);
        Ok(views.of_models.get_mut(model).map(|view| {
            view.seen = view.seen.max(end);
            view.missing = missing;
            ask(&view.matrix)
        }))
    }

    /// Has entries read that became readable after they were committed: those of a person who was
    /// unlocked.
    #[cfg(any(feature = "sealing", test))]
    pub(crate) fn reveal(&self, entries: &RowSet) {
        let views = &mut *self.0.write();
        views.revealed.unite(entries);
        for view in views.of_models.values_mut() {
            view.missing.unite(entries);
        }
    }

    /// Forgets entries that were erased, or whose person was locked.
    pub(super) fn forget(&self, entries: &[EntryId]) {
        let views = &mut *self.0.write();
        entries.iter().for_each(|row| views.revealed.remove(*row));
        // A model without vectors has no dimensions, as after opening.
        views.of_models.retain(|_, view| {
            for entry in entries {
                view.missing.remove(*entry);
                if let Some(grain) = view.entries.remove(entry) {
                    view.matrix.remove(grain);
                }
            }
            !view.matrix.is_empty()
        });
    }
}

impl View {
    fn new(dimensions: usize) -> Self {
        Self {
            matrix: Matrix::new(dimensions),
            seen: 0,
            entries: BTreeMap::new(),
            missing: RowSet::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// Entry `n` holds a vector of grain `100 + n / 2`, of model `a` or, every third, of `b`.
    fn ask(vectors: &Vectors, model: &str, visible: &RowSet, end: u64) -> Option<Vec<EntryId>> {
        let read = |entry: EntryId| {
            let of = if entry.get().is_multiple_of(3) {
                "b"
            } else {
                "a"
            };
            let [x, y] = [entry.get() % 7, 1 + entry.get() % 5].map(|n| n as f32);
            let grain = EntryId::new(100 + entry.get() / 2);
            let vector = vec![x, y];
            Ok::<_, Infallible>((of == model).then_some(StoredAt { grain, vector }))
        };
        let rows = || Ok(visible.iter().filter(|row| row.get() < end).collect());
        let nearest = |matrix: &Matrix| {
            let near = matrix.nearest(&[1.0, 0.5], usize::MAX, &|_| true);
            near.into_iter().map(|near| near.row).collect()
        };
        let Ok(found) = vectors.with(model, end, rows, read, nearest);
        found
    }

    fn rows(rows: impl IntoIterator<Item = u64>) -> RowSet {
        rows.into_iter().map(EntryId::new).collect()
    }

    proptest! {
        /// A person owns the entries of every fourth grain.
        #[test]
        fn vectors_answer_as_if_those_of_a_locked_person_were_never_there(
            steps in prop::collection::vec((0_u8..4, 0_usize..2, 0_u64..9), 1..30),
        ) {
            let of_person = |row: u64| row / 2 % 4 == 1;
            let vectors = Vectors::default();
            let (mut end, mut is_unlocked) = (1, false);
            let visible = |end, is_unlocked| rows((0..end).filter(|row| is_unlocked || !of_person(*row)));
            for (step, model, more) in steps {
                let model = ["a", "b"][model];
                let before = visible(end, is_unlocked);
                match step {
                    0 => end += more,
                    1 if !is_unlocked => {
                        is_unlocked = true;
                        vectors.reveal(&rows((0..end).filter(|row| of_person(*row))));
                        // A search that began before the unlocking has the snapshot of then.
                        ask(&vectors, model, &before, end);
                    }
                    2 if is_unlocked => {
                        is_unlocked = false;
                        let locked: Vec<_> = (0..end).filter(|row| of_person(*row)).map(EntryId::new).collect();
                        vectors.forget(&locked);
                    }
                    _ => {}
                }
                let visible = visible(end, is_unlocked);
                let expected = ask(&Vectors::default(), model, &visible, end);
                prop_assert_eq!(ask(&vectors, model, &visible, end), expected);
            }
        }
    }
}
