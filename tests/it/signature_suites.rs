//! Public suites of keys and signatures, read from beside the project; each case's verdict is
//! pinned, and `docs/testing.md` is compared with the counts.

use std::collections::BTreeMap;
use std::path::Path;

use grainstore::codec::{Map, Value};
use grainstore::crypto::{Algorithm, Did, Error, Sign1, VerifyingKey};

use crate::foreign::corpus;
use crate::suites::{entries, unhex};

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    Value::from_json(&text).unwrap()
}

fn text<'a>(map: &'a Map, name: &str) -> &'a str {
    map.get(name).and_then(Value::as_text).unwrap()
}

fn list<'a>(map: &'a Map, name: &str) -> &'a [Value] {
    map.get(name).and_then(Value::as_array).unwrap()
}

fn base64(digits: &str) -> Vec<u8> {
    let decoded = data_encoding::BASE64URL_NOPAD.decode(digits.as_bytes());
    decoded.unwrap()
}

/// What a key and a signature as bytes come to.
fn verify(algorithm: Algorithm, key: &[u8], message: &[u8], signature: &[u8]) -> &'static str {
    let verified = VerifyingKey::new(algorithm, key).and_then(|key| {
        let signature = signature.try_into().map_err(|_| Error::Signature)?;
        key.verify(message, signature)
    });
    verified.map_or_else(|error| error.code().as_str(), |()| "accepted")
}

/// Rows of the page: a suite, how many cases, and what they come to.
pub(crate) const ROWS: &[(&str, usize, &str)] = &[
    ("Wycheproof Ed25519", 88, "valid: accepted"),
    ("Wycheproof Ed25519", 63, "invalid: `ERR_SIGNATURE`"),
    (
        "Wycheproof ECDSA P-256 (r and s)",
        173,
        "valid: accepted, (r, −s) among them",
    ),
    (
        "Wycheproof ECDSA P-256 (r and s)",
        89,
        "invalid: `ERR_SIGNATURE`",
    ),
    (
        "ed25519-speccheck",
        1,
        "accepted: case 3, a key of mixed order",
    ),
    (
        "ed25519-speccheck",
        4,
        "a key of small order or a non-canonical encoding: `ERR_KEY`",
    ),
    ("ed25519-speccheck", 7, "`ERR_SIGNATURE`"),
    ("CCTV ed25519", 43, "accepted"),
    (
        "CCTV ed25519",
        526,
        "a key of low order or a non-canonical encoding: `ERR_KEY`",
    ),
    (
        "CCTV ed25519",
        345,
        "R of low order, or a residue: `ERR_SIGNATURE`",
    ),
    ("cose-examples COSE_Sign1", 4, "pass: accepted"),
    (
        "cose-examples COSE_Sign1",
        6,
        "pass: refused by ruling S2, listed below",
    ),
    ("cose-examples COSE_Sign1", 6, "fail: refused"),
    (
        "did-method-key",
        8,
        "Ed25519 and P-256: accepted, with the key given in the vector",
    ),
    ("did-method-key", 19, "other key types: `ERR_DID`"),
];

fn count(suite: &str, verdict: &str) -> usize {
    let mut rows = ROWS.iter();
    let row = rows.find(|(name, _, comes_to)| *name == suite && comes_to.starts_with(verdict));
    row.unwrap().1
}

#[test]
#[ignore = "needs corpora"]
fn wycheproof_signatures_verify_or_do_not_as_it_says() {
    let folder = corpus("vectors/wycheproof");
    let folder = folder.join("testvectors_v1");
    let suites = [
        (
            "ed25519_test",
            Algorithm::Ed25519,
            "pk",
            "Wycheproof Ed25519",
        ),
        (
            "ecdsa_secp256r1_sha256_p1363_test",
            Algorithm::P256,
            "uncompressed",
            "Wycheproof ECDSA P-256 (r and s)",
        ),
    ];
    for (file, algorithm, form, suite) in suites {
        let file = read(&folder.join(format!("{file}.json")));
        let mut counts = [0; 2];
        for group in list(entries(&file), "testGroups").iter().map(entries) {
            let key = unhex(text(entries(group.get("publicKey").unwrap()), form));
            for case in list(group, "tests").iter().map(entries) {
                let (message, signature) = (unhex(text(case, "msg")), unhex(text(case, "sig")));
                let verdict = verify(algorithm, &key, &message, &signature);
                let is_valid = text(case, "result") == "valid";
                let expected = if is_valid {
                    "accepted"
                } else {
                    "ERR_SIGNATURE"
                };
                assert_eq!(verdict, expected, "{suite}: {case:?}");
                counts[usize::from(!is_valid)] += 1;
            }
        }
        assert_eq!(counts, [count(suite, "valid"), count(suite, "invalid")]);
    }
}

/// The verdicts on the twelve cases, in their order.
const SPECCHECK: [&str; 12] = [
    "ERR_KEY",
    "ERR_KEY",
    "ERR_SIGNATURE",
    "accepted",
    "ERR_SIGNATURE",
    "ERR_SIGNATURE",
    "ERR_SIGNATURE",
    "ERR_SIGNATURE",
    "ERR_SIGNATURE",
    "ERR_SIGNATURE",
    "ERR_KEY",
    "ERR_KEY",
];

#[test]
#[ignore = "needs corpora"]
fn the_edge_cases_of_ed25519_have_one_verdict_each() {
    let folder = corpus("vectors/ed25519-speccheck");
    let cases = read(&folder.join("cases.json"));
    let verdicts = cases.as_array().unwrap().iter().map(entries).map(|case| {
        let part = |name| unhex(text(case, name));
        let (message, signature) = (part("message"), part("signature"));
        verify(Algorithm::Ed25519, &part("pub_key"), &message, &signature)
    });
    assert_eq!(verdicts.collect::<Vec<_>>(), SPECCHECK);
    let suite = "ed25519-speccheck";
    let pinned = |code| SPECCHECK.iter().filter(|verdict| **verdict == code).count();
    assert_eq!(pinned("accepted"), count(suite, "accepted"));
    assert_eq!(pinned("ERR_KEY"), count(suite, "a key"));
    assert_eq!(pinned("ERR_SIGNATURE"), count(suite, "`ERR_SIGNATURE`"));
}

#[test]
#[ignore = "needs corpora"]
fn points_of_low_order_and_second_spellings_are_refused_one_by_one() {
    let folder = corpus("vectors/cctv");
    let cases = read(&folder.join("ed25519/ed25519vectors.json"));
    let mut tally = BTreeMap::new();
    for case in cases.as_array().unwrap().iter().map(entries) {
        let part = |name| unhex(text(case, name));
        let message = text(case, "msg").as_bytes();
        let verdict = verify(Algorithm::Ed25519, &part("key"), message, &part("sig"));
        let flags: Vec<_> = case
            .get("flags")
            .into_iter()
            .flat_map(Value::texts)
            .collect();
        let has = |flag| flags.contains(&flag);
        let expected = if has("low_order_A") || has("non_canonical_A") {
            "ERR_KEY"
        } else if has("low_order_R") || has("non_canonical_R") || has("low_order_residue") {
            "ERR_SIGNATURE"
        } else {
            "accepted"
        };
        assert_eq!(verdict, expected, "{case:?}");
        *tally.entry(verdict).or_insert(0) += 1;
    }
    for (verdict, row) in [
        ("accepted", "accepted"),
        ("ERR_KEY", "a key"),
        ("ERR_SIGNATURE", "R of"),
    ] {
        assert_eq!(tally[verdict], count("CCTV ed25519", row));
    }
}

/// Examples that pass elsewhere and are refused here, with the code and the reason.
pub(crate) const COSE: &[(&str, &str, &str)] = &[
    (
        "sign-pass-01",
        "ERR_CORRUPT",
        "the algorithm is not protected",
    ),
    (
        "sign-pass-02",
        "ERR_SIGNATURE",
        "external data is part of the signed content",
    ),
    ("ecdsa-sig-02", "ERR_UNSUPPORTED", "ES384"),
    ("ecdsa-sig-03", "ERR_UNSUPPORTED", "ES512"),
    ("ecdsa-sig-04", "ERR_UNSUPPORTED", "ES512"),
    (
        "eddsa-sig-02",
        "ERR_CORRUPT",
        "Ed448, whose signatures have 114 bytes",
    ),
];

#[test]
#[ignore = "needs corpora"]
fn cose_examples_pass_and_fail_as_they_should() {
    let folder = corpus("vectors/cose-examples");
    let mut counts = [0; 3];
    for part in ["sign1-tests", "ecdsa-examples", "eddsa-examples", "RFC8152"] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let example = read(&path);
            let example = entries(&example);
            let Some(input) = entries(example.get("input").unwrap()).get("sign0") else {
                continue;
            };
            let bytes = text(entries(example.get("output").unwrap()), "cbor").to_lowercase();
            let key = key_of(entries(entries(input).get("key").unwrap()));
            let bytes = unhex(&bytes);
            let verified = Sign1::parse(&bytes).and_then(|message| {
                let key = key.ok_or(Error::Signature)?;
                message.verify_with(message.payload().unwrap(), &key)
            });
            let verdict = verified.map_or_else(|error| error.code().as_str(), |()| "accepted");
            let fails = example.get("fail") == Some(&Value::Bool(true));
            let listed = COSE.iter().find(|(listed, ..)| *listed == name);
            match (fails, listed) {
                (true, _) => assert_ne!(verdict, "accepted", "{name}"),
                (false, Some((_, code, _))) => assert_eq!(verdict, *code, "{name}"),
                (false, None) => assert_eq!(verdict, "accepted", "{name}"),
            }
            counts[if fails {
                2
            } else {
                usize::from(listed.is_some())
            }] += 1;
        }
    }
    let suite = "cose-examples COSE_Sign1";
    let expected = ["pass: accepted", "pass: refused", "fail"].map(|row| count(suite, row));
    assert_eq!(counts, expected);
    assert_eq!(counts[1], COSE.len());
}

/// The key of an example, if it is of a kind that is read here.
fn key_of(key: &Map) -> Option<VerifyingKey> {
    match text(key, "crv") {
        "P-256" => {
            let point = [&[4][..], &base64(text(key, "x")), &base64(text(key, "y"))].concat();
            Some(VerifyingKey::new(Algorithm::P256, &point).unwrap())
        }
        "Ed25519" => {
            let key = unhex(text(key, "x_hex"));
            Some(VerifyingKey::new(Algorithm::Ed25519, &key).unwrap())
        }
        _ => None,
    }
}

#[test]
#[ignore = "needs corpora"]
fn the_did_keys_of_the_method_are_read_if_their_type_is() {
    let folder = corpus("vectors/did-key");
    let mut counts = [0; 2];
    for entry in std::fs::read_dir(folder.join("test-vectors")).unwrap() {
        let path = entry.unwrap().path();
        for (did, vector) in entries(&read(&path)).iter() {
            let vector = entries(vector);
            let jwk = ["verificationMethod", "verificationKeyPair"];
            let jwk = jwk.iter().find_map(|name| vector.get(name)).map(entries);
            let jwk = jwk
                .and_then(|method| method.get("publicKeyJwk"))
                .map(entries);
            let parsed = did.parse::<Did>();
            // z6Mk and zDn are what the two key types come to in base58.
            let is_ours = did.starts_with("did:key:z6Mk") || did.starts_with("did:key:zDn");
            counts[usize::from(!is_ours)] += 1;
            if !is_ours {
                assert_eq!(parsed.unwrap_err().code(), "ERR_DID", "{did}");
                continue;
            }
            let parsed = parsed.unwrap();
            assert_eq!(parsed.as_str(), did);
            let key = parsed.key().unwrap();
            if let Some(jwk) = jwk {
                let x = base64(text(jwk, "x"));
                assert!(key.to_bytes().ends_with(&x), "{did}");
            }
            if let Some(seed) = vector.get("seed").and_then(Value::as_text)
                && key.algorithm() == Algorithm::Ed25519
            {
                let seed: [u8; 32] = unhex(seed).try_into().unwrap();
                let secret = ed25519_dalek::SigningKey::from_bytes(&seed);
                assert_eq!(key.to_bytes(), secret.verifying_key().to_bytes(), "{did}");
            }
        }
    }
    let suite = "did-method-key";
    assert_eq!(counts, [count(suite, "Ed25519 and"), count(suite, "other")]);
}
