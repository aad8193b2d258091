//! Any text and any JSON form: nothing panics, and what is read is written and read as the same.

use grainstore_cal::{parse, parse_json};
use proptest::prelude::*;

/// The words and signs of the grammar, from which statements and near misses are made.
const WORDS: &[&str] = &[
    "RECALL",
    "MY",
    "beliefs",
    "events",
    "goals",
    "IN",
    "SCOPE",
    "ABOUT",
    "LIKE",
    "SINCE",
    "BETWEEN",
    "AND",
    "THREAD",
    "FROM",
    "WHERE",
    "subject",
    "relation",
    "confidence",
    "tags",
    "time",
    "hc:x",
    "=",
    "!=",
    ">=",
    "INCLUDE",
    "IS",
    "PREFERENCE",
    "WITH",
    "superseded",
    "dedup",
    "x_a",
    "|",
    "SELECT",
    "ORDER BY",
    "DESC",
    "LIMIT",
    "OFFSET",
    "COUNT",
    "SUBJECTS",
    "GROUP BY",
    "RECENT",
    "AS",
    "sml",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    ">",
    "3",
    "0.5",
    "-7",
    "\"a\"",
    "\"\"",
    "true",
    "$p",
    "sha256:01234567",
    "ASSEMBLE",
    "FOR",
    "BUDGET",
    "tokens",
    "PRIORITY",
    "FORMAT",
    "UNION",
    "EXCEPT",
    "EXISTS",
    "HISTORY",
    "DIFF",
    "OF",
    "EXPLAIN",
    "DESCRIBE",
    "fields",
    "BATCH",
    "COALESCE",
    "ADD",
    "belief",
    "SET",
    "REASON",
    "REVERT",
    "LET",
    "CAL/1",
    "OR",
    "DEFINE",
    "TEMPLATE",
    "EXTENDS",
    "HEADER",
    "ELEMENT",
    "FOOTER",
    "{{grain.type}}",
    "STREAM",
    "DELETE",
    "--",
    "\n",
];

/// Statements that are mostly right.
fn statement() -> impl Strategy<Value = String> {
    let value = "\"[ -~é\u{301}日]{0,8}\"".prop_filter("an escape", |text| !text.contains('\\'));
    let value = value.prop_map(|text| format!("\"{}\"", text.replace('"', "")));
    let condition = (
        prop::sample::select(vec!["subject", "object", "hc:y"]),
        value,
    )
        .prop_map(|(field, value)| format!("{field} = {value}"));
    let stage = prop::sample::select(vec![
        "| LIMIT 3",
        "ORDER BY time DESC",
        "| OFFSET 0",
        "SELECT subject, hash",
        "| FIRST",
    ]);
    let recall = (
        prop::collection::vec(condition, 0..3),
        prop::collection::vec(stage, 0..4),
        prop::sample::select(vec![
            "",
            "AS toon",
            "WITH superseded, x_own(1, \"b\")",
            "ABOUT $p",
        ]),
    );
    let recall = recall.prop_map(|(conditions, stages, more)| {
        let conditions = match conditions.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", conditions.join(" AND ")),
        };
        format!("RECALL beliefs {conditions} {} {more}", stages.join(" "))
    });
    (recall.clone(), recall, 0..7).prop_map(|(a, b, shape)| match shape {
        0 => format!("({a}) UNION ({b})"),
        1 => format!("COALESCE ({a}, {b})"),
        2 => format!("BATCH {{ a: {a}, recent: {b} }}"),
        3 => format!("ASSEMBLE ctx FROM x: ({a}), ({b}) BUDGET 90 tokens PRIORITY s2 > x"),
        4 => format!("LET $v = {a}; EXPLAIN {b}"),
        5 => format!("RECALL WHERE subject IN ({a} | SUBJECTS) AND object IN ({b} | OBJECTS)"),
        _ => a,
    })
}

fn comes_back(text: &str) {
    let Ok(query) = parse(text) else { return };
    drop(query.checked());
    let printed = query.to_string();
    // The canonical text may be longer than what was written.
    if printed.len() <= 8_192 {
        assert_eq!(parse(&printed).as_ref(), Ok(&query), "{text}");
        assert_eq!(parse_json(&query.to_json()).as_ref(), Ok(&query), "{text}");
    }
}

proptest! {
    #[test]
    fn a_statement_is_written_and_read_as_the_same(text in statement()) {
        prop_assert!(parse(&text).is_ok(), "{}", text);
        comes_back(&text);
    }

    #[test]
    fn the_text_of_a_section_is_written_and_read_as_the_same(body in "[a{}\n\t é]{0,12}") {
        comes_back(&format!("DEFINE TEMPLATE t HEADER {{{body}}} FOOTER {{b}}"));
        comes_back(&format!("ASSEMBLE FROM (RECALL) FORMAT TEMPLATE {{ ELEMENT {{{body}}} }}"));
    }

    #[test]
    fn any_words_are_read_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 0..24)) {
        comes_back(&words.join(" "));
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place_in_it(text in "\\PC{0,40}") {
        comes_back(&text);
        if let Err(error) = parse(&text) {
            prop_assert!(text.get(error.at.start..error.at.end).is_some());
            prop_assert!(!error.pointed(&text).is_empty());
        }
    }
}

#[test]
fn the_longest_statements_are_refused_without_deep_recursion() {
    for text in [
        "(",
        "[",
        "RECALL WHERE subject IN (",
        "EXPLAIN ",
        "RECALL WHERE tags INCLUDE [[",
    ] {
        let long = text.repeat(8_192 / text.len());
        assert!(parse(&long).is_err());
    }
}
