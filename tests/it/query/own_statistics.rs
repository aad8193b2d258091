//! Searches whose statistics are those of the grains that may be found: no score and no order tells of
//! any other grain.

use grainstore::query::Recall;
use grainstore::render::Format;
use grainstore::text::Ranking;
use grainstore::{Draft, Filter, Options, Search, Store, Time};

const MINE: [&str; 6] = [
    "green tea in the morning",
    "black tea with milk",
    "the kettle is in the kitchen and it is red",
    "a walk in the rain with the dog",
    "die Katze trinkt Milch",
    "teapots",
];

/// Texts that make words frequent, long and of other languages, and terms near those of [`MINE`].
const OTHERS: [&str; 7] = [
    "tea tea tea",
    "teaches teams team teacher teal teak tear",
    "kitchen kitten kitchens kettles kettle",
    "il cane beve il latte e la pioggia cade",
    "rain rain rain and a great many other words that make this text a long one, far longer than any",
    "die Katzen trinken",
    "milk",
];

const QUERIES: [&str; 8] = [
    "tea",
    "green tea",
    "te*",
    "kitchn~2",
    "\"the kitchen\"",
    "Katzen",
    "rainy dogs",
    "milk OR milch",
];

fn grain(user: &str, session: &str, n: usize, text: &str) -> Draft {
    let draft = Draft::event(text).user(user).session(session);
    let draft = match text {
        _ if text.contains("atze") => draft.set("lang", "de"),
        _ if text.starts_with("il ") => draft.set("lang", "it"),
        _ => draft,
    };
    draft.created_at(Time::from_ms(1_768_471_200_000 + i64::try_from(n).unwrap()))
}

/// Stores the grains of one person, and those of another between and after them.
fn store(with_others: bool) -> Store {
    let store = Store::in_memory(Options::default()).unwrap();
    for round in 0..30 {
        let others = OTHERS.iter().filter(|_| with_others).enumerate();
        for (n, text) in others {
            let text = format!("{text} {round}");
            store.put(grain("noor", "theirs", n, &text)).unwrap();
        }
        if let Some(text) = MINE.get(round) {
            store.put(grain("mira", "mine", round, text)).unwrap();
        }
        // Some documents are in files, and some in memory.
        if round == 20 {
            store.maintenance().unwrap().compact().unwrap();
        }
    }
    store
}

/// Returns every result, its score to the last digit, and what a recall says.
fn said(store: &Store, own_statistics: bool) -> Vec<(String, String, String)> {
    let filter = Filter::new().user("mira");
    let ranking = Ranking {
        own_statistics,
        explains: true,
        ..Ranking::default()
    };
    let answers = QUERIES.iter().map(|text| {
        let query = Search::parse(text).unwrap();
        let found = store
            .find(&query.filter(&filter).ranking(ranking).limit(100))
            .unwrap();
        let recall = Recall {
            ranking,
            ..Recall::default()
        };
        let known = store.recall(text, &filter, &recall).unwrap();
        let count = format!("{text}: {}", found.total);
        (count, found.to_json(), known.render(Format::Json))
    });
    answers.collect()
}

#[test]
fn with_own_statistics_scores_and_order_are_those_of_a_store_without_the_other_grains() {
    let (alone, both) = (store(false), store(true));
    assert_eq!(said(&both, true), said(&alone, true));
    // Without them, the words of the others are in the scores.
    assert_ne!(said(&both, false), said(&alone, false));
}

#[test]
fn own_statistics_of_a_store_with_one_person_find_what_those_of_the_store_find() {
    let alone = store(false);
    let found = |own_statistics| {
        let answers = said(&alone, own_statistics).into_iter();
        answers.map(|(count, ..)| count).collect::<Vec<_>>()
    };
    assert_eq!(found(true), found(false));
    assert!(found(true).iter().all(|count| !count.ends_with(" 0")));
}
