//! A store with models that embed its grains and the questions: what waits, what is stored, what is
//! found, and what a model that fails leaves as it was.

mod failures;
mod others;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use grainstore::ledger::MemoryDisk;
use grainstore::query::Recall;
use grainstore::render::Format;
use grainstore::store::{Embedder, EmbedderStatus, Embedding};
use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Filter, Options, Page, Search, Store, Time};
use parking_lot::{Mutex, RwLock};

use crate::store::at;

/// A model that knows a few concepts by their words, keeps what it was asked, and fails or waits as
/// it is told.
#[derive(Debug, Default)]
pub(crate) struct Concepts {
    name: String,
    passages: Mutex<Vec<String>>,
    questions: Mutex<Vec<String>>,
    is_down: AtomicBool,
    /// A text that it cannot embed.
    poison: Option<&'static str>,
    /// Held by a test to keep it from answering.
    gate: RwLock<()>,
}

const CONCEPTS: &[&[&str]] = &[
    &["dog", "beagle", "pet"],
    &["doctor", "clinic", "illness"],
    &["train", "railway", "travel"],
];

impl Concepts {
    pub(crate) fn named(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            ..Self::default()
        })
    }

    fn passages(&self) -> Vec<String> {
        let mut passages = self.passages.lock().clone();
        passages.sort();
        passages
    }

    fn vector(text: &str) -> Vec<f32> {
        let has = |words: &&[&str]| words.iter().any(|word| text.contains(word));
        let mut vector: Vec<f32> = CONCEPTS
            .iter()
            .map(|words| f32::from(u8::from(has(words))))
            .collect();
        // A text without a concept points elsewhere.
        vector.push(0.25);
        vector
    }
}

impl Embedder for Concepts {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> usize {
        CONCEPTS.len() + 1
    }

    fn embed(
        &self,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error + Send + Sync>> {
        self.passages
            .lock()
            .extend(texts.iter().map(|text| (*text).to_owned()));
        let _open = self.gate.read();
        let fails = |text: &&str| self.poison.is_some_and(|poison| text.contains(poison));
        if self.is_down.load(Ordering::SeqCst) || texts.iter().any(fails) {
            return Err("the model is not there".into());
        }
        Ok(texts.iter().map(|text| Self::vector(text)).collect())
    }

    fn embed_query(
        &self,
        text: &str,
    ) -> Result<Vec<f32>, Box<dyn std::error::Error + Send + Sync>> {
        self.questions.lock().push(text.to_owned());
        match self.is_down.load(Ordering::SeqCst) {
            true => Err("the model is not there".into()),
            false => Ok(Self::vector(text)),
        }
    }
}

pub(crate) fn options(embedders: &[Arc<Concepts>]) -> Options {
    let embedders = embedders.iter().map(|it| Arc::clone(it) as _).collect();
    Options {
        embedders,
        ballast_bytes: 0,
        ..at(1_768_471_200_000).0
    }
}

fn open(disk: &MemoryDisk, embedders: &[Arc<Concepts>]) -> Store {
    Store::open_on(Arc::new(disk.clone()), options(embedders)).unwrap()
}

fn flush(store: &Store) {
    store.maintenance().unwrap().flush_text().unwrap();
}

fn statuses(store: &Store) -> Vec<EmbedderStatus> {
    store.maintenance().unwrap().stats().unwrap().embedders
}

fn put(store: &Store, text: &str) -> ContentAddress {
    let draft = Draft::event(text).created_at(Time::from_ms(1_768_471_200_000));
    store.put(draft).unwrap()
}

fn addresses(envelope: &Page) -> Vec<ContentAddress> {
    envelope.results.iter().map(|found| found.address).collect()
}

fn near(store: &Store, model: &str, text: &str) -> Vec<ContentAddress> {
    let vector = Concepts::vector(text);
    let near = store.find(&Search::near(model, &vector).limit(1));
    addresses(&near.unwrap())
}

#[test]
fn a_question_finds_a_memory_without_any_of_its_words_by_search_and_by_recall() {
    let model = Concepts::named("concepts@1");
    let store = Store::in_memory(options(&[Arc::clone(&model)])).unwrap();
    let beagle = put(&store, "Rex the beagle chewed the sofa");
    put(&store, "the soup was too salty");
    flush(&store);
    let found = store.search("which pet is there", &Filter::new(), 1);
    assert_eq!(addresses(&found.unwrap()), [beagle]);
    let known = store.recall("which pet is there?", &Filter::new(), &Recall::default());
    let text = known.unwrap().render(Format::Text);
    assert!(text.contains("Rex the beagle"), "{text}");
    let asked = model.questions.lock().clone();
    assert_eq!(asked, ["which pet is there", "which pet is there?"]);
}

#[test]
fn a_model_reads_a_query_without_its_operators_and_without_what_is_excluded() {
    let model = Concepts::named("concepts@1");
    let store = Store::in_memory(options(&[Arc::clone(&model)])).unwrap();
    let beagle = put(&store, "a beagle");
    put(&store, "a dog and a cat");
    flush(&store);
    let found = store.search("(pet OR +dog) -cat \"a beagle\"", &Filter::new(), 9);
    assert_eq!(addresses(&found.unwrap()), [beagle]);
    assert_eq!(*model.questions.lock(), ["pet dog a beagle"]);
    // A query that demands a word is not answered by meaning alone.
    let found = store.search("+pet", &Filter::new(), 9).unwrap();
    assert_eq!(addresses(&found), []);
}

#[test]
fn a_ranking_without_meaning_asks_no_model_and_is_that_of_a_store_without_one() {
    let model = Concepts::named("concepts@1");
    let with = Store::in_memory(options(&[Arc::clone(&model)])).unwrap();
    let without = Store::in_memory(options(&[])).unwrap();
    for store in [&with, &without] {
        for text in ["a dog in the train", "a beagle", "the train of thought"] {
            put(store, text);
        }
        flush(store);
    }
    let by_words = Ranking {
        meaning: 0.0,
        ..Ranking::default()
    };
    let query = Search::words("the dog and the train");
    let told = |store: &Store, ranking| {
        let found = store.find(&query.clone().ranking(ranking).limit(9));
        found.unwrap().to_json()
    };
    assert_eq!(told(&with, by_words), told(&without, Ranking::default()));
    assert!(model.questions.lock().is_empty());
    assert_ne!(told(&with, Ranking::default()), told(&with, by_words));
}

#[test]
fn a_put_does_not_wait_for_the_model_and_its_grain_is_found_by_its_words_at_once() {
    let model = Concepts::named("concepts@1");
    let store = Store::in_memory(options(&[Arc::clone(&model)])).unwrap();
    let answers_not = model.gate.write();
    let tea = put(&store, "green tea");
    let found = store.search("tea", &Filter::new(), 1).unwrap();
    assert_eq!(addresses(&found), [tea]);
    let status = statuses(&store).remove(0);
    assert_eq!((status.waiting, status.watermark), (1, 0));
    drop(answers_not);
    flush(&store);
    let status = statuses(&store).remove(0);
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    assert_eq!((status.waiting, status.watermark), (0, entries));
    assert!(store.embedding(&tea, "concepts@1").unwrap().is_some());
}

#[test]
fn grains_are_embedded_in_the_background_without_a_flush() {
    let model = Concepts::named("concepts@1");
    let store = Store::in_memory(options(&[model])).unwrap();
    let dog = put(&store, "a dog");
    while store.embedding(&dog, "concepts@1").unwrap().is_none() {
        std::thread::yield_now();
    }
}

#[test]
fn a_model_with_another_name_embeds_every_grain_again_and_the_old_vectors_stay() {
    let disk = MemoryDisk::default();
    let store = open(&disk, &[Concepts::named("concepts@1")]);
    let dog = put(&store, "a dog");
    flush(&store);
    drop(store);
    let newer = Concepts::named("concepts@2");
    let store = open(&disk, &[Arc::clone(&newer)]);
    let train = put(&store, "a train");
    flush(&store);
    assert_eq!(newer.passages(), ["a dog", "a train"]);
    assert_eq!(near(&store, "concepts@2", "travel"), [train]);
    assert_eq!(near(&store, "concepts@1", "travel"), [dog]);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn several_models_stand_side_by_side_and_the_first_embeds_the_questions() {
    let [first, second] = ["first", "second"].map(Concepts::named);
    let both = [Arc::clone(&first), Arc::clone(&second)];
    let store = Store::in_memory(options(&both)).unwrap();
    let dog = put(&store, "a dog");
    put(&store, "a train");
    flush(&store);
    assert_eq!(first.passages(), second.passages());
    assert_eq!(near(&store, "first", "pet"), [dog]);
    assert_eq!(near(&store, "second", "pet"), [dog]);
    let found = store.search("pet", &Filter::new(), 1).unwrap();
    assert_eq!(addresses(&found), [dog]);
    assert_eq!(first.questions.lock().len(), 1);
    assert!(second.questions.lock().is_empty());
    let models: Vec<_> = statuses(&store).into_iter().map(|it| it.model).collect();
    assert_eq!(models, ["first", "second"]);
}

#[test]
fn a_store_that_is_opened_again_embeds_what_has_no_vector_and_nothing_else() {
    let disk = MemoryDisk::default();
    let store = open(&disk, &[Concepts::named("concepts@1")]);
    put(&store, "a dog");
    flush(&store);
    drop(store);
    let store = open(&disk, &[]);
    put(&store, "a train");
    let given = put(&store, "a clinic");
    let vector = [0.0, 0.0, 0.0, 1.0];
    let given = Embedding::new(given, "concepts@1", &vector);
    store.put_embeddings(&[given]).unwrap();
    drop(store);
    let model = Concepts::named("concepts@1");
    let store = open(&disk, &[Arc::clone(&model)]);
    flush(&store);
    assert_eq!(model.passages(), ["a train"]);
    flush(&store);
    assert_eq!(model.passages(), ["a train"]);
}

#[test]
fn a_grain_without_words_waits_for_no_vector() {
    let store = Store::in_memory(options(&[Concepts::named("concepts@1")])).unwrap();
    store
        .put(Draft::observation("cam-1", "camera").set("value", 7))
        .unwrap();
    flush(&store);
    assert_eq!(statuses(&store)[0].waiting, 0);
    assert_eq!(statuses(&store)[0].failed, None);
}
