//! What is wrong with a store is named, all of it, with its place.

use grainstore::codec::{Map, Value};
use grainstore::grain::Lifecycle;
use grainstore::interchange::{Format, ImportFile, Place, ReadOptions, WriteOptions};
use grainstore::{Filter, Store};

use super::store::{NOW, apply, by_id, codes, import, remove, set, small, store};
use crate::whole::pam;

/// Returns the lines of a table: a code, a place, and the store after the changes of the line.
fn cases(table: &str) -> impl Iterator<Item = (&str, &str, &str, Map)> {
    let lines = table.lines().filter(|line| !line.is_empty());
    lines.map(|case| {
        let mut parts = case.splitn(3, ' ');
        let (code, place) = (parts.next().unwrap(), parts.next().unwrap());
        let mut store = store();
        remove(&mut store, "integrity");
        for change in parts.next().unwrap().split("; ") {
            apply(&mut store, change);
        }
        (case, code, place, store)
    })
}

#[test]
fn each_rule_that_is_broken_is_named_with_its_place() {
    for (case, code, place, store) in cases(BROKEN) {
        let read = pam::read_bytes(
            Value::Map(store).to_json().as_bytes(),
            &ReadOptions::default(),
        );
        let errors = read.err().unwrap_or_default();
        assert_eq!(codes(&errors), [code], "{case}: {errors:?}");
        assert_eq!(errors[0].place(), &Place::Pointer(place.to_owned()));
    }
}

#[test]
fn text_that_is_not_strict_json_is_refused() {
    let good = Value::Map(store()).to_json();
    let bad = [
        Vec::new(),
        b"{".to_vec(),
        format!("\u{feff}{good}").into_bytes(),
        format!("{good}{good}").into_bytes(),
        good.replacen(
            "\"owner\"",
            "\"schema\":\"portable-ai-memory\",\"owner\"",
            1,
        )
        .into_bytes(),
        good.replacen("Mira Okafor", "\\ud800", 1).into_bytes(),
        good.replacen("46", "99999999999999999999", 1).into_bytes(),
        [&[0xff], good.as_bytes()].concat(),
    ];
    for bytes in bad {
        let errors = pam::read_bytes(&bytes, &ReadOptions::default()).unwrap_err();
        assert_eq!(codes(&errors), ["PAM_JSON"]);
    }
    let errors = pam::read_bytes(b"[]", &ReadOptions::default()).unwrap_err();
    assert_eq!(codes(&errors), ["PAM_SCHEMA"]);
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let mut store = store();
    set(&mut store, "memories/3/content", "changed");
    set(&mut store, "memories/5/type", "thing");
    set(&mut store, "integrity/total_memories", 45);
    let errors = pam::read_bytes(
        Value::Map(store).to_json().as_bytes(),
        &ReadOptions::default(),
    );
    let errors = errors.unwrap_err();
    assert_eq!(
        codes(&errors),
        [
            "PAM_CONTENT_HASH",
            "PAM_SCHEMA",
            "PAM_TOTAL",
            "PAM_CHECKSUM"
        ]
    );
}

#[test]
fn a_wrong_checksum_is_refused_unless_it_is_accepted() {
    let mut store = store();
    set(&mut store, "memories/0/summary", "changed by hand");
    let bytes = Value::Map(store).to_json();
    let errors = pam::read_bytes(bytes.as_bytes(), &ReadOptions::default()).unwrap_err();
    assert_eq!(codes(&errors), ["PAM_CHECKSUM"]);
    let options = ReadOptions {
        accept_bad_checksum: true,
        ..ReadOptions::default()
    };
    let import = pam::read_bytes(bytes.as_bytes(), &options).unwrap();
    assert_eq!(import.codes(), ["PAM_CHECKSUM"]);
    // One envelope, one conversation without its messages, the memories and the relations.
    assert_eq!(import.records.len(), 1 + 1 + 46 + 12);
    assert_eq!(
        import.loss.iter().collect::<Vec<_>>(),
        [("conversations_index.storage", 1)]
    );
}

#[test]
fn a_delta_may_name_memories_it_does_not_hold() {
    let mut store = small(&[("a", "one"), ("b", "two")]);
    set(&mut store, "export_type", "incremental");
    set(&mut store, "memories/0/status", "superseded");
    set(&mut store, "memories/0/temporal/superseded_by", "elsewhere");
    let relation = [
        ("id", "r"),
        ("from", "a"),
        ("to", "elsewhere"),
        ("type", "supersedes"),
        ("created_at", NOW),
    ];
    set(
        &mut store,
        "relations",
        vec![Value::Map(relation.into_iter().collect())],
    );
    let import = import(&store);
    assert_eq!(import.codes(), ["PAM_SUPERSEDED_REF", "PAM_RELATION_REF"]);
    let old = by_id(&import, "a");
    assert_eq!(old.status.superseded_by, None);
    assert_eq!(old.status.lifecycle, Some(Lifecycle::Superseded));
    assert_eq!(old.status.system_valid_to, Some(old.grain.created_at()));
    let relation = &import.records.last().unwrap().grain;
    assert_eq!(
        relation.related_to().collect::<Vec<_>>(),
        [old.grain.address()]
    );
}

#[test]
fn a_status_without_its_reference_is_kept_and_warned_about() {
    let mut store = small(&[("a", "one"), ("b", "two"), ("c", "three")]);
    set(&mut store, "export_date", "2026-05-01T00:00:00Z");
    set(&mut store, "memories/0/status", "superseded");
    set(&mut store, "memories/1/temporal/superseded_by", "a");
    let import = import(&store);
    let warned = |id| by_id(&import, id).warnings.len();
    assert_eq!([warned("a"), warned("b"), warned("c")], [1, 1, 0]);
    let ended = by_id(&import, "a").status.system_valid_to.unwrap();
    assert_eq!(ended.to_string(), "2026-05-01T00:00:00.000Z");
    assert!(by_id(&import, "b").status.is_empty());
    let sources: Vec<_> = by_id(&import, "a").grain.derived_from().collect();
    assert_eq!(sources, [by_id(&import, "b").grain.address()]);
}

/// What breaks a rule that grains do not depend on is an error of a file that is held to all of
/// them, and a finding of one that is imported.
#[test]
fn what_no_schema_can_say_is_held_to_when_it_is_asked_for() {
    let strict = ReadOptions {
        is_strict: true,
        ..ReadOptions::default()
    };
    let good = Value::Map(store()).to_json();
    pam::read_bytes(good.as_bytes(), &strict).unwrap();
    for (case, code, place, store) in cases(MINDED) {
        let json = Value::Map(store).to_json();
        let errors = pam::read_bytes(json.as_bytes(), &strict).unwrap_err();
        assert_eq!(codes(&errors), [code], "{case}: {errors:?}");
        assert_eq!(errors[0].place(), &Place::Pointer(place.to_owned()));
        let import = pam::read_bytes(json.as_bytes(), &ReadOptions::default()).unwrap();
        let places = import.findings.iter().map(|(place, _)| place.to_string());
        let told: Vec<_> = import.codes().into_iter().zip(places).collect();
        assert!(told.contains(&(code, place.to_owned())), "{case}: {told:?}");
    }
    for (case, code, place, store) in cases(ODD) {
        let json = Value::Map(store).to_json();
        let import = pam::read_bytes(json.as_bytes(), &strict).unwrap();
        let places = import.findings.iter().map(|(place, _)| place.to_string());
        let told: Vec<_> = import.codes().into_iter().zip(places).collect();
        assert_eq!(told, [(code, place.to_owned())], "{case}");
    }
}

#[test]
fn what_the_schemas_do_not_have_goes_out_in_no_file_and_is_counted() {
    let mut wild = store();
    remove(&mut wild, "integrity");
    for path in [
        "x",
        "owner/x",
        "memories/1/temporal/x",
        "relations/0/x",
        "conversations_index/0/x",
    ] {
        set(&mut wild, path, 1);
    }
    set(&mut wild, "memories/1/metadata/x", 1);
    let bytes = Value::Map(wild).to_json();
    let reading = ImportFile::of_bytes(bytes.as_bytes(), None, &ReadOptions::default()).unwrap();
    let store = Store::in_memory(grainstore::Options::default()).unwrap();
    assert!(store.import(reading).unwrap().is_complete());
    let mut out = Vec::new();
    let all = Filter::new().with_superseded();
    let written =
        store
            .admin()
            .unwrap()
            .export(Format::Pam, &all, &WriteOptions::default(), &mut out);
    let loss = written.unwrap().loss;
    for name in [
        "store.x",
        "owner.x",
        "temporal.x",
        "relations.x",
        "conversations_index.x",
    ] {
        assert!(
            loss.iter().any(|lost| lost == (name, 1)),
            "{name}: {loss:?}"
        );
    }
    let strict = ReadOptions {
        is_strict: true,
        ..ReadOptions::default()
    };
    pam::read_bytes(&out, &strict).unwrap();
    assert!(
        String::from_utf8(out).unwrap().contains("\"x\":1"),
        "metadata is free"
    );
}

/// As below; what an import takes all the same.
const MINDED: &str = r#"
PAM_SCHEMA /extra extra=1
PAM_SCHEMA /memories/1/temporal/extra memories/1/temporal/extra=null
PAM_CONVERSATION_REF /memories/1/provenance/conversation_ref memories/1/provenance/conversation_ref="nobody"
PAM_DERIVED_REF /conversations_index/0/derived_memories/0 conversations_index/0/derived_memories=["nobody"]
PAM_TEMPORAL /conversations_index/0/temporal/updated_at conversations_index/0/temporal/updated_at="2001-01-01T00:00:00Z"
PAM_STORAGE_REF /conversations_index/0/storage/ref conversations_index/0/storage/ref="../x.json"
"#;

/// As below; what nobody is held to.
const ODD: &str = r#"
PAM_RELATION_REF /relations/0/to relations/0/to="9a36f7fa-bd5a-4d89-aafb-badb99b30e28"
"#;

/// A code, the place it must be reported at, and the changes that break the rule.
const BROKEN: &str = r#"
PAM_SCHEMA_ID /schema schema="other"
PAM_VERSION /schema_version schema_version="2.0"
PAM_SCHEMA /schema_version schema_version
PAM_SCHEMA /owner owner
PAM_SCHEMA /owner/id owner/id=""
PAM_SCHEMA /owner/did owner/did="x"
PAM_SCHEMA /memories memories; relations
PAM_SCHEMA /memories memories="none"
PAM_SCHEMA /memories/0 memories/0=1
PAM_SCHEMA /memories/1/content memories/1/content
PAM_SCHEMA /memories/1/content memories/1/content=""
PAM_SCHEMA /memories/1/content_hash memories/1/content_hash
PAM_SCHEMA /memories/1/temporal memories/1/temporal
PAM_SCHEMA /memories/1/temporal/created_at memories/1/temporal/created_at="2026-01-01T00:00:00"
PAM_SCHEMA /memories/1/provenance/platform memories/1/provenance/platform="ChatGPT"
PAM_SCHEMA /memories/1/tags/0 memories/1/tags/0="phi:x"
PAM_SCHEMA /memories/1/type memories/1/type="belief"
PAM_SCHEMA /memories/1/status memories/1/status="gone"
PAM_SCHEMA /memories/1/confidence/current memories/1/confidence/current=2
PAM_SCHEMA /memories/2/access/exportable memories/2/access/exportable="no"
PAM_CUSTOM_TYPE /memories/0/custom_type memories/0/custom_type="x"
PAM_CUSTOM_TYPE /memories/0/custom_type memories/0/type="custom"
PAM_CONTENT_HASH /memories/0/content_hash memories/0/content="else"
PAM_DUPLICATE_ID /memories/2/id memories/1/id="x"; memories/2/id="x"; relations
PAM_DUPLICATE_ID /relations/1/id relations/0/id="x"; relations/1/id="x"
PAM_DUPLICATE_ID /conversations_index/1/id conversations_index/0={"id":"x","platform":"pp","temporal":{"created_at":"2026-01-01T00:00:00Z"}}; conversations_index/1={"id":"x","platform":"pp","temporal":{"created_at":"2026-01-01T00:00:00Z"}}
PAM_TEMPORAL /memories/1/temporal/updated_at memories/1/temporal/updated_at="2001-01-01T00:00:00Z"
PAM_TEMPORAL /memories/4/temporal/valid_until memories/4/temporal/valid_until="2001-01-01T00:00:00Z"
PAM_SUPERSEDED_REF /memories/4/temporal/superseded_by memories/4/temporal/superseded_by="nobody"
PAM_CYCLE /memories/4/temporal/superseded_by memories/6/temporal/superseded_by="b30692f8-3ded-438f-a18a-89a37e7fc5b5"
PAM_CYCLE /memories/6/temporal/superseded_by memories/6/temporal/superseded_by="a222973b-7371-4926-b1e5-3a0a3880a7e6"
PAM_RELATION_REF /relations/0/to relations/0/to="nobody"
PAM_RELATION_REF /relations/3/from relations/3/from="nobody"
PAM_SCHEMA /relations/0/type relations/0/type="likes"
PAM_SCHEMA /relations/0/created_at relations/0/created_at
PAM_SCHEMA /conversations_index/0/platform conversations_index/0/platform
PAM_JSON /memories/0/metadata/n memories/0/metadata/n=9007199254740992
ERR_EMPTY /memories/0 memories/0/content="\ufeff"; memories/0/content_hash="sha256:f1945cd6c19e56b3c1c78943ef5ec18116907a4ca1efc40a57d48ab1db7adfc5"
"#;
