//! What is written in other formats: equal to what was read, valid by the schemas, and for grains
//! of any origin enough to give them back.

use std::path::{Path, PathBuf};

use grainstore::codec::{Map, Profile, Value};
use grainstore::grain::{ForeignId, Status};
use grainstore::interchange::{Format, ImportFile, Loss, ReadOptions, WriteOptions};
use grainstore::{Draft, Filter, Options, Store, Time};

use super::foreign::{corpus, files, json, text_of};
use super::interchange_vectors::valid;
use crate::whole::{aimem, omi, pam};

mod again;
pub(super) mod any;
mod cogx;
mod ended;
mod matrix;
mod messages;
mod partial;
mod stranger;
mod strict;
mod times;
mod turns;

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

/// Everything, vectors and what was superseded included.
fn all() -> (Filter, WriteOptions) {
    let options = WriteOptions {
        with_embeddings: true,
        now: Some(Time::from_ms(1_780_000_000_000)),
        ..WriteOptions::default()
    };
    (Filter::new().with_superseded(), options)
}

/// Every result that a question gives, whatever its state.
fn found_in(store: &Store) -> Vec<grainstore::query::Found> {
    let filter = Filter::new()
        .with_superseded()
        .with_expired()
        .with_unreviewed();
    store.query(&filter, 1_000, None).unwrap().results
}

fn read_file(store: &Store, path: &Path) {
    let reading = ImportFile::open(path, None, &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    let summary = store.import(reading).unwrap();
    assert!(summary.is_complete(), "{summary:?}");
}

fn store_of(text: &[u8]) -> Store {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text).unwrap();
    let store = memory();
    read_file(&store, &path);
    store
}

fn export(store: &Store, format: Format, options: &WriteOptions) -> (String, Loss) {
    let mut bytes = Vec::new();
    let exported = store
        .admin()
        .unwrap()
        .export(format, &all().0, options, &mut bytes)
        .unwrap();
    (String::from_utf8(bytes).unwrap(), exported.loss)
}

fn values(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| Value::from_json(line).unwrap())
        .collect()
}

#[test]
fn a_bundle_goes_out_as_it_came() {
    let files = valid(Format::Aimem).into_iter();
    let files = files.map(|path| std::fs::read(path).unwrap());
    let sample = text_of(&super::aimem::sample()).into_bytes();
    bundles_go_out(files.chain([sample]).collect());
}

#[test]
#[ignore = "needs corpora"]
fn the_bundles_of_the_reference_go_out_as_they_came() {
    let folder = corpus("data/aimem/corpus");
    let files = ["valid", "edge"].map(|kind| files(&folder.join(kind)));
    let bundles: Vec<_> = files
        .into_iter()
        .flatten()
        .map(|(_, bytes)| bytes)
        .collect();
    assert_eq!(bundles.len(), 14);
    bundles_go_out(bundles);
}

fn bundles_go_out(bundles: Vec<Vec<u8>>) {
    for bytes in bundles {
        let bundle = json(std::str::from_utf8(&bytes).unwrap());
        let store = store_of(&bytes);
        let (text, loss) = export(&store, Format::Aimem, &all().1);
        assert_eq!(json(&text), bundle);
        assert!(loss.is_empty(), "{loss:?}");
        // A stream of it says the same, and imports as nothing new.
        let (text, _) = export(&store, Format::AimemNdjson, &all().1);
        let stream = aimem::read_stream(text.as_bytes(), Profile::Extended).unwrap();
        assert!(
            stream
                .records
                .iter()
                .all(|record| store.exists(&record.grain.address()).unwrap())
        );
    }
}

#[test]
fn an_omi_file_goes_out_as_it_came_with_all_that_nobody_knows() {
    let mut texts = vec![(text_of(&super::omi::sample()), "json".to_owned())];
    for format in [Format::Omi, Format::OmiJsonl] {
        for path in valid(format) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            texts.push((std::fs::read_to_string(&path).unwrap(), name));
        }
    }
    omi_files_go_out(texts);
}

#[test]
#[ignore = "needs corpora"]
fn the_valid_fixtures_of_omi_go_out_as_they_came() {
    let files = files(&corpus("data/omi/fixtures/valid")).into_iter();
    let texts: Vec<_> = files
        .map(|(name, bytes)| (String::from_utf8(bytes).unwrap(), name))
        .collect();
    assert_eq!(texts.len(), 11);
    omi_files_go_out(texts);
}

fn omi_files_go_out(texts: Vec<(String, String)>) {
    for (text, name) in texts {
        let store = store_of(text.as_bytes());
        if name.ends_with("jsonl") {
            let (out, loss) = export(&store, Format::OmiJsonl, &all().1);
            assert_eq!(values(&out), values(&text), "{name}");
            assert!(loss.is_empty());
        } else {
            let (out, loss) = export(&store, Format::Omi, &all().1);
            assert_eq!(json(&out), json(&text), "{name}");
            assert!(loss.is_empty());
            let (lines, _) = export(&store, Format::OmiJsonl, &all().1);
            let read = omi::read_lines(lines.as_bytes(), &ReadOptions::default()).unwrap();
            assert!(read.records.len() >= values(&lines).len());
        }
    }
}

/// Takes away what the narrow form of a memory adds or leaves out.
fn meaning(value: &Value) -> Value {
    let Value::Map(map) = value else {
        return value.clone();
    };
    let mut plain = Map::new();
    for (name, value) in map.iter() {
        let is_default = match (name, value) {
            (_, Value::Nil) => true,
            ("tags" | "shared_with", Value::Array(items)) => items.is_empty(),
            ("status", status) => status.as_text() == Some("active"),
            ("visibility", visibility) => visibility.as_text() == Some("private"),
            ("exportable", exportable) => exportable.as_bool() == Some(true),
            _ => false,
        };
        if !is_default {
            plain.insert(name, meaning(value));
        }
    }
    Value::Map(plain)
}

fn by_id(store: &Value, name: &str) -> Vec<(String, Value)> {
    let items = store.as_map().unwrap().get(name);
    let items = items.and_then(Value::as_array).unwrap_or_default().iter();
    let id = |item: &Value| {
        item.as_map()
            .unwrap()
            .get("id")
            .unwrap()
            .as_text()
            .unwrap()
            .to_owned()
    };
    let mut items: Vec<_> = items.map(|item| (id(item), meaning(item))).collect();
    items.sort_by(|a, b| a.0.cmp(&b.0));
    items
}

#[test]
fn a_memory_store_goes_out_meaning_the_same_with_its_conversations() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let store = memory();
    read_file(&store, &source);
    let folder = tempfile::tempdir().unwrap();
    let (filter, options) = all();
    let exported = store
        .admin()
        .unwrap()
        .export_file(Format::Pam, &filter, &options, folder.path())
        .unwrap();
    assert!(exported.files > 1, "{exported:?}");
    let parse = |path: PathBuf| Value::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (before, after) = (source.join(pam::STORE), folder.path().join(pam::STORE));
    let (before, after) = (parse(before), parse(after));
    for name in ["relations", "conversations_index"] {
        assert_eq!(by_id(&after, name), by_id(&before, name), "{name}");
    }
    let memories = |store: &Value| by_id(store, "memories");
    let kept = memories(&after);
    let kept: std::collections::BTreeMap<_, _> = kept.into_iter().collect();
    let mut shared = 0;
    for (id, memory) in memories(&before) {
        let mut memory = memory.as_map().unwrap().clone();
        let access = memory.get("access").and_then(Value::as_map);
        if access.and_then(|access| access.get("exportable")) == Some(&Value::Bool(false)) {
            assert!(!kept.contains_key(&id), "{id} is not to be exported");
            continue;
        }
        memory.remove("embedding_ref");
        assert_eq!(kept[&id], Value::Map(memory));
        shared += 1;
    }
    assert_eq!(shared, kept.len());
    for (path, _) in conversations(&before) {
        let (before, after) = (parse(source.join(&path)), parse(folder.path().join(&path)));
        let sorted = |value: &Value| by_id(value, "messages");
        assert_eq!(sorted(&after), sorted(&before));
        let rest = |value: &Value| {
            let mut map = value.as_map().unwrap().clone();
            map.remove("messages");
            map
        };
        assert_eq!(rest(&after), rest(&before));
    }
    // The narrow form is read without a complaint.
    let import = pam::read(folder.path(), &ReadOptions::default()).unwrap();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
}

fn conversations(store: &Value) -> Vec<(String, ())> {
    let index = store.as_map().unwrap().get("conversations_index");
    let entries = index.and_then(Value::as_array).unwrap_or_default().iter();
    entries
        .filter_map(|entry| {
            let storage = entry.as_map()?.get("storage")?.as_map()?;
            Some((storage.get("ref")?.as_text()?.to_owned(), ()))
        })
        .collect()
}

/// A store with grains of every type and origin, some of them superseded and contradicted.
pub(super) fn mixed() -> Store {
    let store = memory();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    read_file(&store, &data.join("grains.jsonl"));
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a", text_of(&super::aimem::sample())),
        ("o", text_of(&super::omi::sample())),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
        read_file(&store, &folder.path().join(name));
    }
    read_file(&store, &data.join("pam"));
    let old = Draft::belief("a", "likes", "b")
        .confidence(0.5)
        .created_at(Time::from_ms(-5));
    let old = store.put(old).unwrap();
    let new = Draft::belief("a", "likes", "c")
        .confidence(1.0)
        .derived_from(old);
    store.supersede(&old, new, Some("changed")).unwrap();
    let other = store.put(Draft::event("a\u{0}b \u{301}")).unwrap();
    store.contradict(&other, None).unwrap();
    store
}

fn contents(store: &Store) -> Vec<(grainstore::ContentAddress, Status)> {
    let mut addresses = store.list(None, usize::MAX).unwrap().addresses;
    addresses.sort();
    addresses
        .into_iter()
        .map(|address| (address, store.status(&address).unwrap()))
        .collect()
}

#[test]
fn grains_of_every_origin_come_back_through_omi_with_their_status() {
    let store = mixed();
    for format in [Format::Omi, Format::OmiJsonl] {
        let (text, loss) = export(&store, format, &all().1);
        let kept: Vec<_> = loss.iter().collect();
        // What its owner keeps back stays back (PAM 21.1).
        assert!(
            kept.iter().all(|(name, _)| *name == "not exportable"),
            "{kept:?}"
        );
        let kept_back = kept.iter().map(|(_, count)| *count).sum::<u64>();
        let copy = store_of(text.as_bytes());
        let copied = contents(&copy);
        let expected = contents(&store);
        let missing: Vec<_> = expected.iter().filter(|it| !copied.contains(it)).collect();
        // A stream's envelope says that it is one, and is another grain.
        let is_stream = u64::from(format == Format::OmiJsonl);
        assert_eq!(missing.len() as u64, kept_back + is_stream, "{missing:?}");
        let new = copied.iter().filter(|it| !expected.contains(it)).count();
        assert_eq!(new as u64, is_stream);
    }
}

#[test]
fn grains_come_back_through_a_memory_store_with_their_status() {
    let store = memory();
    read_file(
        &store,
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/grains.jsonl"),
    );
    let old = store
        .put(Draft::belief("a", "mg:prefers", "b").confidence(0.5))
        .unwrap();
    let new = Draft::belief("a", "mg:prefers", "c")
        .confidence(1.0)
        .derived_from(old);
    store.supersede(&old, new, None).unwrap();
    let strangers = memory();
    for user in ["one", "another"] {
        strangers.put(Draft::event("hello").user(user)).unwrap();
    }
    let refused =
        strangers
            .admin()
            .unwrap()
            .export(Format::Pam, &all().0, &all().1, &mut Vec::new());
    assert_eq!(refused.unwrap_err().code(), "PAM_MIXED_OWNERS");
    let (text, loss) = export(&store, Format::Pam, &all().1);
    assert!(loss.is_empty(), "{loss:?}");
    let copy = store_of(text.as_bytes());
    let expected = contents(&store);
    let copied = contents(&copy);
    let missing: Vec<_> = expected.iter().filter(|it| !copied.contains(it)).collect();
    assert_eq!(missing, Vec::<&_>::new());
    // Besides them there is the grain of the file as a whole.
    assert_eq!(copied.len(), expected.len() + 1);
}

#[test]
fn an_extension_counts_only_while_it_says_what_its_record_says() {
    let store = memory();
    store
        .put(Draft::event("hello").created_at(Time::from_ms(1)))
        .unwrap();
    let (text, _) = export(&store, Format::Omi, &all().1);
    let address = store.list(None, 1).unwrap().addresses[0];
    assert!(store_of(text.as_bytes()).exists(&address).unwrap());
    let edited = text.replace("\"content\":\"hello\"", "\"content\":\"hallo\"");
    let copy = store_of(edited.as_bytes());
    assert!(!copy.exists(&address).unwrap());
    assert_eq!(copy.maintenance().unwrap().stats().unwrap().grains, 2);
}

#[test]
fn what_a_bundle_cannot_carry_is_counted_and_its_scopes_are_kept() {
    let store = mixed();
    let (filter, mut options) = all();
    let mut bytes = Vec::new();
    let refused = store
        .admin()
        .unwrap()
        .export(Format::Aimem, &filter, &options, &mut bytes);
    assert_eq!(refused.unwrap_err().code(), "mixed_producers");
    options.producer = Some("test".into());
    let (text, loss) = export(&store, Format::Aimem, &options);
    assert!(loss.iter().any(|(name, _)| name == "of another producer"));
    let import = aimem::read(text.as_bytes(), Profile::Extended).unwrap();
    assert!(
        import
            .records
            .iter()
            .all(|record| store.exists(&record.grain.address()).unwrap())
    );

    options.scope = aimem::Scope::DnaOnly;
    let (text, _) = export(&store, Format::Aimem, &options);
    let import = aimem::read(text.as_bytes(), Profile::Extended).unwrap();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    // The entity is linked to a pinned fact; the edge ends at a goal.
    assert_eq!(import.records.len(), 1 + 6 + 1 + 1);

    options.scope = aimem::Scope::Since(Time::parse("2027-01-01T00:00:00Z").unwrap());
    let (text, _) = export(&store, Format::Aimem, &options);
    let bundle = json(&text);
    assert_eq!(
        bundle.get("since").and_then(Value::as_text),
        Some("2027-01-01T00:00:00Z")
    );
    assert_eq!(bundle.get("chunks").unwrap().as_array().unwrap().len(), 0);

    // This store's own grains go out under their addresses, and come back as chunks.
    let store = memory();
    let address = store
        .put(
            Draft::belief("a", "mg:avoids", "b")
                .confidence(0.5)
                .tag("x")
                .namespace("n"),
        )
        .unwrap();
    let (text, loss) = export(&store, Format::Aimem, &all().1);
    let lost: Vec<_> = loss.iter().collect();
    assert_eq!(
        lost,
        [
            ("confidence", 1),
            ("namespace", 1),
            ("relation", 1),
            ("subject", 1)
        ]
    );
    let copy = store_of(text.as_bytes());
    let resolved = copy
        .resolve(&ForeignId::new("aimem", "grainstore", address.to_string()))
        .unwrap();
    assert!(grainstore::policy::is_lasting(
        &copy.get(&resolved.unwrap()).unwrap().unwrap()
    ));
    let (again, _) = export(&copy, Format::Aimem, &all().1);
    assert_eq!(again, text, "what was exported is exported again as it is");
}

#[test]
fn vectors_go_out_only_when_they_are_asked_for() {
    let mut bundle = super::aimem::sample();
    bundle.insert("embedding_dim", 1);
    bundle.insert("embedding_model", "m");
    super::foreign::edit(&mut bundle, "chunks/0/embedding", Some("\"AACAPw==\""));
    super::aimem::seal(&mut bundle);
    let store = store_of(text_of(&bundle).as_bytes());
    let (text, _) = export(&store, Format::Aimem, &all().1);
    assert_eq!(json(&text), bundle);
    let (text, loss) = export(&store, Format::Aimem, &WriteOptions::default());
    assert!(!text.contains("AACAPw==") && !text.contains("embedding_model"));
    assert_eq!(loss.iter().collect::<Vec<_>>(), [("embedding", 1)]);
    assert!(aimem::read(text.as_bytes(), Profile::Extended).is_ok());
}

#[test]
fn hostile_json_has_a_name_in_every_format() {
    let bundle = text_of(&super::aimem::sample());
    let file = text_of(&super::omi::sample());
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let cases: [(&str, &str, &str); 6] = [
        (
            "\"x_vendor\":[null,1.0]",
            "\"x_vendor\":1,\"x_vendor\":1",
            "json.duplicate-key",
        ),
        (
            "\"x_vendor\":[null,1.0]",
            "\"x_vendor\":\"\\udc00\"",
            "json.syntax",
        ),
        ("\"x_vendor\":[null,1.0]", "\"x_vendor\":NaN", "json.syntax"),
        (
            "\"x_vendor\":[null,1.0]",
            "\"x_vendor\":1e999",
            "json.syntax",
        ),
        (
            "\"x_vendor\":[null,1.0]",
            "\"x_vendor\":99999999999999999999",
            "json.syntax",
        ),
        (
            "\"x_vendor\":[null,1.0]",
            &format!("\"x_vendor\":{deep}"),
            "json.syntax",
        ),
    ];
    for (from, to, code) in cases {
        assert!(bundle.contains(from));
        let errors = aimem::read(bundle.replace(from, to).as_bytes(), Profile::Extended);
        assert_eq!(errors.unwrap_err()[0].code(), "not_object", "{to:.40}");
        let to = to.replace("x_vendor", "x_hint");
        let text = file.replace("\"x_hint\":null", &to);
        let errors = omi::read(text.as_bytes(), &ReadOptions::default());
        assert_eq!(errors.unwrap_err()[0].code(), code, "{to:.40}");
    }
    let marked = format!("\u{feff}{bundle}");
    let errors = aimem::read(marked.as_bytes(), Profile::Extended).unwrap_err();
    assert_eq!(errors[0].code(), "not_object");
}

#[test]
fn what_its_owner_keeps_back_leaves_in_no_format_and_nothing_names_it() {
    let store = memory();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let text = std::fs::read_to_string(data.join(pam::STORE)).unwrap();
    let mut file = json(&text);
    file.remove("conversations_index");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(pam::STORE);
    let read = |file: &Map| {
        std::fs::write(&path, text_of(file)).unwrap();
        let options = ReadOptions {
            accept_bad_checksum: true,
            ..ReadOptions::default()
        };
        let reading = ImportFile::open(&path, None, &options).unwrap();
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
        store.import(reading).unwrap()
    };
    read(&file);
    // Its owner changes their mind about one that relations name.
    let relations = file.get("relations").and_then(Value::as_array).unwrap();
    let name = |item: &Value, name: &str| {
        let text = item.as_map().unwrap().get(name).unwrap();
        text.as_text().unwrap().to_owned()
    };
    let hidden = name(&relations[0], "to");
    let memories = file.get("memories").and_then(Value::as_array).unwrap();
    let at = memories.iter().position(|it| name(it, "id") == hidden);
    let at = at.unwrap();
    let content = name(&memories[at], "content");
    let access = "{\"visibility\": \"private\", \"exportable\": false}";
    super::foreign::edit(&mut file, &format!("memories/{at}/access"), Some(access));
    let later = "\"2036-01-01T00:00:00Z\"";
    let updated_at = format!("memories/{at}/temporal/updated_at");
    super::foreign::edit(&mut file, &updated_at, Some(later));
    assert_eq!(read(&file).updated, 1);
    let address = store
        .resolve(&ForeignId::new("pam", "mira-okafor", hidden.as_str()))
        .unwrap()
        .unwrap();
    let options = WriteOptions {
        shareable: true,
        ..all().1
    };
    for format in [
        Format::Pam,
        Format::Omi,
        Format::OmiJsonl,
        Format::Aimem,
        Format::AimemNdjson,
        Format::Jsonl,
    ] {
        let (text, loss) = export(&store, format, &options);
        for secret in [&content, &hidden, &address.to_string()] {
            assert!(!text.contains(secret.as_str()), "{format} tells {secret}");
        }
        let lost: Vec<_> = loss.iter().map(|(name, _)| name).collect();
        assert!(lost.contains(&"not exportable"), "{format}: {lost:?}");
    }
    // A backup has everything.
    let (text, _) = export(&store, Format::Jsonl, &all().1);
    assert!(text.contains(&content));
}
