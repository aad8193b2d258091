//! Full-text search: matching, ranking and the text view over its life.

mod files;
mod many_conversations;
mod partitions;
mod structure;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use grainstore::ledger::{Disk, EntryId, FileDisk, MemoryDisk};
use grainstore::text::{self, Document, Hit, Hits, OpenOutcome, Query, Ranking, Text, TextOptions};
use proptest::prelude::*;

fn memory() -> Text {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    Text::open(&disk, 0, TextOptions::default()).unwrap().0
}

fn at(folder: &Path, ledger_len: u64) -> (Text, OpenOutcome) {
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(folder));
    Text::open(&disk, ledger_len, TextOptions::default()).unwrap()
}

fn feed<'a>(text: &Text, documents: impl IntoIterator<Item = &'a str>) {
    for document in documents {
        text.add(EntryId::new(text.watermark()), Document::from(document))
            .unwrap();
    }
}

fn search(text: &Text, query: &str) -> Hits {
    let query = Query::parse(query).unwrap();
    text.search(&query, &Ranking::WORDS, 1_000, &|_| true)
        .unwrap()
}

fn rows(text: &Text, query: &str) -> Vec<u64> {
    let hits = search(text, query).hits;
    hits.into_iter().map(|hit| hit.row.get()).collect()
}

#[test]
fn a_row_is_found_as_soon_as_it_is_fed() {
    let text = memory();
    for row in 0..600 {
        feed(&text, [format!("note number{row} about tea").as_str()]);
        assert_eq!(rows(&text, &format!("number{row}")), [row]);
    }
    assert_eq!(search(&text, "tea").total, 600);
}

#[test]
fn words_find_their_other_forms_in_either_case() {
    let text = memory();
    feed(&text, ["Running dogs", "a quiet cat"]);
    assert_eq!(rows(&text, "RUN dog"), [0]);
    assert_eq!(rows(&text, "cats"), [1]);
}

#[test]
fn a_phrase_must_stand_together_and_not_across_passages() {
    let text = memory();
    feed(&text, ["lives in new york", "york is new", "new old york"]);
    let split: Document = ["something new", "york"].into_iter().collect();
    text.add(EntryId::new(3), split).unwrap();
    assert_eq!(rows(&text, "\"new york\""), [0]);
    assert_eq!(search(&text, "new york").total, 4);
}

#[test]
fn signs_demand_and_rule_out() {
    let text = memory();
    feed(
        &text,
        ["green tea", "green coffee", "black tea", "green e-mail"],
    );
    assert_eq!(rows(&text, "+green tea"), [0, 1, 3]);
    assert_eq!(rows(&text, "green -tea"), [1, 3]);
    assert_eq!(rows(&text, "green -e-mail -\"green coffee\""), [0]);
    assert_eq!(rows(&text, "+green +tea +absent"), Vec::<u64>::new());
    assert_eq!(rows(&text, "-tea"), Vec::<u64>::new());
}

#[test]
fn a_query_without_words_finds_nothing() {
    let text = memory();
    feed(&text, ["tea", ""]);
    for query in ["", "  ", "\"\"", "+ - \" ()", "-tea", "NOT tea"] {
        assert_eq!(search(&text, query), Hits::default(), "{query:?}");
    }
}

#[test]
fn only_accepted_rows_are_counted_and_shown() {
    let text = memory();
    feed(&text, (0..100).map(|_| "tea"));
    let odd = |row: EntryId| row.get() % 2 == 1;
    let hits = text
        .search(&Query::words("tea"), &Ranking::WORDS, 3, &odd)
        .unwrap();
    assert_eq!(hits.total, 50);
    assert_eq!(
        hits.hits.iter().map(|hit| hit.row).collect::<Vec<_>>(),
        [1, 3, 5].map(EntryId::new)
    );
    let none = text
        .search(&Query::words("tea"), &Ranking::WORDS, 0, &odd)
        .unwrap();
    assert_eq!((none.total, none.hits.len()), (50, 0));
}

#[test]
fn a_total_is_exact_up_to_the_maximum_and_then_a_lower_bound() {
    let text = memory();
    feed(&text, (0..1_000).map(|_| "tea"));
    let hits = search(&text, "tea");
    assert_eq!((hits.total, hits.total_is_lower_bound), (1_000, false));
    feed(&text, ["tea tea"]);
    let hits = search(&text, "tea");
    assert_eq!((hits.total, hits.total_is_lower_bound), (1_000, true));
    assert_eq!(hits.hits[0].row, EntryId::new(1_000));
}

#[test]
fn a_turn_is_found_by_its_conversation_however_far_its_words_bring_it() {
    let text = memory();
    // One conversation is about tea; a turn of it says the word among many others, and so do
    // thousands of texts that say it in fewer.
    let long = format!("tea {}", "and so on about this and that ".repeat(9));
    for row in 0..3_000 {
        let said = if row == 1_500 { &long } else { "tea please" };
        let thread = if (1_490..1_510).contains(&row) { 7 } else { 0 };
        let said = if thread == 7 && row != 1_500 {
            "tea tea tea"
        } else {
            said
        };
        text.add(EntryId::new(row), Document::from(said).thread(thread))
            .unwrap();
    }
    let query = Query::words("tea");
    let best = |ranking: &Ranking| {
        let hits = text.search(&query, ranking, 25, &|_| true).unwrap().hits;
        hits.into_iter().map(|hit| hit.row).collect::<Vec<_>>()
    };
    assert!(!best(&Ranking::WORDS).contains(&EntryId::new(1_500)));
    assert!(best(&Ranking::default()).contains(&EntryId::new(1_500)));
}

#[test]
fn equal_texts_rank_by_age_wherever_they_lie() {
    let text = memory();
    for _ in 0..30 {
        feed(&text, ["green black white tea"]);
        feed(
            &text,
            ["tea"].repeat(usize::try_from(text.watermark() % 7).unwrap()),
        );
        if text.watermark() % 5 > 2 {
            text.flush().unwrap();
        }
        let hits = search(&text, "+green black white +tea +\"white tea\"").hits;
        assert!(hits.is_sorted_by(|a, b| a.score.to_bits() == b.score.to_bits() && a.row < b.row));
    }
}

#[test]
fn searches_run_beside_feeds_and_see_each_row_once() {
    let text = memory();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for row in 0..3_000 {
                text.add(EntryId::new(row), Document::from("tea")).unwrap();
                if row % 500 == 0 {
                    text.flush().unwrap();
                }
            }
        });
        let searcher = || {
            let mut seen = 0;
            while seen < 3_000 {
                let from = text.watermark();
                let hits = text
                    .search(&Query::words("tea"), &Ranking::WORDS, usize::MAX, &|_| true)
                    .unwrap();
                assert!(hits.hits.len() >= seen.max(usize::try_from(from).unwrap()));
                assert!(hits.hits.is_sorted_by(|a, b| a.row < b.row));
                seen = hits.hits.len();
            }
        };
        scope.spawn(searcher);
        scope.spawn(searcher);
    });
    let all = text.search(&Query::words("tea"), &Ranking::WORDS, usize::MAX, &|_| true);
    assert_eq!(all.unwrap().hits.len(), 3_000);
}

/// A corpus of few words, so that words repeat and texts coincide.
fn corpus() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(0_u8..12, 0..9), 1..120)
}

fn spelled(words: &[u8]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("w{word}x")).collect();
    words.join(" ")
}

/// So many texts that searches skip: words frequent and rare, in files and in memory.
static CROWD: LazyLock<Text> = LazyLock::new(|| {
    let text = memory();
    let mut dice = 7_u64;
    let mut below = |end: u64| {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % end
    };
    for row in 0..CROWD_LEN as u64 {
        let len = 1 + below(14);
        let words: Vec<u8> = (0..len)
            .map(|_| u8::try_from(below(10) * below(10) * below(2)).unwrap())
            .collect();
        let (subject, object) = words.split_at(words.len() / 2);
        let document = Document::default()
            .passage("subject", spelled(subject))
            .passage("object", spelled(object))
            .order(below(1 << 40))
            .thread(session_of(EntryId::new(row)));
        text.add(EntryId::new(row), document).unwrap();
        if [9_000, 14_000, CROWD_LEN as u64 - 300].contains(&row) {
            text.flush().unwrap();
        }
    }
    text
});

const CROWD_LEN: usize = 16_000;

/// The session of a row of the crowd; 0 is none.
fn session_of(row: EntryId) -> u64 {
    row.get() / 9 % 1_000
}

/// BM25 as its inventors wrote it, with the inverse frequency that is never negative.
fn bm25(corpus: &[Vec<u8>], query: &[u8]) -> Vec<(u64, f64)> {
    let documents = corpus.len() as f64;
    let length = corpus.iter().map(Vec::len).sum::<usize>() as f64 / documents;
    let idf: HashMap<u8, f64> = query
        .iter()
        .map(|word| {
            let with = corpus.iter().filter(|words| words.contains(word)).count() as f64;
            (*word, (1.0 + (documents - with + 0.5) / (with + 0.5)).ln())
        })
        .collect();
    let score = |words: &Vec<u8>| {
        let part = |(word, idf): (&u8, &f64)| {
            let count = words.iter().filter(|other| *other == word).count() as f64;
            let norm = 1.2 * (0.25 + 0.75 * words.len() as f64 / length);
            idf * 2.2 * count / (count + norm)
        };
        idf.iter().map(part).sum::<f64>()
    };
    let scored = (0..).zip(corpus.iter().map(score));
    scored.filter(|(_, score)| *score > 0.0).collect()
}

/// Whether `text` meets a query of signed words and phrases, read off the strings themselves.
fn meets(query: &str, text: &str) -> bool {
    let text = format!(" {text} ");
    let clauses = query
        .split_inclusive("x\" ")
        .flat_map(|piece| match piece.find('"') {
            Some(0) => vec![piece],
            Some(quote) => {
                let sign = usize::from(piece.as_bytes()[quote - 1] != b' ');
                let (words, phrase) = piece.split_at(quote - sign);
                words.split_whitespace().chain([phrase]).collect()
            }
            None => piece.split_whitespace().collect(),
        });
    let (mut is_wanted, mut is_ruled_out) = (false, false);
    for clause in clauses {
        let needle = clause.trim_start_matches(['+', '-']).replace('"', "");
        let occurs = text.contains(&format!(" {} ", needle.trim()));
        is_wanted |= occurs && !clause.starts_with('-');
        is_ruled_out |= clause.starts_with('-') && occurs || clause.starts_with('+') && !occurs;
    }
    is_wanted && !is_ruled_out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_row_scores_by_bm25_over_all_that_was_fed_however_it_was_committed(
        corpus in corpus(),
        query in prop::collection::vec(0_u8..14, 1..5),
        steps in prop::collection::vec((0_usize..30, any::<bool>(), any::<bool>()), 0..9),
    ) {
        let text = memory();
        let mut left = corpus.as_slice();
        let spelled_query = spelled(&query);
        let mut steps = steps.into_iter();
        while !left.is_empty() {
            let (len, flushes, searches) = steps.next().unwrap_or((left.len(), false, false));
            let (now, later) = left.split_at(len.min(left.len()));
            left = later;
            now.iter().for_each(|words| feed(&text, [spelled(words).as_str()]));
            if flushes {
                text.flush().unwrap();
            }
            if searches {
                search(&text, &spelled_query);
            }
        }
        let before = search(&text, &spelled_query);
        text.flush().unwrap();
        prop_assert_eq!(&search(&text, &spelled_query), &before);
        text.close().unwrap();
        prop_assert_eq!(&search(&text, &spelled_query), &before);

        let mut by_row = before.hits.clone();
        by_row.sort_by_key(|hit| hit.row);
        let expected = bm25(&corpus, &query);
        prop_assert_eq!(by_row.len(), expected.len());
        for (found, (row, score)) in by_row.iter().zip(expected) {
            prop_assert_eq!(found.row, EntryId::new(row));
            prop_assert!((f64::from(found.score) - score).abs() < 1e-4, "{found:?} {score}");
        }
        let is_ranked = |a: &Hit, b: &Hit| a.score > b.score || (a.score == b.score && a.row < b.row);
        prop_assert!(before.hits.is_sorted_by(is_ranked));
        prop_assert!(before.hits.iter().all(|hit| (0.0..1.0).contains(&hit.relevance())));
    }

    #[test]
    fn signs_and_phrases_rank_the_same_before_and_after_a_commit(
        corpus in corpus(),
        query in "([+-]?(w[0-9]x|\"w[0-9]x w[0-9]x\") ){1,6}",
        flushed in 0_usize..120,
    ) {
        let text = memory();
        for (row, words) in corpus.iter().enumerate() {
            feed(&text, [spelled(words).as_str()]);
            if row == flushed {
                text.flush().unwrap();
            }
        }
        let before = search(&text, &query);
        text.flush().unwrap();
        prop_assert_eq!(&search(&text, &query), &before);
        let mut found: Vec<u64> = before.hits.iter().map(|hit| hit.row.get()).collect();
        found.sort_unstable();
        let holds = |words: &Vec<u8>| meets(&query, &spelled(words));
        let expected: Vec<u64> = (0..).zip(&corpus).filter(|(_, words)| holds(words)).map(|(row, _)| row).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn every_kind_of_query_ranks_the_same_before_and_after_a_commit(
        corpus in corpus(),
        query in "(([+-]|NOT )?(w[0-9]x|w[0-9]\\*|w\\*|v[0-9]x~|w[0-9]yx~2|object:w[0-9]x|subject:\"w[0-9]x w[0-9]x\"|w[0-9]x\\^3|\\(w[0-9]x AND w[0-9]x\\)) ){1,5}",
        flushed in 0_usize..120,
        // Turns that alternate, or stand one behind the other.
        run_len in 1_u64..20,
    ) {
        let text = memory();
        for (row, words) in (0_u64..).zip(&corpus) {
            let (subject, object) = words.split_at(words.len() / 2);
            let document = Document::default()
                .passage("subject", spelled(subject))
                .passage("object", spelled(object))
                .thread(row / run_len % 7)
                .said_by(
                    ["user", "assistant"].get(usize::try_from(row % 3).unwrap()).copied(),
                    ["w1x", "w2x"].get(usize::try_from(row % 4).unwrap()).copied(),
                )
                .time_ms(i64::try_from(row * 31 % 17).unwrap());
            text.add(EntryId::new(row), document).unwrap();
            if row == flushed as u64 {
                text.flush().unwrap();
            }
        }
        let query = Query::parse(&query).unwrap();
        let ask = |ranking: &Ranking| text.search(&query, ranking, 1_000, &|row| row.get() % 9 != 4).unwrap();
        let before = [ask(&Ranking::WORDS), ask(&Ranking::default())];
        text.flush().unwrap();
        prop_assert_eq!(&[ask(&Ranking::WORDS), ask(&Ranking::default())], &before);
        text.close().unwrap();
        prop_assert_eq!(&[ask(&Ranking::WORDS), ask(&Ranking::default())], &before);
    }

    #[test]
    fn what_is_skipped_would_not_have_been_among_the_best(
        query in "(([+-]|NOT )?(w[0-9]{1,2}x|w[0-9]\\*|w[0-9]{2}x~|object:w[0-9]x|\"w[0-9]x w[0-9]x\"|w[0-9]{2}x\\^3|\\(w[0-9]x AND w[0-9]{2}x\\)) ){1,5}",
        limit in 1_usize..40,
        of in 1_u64..40,
    ) {
        let query = Query::parse(&query).unwrap();
        let accept = |row: EntryId| row.get().is_multiple_of(of);
        let search = |ranking: &Ranking, limit| CROWD.search(&query, ranking, limit, &accept).unwrap();
        let recall = |ranking| {
            let around = CROWD.recall(&query, ranking, limit, 0, &accept).unwrap();
            around.into_iter().map(|around| around.hit).collect::<Vec<_>>()
        };
        // Where more is asked for than there is, every match is scored.
        let mut all = search(&Ranking::WORDS, CROWD_LEN);
        // What is found matches, or is a turn of a session that was read, because another of its
        // turns matches; each stands there once.
        let matches: HashSet<EntryId> = all.hits.iter().map(|hit| hit.row).collect();
        let sessions: HashSet<u64> = matches.iter().map(|row| session_of(*row)).collect();
        let around = search(&Ranking::default(), limit).hits;
        let found: HashSet<EntryId> = around.iter().map(|hit| hit.row).collect();
        prop_assert_eq!(found.len(), around.len());
        let in_session = |row: &EntryId| session_of(*row) != 0 && sessions.contains(&session_of(*row));
        let is_explained = found.iter().all(|row| matches.contains(row) || in_session(row));
        prop_assert!(is_explained);
        prop_assert!(found.len() >= limit.min(matches.len()));
        all.hits.truncate(limit);
        prop_assert_eq!(&recall(&Ranking::WORDS), &all.hits);
        prop_assert_eq!(search(&Ranking::WORDS, limit), all);
        prop_assert_eq!(recall(&Ranking::default()), search(&Ranking::default(), limit).hits);
    }

    #[test]
    fn every_text_is_a_query_or_a_fault_with_its_place(
        query in "\\PC*|[+\\-\"a() :\\[\\]^~*\\\\]{0,60}|([+-]|NOT |a AND |OR |b~2|c\\*|\\(|\\)|object:| ){0,12}",
    ) {
        let text = memory();
        feed(&text, ["a", "b a", "green tea"]);
        let words = Query::words(&query);
        let parsed = match Query::parse(&query) {
            Ok(parsed) => parsed,
            Err(text::Error::Syntax { place, .. }) => {
                prop_assert!(query.is_char_boundary(place));
                words.clone()
            }
            Err(error) => panic!("{error}"),
        };
        for asked in [parsed, words] {
            let hits = text.search(&asked, &Ranking::default(), 10, &|_| true).unwrap();
            prop_assert!(!asked.is_empty() || hits.total == 0);
            let highlighter = text.highlighter(&asked).unwrap();
            let snippet = highlighter.snippet("content", &query, None, 20);
            for mark in snippet.marks {
                prop_assert!(snippet.text.get(mark).is_some());
            }
        }
    }
}
