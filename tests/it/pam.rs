//! PAM stores as grains: what comes out, in which order, and that nothing is lost.

mod any;
mod conversation;
mod embeddings;
mod fault;
mod redacted;
pub(super) mod schema;
pub(super) mod store;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;

use grainstore::codec::{ContentAddress, Map, Value};
use grainstore::grain::{ForeignId, Lifecycle, Type, Verification};
use grainstore::interchange::ReadOptions;
use grainstore::interchange::{Format, Place, Record};

use crate::whole::{Import, pam};
use store::{by_id, codes, data, import, json, memories, sample, set, small, store};

#[test]
fn the_sample_imports_fully() {
    let import = sample();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    assert!(import.loss.is_empty(), "{:?}", import.loss);
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    for record in &import.records {
        *types.entry(record.grain.type_().to_string()).or_default() += 1;
        assert_eq!(record.grain.text("user_id"), Some("mira-okafor"));
        assert!(record.warnings.is_empty(), "{:?}", record.warnings);
    }
    let expected = [
        ("belief", 42 + 12),
        ("event", 18),
        ("goal", 4),
        ("state", 2),
    ];
    assert_eq!(
        types
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect::<Vec<_>>(),
        expected
    );
    let memories: Vec<&Record> = memories(&import).collect();
    assert_eq!(memories.len(), 46);
    let count = |fits: &dyn Fn(&Record) -> bool| memories.iter().filter(|it| fits(it)).count();
    assert_eq!(count(&|it| it.status.is_empty()), 38);
    assert_eq!(count(&|it| it.status.superseded_by.is_some()), 3);
    assert_eq!(
        count(&|it| it.status.lifecycle == Some(Lifecycle::Archived)),
        2
    );
    assert_eq!(
        count(&|it| it.status.lifecycle == Some(Lifecycle::Deprecated)),
        1
    );
    assert_eq!(
        count(&|it| it.status.verification == Some(Verification::Retracted)),
        2
    );
    assert_eq!(count(&|it| it.status.system_valid_to.is_some()), 7);
    assert_eq!(count(&|it| it.exportable == Some(false)), 2);
    assert_eq!(count(&|it| it.exportable == Some(true)), 4);
    // Seven memories name a message, and three replace another memory.
    assert_eq!(count(&|it| it.grain.derived_from().count() > 0), 9);
}

#[test]
fn a_memory_is_mapped_field_by_field() {
    let import = sample();
    let home = by_id(&import, "a222973b-7371-4926-b1e5-3a0a3880a7e6");
    let grain = &home.grain;
    assert_eq!(grain.type_(), Type::Belief);
    assert_eq!(
        grain.text("subject"),
        Some("did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK")
    );
    assert_eq!(grain.text("relation"), Some("pam:fact"));
    assert!(
        grain
            .text("object")
            .unwrap()
            .starts_with("Since 1 October 2026")
    );
    assert_eq!(grain.text("source_type"), Some("user_explicit"));
    assert_eq!(grain.text("origin_namespace"), Some("wren"));
    assert_eq!(
        grain.text("session_id"),
        Some("c3a39b74-6338-4e87-bd3b-af69c9d08f03")
    );
    assert_eq!(grain.created_at().to_string(), "2026-10-06T17:31:00.000Z");
    assert_eq!(
        grain.field("valid_from"),
        Some(&Value::from(1_790_812_800_000_i64))
    );
    assert_eq!(
        grain
            .field("structural_tags")
            .unwrap()
            .texts()
            .collect::<Vec<_>>(),
        ["home", "rotterdam"]
    );
    let old = by_id(&import, "81e02b58-b160-45d8-8cd3-7be5bb6c1d1b");
    assert_eq!(old.status.superseded_by, Some(grain.address()));
    assert_eq!(
        old.status.system_valid_to.unwrap().to_string(),
        "2026-10-06T17:31:00.000Z"
    );
    let message = import.records.iter().find(|record| {
        record.foreign_id.as_ref().is_some_and(|id| {
            id.format() == "pam:message" && id.id() == "8796d52f-70f7-4f82-a24f-2d9b804a90d2"
        })
    });
    assert_eq!(
        grain.derived_from().collect::<Vec<_>>(),
        [old.grain.address(), message.unwrap().grain.address()]
    );
}

#[test]
fn what_a_grain_names_comes_before_it_and_a_replaced_memory_before_its_replacement() {
    let import = sample();
    let mut stored: HashSet<ContentAddress> = HashSet::new();
    let addresses: HashSet<_> = import.records.iter().map(|it| it.grain.address()).collect();
    assert_eq!(addresses.len(), import.records.len());
    for record in &import.records {
        let grain = &record.grain;
        let named = grain
            .derived_from()
            .chain(grain.related_to())
            .chain(grain.link("parent_message_id"));
        for address in named {
            assert!(
                stored.contains(&address),
                "{:?} names {address}",
                record.place
            );
        }
        if let Some(replacement) = record.status.superseded_by {
            assert!(!stored.contains(&replacement) && addresses.contains(&replacement));
        }
        stored.insert(grain.address());
    }
}

#[test]
fn the_same_records_give_the_same_addresses_whatever_the_file_is_called_or_how_it_is_spaced() {
    let folder = tempfile::tempdir().unwrap();
    let conversations = folder.path().join("conversations");
    fs::create_dir(&conversations).unwrap();
    for entry in fs::read_dir(data().join("conversations")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, conversations.join(path.file_name().unwrap())).unwrap();
    }
    let compact = Value::Map(store()).to_json();
    fs::write(folder.path().join("other name.json"), compact).unwrap();
    assert_eq!(Format::detect(folder.path()).unwrap(), Format::Pam);
    let addresses = |import: &Import| -> Vec<_> {
        import
            .records
            .iter()
            .map(|record| (record.grain.address(), record.status))
            .collect()
    };
    let again = pam::read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(addresses(&again), addresses(&sample()));
    fs::write(
        folder.path().join("second.json"),
        Value::Map(store()).to_json(),
    )
    .unwrap();
    let errors = pam::read(folder.path(), &ReadOptions::default()).unwrap_err();
    assert_eq!(codes(&errors), ["PAM_SCHEMA_ID"]);
}

#[test]
fn every_record_can_be_rebuilt_from_its_grain() {
    let import = sample();
    rebuilds(&import, &store());
    let path = "conversations/c3a39b74-6338-4e87-bd3b-af69c9d08f03.json";
    let document = json(&data().join(path));
    let mut messages = HashMap::new();
    let mut rebuilt = None;
    for record in &import.records {
        match record.foreign_id.as_ref().map(ForeignId::format) {
            Some("pam:message") => {
                let Place::Pointer(place) = &record.place else {
                    unreachable!()
                };
                let message = pam::residual(&record.grain).unwrap();
                messages.insert(place.clone(), message);
            }
            Some("pam:conversation") => rebuilt = pam::conversation_residual(&record.grain),
            _ => {}
        }
    }
    let Some(Value::Map(mut rebuilt)) = rebuilt else {
        unreachable!("a document is an object")
    };
    let in_order = (0..messages.len()).map(|n| messages[&format!("{path}#/messages/{n}")].clone());
    rebuilt.insert("messages", in_order.collect::<Vec<_>>());
    // The ids of answers follow from those answers.
    let mut document = document;
    if let Some(Value::Array(messages)) = document.get_mut("messages") {
        for message in messages {
            if let Value::Map(message) = message {
                message.remove("children_ids");
            }
        }
    }
    assert_eq!(rebuilt, document);
}

#[test]
#[ignore = "needs corpora"]
fn the_examples_of_the_format_itself_import() {
    let examples = crate::foreign::corpus("data/pam/examples");
    let path = examples.join("example-memory-store.json");
    let import = pam::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(import.records.len(), 1 + 3 + 5 + 3);
    // The example names conversation and embedding files that its project does not publish, and
    // its signature is only an example of one.
    let mut found = import.codes();
    found.sort_unstable();
    assert_eq!(found, ["ERR_IO", "ERR_IO", "ERR_IO", "PAM_SIGNATURE"]);
    let loss: Vec<_> = import.loss.iter().collect();
    assert_eq!(
        loss,
        [("conversations_index.storage", 3), ("embedding_ref", 5)]
    );
    rebuilds(&import, &json(&path));

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("conversations")).unwrap();
    fs::copy(&path, folder.path().join("memory-store.json")).unwrap();
    fs::copy(
        examples.join("example-conversation.json"),
        folder.path().join("conversations/conv-001.json"),
    )
    .unwrap();
    let import = pam::read(folder.path(), &ReadOptions::default()).unwrap();
    assert_eq!(
        import.records.len(),
        1 + 3 + 5 + 3 + 2,
        "{:?}",
        import.findings
    );
}

#[test]
fn a_memory_type_decides_the_grain_type_and_the_relation() {
    let mut store = small(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]);
    set(&mut store, "memories/0/type", "custom");
    set(&mut store, "memories/0/custom_type", "security_clearance");
    set(&mut store, "memories/1/type", "custom");
    set(&mut store, "memories/1/custom_type", "with: colon");
    set(&mut store, "memories/2/type", "preference");
    set(&mut store, "memories/3/type", "instruction");
    set(&mut store, "memories/4/type", "goal");
    let import = import(&store);
    let relation = |id| by_id(&import, id).grain.text("relation").map(str::to_owned);
    assert_eq!(
        relation("a").as_deref(),
        Some("pam:custom:security_clearance")
    );
    assert_eq!(relation("b").as_deref(), Some("pam:custom"));
    assert_eq!(relation("c").as_deref(), Some("mg:prefers"));
    assert_eq!(relation("d").as_deref(), Some("mg:requires"));
    let goal = &by_id(&import, "e").grain;
    assert_eq!(
        (goal.type_(), goal.text("description")),
        (Type::Goal, Some("5"))
    );
    assert_eq!(
        by_id(&import, "a").grain.text("subject"),
        Some("pam:owner:o")
    );
}

/// Checks that the grains give back the store they came from.
fn rebuilds(import: &Import, store: &Map) {
    let Some(Value::Map(mut rebuilt)) = pam::residual(&import.records[0].grain) else {
        unreachable!("an envelope is an object");
    };
    for (format, name) in [
        ("pam", "memories"),
        ("pam:relation", "relations"),
        ("pam:conversation", "conversations_index"),
    ] {
        let mut records: BTreeMap<usize, Value> = BTreeMap::new();
        for record in &import.records {
            if record
                .foreign_id
                .as_ref()
                .is_some_and(|id| id.format() == format)
            {
                let place = record.place.to_string();
                let number = place.rsplit('/').next().unwrap().parse().unwrap();
                records.insert(number, pam::residual(&record.grain).unwrap());
            }
        }
        assert_eq!(rebuilt.get(name), Some(&Value::Array(Vec::new())));
        rebuilt.insert(name, records.into_values().collect::<Vec<_>>());
    }
    assert_eq!(&rebuilt, store);
}
