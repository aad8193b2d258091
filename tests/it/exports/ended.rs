//! What ended here never stands in a file as if it still held.

use super::*;
use grainstore::ContentAddress;

/// A store with a belief that was replaced, one that was contradicted, and one that holds.
fn sample() -> (Store, [ContentAddress; 3]) {
    let store = memory();
    let lives = |city: &str| {
        Draft::belief("mira", "lives_in", city)
            .confidence(0.9)
            .created_at(Time::from_ms(1_780_000_000_000))
    };
    let old = store.put(lives("Porto")).unwrap();
    let new = lives("Lisbon").derived_from(old);
    let new = store.supersede(&old, new, Some("she moved")).unwrap();
    let refuted = Draft::belief("mira", "is_allergic_to", "peanuts");
    let refuted = refuted
        .confidence(0.9)
        .created_at(Time::from_ms(1_780_000_000_000));
    let refuted = store.put(refuted).unwrap();
    store
        .contradict(&refuted, Some("the test was negative"))
        .unwrap();
    (store, [old, new, refuted])
}

fn list(document: &str) -> Vec<Map> {
    let document = json(document);
    let memories = document.get("memories").unwrap().as_array().unwrap();
    memories
        .iter()
        .map(|it| it.as_map().unwrap().clone())
        .collect()
}

fn by_text<'a>(records: &'a [Map], text: &str) -> Option<&'a Map> {
    let says = |record: &&Map| {
        record
            .get("content")
            .and_then(Value::as_text)
            .unwrap()
            .ends_with(text)
    };
    records.iter().find(says)
}

#[test]
fn omi_says_when_a_belief_ended_and_what_replaced_it() {
    let (store, addresses) = sample();
    let (document, _) = export(&store, Format::Omi, &all().1);
    let records = list(&document);
    let get = |text: &str, name: &str| by_text(&records, text).unwrap().get(name).cloned();
    assert!(get("Porto", "valid_to").is_some() && get("peanuts", "valid_to").is_some());
    assert!(get("Lisbon", "valid_to").is_none());
    let target = format!("urn:grainstore:{}", addresses[0]);
    let expected = format!(r#"[{{"type": "supersedes", "target": "{target}"}}]"#);
    let expected = Value::from_json(&expected).unwrap();
    assert_eq!(get("Lisbon", "relations"), Some(expected));
    let copy = store_of(document.as_bytes());
    for address in &addresses {
        assert_eq!(
            copy.status(address).unwrap(),
            store.status(address).unwrap()
        );
    }
}

#[test]
fn pam_leaves_out_and_counts_what_was_contradicted_unless_the_history_is_asked_for() {
    let (store, addresses) = sample();
    let (document, loss) = export(&store, Format::Pam, &all().1);
    assert_eq!(loss.iter().collect::<Vec<_>>(), [("contradicted", 1)]);
    let records = list(&document);
    let status = |records: &[Map], text: &str| {
        Some(by_text(records, text)?.get("status")?.as_text()?.to_owned())
    };
    assert_eq!(status(&records, "Porto").as_deref(), Some("superseded"));
    assert_eq!(status(&records, "Lisbon").as_deref(), Some("active"));
    assert_eq!(status(&records, "peanuts"), None);
    let options = WriteOptions {
        history: true,
        ..all().1
    };
    let (document, loss) = export(&store, Format::Pam, &options);
    assert!(loss.is_empty(), "{loss:?}");
    assert_eq!(
        status(&list(&document), "peanuts").as_deref(),
        Some("retracted")
    );
    let copy = store_of(document.as_bytes());
    for address in &addresses {
        assert_eq!(
            copy.status(address).unwrap(),
            store.status(address).unwrap()
        );
    }
}

#[test]
fn a_record_of_omi_that_ended_here_is_known_again_when_its_export_comes_back() {
    let file = r#"{"format":"open-memory-interchange","version":"0.1","generator":"x/1",
        "generated_at":"2026-06-06T09:00:00Z","subject":{"id":"u","type":"person"},"memories":[
        {"id":"a","content":"drinks tea","created":"2026-01-15T10:30:00Z"},
        {"id":"b","content":"drinks mate","created":"2026-01-16T10:30:00Z",
         "relations":[{"type":"references","target":"urn:x:1"}]}]}"#;
    let store = store_of(file.as_bytes());
    let named = |text: &str| {
        let mut found = found_in(&store).into_iter();
        found
            .find(|it| it.grain.text("object") == Some(text))
            .unwrap()
            .address
    };
    let (tea, mate) = (named("drinks tea"), named("drinks mate"));
    store.contradict(&tea, Some("never did")).unwrap();
    let after = Draft::belief("u", "omi", "drinks water")
        .confidence(0.9)
        .derived_from(mate);
    store.supersede(&mate, after, Some("she says so")).unwrap();
    let (document, _) = export(&store, Format::Omi, &all().1);
    let records = list(&document);
    for text in ["drinks tea", "drinks mate"] {
        assert!(
            by_text(&records, text).unwrap().contains("valid_to"),
            "{text}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    std::fs::write(&path, &document).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    let summary = store.import(reading).unwrap();
    assert!(summary.is_complete(), "{summary:?}");
    assert_eq!((summary.inserted, summary.updated), (0, 0), "{summary:?}");
}
