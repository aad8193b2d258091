//! Random valid grains of all ten types, for every test that needs some.

use grainstore::codec::{ContentAddress, Encoding, Map, Value};
use grainstore::grain::{Draft, Time, Type};
use grainstore::store::Put;

use crate::random::Random;

/// The addresses of the grains of a batch, in their order.
pub(crate) fn addresses_of(stored: &[Put]) -> Vec<ContentAddress> {
    stored.iter().map(|put| put.address).collect()
}

/// A draft that every rule accepts.
pub(crate) fn draft(random: &mut Random) -> Draft {
    let of = random.pick(&Type::STANDARD);
    let mut draft =
        of_type(of, random).created_at(Time::from_ms(random.number().cast_signed() >> 20));
    if random.flag() {
        draft = draft.encoding(Encoding::Cbor);
    }
    if random.flag() {
        let parts: Vec<String> = random.many(1..5, |random| letters(random, 1..7));
        draft = draft.namespace(parts.join(":"));
    }
    if random.flag() {
        draft = draft.importance(share(random));
    }
    for _ in 0..random.below(3) {
        draft = draft.tag(random.pick(&["ui", "pii:email", "phi:mrn", "reg:sox", "café"]));
    }
    // Ruling T3 and 27.1: a complete Action usually has no derived_from, but may.
    for _ in 0..random.below(3) {
        draft = draft.derived_from(address(random));
    }
    let extra = map(random, 2).into_iter();
    extra.fold(draft, |draft, (name, value)| {
        draft.set(format!("app_{name}"), value)
    })
}

fn of_type(of: Type, random: &mut Random) -> Draft {
    match of {
        Type::Belief => {
            let (subject, relation) = (text(random), text(random));
            let object = if random.flag() {
                Value::Map(map(random, 2))
            } else {
                Value::Text(text(random))
            };
            Draft::belief(subject, relation, object).confidence(share(random))
        }
        Type::Event => Draft::event(text(random)),
        Type::State => Draft::state(map(random, 2)),
        Type::Workflow => Draft::workflow(texts(random), text(random)),
        Type::Action => {
            let (tool, input) = (text(random), map(random, 2));
            let content = match value(random, 1) {
                // OMS 4.5: a member that is null is absent, and this one is required.
                Value::Nil => Value::from("done"),
                content => content,
            };
            Draft::action(tool, input, content, random.flag())
        }
        Type::Observation => {
            // No type of observer that a rule speaks of starts so (OMS 24, 27.6).
            let kind = format!("x{}", letters(random, 1..12));
            Draft::observation(text(random), kind)
        }
        Type::Goal => Draft::goal(text(random)),
        Type::Reasoning => Draft::reasoning(text(random)),
        Type::Consensus => {
            let [threshold, yes, no] = [(); 3].map(|()| random.pick(&[0, 1, 2, 8, 500, u32::MAX]));
            Draft::consensus(texts(random), threshold, yes, no)
        }
        Type::Consent => Draft::consent(text(random), text(random), texts(random)),
        Type::Opaque(_) => unreachable!("not a standard type"),
    }
}

/// Any value but bytes, which are legal in two fields only (ruling F13).
fn value(random: &mut Random, depth: usize) -> Value {
    // At the bottom the two kinds that hold others are out of reach.
    let kinds = if depth == 0 { 8 } else { 10 };
    match random.below(kinds) {
        0 => Value::Nil,
        1 => Value::Bool(random.flag()),
        // Numbers of every length, so of every form that the encodings have.
        2 => Value::from(random.number() >> random.below(64)),
        3 => Value::from(random.number().cast_signed() >> random.below(64)),
        4 => Value::Float(float(random)),
        // Floats that half and single precision hold exactly.
        5 => Value::Float(f64::from(random.pick(&[0_u16, 1, 3, 500, u16::MAX])) / 8.0),
        6 | 7 => Value::Text(text(random)),
        8 => Value::Array(random.many(0..20, |random| value(random, depth - 1))),
        _ => Value::Map(map(random, depth - 1)),
    }
}

fn map(random: &mut Random, depth: usize) -> Map {
    // Seldom with more members than a length of four bits counts.
    let len = if random.below(64) == 0 { 14..18 } else { 0..5 };
    random.many(len, |random| {
        let name = format!("x{}", letters(random, 0..6));
        (name, value(random, depth))
    })
}

fn float(random: &mut Random) -> f64 {
    let float = f64::from_bits(random.number());
    if float.is_finite() { float } else { -0.0 }
}

fn share(random: &mut Random) -> f64 {
    random.pick(&[0.0, 0.1, 0.25, 1.0 / 3.0, 0.5, 0.9, 1.0])
}

fn texts(random: &mut Random) -> Vec<String> {
    random.many(1..4, text)
}

/// Words, seldom many, text that normalisation changes, or any characters but byte-order marks (ruling F15).
fn text(random: &mut Random) -> String {
    match random.below(4) {
        0 | 1 => {
            let len = if random.below(64) == 0 { 40..80 } else { 1..7 };
            let words: Vec<String> = random.many(len, |random| letters(random, 1..11));
            words.join(" ")
        }
        2 => random.many(1..7, |random| {
            random.pick(&[
                'é', '\u{301}', 'ü', '한', '字', 'ａ', '😀', '\u{1100}', '\u{1161}',
            ])
        }),
        _ => random.many(1..21, any_char),
    }
}

fn any_char(random: &mut Random) -> char {
    // Most characters lie in the first plane, and the oldest of them are special the most often.
    let end = random.pick(&[0x80, 0x3000, 0x1_0000, 0x11_0000]);
    let number = u32::try_from(random.below(end)).unwrap();
    match char::from_u32(number) {
        Some('\u{feff}') | None => 'x',
        Some(any) => any,
    }
}

fn letters(random: &mut Random, len: std::ops::Range<usize>) -> String {
    random.many(len, |random| {
        char::from(b'a' + u8::try_from(random.below(26)).unwrap())
    })
}

fn address(random: &mut Random) -> ContentAddress {
    ContentAddress::of(&random.number().to_be_bytes())
}

/// What marks health information, behind `phi:` (OMS 27.4).
pub(crate) const PHI: [&str; 18] = [
    "name",
    "geo_subdivision",
    "date",
    "age_over_89",
    "phone",
    "fax",
    "email",
    "ssn",
    "mrn",
    "health_plan_id",
    "account_number",
    "certificate_license",
    "vehicle_id",
    "device_id",
    "url",
    "ip_address",
    "biometric",
    "photo",
];
