//! The times of foreign formats: the years 0000 to 9999, and what RFC 3339 cannot say.

use grainstore::codec::{Map, Value};
use grainstore::interchange::Format;
use grainstore::{Draft, Filter, Time};

use super::{all, export, memory, store_of};
use crate::foreign::{edit, text_of};

const FOR_EVER: &str = "9999-12-31T23:59:59Z";
const BEGINNING: &str = "0000-01-01T00:00:00Z";
const FOR_EVER_MS: i64 = 253_402_300_799_000;
const BEGINNING_MS: i64 = -62_167_219_200_000;

/// The member of a format's memories that says until when they hold.
fn ends(format: Format, text: &str) -> Vec<Option<String>> {
    let file = Value::from_json(text).unwrap();
    let memories = file.as_map().unwrap().get("memories").unwrap();
    let memories = memories.as_array().unwrap().iter();
    let end = |memory: &Value| {
        let memory = memory.as_map().unwrap();
        let at = match format {
            Format::Pam => memory.get("temporal")?.as_map()?.get("valid_until"),
            _ => memory.get("valid_to"),
        };
        at?.as_text().map(str::to_owned)
    };
    memories.map(end).collect()
}

#[test]
fn a_memory_that_holds_for_ever_stays_one_and_no_year_is_invented() {
    for (ms, text) in [
        (FOR_EVER_MS, Some(FOR_EVER)),
        (BEGINNING_MS, Some(BEGINNING)),
        (FOR_EVER_MS + 1_000, None),
        (BEGINNING_MS - 1, None),
        (i64::MAX, None),
    ] {
        let store = memory();
        let draft = Draft::belief("ana", "likes", "tea").confidence(1.0);
        store.put(draft.set("valid_to", ms)).unwrap();
        for (format, name) in [(Format::Pam, "valid_until"), (Format::Omi, "valid_to")] {
            let (file, loss) = export(&store, format, &all().1);
            assert_eq!(
                ends(format, &file),
                [text.map(str::to_owned)],
                "{format} {ms}"
            );
            let lost = loss.iter().any(|counted| counted == (name, 1));
            assert_eq!(lost, text.is_none(), "{format} {ms}: {loss:?}");
        }
    }
}

#[test]
fn a_time_of_creation_that_no_format_has_is_counted() {
    let store = memory();
    let draft = Draft::event("later than all").created_at(Time::from_ms(i64::MAX / 2));
    store.put(draft).unwrap();
    for (format, name) in [
        (Format::Pam, "created_at"),
        (Format::Omi, "created"),
        (Format::Aimem, "created_at"),
    ] {
        let (_, loss) = export(&store, format, &all().1);
        assert!(
            loss.iter().any(|counted| counted == (name, 1)),
            "{format}: {loss:?}"
        );
    }
}

/// The sample of a format, with a time at a place.
fn with(mut file: Map, place: &str, time: &str) -> Vec<u8> {
    edit(&mut file, place, Some(&format!("\"{time}\"")));
    text_of(&file).into_bytes()
}

#[test]
fn the_first_and_the_last_second_of_rfc_3339_are_read_and_written_again() {
    for (time, ms) in [(FOR_EVER, FOR_EVER_MS), (BEGINNING, BEGINNING_MS)] {
        let omi = with(crate::omi::sample(), "memories/0/valid_to", time);
        let store = store_of(&omi);
        let grains = store
            .query(&Filter::new().with_expired(), 100, None)
            .unwrap()
            .results;
        let ends_at = |found: &grainstore::query::Found| found.grain.field("valid_to")?.as_i64();
        assert!(
            grains.iter().any(|found| ends_at(found) == Some(ms)),
            "{time}"
        );
        let (file, _) = export(&store, Format::Omi, &all().1);
        assert!(
            ends(Format::Omi, &file).contains(&Some(time.to_owned())),
            "{time}"
        );
    }
}
