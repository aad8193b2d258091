//! What a program sees that knows a format and nothing of this one: the memories of each sample, in
//! sentences, with their dates. What it sees of each is in `snapshots/`, for a person to read;
//! `INSTA_UPDATE=always cargo test stranger` writes it anew.

use std::fmt::Write as _;

use super::*;

/// The samples: grains of this program, one of each format, and the exports of all providers.
const SAMPLES: [&str; 9] = [
    "examples/data/grains.jsonl",
    "test-vectors/interchange/pam/garden",
    "test-vectors/interchange/aimem/notes.json",
    "test-vectors/interchange/omi/notes.json",
    "test-vectors/interchange/chatgpt",
    "test-vectors/interchange/claude",
    "test-vectors/interchange/copilot",
    "test-vectors/interchange/gemini",
    "test-vectors/interchange/grok",
];

fn sample(path: &str) -> Store {
    let store = memory();
    read_file(&store, &Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    store
}

/// A memory as a reader of a format sees it: its date and its text.
type Seen = (String, String);

/// Returns the objects of an array of a document.
fn objects<'a>(document: &'a Value, name: &str) -> Vec<&'a Map> {
    let items = document.as_map().and_then(|map| map.get(name)?.as_array());
    let items = items.unwrap_or_default().iter();
    items.filter_map(Value::as_map).collect()
}

fn seen(date: Option<&Value>, text: Option<&Value>) -> Seen {
    let date = date.and_then(Value::as_text).unwrap();
    let date = Time::parse(date).unwrap().to_string();
    let text = text.and_then(Value::as_text).unwrap_or_default();
    (date, text.to_owned())
}

fn in_omi(store: &Store) -> Vec<Seen> {
    let (text, _) = export(store, Format::Omi, &all().1);
    let document = Value::Map(json(&text));
    let memories = objects(&document, "memories").into_iter();
    let memories = memories.map(|memory| seen(memory.get("created"), memory.get("content")));
    memories.collect()
}

fn in_aimem(store: &Store) -> Vec<Seen> {
    let (text, _) = export(store, Format::Aimem, &all().1);
    let document = Value::Map(json(&text));
    let chunks = objects(&document, "chunks").into_iter();
    let chunks = chunks.map(|chunk| seen(chunk.get("created_at"), chunk.get("content")));
    chunks.collect()
}

/// Returns the folder of a store in PAM: the document, and the conversations beside it.
fn folder_in_pam(store: &Store) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (filter, options) = all();
    let admin = store.admin().unwrap();
    let exported = admin.export_file(Format::Pam, &filter, &options, folder.path());
    exported.unwrap();
    folder
}

/// Returns the memories, and the messages of the conversations beside them.
fn in_pam(store: &Store) -> (Vec<Seen>, Vec<Seen>) {
    let folder = folder_in_pam(store);
    let read = |path: &Path| Value::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let document = read(&folder.path().join(pam::STORE));
    let memories = objects(&document, "memories").into_iter().map(|memory| {
        let temporal = memory.get("temporal").and_then(Value::as_map).unwrap();
        seen(temporal.get("created_at"), memory.get("content"))
    });
    let memories: Vec<_> = memories.collect();
    let integrity = document.as_map().unwrap().get("integrity");
    let total = integrity.and_then(|it| it.as_map()?.get("total_memories")?.as_i64());
    assert_eq!(total, i64::try_from(memories.len()).ok());
    let mut messages = Vec::new();
    for entry in objects(&document, "conversations_index") {
        let storage = entry.get("storage").and_then(Value::as_map);
        let path = storage.and_then(|it| it.get("ref")?.as_text());
        let Some(path) = path.filter(|path| folder.path().join(path).is_file()) else {
            continue;
        };
        let conversation = read(&folder.path().join(path));
        for message in objects(&conversation, "messages") {
            let content = message.get("content").and_then(Value::as_map);
            let text = content.and_then(|content| content.get("text"));
            messages.push(seen(message.get("created_at"), text));
        }
    }
    (memories, messages)
}

/// Returns the memories of a store, each current one marked: what is no part of the plumbing.
fn memories_of(store: &Store, in_pam: bool) -> Vec<(String, bool)> {
    let found = found_in(store).into_iter();
    let memories = found.filter(|found| {
        let grain = &found.grain;
        let relation = grain.text("relation").unwrap_or_default();
        let links = [
            "pam:rel",
            "omi:rel",
            "aimem:edge",
            "aimem:entity",
            "aimem:mentions",
        ];
        let context = grain.field("context").and_then(Value::as_map);
        let of_pam = context.and_then(|context| context.get("x-pam")?.as_text());
        let is_conversation = grain.type_() == grainstore::Type::State && of_pam.is_some();
        !is_conversation
            && !of_pam.is_some_and(is_kept_back)
            && !links.iter().any(|link| relation.starts_with(link))
    });
    let dates = memories.map(|found| {
        // A message in PAM has the time at which it was said.
        let said = found.grain.field("timestamp_ms").and_then(Value::as_i64);
        let said = said.filter(|_| in_pam && found.grain.text("role").is_some());
        let date = said
            .map_or(found.grain.created_at(), Time::from_ms)
            .to_string();
        (date, found.status.is_current())
    });
    dates.collect()
}

/// Returns whether the owner of a memory keeps it from others (PAM 21.1).
fn is_kept_back(record: &str) -> bool {
    let record = json(record);
    let access = record.get("access").and_then(Value::as_map);
    access.and_then(|access| access.get("exportable")) == Some(&Value::Bool(false))
}

fn is_sentence(text: &str) -> bool {
    let is_plumbing = ["x-pam", "x-omi", "x-aimem", "grainstore:"]
        .iter()
        .any(|start| text.trim_start().starts_with(start));
    let is_json = text.contains("{\"") || text.contains("[\"");
    text.chars().any(char::is_alphanumeric) && !is_plumbing && !is_json
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items
}

#[test]
fn a_stranger_sees_every_memory_as_a_sentence_with_its_date_and_nothing_else() {
    for path in SAMPLES {
        let store = sample(path);
        let dates = |current: bool, in_pam: bool| {
            let expected = memories_of(&store, in_pam);
            let some = expected.iter().filter(|(_, is)| *is || !current);
            sorted(some.map(|(date, _)| date.clone()).collect::<Vec<_>>())
        };
        let dates_seen = |seen: &[Seen]| {
            let dates = seen.iter().map(|(date, _)| date.clone());
            sorted(dates.collect::<Vec<_>>())
        };
        let (memories, messages) = in_pam(&store);
        let (in_omi, in_aimem) = (in_omi(&store), in_aimem(&store));
        let in_pam = [memories.as_slice(), &messages].concat();
        assert_eq!(dates_seen(&in_omi), dates(false, false), "{path} as omi");
        assert_eq!(dates_seen(&in_aimem), dates(true, false), "{path} as aimem");
        assert_eq!(dates_seen(&in_pam), dates(false, true), "{path} as pam");
        for (_, text) in in_omi.iter().chain(&in_aimem).chain(&memories) {
            assert!(is_sentence(text), "{path}: {text}");
        }
    }
}

#[test]
fn what_an_owner_keeps_back_is_counted_and_everything_else_leaves() {
    let store = sample("test-vectors/interchange/pam/garden");
    for format in [Format::Omi, Format::Aimem, Format::Pam] {
        let (text, loss) = export(&store, format, &all().1);
        assert!(!text.contains("rain gauge"), "{format}: {text}");
        let kept_back = loss.iter().find(|(name, _)| *name == "not exportable");
        assert_eq!(kept_back, Some(("not exportable", 1)), "{format}: {loss:?}");
    }
}

#[test]
fn what_a_stranger_sees_of_each_sample_is_written_down() {
    for path in SAMPLES {
        let store = sample(path);
        let (memories, messages) = in_pam(&store);
        let mut text = format!("{path}\n");
        for (name, seen) in [
            ("PAM, memories", memories),
            ("PAM, messages", messages),
            ("OMI, memories", in_omi(&store)),
            ("AIMEM, chunks", in_aimem(&store)),
        ] {
            writeln!(text, "\n{name}: {}", seen.len()).unwrap();
            for (date, content) in seen {
                let content = content.escape_debug().to_string().replace("\\'", "'");
                writeln!(text, "  {date}  {}", content.replace("\\\"", "\"")).unwrap();
            }
        }
        let name = path.trim_start_matches("test-vectors/interchange/");
        let name = name.split('.').next().unwrap_or(name).replace('/', "_");
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, text));
    }
}

/// Loads a store with the SDK of the format, validates it, and shows what it sees.
const PROGRAM: &str = "
import json, sys
import portable_ai_memory as pam
store = pam.load_memory_store(sys.argv[1])
found = pam.validate_memory_store(store)
print(json.dumps({
    'issues': [] if found.is_valid else [str(issue) for issue in found.issues],
    'total': store.integrity.total_memories,
    'memories': [[m.temporal.created_at.isoformat(), m.content] for m in store.memories],
}))
";

#[test]
#[ignore = "needs the PAM SDK"]
fn the_sdk_of_pam_sees_every_memory_of_a_store_and_finds_it_valid() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pam-sdk/bin/python");
    for path in SAMPLES {
        let store = sample(path);
        let folder = folder_in_pam(&store);
        let file = folder.path().join(pam::STORE);
        let ran = std::process::Command::new(&python)
            .args(["-c", PROGRAM])
            .arg(&file)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{path}: {stderr}");
        let said = Value::Map(json(std::str::from_utf8(&ran.stdout).unwrap()));
        let said = said.as_map().unwrap();
        assert_eq!(
            said.get("issues"),
            Some(&Value::Array(Vec::new())),
            "{path}"
        );
        let memories = said.get("memories").and_then(Value::as_array).unwrap();
        let seen_by_sdk = memories.iter().map(|memory| {
            let pair = memory.as_array().unwrap();
            seen(pair.first(), pair.get(1))
        });
        let seen_by_sdk: Vec<_> = seen_by_sdk.collect();
        assert_eq!(seen_by_sdk, in_pam(&store).0, "{path}");
    }
}
