//! Trusted timestamps (OMS 6.1, RFC 3161): a token is about the grain it is in, or it is nothing.

use grainstore::codec::{Map, Profile, Value};
use grainstore::crypto::{Timestamp, timestamp_imprint, trusted_timestamp};
use grainstore::{Draft, Grain, Time};

fn vector(name: &str) -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/test-vectors/timestamps/tokens.json"
    );
    let vectors = Value::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
    vectors.as_map().unwrap().get(name).unwrap().clone()
}

fn bytes(name: &str) -> Vec<u8> {
    let digits = vector(name);
    let digits = digits.as_text().unwrap();
    data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap()
}

fn draft() -> Draft {
    Draft::from_value(vector("grain")).unwrap()
}

fn stamped(draft: Draft, token: Vec<u8>) -> Grain {
    let mut field = Map::from_iter([("tsp_response", Value::Bytes(token))]);
    field.insert("tsa_uri", "https://tsa.example");
    let draft = draft.set("trusted_timestamp", field);
    draft.finish(Profile::Extended).unwrap()
}

#[test]
fn a_token_states_a_time_for_the_grain_that_was_stamped() {
    let plain = draft().finish(Profile::Extended).unwrap();
    let imprint = timestamp_imprint(&plain).unwrap();
    assert_eq!(imprint.as_slice(), bytes("imprint_sha256"));
    assert_eq!(trusted_timestamp(&plain).unwrap(), None, "it has none");
    let time = vector("time");
    let time = Time::parse(time.as_text().unwrap()).unwrap();
    for token in [bytes("response"), bytes("token_sha512")] {
        let grain = stamped(draft(), token.clone());
        // The stamp is part of the grain, and not of what was stamped.
        assert_ne!(grain.address(), plain.address());
        assert_eq!(timestamp_imprint(&grain).unwrap(), imprint);
        let stamp = trusted_timestamp(&grain).unwrap().unwrap();
        assert!(stamp.time().ms().abs_diff(time.ms()) <= 1_000);
        assert_eq!(stamp, Timestamp::parse(&token).unwrap());
        assert!(stamp.covers(plain.blob()) && !stamp.covers(grain.blob()));
    }
}

#[test]
fn a_token_about_something_else_proves_nothing() {
    let code = |grain: Grain| trusted_timestamp(&grain).unwrap_err().code();
    let later = draft().created_at(Time::from_ms(1_768_471_200_001));
    let other = draft().set("content", "agreed at midnight");
    let signed = draft().to_be_signed();
    for draft in [later, other, signed] {
        assert_eq!(code(stamped(draft, bytes("response"))), "ERR_TIMESTAMP");
    }
    assert_eq!(code(stamped(draft(), bytes("rejection"))), "ERR_TIMESTAMP");
    assert_eq!(code(stamped(draft(), b"soon".to_vec())), "ERR_TIMESTAMP");
}

#[test]
fn a_token_is_read_strictly_or_not_at_all() {
    let response = bytes("response");
    let said = Timestamp::parse(&response).unwrap();
    for end in 0..response.len() {
        assert!(Timestamp::parse(&response[..end]).is_err(), "cut at {end}");
    }
    let longer = [&response[..], &[0]].concat();
    assert_eq!(
        Timestamp::parse(&longer).unwrap_err().code(),
        "ERR_TIMESTAMP"
    );
    // Nothing panics, and no flipped bit makes the token be about another grain unnoticed: what
    // it then covers is not what was stamped.
    let grain = draft().finish(Profile::Extended).unwrap();
    let mut read = 0;
    for bit in 0..response.len() * 8 {
        let mut flipped = response.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(stamp) = Timestamp::parse(&flipped) {
            read += 1;
            let is_same = stamp == said;
            assert!(is_same || stamp.time() != said.time() || !stamp.covers(grain.blob()));
        }
    }
    // The authority's signature and certificates are carried, and not judged here.
    assert!(read > 0);
    // Indefinite lengths are BER and not DER.
    let mut indefinite = response;
    indefinite[1] = 0x80;
    assert!(Timestamp::parse(&indefinite).is_err());
}
