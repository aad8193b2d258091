//! One export, in whatever wrapping and however often it comes, is one import; and what its text
//! members say is found by a search.

use super::*;
use grainstore::Filter;

fn import(store: &Store, path: &Path, scope: Option<&str>) -> (u64, u64) {
    let options = ReadOptions {
        scope: scope.map(str::to_owned),
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(path, None, &options).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    let summary = store.import(reading).unwrap();
    assert!(summary.conflicts.is_empty(), "{summary:?}");
    (summary.inserted, summary.updated)
}

const CLAUDE: &str = r#"[{"uuid": "c", "name": "n", "created_at": "2026-01-01T00:00:00Z",
 "account": {"uuid": "me"}, "chat_messages": [
  {"uuid": "1", "sender": "human", "text": "read it", "created_at": "2026-01-01T00:00:01Z",
   "attachments": [{"file_name": "a.txt", "file_size": 3, "extracted_content": "marsupials"}]},
  {"uuid": "2", "sender": "assistant", "text": "done", "created_at": "2026-01-01T00:00:02Z",
   "content": [{"type": "thinking", "thinking": "pondering wombats"},
    {"type": "tool_use", "id": "u", "name": "search", "input": {"q": 1}},
    {"type": "tool_result", "tool_use_id": "u", "name": "search",
     "content": [{"type": "text", "text": "a heron"}]}, {"type": "text", "text": "done"}]}]}]"#;

#[test]
fn an_export_as_a_zip_and_as_json_alone_is_one() {
    let folder = tempfile::tempdir().unwrap();
    for (text, beside, owner, scope) in [
        // The conversations of Claude name their account themselves; those of ChatGPT do not.
        (CLAUDE, ("users.json", "[{\"uuid\": \"me\"}]"), "me", None),
        (
            CHATGPT,
            ("user.json", "{\"id\": \"user-1\"}"),
            "user-1",
            Some("user-1"),
        ),
    ] {
        let (zip, alone) = (
            folder.path().join("a.zip"),
            folder.path().join("alone.json"),
        );
        let files = [("conversations.json", text), beside];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        pack(&zip, files.into_iter());
        std::fs::write(&alone, text).unwrap();
        for order in [[&zip, &alone], [&alone, &zip]] {
            let store = Store::in_memory(Options::default()).unwrap();
            let [first, second] = order;
            assert!(import(&store, first, scope).0 > 0);
            assert_eq!(import(&store, second, scope), (0, 0), "{owner}");
            let of_owner = Filter::new().user(owner);
            assert!(store.query(&of_owner, 1, None).unwrap().total > 0);
        }
    }
}

#[test]
fn an_activity_of_gemini_without_ids_is_known_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let record = |time: &str, prompt: &str| {
        format!(
            r#"{{"header": "Gemini Apps", "title": "Prompted {prompt}", "time": "{time}",
            "safeHtmlItem": [{{"html": "about {prompt}"}}]}}"#
        )
    };
    let earlier = [
        record("2026-01-02T10:00:00Z", "tea"),
        record("2026-01-01T10:00:00Z", "rain"),
    ];
    let later = [record("2026-01-03T10:00:00Z", "soil")];
    let write = |name: &str, records: &[String]| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("[{}]", records.join(","))).unwrap();
        path
    };
    let first = write("MyActivity.json", &earlier);
    let grown = write("grown.json", &[later.as_slice(), &earlier].concat());
    let store = Store::in_memory(Options::default()).unwrap();
    // Two conversations of two messages each.
    assert_eq!(import(&store, &first, None), (6, 0));
    assert_eq!(import(&store, &first, None), (0, 0));
    assert_eq!(import(&store, &grown, None), (3, 0));
}

#[test]
fn what_an_export_says_beside_its_messages_is_found_by_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conversations.json");
    std::fs::write(&path, CLAUDE).unwrap();
    let store = Store::in_memory(Options::default()).unwrap();
    import(&store, &path, None);
    for (word, role) in [
        ("marsupials", "user"),
        ("wombats", "assistant"),
        ("heron", "tool"),
    ] {
        let found = store.search(word, &Filter::new(), 10).unwrap().results;
        // Its neighbours in the conversation follow.
        let first = &found[0].grain;
        assert_eq!(first.text("role"), Some(role), "{word}");
        assert!(first.text("content").unwrap().contains(word), "{word}");
    }
}

#[test]
fn messages_of_a_provider_leave_with_those_that_answer_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conversations.json");
    std::fs::write(&path, CHATGPT).unwrap();
    let store = Store::in_memory(Options::default()).unwrap();
    import(&store, &path, None);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let (filter, options) = (Filter::new(), WriteOptions::default());
    let admin = store.admin().unwrap();
    admin
        .export_file(Format::Pam, &filter, &options, &out)
        .unwrap();
    let written = std::fs::read_dir(out.join("conversations")).unwrap();
    let path = written.map(|entry| entry.unwrap().path()).next().unwrap();
    let document = Value::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    let messages = document.as_map().unwrap().get("messages").unwrap();
    let answers = |id: &str| -> Vec<String> {
        let messages = messages.as_array().unwrap().iter();
        let mut messages = messages.filter_map(Value::as_map);
        let message = messages.find(|it| it.get("id").and_then(Value::as_text) == Some(id));
        let children = message.unwrap().get("children_ids").unwrap();
        let mut children: Vec<_> = children.texts().map(str::to_owned).collect();
        children.sort();
        children
    };
    assert_eq!(answers("q"), ["a1", "a2"]);
    assert_eq!(answers("a2"), ["t"]);
    assert_eq!(answers("th"), [""; 0]);
}
