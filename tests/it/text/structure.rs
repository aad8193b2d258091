//! The rules by which a conversation ranks its turns, each by itself.

use super::*;

/// A turn: its session, the role and the name of its speaker, and its text.
type Said = (
    u64,
    Option<&'static str>,
    Option<&'static str>,
    &'static str,
);

const DAY_MS: i64 = 86_400_000;

/// Feeds turns, a day apart from 1970-01-01 on.
fn talk(turns: &[Said]) -> Text {
    let text = memory();
    for ((session, role, name, said), day) in turns.iter().zip(0..) {
        let document = Document::default().passage("content", *said);
        let document = document.thread(*session).said_by(*role, *name);
        let row = EntryId::new(text.watermark());
        text.add(row, document.time_ms(day * DAY_MS)).unwrap();
    }
    text
}

fn ask(text: &Text, query: &str, ranking: &Ranking) -> Hits {
    let query = Query::parse(query).unwrap();
    let found = text.search(&query, ranking, 100, &|_| true).unwrap();
    text.flush().unwrap();
    let committed = text.search(&query, ranking, 100, &|_| true).unwrap();
    assert_eq!(found, committed);
    found
}

/// Returns the score of a row by a ranking; 0 if it is not found.
fn score(text: &Text, query: &str, ranking: &Ranking, row: u64) -> f64 {
    let hits = ask(text, query, ranking).hits;
    let hit = hits.iter().find(|hit| hit.row == EntryId::new(row));
    hit.map_or(0.0, |hit| f64::from(hit.score))
}

/// A ranking in which turns of a session are hits without a match of their own.
fn by_session() -> Ranking {
    Ranking {
        session: 1.0,
        ..Ranking::WORDS
    }
}

/// Asserts that a factor of a ranking multiplies the score of one row alone.
fn assert_factor(text: &Text, query: &str, ranking: &Ranking, row: u64, factor: f64) {
    for hit in ask(text, query, &by_session()).hits {
        let before = f64::from(hit.score);
        let after = score(text, query, ranking, hit.row.get());
        let expected = if hit.row == EntryId::new(row) {
            factor
        } else {
            1.0
        };
        assert!((after / before - expected).abs() < 1e-5, "{hit:?} {after}");
    }
}

const ANNA: (Option<&str>, Option<&str>) = (Some("user"), Some("Anna"));
const BEN: (Option<&str>, Option<&str>) = (Some("user"), Some("Ben Smith"));
const BOT: (Option<&str>, Option<&str>) = (Some("assistant"), None);

fn said(by: (Option<&'static str>, Option<&'static str>), text: &'static str) -> Said {
    (1, by.0, by.1, text)
}

#[test]
fn a_turn_without_a_word_of_the_question_is_found_in_its_session_only() {
    let turns = [
        said(ANNA, "tea"),
        said(BEN, "a cup of it"),
        (2, None, None, "elsewhere"),
        (0, None, None, "outside"),
    ];
    let text = talk(&turns);
    let found = |query: &str| -> Vec<u64> {
        let hits = ask(&text, query, &by_session()).hits;
        hits.iter().map(|hit| hit.row.get()).collect()
    };
    assert_eq!(found("tea"), [0, 1]);
    assert_eq!(found("tea -elsewhere"), [0, 1]);
    // Demanded and ruled out clauses, phrases, fields and groups keep their meaning.
    assert_eq!(found("tea -cup"), [0]);
    for query in ["+tea", "\"tea\"", "content:tea", "tea^2", "(tea)", "te*"] {
        assert_eq!(found(query), [0], "{query}");
    }
    assert_eq!(ask(&text, "tea", &Ranking::WORDS).hits.len(), 1);
}

#[test]
fn each_rule_multiplies_the_turns_that_it_is_about() {
    let text = talk(&[
        said(ANNA, "tea in may"),
        said(BOT, "green tea"),
        said(ANNA, "is there tea?"),
        said(BEN, "tea for two"),
    ]);
    let base = by_session();
    assert_factor(
        &text,
        "tea",
        &Ranking {
            question: 0.5,
            ..base
        },
        2,
        0.5,
    );
    assert_factor(
        &text,
        "tea ben",
        &Ranking {
            speaker: 2.0,
            ..base
        },
        3,
        2.0,
    );
    // Both are named: neither is the one.
    assert_factor(
        &text,
        "tea ben anna",
        &Ranking {
            speaker: 2.0,
            ..base
        },
        3,
        1.0,
    );
    let answer_type = Ranking {
        answer_type: 2.0,
        ..base
    };
    assert_factor(&text, "how many tea", &answer_type, 3, 2.0);
    assert_factor(&text, "when tea", &answer_type, 0, 2.0);
    assert_factor(&text, "tea", &answer_type, 0, 1.0);
}

#[test]
fn an_answer_has_a_share_of_its_question_and_a_reply_to_oneself_has_none() {
    let share = Ranking {
        answer: 1.0,
        ..by_session()
    };
    let given = |asked: Said, answered: Said| {
        let text = talk(&[asked, answered]);
        score(&text, "lisbon", &share, 1) > score(&text, "lisbon", &by_session(), 1)
    };
    assert!(given(said(ANNA, "to Lisbon?"), said(BEN, "by train")));
    assert!(!given(said(ANNA, "to Lisbon."), said(BEN, "by train")));
    assert!(!given(said(ANNA, "to Lisbon?"), said(ANNA, "by train")));
    assert!(!given(said(ANNA, "to Lisbon?"), said(BOT, "by train")));
}
