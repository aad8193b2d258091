//! A cache of the indexes over the vectors of models, built from the ledger on first use.

use std::collections::BTreeMap;

use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::process::RwLock;
use crate::vector::{Thresholds, VectorIndex};

#[derive(Debug, Default)]
pub(crate) struct Vectors {
    views: RwLock<Views>,
    thresholds: Thresholds,
}

#[derive(Debug, Default)]
struct Views {
    of_models: BTreeMap<String, View>,
    /// The entries of unlocked persons that became readable after they were committed.
    revealed: RowSet,
}

/// The vectors of one model.
#[derive(Debug)]
struct View {
    index: VectorIndex,
    /// The number of ledger entries that it covers.
    seen: u64,
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
    /// Passes on the index of a model that covers the first `end` entries of the ledger; `None` if
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
        ask: impl FnOnce(&VectorIndex) -> T,
    ) -> Result<Option<T>, E> {
        {
            let views = self.views.read();
            let view = views.of_models.get(model);
            if let Some(view) = view.filter(|view| view.is_ready(end)) {
                return Ok(Some(ask(&view.index)));
            }
        }
        let mut views = self.views.write();
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
            let view = view.or_insert_with(|| View::new(stored.vector.len(), self.thresholds));
            view.index.set(entry, stored.grain, &stored.vector);
        }
        // A snapshot from before the unlocking lacks entries: a later one reads them.
        if seen == 0 {
            missing.unite(&views.revealed);
        }
        missing.subtract(&rows);
        Ok(views.of_models.get_mut(model).map(|view| {
            view.seen = view.seen.max(end);
            view.missing = missing;
            view.index.prepare(view.seen);
            ask(&view.index)
        }))
    }

    /// Has entries read that became readable after they were committed: those of a person who was
    /// unlocked.
    #[cfg(any(feature = "sealing", test))]
    pub(crate) fn reveal(&self, entries: &RowSet) {
        let views = &mut *self.views.write();
        views.revealed.unite(entries);
        for view in views.of_models.values_mut() {
            view.missing.unite(entries);
        }
    }

    /// Forgets entries that were erased, or whose person was locked.
    pub(super) fn forget(&self, entries: &[EntryId]) {
        let views = &mut *self.views.write();
        entries.iter().for_each(|row| views.revealed.remove(*row));
        // A model without vectors has no dimensions, as after opening. Vectors that are few again
        // are read anew, exact.
        views.of_models.retain(|_, view| {
            for entry in entries {
                view.missing.remove(*entry);
                view.index.remove(*entry);
            }
            !view.index.is_empty() && !view.index.is_to_be_exact()
        });
    }
}

impl View {
    fn new(dimensions: usize, thresholds: Thresholds) -> Self {
        Self {
            index: VectorIndex::new(dimensions, thresholds),
            seen: 0,
            missing: RowSet::default(),
        }
    }

    /// Returns whether it answers for the first `end` entries as it is.
    fn is_ready(&self, end: u64) -> bool {
        self.seen >= end && self.missing.is_empty() && self.index.is_prepared(self.seen)
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
        let nearest = |index: &VectorIndex| {
            let (near, total) = index.nearest(&[1.0, 0.5], 5, index.rows());
            assert!(near.len() as u64 <= total);
            near.into_iter().map(|near| near.row).collect()
        };
        let Ok(found) = vectors.with(model, end, rows, read, nearest);
        found
    }

    /// Vectors are kept in cells from a few on.
    fn vectors(exact_max: usize) -> Vectors {
        let thresholds = Thresholds {
            exact_max,
            all_compared: 4,
            compared_min: 4,
        };
        Vectors {
            thresholds,
            ..Vectors::default()
        }
    }

    fn rows(rows: impl IntoIterator<Item = u64>) -> RowSet {
        rows.into_iter().map(EntryId::new).collect()
    }

    proptest! {
        /// A person owns the entries of every fourth grain.
        #[test]
        fn vectors_answer_as_if_those_of_a_locked_person_were_never_there(
            steps in prop::collection::vec((0_u8..4, 0_usize..2, 0_u64..90), 1..30),
            exact_max in prop::sample::select(vec![8, 60, 50_000]),
        ) {
            let of_person = |row: u64| row / 2 % 4 == 1;
            let all = vectors(exact_max);
            let (mut end, mut is_unlocked) = (1, false);
            let visible = |end, is_unlocked| rows((0..end).filter(|row| is_unlocked || !of_person(*row)));
            for (step, model, more) in steps {
                let model = ["a", "b"][model];
                let before = visible(end, is_unlocked);
                match step {
                    0 => end += more,
                    1 if !is_unlocked => {
                        is_unlocked = true;
                        all.reveal(&rows((0..end).filter(|row| of_person(*row))));
                        // A search that began before the unlocking has the snapshot of then.
                        ask(&all, model, &before, end);
                    }
                    2 if is_unlocked => {
                        is_unlocked = false;
                        let locked: Vec<_> = (0..end).filter(|row| of_person(*row)).map(EntryId::new).collect();
                        all.forget(&locked);
                    }
                    _ => {}
                }
                let visible = visible(end, is_unlocked);
                let expected = ask(&vectors(exact_max), model, &visible, end);
                prop_assert_eq!(ask(&all, model, &visible, end), expected);
            }
        }
    }
}
