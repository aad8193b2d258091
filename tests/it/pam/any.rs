//! Any memory survives, and nothing makes the reader panic.

use std::fs;

use grainstore::codec::{Map, Value};
use grainstore::grain::ForeignId;
use grainstore::interchange::ReadOptions;
use proptest::prelude::*;

use super::store::{
    conversation, data, get, import, remove, set, small, store, with_conversation,
    with_conversation_file,
};
use crate::whole::pam;

proptest! {
    #[test]
    fn any_memory_survives_import(content in ".*[^\u{feff}].*", extra in json_value(), id in ".+") {
        let mut store = small(&[(id.as_str(), content.as_str())]);
        set(&mut store, "memories/0/metadata", extra);
        set(&mut store, "memories/0/custom_type", Value::Nil);
        let import = import(&store);
        let residual = pam::residual(&import.records[1].grain);
        prop_assert_eq!(residual.as_ref(), Some(get(&store, "memories/0")));
        let id_kept = import.records[1].foreign_id.as_ref().map(ForeignId::id);
        prop_assert_eq!(id_kept, Some(id.as_str()));
    }

    #[test]
    fn any_message_survives_import(text in proptest::option::of(".*"), input in json_value()) {
        let mut conversation = conversation(&[("m", None)]);
        set(&mut conversation, "messages/0/content/text", text.map_or(Value::Nil, Value::from));
        set(&mut conversation, "messages/0/tool_calls/0/input", input);
        let import = with_conversation(&conversation);
        prop_assert!(import.findings.is_empty(), "{:?}", import.findings);
        let residual = pam::residual(&import.records[1].grain);
        prop_assert_eq!(residual.as_ref(), Some(get(&conversation, "messages/0")));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = fs::read(data().join("memory-store.json")).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        drop(pam::read_bytes(&bytes, &ReadOptions::default()));
    }

    #[test]
    fn no_value_anywhere_makes_the_reader_panic(
        at in any::<prop::sample::Index>(),
        value in json_value(),
        with in 0..6_usize,
    ) {
        let others = [Value::Nil, Value::from(""), Value::from(-1), Value::from(0.5), Value::from(Vec::<Value>::new())];
        let value = others.get(with).cloned().unwrap_or(value);
        let mut store = store();
        remove(&mut store, "integrity");
        let store = Value::Map(store);
        let changed = replace(store.clone(), &mut at.index(count(&store)), &value);
        drop(pam::read_bytes(changed.to_json().as_bytes(), &ReadOptions::default()));

        let talk = Value::Map(conversation(&[("m1", None), ("m2", Some("m1"))]));
        let import = with_conversation_file(&replace(talk.clone(), &mut at.index(count(&talk)), &value));
        prop_assert!(import.records.len() >= 3);
    }
}

/// Puts another value in the place of one of the nodes, which are counted from the root.
fn replace(value: Value, at: &mut usize, by: &Value) -> Value {
    if *at == 0 {
        *at = usize::MAX;
        return by.clone();
    }
    *at -= 1;
    match value {
        Value::Array(items) => {
            let items = items.into_iter().map(|item| replace(item, at, by));
            Value::Array(items.collect())
        }
        Value::Map(map) => {
            let members = map
                .into_iter()
                .map(|(name, value)| (name, replace(value, at, by)));
            Value::Map(members.collect())
        }
        flat => flat,
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Map(map) => map.iter().map(|(_, value)| count(value)).sum(),
        _ => 0,
    }
}

/// JSON whose numbers have an I-JSON form, some of it deeper than a grain may be.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e300..1e300).prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    let nested = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..4)
                .prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    });
    let map = prop::collection::btree_map(".*", nested, 0..4);
    (map, 0..40_usize).prop_map(|(map, depth)| {
        let mut map: Map = map.into_iter().collect();
        let deep = (0..depth).fold(Value::Nil, |value, _| Value::Array(vec![value]));
        map.insert("deep", deep);
        Value::Map(map)
    })
}
