//! An agent's own turns, which came in no file, leave as a conversation that a stranger can read.

use std::collections::BTreeSet;

use grainstore::ContentAddress;

use super::*;

/// A store with the turns of the sample, of which the last one answers the first.
fn turns() -> (Store, ContentAddress) {
    let store = memory();
    read_file(
        &store,
        Path::new("test-vectors/interchange/jsonl/turns.jsonl"),
    );
    let first = found_in(&store)[0].address;
    let answer = Draft::event("Cover it all the same.").user("mira");
    let answer = answer.session("ferns").set("role", "assistant");
    let answer = answer.set("parent_message_id", first.to_string());
    let answer = store.put(answer.created_at(Time::from_ms(1_780_000_000_005)));
    (store, answer.unwrap())
}

fn written(store: &Store, options: &WriteOptions) -> (tempfile::TempDir, Loss) {
    let folder = tempfile::tempdir().unwrap();
    let admin = store.admin().unwrap();
    let exported = admin.export_file(Format::Pam, &all().0, options, folder.path());
    (folder, exported.unwrap().loss)
}

fn members(folder: &Path, name: &str) -> Map {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    json(&text)
}

fn list(map: &Map, name: &str) -> Vec<Map> {
    let items = map.get(name).unwrap().as_array().unwrap().iter();
    items.map(|it| it.as_map().unwrap().clone()).collect()
}

fn all_events(store: &Store) -> BTreeSet<ContentAddress> {
    let all = found_in(store).into_iter();
    let events = all.filter(|it| it.grain.type_() == grainstore::Type::Event);
    events.map(|it| it.address).collect()
}

#[test]
fn own_turns_leave_in_pam_as_a_conversation_and_come_back_as_they_were() {
    let (store, answer) = turns();
    let (folder, loss) = written(&store, &all().1);
    assert!(loss.is_empty(), "{loss:?}");
    let document = members(folder.path(), "memory-store.json");
    // Only what is said in no session is a memory.
    assert_eq!(list(&document, "memories").len(), 1);
    let index = list(&document, "conversations_index");
    let entry = &index[0];
    assert_eq!((index.len(), entry.get("id")), (1, Some(&"ferns".into())));
    assert_eq!(entry.get("message_count"), Some(&4_u64.into()));
    let place = entry.get("storage").unwrap().as_map().unwrap();
    let conversation = members(folder.path(), place.get("ref").unwrap().as_text().unwrap());
    let messages = list(&conversation, "messages");
    let said = |message: &Map| {
        let content = message.get("content").unwrap().as_map().unwrap();
        let role = message.get("role").unwrap().as_text().unwrap().to_owned();
        (
            role,
            content.get("text").unwrap().as_text().unwrap().to_owned(),
        )
    };
    let said: Vec<_> = messages.iter().map(said).collect();
    let expected = [
        ("user", "Which fern stands the frost?"),
        ("assistant", "The hart's-tongue does."),
        ("tool", "look_up({\"plant\":\"fern\"})"),
        ("assistant", "Cover it all the same."),
    ];
    assert_eq!(
        said,
        expected.map(|(role, text)| (role.to_owned(), text.to_owned()))
    );
    // The time is that at which it was said.
    let at = messages[0].get("created_at").unwrap().as_text().unwrap();
    assert_eq!(at, "2026-01-21T12:53:20Z");
    assert_eq!(messages[1].get("model"), Some(&"small-1".into()));
    assert_eq!(messages[3].get("parent_id"), messages[0].get("id"));
    let copy = memory();
    read_file(&copy, folder.path());
    assert_eq!(all_events(&copy), all_events(&store));
    assert!(copy.exists(&answer).unwrap());
    // And into the store itself nothing is new.
    let reading = ImportFile::open(folder.path(), None, &ReadOptions::default()).unwrap();
    let again = store.import(reading).unwrap();
    assert_eq!(
        (again.inserted, again.is_complete()),
        (0, true),
        "{again:?}"
    );
}

#[test]
fn a_turn_that_an_editor_changed_is_what_the_message_says() {
    let (store, _) = turns();
    let (folder, _) = written(&store, &all().1);
    let document = members(folder.path(), "memory-store.json");
    let entry = &list(&document, "conversations_index")[0];
    let place = entry.get("storage").unwrap().as_map().unwrap();
    let path = folder
        .path()
        .join(place.get("ref").unwrap().as_text().unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("hart's-tongue", "royal fern")).unwrap();
    let copy = memory();
    read_file(&copy, folder.path());
    let said: Vec<_> = found_in(&copy);
    let said: Vec<_> = said
        .iter()
        .filter_map(|it| it.grain.text("content"))
        .collect();
    assert!(said.contains(&"The royal fern does."), "{said:?}");
    assert!(!said.contains(&"The hart's-tongue does."), "{said:?}");
}

#[test]
fn turns_that_ended_or_lie_in_one_file_or_an_increment_stay_memories() {
    let (store, answer) = turns();
    store.contradict(&answer, None).unwrap();
    let mut options = all().1;
    options.history = true;
    let (folder, loss) = written(&store, &options);
    assert!(loss.is_empty(), "{loss:?}");
    let document = members(folder.path(), "memory-store.json");
    let ended: Vec<_> = list(&document, "memories");
    let ended = ended.iter().filter_map(|it| it.get("status")?.as_text());
    assert_eq!(ended.filter(|status| *status == "retracted").count(), 1);
    let (text, loss) = export(&store, Format::Pam, &options);
    assert!(loss.is_empty(), "{loss:?}");
    assert_eq!(list(&json(&text), "memories").len(), 5);
    options.changed_from = Some(0);
    let (folder, _) = written(&store, &options);
    let document = members(folder.path(), "memory-store.json");
    assert_eq!(list(&document, "memories").len(), 5);
}

#[test]
fn a_turn_in_an_imported_conversation_is_a_message_of_that() {
    let store = memory();
    let sample = Path::new("test-vectors/interchange/claude-blocks");
    read_file(&store, sample);
    let turn = Draft::event("And on the roof?").session("talk-b");
    let turn = turn
        .set("role", "user")
        .created_at(Time::from_ms(1_790_000_000_000));
    let user = found_in(&store)[0]
        .grain
        .text("user_id")
        .unwrap()
        .to_owned();
    let turn = store.put(turn.user(user)).unwrap();
    let (folder, loss) = written(&store, &all().1);
    assert!(loss.is_empty(), "{loss:?}");
    let index = members(folder.path(), "memory-store.json");
    assert_eq!(list(&index, "conversations_index").len(), 1);
    let copy = memory();
    read_file(&copy, folder.path());
    assert!(copy.exists(&turn).unwrap());
    assert_eq!(all_events(&copy), all_events(&store));
    let before = all_events(&store);
    read_file(&store, folder.path());
    assert_eq!(all_events(&store), before);
}
