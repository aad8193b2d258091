//! How each rule of the ranking changed the score of a hit.

use std::collections::BTreeSet;

use grainstore::text::Ranking;
use grainstore::{Draft, Filter, Options, Search, Store, Time};

#[test]
fn the_rules_of_each_hit_together_are_its_score() {
    let store = Store::in_memory(Options::default()).unwrap();
    let turns = [
        ("user", "Anna", "Ben, when do you drive to Lisbon?"),
        ("user", "Ben", "tomorrow"),
        ("assistant", "bot", "Lisbon is warm"),
        ("user", "Ben", "in May we drive to Porto"),
    ];
    for (number, (role, name, text)) in (0..).zip(turns) {
        let turn = Draft::event(text)
            .set("role", role)
            .set("observer_id", name);
        let moment = Time::from_ms(1_768_471_200_000 + number * 60_000);
        store.put(turn.session("s").created_at(moment)).unwrap();
    }
    store
        .put(Draft::belief("Ben", "likes", "Lisbon").confidence(0.9))
        .unwrap();
    let filter = Filter::new();
    let ranking = Ranking {
        explains: true,
        ..Ranking::default()
    };
    let mut names = BTreeSet::new();
    for text in [
        "when did Ben drive to Lisbon in 2026",
        "+lisbon",
        "tomorrow",
    ] {
        let query = Search::parse(text).unwrap();
        let explained = store
            .find(&query.filter(&filter).ranking(ranking).limit(9))
            .unwrap();
        let plain = store.search(text, &filter, 9).unwrap();
        assert_eq!(explained.results.len(), plain.results.len());
        for (found, plain) in explained.results.iter().zip(&plain.results) {
            assert_eq!((found.address, found.score), (plain.address, plain.score));
            assert_eq!(plain.explanation, []);
            let parts = found.explanation.iter();
            let (added, factors): (Vec<_>, Vec<_>) =
                parts.partition(|(name, _)| ADDED.contains(name));
            let sum: f64 = added.iter().map(|(_, value)| value).sum();
            let score = sum * factors.iter().map(|(_, factor)| factor).product::<f64>();
            assert!(
                (score / (score + 4.0) - found.score).abs() < 1e-6,
                "{found:?}"
            );
            names.extend(found.explanation.iter().map(|(name, _)| *name));
        }
    }
    let expected = [
        "answer",
        "answer_type",
        "date",
        "neighbours",
        "question",
        "session",
        "speaker",
        "within",
        "words",
    ];
    assert_eq!(names, BTreeSet::from(expected));
}

const ADDED: &[&str] = &[
    "words",
    "meaning",
    "within",
    "neighbours",
    "answer",
    "session",
];
