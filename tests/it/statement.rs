//! Who agreed to what (OMS 23.2, ruling I10): statements, and signatures that fit no other.

use grainstore::codec::{ContentAddress, Encoding, Profile, Value};
use grainstore::crypto::{
    Algorithm, Did, Envelope, Error, Offline, Payload, Resolver, Sign1, SigningKey, Statement,
    VerifyingKey,
};
use grainstore::grain::{Draft, Grain, Time, Verification};

use crate::signing::key;

const STORE: [u8; 16] = [7; 16];

fn signer(seed: u8) -> SigningKey {
    let algorithm = [Algorithm::Ed25519, Algorithm::P256][usize::from(seed % 2)];
    key(algorithm, seed)
}

fn old() -> ContentAddress {
    ContentAddress::of(b"the old grain")
}

fn draft() -> Draft {
    let draft = Draft::belief("rent", "is", "950").confidence(1.0);
    draft.created_at(Time::from_ms(5)).derived_from(old())
}

fn finished(draft: Draft) -> Grain {
    draft.finish(Profile::Extended).unwrap()
}

fn with(draft: Draft, signatures: impl IntoIterator<Item = Vec<u8>>) -> Grain {
    let signatures = signatures.into_iter();
    finished(signatures.fold(draft, |draft, signature| {
        draft.push("supersession_auth", Value::Bytes(signature))
    }))
}

fn signed(statement: &Statement, key: &SigningKey) -> Vec<u8> {
    statement.sign(key, &key.did(), None).unwrap()
}

fn supersede(grain: &Grain) -> Statement {
    Statement::supersede(grain, old(), STORE).unwrap()
}

fn dids(grain: &Grain, statement: &Statement) -> Vec<String> {
    let signers = statement.signers_in(grain, &Offline);
    signers
        .dids()
        .into_iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_grain_carries_the_signatures_that_were_given_before_it_carried_any() {
    for encoding in [Encoding::MessagePack, Encoding::Cbor] {
        for is_signed in [false, true] {
            let mut draft = draft().encoding(encoding);
            if is_signed {
                draft = draft.to_be_signed();
            }
            let proposed = supersede(&finished(draft.clone()));
            let keys = [1, 2, 3].map(signer);
            let new = with(draft, keys.iter().map(|key| signed(&proposed, key)));
            assert_eq!(
                supersede(&new),
                proposed,
                "without its signatures it is the same"
            );
            let mut expected = keys.map(|key| key.did().to_string());
            expected.sort();
            assert_eq!(dids(&new, &supersede(&new)), expected);
        }
    }
}

#[test]
fn what_is_signed_is_written_down() {
    // docs/format.md, "Signed statements".
    let proposed = finished(draft());
    let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
    let payload = |statement: &Statement| hex(statement.payload());
    let (grain, store) = (hex(old().as_bytes()), hex(&STORE));
    let head = format!("a5677261696ec420{grain}");
    let operation = |name: &str, digits: &str| {
        let head_of = hex(&[0xa0 | u8::try_from(name.len()).unwrap()]);
        format!(
            "{digits}a96f7065726174696f6e{head_of}{}",
            hex(name.as_bytes())
        )
    };
    let store = format!("a573746f7265c410{store}");
    assert_eq!(
        payload(&supersede(&proposed)),
        format!(
            "84{head}a36e6577c420{}{}{store}",
            proposed.address(),
            operation("supersede", "")
        )
    );
    assert_eq!(
        payload(&Statement::contradict(old(), STORE).unwrap()),
        format!("83{head}{}{store}", operation("contradict", ""))
    );
    let retracted = Statement::verify(old(), Verification::Retracted, STORE).unwrap();
    let status = format!("a6737461747573a9{}", hex(b"retracted"));
    assert_eq!(
        payload(&retracted),
        format!("83{head}{}{status}{store}", operation("verify", "")).replacen("83", "84", 1)
    );
}

#[test]
fn a_signature_for_one_thing_is_none_for_another() {
    let key = signer(2);
    let new = finished(draft());
    let other = finished(draft().tag("other"));
    let elsewhere = ContentAddress::of(b"another grain");
    let verify = |status| Statement::verify(old(), status, STORE).unwrap();
    let statements = [
        supersede(&new),
        supersede(&other),
        Statement::supersede(&new, elsewhere, STORE).unwrap(),
        Statement::supersede(&new, old(), [8; 16]).unwrap(),
        Statement::contradict(old(), STORE).unwrap(),
        Statement::contradict(elsewhere, STORE).unwrap(),
        Statement::contradict(old(), [8; 16]).unwrap(),
        verify(Verification::Verified),
        verify(Verification::Retracted),
    ];
    for (given, statement) in statements.iter().enumerate() {
        let signature = signed(statement, &key);
        for (asked, other) in statements.iter().enumerate() {
            let verified = other.verify_one(&signature, &Offline);
            assert_eq!(verified.is_ok(), given == asked, "{given} for {asked}");
        }
    }
}

#[test]
fn signatures_made_for_other_purposes_authorize_nothing() {
    let key = signer(2);
    let new = finished(draft());
    let statement = supersede(&new);
    let payload = statement.payload();
    let sign = |of, payload| Sign1::sign(of, payload, &key, &key.did(), None).unwrap();
    let of = "application/vnd.grainstore.statement+msgpack";
    let good = sign(of, Payload::Detached(payload));
    assert_eq!(good, signed(&statement, &key));
    let refused = [
        sign("application/vnd.mg+msgpack", Payload::Detached(payload)),
        sign("text/plain", Payload::Detached(payload)),
        sign(of, Payload::Embedded(payload)),
        sign(of, Payload::Detached(new.blob())),
        sign(of, Payload::Detached(new.address().as_bytes())),
        Envelope::sign(
            finished(draft().to_be_signed()).blob(),
            &key,
            &key.did(),
            None,
        )
        .unwrap(),
        payload.to_vec(),
        Vec::new(),
    ];
    let elements = refused.iter().chain([&good]).map(Vec::as_slice);
    let signers = statement.signers(elements, &Offline);
    assert_eq!(signers.dids(), [&key.did()]);
    let places: Vec<_> = signers.refused.iter().map(|(place, _)| *place).collect();
    assert_eq!(places, Vec::from_iter(0..refused.len()));
}

/// Says that every place has the same key.
#[derive(Debug)]
struct Everywhere(VerifyingKey);

impl Resolver for Everywhere {
    fn resolve(&self, _: &Did) -> Result<Vec<VerifyingKey>, Error> {
        Ok(vec![self.0.clone()])
    }
}

#[test]
fn nobody_counts_twice_and_two_names_of_a_key_are_one_voice() {
    let statement = supersede(&finished(draft()));
    let key = signer(2);
    let places: [Did; 2] =
        ["did:web:a.example", "did:web:b.example"].map(|did| did.parse().unwrap());
    let again = statement.sign(&key, &key.did(), Some(1)).unwrap();
    let named = |did| statement.sign(&key, did, None).unwrap();
    let signatures = [
        signed(&statement, &key),
        again,
        signed(&statement, &key),
        named(&places[0]),
        named(&places[1]),
    ];
    let resolver = Everywhere(key.verifying_key());
    let signers = statement.signers(signatures.iter().map(Vec::as_slice), &resolver);
    assert!(signers.refused.is_empty());
    assert_eq!(signers.dids().len(), 3);
    let names = [key.did(), places[0].clone(), places[1].clone()];
    let names = names.map(|name| name.to_string());
    let [voice] = &signers.voices()[..] else {
        panic!("{:?}", signers.voices());
    };
    let mut voice = voice.clone();
    voice.sort();
    assert_eq!(voice, names);
}

#[test]
fn a_grain_full_of_signatures_is_not_checked_for_ever() {
    let key = signer(2);
    let statement = supersede(&finished(draft()));
    let one = signed(&statement, &key);
    let many = vec![one; 70];
    let new = with(draft(), many);
    let signers = supersede(&new).signers_in(&new, &Offline);
    assert_eq!((signers.verified.len(), signers.refused.len()), (1, 6));
}

#[test]
fn no_flipped_bit_of_an_authorization_goes_unnoticed() {
    let statement = supersede(&finished(draft()));
    for seed in [1, 2] {
        let key = signer(seed);
        let signature = signed(&statement, &key);
        let unprotected = signature.len() - 68;
        assert_eq!(signature[unprotected], 0xa0);
        for bit in 0..signature.len() * 8 {
            let mut flipped = signature.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(
                statement.verify_one(&flipped, &Offline).is_err(),
                "bit {bit}"
            );
        }
    }
}
