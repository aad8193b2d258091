//! What providers export: both shapes of each, branches kept, times never made up, twice the same.

use std::io::Write as _;
use std::path::Path;

use grainstore::codec::{Profile, Value};
use grainstore::grain::{ForeignId, Grain, Type};
use grainstore::interchange::provider::Provider;
use grainstore::interchange::{Error, Format, ImportFile, ReadOptions, Record, WriteOptions};
use grainstore::{Options, Store};

use super::foreign::codes;
use crate::whole::{Import, pam, provider};

mod counted;
mod kinds;
mod once;
mod pinned;

fn read(provider: Provider, name: &str, text: &str) -> Result<Import, Vec<Error>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    assert_eq!(Format::detect(&path).unwrap(), Format::Provider(provider));
    provider::read(&path, provider, Profile::Extended)
}

fn events(import: &Import) -> Vec<&Record> {
    let records = import.records.iter();
    records
        .filter(|record| record.grain.type_() == Type::Event)
        .collect()
}

fn by_id<'a>(import: &'a Import, id: &str) -> &'a Grain {
    let is_it = |record: &&Record| record.foreign_id.as_ref().is_some_and(|it| it.id() == id);
    &import.records.iter().find(is_it).unwrap().grain
}

fn parent(grain: &Grain) -> Option<&str> {
    grain.text("parent_message_id")
}

const CHATGPT: &str = r#"[{"id": "c1", "title": "Tea", "create_time": 1700000000.123456,
 "update_time": 1700000100, "current_node": "a2", "default_model_slug": "gpt",
 "mapping": {
  "root": {"id": "root", "parent": null, "children": ["q"], "message": null},
  "q": {"id": "q", "parent": "root", "children": ["a1", "gap"], "message": {"id": "q",
    "author": {"role": "user"}, "create_time": 1700000001.5,
    "content": {"content_type": "text", "parts": ["green or black?"]}}},
  "gap": {"id": "gap", "parent": "q", "children": ["a2"], "message": null},
  "a1": {"id": "a1", "parent": "q", "children": [], "message": {"author": {"role": "assistant"},
    "create_time": 1700000002, "weight": 0, "metadata": {"model_slug": "gpt-x"},
    "content": {"content_type": "text", "parts": ["green"]}}},
  "a2": {"id": "a2", "parent": "gap", "children": ["t"], "message": {"author": {"role": "assistant"},
    "create_time": null, "recipient": "python", "content": {"content_type": "code", "text": "1+1"}}},
  "t": {"id": "t", "parent": "a2", "children": ["th"], "message": {"author": {"role": "tool",
    "name": "python"}, "create_time": 1700000003,
    "content": {"content_type": "execution_output", "text": "2"}}},
  "th": {"id": "th", "parent": "t", "children": [], "message": {"author": {"role": "assistant"},
    "create_time": 1700000004, "content": {"content_type": "thoughts",
    "thoughts": [{"content": "hm"}]}}},
  "im": {"id": "im", "parent": "nowhere", "children": [], "message": {"author": {"role": "user"},
    "create_time": 1700000005, "content": {"content_type": "multimodal_text", "parts":
    ["look", {"content_type": "image_asset_pointer", "asset_pointer": "sediment://f"}]}}}
 }}]"#;

#[test]
fn a_chatgpt_conversation_keeps_its_branches_tools_and_thoughts() {
    let import = read(Provider::Chatgpt, "conversations.json", CHATGPT).unwrap();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    assert_eq!(events(&import).len(), 6);
    let q = by_id(&import, "q");
    let address = q.address().to_string();
    assert_eq!(parent(by_id(&import, "a1")), Some(address.as_str()));
    assert_eq!(
        parent(by_id(&import, "a2")),
        Some(address.as_str()),
        "past a node without message"
    );
    assert_eq!(parent(by_id(&import, "im")), None);
    assert_eq!(q.text("content"), Some("green or black?"));
    assert_eq!(q.created_at().ms(), 1_700_000_001_500);
    // No time of its own: the conversation's, and never that of the import.
    assert_eq!(by_id(&import, "a2").created_at().ms(), 1_700_000_000_123);
    assert_eq!(by_id(&import, "a1").text("model_id"), Some("gpt-x"));
    let kinds = |id: &str| -> Vec<String> {
        let blocks = by_id(&import, id).field("content_blocks").unwrap();
        let blocks = blocks.as_array().unwrap().iter();
        let kind = |block: &Value| {
            let kind = block.as_map().unwrap().get("type").unwrap();
            kind.as_text().unwrap().to_owned()
        };
        blocks.map(kind).collect()
    };
    assert_eq!(kinds("a2"), ["text", "tool_use"]);
    assert_eq!(kinds("t"), ["text", "tool_result"]);
    assert_eq!(kinds("th"), ["thinking"]);
    assert_eq!(kinds("im"), ["text", "image"]);
    let talk = by_id(&import, "c1");
    assert_eq!(
        (talk.type_(), talk.text("session_id")),
        (Type::State, Some("c1"))
    );
    let document = pam::conversation_residual(talk).unwrap();
    let raw = document.as_map().unwrap().get("raw_metadata").unwrap();
    assert_eq!(
        raw.as_map().unwrap().get("current_node").unwrap().as_text(),
        Some("a2")
    );
}

#[test]
fn an_export_is_read_as_a_file_a_folder_or_a_zip_and_twice_is_once() {
    let folder = tempfile::tempdir().unwrap();
    let shards = folder.path().join("export/nested");
    std::fs::create_dir_all(&shards).unwrap();
    let other = CHATGPT.replace("\"c1\"", "\"c2\"");
    std::fs::write(shards.join("conversations-000.json"), CHATGPT).unwrap();
    std::fs::write(shards.join("conversations-001.json"), &other).unwrap();
    std::fs::write(shards.join("user.json"), "{\"id\": \"user-1\"}").unwrap();
    std::fs::write(shards.join("notes.json"), "no JSON").unwrap();
    let feedback = "[{\"message_id\": \"a1\", \"rating\": \"thumbs_up\"}]";
    std::fs::write(shards.join("message_feedback.json"), feedback).unwrap();
    let zip = folder.path().join("export.zip");
    let names = [
        "conversations-000.json",
        "conversations-001.json",
        "user.json",
        "message_feedback.json",
    ];
    pack(
        &zip,
        names.iter().map(|name| {
            (
                format!("deep/{name}"),
                std::fs::read_to_string(shards.join(name)).unwrap(),
            )
        }),
    );
    let store = Store::in_memory(Options::default()).unwrap();
    let import = |path: &Path| {
        let reading = ImportFile::open(path, None, &ReadOptions::default()).unwrap();
        assert_eq!(reading.format, Format::Provider(Provider::Chatgpt));
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
        store.import(reading).unwrap()
    };
    let first = import(&folder.path().join("export"));
    assert_eq!((first.inserted, first.is_complete()), (14, true));
    for path in [zip, folder.path().join("export")] {
        let again = import(&path);
        assert_eq!(
            (again.inserted, again.unchanged, again.conflicts.len()),
            (0, 14, 0)
        );
    }
    let a1 = store
        .resolve(&ForeignId::new(
            "chatgpt:message",
            "[\"user-1\",\"c1\"]",
            "a1",
        ))
        .unwrap()
        .unwrap();
    let a1 = store.get(&a1).unwrap().unwrap();
    assert!(pam::residual(&a1).unwrap().to_json().contains("thumbs_up"));
    assert_eq!(a1.text("user_id"), Some("user-1"));
}

fn pack(path: &Path, files: impl Iterator<Item = (String, String)>) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, text) in files {
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file(name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn a_zip_whose_names_lead_out_of_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "../conversations.json",
        "a/../../conversations.json",
        "/conversations.json",
    ] {
        let zip = folder.path().join("x.zip");
        pack(&zip, std::iter::once((name.to_owned(), CHATGPT.to_owned())));
        let errors = provider::read(&zip, Provider::Chatgpt, Profile::Extended).unwrap_err();
        assert_eq!(codes(&errors), ["PROVIDER_ZIP"], "{name}");
    }
    let broken = folder.path().join("y.zip");
    std::fs::write(&broken, b"PK\x03\x04 and nothing").unwrap();
    let errors = provider::read(&broken, Provider::Claude, Profile::Extended).unwrap_err();
    assert_eq!(codes(&errors), ["PROVIDER_ZIP"]);
}

#[test]
fn a_claude_conversation_is_a_line_or_branches_where_it_says_so() {
    let linear = r#"[{"uuid": "c", "name": "n", "summary": "s", "created_at": "2026-01-01T00:00:00.000001Z",
     "updated_at": "2026-01-01T00:10:00Z", "account": {"uuid": "me"}, "chat_messages": [
      {"uuid": "1", "sender": "human", "text": "hi", "created_at": "2026-01-01T00:00:01Z",
       "content": [{"type": "text", "text": "hi"}], "attachments": [{"file_name": "a.txt",
       "file_size": 3, "extracted_content": "abc"}], "files": [{"file_name": "b.PNG"}]},
      {"uuid": "2", "sender": "assistant", "text": "", "created_at": "2026-01-01T00:00:02Z",
       "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hello",
        "citations": [{"title": "t", "url": "https://x/"}]},
        {"type": "tool_use", "id": "u", "name": "search", "input": {"q": 1}}]}]}]"#;
    let import = read(Provider::Claude, "conversations.json", linear).unwrap();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    let (one, two) = (by_id(&import, "1"), by_id(&import, "2"));
    // What the assistant thought stands between the question and the answer.
    let thought = by_id(&import, "2/thinking");
    let named = |grain: &Grain| Some(grain.address().to_string());
    assert_eq!(parent(two).map(str::to_owned), named(thought));
    assert_eq!(parent(thought).map(str::to_owned), named(one));
    assert_eq!(thought.text("content"), Some("hm"));
    // The text of a document is found by its words.
    assert_eq!(one.text("content"), Some("hi\nabc"));
    assert_eq!(two.text("content"), None.or(Some("hello")));
    assert_eq!(one.text("user_id"), Some("me"));
    let kept = pam::residual(two).unwrap().to_json();
    assert!(kept.contains("\"thinking\":\"hm\"") && kept.contains("https://x/"));
    let branching = linear
        .replace(
            "\"uuid\": \"1\",",
            "\"uuid\": \"1\", \"parent_message_uuid\": \"00000000-0000-4000-8000-000000000000\",",
        )
        .replace(
            "\"uuid\": \"2\",",
            "\"uuid\": \"2\", \"parent_message_uuid\": \"00000000-0000-4000-8000-000000000000\",",
        );
    let import = read(Provider::Claude, "conversations.json", &branching).unwrap();
    assert_eq!(
        (
            parent(by_id(&import, "1")),
            parent(by_id(&import, "2/thinking"))
        ),
        (None, None)
    );
}

#[test]
fn a_result_of_a_tool_of_claude_is_a_message_of_a_tool() {
    let file = r#"[{"uuid": "c", "name": "n", "created_at": "2026-01-01T00:00:00Z", "chat_messages": [
      {"uuid": "1", "sender": "assistant", "text": "found", "created_at": "2026-01-01T00:00:02Z",
       "content": [{"type": "tool_use", "id": "u", "name": "search", "input": {"q": 1}},
        {"type": "tool_result", "tool_use_id": "u", "name": "search",
         "content": [{"type": "text", "text": "a heron"}]}, {"type": "text", "text": "found"}]},
      {"uuid": "2", "sender": "human", "text": "thanks", "created_at": "2026-01-01T00:00:03Z"}]}]"#;
    let import = read(Provider::Claude, "conversations.json", file).unwrap();
    let result = by_id(&import, "1/result/0");
    assert_eq!(result.text("role"), Some("tool"));
    assert_eq!(result.text("content"), Some("a heron"));
    let address = result.address().to_string();
    assert_eq!(parent(by_id(&import, "2")), Some(address.as_str()));
}

#[test]
fn instructions_transcripts_and_the_archive_of_chatgpt_have_their_places() {
    let node = |id: &str, content: &str| {
        format!(
            r#""{id}": {{"id": "{id}", "parent": null, "message": {{"id": "{id}",
             "author": {{"role": "user"}}, "create_time": 1767225600.0, "content": {content}}}}}"#
        )
    };
    let instructions = r#"{"content_type": "user_editable_context", "user_profile": "a gardener",
        "user_instructions": "be short"}"#;
    let voice = r#"{"content_type": "multimodal_text", "parts": [
        {"content_type": "audio_transcription", "text": "how tall is it"}]}"#;
    let nodes = [node("i", instructions), node("v", voice)].join(", ");
    let file = format!(
        r#"[{{"id": "c", "title": "t", "create_time": 1767225600.0, "is_archived": true,
        "mapping": {{{nodes}}}}}]"#
    );
    let import = read(Provider::Chatgpt, "conversations.json", &file).unwrap();
    assert_eq!(
        by_id(&import, "i").text("content"),
        Some("a gardener\nbe short")
    );
    assert_eq!(by_id(&import, "v").text("content"), Some("how tall is it"));
    let document = pam::conversation_residual(by_id(&import, "c")).unwrap();
    let archived = document.as_map().unwrap().get("is_archived").cloned();
    assert_eq!(archived, Some(Value::Bool(true)));
}

#[test]
fn gemini_records_of_each_shape_become_conversations() {
    let activity = r#"[
     {"header": "Gemini Apps", "title": "Prompted second", "time": "2026-01-01T10:30:00Z",
      "safeHtmlItem": [{"html": "<p>two &amp; more</p>"}]},
     {"header": "Gemini Apps", "title": "Prompted first", "time": "2026-01-01T10:00:00Z"},
     {"header": "Gemini Apps", "title": "Used Gemini", "time": "2026-01-01T09:00:00Z"},
     {"header": "Gemini Apps", "title": "x", "titleUrl": "https://gemini.google.com/app/c/abc-1?x",
      "time": "2025-01-01T00:00:00Z", "products": ["Gemini"],
      "details": [{"name": "Request", "value": "ask"}, {"name": "Response", "value": "tell"}]},
     {"header": "Gemini Apps", "title": "x", "titleUrl": "https://gemini.google.com/app/c/abc-1",
      "time": "2025-01-02T00:00:00Z", "userInteractions": [{"userInteraction":
      {"request": "{\"contents\": 1, \"parts\": [{\"text\": \"again\"}]}", "response": "plain"}}]},
     {"header": "Gemini Apps", "title": "Prompted x", "time": "yesterday"}]"#;
    let import = read(Provider::Gemini, "MyActivity.json", activity).unwrap();
    let said = |session: &str| -> Vec<String> {
        events(&import)
            .iter()
            .filter(|record| record.grain.text("session_id") == Some(session))
            .map(|record| record.grain.text("content").unwrap().to_owned())
            .collect()
    };
    assert_eq!(said("abc-1"), ["ask", "tell", "again", "plain"]);
    let mut other = import
        .records
        .iter()
        .filter_map(|record| record.grain.text("session_id"));
    let other = other.find(|id| *id != "abc-1").unwrap().to_owned();
    assert_eq!(said(&other), ["first", "second", "two & more"]);
    assert_eq!(import.codes(), ["PROVIDER_SHAPE"]);
    assert!(import.findings[0].1.contains("2 records"));
}

#[test]
fn copilot_rows_are_sorted_grouped_and_refused_without_a_time() {
    let rows = "\u{feff}Conversation,Time,Author,Message\r\n\
        Tea,2026-01-01T00:00:01,AI,\"green,\nor \"\"black\"\"\"\r\n\
        Tea,2026-01-01T00:00:01,Human,which?\r\n\
        Tea,soon,Human,lost\r\n\
        Other,1/2/2026 3:04:05 +00:00,Human,hm\r\n";
    let import = read(Provider::Copilot, "copilot-activity-history.csv", rows).unwrap();
    let said: Vec<_> = events(&import)
        .iter()
        .map(|record| {
            (
                record.grain.text("role").unwrap(),
                record.grain.text("content").unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("user", "hm"),
            ("user", "which?"),
            ("assistant", "green,\nor \"black\"")
        ]
    );
    assert_eq!(import.codes(), ["PROVIDER_TIME"]);
    for header in [
        "CreatedAt,MessageContent,Author,ChatName",
        "timestamp,clientapp,prompt",
    ] {
        let row = "2026-01-01T00:00:01,hello,Human,chat\n";
        let import = read(Provider::Copilot, "x.csv", &format!("{header}\n{row}")).unwrap();
        assert_eq!(events(&import).len(), 1, "{header}");
    }
}

#[test]
fn grok_wraps_everything_twice() {
    let export = r#"{"conversations": [{"conversation": {"id": "g", "title": "t", "user_id": "me",
      "create_time": "2026-01-01T00:00:00.5Z", "starred": true},
     "responses": [
      {"response": {"_id": "1", "sender": "HUMAN", "message": "hi",
       "create_time": {"$date": {"$numberLong": "1767225601000"}}}, "share_link": null},
      {"response": {"_id": "2", "parent_response_id": "1", "sender": "grok-3", "message": "",
       "create_time": {"$date": "2026-01-01T00:00:02Z"}, "model": "grok-3",
       "generated_image_urls": ["users/x.png"]}},
      {"response": {"_id": "3", "parent_response_id": "gone", "sender": "human", "message": "bye"}},
      7]}], "projects": []}"#;
    let import = read(Provider::Grok, "prod-grok-backend.json", export).unwrap();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    assert_eq!(events(&import).len(), 3);
    let one = by_id(&import, "1");
    assert_eq!(one.created_at().ms(), 1_767_225_601_000);
    assert_eq!(
        parent(by_id(&import, "2")),
        Some(one.address().to_string().as_str())
    );
    assert_eq!(parent(by_id(&import, "3")), None);
    assert_eq!(by_id(&import, "3").created_at().ms(), 1_767_225_600_500);
}

#[test]
fn hostile_exports_are_refused_or_told_and_never_panic() {
    for (text, code) in [
        ("[{\"mapping\": {}, \"mapping\": {}}]", "PROVIDER_SYNTAX"),
        ("[{\"mapping\": \"\\ud800\"}]", "PROVIDER_SYNTAX"),
        ("[{\"mapping\": NaN}]", "PROVIDER_SYNTAX"),
    ] {
        let errors = read(Provider::Chatgpt, "conversations.json", text).unwrap_err();
        assert_eq!(codes(&errors), [code], "{text}");
    }
    let deep = format!(
        "[{{\"mapping\": {}1{}}}]",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let errors = read(Provider::Chatgpt, "conversations.json", &deep).unwrap_err();
    assert_eq!(codes(&errors), ["PROVIDER_SYNTAX"]);
    // A circle of parents, a conversation without a time, one that comes twice, and no conversation.
    let circle = r#"{"id": "c", "create_time": 1, "mapping": {
        "a": {"id": "a", "parent": "b", "message": {"author": {"role": "user"}}},
        "b": {"id": "b", "parent": "a", "message": {"author": {"role": "user"}}},
        "n": {"id": "n", "parent": "m", "message": null}, "m": {"id": "m", "parent": "n"}}}"#;
    let timeless = r#"{"id": "t", "mapping": {"a": {"id": "a", "message": {}}}}"#;
    let text = format!("[{circle}, {timeless}, {circle}, {{\"mapping\": 1}}, null]");
    let import = read(Provider::Chatgpt, "conversations.json", &text).unwrap();
    let mut found = import.codes();
    found.sort_unstable();
    let expected = [
        "PAM_DUPLICATE_ID",
        "PROVIDER_SHAPE",
        "PROVIDER_SHAPE",
        "PROVIDER_SHAPE",
        "PROVIDER_TIME",
    ];
    assert_eq!(found, expected);
    let errors = provider::read(
        Path::new("Cargo.toml"),
        Provider::Copilot,
        Profile::Extended,
    );
    assert_eq!(codes(&errors.unwrap_err()), ["PROVIDER_SYNTAX"]);
}

const MEMORIES: &str = r#"[{"conversations_memory": "Mira builds boats.", "account_uuid": "acc",
    "project_memories": {"p1": "The hull is done.", "p2": " "}}]"#;

const PROJECTS: &str = r#"[{"uuid": "p1", "name": "Boat", "description": "A wooden one",
    "prompt_template": "Answer in metres.", "created_at": "2026-01-05T00:00:00Z",
    "creator": {"uuid": "acc"}, "is_private": true, "docs": [
    {"uuid": "d1", "filename": "plan.md", "content": "Nine ribs.",
     "created_at": "2026-01-06T00:00:00Z"}, {"filename": "empty.md", "content": ""}]}]"#;

/// The memories of an import: id, relation or type, and what they say.
fn known(import: &Import) -> Vec<(String, String, String)> {
    let records = import.records.iter().filter(|it| {
        let grain = &it.grain;
        grain.type_() == Type::Belief
    });
    let mut known: Vec<_> = records
        .map(|record| {
            let grain = &record.grain;
            let id = record.foreign_id.as_ref().unwrap().id().to_owned();
            let text = |name: &str| grain.text(name).unwrap_or_default().to_owned();
            (id, text("relation"), text("object"))
        })
        .collect();
    known.sort();
    known
}

#[test]
fn what_claude_knows_becomes_memories_as_old_as_the_export() {
    let folder = tempfile::tempdir().unwrap();
    let talks = r#"[{"uuid": "c", "name": "t", "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-02-01T00:00:00Z", "account": {"uuid": "acc"},
        "chat_messages": [{"uuid": "m", "sender": "human", "text": "hi",
        "created_at": "2026-01-01T00:00:00Z"}]}]"#;
    for (name, text) in [
        ("conversations.json", talks),
        ("memories.json", MEMORIES),
        ("projects.json", PROJECTS),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let read = || provider::read(folder.path(), Provider::Claude, Profile::Extended).unwrap();
    let import = read();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    let expected = [
        ("d1", "pam:project", "Nine ribs."),
        ("memory:acc", "pam:context", "Mira builds boats."),
        ("p1", "pam:project", "Boat\nA wooden one"),
        ("p1:instructions", "mg:requires", "Answer in metres."),
        ("project_memory:p1", "pam:project", "The hull is done."),
    ];
    let expected = expected.map(|(id, kind, text)| (id.into(), kind.into(), text.into()));
    assert_eq!(known(&import), expected);
    let time = |id: &str| by_id(&import, id).created_at().to_string();
    assert_eq!(time("d1"), "2026-01-06T00:00:00.000Z");
    assert_eq!(time("p1"), "2026-01-05T00:00:00.000Z");
    assert_eq!(
        time("memory:acc"),
        "2026-02-01T00:00:00.000Z",
        "the newest that is told"
    );
    // What has no place of its own stays with it.
    let project = pam::residual(by_id(&import, "p1")).unwrap().to_json();
    assert!(
        project.contains("is_private") && project.contains("creator"),
        "{project}"
    );
    // Twice the same; what Claude learns later takes the place of what it knew.
    let store = Store::in_memory(Options::default()).unwrap();
    let import = || {
        let reading = ImportFile::open(folder.path(), None, &ReadOptions::default()).unwrap();
        store.import(reading).unwrap()
    };
    assert_eq!(import().inserted, 5 + 2);
    assert_eq!(import().unchanged, 5 + 2);
    let later = MEMORIES.replace("builds boats", "sails");
    std::fs::write(folder.path().join("memories.json"), later).unwrap();
    let summary = import();
    assert_eq!((summary.inserted, summary.updated), (0, 1), "{summary:?}");
}

#[test]
fn what_claude_knows_without_any_time_is_left_out_and_told() {
    let import = read(Provider::Claude, "memories.json", MEMORIES).unwrap();
    assert_eq!(import.codes(), ["PROVIDER_TIME"; 2]);
    assert_eq!(known(&import), []);
    let import = read(Provider::Claude, "projects.json", PROJECTS).unwrap();
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    assert_eq!(known(&import).len(), 3);
}

#[test]
fn what_stands_beside_conversations_of_grok_becomes_memories_or_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let export = r#"{"conversations": [], "tasks": [{"a": 1}], "projects": [{"workspace_id": "w",
        "name": "Boat", "custom_personality": "Be brief.", "preferred_model": "grok-4"}],
        "media_posts": [{"id": "i", "original_prompt": "a boat at night", "media_type": "image",
        "create_time": "2026-01-07T00:00:00Z", "link": "https://x.example/i"}, {"id": "j"}]}"#;
    std::fs::write(folder.path().join("prod-grok-backend.json"), export).unwrap();
    let user = r#"{"user": {"userId": "u", "email": "a@b.example"}}"#;
    std::fs::write(folder.path().join("prod-mc-auth-mgmt-api.json"), user).unwrap();
    let import = provider::read(folder.path(), Provider::Grok, Profile::Extended).unwrap();
    let expected = [
        ("i", "pam:context", "a boat at night"),
        ("w", "pam:project", "Boat\nBe brief."),
    ];
    let expected = expected.map(|(id, kind, text)| (id.into(), kind.into(), text.into()));
    assert_eq!(known(&import), expected);
    assert_eq!(by_id(&import, "w").text("user_id"), Some("u"));
    let told = import.findings.iter();
    let told: Vec<_> = told
        .map(|(place, said)| format!("{place}: {said}"))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("/media_posts/1"), "{told:?}");
    assert!(
        told[1].contains("1 records of tasks are not read"),
        "{told:?}"
    );
}

#[test]
fn an_activity_page_of_gemini_is_refused_by_name_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("Takeout/My Activity/Gemini Apps");
    std::fs::create_dir_all(&below).unwrap();
    let page = "<!DOCTYPE html>\n<html><body><div class=\"outer-cell\">x</div></body></html>";
    std::fs::write(below.join("MyActivity.html"), page).unwrap();
    assert_eq!(
        Format::detect(folder.path()).unwrap(),
        Format::Provider(Provider::Gemini)
    );
    let errors = provider::read(folder.path(), Provider::Gemini, Profile::Extended).unwrap_err();
    assert_eq!(codes(&errors), ["PROVIDER_SHAPE"]);
    assert!(errors[0].to_string().contains("as JSON"), "{}", errors[0]);
    // Where the JSON stands beside it, that is read.
    let activity = r#"[{"header": "Gemini Apps", "title": "Prompted tea?",
        "time": "2026-01-01T00:00:00Z"}]"#;
    std::fs::write(below.join("MyActivity.json"), activity).unwrap();
    let import = provider::read(folder.path(), Provider::Gemini, Profile::Extended).unwrap();
    assert_eq!(events(&import).len(), 1);
}
