//! Questions for the last, the first or the number of something (test-vectors/search/order.json).

use std::path::Path;

use grainstore::query::Recall;
use grainstore::render::{Format, tokens};
use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Filter, Search, Store, Time};
use serde_json::Value;

use super::store;

/// Stores the memories of all groups; returns the questions, each with its order and its answers.
fn asked(store: &Store) -> Vec<(String, Option<String>, Vec<ContentAddress>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/search/order.json");
    let groups: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut asked = Vec::new();
    for group in &groups {
        let memories = group["memories"].as_array().unwrap().iter();
        let memories = memories.map(|memory| {
            let language = group["lang"].as_str().unwrap();
            put(
                store,
                memory["time"].as_str().unwrap(),
                memory["text"].as_str().unwrap(),
                language,
            )
        });
        let memories: Vec<_> = memories.collect();
        for question in group["questions"].as_array().unwrap() {
            let answers = question["answers"].as_array().unwrap().iter();
            let places = answers.map(|at| usize::try_from(at.as_u64().unwrap()).unwrap());
            asked.push((
                question["question"].as_str().unwrap().to_owned(),
                question["order"].as_str().map(str::to_owned),
                places.map(|at| memories[at]).collect(),
            ));
        }
    }
    asked
}

fn put(store: &Store, day: &str, text: &str, language: &str) -> ContentAddress {
    let time = Time::parse(&format!("{day}T12:00:00Z")).unwrap();
    let draft = Draft::event(text).set("lang", language);
    store.put(draft.created_at(time)).unwrap()
}

/// 2026-01-01.
fn asked_now() -> Ranking {
    Ranking {
        now: Some(Time::from_ms(1_767_225_600_000)),
        ..Ranking::default()
    }
}

fn found(store: &Store, question: &str, limit: usize) -> Vec<ContentAddress> {
    let query = Search::words(question);
    let found = store.find(&query.ranking(asked_now()).limit(limit));
    let results = found.unwrap().results.into_iter();
    results.map(|found| found.address).collect()
}

#[test]
fn the_last_the_first_and_all_of_several_come_first_as_they_are_asked_for() {
    let store = store();
    let asked = asked(&store);
    assert!(asked.len() >= 60);
    let mut missed = Vec::new();
    for (question, order, answers) in &asked {
        let best = found(&store, question, answers.len().max(1));
        // All of several are in the order of time, as the file has them but for one pair.
        let is_met = match order.as_deref() {
            Some("count") => answers.iter().all(|answer| best.contains(answer)),
            _ => best == *answers,
        };
        if !is_met {
            missed.push(question.as_str());
        }
        assert_eq!(
            found(&store, question, 50)[..best.len()],
            best,
            "{question}"
        );
    }
    let met = asked.len() - missed.len();
    println!("{met} of {}; missed:\n{}", asked.len(), missed.join("\n"));
    assert!(met * 100 >= asked.len() * 85, "{met} of {}", asked.len());
}

#[test]
fn how_often_is_answered_by_a_count_with_the_first_and_the_last_day() {
    let store = store();
    for (day, text) in [
        ("2025-05-02", "Watered the orchid and gave it fertilizer."),
        ("2025-05-30", "Watered the orchid, two new buds."),
        ("2025-05-16", "Watered the orchid."),
        ("2025-06-16", "The boat leaks."),
    ] {
        put(&store, day, text, "en");
    }
    let recall = |store: &Store, question: &str, budget: usize| {
        let recall = Recall {
            budget,
            ranking: asked_now(),
            ..Recall::default()
        };
        let known = store.recall(question, &Filter::new(), &recall).unwrap();
        assert!(known.tokens <= budget);
        assert!(tokens(&known.render(Format::Markdown)) <= budget);
        known
    };
    let question = "How often have I watered the orchid?";
    let known = recall(&store, question, 500);
    let text = known.render(Format::Markdown);
    let sentence = "Told 3 times, from 2025-05-02 to 2025-05-30.\n\n## Facts\n- Watered";
    assert!(text.starts_with(sentence), "{text}");
    let json = known.render(Format::Json);
    let told = r#""told":{"count":3,"first":1746187200000,"last":1748606400000}"#;
    assert!(json.contains(told), "{json}");
    // Nothing is counted for another question, a small budget, or a handle that may not know.
    for known in [
        recall(&store, "When did I last water the orchid?", 500),
        recall(&store, "How often did the boat leak?", 500),
        recall(&store, question, 99),
        recall(&store.read_only(), question, 500),
    ] {
        assert_eq!(known.told, []);
    }
}

#[test]
fn a_word_of_order_is_no_name_that_begins_with_it() {
    let store = store();
    let bank = put(
        &store,
        "2025-03-06",
        "I changed the password of the bank.",
        "en",
    );
    let name = put(
        &store,
        "2025-04-06",
        "LastPass, the last pass, at last.",
        "en",
    );
    let question = "When did I last change the password of the bank?";
    assert_eq!(found(&store, question, 9), [bank]);
    // "Last week" is a time, and no pass.
    let question = "What did I say of the password last week?";
    assert_eq!(found(&store, question, 9), [bank]);
    // As a name it is found, and a question that names no time keeps the word.
    assert_eq!(found(&store, "LastPass", 9), [name]);
    assert_eq!(found(&store, "the last straw", 9), [name]);
}
