//! The limits of a statement: how long the longest takes to be read, and that none outlasts its time.

#![expect(clippy::print_stdout, reason = "a test tells what it measured")]

use std::time::{Duration, Instant};

use grainstore::{Draft, Options as StoreOptions, Store, Time};
use grainstore_cal::{Cal, Failure, Options, parse};

const NOW: i64 = 1_768_471_200_000;

/// The most bytes that a statement has (CAL 1.9).
const SOURCE_MAX: usize = 8_192;

/// Returns `start`, `part` as often as it fits, and `end`.
fn filled(start: &str, part: &str, end: &str) -> String {
    let room = SOURCE_MAX - start.len() - end.len();
    format!("{start}{}{end}", part.repeat(room / part.len()))
}

#[test]
fn the_longest_statements_are_read_or_refused_within_a_millisecond() {
    let longest = match cfg!(debug_assertions) {
        true => Duration::from_millis(100),
        false => Duration::from_millis(1),
    };
    for text in [
        filled("RECALL ABOUT \"", "a", "\""),
        filled("RECALL ABOUT \"", "\\n", "\""),
        filled("RECALL ABOUT \"", "e\u{301}", "\""),
        filled("RECALL WHERE subject IN (", "\"a\", ", "\"a\")"),
        filled("RECALL WHERE tags INCLUDE [", "\"a\",", "\"a\"]"),
        filled("RECALL WHERE a = 1", " AND subject = \"a\"", ""),
        filled("RECALL", " | LIMIT 1", ""),
        filled("RECALL WITH a", ", dedup(a)", ""),
        filled("ASSEMBLE FROM (RECALL)", ", (RECALL)", ""),
        filled("BATCH { a: RECALL", ", a: RECALL", " }"),
        filled("COALESCE (RECALL", ", RECALL", ")"),
        filled("", "LET $a = RECALL; ", "RECALL"),
        filled("", "(", ""),
        filled("", "(RECALL) UNION ", "(RECALL)"),
        filled("RECALL WHERE subject IN ", "(RECALL WHERE subject IN ", ""),
        filled("ADD belief", " SET a = [[[1]]]", ""),
        filled("DEFINE TEMPLATE a ELEMENT {", "{{#grain.subject}}", "}"),
        filled("DEFINE TEMPLATE a ELEMENT {", "{{grain.subject}}", "}"),
        filled("DEFINE TEMPLATE a ELEMENT {", "{", "}"),
        filled("RECALL -- ", "-", ""),
        filled("", "recal ", ""),
        filled("", "\"", ""),
        filled("", "é", ""),
        filled("RECALL AS ", "z", ""),
    ] {
        assert!(text.len() <= SOURCE_MAX && text.len() > SOURCE_MAX - 32);
        let took = (0..10).map(|_| {
            let started = Instant::now();
            drop(std::hint::black_box(parse(&text)));
            started.elapsed()
        });
        let took = took.min().unwrap();
        println!("{took:>12?} {}", text.get(..40).unwrap_or(&text));
        assert!(
            took < longest,
            "{took:?} {}",
            text.get(..40).unwrap_or(&text)
        );
    }
    assert_eq!(
        parse(&"a".repeat(SOURCE_MAX + 1))
            .unwrap_err()
            .code
            .as_str(),
        "CAL-E001"
    );
}

#[test]
fn a_statement_that_has_no_time_left_ends_with_a_code_and_no_part_of_an_answer() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    for number in 0..50 {
        let draft = Draft::belief("mira", "likes", format!("tea {number}"));
        store.put(draft.confidence(0.9)).unwrap();
    }
    let options = Options {
        timeout: Duration::ZERO,
        ..Options::at(Time::from_ms(NOW))
    };
    for text in [
        "RECALL beliefs",
        "RECALL | ORDER BY time DESC | LIMIT 3",
        "RECALL WHERE subject != \"ana\"",
        "RECALL LIKE \"tea\"",
        "RECALL | GROUP BY subject",
        "RECALL WHERE subject IN (RECALL beliefs | SUBJECTS)",
        "LET $x = RECALL | SUBJECTS; RECALL WHERE subject IN ($x)",
        "(RECALL beliefs) UNION (RECALL LIKE \"tea\")",
        "HISTORY WHERE subject = \"mira\" AND relation = \"likes\"",
    ] {
        let answered = store.cal(text, &options);
        let Err(Failure::Statement(error)) = &answered else {
            panic!("{text}: {answered:?}");
        };
        assert_eq!(error.code.as_str(), "CAL-E031", "{text}");
    }
    // What asks for no grain is answered.
    assert!(store.cal("DESCRIBE grammar", &options).is_ok());
}
