//! STREAM: the order of events, the kinds that are asked for, pieces of whole lines, cancelling.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use grainstore::render::tokens;
use grainstore::{Draft, Options as StoreOptions, Store, Time};
use grainstore_cal::{Cal, Event, Options, parse};

const NOW: i64 = 1_768_471_200_000;

fn store() -> Store {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    for n in 0..30 {
        let belief = Draft::belief("alice", "mg:prefers", format!("drink number {n}"));
        store.put(belief.confidence(0.9)).unwrap();
    }
    store.put(Draft::event("hello")).unwrap();
    store
}

fn events(store: &Store, options: &str) -> (Vec<Event>, String) {
    let text = format!(
        "ASSEMBLE FROM a: (RECALL beliefs | LIMIT 30), b: (RECALL events) STREAM {options}"
    );
    let query = parse(&text).unwrap();
    let mut events = Vec::new();
    let answer = query.stream(store, &Options::at(Time::from_ms(NOW)), &mut |event| {
        events.push(event);
        true
    });
    match answer {
        Ok(answer) => (events, answer.text().unwrap().to_owned()),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|event| event.name).collect();
    names.dedup();
    names
}

#[test]
fn the_events_come_in_their_order_and_only_those_that_are_asked_for() {
    let store = store();
    let (all, _) = events(&store, "");
    let sources = ["source_started", "source_completed"].repeat(2);
    let head = [&["assembly_started"][..], &sources].concat();
    let tail = [
        "dedup_completed",
        "budget_allocated",
        "disclosure_decided",
        "chunk",
        "assembly_completed",
    ];
    assert_eq!(names(&all), [&head[..], &tail].concat());
    assert_eq!(all[2].data["grains"], 30);
    let progress = [&head[..], &["assembly_completed"]].concat();
    assert_eq!(names(&events(&store, "{ progress }").0), progress);
    assert_eq!(names(&events(&store, "{ budget }").0), tail[..3]);
    assert_eq!(
        names(&events(&store, "{ chunks, chunk_size = 40 }").0),
        ["chunk"]
    );
}

#[test]
fn the_chunks_are_whole_lines_and_together_the_context() {
    let (chunks, text) = events(&store(), "{ chunks, chunk_size = 60 }");
    let parts = chunks
        .iter()
        .map(|chunk| chunk.data["text"].as_str().unwrap());
    let parts: Vec<&str> = parts.collect();
    assert_eq!(parts.concat(), text);
    assert!(parts.len() > 5, "{}", parts.len());
    for (n, part) in parts.iter().enumerate() {
        assert!(part.ends_with('\n') && tokens(part) <= 60, "{part}");
        assert_eq!(chunks[n].data["index"], n);
    }
    let last = chunks.last().unwrap();
    assert!(last.data["budget_remaining"].as_u64().unwrap() > 0);
}

#[test]
fn a_reader_who_wants_no_more_cancels_the_assembly() {
    let store = store();
    let query = parse("ASSEMBLE FROM (RECALL beliefs), (RECALL events) STREAM").unwrap();
    let options = Options::at(Time::from_ms(NOW));
    let mut told = Vec::new();
    let outcome = query.stream(&store, &options, &mut |event| {
        told.push(event.name);
        told.len() < 3
    });
    assert_eq!(outcome.unwrap_err().code(), "CAL-E082");
    assert_eq!(
        told,
        [
            "assembly_started",
            "source_started",
            "source_completed",
            "cancelled"
        ]
    );
}

#[test]
fn a_stream_without_a_reader_is_refused_and_none_is_told_unasked() {
    let store = store();
    let options = Options::at(Time::from_ms(NOW));
    let refused = store.cal("ASSEMBLE FROM (RECALL) STREAM", &options);
    assert_eq!(refused.unwrap_err().code(), "CAL-E079");
    let query = parse("ASSEMBLE FROM (RECALL)").unwrap();
    let answer = query.stream(&store, &options, &mut |event| panic!("{event:?}"));
    assert!(answer.unwrap().is_found());
}
