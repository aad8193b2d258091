//! Known answers, hostile bytes, and the suites of others.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use data_encoding::HEXLOWER;

use crate::crypto::{Error, OsRandom, Random};

use super::envelope::padme;
use super::{
    BlindKey, Context, KeySource, MasterKey, PassphraseParams, Purpose, SealingKey, Secret,
};

const STORE: [u8; 16] = [0x11; 16];
const UID: [u8; 16] = [0x22; 16];

fn secret(byte: u8) -> Secret {
    Secret::copied(&[byte; 32]).unwrap()
}

fn key(byte: u8) -> SealingKey {
    SealingKey::new(&STORE, &secret(byte))
}

const fn place() -> Context<'static> {
    Context {
        store: STORE,
        purpose: Purpose::Grain,
        uid: UID,
        generation: 1,
        row: &[],
    }
}

/// A generator that gives the same bytes for ever.
#[derive(Debug)]
struct Dead;

impl Random for Dead {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.fill(0);
        Ok(())
    }
}

fn is_refused<T>(opened: &Result<T, Error>) -> bool {
    matches!(opened, Err(Error::Sealed))
}

/// Made by another implementation (pyca/cryptography).
#[test]
fn the_core_of_an_envelope_has_its_known_answer() {
    let associated = HEXLOWER
        .decode(
            b"677261696e73746f72652f76312f6161640011111111111111111111111111111111\
              012222222222222222222222222222222200000001",
        )
        .unwrap();
    assert_eq!(place().associated_data(), associated);
    let plaintext = HEXLOWER.decode(b"01000168656c6c6f20677261696e").unwrap();
    let envelope = key(0x33)
        .seal_padded(&[0x44; 32], 1, &associated, &plaintext)
        .unwrap();
    assert_eq!(
        HEXLOWER.encode(&envelope),
        "475345310100000001eb157b3bfd0fefcc497404277aa2bc911e339af20dba890d3d8cb2b5788a63e2\
         c8c4b171ee703b4a0532bd49768dcf310152b9fc869615d7afb5d0bf00070da7ba87f954d8ee6ffb5d\
         cc7bdb86cc1e421a3680c50d6fbef7a5509ca8dc1b"
    );
    let opened = key(0x33).open_padded(1, &associated, &envelope).unwrap();
    assert_eq!(*opened, plaintext);
}

#[test]
fn wrapping_keys_and_tokens_have_their_known_answers() {
    let master = MasterKey::new(secret(0x55));
    let wrapping = master.user_key(&secret(0x66), &STORE, "alice-42");
    assert_eq!(
        HEXLOWER.encode(wrapping.expose()),
        "b9362ac47873fcdfe258075de897f4231af0c4c13652945d592c40965a5867c4"
    );
    let token = BlindKey::new(&STORE, &secret(0x33)).token("user_id", "alice-42");
    assert_eq!(
        HEXLOWER.encode(&token),
        "008bfc16b4a35e21f1c6b9c472a258e4c4912ab722aa323e3a1339f75077df2c"
    );
}

#[test]
fn every_length_comes_back_and_costs_at_most_an_eighth() {
    let key = key(1);
    for len in (0..300).chain([511, 512, 513, 4096, 70_000]) {
        let plaintext = vec![7; len];
        let envelope = key.seal(&OsRandom, &place(), &plaintext).unwrap();
        assert_eq!(*key.open(&place(), &envelope).unwrap(), plaintext);
        let padded = envelope.len() - 89;
        assert_eq!(padded, padme(len + 4));
        assert!(padded - (len + 4) <= (len + 4) / 8, "{len}: {padded}");
    }
}

#[test]
fn every_flipped_bit_and_every_truncation_is_refused() {
    let key = key(1);
    let envelope = key
        .seal(&OsRandom, &place(), b"a grain of some length")
        .unwrap();
    let mut refused = 0;
    for at in 0..envelope.len() {
        for bit in 0..8 {
            let mut flipped = envelope.clone();
            flipped[at] ^= 1 << bit;
            assert!(is_refused(&key.open(&place(), &flipped)), "byte {at}");
            refused += 1;
        }
        assert!(is_refused(&key.open(&place(), &envelope[..at])), "{at}");
    }
    let longer = [&envelope[..], &[0]].concat();
    assert!(is_refused(&key.open(&place(), &longer)));
    assert_eq!(refused, envelope.len() * 8);
}

#[test]
fn a_value_opens_in_its_own_place_only() {
    let key = key(1);
    let row = Context {
        row: b"row",
        purpose: Purpose::Row,
        ..place()
    };
    let envelope = key.seal(&OsRandom, &row, b"text").unwrap();
    assert!(key.open(&row, &envelope).is_ok());
    let mut other = Vec::new();
    for at in 0..16 {
        for bit in 0..8 {
            let (mut store, mut uid) = (STORE, UID);
            store[at] ^= 1 << bit;
            uid[at] ^= 1 << bit;
            other.push(Context { store, ..row });
            other.push(Context { uid, ..row });
        }
    }
    for purpose in [Purpose::Grain, Purpose::Slot, Purpose::Bucket] {
        other.push(Context { purpose, ..row });
    }
    for row_key in [&b"roW"[..], b"ro", b"rows", b""] {
        other.push(Context {
            row: row_key,
            ..row
        });
    }
    for generation in [0, 2, 257, u32::MAX] {
        other.push(Context { generation, ..row });
    }
    for context in other {
        assert!(is_refused(&key.open(&context, &envelope)), "{context:?}");
    }
}

#[test]
fn another_key_is_refused_by_the_commitment_and_with_the_error_of_damage() {
    let (ours, theirs) = (key(1), key(2));
    let envelope = ours.seal(&OsRandom, &place(), b"text").unwrap();
    let damaged = [&envelope[..envelope.len() - 1], &[0x55]].concat();
    let wrong_key = theirs.open(&place(), &envelope).unwrap_err();
    let damage = ours.open(&place(), &damaged).unwrap_err();
    assert_eq!(wrong_key.to_string(), damage.to_string());
    assert_eq!(
        (wrong_key.code(), damage.code()),
        (damage.code(), wrong_key.code())
    );
    // The commitment is over the key: a tag forged for the other key would not help.
    let mut crafted = envelope;
    let other = theirs.seal(&OsRandom, &place(), b"text").unwrap();
    crafted[73..].copy_from_slice(&other[73..]);
    assert!(is_refused(&ours.open(&place(), &crafted)));
    crafted[41..73].copy_from_slice(&other[41..73]);
    assert!(is_refused(&ours.open(&place(), &crafted)));
    assert!(is_refused(&theirs.open(&place(), &crafted)));
}

#[test]
fn a_dead_random_generator_gives_distinct_salts_to_distinct_messages() {
    let key = key(1);
    let salts: BTreeSet<_> = (0..20_000_u32)
        .map(|n| key.salt(&[0; 32], &place().associated_data(), &n.to_be_bytes()))
        .collect();
    assert_eq!(salts.len(), 20_000);
    let [one, two] = [UID, [0x23; 16]].map(|uid| {
        let envelope = key
            .seal(&Dead, &Context { uid, ..place() }, b"same")
            .unwrap();
        envelope[9..41].to_vec()
    });
    assert_ne!(one, two, "the place is in the salt");
}

#[test]
fn tokens_of_two_persons_fields_and_stores_never_agree() {
    let mut tokens = BTreeSet::new();
    let mut count = 0;
    for person in 0..8 {
        for store in [[1; 16], [2; 16]] {
            let key = BlindKey::new(&store, &secret(person));
            for field in ["subject/nfc1", "object/nfc1"] {
                for word in 0..50 {
                    tokens.insert(key.short_token(field, &format!("word {word}")));
                    count += 1;
                }
            }
        }
    }
    assert_eq!(tokens.len(), count);
}

#[test]
fn a_store_knows_its_master_key_and_no_other() {
    let (ours, theirs) = (MasterKey::new(secret(1)), MasterKey::new(secret(2)));
    let check = ours.check_value(&STORE);
    assert!(ours.is_of(&STORE, &check));
    assert!(!theirs.is_of(&STORE, &check));
    assert!(!ours.is_of(&[0; 16], &check));
}

#[test]
fn keys_print_nothing_of_themselves() {
    let all = [
        format!("{:?}", secret(0x33)),
        format!("{:?}", key(0x33)),
        format!("{:?}", MasterKey::new(secret(0x33))),
        format!("{:?}", BlindKey::new(&STORE, &secret(0x33))),
        format!("{:?}", KeySource::Passphrase(String::from("3333").into())),
    ];
    assert!(
        all.iter()
            .all(|text| !text.contains("33") && !text.contains("51"))
    );
}

#[test]
fn a_master_key_is_read_from_each_source() {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = home.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        KeySource::File(path)
    };
    let check = MasterKey::new(secret(0x61)).check_value(&STORE);
    let digits = "61".repeat(32);
    let sources = [
        file("raw", &[0x61; 32]),
        file("text", format!("{digits}\n").as_bytes()),
        KeySource::Callback(Box::new(|| Ok(vec![0x61; 32].into()))),
    ];
    for source in sources {
        let key = source.master_key(None).unwrap();
        assert!(key.is_of(&STORE, &check), "{source:?}");
    }
    let bad = [
        file("short", &[1; 31]),
        file("long", &[1; 300]),
        file("odd", "6z".repeat(32).as_bytes()),
        KeySource::File(home.path().join("missing")),
        KeySource::Environment("GRAINSTORE_NO_SUCH_KEY".into()),
        KeySource::Callback(Box::new(|| Err("the KMS is away".into()))),
        KeySource::Passphrase(String::from("no parameters").into()),
    ];
    for source in bad {
        assert_eq!(
            source.master_key(None).unwrap_err().code(),
            "ERR_KEY",
            "{source:?}"
        );
    }
}

#[test]
fn a_passphrase_makes_the_same_key_with_the_same_parameters_only() {
    let params = PassphraseParams {
        memory_kib: 64,
        passes: 1,
        lanes: 1,
        salt: [7; 16],
    };
    let key = params.derive(b"correct horse").unwrap();
    assert!(params.derive(b"correct horse").unwrap().is(&key));
    assert!(!params.derive(b"correct horses").unwrap().is(&key));
    let salt = [8; 16];
    let salted = PassphraseParams { salt, ..params };
    assert!(!salted.derive(b"correct horse").unwrap().is(&key));
    assert!(params.derive(b"").is_err());
    let memory_kib = u32::MAX;
    let bomb = PassphraseParams {
        memory_kib,
        ..params
    };
    assert_eq!(bomb.derive(b"x").unwrap_err().code(), "ERR_KEY");
    let drawn = PassphraseParams::draw(&OsRandom).unwrap();
    assert!(drawn.memory_kib >= 64 << 10 && drawn.salt != [0; 16]);
}

mod wycheproof {
    use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
    use serde_json::Value;

    use super::super::{Secret, derive};

    fn groups(name: &str) -> Vec<Value> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = root.join("../shared/vectors/wycheproof/testvectors_v1");
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let suite: Value = serde_json::from_str(&text).unwrap();
        suite["testGroups"].as_array().unwrap().clone()
    }

    fn bytes(case: &Value, name: &str) -> Vec<u8> {
        let digits = case[name].as_str().unwrap();
        data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap()
    }

    fn cases(group: &Value) -> impl Iterator<Item = (&Value, bool)> {
        let cases = group["tests"].as_array().unwrap().iter();
        cases.map(|case| (case, case["result"] == "valid"))
    }

    #[test]
    #[ignore = "needs corpora"]
    fn aes_256_gcm_opens_what_it_says() {
        let mut counts = [0; 2];
        for group in groups("aes_gcm_test.json") {
            if [&group["keySize"], &group["ivSize"], &group["tagSize"]] != [256, 96, 128] {
                continue;
            }
            for (case, is_valid) in cases(&group) {
                let key: [u8; 32] = bytes(case, "key").try_into().unwrap();
                let nonce: [u8; 12] = bytes(case, "iv").try_into().unwrap();
                let tag: [u8; 16] = bytes(case, "tag").try_into().unwrap();
                let mut text = bytes(case, "ct");
                let opened = Aes256Gcm::new((&key).into()).decrypt_inout_detached(
                    (&nonce).into(),
                    &bytes(case, "aad"),
                    text.as_mut_slice().into(),
                    (&tag).into(),
                );
                assert_eq!(opened.is_ok(), is_valid, "{case}");
                assert!(!is_valid || text == bytes(case, "msg"), "{case}");
                counts[usize::from(is_valid)] += 1;
            }
        }
        assert_eq!(counts, GCM);
    }

    #[test]
    #[ignore = "needs corpora"]
    fn hkdf_derives_what_it_says() {
        let mut count = 0;
        for group in groups("hkdf_sha256_test.json") {
            for (case, is_valid) in cases(&group) {
                let len = usize::try_from(case["size"].as_u64().unwrap()).unwrap();
                let prk = derive::extract(&bytes(case, "salt"), &bytes(case, "ikm"));
                let mut out = vec![0; len];
                // Longer outputs than HKDF allows are never asked for here.
                if is_valid {
                    derive::expand_to(&prk, &bytes(case, "info"), &mut out);
                    assert_eq!(out, bytes(case, "okm"), "{case}");
                    count += 1;
                }
            }
        }
        assert_eq!(count, HKDF);
    }

    #[test]
    #[ignore = "needs corpora"]
    fn hmac_makes_the_tags_that_it_says() {
        let mut counts = [0; 2];
        for group in groups("hmac_sha256_test.json") {
            for (case, is_valid) in cases(&group) {
                let Some(key) = Secret::copied(&bytes(case, "key")) else {
                    continue; // Every key here has 32 bytes.
                };
                let tag = derive::mac(&key, &[&bytes(case, "msg")]);
                let expected = bytes(case, "tag");
                assert_eq!(tag[..expected.len()] == expected, is_valid, "{case}");
                counts[usize::from(is_valid)] += 1;
            }
        }
        assert_eq!(counts, HMAC);
    }

    const GCM: [usize; 2] = [27, 39];
    const HKDF: usize = 83;
    const HMAC: [usize; 2] = [108, 54];
}
