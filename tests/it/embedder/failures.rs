//! Models that fail, wait, or answer what is no answer.

use grainstore::Search;
use grainstore::store::Authorization;

use super::*;

#[test]
fn a_model_that_is_down_fails_no_put_is_named_in_the_statistics_and_is_tried_again() {
    let model = Concepts::named("concepts@1");
    model.is_down.store(true, Ordering::SeqCst);
    let store = Store::in_memory(options(&[Arc::clone(&model)])).unwrap();
    let all: Vec<_> = (0..80)
        .map(|n| put(&store, &format!("dog number {n}")))
        .collect();
    let failed = store.maintenance().unwrap().flush_text().unwrap_err();
    assert_eq!(failed.code(), "ERR_EMBEDDER");
    let status = statuses(&store).remove(0);
    let reason = "the model concepts@1 made no vector: the model is not there";
    assert_eq!(
        (status.waiting, status.failed.as_deref()),
        (80, Some(reason))
    );
    let findings = store.maintenance().unwrap().check().unwrap().findings;
    let ids: Vec<_> = findings.iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["embedder-failed"]);
    // A question is refused in plain terms, and words alone do not ask the model.
    let refused = store.search("dog", &Filter::new(), 9).unwrap_err();
    assert_eq!(refused.code(), "ERR_EMBEDDER");
    let by_words = Ranking {
        meaning: 0.0,
        ..Ranking::default()
    };
    let query = Search::words("dog");
    let found = store.find(&query.ranking(by_words).limit(9));
    assert_eq!(found.unwrap().results.len(), 9);

    model.is_down.store(false, Ordering::SeqCst);
    flush(&store);
    let status = statuses(&store).remove(0);
    assert_eq!((status.waiting, status.failed), (0, None));
    for address in &all {
        assert!(store.embedding(address, "concepts@1").unwrap().is_some());
    }
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_text_that_came_alone_while_a_model_was_down_is_tried_again() {
    let model = Concepts::named("concepts@1");
    model.is_down.store(true, Ordering::SeqCst);
    let store = Store::in_memory(options(&[Arc::clone(&model)])).unwrap();
    let alone = put(&store, "a dog");
    let failed = store.maintenance().unwrap().flush_text().unwrap_err();
    assert_eq!(failed.code(), "ERR_EMBEDDER");

    model.is_down.store(false, Ordering::SeqCst);
    flush(&store);
    assert!(store.embedding(&alone, "concepts@1").unwrap().is_some());
    assert_eq!(statuses(&store)[0].failed, None);
}

#[test]
fn a_text_that_a_model_cannot_embed_does_not_keep_the_others_from_it() {
    let model = Arc::new(Concepts {
        name: "concepts@1".to_owned(),
        poison: Some("unspeakable"),
        ..Concepts::default()
    });
    let store = Store::in_memory(options(&[model])).unwrap();
    let mut all = Vec::new();
    for n in 0..70 {
        all.push(put(&store, &format!("dog number {n}")));
        if n == 3 {
            put(&store, "an unspeakable dog");
        }
    }
    let failed = store.maintenance().unwrap().flush_text().unwrap_err();
    assert_eq!(failed.code(), "ERR_EMBEDDER");
    assert_eq!(statuses(&store)[0].waiting, 1);
    for address in &all {
        assert!(store.embedding(address, "concepts@1").unwrap().is_some());
    }
}

/// A model whose answers are what a test says.
#[derive(Debug)]
struct Answers(Vec<Vec<f32>>);

impl Embedder for Answers {
    fn model(&self) -> &'static str {
        "answers"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.0.clone())
    }
}

#[test]
fn vectors_that_are_none_of_the_model_are_refused_with_the_reason() {
    let none = |vectors: Vec<Vec<f32>>| {
        let store = Store::in_memory(Options {
            embedders: vec![Arc::new(Answers(vectors))],
            ..options(&[])
        })
        .unwrap();
        let address = put(&store, "a dog");
        let failed = store.maintenance().unwrap().flush_text().unwrap_err();
        assert_eq!(failed.code(), "ERR_EMBEDDER");
        assert_eq!(store.embedding(&address, "answers").unwrap(), None);
        let asked = store.search("dog", &Filter::new(), 1).map(|_| ());
        (statuses(&store).remove(0).failed.unwrap(), asked.is_err())
    };
    for (vectors, reason) in [
        (vec![], "0 vectors for 1 texts"),
        (vec![vec![1.0, 0.0]; 2], "2 vectors for 1 texts"),
        (vec![vec![1.0]], "a vector of 1 numbers instead of 2"),
        (vec![vec![f32::NAN, 1.0]], "numbers that are not finite"),
    ] {
        let (told, is_refused) = none(vectors.clone());
        assert!(told.contains(reason), "{told}");
        // A question has one vector, the first.
        assert_eq!(is_refused, vectors.len() != 2, "{reason}");
    }
}

#[test]
fn a_text_that_says_nothing_to_the_model_has_no_vector_and_fails_nothing() {
    let store = Store::in_memory(Options {
        embedders: vec![Arc::new(Answers(vec![vec![0.0, 0.0]]))],
        ..options(&[])
    })
    .unwrap();
    let address = put(&store, "a dog");
    flush(&store);
    assert_eq!(store.embedding(&address, "answers").unwrap(), None);
    let found = store.search("dog", &Filter::new(), 1).unwrap();
    assert_eq!(addresses(&found), [address]);
}

#[test]
fn a_grain_that_is_deleted_while_the_model_works_leaves_no_vector() {
    let model = Concepts::named("concepts@1");
    let store = Store::in_memory(options(&[Arc::clone(&model)])).unwrap();
    let answers_not = model.gate.write();
    let dog = put(&store, "a dog");
    let train = put(&store, "a train");
    while !model.passages().contains(&"a dog".to_owned()) {
        std::thread::yield_now();
    }
    let asked = Authorization {
        reason: "asked",
        authority: "the owner",
    };
    store.admin().unwrap().delete(&dog, asked).unwrap();
    drop(answers_not);
    flush(&store);
    assert_eq!(near(&store, "concepts@1", "pet"), [train]);
    let all = store.find(&Search::near("concepts@1", &[1.0; 4]).limit(9));
    assert_eq!(all.unwrap().total, 1);
    store.admin().unwrap().delete(&train, asked).unwrap();
    let all = store.find(&Search::near("concepts@1", &[1.0; 4]).limit(9));
    assert_eq!(all.unwrap().total, 0);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn closing_does_not_wait_for_the_model_and_the_next_opening_keeps_the_files() {
    let disk = MemoryDisk::default();
    let slow = Concepts::named("concepts@1");
    let store = open(&disk, &[Arc::clone(&slow)]);
    let answers_not = slow.gate.write();
    let dog = put(&store, "a dog");
    while slow.passages().is_empty() {
        std::thread::yield_now();
    }
    drop(store);
    let store = open(&disk, &[Concepts::named("concepts@1")]);
    flush(&store);
    assert!(store.embedding(&dog, "concepts@1").unwrap().is_some());
    drop(answers_not);
}
