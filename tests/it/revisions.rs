//! Grains in the words of OMS 1.4 and 1.5: read as what they are, kept as they came, and written for readers
//! that refuse the words of 1.3.

use std::collections::BTreeSet;

use grainstore::codec::{ContentAddress, Map, Profile, Value};
use grainstore::grain::{Draft, Grain, Time, Type};
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::{ErrorCode, Filter, Options, Store};

fn sample() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/test-vectors/oms/revision-1.5.jsonl"
    );
    std::fs::read_to_string(path).unwrap()
}

fn read(bytes: &[u8], format: Format) -> Vec<Grain> {
    let reading = ImportFile::of_bytes(bytes, Some(format), &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    let records = reading.records.into_vec().unwrap();
    records.into_iter().map(|record| record.grain).collect()
}

fn store_of(bytes: &[u8], format: Format) -> Store {
    let store = Store::in_memory(Options::default()).unwrap();
    let reading = ImportFile::of_bytes(bytes, Some(format), &ReadOptions::default()).unwrap();
    assert!(store.import(reading).unwrap().is_complete());
    store
}

fn export(store: &Store, format: Format, revision: &str) -> (Vec<u8>, Vec<(String, u64)>) {
    let options = WriteOptions {
        revision: Some(revision.to_owned()),
        ..WriteOptions::default()
    };
    let filter = Filter::new().with_superseded();
    let mut bytes = Vec::new();
    let admin = store.admin().unwrap();
    let exported = admin.export(format, &filter, &options, &mut bytes).unwrap();
    let loss = exported.loss.iter();
    (
        bytes,
        loss.map(|(name, count)| (name.to_owned(), count)).collect(),
    )
}

/// Checks a grain by the rules of 1.5 that 1.3 does not have (5, 8.1, 8.4, 8.5, 8.11, 8.12).
fn is_of_1_5(grain: &Grain) -> Result<(), String> {
    let word = grain.text("type").unwrap_or_default();
    let has = |name: &str| grain.text(name).is_some_and(|text| !text.is_empty());
    let texts = |name: &str| {
        let texts = grain.field(name).into_iter().flat_map(Value::texts);
        texts.map(str::to_owned).collect::<Vec<_>>()
    };
    let fits = match grain.type_().byte() {
        1 => word == "fact",
        4 => {
            let nodes = texts("nodes");
            let known: BTreeSet<_> = nodes.iter().map(String::as_str).collect();
            let edges = grain
                .field("edges")
                .and_then(Value::as_array)
                .unwrap_or_default();
            let end = |edge: &Value, name| {
                let end = edge.as_map().and_then(|edge| edge.get(name)?.as_text());
                end.is_some_and(|end| known.contains(end))
            };
            let are_edges = edges
                .iter()
                .all(|edge| end(edge, "src") && end(edge, "dst"));
            word == "workflow" && !nodes.is_empty() && known.len() == nodes.len() && are_edges
        }
        5 => word == "tool",
        0x0b => word == "skill" && has("name") && has("description"),
        0x0c => word == "recommendation" && has("target_ref") && has("dedup_key"),
        _ => !["belief", "action"].contains(&word),
    };
    fits.then_some(()).ok_or_else(|| grain.to_json())
}

/// A memory in the words of 1.3, whose grains name each other.
fn memory() -> Store {
    let store = Store::in_memory(Options::default()).unwrap();
    let at = |ms: i64| Time::from_ms(1_780_000_000_000 + ms);
    let said = store
        .put(Draft::event("I use pnpm").created_at(at(0)))
        .unwrap();
    let belief = Draft::belief("Ana", "uses", "pnpm")
        .confidence(0.9)
        .derived_from(said);
    let belief = store.put(belief.created_at(at(1))).unwrap();
    let action = Draft::action("grep", Map::new(), "found", false).created_at(at(2));
    let action = store.put(action).unwrap();
    let workflow = Draft::workflow(["test", "build", "test"], "a push").created_at(at(3));
    store
        .put(workflow.set("relation", "mg:requires_steps"))
        .unwrap();
    let about = Draft::event("done")
        .derived_from(belief)
        .derived_from(action);
    store.put(about.created_at(at(4))).unwrap();
    let newer = Draft::belief("Ana", "uses", "bun")
        .confidence(0.9)
        .derived_from(belief);
    store
        .supersede(&belief, newer.created_at(at(5)), None)
        .unwrap();
    store
}

#[test]
fn a_grain_of_a_later_revision_is_read_as_what_it_is() {
    let grains = read(sample().as_bytes(), Format::Jsonl);
    let types: Vec<_> = grains
        .iter()
        .map(|grain| grain.type_().to_string())
        .collect();
    assert_eq!(
        types,
        ["belief", "action", "workflow", "skill", "recommendation"]
    );
    for grain in &grains {
        assert_eq!(is_of_1_5(grain), Ok(()));
        let (again, _) =
            Grain::from_foreign_blob(grain.blob().to_vec(), Profile::Extended).unwrap();
        assert_eq!(again.fields(), grain.fields());
    }
    // The short keys of 1.5 are in the bytes, and the full names in what is shown.
    let skill = &grains[3];
    let has = |key: &str| {
        skill
            .blob()
            .windows(key.len())
            .any(|part| part == key.as_bytes())
    };
    assert!(has("skname") && has("instr") && !has("instructions"));
    assert_eq!(skill.text("name"), Some("code_review"));
    assert_eq!(skill.field("proficiency"), Some(&Value::Float(1.0)));
    let tool = &grains[1];
    assert_eq!(
        (tool.text("action_phase"), tool.text("tool_phase")),
        (Some("definition"), None)
    );
    assert!(grains[2].blob().windows(3).any(|part| part == b"mxc"));
    assert_eq!(Type::of_later("skill"), Some(skill.type_()));
}

#[test]
fn what_came_in_later_words_goes_out_as_it_came() {
    let before = read(sample().as_bytes(), Format::Jsonl);
    let store = store_of(sample().as_bytes(), Format::Jsonl);
    for format in [Format::Mg, Format::Jsonl] {
        for revision in ["1.3", "1.5"] {
            let (bytes, loss) = export(&store, format, revision);
            assert!(loss.is_empty(), "{loss:?}");
            assert_eq!(read(&bytes, format), before, "{format} {revision}");
        }
        // 1.4 has no such type.
        let (bytes, loss) = export(&store, format, "1.4");
        assert_eq!(read(&bytes, format), before[..4], "{format}");
        assert_eq!(loss, [("recommendation".to_owned(), 1)]);
    }
    let (lines, _) = export(&store, Format::Jsonl, "1.5");
    let lines = String::from_utf8(lines).unwrap();
    let values = |text: &str| {
        text.lines()
            .map(|it| Value::from_json(it).unwrap())
            .collect::<Vec<_>>()
    };
    let (written, given) = (values(&lines), values(&sample()));
    for (at, (written, given)) in written.iter().zip(&given).enumerate() {
        // An integer is a double in the schema.
        let is_same = written == given || at == 3;
        assert!(is_same, "{}\n{}", written.to_json(), given.to_json());
    }
}

#[test]
fn a_memory_of_1_3_is_written_so_that_a_strict_reader_takes_it() {
    let store = memory();
    for format in [Format::Mg, Format::Jsonl] {
        for revision in ["1.4", "1.5"] {
            let (bytes, loss) = export(&store, format, revision);
            assert!(loss.is_empty(), "{loss:?}");
            let reading = ImportFile::of_bytes(&bytes, Some(format), &ReadOptions::default());
            let records = reading.unwrap().records.into_vec().unwrap();
            let all: BTreeSet<ContentAddress> = records
                .iter()
                .map(|record| record.grain.address())
                .collect();
            assert_eq!(records.len(), 6);
            for record in &records {
                assert_eq!(is_of_1_5(&record.grain), Ok(()));
                // What names another grain names one of this file.
                assert!(record.grain.named().iter().all(|it| all.contains(it)));
            }
            let ended: Vec<_> = records
                .iter()
                .filter_map(|record| record.status.superseded_by)
                .collect();
            assert_eq!(ended.len(), 1);
            assert!(all.contains(&ended[0]));
            let workflow = records
                .iter()
                .find(|it| it.grain.type_() == Type::Workflow)
                .unwrap();
            let nodes: Vec<_> = workflow.grain.field("nodes").unwrap().texts().collect();
            assert_eq!(nodes, ["test", "build", "test (2)"]);
            assert_eq!(workflow.grain.text("trigger"), Some("a push"));
            assert_eq!(workflow.grain.text("relation"), Some("mg:has_graph"));
            // Written again from a store that read it, it is the same file.
            let (again, _) = export(&store_of(&bytes, format), format, revision);
            assert!(again == bytes, "{format} {revision}");
        }
    }
    // The store has its own form before and after.
    let (bytes, _) = export(&store, Format::Mg, "1.3");
    let words = read(&bytes, Format::Mg);
    assert!(words.iter().all(|grain| grain.text("type") != Some("fact")));
}

#[test]
fn what_cannot_be_written_anew_stays_and_is_counted() {
    // A grain of a later type is kept to the byte, though it names one that is written anew.
    let store = memory();
    let belief = store
        .query(&Filter::new().of_type(Type::Belief), 1, None)
        .unwrap();
    let belief = belief.results[0].address;
    let line = sample().lines().nth(3).unwrap().to_owned();
    let names = format!(r#"{{"derived_from":["{belief}"],"#);
    let line = line.replacen('{', &names, 1);
    let options = ReadOptions::default();
    let skill = ImportFile::of_bytes(line.as_bytes(), Some(Format::Jsonl), &options).unwrap();
    assert!(store.import(skill).unwrap().is_complete());
    let (bytes, loss) = export(&store, Format::Mg, "1.5");
    assert_eq!(loss, [("revision".to_owned(), 1)]);
    let grains = read(&bytes, Format::Mg);
    let skill = grains
        .iter()
        .find(|grain| Type::of_later("skill") == Some(grain.type_()));
    assert_eq!(
        skill.unwrap().named(),
        [belief, ContentAddress::from_reference(WORKFLOW).unwrap()]
    );
}

const WORKFLOW: &str = "2f0e0a9f4f0a6b5d8f8f4b6c3b5f4f3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a";

#[test]
fn other_formats_have_no_revision() {
    let options = WriteOptions {
        revision: Some("1.5".to_owned()),
        ..WriteOptions::default()
    };
    let admin_store = memory();
    let admin = admin_store.admin().unwrap();
    let later = WriteOptions {
        revision: Some("1.6".to_owned()),
        ..WriteOptions::default()
    };
    let formats = [Format::Pam, Format::Omi, Format::Cogx].map(|format| (format, &options));
    for (format, options) in formats.into_iter().chain([(Format::Mg, &later)]) {
        let refused = admin.export(format, &Filter::new(), options, &mut Vec::new());
        assert_eq!(
            refused.unwrap_err().code(),
            ErrorCode::Unsupported,
            "{format}"
        );
    }
}

#[test]
fn a_store_is_not_written_in_later_words() {
    for line in sample().lines().skip(2) {
        let refused = Draft::from_json(line).and_then(|draft| draft.finish(Profile::Extended));
        assert!(refused.is_err(), "{line}");
    }
}
