//! Documents and lines in pieces say what a parser says of the whole, and memory stays bounded.

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use crate::codec::Value;
use crate::interchange::Place;
use crate::interchange::io::source_file::{Input, SourceFile, packed};

use super::stream::{BATCH_LEN_BYTES, stream};
use super::strict::{self, Flaw};
use super::{JsonError, JsonRecords, Position, read_in_order};

const ARRAYS: [&str; 2] = ["a", "b"];

/// Puts a document together again.
fn whole(text: &[u8]) -> Result<Value, Flaw> {
    let taken = JsonRecords::document(Cursor::new(text), &ARRAYS, strict::parse, |_, _| {});
    let (value, mut records) = taken.map_err(|broken| match broken {
        JsonError::Flaw(flaw, _) => flaw,
        JsonError::Io(source) => panic!("{source}"),
    })?;
    let Value::Map(mut map) = value else {
        return Ok(value);
    };
    for (array, name) in ARRAYS.into_iter().enumerate() {
        let mut items = Vec::new();
        let take = |(value, place): (Value, Place)| {
            assert_eq!(place, Place::Pointer(format!("/{name}/{}", items.len())));
            items.push(value);
            true
        };
        records
            .each(array, |value, place| (value, place), take)
            .unwrap();
        if map.get(name).is_some_and(|it| it.as_array().is_some()) {
            map.insert(name, items);
        }
    }
    Ok(Value::Map(map))
}

#[test]
fn an_array_of_a_member_is_streamed_and_its_other_members_are_returned() {
    let arrays = ["data/chats", "notes"];
    let read = |text: &str| {
        let mut taken = Vec::new();
        let take = |(value, at): (Value, Position)| {
            taken.push(format!("{} {}", at.array, value.to_json()));
            true
        };
        let make = |value, at| (value, at);
        let rest = stream(Cursor::new(text), &arrays, |_| true, make, take);
        let rest = rest.map(|rest| rest.unwrap().to_json());
        (taken, rest.map_err(|error| format!("{error:?}")))
    };
    let text = r#" {"v": 1, "data": {"a": {"chats": [7]}, "chats": [{"x": 1}, 2]}, "notes": [3], "chats": [4]} "#;
    let (taken, rest) = read(text);
    assert_eq!(taken, ["0 {\"x\":1}", "0 2", "1 3"]);
    assert_eq!(
        rest.unwrap(),
        r#"{"chats":[4],"data":null,"data/a":{"chats":[7]},"data/chats":[],"notes":[],"v":1}"#
    );
    assert_eq!(
        read(r#"{"data": [1], "notes": 2}"#).1.unwrap(),
        r#"{"data":[1],"notes":2}"#
    );
    for wrong in [
        r#"{"data": {"chats": [1]}, "data": {}}"#,
        r#"{"data": {"chats": [1], "chats": [2]}}"#,
        r#"{"data": {"chats": [1]"#,
        r#"{"data": {"chats": [1],}}"#,
        r#"{"data": {"chats": [1]} "notes": []}"#,
    ] {
        assert!(read(wrong).1.is_err(), "{wrong}");
    }
}

#[test]
fn a_document_is_its_pieces() {
    let deep = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!("{{\"a\": [1, {open}{close}], \"c\": {open}{close}}}")
    };
    let texts = [
        "{}",
        " {\n} ",
        "{\"a\":[]}",
        "{\"b\" : [ 1 , \"]\" , {\"x\": [\"\\\"\", \"\\\\\"]} ] , \"c\": null, \"a\":[[],[]] }",
        "{\"\\u0061\": [1, 2], \"b\": {\"a\": [3]}}",
        "{\"a\": 1, \"b\": \"x\"}",
        "[1]",
        "7",
        "\"x\"",
    ];
    for text in texts.map(str::to_owned).into_iter().chain([deep(125)]) {
        let value = strict::parse(text.as_bytes()).unwrap();
        assert_eq!(whole(text.as_bytes()).unwrap(), value, "{text}");
    }
    let wrong = [
        "",
        "{",
        "{\"a\"}",
        "{\"a\":[1,]}",
        "{\"a\":[,1]}",
        "{\"a\":[1 2]}",
        "{\"a\":[1}",
        "{\"a\":[}]",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":[1]]",
        "{\"a\":1} x",
        "{\"a\" 1}",
        "{a:1}",
        "{1:1}",
        "{\"a\":[nul]}",
        "{\"a\":[1],\"a\":[2]}",
        "{\"a\":[{\"x\":1,\"x\":2}]}",
        "\u{feff}{}",
    ];
    for text in wrong.map(str::to_owned).into_iter().chain([deep(126)]) {
        let flaw = strict::parse(text.as_bytes()).unwrap_err().0;
        assert_eq!(whole(text.as_bytes()), Err(flaw), "{text}");
    }
    assert_eq!(whole(b"{\"a\": [\"\xff\"]}"), Err(Flaw::Utf8));
}

proptest! {
    #[test]
    fn what_a_parser_refuses_is_refused_in_pieces(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{},:\"\\\\ 1ab]"), 1..4),
    ) {
        let mut text =
            "{\"a\": [1, {\"x\": \"]\"}, [2]], \"c\": {\"a\": [\"\\\"\"]}, \"b\": [[], 3.5]}".to_owned();
        for (at, with) in edits {
            let at = at.index(text.len());
            text.replace_range(at..=at, &with);
        }
        match strict::parse(text.as_bytes()) {
            Ok(value) => prop_assert_eq!(whole(text.as_bytes()), Ok(value), "{}", text),
            Err(_) => prop_assert!(whole(text.as_bytes()).is_err(), "{}", text),
        }
    }
}

#[test]
fn lines_that_alternate_between_arrays_come_in_their_order() {
    let lines: String = (0..3_000).map(|n| format!("\n{n}")).collect();
    let look = |number: u64, _, _| Some(usize::from(number.is_multiple_of(2)));
    let input = Cursor::new(format!("{{}}{lines}").into_bytes());
    let (_, mut records) = JsonRecords::lines(input, &ARRAYS, strict::parse, look).unwrap();
    assert_eq!(records.runs.len(), 3_000);
    for (array, first) in [(1, 0), (0, 1)] {
        let mut found = Vec::new();
        let take = |(value, place): (Value, Place)| {
            assert_eq!(
                place,
                Place::Line(value.as_i64().unwrap().unsigned_abs() + 2)
            );
            found.push(value);
            true
        };
        records
            .each(array, |value, place| (value, place), take)
            .unwrap();
        let expected = (first..3_000_i64).step_by(2).map(Value::from);
        assert!(found.into_iter().eq(expected));
    }
}

/// Counts what is read of it.
struct Counted<'a>(Cursor<Vec<u8>>, &'a AtomicUsize);

impl Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.0.read(into)?;
        self.1.fetch_add(len, Ordering::Relaxed);
        Ok(len)
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn no_more_than_three_batches_are_read_ahead() {
    let record = format!("{{\"x\": \"{}\"}}", "y".repeat(1_000));
    let items = vec![record; 20_000];
    let document = format!("{{\"a\": [{}]}}", items.join(", "));
    let lines = format!("{{}}\n{}\n", items.join("\n"));
    for text in [document, lines] {
        let read = AtomicUsize::new(0);
        let len = text.len();
        let is_lines = text.contains('\n');
        let input = BufReader::new(Counted(Cursor::new(text.into_bytes()), &read));
        let mut records = if is_lines {
            JsonRecords::lines(input, &ARRAYS, strict::parse, |_, _, _| Some(0))
                .unwrap()
                .1
        } else {
            JsonRecords::document(input, &ARRAYS, strict::parse, |_, _| {})
                .unwrap()
                .1
        };
        assert!(read.load(Ordering::Relaxed) >= len && records.runs.len() == 1);
        read.store(0, Ordering::Relaxed);
        let mut count = 0;
        let take = |()| {
            count += 1;
            // At most this batch, two behind it and the content of the buffer have been read.
            let ahead = read.load(Ordering::Relaxed).saturating_sub(count * 1_000);
            assert!(ahead < 4 * BATCH_LEN_BYTES, "{ahead}");
            count < 15_000
        };
        records.each(0, |_, _| (), take).unwrap();
        assert_eq!(count, 15_000);
        assert!(read.load(Ordering::Relaxed) < len, "the rest is not read");
    }
}

/// Writes elements with more or less space around them.
fn listed(items: &[(String, usize)], spaces: &str) -> String {
    let mut text = String::from("[");
    for (place, (item, gap)) in items.iter().enumerate() {
        let separator = if place > 0 { "," } else { "" };
        let gap = spaces.get(..*gap).unwrap_or_default();
        text.push_str(&format!("{gap}{separator}{gap}\"{item}\""));
    }
    text + "]"
}

proptest! {
    #[test]
    fn elements_come_in_any_order_that_is_asked_for(
        items in prop::collection::vec(("[a-z\\]\\[,{]{0,90}", 0_usize..5), 0..40),
        order in Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let text = listed(&items, " \n\t  ");
        let parts = [
            SourceFile::Whole(Input::Bytes(text.as_bytes()).open().unwrap()),
            packed(text.as_bytes()),
        ];
        for part in parts {
            let mut starts = Vec::new();
            let stream = part.read(7, |input| {
                let make = |value: Value, position: Position| (value, position);
                stream(input, &[""], |_| true, make, |(value, position)| {
                    let item = items.get(starts.len()).map(|(item, _)| item.as_str());
                    assert_eq!((value.as_text(), position.array), (item, 0));
                    starts.push(position.start);
                    true
                })
            });
            let rest = stream.unwrap().unwrap();
            prop_assert_eq!(rest, Some(Value::Array(Vec::new())));
            // Of every second nothing is asked.
            let is_asked = |number: &usize| *number < items.len() && number.is_multiple_of(2);
            let order: Vec<usize> = order.iter().copied().filter(is_asked).collect();
            let mut came = Vec::new();
            let make = |value: Value, number: usize| (value, number);
            read_in_order(&part, &starts, order.iter().copied(), make, |(value, number)| {
                let item = items.get(number).map(|(item, _)| item.as_str());
                assert_eq!(value.as_text(), item);
                came.push(number);
                true
            })
            .unwrap();
            prop_assert_eq!(came, order);
        }
    }
}

#[test]
fn what_nobody_wants_is_passed_over_and_what_is_enough_ends_the_reading() {
    let text = "{\"a\": [1, 2, {\"x\": no}], \"b\": [3, 4, 5, 6], \"c\": 7}";
    let stream = |text: &str, wanted: usize, enough: usize| {
        let mut taken = Vec::new();
        let make = |value: Value, position: Position| (value, position.number);
        let read = stream(
            Cursor::new(text),
            &ARRAYS,
            |it| it == wanted,
            make,
            |one| {
                taken.push(one.0.to_json());
                taken.len() < enough
            },
        );
        (taken, read)
    };
    let (taken, read) = stream(text, 1, 9);
    assert_eq!(taken, ["3", "4", "5", "6"]);
    let rest = Value::from_json("{\"a\": [], \"b\": [], \"c\": 7}").unwrap();
    assert_eq!(read.unwrap(), Some(rest));
    let (taken, read) = stream(text, 1, 2);
    assert_eq!((taken.len(), read.unwrap()), (2, None));
    let (_, read) = stream(text, 0, 9);
    assert!(matches!(read, Err(JsonError::Flaw(Flaw::Syntax, _))));
}
