//! The JSON Schema of each type, against the rules: it refuses nothing that a put takes.

use grainstore::codec::Profile;
use grainstore::grain::{Field, json_schema};
use grainstore::{Draft, Type};
use serde_json::{Value, json};

/// A grain of each type with its required fields.
fn examples() -> Vec<Value> {
    vec![
        json!({"type": "belief", "subject": "a", "relation": "b", "object": "c", "confidence": 0.5}),
        json!({"type": "event", "content": "a"}),
        json!({"type": "event", "subject": "a", "relation": "b", "object": "c"}),
        json!({"type": "event", "content_blocks": [{"type": "text", "text": "a"}]}),
        json!({"type": "state", "context": {"a": 1}}),
        json!({"type": "workflow", "steps": ["a"], "trigger": "b"}),
        json!({"type": "action", "tool_name": "a", "input": {}, "content": "b", "is_error": false}),
        json!({"type": "observation", "observer_id": "a", "observer_type": "camera"}),
        json!({"type": "goal", "description": "a", "goal_state": "active"}),
        json!({"type": "reasoning", "premises": [], "conclusion": "a"}),
        json!({"type": "consensus", "participating_observers": ["a"], "threshold": 1,
            "agreement_count": 1, "dissent_count": 0}),
        json!({"type": "consent", "subject_did": "did:web:a.example",
            "grantee_did": "did:web:b.example", "scope": ["store"], "is_withdrawal": false}),
    ]
}

/// Returns the schema of the type of a grain.
fn validator(grain: &Value) -> jsonschema::Validator {
    let of = Type::named(grain["type"].as_str().unwrap()).unwrap();
    let schema = serde_json::from_str(&json_schema(of).to_json()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn is_taken(grain: &Value) -> bool {
    let mut grain = grain.clone();
    let members = grain.as_object_mut().unwrap();
    members.entry("created_at").or_insert(json!(1));
    let draft = Draft::from_json(&grain.to_string());
    draft.is_ok_and(|draft| draft.finish(Profile::Extended).is_ok())
}

#[test]
fn the_schema_of_a_type_takes_what_a_put_takes_and_misses_no_required_field() {
    let address = "0".repeat(64);
    let values = [
        json!(1),
        json!(-1),
        json!(300),
        json!(0.5),
        json!(1.5),
        json!("a"),
        json!(""),
        json!("2026-01-15T10:00:00Z"),
        json!("locked"),
        json!("active"),
        json!(true),
        json!({}),
        json!({"a": "b"}),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!([address]),
        json!([{"a": 1}]),
    ];
    let mut taken = 0;
    for example in examples() {
        let schema = validator(&example);
        assert!(is_taken(&example) && schema.is_valid(&example), "{example}");
        for (name, _) in example.as_object().unwrap() {
            let mut without = example.clone();
            without.as_object_mut().unwrap().remove(name);
            assert!(
                schema.is_valid(&without) || !is_taken(&without),
                "{without}"
            );
            let of = Type::named(example["type"].as_str().unwrap()).unwrap();
            let required = json_schema(of);
            let required = required.as_map().and_then(|map| map.get("required"));
            if required.is_some_and(|names| names.texts().any(|it| it == name)) {
                assert!(
                    !schema.is_valid(&without) && !is_taken(&without),
                    "{without}"
                );
            }
        }
        for field in Field::all().iter().map(|field| field.name) {
            for value in values.iter().filter(|_| field != "type") {
                let mut with = example.clone();
                with[field] = value.clone();
                if is_taken(&with) {
                    taken += 1;
                    let errors: Vec<_> =
                        schema.iter_errors(&with).map(|it| it.to_string()).collect();
                    assert!(errors.is_empty(), "{with}: {errors:?}");
                }
            }
        }
    }
    assert!(taken > 1_000, "{taken}");
}
