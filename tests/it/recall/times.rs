//! Questions that name a time: alone it is what is asked for, beside other words it only counts.

use grainstore::query::Recall;
use grainstore::render::Format;
use grainstore::text::Ranking;
use grainstore::{Draft, Filter, Search, Store, Time};

use super::store;

const DAY: i64 = 86_400_000;

/// Wednesday, 2026-03-18, 15:00.
fn now() -> Time {
    Time::parse("2026-03-18T15:00:00Z").unwrap()
}

fn asked_now() -> Ranking {
    Ranking {
        now: Some(now()),
        ..Ranking::default()
    }
}

/// Stores a diary: a session of two turns for each of some days before now.
fn diary(days: &[(i64, &str)]) -> Store {
    let store = store();
    for (ago, said) in days {
        let at = now().ms() - ago * DAY;
        for (n, text) in [*said, "I see."].into_iter().enumerate() {
            let role = if n == 0 { "user" } else { "assistant" };
            let turn = Draft::event(text).set("role", role);
            let turn = turn.session(format!("day{ago}").as_str());
            let time = Time::from_ms(at + 1_000 * i64::try_from(n).unwrap());
            store.put(turn.created_at(time)).unwrap();
        }
    }
    store
}

fn recalled(store: &Store, question: &str, ranking: Ranking) -> String {
    let recall = Recall {
        ranking,
        ..Recall::default()
    };
    let known = store.recall(question, &Filter::new(), &recall).unwrap();
    known.render(Format::Text)
}

#[test]
fn a_time_alone_recalls_what_was_said_then_in_its_order() {
    let store = diary(&[
        (1, "I painted the fence green."),
        (2, "The boat leaks, what did I do yesterday to it?"),
        (9, "Ana came for dinner."),
        (280, "We swam in the lake."),
    ]);
    for (question, said, others) in [
        (
            "What did I do yesterday?",
            "fence",
            ["boat", "dinner", "lake"],
        ),
        (
            "Was habe ich vorgestern gemacht?",
            "boat",
            ["fence", "dinner", "lake"],
        ),
        (
            "what did we talk about last week",
            "dinner",
            ["fence", "boat", "lake"],
        ),
        (
            "What happened in June?",
            "lake",
            ["fence", "boat", "dinner"],
        ),
        (
            "What did we discuss in the second session?",
            "dinner",
            ["fence", "boat", "lake"],
        ),
        (
            "What did we discuss in our last session?",
            "fence",
            ["boat", "dinner", "lake"],
        ),
        (
            "What did we talk about 2 sessions ago?",
            "dinner",
            ["fence", "boat", "lake"],
        ),
    ] {
        let text = recalled(&store, question, asked_now());
        assert!(text.contains(said), "{question}\n{text}");
        assert!(
            others.iter().all(|other| !text.contains(other)),
            "{question}\n{text}"
        );
        assert!(text.contains("I see."), "{question}\n{text}");
    }
    let text = recalled(&store, "What did I do this week?", asked_now());
    let place = |word: &str| text.find(word).unwrap();
    assert!(place("boat") < place("fence"), "{text}");
}

#[test]
fn an_empty_day_is_looked_at_with_the_days_beside_it() {
    let store = diary(&[(4, "The harvest began."), (30, "Rain.")]);
    let text = recalled(
        &store,
        "What did we talk about three days ago?",
        asked_now(),
    );
    assert!(text.contains("harvest") && !text.contains("Rain"), "{text}");
}

#[test]
fn a_time_beside_other_words_hides_nothing_and_finds_what_shares_no_word() {
    let store = diary(&[
        (1, "Noodles with Mira at the harbour."),
        (40, "I ate soup at the Anchor."),
    ]);
    let text = recalled(&store, "Where did I eat yesterday?", asked_now());
    assert!(
        text.contains("Noodles") && text.contains("Anchor"),
        "{text}"
    );
    let query = Search::words("Where did I eat yesterday?");
    let found = store.find(&query.ranking(asked_now()).limit(9)).unwrap();
    assert!(found.results.iter().any(|found| {
        found
            .grain
            .text("content")
            .is_some_and(|text| text.contains("Noodles"))
    }));
}

#[test]
fn a_turn_of_the_time_that_is_named_counts_more_and_says_so() {
    let store = diary(&[(1, "tea at home"), (40, "tea at home again")]);
    let ranking = Ranking {
        explains: true,
        ..asked_now()
    };
    let query = Search::words("tea at home on 17 March 2026");
    let found = store.find(&query.ranking(ranking).limit(9)).unwrap();
    let names = |at: usize| {
        let parts = found.results[at].explanation.iter();
        parts.map(|(name, _)| *name).collect::<Vec<_>>()
    };
    assert_eq!(found.results[0].grain.text("content"), Some("tea at home"));
    assert!(names(0).contains(&"within") && names(0).contains(&"date"));
    let other = found.results.iter().position(|found| {
        found
            .grain
            .text("content")
            .is_some_and(|text| text.ends_with("again"))
    });
    assert!(!names(other.unwrap()).contains(&"within"));
}

#[test]
fn a_word_that_is_no_time_filters_nothing() {
    let store = diary(&[
        (1, "Something else."),
        (50, "The broken vase was the last straw for Mira."),
    ]);
    let text = recalled(&store, "What was the last straw for Mira?", asked_now());
    assert!(text.contains("vase"), "{text}");
}

#[test]
fn a_day_is_the_callers_day_and_a_filter_still_holds() {
    let store = store();
    let late = Time::parse("2026-03-17T23:30:00Z").unwrap();
    let put = |namespace: &str, text: &str| {
        let turn = Draft::event(text).namespace(namespace).created_at(late);
        store.put(turn).unwrap()
    };
    put("mine", "a call at night");
    put("theirs", "a secret");
    let mut ranking = asked_now();
    let text = recalled(&store, "What did I do yesterday?", ranking);
    assert!(text.contains("call") && text.contains("secret"), "{text}");
    ranking.utc_offset_minutes = 60;
    let recall = Recall {
        ranking,
        ..Recall::default()
    };
    let mine = Filter::new().namespace("mine");
    let known = store
        .recall("What did I do today?", &mine, &recall)
        .unwrap();
    let text = known.render(Format::Text);
    assert!(text.contains("call") && !text.contains("secret"), "{text}");
    let narrowed = store.in_namespace("mine");
    let known = narrowed
        .recall("What did I do today?", &Filter::new(), &recall)
        .unwrap();
    assert!(!known.render(Format::Text).contains("secret"));
}
