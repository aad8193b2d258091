//! What people tell an assistant, and how they ask for it later (test-vectors/search/everyday.json).

use std::fs;
use std::path::Path;

use grainstore::query::Recall;
use grainstore::render::Format;
use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Filter, Options, Search, Store, Time};
use serde_json::Value;

/// Returns the memories and their questions.
fn pairs() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/search/everyday.json");
    let pairs: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let text = |pair: &Value, name: &str| pair[name].as_str().unwrap().to_owned();
    let pairs = pairs.as_array().unwrap().iter();
    pairs
        .map(|pair| (text(pair, "memory"), text(pair, "question")))
        .collect()
}

fn store() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn put(store: &Store, memory: &str) -> ContentAddress {
    let draft = Draft::event(memory).created_at(Time::from_ms(1_768_471_200_000));
    store.put(draft).unwrap()
}

#[test]
fn four_of_five_everyday_questions_have_their_memory_among_the_first_three() {
    let store = store();
    let pairs = pairs();
    assert!(pairs.len() >= 150, "{} pairs", pairs.len());
    let memories: Vec<_> = pairs
        .iter()
        .map(|(memory, _)| put(&store, memory))
        .collect();
    let mut missed = Vec::new();
    for ((memory, question), address) in pairs.iter().zip(&memories) {
        let query = Search::words(question);
        let ranking = Ranking::default();
        let found = store.find(&query.ranking(ranking).limit(3));
        if !found
            .unwrap()
            .results
            .iter()
            .any(|found| found.address == *address)
        {
            missed.push(format!("{question} {memory}"));
        }
    }
    let found = pairs.len() - missed.len();
    println!(
        "{found} of {} found; missed:\n{}",
        pairs.len(),
        missed.join("\n")
    );
    assert!(
        found * 100 >= pairs.len() * 80,
        "{found} of {}",
        pairs.len()
    );
}

#[test]
fn a_question_finds_another_form_of_a_word_that_no_memory_has() {
    for (memory, question) in [
        ("I am allergic to peanuts", "any allergies?"),
        ("Mira has a peanut allergy", "What is Mira allergic to?"),
        ("we decided on the blue tiles", "what was the decision?"),
        ("I bought a boat", "did I buy anything?"),
    ] {
        let store = store();
        put(&store, memory);
        put(&store, "the weather was fine");
        let recalled = || {
            let known = store.recall(question, &Filter::new(), &Recall::default());
            known.unwrap().render(Format::Text)
        };
        let text = recalled();
        assert!(text.contains(memory) && !text.contains("weather"), "{text}");
        store.maintenance().unwrap().flush_text().unwrap();
        assert_eq!(recalled(), text);
    }
}

#[test]
fn another_form_counts_only_where_no_memory_has_the_word_itself() {
    let store = store();
    put(&store, "the allergist is on Mill Street");
    let with_the_word = put(&store, "an allergy to peanuts");
    let found = store.search("allergy", &Filter::new(), 9).unwrap();
    let addresses: Vec<_> = found.results.iter().map(|found| found.address).collect();
    assert_eq!(addresses, [with_the_word]);
    // An operator asks for the word, and nothing else.
    for query in [
        "+allergens",
        "\"allergens\"",
        "content:allergens",
        "allergens^2",
    ] {
        assert_eq!(
            store.search(query, &Filter::new(), 9).unwrap().total,
            0,
            "{query}"
        );
    }
}
