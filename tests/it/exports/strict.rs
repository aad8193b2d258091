//! No export writes what the validation of its format refuses, whatever an import took.

use grainstore::interchange::omi::Level;

use super::*;
use crate::foreign::codes;

/// Values that stand where the schemas want others.
const ODD: [&str; 8] = [
    "null",
    "7",
    "\"\"",
    "\"zz\"",
    "[]",
    "[7, {\"id\": \"e\", \"type\": \"t\", \"target\": \"1\"}]",
    "{}",
    "{\"x\": [null]}",
];

fn strictly(text: &[u8], format: Format) -> Vec<&'static str> {
    let options = ReadOptions {
        omi_level: Some(Level::L0),
        is_strict: true,
        ..ReadOptions::default()
    };
    codes(
        &ImportFile::of_bytes(text, Some(format), &options)
            .unwrap()
            .errors,
    )
}

/// Every change of one value of a document to an odd one, and every removal and addition.
fn changes(value: &Value, at: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    match value {
        Value::Map(map) => {
            for (name, inner) in map.iter() {
                at.push(name.to_owned());
                all.push(at.clone());
                changes(inner, at, all);
                at.pop();
            }
            at.push("foreign".to_owned());
            all.push(at.clone());
            at.pop();
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                at.push(index.to_string());
                all.push(at.clone());
                changes(inner, at, all);
                at.pop();
            }
        }
        _ => {}
    }
}

fn set(value: &mut Value, at: &[String], to: Option<Value>) {
    let (first, rest) = at.split_first().unwrap();
    match value {
        Value::Map(map) if rest.is_empty() => match to {
            Some(to) => drop(map.insert(first, to)),
            None => drop(map.remove(first)),
        },
        Value::Array(items) if rest.is_empty() => {
            let index: usize = first.parse().unwrap();
            match to {
                Some(to) => items[index] = to,
                None => drop(items.remove(index)),
            }
        }
        Value::Map(map) => set(map.get_mut(first).unwrap(), rest, to),
        Value::Array(items) => set(&mut items[first.parse::<usize>().unwrap()], rest, to),
        _ => unreachable!(),
    }
}

/// Imports each mutation that an import takes, and validates the export; returns how many came in.
fn each_mutation(document: &Value, format: Format) -> usize {
    let mut all = Vec::new();
    changes(document, &mut Vec::new(), &mut all);
    let mut taken = 0;
    for (number, at) in all.into_iter().enumerate() {
        // Two of the values at each place, another two at the next.
        let odd = ODD.iter().cycle().skip(number * 3).take(2);
        let odd = odd.map(|json| Some(Value::from_json(json).unwrap()));
        for to in odd.chain([None]) {
            let mut changed = document.clone();
            set(&mut changed, &at, to.clone());
            let text = changed.to_json();
            let options = ReadOptions {
                accept_bad_checksum: true,
                ..ReadOptions::default()
            };
            let reading = ImportFile::of_bytes(text.as_bytes(), Some(format), &options).unwrap();
            if !reading.errors.is_empty() {
                continue;
            }
            taken += 1;
            let is_later = changed.as_map().unwrap().get("schema_version");
            if is_later.is_some_and(|version| version.as_text() != Some("1.0")) {
                continue;
            }
            let store = memory();
            store.import(reading).unwrap();
            let mut bytes = Vec::new();
            let exported = store
                .admin()
                .unwrap()
                .export(format, &all_of().0, &all_of().1, &mut bytes)
                .unwrap();
            let refused = strictly(&bytes, format);
            let out = String::from_utf8(bytes).unwrap();
            assert!(refused.is_empty(), "{at:?} {to:?}: {refused:?}\n{out}");
            drop(exported);
            // And it is no news to the store that it came from.
            let again = ImportFile::of_bytes(out.as_bytes(), Some(format), &options).unwrap();
            let summary = store.import(again).unwrap();
            let brought = (summary.inserted, summary.updated, summary.conflicts.len());
            assert_eq!(
                brought,
                (0, 0, 0),
                "{at:?} {to:?}: {summary:?}\n{text}{out}"
            );
        }
    }
    taken
}

fn all_of() -> (Filter, WriteOptions) {
    all()
}

#[test]
fn a_mutated_omi_file_leaves_as_a_valid_one() {
    let taken = each_mutation(&Value::Map(crate::omi::sample()), Format::Omi);
    assert!(taken > 60, "{taken}");
}

#[test]
fn a_mutated_memory_store_leaves_as_a_valid_one() {
    let text = crate::pam::schema::full_store().to_string();
    let mut store = json(&text);
    // What a checksum covers cannot be changed without it, and a reference needs its target.
    for name in [
        "integrity",
        "signature",
        "export_type",
        "base_export_id",
        "since",
    ] {
        store.remove(name);
    }
    let taken = each_mutation(&Value::Map(store), Format::Pam);
    assert!(taken > 60, "{taken}");
}

#[test]
fn what_a_memory_says_of_its_end_and_nulls_in_its_metadata_stay() {
    let mut store = crate::pam::store::small(&[("a", "one"), ("b", "two")]);
    let edit = super::super::foreign::edit;
    edit(&mut store, "memories/0/status", Some("\"archived\""));
    edit(
        &mut store,
        "memories/0/temporal/superseded_by",
        Some("\"b\""),
    );
    edit(
        &mut store,
        "memories/0/metadata",
        Some("{\"language\": null, \"x\": null}"),
    );
    let copy = store_of(text_of(&store).as_bytes());
    let (out, loss) = export(&copy, Format::Pam, &all().1);
    assert!(loss.is_empty(), "{loss:?}");
    let out = json(&out);
    let memory = out.get("memories").unwrap().as_array().unwrap()[0].clone();
    let memory = memory.as_map().unwrap();
    assert_eq!(memory.get("status").unwrap().as_text(), Some("archived"));
    let temporal = memory.get("temporal").unwrap().as_map().unwrap();
    assert_eq!(temporal.get("superseded_by").unwrap().as_text(), Some("b"));
    let metadata = memory.get("metadata").unwrap().as_map().unwrap();
    assert_eq!(metadata.iter().collect::<Vec<_>>(), [("x", &Value::Nil)]);
}
