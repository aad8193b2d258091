//! Arguments of every kind: each call has an answer, and none is an error of the server.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::client::{Client, store};

/// The tools with the names of their arguments.
const TOOLS: &[(&str, &[&str])] = &[
    (
        "remember",
        &[
            "subject",
            "relation",
            "object",
            "text",
            "grain",
            "confidence",
            "user",
            "time",
            "tags",
            "derived_from",
        ],
    ),
    ("recall", &["question", "filter", "reach", "max_tokens"]),
    ("search", &["question", "filter", "limit", "max_tokens"]),
    (
        "query",
        &[
            "filter",
            "sort",
            "descending",
            "cursor",
            "limit",
            "max_tokens",
        ],
    ),
    ("cal", &["statement", "parameters", "max_tokens"]),
    ("get", &["address", "max_tokens"]),
    ("history", &["address", "max_tokens"]),
    ("correct", &["address", "text", "fields", "reason"]),
    ("forget", &["address", "reason", "confirm"]),
    ("report", &["user", "also", "max_tokens"]),
    (
        "import_conversation",
        &["messages", "session", "user", "namespace", "document"],
    ),
    (
        "memory",
        &[
            "command",
            "path",
            "view_range",
            "file_text",
            "old_str",
            "new_str",
            "insert_line",
            "insert_text",
            "old_path",
            "new_path",
        ],
    ),
];

const WORDS: &[&str] = &[
    "tea",
    "",
    "view",
    "create",
    "delete",
    "insert",
    "/memories/a",
    "/memories/../b",
    "confidence",
    "\u{0}",
    "\"",
    "AND",
    "2026-01-15",
    "日本",
];

fn value(address: String) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        proptest::sample::select(WORDS).prop_map(Value::from),
        Just(Value::from(address)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let names = ["type", "content", "role", "user", "x"].as_slice();
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((proptest::sample::select(names), inner), 0..3).prop_map(
                |pairs| pairs
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>()
                    .into()
            ),
        ]
    })
}

#[test]
fn every_call_has_an_answer_whatever_its_arguments_are() {
    let store = store();
    let mut client = Client::of(&store);
    let address = client.note("tea");
    let call = proptest::sample::select(TOOLS).prop_flat_map(
        move |(tool, names): (&str, &'static [&str])| {
            let argument = (proptest::sample::select(names), value(address.clone()));
            (Just(tool), proptest::collection::vec(argument, 0..5))
        },
    );
    let client = std::sync::Mutex::new(client);
    let config = ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest::test_runner::TestRunner::new(config)
        .run(&call, |(tool, arguments)| {
            let arguments: Map<_, _> = arguments
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            let said = client.lock().unwrap().ask(
                "tools/call",
                json!({ "name": tool, "arguments": arguments }),
            );
            prop_assert!(said["error"].is_null(), "{}", said);
            let result = &said["result"];
            prop_assert!(result["isError"].is_boolean(), "{}", said);
            prop_assert!(
                !result["content"][0]["text"].as_str().unwrap().is_empty(),
                "{}",
                said
            );
            let is_refused = result["isError"] == true;
            prop_assert!(
                result["structuredContent"].is_object() != is_refused,
                "{}",
                said
            );
            prop_assert!(
                result["_meta"]["error"]["code"].is_string() == is_refused,
                "{}",
                said
            );
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_argument_that_does_not_exist_is_named() {
    let mut client = Client::of(&store());
    let said = client.refused(
        "search",
        json!({ "question": "x", "limitt": 1 }),
        "ERR_USAGE",
    );
    assert!(said.contains("limitt"), "{said}");
    let said = client.refused(
        "query",
        json!({ "filter": { "type": "zebra" } }),
        "ERR_FILTER",
    );
    assert!(said.contains("zebra"), "{said}");
    let said = client.refused(
        "remember",
        json!({ "text": "x", "subject": "y" }),
        "ERR_USAGE",
    );
    assert!(said.contains("either"), "{said}");
    client.refused("query", json!({ "cursor": "bad" }), "ERR_CURSOR");
    client.refused("search", json!({ "question": "(tea" }), "ERR_SEARCH_SYNTAX");
}
