//! Envelopes around grains (OMS 9, 20.1; ruling S2): what is accepted, and everything that is not.

use ed25519_dalek::Signer as _;
use grainstore::codec::{Encoding, Profile, Sensitivity};
use grainstore::crypto::{
    Algorithm, Did, Envelope, Error, Offline, Payload, Random, Resolver, Sign1, Signer, SigningKey,
    VerifyingKey,
};
use grainstore::grain::{Draft, Grain, Time};

#[derive(Debug)]
pub(crate) struct Seed(pub(crate) u8);

impl Random for Seed {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.fill(self.0);
        Ok(())
    }
}

pub(crate) fn key(algorithm: Algorithm, seed: u8) -> SigningKey {
    SigningKey::generate(algorithm, &Seed(seed)).unwrap()
}

fn ed25519() -> SigningKey {
    key(Algorithm::Ed25519, 7)
}

const BOTH: [Algorithm; 2] = [Algorithm::Ed25519, Algorithm::P256];

fn draft() -> Draft {
    Draft::belief("user", "prefers", "dark mode")
        .confidence(0.9)
        .namespace("work")
        .author(ed25519().did().as_str())
        .created_at(Time::from_ms(1_768_471_200_000))
}

fn grain() -> Grain {
    draft().to_be_signed().finish(Profile::Extended).unwrap()
}

fn verified(bytes: &[u8]) -> Result<Signer, Error> {
    Envelope::parse(bytes)?.verify(&Offline)
}

#[test]
fn an_envelope_says_who_signed_and_leaves_the_address_alone() {
    for algorithm in BOTH {
        for encoding in [Encoding::MessagePack, Encoding::Cbor] {
            let draft = draft().encoding(encoding).to_be_signed();
            let grain = draft.finish(Profile::Extended).unwrap();
            let key = key(algorithm, 7);
            let bytes = Envelope::sign(grain.blob(), &key, &key.did(), Some(-1)).unwrap();
            assert_eq!(bytes[0], 0x84, "ruling S2: untagged");
            let envelope = Envelope::parse(&bytes).unwrap();
            assert_eq!(envelope.blob(), grain.blob());
            assert_eq!(envelope.address(), grain.address());
            assert_eq!(envelope.kid(), &key.did());
            assert_eq!(envelope.iat(), Some(-1));
            let signer = envelope.verify(&Offline).unwrap();
            assert_eq!(
                (&signer.did, &signer.key),
                (&key.did(), &key.verifying_key())
            );
            assert_eq!(signer.is_author_of(&grain), algorithm == Algorithm::Ed25519);
            let read = Grain::from_signed_blob(envelope.blob().to_vec(), Profile::Extended);
            assert_eq!(read.unwrap(), grain);
        }
    }
}

#[test]
fn an_envelope_is_the_same_bytes_each_time_and_those_that_are_written_down() {
    // RFC 8032 and RFC 6979 draw nothing.
    for algorithm in BOTH {
        let key = key(algorithm, 7);
        let sign = || Envelope::sign(grain().blob(), &key, &key.did(), Some(5)).unwrap();
        assert_eq!(sign(), sign());
    }
    let key = ed25519();
    let bytes = Envelope::sign(grain().blob(), &key, &key.did(), Some(1_768_471_200)).unwrap();
    let expected = Made::new().bytes();
    assert_eq!(bytes, expected, "docs/format.md");
}

#[test]
fn kept_apart_and_put_together_an_envelope_is_what_it_was() {
    let key = ed25519();
    let bytes = Envelope::sign(grain().blob(), &key, &key.did(), Some(5)).unwrap();
    let envelope = Envelope::parse(&bytes).unwrap();
    let detached = envelope.to_detached();
    assert_eq!(detached.len() + grain().blob().len() + 1, bytes.len());
    let grain = grain();
    let again = Envelope::parse_detached(&detached, grain.blob()).unwrap();
    assert!(again.verify(&Offline).is_ok());
    assert_eq!(again.to_bytes(), bytes);
    // What a foreign writer put beside it stays, and so does nothing else.
    let mut made = Made::new();
    made.tag = vec![0xd2];
    made.unprotected = unhex("a26169f97e0063696174182a");
    let foreign = made.bytes();
    let again = Envelope::parse(&foreign).unwrap().to_bytes();
    assert_eq!(again, foreign[1..], "all but the tag");
    for wrong in [&bytes[..], &[]] {
        assert!(Envelope::parse_detached(wrong, grain.blob()).is_err());
    }
    let other = draft()
        .tag("other")
        .to_be_signed()
        .finish(Profile::Extended)
        .unwrap();
    let swapped = Envelope::parse_detached(&detached, other.blob()).unwrap();
    assert_eq!(
        swapped.verify(&Offline).unwrap_err().code(),
        "ERR_SIGNATURE"
    );
}

#[test]
fn the_flag_and_the_envelope_come_together_or_not_at_all() {
    let key = ed25519();
    let bare = draft().finish(Profile::Extended).unwrap();
    let code = |result: Result<Vec<u8>, Error>| result.unwrap_err().code();
    let signed = Envelope::sign(bare.blob(), &key, &key.did(), None);
    assert_eq!(code(signed), "ERR_SIGNED_MISMATCH");
    let mut made = Made::new();
    made.payload = Some(bare.blob().to_vec());
    assert_eq!(
        verified(&made.bytes()).unwrap_err().code(),
        "ERR_SIGNED_MISMATCH"
    );
    for (blob, is_wrapped) in [(bare.blob(), true), (grain().blob(), false)] {
        for is_foreign in [false, true] {
            let blob = blob.to_vec();
            let read = match (is_wrapped, is_foreign) {
                (true, false) => Grain::from_signed_blob(blob, Profile::Extended),
                (false, false) => Grain::from_blob(blob, Profile::Extended),
                (true, true) => Grain::from_foreign_signed_blob(blob, Profile::Extended).map(first),
                (false, true) => Grain::from_foreign_blob(blob, Profile::Extended).map(first),
            };
            assert_eq!(read.unwrap_err().code(), "ERR_SIGNED_MISMATCH");
        }
    }
    // An envelope in an envelope is no blob.
    let inner = Envelope::sign(grain().blob(), &key, &key.did(), None).unwrap();
    assert_eq!(
        code(Envelope::sign(&inner, &key, &key.did(), None)),
        "ERR_VERSION"
    );
    made.payload = Some(inner);
    assert_eq!(verified(&made.bytes()).unwrap_err().code(), "ERR_VERSION");
}

fn first<A, B>(pair: (A, B)) -> A {
    pair.0
}

#[test]
fn a_signature_of_an_original_says_nothing_about_a_view_of_it() {
    // OMS 10.4, ruling S12.
    let key = ed25519();
    let original = grain();
    let bytes = Envelope::sign(original.blob(), &key, &key.did(), None).unwrap();
    let beside = Envelope::parse(&bytes).unwrap().to_detached();
    let (view, _) = original.disclose(&["namespace"]).unwrap();
    let lent = Envelope::parse_detached(&beside, view.blob());
    assert_eq!(lent.unwrap_err().code(), "ERR_SIGNED_MISMATCH");
    let mut flagged = view.blob().to_vec();
    flagged[1] |= 1;
    let lent = Envelope::parse_detached(&beside, &flagged).unwrap();
    assert_eq!(lent.verify(&Offline).unwrap_err().code(), "ERR_SIGNATURE");
}

#[test]
fn a_signed_blob_keeps_every_other_rule() {
    let draft = draft().tag("phi:mrn").to_be_signed();
    let grain = draft.finish(Profile::Extended).unwrap();
    assert_eq!(grain.header().sensitivity(), Sensitivity::Phi);
    let mut lowered = grain.blob().to_vec();
    lowered[1] &= 0x3f;
    let read = Grain::from_signed_blob(lowered, Profile::Extended);
    assert_eq!(read.unwrap_err().code(), "ERR_SENSITIVITY_MISMATCH");
    let mut flagged = grain.blob().to_vec();
    flagged[1] |= 8; // Claims content references.
    let read = Grain::from_signed_blob(flagged, Profile::Extended);
    assert_eq!(read.unwrap_err().code(), "ERR_CORRUPT");
}

#[test]
fn nobody_signs_under_the_key_of_another() {
    let (mine, other) = (ed25519(), key(Algorithm::Ed25519, 8));
    let signed = Envelope::sign(grain().blob(), &mine, &other.did(), None);
    assert_eq!(signed.unwrap_err().code(), "ERR_KEY");
    let mut made = Made::new();
    made.set_kid(&bstr(other.did().as_str().as_bytes()));
    assert_eq!(verified(&made.bytes()).unwrap_err().code(), "ERR_SIGNATURE");
}

/// Knows the keys of one place.
#[derive(Debug)]
struct Known(&'static str, Vec<VerifyingKey>);

impl Resolver for Known {
    fn resolve(&self, did: &Did) -> Result<Vec<VerifyingKey>, Error> {
        assert!(did.key().is_none(), "a did:key holds its own key");
        if did.as_str() == self.0 {
            return Ok(self.1.clone());
        }
        Err(Error::Unresolved {
            did: did.clone(),
            reason: "unknown here".into(),
        })
    }
}

#[test]
fn a_web_did_is_resolved_by_the_caller_or_not_at_all() {
    let key = ed25519();
    let did: Did = "did:web:example.com:agents:a".parse().unwrap();
    let bytes = Envelope::sign(grain().blob(), &key, &did, None).unwrap();
    let envelope = Envelope::parse(&bytes).unwrap();
    let with = |keys: &[SigningKey]| {
        let keys = keys.iter().map(SigningKey::verifying_key).collect();
        envelope.verify(&Known("did:web:example.com:agents:a", keys))
    };
    let code = |result: Result<Signer, Error>| result.map(drop).unwrap_err().code();
    assert_eq!(code(envelope.verify(&Offline)), "ERR_UNRESOLVED");
    let elsewhere = Known("did:web:example.com", vec![key.verifying_key()]);
    assert_eq!(code(envelope.verify(&elsewhere)), "ERR_UNRESOLVED");
    let p256 = || super::signing::key(Algorithm::P256, 7);
    let other = || super::signing::key(Algorithm::Ed25519, 8);
    assert_eq!(code(with(&[])), "ERR_SIGNATURE");
    assert_eq!(code(with(&[p256()])), "ERR_SIGNATURE");
    assert_eq!(code(with(&[other()])), "ERR_SIGNATURE");
    let signer = with(&[p256(), other(), ed25519()]).unwrap();
    assert_eq!((signer.did, signer.key), (did, key.verifying_key()));
}

/// A message as anyone could put it together, properly signed whatever it says.
struct Made {
    tag: Vec<u8>,
    protected: Vec<u8>,
    unprotected: Vec<u8>,
    payload: Option<Vec<u8>>,
    trailing: Vec<u8>,
}

impl Made {
    fn new() -> Self {
        let kid = bstr(ed25519().did().as_str().as_bytes());
        Self {
            tag: Vec::new(),
            protected: [&[0xa3, 1, 0x27, 3][..], TYPE, &[4], &kid].concat(),
            unprotected: unhex("a1636961741a6968baa0"),
            payload: Some(grain().into_blob()),
            trailing: Vec::new(),
        }
    }

    fn set_kid(&mut self, kid: &[u8]) {
        self.protected = [&[0xa3, 1, 0x27, 3][..], TYPE, &[4], kid].concat();
    }

    fn bytes(&self) -> Vec<u8> {
        let payload = self.payload.clone().unwrap_or_else(|| grain().into_blob());
        let context = text("Signature1");
        let protected = bstr(&self.protected);
        let signed = [&[0x84][..], &context, &protected, &[0x40], &bstr(&payload)].concat();
        let signature = ed25519_dalek::SigningKey::from_bytes(&[7; 32]).sign(&signed);
        let payload = match &self.payload {
            Some(payload) => bstr(payload),
            None => vec![0xf6],
        };
        let signature = bstr(&signature.to_bytes());
        let message = [
            &self.tag,
            &[0x84][..],
            &protected,
            &self.unprotected,
            &payload,
        ];
        [&message.concat()[..], &signature, &self.trailing].concat()
    }
}

fn head(major: u8, len: usize) -> Vec<u8> {
    let len = u16::try_from(len).unwrap();
    match len {
        0..24 => vec![major << 5 | u8::try_from(len).unwrap()],
        24..256 => vec![major << 5 | 24, u8::try_from(len).unwrap()],
        _ => [&[major << 5 | 25][..], &len.to_be_bytes()].concat(),
    }
}

fn bstr(bytes: &[u8]) -> Vec<u8> {
    [head(2, bytes.len()), bytes.to_vec()].concat()
}

fn text(text: &str) -> Vec<u8> {
    [head(3, text.len()), text.as_bytes().to_vec()].concat()
}

fn unhex(digits: &str) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap()
}

/// `application/vnd.mg+msgpack` as a text of 26 bytes.
const TYPE: &[u8] = b"\x78\x1aapplication/vnd.mg+msgpack";

#[test]
fn the_other_spellings_of_ruling_s2_are_accepted() {
    let accepted = |change: &dyn Fn(&mut Made)| {
        let mut made = Made::new();
        change(&mut made);
        let signer = verified(&made.bytes()).unwrap();
        assert_eq!(signer.did, ed25519().did());
    };
    accepted(&|_| {});
    accepted(&|made| made.tag = vec![0xd2]);
    accepted(&|made| made.protected[2] = 0x32); // -19, Ed25519
    accepted(&|made| made.set_kid(&text(ed25519().did().as_str())));
    accepted(&|made| made.unprotected = vec![0xa0]);
    // In any order, with anything that is well-formed: none of it is believed.
    accepted(&|made| made.unprotected = unhex("a36178fb3ff80000000000000a016169c11a69000000"));
    // An unknown label that is not critical, and known ones that are.
    accepted(&|made| {
        made.protected[0] = 0xa4;
        made.protected.extend_from_slice(&unhex("0aa1613182f601"));
    });
    accepted(&|made| {
        made.protected[0] = 0xa4;
        made.protected.splice(3..3, unhex("0283010304"));
    });
}

#[test]
fn everything_else_is_refused_before_any_signature_is_looked_at() {
    for (what, code, change) in REFUSED {
        let mut made = Made::new();
        change(&mut made);
        match verified(&made.bytes()) {
            Ok(_) => panic!("accepted: {what}"),
            Err(error) => assert_eq!(error.code(), *code, "{what}: {error}"),
        }
    }
}

#[test]
fn a_detached_payload_is_the_one_signed_and_an_embedded_one_the_one_checked() {
    let key = ed25519();
    let sign = |payload| Sign1::sign("text/plain", payload, &key, &key.did(), None).unwrap();
    let detached = sign(Payload::Detached(b"a"));
    let message = Sign1::parse(&detached).unwrap();
    assert!(message.verify(b"a", &Offline).is_ok());
    assert!(message.verify(b"b", &Offline).is_err());
    let embedded = sign(Payload::Embedded(b"a"));
    let message = Sign1::parse(&embedded).unwrap();
    assert_eq!(message.payload(), Some(&b"a"[..]));
    assert!(message.verify(b"a", &Offline).is_ok());
    // Carrying one payload under a signature of another fools nobody who asks for either.
    let mut made = Made::new();
    made.payload = Some(b"b".to_vec());
    let mut bytes = made.bytes();
    let at = bytes.windows(2).rposition(|pair| pair == b"\x41b").unwrap();
    bytes[at + 1] = b'c';
    let message = Sign1::parse(&bytes).unwrap();
    assert!(message.verify(b"b", &Offline).is_err());
    assert!(message.verify(b"c", &Offline).is_err());
}

#[test]
fn a_signature_counts_for_one_key_and_no_other() {
    for algorithm in BOTH {
        let mine = key(algorithm, 7);
        let bytes = Sign1::sign("a/b", Payload::Detached(b"a"), &mine, &mine.did(), None).unwrap();
        let message = Sign1::parse(&bytes).unwrap();
        assert!(message.verify_with(b"a", &mine.verifying_key()).is_ok());
        for other in BOTH.map(|algorithm| key(algorithm, 9)) {
            let verified = message.verify_with(b"a", &other.verifying_key());
            assert_eq!(verified.unwrap_err().code(), "ERR_SIGNATURE");
        }
    }
}

#[test]
fn no_flipped_bit_goes_unnoticed_but_where_nothing_is_believed() {
    for algorithm in BOTH {
        let key = key(algorithm, 7);
        let grain = grain();
        let bytes = Envelope::sign(grain.blob(), &key, &key.did(), Some(1_768_471_200)).unwrap();
        let unprotected = {
            let map = unhex("a1636961741a6968baa0");
            let at = bytes.windows(map.len()).position(|window| window == map);
            at.unwrap()..at.unwrap() + map.len()
        };
        let mut carried = 0;
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let Ok(envelope) = Envelope::parse(&flipped) else {
                continue;
            };
            match envelope.verify(&Offline) {
                Ok(signer) => {
                    assert!(unprotected.contains(&(bit / 8)), "bit {bit}");
                    assert_eq!((signer.did, envelope.blob()), (key.did(), grain.blob()));
                    carried += 1;
                }
                Err(error) => assert!(!unprotected.contains(&(bit / 8)), "bit {bit}: {error}"),
            }
        }
        assert!(carried > 32, "{carried}: the time may say anything");
    }
}

#[test]
fn hostile_bytes_are_refused_and_nothing_more() {
    let bytes = Made::new().bytes();
    for len in 0..bytes.len() {
        assert!(Envelope::parse(&bytes[..len]).is_err(), "{len}");
    }
    let deep = [&[0x84, 0x40, 0xa1, 0x0a][..], &[0x81; 1 << 20]].concat();
    assert!(Sign1::parse(&deep).is_err());
    let many = [
        &[0x84, 0x40, 0xa1, 0x0a, 0x9b][..],
        &[0xff; 8],
        &[0; 1 << 20],
    ]
    .concat();
    assert!(Sign1::parse(&many).is_err());
}

/// How other implementations may write the headers of a message (ruling P7).
type Spelling = (&'static str, fn(&mut Made));

const ACCEPTED: &[Spelling] = &[
    ("alg at length", |m| {
        drop(m.protected.splice(2..3, [0x38, 0x07]));
    }),
    ("labels out of order", |m| {
        drop(m.protected.drain(1..3));
        m.protected.extend_from_slice(&[1, 0x27]);
    }),
    ("a label at length", |m| {
        drop(m.protected.splice(1..2, [0x18, 1]));
    }),
    ("a double in the protected map", |m| {
        m.protected[0] = 0xa4;
        m.protected.extend_from_slice(&unhex("0af93c00"));
    }),
    ("nested keys out of order", |m| {
        m.protected[0] = 0xa4;
        m.protected.extend_from_slice(&unhex("0aa202000100"));
    }),
    ("a nested length at length", |m| {
        m.protected[0] = 0xa4;
        m.protected.extend_from_slice(&unhex("0a5800"));
    }),
    ("a kid at length", |m| {
        let did = ed25519().did();
        let did = did.as_str().as_bytes();
        let len = u16::try_from(did.len()).unwrap().to_be_bytes();
        m.set_kid(&[&[0x59], &len[..], did].concat());
    }),
    ("an unprotected header out of order and at length", |m| {
        m.unprotected = unhex("a2636961741a6968baa0180a01");
    }),
];

#[test]
fn headers_of_others_are_read_in_any_order_and_length() {
    for (what, change) in ACCEPTED {
        let mut made = Made::new();
        change(&mut made);
        let bytes = made.bytes();
        verified(&bytes).unwrap_or_else(|error| panic!("refused: {what}: {error}"));
        // Kept and given out again, it is the same bytes, so the same signature.
        assert_eq!(Envelope::parse(&bytes).unwrap().to_bytes(), bytes, "{what}");
    }
}

/// What is done to a message, and with which code it is then refused.
type Change = (&'static str, &'static str, fn(&mut Made));

const REFUSED: &[Change] = &[
    ("another tag", "ERR_CORRUPT", |m| m.tag = vec![0xd1]),
    ("two tags", "ERR_CORRUPT", |m| m.tag = vec![0xd2, 0xd2]),
    ("tag 18 at length", "ERR_CORRUPT", |m| {
        m.tag = vec![0xd8, 18];
    }),
    ("a byte before", "ERR_CORRUPT", |m| m.tag = vec![0]),
    ("a byte behind", "ERR_CORRUPT", |m| m.trailing = vec![0]),
    ("no payload", "ERR_CORRUPT", |m| m.payload = None),
    ("alg unknown", "ERR_UNSUPPORTED", |m| m.protected[2] = 0x28),
    ("alg as text", "ERR_UNSUPPORTED", |m| {
        drop(m.protected.splice(2..3, text("EdDSA")));
    }),
    ("alg of another key type", "ERR_SIGNATURE", |m| {
        m.protected[2] = 0x26;
    }),
    ("no alg", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa2;
        drop(m.protected.drain(1..3));
    }),
    ("alg unprotected", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa2;
        drop(m.protected.drain(1..3));
        m.unprotected = unhex("a10127");
    }),
    ("alg in both", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a10127");
    }),
    ("kid in both", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a1044101");
    }),
    ("crit unprotected", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a1028101");
    }),
    ("the protected header empty", "ERR_CORRUPT", |m| {
        m.protected = vec![];
    }),
    ("the protected map empty", "ERR_CORRUPT", |m| {
        m.protected = vec![0xa0];
    }),
    ("a label twice", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa4;
        drop(m.protected.splice(1..1, [1, 0x27]));
    }),
    ("a label twice, once at length", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa4;
        drop(m.protected.splice(1..1, [0x18, 1, 0x27]));
    }),
    ("kid in both, once at length", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a119000441ff");
    }),
    (
        "an unknown critical label at length",
        "ERR_UNSUPPORTED",
        |m| {
            m.protected[0] = 0xa5;
            drop(m.protected.splice(3..3, unhex("0281180a")));
            m.protected.extend_from_slice(&unhex("0a00"));
        },
    ),
    ("an unprotected label twice", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a20a010a01");
    }),
    ("a label of bytes", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a1410101");
    }),
    ("an indefinite map", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xbf;
        m.protected.push(0xff);
    }),
    ("a byte behind the protected map", "ERR_CORRUPT", |m| {
        m.protected.push(0);
    }),
    ("an unknown critical label", "ERR_UNSUPPORTED", |m| {
        m.protected[0] = 0xa5;
        drop(m.protected.splice(3..3, unhex("02810a")));
        m.protected.extend_from_slice(&unhex("0a00"));
    }),
    (
        "a critical label that is not there",
        "ERR_UNSUPPORTED",
        |m| {
            m.protected[0] = 0xa4;
            drop(m.protected.splice(3..3, unhex("028105")));
        },
    ),
    ("crit empty", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa4;
        drop(m.protected.splice(3..3, unhex("0280")));
    }),
    ("crit not an array", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa4;
        drop(m.protected.splice(3..3, unhex("0201")));
    }),
    ("no content type", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa2;
        drop(m.protected.drain(3..4 + TYPE.len()));
    }),
    (
        "the content type of the other encoding",
        "ERR_CORRUPT",
        |m| {
            let other = text("application/vnd.mg+cbor");
            drop(m.protected.splice(4..4 + TYPE.len(), other));
        },
    ),
    ("a content type by number", "ERR_CORRUPT", |m| {
        drop(m.protected.splice(4..4 + TYPE.len(), [0]));
    }),
    ("no kid", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa2;
        m.protected.truncate(4 + TYPE.len());
    }),
    ("kid unprotected", "ERR_CORRUPT", |m| {
        m.protected[0] = 0xa2;
        let kid = m.protected.split_off(4 + TYPE.len());
        m.unprotected = [vec![0xa1], kid].concat();
    }),
    ("a kid that is no DID", "ERR_DID", |m| {
        m.set_kid(&bstr(b"11"));
    }),
    ("a kid that is a number", "ERR_CORRUPT", |m| {
        m.set_kid(&[11]);
    }),
    ("a kid that is not UTF-8", "ERR_DID", |m| {
        m.set_kid(&[0x41, 0xff]);
    }),
    ("a kid with a fragment", "ERR_DID", |m| {
        let did = ed25519().did();
        m.set_kid(&bstr(format!("{did}#{did}").as_bytes()));
    }),
    ("iat that is no integer", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a16369617441ff");
    }),
    ("65 unprotected members", "ERR_CORRUPT", |m| {
        let members = (0..65_u8).flat_map(|label| [0x19, 1, label, 0]);
        m.unprotected = [0xb8, 65].into_iter().chain(members).collect();
    }),
    ("a header nested 20 deep", "ERR_CORRUPT", |m| {
        m.unprotected = [&[0xa1, 10][..], &[0x81; 20], &[0]].concat();
    }),
    ("a length beyond the end", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a10a9bffffffffffffffff");
    }),
    ("an undefined simple value", "ERR_CORRUPT", |m| {
        m.unprotected = unhex("a10af820");
    }),
];

#[test]
fn each_label_stands_in_the_protected_header_or_nothing_is_verified() {
    // OMS 9.1: alg, content type and kid, of which a message lacks one, or has it unprotected.
    let kid = bstr(ed25519().did().as_str().as_bytes());
    let labels = [
        vec![1, 0x27],
        [&[3][..], TYPE].concat(),
        [&[4][..], &kid].concat(),
    ];
    let protected = |which: &[usize]| {
        let entries = which.iter().flat_map(|n| labels[*n].clone());
        let count = u8::try_from(which.len()).unwrap();
        [0xa0 | count]
            .into_iter()
            .chain(entries)
            .collect::<Vec<_>>()
    };
    let mut whole = Made::new();
    assert_eq!(whole.protected, protected(&[0, 1, 2]));
    assert!(verified(&whole.bytes()).is_ok());
    whole.protected = protected(&[]);
    assert!(verified(&whole.bytes()).is_err());
    for (missing, label) in labels.iter().enumerate() {
        let others: Vec<usize> = (0..3).filter(|n| *n != missing).collect();
        let mut made = Made::new();
        made.protected = protected(&others);
        assert!(verified(&made.bytes()).is_err(), "without {missing}");
        made.unprotected = [&[0xa1][..], label].concat();
        assert!(verified(&made.bytes()).is_err(), "{missing} unprotected");
    }
}

#[test]
fn both_numbers_of_ed25519_count_around_a_blob_and_beside_one() {
    // OMS 9.1: -8 and -19; the other numbers of COSE are none of ours or of another key.
    for (alg, counts) in [(0x27, true), (0x32, true), (0x26, false), (0x28, false)] {
        let mut made = Made::new();
        made.protected[2] = alg;
        let bytes = made.bytes();
        assert_eq!(verified(&bytes).is_ok(), counts, "{alg:x}");
        if let Ok(envelope) = Envelope::parse(&bytes) {
            let (apart, grain) = (envelope.to_detached(), grain());
            let again = Envelope::parse_detached(&apart, grain.blob()).unwrap();
            assert_eq!(again.verify(&Offline).is_ok(), counts, "{alg:x}");
        }
    }
}
