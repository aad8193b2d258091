//! The index over the vectors of one model: all are compared while they are few, and those of the
//! nearest cells when they are many.
//!
//! It is a function of the vectors that it holds and of the ledger's length, never of the way in
//! which they came or of vectors that are gone, so that every process answers the same.

use std::collections::{BTreeMap, HashSet};

use super::best::Near;
use super::dot::dot_quantized;
use super::lists::Lists;
use super::matrix::Matrix;
use super::unit::{cosine, quantized, unit};
use crate::index::RowSet;
use crate::ledger::EntryId;

/// The vectors of one model, one for a row, each from an entry of the ledger.
///
/// ```
/// use grainstore::ledger::EntryId;
/// use grainstore::vector::{Thresholds, VectorIndex};
///
/// let mut index = VectorIndex::new(2, Thresholds::default());
/// index.set(EntryId::new(8), EntryId::new(7), &[1.0, 0.0]);
/// index.set(EntryId::new(10), EntryId::new(9), &[0.0, 3.0]);
/// index.prepare(11);
/// let (near, total) = index.nearest(&[1.0, 2.0], 1, index.rows());
/// assert_eq!((near[0].row, total), (EntryId::new(9), 2));
/// ```
#[derive(Debug)]
pub struct VectorIndex {
    thresholds: Thresholds,
    form: Form,
    /// The row by the entry that brought its vector.
    entries: BTreeMap<EntryId, EntryId>,
    rows: RowSet,
    /// The state that the cells were computed from; `None` if they are to be computed.
    sample: Option<Sample>,
}

/// The numbers of vectors at which searches become approximate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// The number of vectors up to which all are kept as `f32` and compared.
    pub exact_max: usize,
    /// The number of rows up to which all that a filter shows are compared.
    pub all_compared: usize,
    /// The number of vectors that a search among more compares at least.
    pub compared_min: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            exact_max: 50_000,
            all_compared: 12_000,
            compared_min: 8_192,
        }
    }
}

#[derive(Debug)]
enum Form {
    Exact(Matrix),
    Lists(Lists),
}

/// The vectors that the cells were computed from: of those brought by the entries in a span the ones
/// with the least hashes.
#[derive(Debug)]
struct Sample {
    span: [u64; 2],
    rows: HashSet<EntryId>,
    /// The greatest hash in the sample, if others were left out.
    bound: Option<u64>,
}

impl VectorIndex {
    /// Makes an empty index for vectors with this many numbers.
    pub fn new(dimensions: usize, thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            form: Form::Exact(Matrix::new(dimensions)),
            entries: BTreeMap::new(),
            rows: RowSet::default(),
            sample: None,
        }
    }

    /// Returns how many numbers its vectors have.
    pub const fn dimensions(&self) -> usize {
        match &self.form {
            Form::Exact(matrix) => matrix.dimensions(),
            Form::Lists(lists) => lists.dimensions(),
        }
    }

    /// Returns how many vectors there are.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Exact(matrix) => matrix.len(),
            Form::Lists(lists) => lists.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rows that have a vector.
    pub const fn rows(&self) -> &RowSet {
        &self.rows
    }

    /// Returns whether it holds rounded vectors of so few that exact ones are due: the owner makes a
    /// new one.
    pub fn is_to_be_exact(&self) -> bool {
        matches!(self.form, Form::Lists(_)) && self.len() <= self.thresholds.exact_max
    }

    /// Sets the vector of a row, in place of what it had, as an entry brought it. One that has no
    /// direction, or not as many numbers as the others, is passed over.
    pub fn set(&mut self, entry: EntryId, row: EntryId, vector: &[f32]) {
        let Some(unit) = unit(vector).filter(|unit| unit.len() == self.dimensions()) else {
            return;
        };
        match &mut self.form {
            Form::Exact(matrix) => drop(matrix.set(row, vector)),
            Form::Lists(lists) => lists.set(row, &quantized(&unit)),
        }
        self.entries.insert(entry, row);
        self.rows.insert(row);
        if self
            .sample
            .as_ref()
            .is_some_and(|it| it.changes(entry, row))
        {
            self.forget_sample();
        }
        if let Form::Exact(matrix) = &mut self.form
            && matrix.len() > self.thresholds.exact_max
        {
            let mut lists = Lists::new(matrix.dimensions(), self.thresholds);
            for (row, unit) in matrix.drain() {
                lists.set(row, &quantized(&unit));
            }
            self.form = Form::Lists(lists);
        }
    }

    /// Forgets the vector that an entry brought.
    pub fn remove(&mut self, entry: EntryId) {
        let Some(row) = self.entries.remove(&entry) else {
            return;
        };
        self.rows.remove(row);
        match &mut self.form {
            Form::Exact(matrix) => matrix.remove(row),
            Form::Lists(lists) => lists.remove(row),
        }
        // The cells contain a trace of what they were computed from.
        if self
            .sample
            .as_ref()
            .is_some_and(|it| it.rows.contains(&row))
        {
            self.forget_sample();
        }
    }

    fn forget_sample(&mut self) {
        self.sample = None;
        if let Form::Lists(lists) = &mut self.form {
            lists.forget_partition();
        }
    }

    /// Returns whether searches are as fast as they can be, for a ledger with `end` entries.
    pub fn is_prepared(&self, end: u64) -> bool {
        let span = self.sample.as_ref().map(|sample| sample.span);
        matches!(self.form, Form::Exact(_)) || span == Some(self.span(end))
    }

    /// Computes the cells of many vectors, for a ledger with `end` entries. They are computed anew
    /// when the ledger has doubled, or a vector that they were computed from has changed.
    pub fn prepare(&mut self, end: u64) {
        if self.is_prepared(end) {
            return;
        }
        let span = self.span(end);
        let [from, to] = span.map(EntryId::new);
        let mut hashed: Vec<(u64, EntryId)> = self
            .entries
            .range(from..to)
            .map(|(entry, row)| (hash(*entry), *row))
            .collect();
        hashed.sort_unstable();
        let is_cut = hashed.len() > SAMPLE_LEN;
        hashed.truncate(SAMPLE_LEN);
        let bound = hashed.last().map(|(hash, _)| *hash).filter(|_| is_cut);
        let sampled: Vec<EntryId> = hashed.into_iter().map(|(_, row)| row).collect();
        if let Form::Lists(lists) = &mut self.form {
            lists.partition_by(&sampled);
        }
        self.sample = Some(Sample {
            span,
            rows: sampled.into_iter().collect(),
            bound,
        });
    }

    /// Returns the entries that a sample is taken of: from the first on, as long as the greatest
    /// power of two that the ledger has. So appending changes it only when the ledger has doubled.
    fn span(&self, end: u64) -> [u64; 2] {
        let first = self.entries.first_key_value();
        let first = first.map_or(0, |(entry, _)| entry.get());
        // Rounded, so that few removals of the first entry move it.
        let from = first - first % FIRST_STEP;
        let len = end.saturating_sub(from).checked_ilog2();
        [from, from + len.map_or(0, |exponent| 1 << exponent)]
    }

    /// Returns the `limit` rows nearest to a vector of those in `rows`, nearest first; of equally
    /// near ones the lower row first; and how many of `rows` have a vector.
    pub fn nearest(&self, vector: &[f32], limit: usize, rows: &RowSet) -> (Vec<Near>, u64) {
        let mut candidates = rows.clone();
        candidates.intersect(&self.rows);
        let total = candidates.len();
        let found = match &self.form {
            Form::Exact(matrix) if total < matrix.len() as u64 / FEW_OF => {
                matrix.nearest_of(vector, limit, candidates.iter())
            }
            Form::Exact(matrix) => matrix.nearest(vector, limit, &|row| candidates.contains(row)),
            Form::Lists(lists) => match unit(vector).filter(|it| it.len() == lists.dimensions()) {
                Some(unit) => lists.nearest(&quantized(&unit), limit, &candidates),
                None => Vec::new(),
            },
        };
        (found, total)
    }

    /// Returns the cosine of each row and a vector; `None` of a row without a vector, and of all if
    /// the vector has no direction or another length.
    pub fn cosines(&self, vector: &[f32], rows: &[EntryId]) -> Vec<Option<f32>> {
        match &self.form {
            Form::Exact(matrix) => matrix.cosines(vector, rows),
            Form::Lists(lists) => {
                let unit = unit(vector).filter(|unit| unit.len() == lists.dimensions());
                let asked = unit.map(|unit| quantized(&unit));
                let near = |row: &EntryId| {
                    let dot = dot_quantized(asked.as_ref()?, lists.get(*row)?);
                    Some(cosine(dot))
                };
                rows.iter().map(near).collect()
            }
        }
    }

    /// Returns the vector of a row, of length 1; of many vectors rounded to multiples of 2^-15.
    pub fn get(&self, row: EntryId) -> Option<Vec<f32>> {
        match &self.form {
            Form::Exact(matrix) => matrix.get(row).map(<[f32]>::to_vec),
            Form::Lists(lists) => lists.restored(row),
        }
    }
}

impl Sample {
    /// Returns whether a vector that an entry brings for a row makes another sample.
    fn changes(&self, entry: EntryId, row: EntryId) -> bool {
        let [from, to] = self.span;
        let is_inside = (from..to).contains(&entry.get());
        let is_taken = self.bound.is_none_or(|bound| hash(entry) < bound);
        entry.get() < from || is_inside && is_taken || self.rows.contains(&row)
    }
}

/// Returns a number that looks random and is the same everywhere (the finalizer of SplitMix64).
fn hash(entry: EntryId) -> u64 {
    let mut mixed = entry.get();
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// If fewer than one in so many vectors may be shown, only those are compared.
const FEW_OF: u64 = 4;

/// The number of vectors that cells are computed from, at most.
const SAMPLE_LEN: usize = 32_768;

const FIRST_STEP: u64 = 65_536;
