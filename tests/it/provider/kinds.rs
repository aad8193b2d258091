//! A file is read as what its content says that it is; what stands beside it is read too, or named.

use super::*;

fn vector(path: &str) -> Import {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/interchange");
    open(&folder.join(path))
}

fn open(path: &Path) -> Import {
    let file = ImportFile::open(path, None, &ReadOptions::default()).unwrap();
    assert!(file.errors.is_empty(), "{:?}", file.errors);
    Import {
        records: file.records.into_vec().unwrap(),
        findings: file.findings,
        ..Import::default()
    }
}

/// Who said what, in the order of an import.
fn said(import: &Import) -> Vec<(String, String)> {
    let text = |grain: &Grain, name: &str| grain.text(name).unwrap_or_default().to_owned();
    let events = events(import).into_iter();
    let said = events.map(|it| (text(&it.grain, "role"), text(&it.grain, "content")));
    said.collect()
}

fn named(said: &[(&str, &str)]) -> Vec<(String, String)> {
    let said = said.iter();
    said.map(|(role, text)| ((*role).into(), (*text).into()))
        .collect()
}

fn findings(import: &Import) -> Vec<String> {
    let findings = import.findings.iter();
    findings
        .map(|(place, said)| format!("{place}: {said}"))
        .collect()
}

#[test]
fn a_conversation_of_deepseek_keeps_its_branches_thoughts_and_sources() {
    let import = vector("deepseek");
    let expected = [
        ("user", "When is the last frost?"),
        ("assistant", "They keep beds."),
        ("assistant", "In the middle of May."),
        ("assistant", "Be careful."),
        ("assistant", "Late in May."),
    ];
    assert_eq!(said(&import), named(&expected));
    let question = by_id(&import, "1").address().to_string();
    for thought in ["2/thinking", "3/thinking"] {
        assert_eq!(parent(by_id(&import, thought)), Some(question.as_str()));
    }
    let residual = pam::residual(by_id(&import, "2")).unwrap().to_json();
    assert!(
        residual.contains("https://weather.example/frost"),
        "{residual}"
    );
    assert_eq!(by_id(&import, "1").created_at().ms(), 1_769_929_201_000);
}

#[test]
fn conversations_of_cursor_and_of_other_kinds_of_grok_and_claude_are_read_as_theirs() {
    for (path, expected) in [
        (
            "cursor",
            &[
                ("user", "Why does it fail on Mondays?"),
                ("assistant", "It reads the week from the clock."),
            ][..],
        ),
        (
            "grok-ids",
            &[
                ("user", "How deep do reeds grow?"),
                ("assistant", "To a metre."),
            ],
        ),
        (
            "claude-wrapped/export.json",
            &[("user", "Which wool is warm?"), ("assistant", "Merino.")],
        ),
        (
            "chatgpt-small",
            &[
                ("user", "How long does dough rise?"),
                ("assistant", "An hour in a warm room."),
            ],
        ),
        (
            "claude-small/conversation.json",
            &[("user", "Does iron gall ink fade?")],
        ),
    ] {
        assert_eq!(said(&vector(path)), named(expected), "{path}");
    }
    let reeds = vector("grok-ids");
    let residual = pam::residual(by_id(&reeds, "r-2")).unwrap().to_json();
    assert!(residual.contains("https://reeds.example/"), "{residual}");
}

#[test]
fn a_folder_of_exports_of_several_providers_takes_each_and_names_the_rest() {
    let import = vector("several");
    let mut said = said(&import);
    said.sort();
    let expected = [
        ("assistant", "Drei Minuten."),
        ("user", "Green or black?"),
        ("user", "Prompt eingegeben: Wie lange zieht Tee?"),
        ("user", "Which cheese melts?"),
    ];
    assert_eq!(said, named(&expected));
    // A project that stands by itself, as newer exports of Claude have them.
    let known: Vec<_> = known(&import).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(known, ["d-7", "p-7"]);
    // Each account is that of its own export.
    let owner = |id: &str| by_id(&import, id).text("user_id").map(str::to_owned);
    assert_eq!(owner("s-1").as_deref(), Some("mira-at-openai"));
    assert_eq!(owner("s-2").as_deref(), Some("mira-at-anthropic"));
    let told = findings(&import).join("\n");
    for expected in [
        "exports of gemini, chatgpt, claude",
        "group_chats.json: is not read",
        "sora.json: is not read",
        "1 records are activity in other products",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    // An import of one format takes that one, and names the others.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/interchange/several");
    let import = provider::read(&folder, Provider::Claude, Profile::Extended).unwrap();
    assert_eq!(
        self::said(&import),
        named(&[("user", "Which cheese melts?")])
    );
    let told = findings(&import).join("\n");
    assert!(
        told.contains("is an export of chatgpt and not read"),
        "{told}"
    );
}

#[test]
fn members_of_an_archive_that_are_not_read_are_named_by_their_endings() {
    let folder = tempfile::tempdir().unwrap();
    let zip = folder.path().join("x.zip");
    let files = [
        "conversations.json",
        "b.png",
        "a.png",
        "voice.wav",
        "notes.json",
    ];
    let text = |name: &str| match name {
        "conversations.json" => CHATGPT.to_owned(),
        _ => "{}".to_owned(),
    };
    pack(
        &zip,
        files.into_iter().map(|name| (name.to_owned(), text(name))),
    );
    let told = findings(&open(&zip));
    let expected = [
        "notes.json: is not read: it holds no conversations",
        "a.png: is not read, nor are 1 more files with this ending",
        "voice.wav: is not read",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_page_of_activity_under_a_name_of_another_language_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let page = "<html><body><div class=\"outer-cell\">Gemini-Apps</div></body></html>";
    std::fs::write(folder.path().join("MeineAktivitäten.html"), page).unwrap();
    let file = ImportFile::open(folder.path(), None, &ReadOptions::default()).unwrap();
    assert_eq!(codes(&file.errors), ["PROVIDER_SHAPE"]);
    assert!(
        file.errors[0].to_string().contains("as JSON"),
        "{}",
        file.errors[0]
    );
}

#[test]
fn the_parts_of_a_message_of_claude_are_the_message_and_not_a_notice_in_their_place() {
    let import = vector("claude-blocks");
    let expected = [
        ("user", "Does moss need soil?"),
        ("assistant", "They mean a wall."),
        ("assistant", "No, it clings to stone."),
        ("tool", "Mosses\nMosses have no roots."),
    ];
    let mut said = said(&import);
    assert_eq!(said.pop().unwrap().1, "", "an artifact alone says nothing");
    assert_eq!(said, named(&expected));
    let answer = pam::residual(by_id(&import, "b-2")).unwrap().to_json();
    for url in ["https://moss.example/", "https://stone.example/"] {
        assert!(answer.contains(&format!("\"url\":\"{url}\"")), "{answer}");
    }
}

#[test]
fn the_accounts_of_one_person_are_one_user_if_the_caller_says_so() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/interchange/several");
    let options = ReadOptions {
        user: Some("mira".to_owned()),
        ..ReadOptions::default()
    };
    let reading = || ImportFile::open(&folder, None, &options).unwrap();
    let records = reading().records.into_vec().unwrap();
    let addresses: Vec<_> = records.iter().map(|it| it.grain.address()).collect();
    for record in &records {
        assert_eq!(
            record.grain.text("user_id"),
            Some("mira"),
            "{}",
            record.place
        );
        // A message answers the one that is stored, and not one of another user.
        if let Some(parent) = record.grain.text("parent_message_id") {
            assert!(addresses.contains(&parent.parse().unwrap()));
        }
    }
    let store = Store::in_memory(Options::default()).unwrap();
    let import = || store.import(reading()).unwrap();
    assert_eq!((import().inserted, import().inserted), (9, 0));
}

#[test]
fn a_message_larger_than_a_grain_costs_no_other_message_of_its_conversation() {
    let node = |id: &str, parent: &str, text: &str| {
        format!(
            r#""{id}": {{"id": "{id}", "parent": "{parent}", "message": {{"id": "{id}",
             "author": {{"role": "user"}}, "create_time": 1700000000.5,
             "content": {{"content_type": "text", "parts": ["{text}"]}}}}}}"#
        )
    };
    let nodes = [
        node("a", "", "first"),
        node("b", "a", &"x".repeat(1_200_000)),
        node("c", "b", "last"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("conversations.json");
    let export = format!(
        r#"[{{"conversation_id": "k", "create_time": 1700000000, "mapping": {{{}}}}}]"#,
        nodes.join(",")
    );
    std::fs::write(&path, export).unwrap();
    let file = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    let loss: Vec<_> = file.loss.iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(loss, ["message"]);
    let import = open(&path);
    assert_eq!(said(&import), named(&[("user", "first"), ("user", "last")]));
    let named = findings(&import).join("\n");
    assert!(named.contains("k#"), "{named}");
    // The answer to it answers what it answered.
    let [first, last] = events(&import)[..] else {
        panic!("two messages");
    };
    let parent = last.grain.text("parent_message_id").unwrap();
    assert_eq!(parent.parse(), Ok(first.grain.address()));
}
