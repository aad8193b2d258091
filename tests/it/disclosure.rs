//! Selective disclosure (OMS 10; rulings S7–S13).

use std::path::Path;

use grainstore::codec::{ContentAddress, Encoding, Flags, Map, Profile, Sensitivity, Value};
use grainstore::grain::{Draft, Field, Grain, Time, Warning, verify_disclosed};

use crate::random::{Random, seeds};
use crate::sample;

fn finished(draft: Draft) -> Grain {
    let draft = draft.created_at(Time::from_ms(1_768_471_200_000));
    draft.finish(Profile::Extended).unwrap()
}

fn belief() -> Draft {
    Draft::belief("Alice", "works_at", "ACME Corp")
        .confidence(0.95)
        .user("alice-123")
        .namespace("hr")
}

fn view(grain: &Grain, elide: &[&str]) -> Grain {
    grain.disclose(elide).unwrap().0
}

fn elided<'a>(view: &'a Grain, name: &str) -> &'a str {
    let hashes = view.field("_elided").and_then(Value::as_map).unwrap();
    hashes.get(name).and_then(Value::as_text).unwrap()
}

#[test]
fn the_hashes_are_those_of_the_published_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/oms/elision.json");
    let vectors = Value::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    for vector in vectors
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_map().unwrap())
    {
        let hash = vector.get("hash").and_then(Value::as_text).unwrap();
        let value = vector.get("value").unwrap().clone();
        assert_eq!(
            verify_disclosed("app_x", value.clone(), hash),
            Ok(true),
            "{vector:?}"
        );
        let other = Value::Array(vec![value]);
        assert_eq!(verify_disclosed("app_x", other, hash), Ok(false));
    }
    // OMS 10.1.1: the examples of the text.
    let grain = finished(belief().set("context", Map::from_iter([("k", "v")])));
    let shown = view(&grain, &["user_id", "context"]);
    let context = "sha256:0452c8dd07ca67da09e5336950ee5c2d377f3b74d15efde70dfaade5d2d729d8";
    let user = "sha256:48f1cf08a5b4ebe54182773c4345c19fb3a069740daeba7c4707b0e790745280";
    assert_eq!(
        (elided(&shown, "user_id"), elided(&shown, "context")),
        (user, context)
    );
}

#[test]
fn a_view_names_its_original_and_lists_what_it_leaves_out() {
    let grain = finished(belief());
    let shown = view(&grain, &["namespace", "user_id", "subject", "object"]);
    assert_ne!(shown.address(), grain.address());
    assert_eq!(shown.address(), ContentAddress::of(shown.blob()));
    let original = format!("sha256:{}", grain.address());
    assert_eq!(shown.text("_disclosure_of"), Some(&*original));
    let hashes = shown.field("_elided").and_then(Value::as_map).unwrap();
    // Ruling S8: full names, in the blob too.
    let names: Vec<_> = hashes.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["namespace", "object", "subject", "user_id"]);
    for (name, value) in grain.fields().iter() {
        match hashes.contains(name) {
            true => {
                assert_eq!(shown.field(name), None);
                assert_eq!(
                    verify_disclosed(name, value.clone(), elided(&shown, name)),
                    Ok(true)
                );
            }
            false => assert_eq!(shown.field(name), Some(value)),
        }
    }
    // It can be read by anyone who reads grains, though fields that its type requires are gone.
    let read = Grain::from_blob(shown.blob().to_vec(), Profile::Extended).unwrap();
    assert_eq!(read, shown);
    for text in ["Alice", "ACME", "alice-123"] {
        let found = shown
            .blob()
            .windows(text.len())
            .any(|bytes| bytes == text.as_bytes());
        assert!(!found, "{text}");
    }
}

#[test]
fn the_header_says_what_is_left() {
    let reference = Map::from_iter([("uri", "cas:x"), ("modality", "image")]);
    let draft = belief()
        .push("content_refs", Value::Map(reference))
        .tag("phi:mrn")
        .to_be_signed();
    let grain = finished(draft);
    let flags = grain.header().flags;
    assert!(flags.contains(Flags::SIGNED) && flags.contains(Flags::CONTENT_REFS));
    let shown = view(&grain, &["namespace", "content_refs", "structural_tags"]);
    let header = shown.header();
    assert_eq!(header.namespace_hash, [0, 0], "ruling S10");
    assert_eq!(header.created_at_sec, grain.header().created_at_sec);
    assert_eq!(header.type_byte, grain.header().type_byte);
    // OMS 10.4: a signature covers the original. What was health information still is.
    assert_eq!(header.flags, Flags::sensitivity(Sensitivity::Phi));
    let kept = view(&grain, &["user_id"]);
    assert_eq!(kept.header().namespace_hash, grain.header().namespace_hash);
    assert!(kept.header().flags.contains(Flags::CONTENT_REFS));
    assert!(!kept.header().flags.contains(Flags::SIGNED));
}

/// OMS 10.2, the rows that say "No", and ruling S11.
const FIXED: &[&str] = &[
    "type",
    "relation",
    "confidence",
    "created_at",
    "goal_state",
    "source_type",
    "priority",
    "observer_type",
    "observation_mode",
    "observation_scope",
    "compression_ratio",
    "_elided",
    "_disclosure_of",
    "invalidation_policy",
];

#[test]
fn what_the_table_forbids_cannot_be_elided_and_everything_else_can() {
    for field in Field::all() {
        let drafted = of_any_kind(field.name);
        let Some(grain) = drafted else {
            continue;
        };
        let disclosed = grain.disclose(&[field.name]);
        match FIXED.contains(&field.name) {
            true => assert_eq!(
                disclosed.unwrap_err().code(),
                "ERR_SCHEMA",
                "{}",
                field.name
            ),
            false => assert_eq!(
                disclosed.unwrap().0.field(field.name),
                None,
                "{}",
                field.name
            ),
        }
    }
    let grain = finished(belief().set("app_note", "mine"));
    assert!(grain.disclose(&["app_note"]).is_ok());
    for absent in ["importance", "app_other", "user", "t", "s", ""] {
        let code = grain.disclose(&[absent]).unwrap_err().code();
        assert_eq!(code, "ERR_SCHEMA", "{absent}");
    }
    assert_eq!(grain.disclose(&[]).unwrap_err().code(), "ERR_EMPTY");
}

/// Some grain that has a field, if one can be made without knowing more about it.
fn of_any_kind(name: &str) -> Option<Grain> {
    let values = [
        Value::from("did:web:a"),
        Value::from(1),
        Value::from(0.5),
        Value::from(true),
        Value::Array(vec![]),
        Value::Map(Map::from_iter([("mode", "open")])),
        Value::from("point"),
        Value::from("active"),
    ];
    let drafts = [
        belief(),
        Draft::observation("o", "xcamera"),
        Draft::goal("g"),
        Draft::action("t", Map::new(), "done", false),
        Draft::event("e"),
    ];
    let drafts = drafts
        .into_iter()
        .map(|draft| draft.created_at(Time::from_ms(1)));
    let set = drafts.flat_map(|draft| {
        let set = values.clone().map(|value| draft.clone().set(name, value));
        std::iter::once(draft).chain(set)
    });
    set.filter_map(|draft| draft.finish(Profile::Extended).ok())
        .find(|grain| grain.field(name).is_some())
}

#[test]
fn a_view_of_a_view_is_a_view_of_the_original() {
    let grain = finished(belief());
    let step = view(&view(&grain, &["user_id"]), &["namespace"]);
    assert_eq!(step, view(&grain, &["namespace", "user_id"]));
    assert_eq!(
        view(&step, &["subject"]).text("_disclosure_of"),
        step.text("_disclosure_of")
    );
    assert!(
        step.disclose(&["user_id"]).is_err(),
        "it is not there any more"
    );
}

#[test]
fn nested_fields_are_hashed_as_they_sit_in_the_payload() {
    let link = Map::from_iter([
        (
            "hash",
            Value::from("4c4149355d3f3e1114e6a72bc5c2813a3ecd4deab2ba8771eaca8556b2c032f2"),
        ),
        ("relation_type", Value::from("similar")),
        ("weight", Value::from(0.85)),
    ]);
    let links = Value::Array(vec![Value::Map(link)]);
    let hash = "sha256:7f6c961e60ba40b73dc8b09b01d2dd06c664291e54c16722a40b101617e9af04";
    for encoding in [Encoding::MessagePack, Encoding::Cbor] {
        let grain = finished(belief().set("related_to", links.clone()).encoding(encoding));
        let shown = view(&grain, &["related_to"]);
        assert_eq!(elided(&shown, "related_to"), hash, "ruling S9");
        assert_eq!(
            verify_disclosed("related_to", links.clone(), hash),
            Ok(true)
        );
    }
    // A context is compacted under one tag alone, and the tag may be elided with it.
    let context = Map::from_iter([("int:connector", "crm"), ("int:auth_type", "none")]);
    for tags in [&["profile:integration"][..], &["ui"]] {
        let draft = belief().set("context", context.clone());
        let grain = finished(tags.iter().fold(draft, |draft, tag| draft.tag(*tag)));
        for elide in [&["context"][..], &["context", "structural_tags"]] {
            let shown = view(&grain, elide);
            let hash = elided(&shown, "context");
            let revealed = Value::Map(context.clone());
            assert_eq!(
                verify_disclosed("context", revealed, hash),
                Ok(true),
                "{tags:?}"
            );
        }
        let kept = view(&grain, &["structural_tags"]);
        assert_eq!(kept.field("context"), grain.field("context"));
    }
}

#[test]
fn a_revealed_value_may_be_spelled_as_in_a_draft() {
    let grain = finished(
        belief()
            .set("valid_from", "2026-01-15T10:00:00Z")
            .set("importance", 1),
    );
    let shown = view(&grain, &["valid_from", "importance", "subject"]);
    let verify = |name: &str, value: Value| verify_disclosed(name, value, elided(&shown, name));
    assert_eq!(
        verify("valid_from", "2026-01-15T10:00:00Z".into()),
        Ok(true)
    );
    assert_eq!(verify("valid_from", 1_768_471_200_000_i64.into()), Ok(true));
    assert_eq!(verify("importance", 1.into()), Ok(true));
    assert_eq!(verify("importance", 0.5.into()), Ok(false));
    assert_eq!(verify("subject", "Bob".into()), Ok(false));
    for hash in [
        "",
        "sha256:",
        "SHA256:00",
        &elided(&shown, "subject").replace("sha256:", ""),
    ] {
        let code = verify_disclosed("subject", "Alice", hash)
            .unwrap_err()
            .code();
        assert_eq!(code, "ERR_SCHEMA", "{hash}");
    }
}

#[test]
fn values_that_can_be_guessed_are_pointed_out() {
    let token = "0b3c9a52e14f48d08d1d7c3f5a2e9b60c4d8f1a7";
    let grain = finished(belief().set("importance", 0.5).set("app_token", token));
    let (_, warnings) = grain
        .disclose(&["user_id", "importance", "app_token"])
        .unwrap();
    let fields: Vec<_> = warnings
        .iter()
        .map(|Warning { field, .. }| &**field)
        .collect();
    assert_eq!(fields, ["importance", "user_id"], "ruling S7");
}

#[test]
fn an_elision_that_is_none_is_refused_in_a_blob() {
    let hash = format!("sha256:{}", "0".repeat(64));
    let finish = |name: &str, hash: &str| {
        let draft = belief().created_at(Time::from_ms(1));
        let draft = draft.set("_elided", Map::from_iter([(name, hash)]));
        draft
            .finish(Profile::Extended)
            .map_err(|error| error.code())
    };
    assert!(finish("run_id", &hash).is_ok());
    // It is there; it cannot be elided; and hashes of other spellings.
    for name in [
        "subject",
        "relation",
        "created_at",
        "invalidation_policy",
        "type",
    ] {
        assert_eq!(finish(name, &hash).unwrap_err(), "ERR_SCHEMA", "{name}");
    }
    for hash in [
        "",
        "sha256:00",
        &hash.to_uppercase(),
        &hash[7..],
        &format!("mg:{hash}"),
    ] {
        assert_eq!(finish("run_id", hash).unwrap_err(), "ERR_SCHEMA", "{hash}");
    }
    // Nobody gets around what a type requires by claiming to have elided it.
    let unsure = Draft::belief("a", "b", "c").created_at(Time::from_ms(1));
    let unsure = unsure.set("_elided", Map::from_iter([("confidence", &*hash)]));
    assert_eq!(
        unsure.finish(Profile::Extended).unwrap_err().code(),
        "ERR_SCHEMA"
    );
    let astray = belief()
        .created_at(Time::from_ms(1))
        .set("_disclosure_of", "elsewhere");
    assert_eq!(
        astray.finish(Profile::Extended).unwrap_err().code(),
        "ERR_SCHEMA"
    );
}

#[test]
fn an_action_whose_phase_is_elided_is_held_to_no_phase() {
    let definition = Draft::new(grainstore::Type::Action)
        .set("action_phase", "definition")
        .set("tool_name", "t")
        .set("tool_description", "d")
        .set("input_schema", Map::new());
    let shown = view(&finished(definition), &["action_phase"]);
    assert!(Grain::from_blob(shown.blob().to_vec(), Profile::Extended).is_ok());
    let run = Draft::new(grainstore::Type::Action)
        .set("execution_mode", "code_exec")
        .set("code", "1+1")
        .set("is_error", false)
        .set("stdout", "2");
    let shown = view(&finished(run), &["execution_mode"]);
    assert!(Grain::from_blob(shown.blob().to_vec(), Profile::Extended).is_ok());
}

#[test]
fn any_fields_of_any_grain_can_be_elided_and_shown_again() {
    for seed in seeds(2_000) {
        let mut random = Random::new(seed);
        let grain = sample::draft(&mut random)
            .finish(Profile::Extended)
            .unwrap();
        let names = grain.fields().iter().map(|(name, _)| name);
        let elidable = names.filter(|name| !FIXED.contains(name));
        let chosen: Vec<&str> = elidable.filter(|_| random.flag()).collect();
        if chosen.is_empty() {
            continue;
        }
        let shown = view(&grain, &chosen);
        let read = Grain::from_blob(shown.blob().to_vec(), Profile::Extended).unwrap();
        assert_eq!(read, shown);
        for (name, value) in grain.fields().iter() {
            if chosen.contains(&name) {
                let hash = elided(&read, name);
                assert_eq!(verify_disclosed(name, value.clone(), hash), Ok(true));
                assert_eq!(read.field(name), None);
            } else {
                assert_eq!(read.field(name), Some(value));
            }
        }
    }
}
