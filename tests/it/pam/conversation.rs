//! Conversations: which files are opened, and what becomes of their messages.

use std::fs;

use grainstore::codec::Value;
use grainstore::grain::{Grain, Type};
use grainstore::interchange::{ReadOptions, Record};

use super::store::{apply, conversation, entry, get, set, small, with_conversation};
use crate::whole::pam;

#[test]
fn a_conversation_outside_the_directory_is_never_opened_and_the_rest_is_imported() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("export");
    fs::create_dir(&folder).unwrap();
    fs::create_dir(folder.join("directory")).unwrap();
    let conversation = conversation(&[("m", None)]);
    fs::write(
        outside.path().join("secret.json"),
        Value::Map(conversation.clone()).to_json(),
    )
    .unwrap();
    fs::write(folder.join("here.json"), Value::Map(conversation).to_json()).unwrap();
    let absolute = outside.path().join("secret.json");
    let mut hostile = vec![
        "../secret.json",
        "directory/../../secret.json",
        "directory",
        "./here.json",
        absolute.to_str().unwrap(),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../secret.json", folder.join("link.json")).unwrap();
        symlink("..", folder.join("up")).unwrap();
        hostile.extend(["link.json", "up/secret.json"]);
    }
    for reference in hostile {
        let mut store = small(&[("a", "one")]);
        set(&mut store, "conversations_index", vec![entry(reference)]);
        let path = folder.join("memory-store.json");
        fs::write(&path, Value::Map(store).to_json()).unwrap();
        let import = pam::read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(import.codes(), ["PAM_STORAGE_REF"], "{reference}");
        assert_eq!(
            import.loss.iter().collect::<Vec<_>>(),
            [("conversations_index.storage", 1)]
        );
        assert_eq!(import.records.len(), 3, "{reference}");
    }
}

#[test]
fn a_conversation_that_is_wrong_is_left_out_whole_and_reported() {
    let long = format!("messages/1/content/text=\"{}\"", "x".repeat(1 << 20));
    let cases = [
        ("PAM_SCHEMA_ID", "schema=\"portable-ai-memory\""),
        ("PAM_VERSION", "schema_version=\"1.1\""),
        ("PAM_CONVERSATION_REF", "id=\"another\""),
        ("PAM_SCHEMA", "messages"),
        ("PAM_SCHEMA", "provider"),
        ("PAM_SCHEMA", "messages/1/role=\"human\""),
        ("PAM_SCHEMA", "messages/1/created_at"),
        ("PAM_DUPLICATE_ID", "messages/1/id=\"m1\""),
        ("PAM_MESSAGE_DAG", "messages/1/parent_id=\"m9\""),
        ("PAM_CYCLE", "messages/0/parent_id=\"m2\""),
        ("ERR_RANGE", long.as_str()),
    ];
    for (code, change) in cases {
        let mut conversation = conversation(&[("m1", None), ("m2", Some("m1"))]);
        apply(&mut conversation, change);
        let import = with_conversation(&conversation);
        assert_eq!(import.codes(), [code]);
        assert_eq!(
            import.loss.iter().collect::<Vec<_>>(),
            [("conversations_index.storage", 1)]
        );
        assert_eq!(import.records.len(), 3);
    }
}

#[test]
fn messages_come_parents_first_and_branches_keep_their_shape() {
    let conversation = conversation(&[
        ("c", Some("a")),
        ("b", Some("a")),
        ("d", Some("c")),
        ("a", None),
    ]);
    let import = with_conversation(&conversation);
    let events: Vec<&Record> = import
        .records
        .iter()
        .filter(|it| it.grain.type_() == Type::Event)
        .collect();
    let ids: Vec<_> = events
        .iter()
        .map(|it| it.foreign_id.as_ref().unwrap().id())
        .collect();
    assert_eq!(ids, ["a", "c", "b", "d"]);
    let parent = |n: usize| events[n].grain.link("parent_message_id");
    let address = |n: usize| Some(events[n].grain.address());
    assert_eq!(
        [parent(0), parent(1), parent(2), parent(3)],
        [None, address(0), address(0), address(1)]
    );
    assert!(
        events
            .iter()
            .all(|it| it.grain.text("session_id") == Some("conv"))
    );
    let state = import
        .records
        .iter()
        .rfind(|it| it.grain.type_() == Type::State)
        .unwrap();
    let context = state.grain.field("context").unwrap().as_map().unwrap();
    assert_eq!(
        context.get("messages_tail").unwrap().as_text(),
        address(0).map(|it| it.to_string()).as_deref()
    );
}

#[test]
fn parts_thoughts_and_tool_calls_become_blocks() {
    let mut conversation = conversation(&[("m1", None), ("m2", None), ("m3", None), ("m4", None)]);
    let messages = [
        r#"{"content": {"type": "multipart", "parts": [{"type": "text", "text": "look"},
            {"type": "image", "ref": "a.png", "mime_type": "image/png"},
            {"type": "code", "text": "1 + 1", "language": "python"}]}}"#,
        r#"{"content": {"type": "text", "text": "hm"}, "is_thought": true}"#,
        r#"{"content": {"type": "text", "text": "done"}, "tool_calls": [{"id": "t", "name": "add",
            "input": {"c": null, "a": [1, null]}, "output": "3"}, {"name": "sub", "input": "raw"}]}"#,
        r#"{"content": {"type": "text", "text": null}}"#,
    ];
    for (n, extra) in messages.iter().enumerate() {
        let Value::Map(members) = Value::from_json(extra).unwrap() else {
            unreachable!()
        };
        for (name, value) in members {
            set(&mut conversation, &format!("messages/{n}/{name}"), value);
        }
    }
    let import = with_conversation(&conversation);
    assert!(import.findings.is_empty(), "{:?}", import.findings);
    let events: Vec<&Grain> = import
        .records
        .iter()
        .map(|it| &it.grain)
        .filter(|it| it.type_() == Type::Event)
        .collect();
    let blocks = |n: usize| {
        events[n]
            .field("content_blocks")
            .map(Value::to_json)
            .unwrap()
    };
    assert_eq!(events[0].text("content"), Some("look\n1 + 1"));
    assert_eq!(
        blocks(0),
        r#"[{"text":"look","type":"text"},{"source":{"mime_type":"image/png","ref":"a.png"},"type":"image"},{"language":"python","text":"1 + 1","type":"code"}]"#
    );
    assert_eq!(blocks(1), r#"[{"thinking":"hm","type":"thinking"}]"#);
    assert_eq!(
        blocks(2),
        r#"[{"text":"done","type":"text"},{"id":"t","input":{"a":[1,null]},"name":"add","type":"tool_use"},{"content":"3","tool_use_id":"t","type":"tool_result"},{"input":"raw","name":"sub","type":"tool_use"}]"#
    );
    assert_eq!(
        (events[3].text("content"), blocks(3).as_str()),
        (None, "[]")
    );
    for (event, n) in events.iter().zip(0..) {
        assert_eq!(
            &pam::residual(event).unwrap(),
            get(&conversation, &format!("messages/{n}"))
        );
    }
}
