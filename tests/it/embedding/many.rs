//! Many vectors in cells: how many of the nearest are found, what a filter and removals change, and
//! that the way to a set of vectors makes no difference.

use std::collections::BTreeMap;

use grainstore::index::RowSet;
use grainstore::ledger::EntryId;
use grainstore::vector::{Matrix, Near, Thresholds, VectorIndex};
use proptest::prelude::*;

use crate::random::Random;

/// Small enough for tests, with the shares of large ones.
const THRESHOLDS: Thresholds = Thresholds {
    exact_max: 500,
    all_compared: 200,
    compared_min: 400,
};

const COUNT: u64 = 6_000;

const DIMENSIONS: usize = 24;

/// Vectors in clusters, each with its row; entry and row take turns.
fn clustered(seed: u64) -> Vec<(EntryId, Vec<f32>)> {
    let mut random = Random::new(seed);
    let mut vector = move |width: f32| -> Vec<f32> {
        let number = |random: &mut Random| random.below(2_001) as f32 / 1_000.0 - 1.0;
        (0..DIMENSIONS)
            .map(|_| width * number(&mut random))
            .collect()
    };
    let centres: Vec<_> = (0..60).map(|_| vector(1.0)).collect();
    let rows = (0..COUNT).map(|n| {
        let centre = &centres[usize::try_from(n).unwrap() * 7 % centres.len()];
        let around = vector(0.5);
        let sum = centre.iter().zip(around).map(|(a, b)| a + b);
        (EntryId::new(2 * n), sum.collect())
    });
    rows.collect()
}

fn entry(row: EntryId) -> EntryId {
    row.next()
}

fn filled(vectors: &[(EntryId, Vec<f32>)]) -> VectorIndex {
    let mut index = VectorIndex::new(DIMENSIONS, THRESHOLDS);
    for (row, vector) in vectors {
        index.set(entry(*row), *row, vector);
    }
    index.prepare(2 * COUNT);
    index
}

/// Returns the share of the ten nearest that are found, over questions from among the vectors.
fn recall(
    index: &VectorIndex,
    vectors: &[(EntryId, Vec<f32>)],
    shows: impl Fn(EntryId) -> bool,
) -> f64 {
    let mut matrix = Matrix::new(DIMENSIONS);
    for (row, vector) in vectors.iter().filter(|(row, _)| shows(*row)) {
        matrix.set(*row, vector);
    }
    let rows: RowSet = (0..2 * COUNT)
        .map(EntryId::new)
        .filter(|row| shows(*row))
        .collect();
    let (mut found, mut all) = (0, 0);
    for (_, question) in vectors.iter().step_by(199) {
        let exact = matrix.nearest(question, 10, &|_| true);
        let (near, total) = index.nearest(question, 10, &rows);
        assert_eq!((total, near.len()), (matrix.len() as u64, exact.len()));
        assert!(near.is_sorted_by(|a, b| a.cosine >= b.cosine));
        assert!(near.iter().all(|near| shows(near.row)));
        let is_found = |of: &&Near| near.iter().any(|near| near.row == of.row);
        found += exact.iter().filter(is_found).count();
        all += exact.len();
    }
    found as f64 / all as f64
}

#[test]
fn of_many_vectors_nearly_all_of_the_nearest_are_found() {
    let vectors = clustered(1);
    let index = filled(&vectors);
    let all = recall(&index, &vectors, |_| true);
    let third = recall(&index, &vectors, |row| row.get() % 6 == 0);
    println!("recall@10 {all:.4}, of a third {third:.4}");
    assert!(all >= 0.97 && third >= 0.97, "{all} {third}");
}

#[test]
fn a_filter_that_keeps_one_in_a_hundred_returns_all_of_its_nearest() {
    let vectors = clustered(2);
    let index = filled(&vectors);
    let shown = recall(&index, &vectors, |row| row.get() % 200 == 0);
    assert!(shown > 0.999, "{shown}");
    // Rows of one cluster, which is far from most questions.
    let cluster = recall(&index, &vectors, |row| row.get() / 2 * 7 % 60 == 14);
    assert!(cluster > 0.999, "{cluster}");
}

#[test]
fn what_is_removed_is_found_no_more_and_what_is_left_as_before() {
    let vectors = clustered(3);
    let mut index = filled(&vectors);
    let is_kept = |row: &EntryId| !(row.get() / 2).is_multiple_of(3);
    let (kept, gone): (Vec<_>, Vec<_>) = vectors.into_iter().partition(|(row, _)| is_kept(row));
    for (row, _) in &gone {
        index.remove(entry(*row));
    }
    for (row, vector) in &gone {
        assert_eq!(index.get(*row), None);
        // Also before the cells are computed anew.
        let (near, _) = index.nearest(vector, 10, &(0..2 * COUNT).map(EntryId::new).collect());
        assert!(near.iter().all(|near| is_kept(&near.row)));
    }
    index.prepare(2 * COUNT);
    let share = recall(&index, &kept, |row| is_kept(&row));
    assert!(share >= 0.97, "{share}");
}

#[test]
fn a_vector_is_what_it_was_to_five_digits() {
    let vectors = clustered(4);
    let index = filled(&vectors);
    let (row, vector) = &vectors[17];
    let stored = index.get(*row).unwrap();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for (stored, value) in stored.iter().zip(vector) {
        assert!((stored - value / length).abs() < 2.0_f32.powi(-15));
    }
    let cosine = index.cosines(vector, &[*row, EntryId::new(1)]);
    assert!((cosine[0].unwrap() - 1.0).abs() < 1e-4);
    assert_eq!(cosine[1], None);
    assert!(
        index
            .nearest(&[0.0; DIMENSIONS], 3, index.rows())
            .0
            .is_empty()
    );
    assert_eq!(index.cosines(&[1.0], &[*row]), [None]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Vectors come, are replaced and go, and cells are computed in between: the answers are those of
    /// an index that was filled with what is left.
    #[test]
    fn an_index_answers_by_what_it_holds_and_not_by_how_it_came(
        seed in any::<u64>(),
        steps in prop::collection::vec((0_u8..5, 1_u64..150), 4..24),
    ) {
        let thresholds = Thresholds { exact_max: 60, all_compared: 20, compared_min: 20 };
        let mut random = Random::new(seed);
        let mut index = VectorIndex::new(3, thresholds);
        // By entry: the row and its vector.
        let mut left: BTreeMap<EntryId, (EntryId, [f32; 3])> = BTreeMap::new();
        let mut end = 0;
        for (step, count) in steps {
            match step {
                0..3 => {
                    for _ in 0..count {
                        let vector = [(); 3].map(|()| random.below(41) as f32 - 20.0);
                        let (entry, row) = (EntryId::new(end), EntryId::new(end));
                        end += 1;
                        if vector != [0.0; 3] {
                            index.set(entry, row, &vector);
                            left.insert(entry, (row, vector));
                        }
                    }
                }
                3 => {
                    let entries: Vec<EntryId> = left.keys().copied().collect();
                    for entry in entries.into_iter().skip(random.below(9)).step_by(7) {
                        index.remove(entry);
                        left.remove(&entry);
                    }
                }
                _ => index.prepare(end),
            }
        }
        prop_assume!(!index.is_to_be_exact());
        index.prepare(end);
        let mut fresh = VectorIndex::new(3, thresholds);
        for (entry, (row, vector)) in &left {
            fresh.set(*entry, *row, vector);
        }
        fresh.prepare(end);
        prop_assert_eq!(index.len(), left.len());
        for n in 0..20 {
            let asked = [(); 3].map(|()| random.below(41) as f32 - 20.0);
            let rows: RowSet = (0..end).map(EntryId::new).filter(|row| row.get() % (n + 1) == 0).collect();
            prop_assert_eq!(index.nearest(&asked, 5, &rows), fresh.nearest(&asked, 5, &rows));
        }
    }
}
