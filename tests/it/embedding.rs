//! Vectors that callers bring: kept, found, fused with words, and gone with their grains.

use std::sync::Arc;

use grainstore::ledger::{EntryId, MemoryDisk};
use grainstore::policy::Capability;
use grainstore::store::{Authorization, Embedding};
use grainstore::vector::Matrix;
use grainstore::{ContentAddress, Draft, Filter, Options, Search, Store, Time};
use proptest::prelude::*;

use crate::store::at;

mod many;

fn options() -> Options {
    Options {
        ballast_bytes: 0,
        ..at(1_000).0
    }
}

fn event(n: u8) -> Draft {
    Draft::event(format!("event number {n}")).created_at(Time::from_ms(i64::from(n)))
}

fn addresses(envelope: &grainstore::Page) -> Vec<ContentAddress> {
    envelope.results.iter().map(|found| found.address).collect()
}

#[test]
fn the_nearest_come_first_with_scores_between_0_and_1_and_after_reopening() {
    let disk = MemoryDisk::default();
    let open = || Store::open_on(Arc::new(disk.clone()), options()).unwrap();
    let store = open();
    let put = |n| store.put(event(n)).unwrap();
    let all: Vec<_> = (0..4).map(put).collect();
    let vectors = [[1.0, 0.0], [0.0, 5.0], [-2.0, 0.0], [3.0, 3.0]];
    for (address, vector) in all.iter().zip(&vectors) {
        store
            .put_embeddings(&[Embedding::new(*address, "a", vector)])
            .unwrap();
    }
    let expected = [all[0], all[3], all[1], all[2]];
    let near = store
        .find(&Search::near("a", &[9.0, 0.0]).limit(9))
        .unwrap();
    assert_eq!(addresses(&near), expected);
    assert_eq!((near.total, near.results[0].score), (4, 1.0));
    assert!(
        near.results
            .iter()
            .all(|found| (0.0..=1.0).contains(&found.score))
    );
    assert!((near.results[3].score).abs() < 1e-6, "opposite");
    let like = store.find(&Search::like("a", all[0]).limit(2)).unwrap();
    assert_eq!((addresses(&like), like.total), (expected[1..3].to_vec(), 3));
    drop(store);
    let near = open()
        .find(&Search::near("a", &[9.0, 0.0]).limit(9))
        .unwrap();
    assert_eq!(addresses(&near), expected);
}

#[test]
fn a_model_whose_last_vector_is_gone_takes_vectors_of_any_length() {
    let store = Store::in_memory(options()).unwrap();
    let [one, two] = [0, 1].map(|n| store.put(event(n)).unwrap());
    let put = |of, vector: &[f32]| store.put_embeddings(&[Embedding::new(of, "a", vector)]);
    put(one, &[1.0, 0.0]).unwrap();
    assert!(put(two, &[1.0]).is_err());
    let deletion = Authorization {
        reason: "asked",
        authority: "the owner",
    };
    store.admin().unwrap().delete(&one, deletion).unwrap();
    put(two, &[1.0]).unwrap();
    let near = store.find(&Search::near("a", &[1.0]).limit(9)).unwrap();
    assert_eq!(addresses(&near), [two]);
}

#[test]
fn models_are_side_by_side_and_the_last_vector_of_a_grain_counts() {
    let store = Store::in_memory(options()).unwrap();
    let [one, two] = [0, 1].map(|n| store.put(event(n)).unwrap());
    store
        .put_embeddings(&[Embedding::new(one, "a", &[1.0, 0.0])])
        .unwrap();
    store
        .put_embeddings(&[Embedding::new(two, "a", &[0.0, 1.0])])
        .unwrap();
    store
        .put_embeddings(&[Embedding::new(two, "b", &[1.0, 0.0, 0.0])])
        .unwrap();
    let nearest = |model: &str, vector: &[f32]| {
        addresses(&store.find(&Search::near(model, vector).limit(1)).unwrap())
    };
    assert_eq!(nearest("a", &[1.0, 0.0]), [one]);
    assert_eq!(nearest("b", &[1.0, 0.0, 0.0]), [two]);
    assert_eq!(nearest("c", &[1.0]), []);
    store
        .put_embeddings(&[Embedding::new(one, "a", &[0.0, -1.0])])
        .unwrap();
    store
        .put_embeddings(&[Embedding::new(two, "a", &[4.0, 0.0])])
        .unwrap();
    assert_eq!(nearest("a", &[1.0, 0.0]), [two]);
    assert_eq!(store.embedding(&one, "a").unwrap().unwrap(), [0.0, -1.0]);
    assert_eq!(store.embedding(&one, "b").unwrap(), None);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_vector_that_cannot_be_one_of_its_model_is_refused_with_all_of_its_batch() {
    let store = Store::in_memory(options()).unwrap();
    let one = store.put(event(0)).unwrap();
    store
        .put_embeddings(&[Embedding::new(one, "a", &[1.0, 0.0])])
        .unwrap();
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    let bad: [(&str, &[f32]); 6] = [
        ("a", &[1.0]),
        ("a", &[0.0, 0.0]),
        ("a", &[f32::NAN, 1.0]),
        ("a", &[f32::INFINITY, 1.0]),
        ("", &[1.0]),
        ("new", &[]),
    ];
    for (model, vector) in bad {
        let good = Embedding {
            of: one,
            model: "b".into(),
            vector: vec![1.0],
        };
        let bad = Embedding {
            of: one,
            model: model.into(),
            vector: vector.to_vec(),
        };
        let refused = store.put_embeddings(&[good, bad]).unwrap_err();
        assert_eq!(refused.code(), "ERR_EMBEDDING", "{model} {vector:?}");
    }
    let absent = ContentAddress::new([7; 32]);
    let refused = store
        .put_embeddings(&[Embedding::new(absent, "a", &[1.0, 0.0])])
        .unwrap_err();
    assert_eq!(refused.code(), "ERR_NOT_FOUND");
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        entries
    );
    let refused = store.find(&Search::near("a", &[1.0]).limit(1)).unwrap_err();
    assert_eq!(refused.code(), "ERR_EMBEDDING");
}

#[test]
fn a_vector_is_erased_with_its_grain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let open = || Store::open(&path, options()).unwrap();
    let store = open();
    let [one, two] = [0, 1].map(|n| store.put(event(n)).unwrap());
    let vector = [0.123_456_79_f32, 0.987_654_3];
    store
        .put_embeddings(&[Embedding::new(one, "a", &vector)])
        .unwrap();
    store
        .put_embeddings(&[Embedding::new(two, "a", &[1.0, 1.0])])
        .unwrap();
    let near =
        |store: &Store| addresses(&store.find(&Search::near("a", &vector).limit(9)).unwrap());
    assert_eq!(near(&store), [one, two]);
    let deletion = Authorization {
        reason: "asked",
        authority: "the owner",
    };
    store.admin().unwrap().delete(&one, deletion).unwrap();
    assert_eq!(near(&store), [two]);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    drop(store);
    let bytes: Vec<u8> = vector
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect();
    let segment = path.join("ledger/0000000000000001.seg");
    let ledger = std::fs::read(segment).unwrap();
    assert!(!ledger.windows(bytes.len()).any(|window| window == bytes));
    assert_eq!(near(&open()), [two]);
}

#[test]
fn filters_and_handles_hold_for_vectors() {
    let store = Store::in_memory(options()).unwrap();
    let spaces = ["a", "a:b", "c"];
    let put = |(n, space): (u8, &&str)| store.put(event(n).namespace(*space)).unwrap();
    let all: Vec<_> = (0..).zip(&spaces).map(put).collect();
    for address in &all {
        store
            .put_embeddings(&[Embedding::new(*address, "m", &[1.0, 1.0])])
            .unwrap();
    }
    let old = all[0];
    let new = store
        .supersede(&old, event(9).namespace("a").derived_from(old), None)
        .unwrap();
    store
        .put_embeddings(&[Embedding::new(new, "m", &[1.0, 0.9])])
        .unwrap();
    let within = |filter: &Filter| {
        addresses(
            &store
                .find(&Search::near("m", &[1.0, 1.0]).filter(filter).limit(9))
                .unwrap(),
        )
    };
    // Equally near ones: the older first.
    assert_eq!(within(&Filter::new()), [all[1], all[2], new]);
    assert_eq!(within(&Filter::new().namespace("a")), [all[1], new]);
    assert_eq!(within(&Filter::new().with_superseded()).len(), 4);
    let handle = store
        .with_capability(Capability::default().inside("a"))
        .unwrap();
    let seen = handle
        .find(&Search::near("m", &[1.0, 1.0]).limit(1))
        .unwrap();
    assert_eq!(addresses(&seen), [all[1]]);
    let seen = handle
        .find(&Search::near("m", &[1.0, 1.0]).limit(9))
        .unwrap();
    assert_eq!(addresses(&seen), [all[1], new]);
}

#[test]
fn words_and_vectors_together_put_first_what_both_find() {
    let store = Store::in_memory(options()).unwrap();
    let put = |text: &str| store.put(Draft::event(text)).unwrap();
    let [both, words, vector, neither] =
        ["green tea", "tea tea tea", "matcha", "a bicycle"].map(put);
    for (address, vector) in [
        (both, [1.0, 0.1]),
        (words, [-1.0, 0.0]),
        (vector, [1.0, 0.0]),
        (neither, [-1.0, 0.5]),
    ] {
        store
            .put_embeddings(&[Embedding::new(address, "m", &vector)])
            .unwrap();
    }
    let found = store
        .find(&Search::words("tea").vector("m", &[1.0, 0.0]).limit(4))
        .unwrap();
    assert_eq!(found.results[0].address, both);
    assert_eq!(found.results[3].address, neither);
    assert!(
        found
            .results
            .iter()
            .all(|found| (0.0..=1.0).contains(&found.score))
    );
    assert_eq!(found.results[0].matched_fields, ["content"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_nearest_are_those_that_comparing_all_finds(
        vectors in prop::collection::vec(prop::array::uniform5(-3..4_i8), 1..200),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        asked in prop::array::uniform5(-3..4_i8),
        limit in 0..20_usize,
    ) {
        let floats = |vector: &[i8; 5]| vector.map(f32::from);
        let mut matrix = Matrix::new(5);
        let mut kept: Vec<(EntryId, [f32; 5])> = Vec::new();
        for (row, vector) in (0..).map(EntryId::new).zip(&vectors) {
            if matrix.set(row, &floats(vector)) {
                kept.push((row, floats(vector)));
            }
        }
        for at in removed {
            let (row, _) = *at.get(&[kept.as_slice(), &[(EntryId::FIRST, [0.0; 5])]].concat());
            matrix.remove(row);
            kept.retain(|(other, _)| *other != row);
        }
        prop_assert_eq!(matrix.len(), kept.len());
        let asked = floats(&asked);
        let odd = |row: EntryId| row.get() % 2 == 1;
        let found = matrix.nearest(&asked, limit, &odd);
        let cosine = |vector: &[f32; 5]| {
            let dot = |a: &[f32; 5], b: &[f32; 5]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(&asked, vector) / (dot(&asked, &asked) * dot(vector, vector)).sqrt()
        };
        let mut expected: Vec<f32> = kept.iter().filter(|(row, _)| odd(*row)).map(|(_, v)| cosine(v)).collect();
        if asked == [0.0; 5] {
            expected.clear();
        }
        expected.sort_by(|a, b| b.total_cmp(a));
        expected.truncate(limit);
        prop_assert_eq!(found.len(), expected.len());
        for (near, expected) in found.iter().zip(&expected) {
            prop_assert!(odd(near.row) && (near.cosine - expected).abs() < 1e-5);
        }
        let odds = kept.iter().map(|(row, _)| *row).filter(|row| odd(*row));
        prop_assert_eq!(matrix.nearest_of(&asked, limit, odds), found);
    }
}
