//! The schemas of PAM against ours: one document for each way to break each rule of them.

use std::path::Path;

use grainstore::interchange::{Format, ImportFile, Place, ReadOptions};
use serde_json::{Value, json};

use crate::foreign::corpus;

/// A schema, its format, and a document that has every member of it.
type Kind = (&'static str, Format, fn() -> Value);

const KINDS: [Kind; 3] = [
    ("portable-ai-memory", Format::Pam, full_store),
    (
        "portable-ai-memory-conversation",
        Format::PamConversation,
        full_conversation,
    ),
    (
        "portable-ai-memory-embeddings",
        Format::PamEmbeddings,
        full_embeddings,
    ),
];

#[test]
#[ignore = "needs corpora"]
fn each_rule_of_the_schemas_is_a_rule_here_and_is_told_at_its_place() {
    let folder = corpus("data/pam/schemas");
    let mut broken = 0;
    for (name, format, document) in KINDS {
        let schema = schema(&folder, name);
        let validator = validator(&schema);
        let document = document();
        let faults = judged(&document, format);
        assert_eq!(faults, [], "{name}");
        assert!(validator.is_valid(&document), "{name}");
        let mut walk = Walk {
            root: &schema,
            cases: Vec::new(),
        };
        walk.rules(&schema, &document, "");
        for case in walk.cases {
            let broken_one = case.of(&document);
            assert!(!validator.is_valid(&broken_one), "{name}: {case:?}");
            let faults = judged(&broken_one, format);
            let told = faults.iter().any(|(_, place)| *place == case.place);
            assert!(told, "{name}: {case:?}: {faults:?}");
            broken += 1;
        }
    }
    println!("{broken} ways to break a rule");
    assert!(broken > 500, "{broken}");
}

#[test]
#[ignore = "needs corpora"]
fn any_value_anywhere_is_judged_as_the_schemas_judge_it() {
    let folder = corpus("data/pam/schemas");
    let mut values: Vec<Value> = [
        "",
        "x",
        "A b",
        "2026-01-01T00:00:00Z",
        "https://a.example/b",
        "\n",
    ]
    .map(Value::from)
    .to_vec();
    values.extend([
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(0.5),
        json!(2.0),
    ]);
    values.extend([
        json!([]),
        json!(["x", "x"]),
        json!([1]),
        json!({}),
        json!({"a": null}),
    ]);
    for (name, format, document) in KINDS {
        let schema = schema(&folder, name);
        let validator = validator(&schema);
        let document = document();
        for place in places(&document, "") {
            for value in &values {
                let case = Case {
                    place: place.clone(),
                    value: Some(value.clone()),
                };
                let changed = case.of(&document);
                let faults = judged(&changed, format);
                if validator.is_valid(&changed) {
                    let ours = ["PAM_SCHEMA", "PAM_SCHEMA_ID", "PAM_CUSTOM_TYPE"];
                    let wrong = faults.iter().find(|(code, _)| ours.contains(code));
                    assert_eq!(wrong, None, "{name}: {case:?}");
                } else {
                    let told = faults
                        .iter()
                        .any(|(code, at)| *code != "PAM_CHECKSUM" || *at == place);
                    assert!(told, "{name}: {case:?}: {faults:?}");
                }
            }
        }
    }
}

fn schema(folder: &Path, name: &str) -> Value {
    let path = folder.join(format!("{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn validator(schema: &Value) -> jsonschema::Validator {
    let options = jsonschema::options().should_validate_formats(true);
    options.build(schema).unwrap()
}

/// Returns what is wrong with a document that is held to every rule.
pub(super) fn judged(document: &Value, format: Format) -> Vec<(&'static str, String)> {
    let options = ReadOptions {
        is_strict: true,
        ..ReadOptions::default()
    };
    let bytes = document.to_string().into_bytes();
    let reading = ImportFile::of_bytes(&bytes, Some(format), &options).unwrap();
    let errors = reading.errors.iter();
    let place = |place: &Place| match place {
        Place::Pointer(pointer) => pointer.clone(),
        _ => String::new(),
    };
    errors
        .map(|error| (error.code().as_str(), place(error.place())))
        .collect()
}

/// One change to a document: another value at a place, or none.
#[derive(Debug, Clone)]
struct Case {
    place: String,
    value: Option<Value>,
}

impl Case {
    fn of(&self, document: &Value) -> Value {
        let mut document = document.clone();
        let Some((parent, name)) = self.place.rsplit_once('/') else {
            return self.value.clone().unwrap();
        };
        match (document.pointer_mut(parent).unwrap(), &self.value) {
            (Value::Object(map), Some(value)) => drop(map.insert(name.into(), value.clone())),
            (Value::Object(map), None) => drop(map.remove(name).unwrap()),
            (Value::Array(items), Some(value)) => {
                let at: usize = name.parse().unwrap();
                if at < items.len() {
                    items[at] = value.clone();
                } else {
                    items.push(value.clone());
                }
            }
            other => unreachable!("{other:?}"),
        }
        document
    }
}

/// Collects the ways to break a schema.
struct Walk<'a> {
    root: &'a Value,
    cases: Vec<Case>,
}

impl Walk<'_> {
    fn set(&mut self, place: &str, value: Value) {
        self.cases.push(Case {
            place: place.to_owned(),
            value: Some(value),
        });
    }

    fn rules(&mut self, schema: &Value, at: &Value, place: &str) {
        let root = self.root;
        let schema = match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
            None => schema,
        };
        if !place.is_empty() {
            self.types(schema, place);
        }
        for (word, rule) in schema.as_object().unwrap() {
            match (word.as_str(), rule) {
                ("enum", _) => self.set(place, json!("zz")),
                ("const", _) => self.set(place, json!("zz")),
                ("pattern", _) => {
                    self.set(place, json!("É !"));
                    // A pattern of ECMA-262 ends where the text does.
                    let text = at.as_str().unwrap();
                    self.set(place, json!(format!("{text}\n")));
                    self.set(place, json!(format!(" {text}")));
                }
                ("format", _) => self.set(place, json!("x y")),
                ("minLength", length) if length.as_u64() == Some(1) => self.set(place, json!("")),
                ("minLength", _) => self.set(place, json!("a")),
                ("maxLength", length) => {
                    let long = "a".repeat(usize::try_from(length.as_u64().unwrap()).unwrap() + 1);
                    self.set(place, json!(long));
                }
                ("minimum", least) => self.set(place, json!(least.as_f64().unwrap() - 1.0)),
                ("maximum", most) => self.set(place, json!(most.as_f64().unwrap() + 1.0)),
                ("minItems", _) => self.set(place, json!([])),
                ("uniqueItems", _) => {
                    let first = &at.as_array().unwrap()[0];
                    self.set(&format!("{place}/1"), first.clone());
                }
                ("items", items) => self.rules(items, &at[0], &format!("{place}/0")),
                ("properties", members) => {
                    for (name, rules) in members.as_object().unwrap() {
                        let member = at.get(name);
                        assert!(member.is_some(), "{place}/{name} is not in the document");
                        self.rules(rules, &member.unwrap().clone(), &format!("{place}/{name}"));
                    }
                }
                ("required", names) => {
                    for name in names.as_array().unwrap() {
                        self.cases.push(Case {
                            place: format!("{place}/{}", name.as_str().unwrap()),
                            value: None,
                        });
                    }
                }
                ("additionalProperties", Value::Bool(false)) => {
                    self.set(&format!("{place}/zz"), json!(1));
                }
                _ => {}
            }
        }
    }

    /// One value of each type that is not allowed, null too.
    fn types(&mut self, schema: &Value, place: &str) {
        let allowed: Vec<&str> = match schema.get("type") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(name) => vec![name.as_str().unwrap()],
            None => return,
        };
        for (name, value) in [
            ("null", json!(null)),
            ("boolean", json!(true)),
            ("integer", json!(3)),
            ("number", json!(0.25)),
            ("string", json!("text")),
            ("array", json!([])),
            ("object", json!({})),
        ] {
            let is_whole = name == "integer" && allowed.contains(&"number");
            if !allowed.contains(&name) && !is_whole {
                self.set(place, value);
            }
        }
    }
}

fn places(value: &Value, at: &str) -> Vec<String> {
    let mut found = vec![at.to_owned()];
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                found.extend(places(value, &format!("{at}/{name}")));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                found.extend(places(item, &format!("{at}/{index}")));
            }
        }
        _ => {}
    }
    found
}

const NOW: &str = "2026-01-01T00:00:00Z";

pub(crate) fn full_store() -> Value {
    let hash = crate::foreign::sha256(b"tea");
    let memory = json!({
        "id": "m", "type": "custom", "custom_type": "drink", "status": "superseded", "content": "tea",
        "content_hash": hash, "summary": "tea", "tags": ["a", "b"],
        "confidence": {"initial": 0.5, "current": 1, "decay_model": "none", "last_reinforced": NOW},
        "temporal": {"created_at": NOW, "updated_at": NOW, "valid_from": NOW, "valid_until": NOW,
            "superseded_by": "n"},
        "provenance": {"platform": "local", "platform_user_id": "u", "conversation_ref": "c",
            "message_ref": "x", "extraction_method": "manual", "extracted_at": NOW,
            "extractor": "tool/1.2.3"},
        "access": {"visibility": "shared", "exportable": true,
            "shared_with": [{"entity": "e", "permissions": ["read", "write"]}]},
        "embedding_ref": "v", "metadata": {"language": "zh-Hant-TW", "domain": "personal", "x": 1}
    });
    let mut other = memory.clone();
    for (name, value) in [("id", json!("n")), ("status", json!("active"))] {
        other[name] = value;
    }
    other["temporal"] = json!({"created_at": NOW});
    other["provenance"] = json!({"platform": "local"});
    let mut store = json!({
        "schema": "portable-ai-memory", "schema_version": "1.0",
        "spec_uri": "https://portable-ai-memory.org/spec/v1.0", "export_id": "e",
        "exported_by": "tool/1.2.3", "export_date": NOW,
        "owner": {"id": "o", "did": "did:key:z6Mk", "created_at": NOW},
        "memories": [memory, other],
        "relations": [{"id": "r", "from": "m", "to": "n", "type": "extends", "confidence": 0,
            "created_at": NOW}],
        "conversations_index": [{"id": "c", "platform": "local", "title": "t", "message_count": 3,
            "temporal": {"created_at": NOW, "updated_at": NOW}, "tags": ["a"],
            "derived_memories": ["m"],
            "storage": {"type": "file", "ref": "c.json", "format": "json"}}],
        "export_type": "full", "base_export_id": "b", "since": NOW,
        "type_registry": "https://portable-ai-memory.org/types/",
        "signature": {"algorithm": "Ed25519", "public_key": "k", "value": "dg", "signed_at": NOW,
            "key_id": "i"}
    });
    let text = store["memories"].to_string();
    let memories = grainstore::codec::Value::from_json(&text).unwrap();
    let checksum = crate::foreign::sha256(&memories.to_jcs());
    store["integrity"] =
        json!({"canonicalization": "RFC8785", "checksum": checksum, "total_memories": 2});
    store
}

pub(super) fn full_conversation() -> Value {
    let message = json!({
        "id": "x", "provider_message_id": "p", "role": "user",
        "content": {"type": "multipart", "text": "t", "parts": [{"type": "code", "text": "t",
            "language": "rust", "mime_type": "text/plain", "ref": "r"}]},
        "created_at": NOW, "parent_id": "y", "children_ids": ["y"], "model": "m",
        "is_thought": false, "token_count": 3,
        "attachments": [{"type": "file", "name": "n", "mime_type": "a/b", "size_bytes": 1,
            "ref": "r", "provider_id": "i"}],
        "citations": [{"title": "t", "url": "https://a.example/b", "snippet": "s"}],
        "tool_calls": [{"id": "i", "name": "n", "input": {}, "output": "o"}],
        "raw_metadata": {"x": 1}
    });
    json!({
        "schema": "portable-ai-memory-conversation", "schema_version": "1.0", "id": "c",
        "provider": {"name": "local", "conversation_id": "i", "account_id": "a",
            "export_format_version": "v"},
        "title": "t", "temporal": {"created_at": NOW, "updated_at": NOW},
        "participants": [{"role": "tool", "name": "n", "provider_id": "p"}],
        "messages": [message, {"id": "y", "role": "tool", "created_at": NOW}],
        "model": "m", "system_instruction": "s", "is_archived": true, "tags": ["a"],
        "raw_metadata": {"x": 1},
        "import_metadata": {"importer": "tool/1.2.3", "importer_version": "x/2026.01",
            "imported_at": NOW, "source_file": "f", "source_checksum": format!("sha256:{}", "0".repeat(64))}
    })
}

pub(super) fn full_embeddings() -> Value {
    json!({
        "schema": "portable-ai-memory-embeddings", "schema_version": "1.0",
        "embeddings": [{"id": "v", "memory_id": "m", "model": "tiny", "dimensions": 2,
            "created_at": NOW, "vector": [0.25, 1], "storage": {"type": "uri", "ref": "r"}}]
    })
}
