//! The cuts of a precise recall, and how words that no memory has are read.

use std::path::Path;

use grainstore::query::Recall;
use grainstore::render::{Format, Recollection};
use grainstore::text::Ranking;
use grainstore::{Draft, Filter, Search, Store, Time, codec};
use serde_json::Value;

use super::store;

fn vectors(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/search");
    let text = std::fs::read_to_string(path.join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn put(store: &Store, text: &str) {
    let draft = Draft::event(text).created_at(Time::from_ms(1_768_471_200_000));
    store.put(draft).unwrap();
}

fn everyday() -> (Store, Vec<(String, String)>) {
    let store = store();
    let pairs = vectors("everyday.json").into_iter().map(|pair| {
        let text = |name: &str| pair[name].as_str().unwrap().to_owned();
        put(&store, &text("memory"));
        (text("memory"), text("question"))
    });
    let pairs = pairs.collect();
    (store, pairs)
}

fn precise(store: &Store, question: &str) -> Recollection {
    let recall = Recall::default().precise();
    store.recall(question, &Filter::new(), &recall).unwrap()
}

#[test]
fn of_questions_that_nothing_answers_a_precise_recall_says_nothing_and_of_others_the_answer() {
    let (store, pairs) = everyday();
    let has = |known: &Recollection, memory: &str| known.render(Format::Text).contains(memory);
    let (mut answered, mut alone) = (0, 0);
    for (memory, question) in &pairs {
        let known = precise(&store, question);
        let is_answered = has(&known, memory);
        answered += usize::from(is_answered);
        alone += usize::from(is_answered && known.len() == 1);
        if !is_answered {
            println!(
                "missed: {question} {memory}: {}",
                known.render(Format::Text)
            );
        }
    }
    let (mut silent, mut before) = (0, 0);
    let unanswerable = vectors("unanswerable.json");
    for question in &unanswerable {
        let question = question.as_str().unwrap();
        let known = precise(&store, question);
        silent += usize::from(known.is_empty());
        let all = store.recall(question, &Filter::new(), &Recall::default());
        before += usize::from(all.unwrap().is_empty());
        if !known.is_empty() {
            println!("not silent: {question}: {}", known.render(Format::Text));
        }
    }
    println!(
        "{answered} of {} answered, {alone} by the memory alone; {silent} of {} silent, {before} without",
        pairs.len(),
        unanswerable.len()
    );
    assert!(answered * 100 >= pairs.len() * 80, "{answered}");
    assert!(alone * 100 >= pairs.len() * 70, "{alone}");
    assert!(silent * 100 >= unanswerable.len() * 95, "{silent}");
}

#[test]
fn what_was_left_out_as_less_relevant_is_counted_and_a_narrowed_handle_is_not_told() {
    let store = store();
    for text in [
        "the blue boat leaks",
        "a boat",
        "the boat of Ana and the blue harbour in winter rain",
    ] {
        put(&store, text);
    }
    let ranking = Ranking {
        share: 0.9,
        ..Ranking::default()
    };
    let query = Search::words("blue boat leaks");
    let found = |store: &Store| {
        store
            .find(&query.clone().ranking(ranking).limit(9))
            .unwrap()
    };
    let owner = found(&store);
    assert_eq!((owner.results.len(), owner.less_relevant), (1, 2));
    assert_eq!(found(&store.read_only()).less_relevant, 0);
    let known = precise(&store, "blue boat leaks");
    assert_eq!((known.len(), known.less_relevant), (1, 2));
    assert!(known.render(Format::Json).contains("\"less_relevant\":2"));
}

#[test]
fn a_word_that_no_memory_has_is_read_as_the_one_spelt_most_like_it_and_the_answer_says_so() {
    let store = store();
    put(&store, "the service runs on mongodb");
    put(&store, "the front end is written in typescript");
    put(&store, "the weather was fine");
    for (question, memory, word) in [
        ("which mongod version", "mongodb", "mongod"),
        ("is it typsecript", "typescript", "typsecript"),
    ] {
        let known = store
            .recall(question, &Filter::new(), &Recall::default())
            .unwrap();
        let text = known.render(Format::Text);
        assert!(text.contains(memory) && !text.contains("weather"), "{text}");
        assert_eq!(known.read_as.len(), 1, "{:?}", known.read_as);
        assert_eq!(known.read_as[0].0, word);
        assert!(known.render(Format::Json).contains("\"read_as\":{"));
    }
    // A word that is known is never another, and an operator asks for the word itself.
    let found = |text: &str| store.search(text, &Filter::new(), 9).unwrap();
    assert_eq!(found("mongodb").read_as, []);
    assert_eq!(found("+mongod").total, 0);
    assert_eq!(found("fina").total, 0);
}

#[test]
fn a_name_is_asked_for_by_its_aliases_too() {
    let store = store();
    put(&store, "the cluster of Kubernetes is in Zurich");
    let alias = |alias: &str, of: &str| Draft::belief(alias, "alias_of", of).confidence(1.0);
    store
        .put(alias("k8s", "Kubernetes").namespace("mine"))
        .unwrap();
    let found = store.search("where is k8s?", &Filter::new(), 9).unwrap();
    let texts = found
        .results
        .iter()
        .filter_map(|found| found.grain.text("content"));
    assert!(texts.into_iter().any(|text| text.contains("Zurich")));
    assert_eq!(found.read_as, [("k8s".to_owned(), "Kubernetes".to_owned())]);
    // An alias that the filter hides names nothing.
    let elsewhere = Filter::new().namespace("other");
    assert_eq!(store.search("k8s", &elsewhere, 9).unwrap().read_as, []);
}

#[test]
fn what_was_replaced_never_stands_before_what_replaced_it() {
    let store = store();
    for (old, new) in [
        ("目前 住在 北京 目前", "住在 上海"),
        (
            "lives in the old town of Bern, the old town",
            "lives in Basel",
        ),
    ] {
        let draft = |object: &str| Draft::belief(old, "lives", object).confidence(0.9);
        let old = store.put(draft(old)).unwrap();
        let newer = store
            .supersede(&old, draft(new).derived_from(old), None)
            .unwrap();
        let all = Filter::new().with_superseded();
        for question in ["目前", "old town", "lives"] {
            let found = store.search(question, &all, 9).unwrap();
            let place = |of| found.results.iter().position(|found| found.address == of);
            if let (Some(old), Some(new)) = (place(old), place(newer)) {
                assert!(new < old, "{question}");
            }
        }
    }
}

#[test]
fn what_was_refuted_never_stands_before_what_refuted_it() {
    let store = store();
    let old = Draft::belief("mira", "is allergic to", "nuts, all nuts, nuts").confidence(0.9);
    let old = store.put(old).unwrap();
    let link = [
        ("hash", codec::Value::from(old.to_string())),
        ("relation_type", codec::Value::from("contradicts")),
    ];
    let links = vec![codec::Value::Map(codec::Map::from_iter(link))];
    let new = Draft::belief("mira", "is allergic to", "no kind of nuts at all")
        .confidence(0.9)
        .set("related_to", codec::Value::Array(links));
    let new = store.put(new).unwrap();
    store.contradict(&old, Some("she ate some")).unwrap();
    let all = Filter::new().with_superseded();
    let found = store.search("nuts", &all, 9).unwrap();
    let order: Vec<_> = found.results.iter().map(|found| found.address).collect();
    assert_eq!(order, [new, old]);
}
