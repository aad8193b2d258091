//! The statements of `test-vectors/cal/statements.json`: each has its canonical text, or is refused
//! with its code at its place.

use std::path::Path;

use grainstore_cal::{Query, parse, parse_json};
use serde_json::{Value, json};

fn cases() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../test-vectors/cal/statements.json");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
    assert!(cases.len() >= 400, "the corpus has {} cases", cases.len());
    cases
}

fn checked(text: &str) -> Result<Query, Value> {
    let checked = parse(text).and_then(|query| query.checked().map(|_| query));
    checked.map_err(|error| error.to_json(text))
}

#[test]
fn every_statement_is_read_or_refused_as_the_corpus_says() {
    for case in &cases() {
        let text = case["cal"].as_str().unwrap();
        let found = match checked(text) {
            Ok(query) => json!({"cal": text, "canonical": query.to_string()}),
            Err(error) => {
                let mut found = json!({"cal": text, "code": error["code"]});
                if !error["position"].is_null() {
                    found["position"] = error["position"].clone();
                }
                found
            }
        };
        assert_eq!(found, *case);
    }
}

#[test]
fn the_canonical_text_and_the_json_form_say_the_same() {
    for case in cases() {
        let Some(text) = case["canonical"].as_str() else {
            continue;
        };
        let query = parse(text).unwrap();
        assert_eq!(query, parse(case["cal"].as_str().unwrap()).unwrap());
        assert_eq!(query.to_string(), text);
        let json = query.to_json();
        assert_eq!(parse_json(&json).as_ref(), Ok(&query), "{json}");
    }
}

#[test]
fn a_json_form_with_an_unknown_key_or_an_impossible_name_is_refused() {
    for json in [
        json!({"statement": "recall", "limit": 3}),
        json!({"statement": "delete"}),
        json!({"statement": "recall", "grain_type": "facts"}),
        json!({"statement": "exists", "hash": {"$hash": "xyz"}}),
        json!({"statement": "recall", "where": [{"field": "a = 1 OR b", "op": "=", "value": 1}]}),
        json!({"statement": "recall", "with": [{"name": "superseded | COUNT"}]}),
        json!({"statement": "recall", "about": {"$param": "a b"}}),
        json!(["recall"]),
    ] {
        let error = parse_json(&json).unwrap_err();
        assert!(!error.message.is_empty(), "{json}");
    }
}
