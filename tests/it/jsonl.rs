//! JSON lines: import, export and round trips, and the refusal of malformed lines.

use grainstore::codec::{ContentAddress, Encoding, Flags, Map, Profile, Sensitivity, Value};
use grainstore::grain::{Draft, Grain, Lifecycle, Status, Time, Verification};
use grainstore::interchange::jsonl::{Reader, Writer};
use grainstore::interchange::{Error, Format, Place, ReadOptions, Record};
use proptest::prelude::*;

#[test]
fn every_line_of_the_sample_is_read_and_written_back_to_itself() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/grains.jsonl");
    assert_eq!(Format::detect(&path).unwrap(), Format::Jsonl);
    let text = std::fs::read(path).unwrap();
    let records: Vec<Record> = read(&text).into_iter().collect::<Result<_, _>>().unwrap();
    assert_eq!(records.len(), 55);
    assert_eq!(records[54].place, Place::Line(55));
    let written = write(&records);
    let again: Vec<Record> = read(&written)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    assert!(
        records
            .iter()
            .map(|it| &it.grain)
            .eq(again.iter().map(|it| &it.grain))
    );
    assert_eq!(write(&again), written);
}

#[test]
fn the_reader_goes_on_after_a_bad_line_and_names_it() {
    let lines = [
        "{\"type\":\"event\",\"content\":\"a\",\"created_at\":1}",
        "",
        "   ",
        "{",
        "{\"type\":\"event\",\"content\":\"a\"}",
        "[]",
        "{\"content\":\"a\"}",
        "{\"type\":\"event\",\"type\":\"event\"}",
        "{\"blob\":\"zz\"}",
        "{\"blob\":1}",
        "{\"blob\":\"00\"}",
        "{\"blob\":\"00\",\"extra\":1}",
        "{\"address\":\"00\",\"blob\":\"00\"}",
        "{\"address\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"blob\":\"00\"}",
        "{\"status\":{\"of\":\"0000000000000000000000000000000000000000000000000000000000000000\"}}",
        "{\"status\":{\"of\":\"x\"}}",
        "{\"status\":{}}",
        "{\"status\":1}",
        "{\"hold\":{\"of\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"reason\":\"r\",\"authority\":\"a\"}}",
        "{\"hold\":{\"of\":\"x\",\"reason\":\"r\",\"authority\":\"a\"}}",
        "{\"hold\":{\"why\":\"r\"}}",
        "{\"hold\":1}",
        "\u{feff}{}",
        "{\"type\":\"event\",\"content\":\"b\",\"created_at\":2}",
    ];
    let found = read(lines.join("\r\n").as_bytes());
    let errors: Vec<(&str, String)> = found
        .iter()
        .filter_map(|it| it.as_ref().err())
        .map(|error| (error.code().as_str(), error.place().to_string()))
        .collect();
    let expected = [
        ("ERR_JSON", 4),
        ("ERR_SCHEMA", 5),
        ("ERR_NOT_MAP", 6),
        ("ERR_NO_TYPE", 7),
        ("ERR_CORRUPT", 8),
        ("JSONL_BLOB", 9),
        ("JSONL_BLOB", 10),
        ("ERR_TOO_SHORT", 11),
        ("JSONL_BLOB", 12),
        ("ERR_HASH_LENGTH", 13),
        ("ERR_INTEGRITY", 14),
        ("JSONL_STATUS", 15),
        ("JSONL_STATUS", 16),
        ("JSONL_STATUS", 17),
        ("JSONL_STATUS", 18),
        ("JSONL_STATUS", 19),
        ("JSONL_STATUS", 20),
        ("JSONL_STATUS", 21),
        ("JSONL_STATUS", 22),
        ("ERR_JSON", 23),
    ];
    let expected: Vec<_> = expected
        .map(|(code, line)| (code, format!("line {line}")))
        .into();
    assert_eq!(errors, expected);
    assert_eq!(found.iter().filter(|it| it.is_ok()).count(), 2);
    assert_eq!(
        found.last().unwrap().as_ref().unwrap().place,
        Place::Line(24)
    );
}

#[test]
fn a_byte_order_mark_and_text_that_is_not_utf_8_are_named() {
    let good = "{\"type\":\"event\",\"content\":\"a\",\"created_at\":1}\n";
    let found = read(format!("\u{feff}{good}{good}").as_bytes());
    assert_eq!(found[0].as_ref().unwrap_err().code(), "JSONL_BOM");
    assert!(found[1].is_ok());
    let found = read(&[b"{\"a\":\"\xff\"}\n", good.as_bytes()].concat());
    assert_eq!(found[0].as_ref().unwrap_err().code(), "JSONL_UTF8");
    assert!(found[1].is_ok());
}

#[test]
fn a_line_past_the_limit_is_passed_over() {
    let good = b"{\"type\":\"event\",\"content\":\"a\",\"created_at\":1}\n";
    let limit = 16 << 20;
    let long = vec![b' '; limit + 1];
    let found = read(&[&long[..], b"\n", good, &long[..]].concat());
    let codes: Vec<_> = found
        .iter()
        .map(|it| it.as_ref().err().map(|error| error.code().as_str()))
        .collect();
    assert_eq!(
        codes,
        [Some("JSONL_LONG_LINE"), None, Some("JSONL_LONG_LINE")]
    );
    let found = read(&[&long[..limit], b"\n", good].concat());
    assert!(found.len() == 1 && found[0].is_ok());
}

#[test]
fn a_failing_input_ends_the_reading() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let mut reader = Reader::new(std::io::BufReader::new(Failing), &ReadOptions::default());
    assert_eq!(reader.next().unwrap().unwrap_err().code(), "ERR_IO");
    assert!(reader.next().is_none());
}

#[test]
fn a_grain_without_a_time_takes_the_default() {
    let line = b"{\"type\":\"event\",\"content\":\"a\"}";
    let options = ReadOptions {
        default_created_at: Some(Time::from_ms(7)),
        ..ReadOptions::default()
    };
    let record = Reader::new(&line[..], &options).next().unwrap().unwrap();
    assert_eq!(record.grain.created_at(), Time::from_ms(7));
}

#[test]
fn a_status_is_folded_into_the_grain_it_follows() {
    let grain = event("a", 1);
    let of = grain.address();
    let status = format!(
        "{{\"status\":{{\"of\":\"{of}\",\"superseded_by\":\"{of}\",\"system_valid_to\":\"1970-01-01T00:00:01Z\",\
         \"verification_status\":\"retracted\",\"contradicted\":true,\"lifecycle\":\"archived\"}}}}"
    );
    let found = read(format!("{}\n\n{status}\n{status}\n", grain.to_json()).as_bytes());
    let change = found[0].as_ref().unwrap().status;
    assert_eq!(change.superseded_by, Some(of));
    assert_eq!(change.system_valid_to, Some(Time::from_ms(1000)));
    assert_eq!(change.verification, Some(Verification::Retracted));
    assert_eq!(change.contradicted, Some(true));
    assert_eq!(change.lifecycle, Some(Lifecycle::Archived));
    // A second status of the same grain follows a status, not a grain.
    assert_eq!(found[1].as_ref().unwrap_err().code(), "JSONL_STATUS");
    for wrong in [
        "\"superseded_by\":1",
        "\"system_valid_to\":\"soon\"",
        "\"verification_status\":\"maybe\"",
        "\"contradicted\":\"yes\"",
        "\"lifecycle\":\"gone\"",
        "\"lifecycles\":\"active\"",
    ] {
        let line = format!("{{\"status\":{{\"of\":\"{of}\",{wrong}}}}}");
        let found = read(format!("{}\n{line}\n", grain.to_json()).as_bytes());
        assert!(found[0].as_ref().unwrap().status.is_empty());
        assert_eq!(
            found[1].as_ref().unwrap_err().code(),
            "JSONL_STATUS",
            "{wrong}"
        );
    }
}

#[test]
fn what_json_cannot_spell_travels_as_a_blob() {
    let draft = Draft::event("a").created_at(Time::from_ms(1));
    let plain = draft.clone().finish(Profile::Extended).unwrap();
    let cbor = draft
        .clone()
        .encoding(Encoding::Cbor)
        .finish(Profile::Extended)
        .unwrap();
    let raised = draft
        .sensitivity(Sensitivity::Phi)
        .finish(Profile::Extended)
        .unwrap();
    let grains = [plain.clone(), cbor, raised, opaque(&plain)];
    let mut writer = Writer::new(Vec::new());
    for grain in &grains {
        writer.write(grain, &Status::default()).unwrap();
    }
    let bytes = writer.into_inner();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let is_blob: Vec<bool> = text
        .lines()
        .map(|line| line.starts_with("{\"address\":"))
        .collect();
    assert_eq!(is_blob, [false, true, true, true]);
    let records = read(&bytes);
    assert!(
        records
            .iter()
            .map(|it| &it.as_ref().unwrap().grain)
            .eq(&grains)
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_written_again_the_same(
        items in prop::collection::vec((grain(), status()), 0..8),
    ) {
        let mut writer = Writer::new(Vec::new());
        for (grain, status) in &items {
            writer.write(grain, status).unwrap();
        }
        let written = writer.into_inner();
        let records: Vec<Record> = read(&written).into_iter().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(records.len(), items.len());
        for (record, (grain, status)) in records.iter().zip(&items) {
            prop_assert_eq!(record.grain.blob(), grain.blob());
            let mut found = Status::default();
            found.apply(&record.status);
            prop_assert_eq!(found, *status);
        }
        prop_assert_eq!(write(&records), written);
    }
}

fn grain() -> impl Strategy<Value = Grain> {
    let draft = prop_oneof![
        (".+", any::<f64>()).prop_map(|(text, number)| {
            let number = if number.is_finite() { number } else { 0.5 };
            Draft::event(text).set("x:number", number)
        }),
        (".+", ".+", 0.0..=1.0).prop_map(|(subject, object, confidence)| {
            Draft::belief(subject, "knows", object).confidence(confidence)
        }),
        ".*".prop_map(|text| {
            Draft::state([("k", Value::from(text))].into_iter().collect::<Map>())
        }),
        (".+", prop::collection::vec(any::<i64>(), 0..4)).prop_map(|(text, numbers)| {
            let numbers: Vec<Value> = numbers.into_iter().map(Value::from).collect();
            Draft::goal(text).set("x:numbers", numbers)
        }),
    ];
    let how = (any::<i64>(), any::<bool>(), any::<bool>(), any::<bool>());
    (draft, how).prop_filter_map("text a grain refuses", |(draft, how)| {
        let (ms, is_cbor, is_raised, is_opaque) = how;
        let mut draft = draft.created_at(Time::from_ms(ms));
        if is_cbor {
            draft = draft.encoding(Encoding::Cbor);
        }
        if is_raised {
            draft = draft.sensitivity(Sensitivity::Pii);
        }
        let grain = draft.finish(Profile::Extended).ok()?;
        Some(if is_opaque { opaque(&grain) } else { grain })
    })
}

fn status() -> impl Strategy<Value = Status> {
    let address = prop::option::of(any::<[u8; 32]>().prop_map(ContentAddress::new));
    let time = prop::option::of(any::<i64>().prop_map(Time::from_ms));
    let verification = prop::sample::select(vec![
        Verification::Unverified,
        Verification::Verified,
        Verification::Contested,
        Verification::Retracted,
    ]);
    let lifecycle = prop::sample::select(vec![
        Lifecycle::Active,
        Lifecycle::Deprecated,
        Lifecycle::Archived,
        Lifecycle::Superseded,
    ]);
    let parts = (address, time, verification, any::<bool>(), lifecycle);
    parts.prop_map(
        |(superseded_by, system_valid_to, verification, contradicted, lifecycle)| Status {
            superseded_by,
            system_valid_to,
            verification,
            contradicted,
            lifecycle,
        },
    )
}

/// The same payload under a type of a later revision.
fn opaque(grain: &Grain) -> Grain {
    let mut header = *grain.header();
    header.type_byte = 0x42;
    assert!(!header.flags.contains(Flags::SIGNED));
    let payload = &grain.blob()[header.to_bytes().len()..];
    let blob = [&header.to_bytes()[..], payload].concat();
    Grain::from_foreign_blob(blob, Profile::Extended).unwrap().0
}

fn event(content: &str, ms: i64) -> Grain {
    let draft = Draft::event(content).created_at(Time::from_ms(ms));
    draft.finish(Profile::Extended).unwrap()
}

fn read(bytes: &[u8]) -> Vec<Result<Record, Error>> {
    Reader::new(bytes, &ReadOptions::default()).collect()
}

fn write(records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new());
    for record in records {
        let mut status = Status::default();
        status.apply(&record.status);
        writer.write(&record.grain, &status).unwrap();
    }
    writer.into_inner()
}
