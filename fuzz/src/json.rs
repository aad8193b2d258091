//! The law of `decode_json`: accepted JSON is a value, and a draft from it is a grain that comes
//! back.

use grainstore::codec::{Encoding, Profile, Value};
use grainstore::grain::{Draft, Grain};

use crate::blob::{accepted, json_round_trip};
use crate::choice;
use crate::meter::{PLAIN, measure};

/// Reads text as a JSON value and as a draft; bytes that are not UTF-8 are replaced.
///
/// - An accepted value is the one that its JSON is read as, and so is its canonical JSON.
/// - A finished draft is accepted as a blob under its profile, and comes back from its JSON.
/// - What a small profile finishes, a larger one finishes to the same bytes.
pub fn decode_json(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(value) = measure(PLAIN, text.len(), || Value::from_json(&text)) else {
        let draft = Draft::from_json(&text);
        assert!(draft.is_err(), "a draft of no value");
        return;
    };
    round_trip(&value);
    let Ok(draft) = Draft::from_json(&text) else {
        return;
    };
    // One encoding and one small profile are enough for one input.
    let encoding = choice([Encoding::MessagePack, Encoding::Cbor], text.len());
    let small = choice([Profile::Standard, Profile::Lightweight], text.len() / 2);
    let draft = draft.encoding(encoding);
    let grain = finish(draft.clone(), Profile::Extended, text.len());
    if let Some(small) = finish(draft, small, text.len()) {
        assert_eq!(
            Some(&small),
            grain.as_ref(),
            "a larger profile makes it too"
        );
    }
    if let Some(grain) = grain {
        accepted(&grain, grain.blob());
        json_round_trip(&grain);
    }
}

fn round_trip(value: &Value) {
    let json = value.to_json();
    let again = Value::from_json(&json).expect("JSON that was written is read");
    assert_eq!(&again, value);
    assert_eq!(again.to_json(), json);
    let canonical = value.to_jcs();
    let text = std::str::from_utf8(&canonical).expect("canonical JSON is text");
    // Integral doubles past 64 bits are integers there, which are refused.
    if let Ok(again) = Value::from_json(text) {
        assert_eq!(again.to_jcs(), canonical);
    }
}

fn finish(draft: Draft, profile: Profile, len: usize) -> Option<Grain> {
    let grain = measure(PLAIN, len, || draft.finish(profile)).ok()?;
    let read = Grain::from_blob(grain.blob().to_vec(), profile);
    assert_eq!(read.expect("what was finished is accepted"), grain);
    Some(grain)
}
