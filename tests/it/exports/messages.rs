//! Conversations as a stranger needs them: who spoke, in which session, when it happened, and no
//! record where nothing was said.

use super::*;

const SAMPLE: &str = "test-vectors/interchange/claude-blocks";

fn records(text: &str) -> Vec<Map> {
    let document = json(text);
    let memories = document.get("memories").unwrap();
    let memories = memories.as_array().unwrap().iter();
    memories.map(|it| it.as_map().unwrap().clone()).collect()
}

fn text<'a>(map: &'a Map, of: &str, name: &str) -> Option<&'a str> {
    map.get(of)?.as_map()?.get(name)?.as_text()
}

#[test]
fn a_message_in_omi_names_its_speaker_and_its_session_and_an_empty_one_is_no_record() {
    let store = memory();
    read_file(&store, Path::new(SAMPLE));
    let (document, loss) = export(&store, Format::Omi, &all().1);
    assert!(loss.is_empty(), "{loss:?}");
    let records = records(&document);
    let said: Vec<_> = records
        .iter()
        .map(|record| {
            let subject = text(record, "subject", "type").unwrap();
            (subject, record.get("content").unwrap().as_text().unwrap())
        })
        .collect();
    let expected = [
        ("person", "Does moss need soil?"),
        ("agent", "They mean a wall."),
        ("agent", "No, it clings to stone."),
        ("system", "Mosses\nMosses have no roots."),
        ("agent", "artifacts({\"command\":\"create\"})"),
    ];
    assert_eq!(said, expected);
    for record in &records {
        assert_eq!(text(record, "source", "ref"), Some("talk-b"));
        assert_eq!(text(record, "source", "platform"), Some("claude"));
    }
    assert_eq!(
        found_in(&store_of(document.as_bytes())).len(),
        found_in(&store).len()
    );
}

#[test]
fn a_message_without_anything_said_travels_beside_the_others_or_is_counted() {
    let store = memory();
    let event = |text: &str, at: i64| {
        let event = Draft::event(text)
            .session("s")
            .created_at(Time::from_ms(at));
        store.put(event.set("role", "user")).unwrap();
    };
    event("one", 1_780_000_000_001);
    let empty = Draft::new(grainstore::Type::Event)
        .session("s")
        .created_at(Time::from_ms(1_780_000_000_002))
        .set("role", "assistant")
        .set("content_blocks", Vec::<Value>::new());
    let empty = store.put(empty).unwrap();
    for (format, expected) in [
        (Format::Omi, None),
        (Format::OmiJsonl, None),
        (Format::Pam, None),
        (Format::Aimem, Some(("message without a text", 1))),
    ] {
        let (document, loss) = export(&store, format, &all().1);
        let lost = loss.iter().find(|(what, _)| what.starts_with("message"));
        assert_eq!(lost, expected, "{format}");
        assert!(
            !document.contains("\"content\":\"{"),
            "{format}: {document}"
        );
        let copy = store_of(document.as_bytes());
        assert_eq!(
            copy.get(&empty).unwrap().is_some(),
            expected.is_none(),
            "{format}"
        );
    }
}

#[test]
fn the_time_of_what_happened_is_in_its_place_or_counted() {
    let store = memory();
    let event = Draft::event("the ice broke").created_at(Time::from_ms(1_780_000_000_000));
    store
        .put(event.set("timestamp_ms", 1_770_000_000_000_i64))
        .unwrap();
    let same = Draft::event("and the next").created_at(Time::from_ms(1_780_000_000_001));
    store
        .put(same.set("timestamp_ms", 1_780_000_000_001_i64))
        .unwrap();
    let happened = "2026-02-02T02:40:00";
    let (document, _) = export(&store, Format::Omi, &all().1);
    let from: Vec<_> = records(&document)
        .iter()
        .map(|record| Some(record.get("valid_from")?.as_text()?.to_owned()))
        .collect();
    assert!(from[0].as_ref().unwrap().starts_with(happened), "{from:?}");
    assert_eq!(from[1], None);
    let (document, _) = export(&store, Format::Pam, &all().1);
    let from: Vec<_> = records(&document)
        .iter()
        .map(|record| text(record, "temporal", "valid_from").map(str::to_owned))
        .collect();
    assert!(from[0].as_ref().unwrap().starts_with(happened), "{from:?}");
    assert_eq!(from[1], None);
    let (_, loss) = export(&store, Format::Aimem, &all().1);
    let lost: Vec<_> = loss
        .iter()
        .filter(|(what, _)| *what == "timestamp_ms")
        .collect();
    assert_eq!(lost, [("timestamp_ms", 1)]);
}
