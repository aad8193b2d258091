//! Public test suites, read from beside the project, and what their cases come to
//! (`docs/testing.md` is compared with the tables here).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use grainstore::codec::{Encoding, Int, Map, Profile, Value, encode_value};
use grainstore::grain::{Draft, Grain, Time};

use crate::foreign::corpus;
use crate::signature_suites;

pub(crate) fn entries(value: &Value) -> &Map {
    value.as_map().unwrap()
}

/// Reads one value; inside an array, where null may stand.
fn decode(bytes: &[u8]) -> Result<Value, &'static str> {
    let mut payload = vec![0x81, 0xa1, b'a', 0x91];
    payload.extend_from_slice(bytes);
    let map = Encoding::MessagePack
        .decode(&payload, Profile::Extended)
        .map_err(|error| error.code().as_str())?;
    Ok(map.get("a").unwrap().as_array().unwrap()[0].clone())
}

/// How many encodings of msgpack-test-suite are accepted as the value, as a double of an
/// integer's value, and refused.
const MSGPACK: [usize; 3] = [59, 11, 163];

#[test]
#[ignore = "needs corpora"]
fn of_the_messagepack_encodings_of_a_value_one_is_accepted() {
    let folder = corpus("vectors/msgpack");
    let text = std::fs::read_to_string(folder.join("dist/msgpack-test-suite.json")).unwrap();
    let groups = Value::from_json(&text).unwrap();
    let mut counts = [0; 3];
    for (group, cases) in entries(&groups).iter() {
        for case in cases.as_array().unwrap().iter().map(entries) {
            let value = value_of(case);
            let canonical = value.map(|value| {
                let bytes = encode_value(value.clone(), Profile::Extended).unwrap();
                (value, bytes)
            });
            let mut is_accepted = false;
            for encoding in case.get("msgpack").unwrap().texts() {
                let bytes = unhex(encoding);
                let read = decode(&bytes);
                match (&canonical, read) {
                    (Some((value, canonical)), Ok(read)) if bytes == *canonical => {
                        assert_eq!(read, *value, "{group} {encoding}");
                        is_accepted = true;
                        counts[0] += 1;
                    }
                    // Ruling F8: 1 and 1.0 are two values, with an encoding each.
                    (Some((Value::Int(int), _)), Ok(Value::Float(float))) => {
                        assert_eq!(
                            int.to_f64().to_bits(),
                            float.to_bits(),
                            "{group} {encoding}"
                        );
                        counts[1] += 1;
                    }
                    (_, Ok(read)) => panic!("{group} {encoding}: accepted as {read:?}"),
                    (_, Err(code)) => {
                        assert_eq!(code, "ERR_CORRUPT", "{group} {encoding}");
                        counts[2] += 1;
                    }
                }
            }
            assert_eq!(is_accepted, canonical.is_some(), "{group}: {case:?}");
        }
    }
    assert_eq!(counts, MSGPACK);
}

/// Returns the value of a case; extension types, timestamps among them, are not values here.
fn value_of(case: &Map) -> Option<Value> {
    let member = |name| case.get(name).cloned();
    if let Some(hex) = case.get("binary").and_then(Value::as_text) {
        return Some(Value::Bytes(unhex(hex)));
    }
    if let Some(digits) = case.get("bignum").and_then(Value::as_text) {
        let number: Int = match digits.parse::<i64>() {
            Ok(small) => small.into(),
            Err(_) => digits.parse::<u64>().unwrap().into(),
        };
        return Some(Value::Int(number));
    }
    ["nil", "bool", "number", "string", "array", "map"]
        .into_iter()
        .find_map(member)
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    data_encoding::HEXLOWER
        .decode(text.replace('-', "").as_bytes())
        .unwrap()
}

/// Cases of JSONTestSuite whose name does not say their verdict, or says another: with the reason.
const JSON: &[(&str, bool, &str)] = &[
    ("i_number_double_huge_neg_exp", true, UNDERFLOW),
    ("i_number_huge_exp", false, NO_DOUBLE),
    ("i_number_neg_int_huge_exp", false, NO_DOUBLE),
    ("i_number_pos_double_huge_exp", false, NO_DOUBLE),
    ("i_number_real_neg_overflow", false, NO_DOUBLE),
    ("i_number_real_pos_overflow", false, NO_DOUBLE),
    ("i_number_real_underflow", true, UNDERFLOW),
    ("i_number_too_big_neg_int", false, WIDE),
    ("i_number_too_big_pos_int", false, WIDE),
    ("i_number_very_big_negative_int", false, WIDE),
    ("i_object_key_lone_2nd_surrogate", false, SURROGATE),
    ("i_string_1st_surrogate_but_2nd_missing", false, SURROGATE),
    ("i_string_1st_valid_surrogate_2nd_invalid", false, SURROGATE),
    ("i_string_UTF-16LE_with_BOM", false, NOT_UTF8),
    ("i_string_UTF-8_invalid_sequence", false, NOT_UTF8),
    ("i_string_UTF8_surrogate_U+D800", false, NOT_UTF8),
    (
        "i_string_incomplete_surrogate_and_escape_valid",
        false,
        SURROGATE,
    ),
    ("i_string_incomplete_surrogate_pair", false, SURROGATE),
    (
        "i_string_incomplete_surrogates_escape_valid",
        false,
        SURROGATE,
    ),
    ("i_string_invalid_lonely_surrogate", false, SURROGATE),
    ("i_string_invalid_surrogate", false, SURROGATE),
    ("i_string_invalid_utf-8", false, NOT_UTF8),
    ("i_string_inverted_surrogates_U+1D11E", false, SURROGATE),
    ("i_string_iso_latin_1", false, NOT_UTF8),
    ("i_string_lone_second_surrogate", false, SURROGATE),
    ("i_string_lone_utf8_continuation_byte", false, NOT_UTF8),
    ("i_string_not_in_unicode_range", false, NOT_UTF8),
    ("i_string_overlong_sequence_2_bytes", false, NOT_UTF8),
    ("i_string_overlong_sequence_6_bytes", false, NOT_UTF8),
    ("i_string_overlong_sequence_6_bytes_null", false, NOT_UTF8),
    ("i_string_truncated-utf-8", false, NOT_UTF8),
    ("i_string_utf16BE_no_BOM", false, NOT_UTF8),
    ("i_string_utf16LE_no_BOM", false, NOT_UTF8),
    ("i_structure_500_nested_arrays", false, DEEP),
    ("i_structure_UTF-8_BOM_empty_object", false, MARK),
    ("y_object_duplicated_key", false, TWICE),
    ("y_object_duplicated_key_and_value", false, TWICE),
];

const NO_DOUBLE: &str = "no finite double is close to it";
const WIDE: &str = "an integer beyond 64 bits would lose digits";
const SURROGATE: &str = "a lone surrogate is not a character";
const NOT_UTF8: &str = "not UTF-8";
const DEEP: &str = "nested past 128 levels; a grain allows 32";
const MARK: &str = "a byte-order mark before the text";
const TWICE: &str = "duplicate members, one of which would be lost";
const UNDERFLOW: &str = "zero is the nearest double";

/// How many cases of JSONTestSuite must be accepted, refused, and may be either.
const JSON_COUNTS: [usize; 3] = [95, 188, 35];

#[test]
#[ignore = "needs corpora"]
fn json_is_accepted_and_refused_as_json_test_suite_says() {
    let folder = corpus("vectors/JSONTestSuite");
    let expected: BTreeMap<_, _> = JSON
        .iter()
        .map(|(name, is_accepted, reason)| (*name, (*is_accepted, *reason)))
        .collect();
    let mut counts = [0; 3];
    let mut faults = Vec::new();
    let mut met = BTreeSet::new();
    for entry in std::fs::read_dir(folder.join("test_parsing")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        // JSON is UTF-8 (RFC 8259 8.1): other bytes do not get as far as the parser.
        let text = std::str::from_utf8(&bytes);
        let is_accepted = text.is_ok_and(|text| Value::from_json(text).is_ok());
        let must = match name.chars().next() {
            Some('y') => 0,
            Some('n') => 1,
            _ => 2,
        };
        counts[must] += 1;
        let listed = expected.get(name.as_str()).copied();
        if let Some((_, reason)) = listed {
            assert_eq!(text.is_err(), reason == NOT_UTF8, "{name}");
            met.insert(name.clone());
        }
        let verdict = listed.map(|(is_accepted, _)| is_accepted);
        if verdict.unwrap_or(must == 0) != is_accepted || (must == 2 && verdict.is_none()) {
            faults.push(format!("{name}: accepted is {is_accepted}"));
        }
    }
    faults.sort();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert_eq!(counts, JSON_COUNTS);
    assert_eq!(met.len(), JSON.len(), "a case is gone");
}

/// How many naughty strings come through, and how many hold a byte-order mark.
const NAUGHTY: [usize; 2] = [512, 3];

#[test]
#[ignore = "needs corpora"]
fn every_naughty_string_comes_through_as_it_is_or_is_refused() {
    let folder = corpus("vectors/blns");
    let text = std::fs::read_to_string(folder.join("blns.json")).unwrap();
    let mut counts = [0; 2];
    for string in Value::from_json(&text).unwrap().texts() {
        // As content, as the name of a member, as its value, and as a tag.
        let context = Map::from_iter([(string, string)]);
        let draft = Draft::event(format!("naughty: {string}"))
            .set("context", context)
            .tag(string)
            .created_at(Time::from_ms(1));
        let grain = match draft.finish(Profile::Extended) {
            Ok(grain) => grain,
            Err(error) => {
                assert_eq!(error.code(), "ERR_CORRUPT", "{string:?}");
                assert!(string.contains('\u{feff}'), "ruling F15: {string:?}");
                counts[1] += 1;
                continue;
            }
        };
        let read = Grain::from_blob(grain.blob().to_vec(), Profile::Extended).unwrap();
        let again = Draft::from_json(&read.to_json()).unwrap();
        let again = again.finish(Profile::Extended).unwrap();
        assert_eq!(again.blob(), grain.blob(), "{string:?}");
        let bytes = encode_value(string.into(), Profile::Extended).unwrap();
        let Value::Text(normal) = decode(&bytes).unwrap() else {
            panic!("{string:?}");
        };
        assert_eq!(read.text("content"), Some(&*format!("naughty: {normal}")));
        let context = read.field("context").and_then(Value::as_map).unwrap();
        assert_eq!(
            context.get(&normal).and_then(Value::as_text),
            Some(&*normal)
        );
        counts[0] += 1;
    }
    assert_eq!(counts, NAUGHTY);
}

#[test]
fn the_document_says_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/testing.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.ends_with(&document()), "{}", document());
}

fn document() -> String {
    let mut out = String::from(INTRODUCTION);
    let [value, double, refused] = MSGPACK;
    let [must, must_not, may] = JSON_COUNTS;
    let [through, marked] = NAUGHTY;
    out.push_str("| suite | cases | result |\n| --- | --- | --- |\n");
    let count = |starts: char| {
        JSON.iter()
            .filter(|(name, ..)| name.starts_with(starts))
            .count()
    };
    for (suite, cases, verdict) in [
        (
            "msgpack-test-suite",
            value,
            "the canonical encoding of a value: accepted as that value",
        ),
        (
            "msgpack-test-suite",
            double,
            "a float64 of a whole number: accepted as a double, which is a different value (ruling F8)",
        ),
        (
            "msgpack-test-suite",
            refused,
            "any other encoding, extension types and timestamps: `ERR_CORRUPT`",
        ),
        ("JSONTestSuite y_", must - count('y'), "accepted"),
        (
            "JSONTestSuite y_",
            count('y'),
            "refused under a stricter rule, listed below",
        ),
        ("JSONTestSuite n_", must_not - count('n'), "refused"),
        ("JSONTestSuite n_", count('n'), "accepted"),
        (
            "JSONTestSuite i_",
            may,
            "undefined by the suite, listed below",
        ),
        (
            "blns",
            through,
            "survive the round trip through a grain, its blob and its JSON, in NFC",
        ),
        (
            "blns",
            marked,
            "contain a byte-order mark: `ERR_CORRUPT` (ruling F15)",
        ),
    ]
    .iter()
    .chain(signature_suites::ROWS)
    {
        out.push_str(&format!("| {suite} | {cases} | {verdict} |\n"));
    }
    out.push_str("\n| why | verdict | cases of JSONTestSuite |\n| --- | --- | --- |\n");
    let reasons = JSON.iter().map(|(_, verdict, why)| (*why, *verdict));
    for (reason, is_accepted) in BTreeSet::from_iter(reasons) {
        let verdict = if is_accepted { "accepted" } else { "refused" };
        let cases = JSON.iter().filter(|(.., why)| *why == reason).count();
        out.push_str(&format!("| {reason} | {verdict} | {cases} |\n"));
    }
    out.push_str("\n| case of cose-examples | verdict | why |\n| --- | --- | --- |\n");
    for (name, code, reason) in signature_suites::COSE {
        out.push_str(&format!("| {name} | `{code}` | {reason} |\n"));
    }
    out
}

const INTRODUCTION: &str = "## Public test suites

`tests/it/suites.rs` and `signature_suites.rs` run nine suites if they lie beside the project, and
compare this page with their tables, which name each case. Wycheproof's other ECDSA file has
signatures in DER, which COSE does not use.

";
