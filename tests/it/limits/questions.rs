//! What a question may cost: clauses, a deadline, and the marks in a long text.

use std::time::{Duration, Instant};

use std::sync::Arc;

use grainstore::ledger::{Disk, EntryId, MemoryDisk};
use grainstore::query::Recall;
use grainstore::render::Format;
use grainstore::text::{Document, Query, Ranking, Text, TextOptions};
use grainstore::{Draft, Filter, Options, Store};

use crate::store::at;

fn view(documents: impl Iterator<Item = String>) -> Text {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    let (text, _) = Text::open(&disk, 0, TextOptions::default()).unwrap();
    for document in documents {
        let document = Document::from(document.as_str());
        text.add(EntryId::new(text.watermark()), document).unwrap();
    }
    text
}

#[test]
fn a_search_whose_time_is_over_answers_with_what_it_has_and_says_so() {
    let options = |search_deadline| Options {
        search_deadline,
        ..at(1).0
    };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options(Duration::from_secs(60))).unwrap();
    store.put(Draft::event("green tea")).unwrap();
    let ask = |store: &Store| {
        let found = store.search("tea", &Filter::new(), 5).unwrap();
        let known = store.recall("tea", &Filter::new(), &Recall::default());
        (found, known.unwrap())
    };
    let (found, known) = ask(&store);
    assert!(!found.is_partial && !known.is_partial);
    assert!(!found.to_json().contains("partial") && found.total == 1 && known.len() == 1);
    drop(store);
    let store = Store::open(folder.path(), options(Duration::ZERO)).unwrap();
    let (found, known) = ask(&store);
    assert!(found.is_partial && found.total_is_lower_bound && known.is_partial);
    for json in [found.to_json(), known.render(Format::Json)] {
        assert!(json.contains(r#""partial":"deadline""#), "{json}");
    }
    let narrowed = store.read_only().search("tea", &Filter::new(), 5).unwrap();
    assert!(narrowed.is_partial && narrowed.total_is_lower_bound);
}

#[test]
fn more_than_256_words_in_clauses_are_refused_and_plain_words_are_not() {
    let groups = |count: usize| {
        let groups: Vec<_> = (0..count).map(|n| format!("(a{n} AND b{n})")).collect();
        groups.join(" OR ")
    };
    assert!(Query::parse(&groups(128)).is_ok());
    let refused = Query::parse(&groups(129)).unwrap_err();
    assert_eq!(refused.code(), "ERR_SEARCH_SYNTAX");
    assert!(refused.to_string().contains("at most 256"), "{refused}");
    let signed: String = (0..257).map(|n| format!("+w{n} ")).collect();
    assert!(Query::parse(&signed).is_err());
    let plain: String = (0..500).map(|n| format!("w{n} ")).collect();
    assert!(Query::parse(&plain).is_ok_and(|query| !query.is_truncated()));
}

#[test]
fn the_work_of_a_search_grows_with_its_clauses_and_not_with_their_square() {
    let words = |n: usize| (0..30).map(move |word| format!("w{}", (n * 7 + word) % 256));
    let text = view((0..9_000).map(|n| words(n).collect::<Vec<_>>().join(" ")));
    let took = |groups: usize| {
        let groups = (0..groups).map(|n| format!("(w{} AND w{})", n * 2, n * 2 + 1));
        let query = Query::parse(&groups.collect::<Vec<_>>().join(" OR ")).unwrap();
        let once = |_| {
            let began = Instant::now();
            let hits = text.search(&query, &Ranking::WORDS, 10, &|_| true).unwrap();
            assert_eq!((hits.hits.len(), hits.total), (10, 1_000));
            began.elapsed()
        };
        // The least of some: other processes only add to it.
        (0..9).map(once).min().unwrap_or_default()
    };
    // Each leaf went over the scores of all leaves before it, for every document: 64 times the work for
    // eight times the clauses.
    took(1);
    let (few, many) = (took(16), took(128));
    assert!(many < few * 40, "{few:?} {many:?}");
}

#[test]
fn a_word_in_several_groups_scores_as_often_as_it_is_there() {
    let text = view((0..50).map(|n| format!("tea {} cup", "pot ".repeat(n % 5))));
    let scores = |query: &str| {
        let query = Query::parse(query).unwrap();
        let hits = text.search(&query, &Ranking::WORDS, 50, &|_| true).unwrap();
        hits.hits
            .iter()
            .map(|hit| (hit.row, hit.score))
            .collect::<Vec<_>>()
    };
    let once = scores("(tea AND pot)");
    let twice = scores("(tea AND pot) OR (pot AND tea)");
    assert_eq!(once.len(), twice.len());
    for ((row, score), (other, double)) in once.iter().zip(&twice) {
        assert_eq!(row, other);
        assert!((score * 2.0 - double).abs() < 1e-4, "{score} {double}");
    }
}

#[test]
fn marking_a_text_that_repeats_the_phrase_is_linear() {
    let text = view(std::iter::once("green tea".to_owned()));
    let long = "tea ".repeat(60_000);
    for query in [
        "\"tea tea\"",
        "tea",
        &format!("\"{}cup\"", "tea ".repeat(900)),
    ] {
        let highlighter = text.highlighter(&Query::parse(query).unwrap()).unwrap();
        let began = Instant::now();
        let snippet = highlighter.snippet("content", &long, None, 80);
        assert!(snippet.text.starts_with("tea tea"));
        assert_eq!(snippet.marks.is_empty(), query.contains("cup"));
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{query:.20}: {took:?}");
    }
}
