//! Who somebody is, and with which key (OMS 12.2, 22.4): read strictly, printed as read.

use std::collections::HashSet;

use grainstore::crypto::{
    Algorithm, Did, DidDocuments, Error, OsRandom, Random, Resolver, SigningKey, VerifyingKey,
};

/// What `openssl genpkey` wrote, and the DIDs that another implementation gave its keys.
const ED25519: (&str, &str) = (
    "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIOIh4PdHrJku0RJJgCvvY78qpKn5vW23cZd88hWsHnq+
-----END PRIVATE KEY-----
",
    "did:key:z6MkuvkFTamqw3qVwifMJCouiL3QtN1uWkijZyqXnvkAqoBs",
);
const P256: (&str, &str) = (
    "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/C5ZckvgjlWFaFmp
SO4sOvWGwcRGCnrcpzBY/Bvz2PKhRANCAAQapBtDUTe2WAi/4s2GM9u1hHErJ5lE
e8n3reL6mj2jJ489gf1bL7oAIhz9f5LIuDwYWsAoM+B7okdJpp74tm1W
-----END PRIVATE KEY-----
",
    "did:key:zDnaeSDxnN4nsdrUb6fwuJw6d5ur7WVy6nk5Ba9hs64dZPgRC",
);

fn parsed(text: &str) -> Result<Did, Error> {
    text.parse()
}

/// A `did:key` of these bytes, whatever they are.
fn did_of(bytes: &[u8]) -> String {
    format!("did:key:z{}", base58(bytes))
}

fn base58(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut digits = vec![0_usize];
    for byte in bytes {
        let mut carry = usize::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let text = digits.iter().rev().map(|digit| char::from(DIGITS[*digit]));
    "1".repeat(zeros) + &text.collect::<String>()
}

#[test]
fn keys_of_openssl_are_read_and_written_as_it_writes_them() {
    for (algorithm, (pem, did)) in [(Algorithm::Ed25519, ED25519), (Algorithm::P256, P256)] {
        let key = SigningKey::from_pem(pem).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        assert_eq!(key.did().as_str(), did);
        assert_eq!(*key.to_pem().unwrap(), pem);
    }
}

#[test]
fn files_that_hold_no_key_of_ours_are_refused_without_a_word_about_them() {
    let refused = [
        // X25519, P-384, a passphrase, the older form of an EC key, and other things.
        "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VuBCIEICgOPb7mX4MFKJR7Q9Ts4Tjye/kbvfXa91VCSn+cyhxV
-----END PRIVATE KEY-----
",
        "-----BEGIN PRIVATE KEY-----
MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDB3PuuNeUerGnKyDp+X
xPkt2qUWg17ejzuqRHkb1+u62EL5b7akRDqw2LD9ur684hShZANiAATH4STYG/3y
5WZuAr5im0A2TC3tI+A2k6ODd6Dc2MRmDloomGFastnj4nxJn43ajFJBDArfnLaK
O42cv8JbDHNqxNE7TdjgP1CeKeD3LtZKzx+nxqpX77t3TIwUKQ7pUVM=
-----END PRIVATE KEY-----
",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgeP8X7tNACkgICCAAw
-----END ENCRYPTED PRIVATE KEY-----
",
        "-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIM99f4OIAw3Vo1di3EOUGCjgBkVor79bgchzx47Prk7HoAoGCCqGSM49
AwEHoUQDQgAEb80mM5o3pqXhhprh0ToLxnybbap9Ocv7Rg9Ulm4BO7pR1umxGYlQ
tVUasCqkpj3yLFMgKUOISoYisw7wPbttXw==
-----END EC PRIVATE KEY-----
",
        "",
        "did:key:z6MkuvkFTamqw3qVwifMJCouiL3QtN1uWkijZyqXnvkAqoBs",
    ];
    for pem in refused {
        let Err(error) = SigningKey::from_pem(pem) else {
            panic!("accepted: {pem}");
        };
        assert_eq!(error.code(), "ERR_KEY");
        let said = format!("{error} {error:?}");
        let lines = pem.lines().filter(|line| line.len() > 20);
        assert!(lines.clone().all(|line| !said.contains(line)), "{said}");
    }
}

#[test]
fn keys_are_drawn_from_the_source_given_and_from_no_other() {
    #[derive(Debug)]
    struct Constant(u8);
    impl Random for Constant {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
            bytes.fill(self.0);
            Ok(())
        }
    }
    for algorithm in [Algorithm::Ed25519, Algorithm::P256] {
        let did = |random: &dyn Random| SigningKey::generate(algorithm, random).unwrap().did();
        assert_eq!(did(&Constant(7)), did(&Constant(7)));
        assert_ne!(did(&Constant(7)), did(&Constant(8)));
        assert_ne!(did(&OsRandom), did(&OsRandom));
        let pem = SigningKey::generate(algorithm, &OsRandom).unwrap();
        let copy = SigningKey::from_pem(&pem.to_pem().unwrap()).unwrap();
        assert_eq!(copy.did(), pem.did());
    }
    // All ones are above the order of the group, and so they are for ever.
    let stuck = SigningKey::generate(Algorithm::P256, &Constant(0xff));
    assert_eq!(stuck.map(|key| key.did()).unwrap_err().code(), "ERR_KEY");
}

#[test]
fn a_did_is_printed_as_it_was_read() {
    let places = [
        "did:web:example.com",
        "did:web:a",
        "did:web:example.com%3A3000:user:alice",
        "did:web:example.com:agents:Summarizer_2.x-y",
        "did:web:xn--bcher-kva.example",
    ];
    for text in [ED25519.1, P256.1].into_iter().chain(places) {
        let did = parsed(text).unwrap();
        assert_eq!((did.as_str(), &*did.to_string()), (text, text));
        assert_eq!(format!("{did:?}"), text);
        assert_eq!(did.key().is_some(), text.starts_with("did:key:"));
        let same = HashSet::from([did.clone(), parsed(text).unwrap()]);
        assert_eq!(same.len(), 1);
    }
}

#[test]
fn what_is_not_exactly_a_did_is_refused() {
    let key = ED25519.1;
    let long_key = format!("did:key:z{}", "2".repeat(1 << 20));
    let long_place = format!("did:web:{}", "a:".repeat(300));
    let refused = [
        String::new(),
        "did".into(),
        "did:".into(),
        "did:key:".into(),
        "did:key:z".into(),
        "did:plc:z72i7hdynmk6r22z27h6tvur".into(),
        key.to_uppercase(),
        key.replace("did:key", "DID:KEY"),
        key.replace("did:key", "did:Key"),
        key.replacen(":z", ":Z", 1),
        key.replacen(":z", ":m", 1),
        key.replacen(":z", ":", 1),
        key.replacen(":z6", ":z0", 1), // Base58 has no zero.
        format!("{key} "),
        format!(" {key}"),
        format!("{key}\n"),
        format!("{key}#{}", &key[8..]),
        format!("{key}?versionId=1"),
        format!("{key}/path"),
        format!("did:key:1.1:{}", &key[8..]),
        key[..key.len() - 1].into(),
        format!("{key}1"),
        key.replacen(":z", ":z1", 1), // A zero byte in front.
        long_key,
        "did:web:".into(),
        "did:web:Example.com".into(),
        "did:web:example..com".into(),
        "did:web:-a.com".into(),
        "did:web:example.com:".into(),
        "did:web:example.com::a".into(),
        "did:web:example.com:..".into(),
        "did:web:example.com:.".into(),
        "did:web:example.com/a".into(),
        "did:web:example.com#a".into(),
        "did:web:example.com:a?b".into(),
        "did:web:example.com:a%2Fb".into(),
        "did:web:example.com%3A".into(),
        "did:web:example.com%3A0".into(),
        "did:web:example.com%3A08".into(),
        "did:web:example.com%3A65536".into(),
        "did:web:example.com%3a80".into(),
        "did:web:user@example.com".into(),
        "did:web:b\u{fc}cher.example".into(),
        "did:web:example.com:\0".into(),
        long_place,
    ];
    for text in refused {
        let shown: String = text.chars().take(80).collect();
        match parsed(&text) {
            Ok(_) => panic!("accepted: {shown}"),
            Err(error) => assert_eq!(error.code(), "ERR_DID", "{shown}"),
        }
    }
}

#[test]
fn the_key_type_is_a_varint_in_its_shortest_form_and_the_length_is_its_own() {
    let key = |did: &str| parsed(did).unwrap().key().unwrap().to_bytes();
    let (ed25519, p256) = (key(ED25519.1), key(P256.1));
    let with = |prefix: &[u8], key: &[u8]| parsed(&did_of(&[prefix, key].concat()));
    // OMS 22.4: both prefixes are varints of two bytes.
    assert_eq!(with(&[0xed, 0x01], &ed25519).unwrap().as_str(), ED25519.1);
    assert_eq!(with(&[0x80, 0x24], &p256).unwrap().as_str(), P256.1);
    let refused: [(&str, &[u8], &[u8]); 16] = [
        ("one byte more in the varint", &[0xed, 0x81, 0x00], &ed25519),
        ("and two", &[0xed, 0x81, 0x80, 0x00], &ed25519),
        ("the same for P-256", &[0x80, 0xa4, 0x00], &p256),
        ("the code as one byte", &[0xed], &ed25519),
        ("no end", &[0xed, 0x81], &[0x80; 31]),
        ("ten bytes", &[0x80; 10], &ed25519),
        ("X25519", &[0xec, 0x01], &ed25519),
        ("secp256k1", &[0xe7, 0x01], &p256),
        ("P-384", &[0x81, 0x24], &p256),
        ("the other type", &[0xed, 0x01], &p256),
        ("the other type", &[0x80, 0x24], &ed25519),
        ("31 bytes", &[0xed, 0x01], &ed25519[1..]),
        ("an uncompressed point", &[0x80, 0x24], &[4; 65]),
        (
            "a hybrid point",
            &[0x80, 0x24],
            &[&[6], &p256[1..]].concat(),
        ),
        ("the identity", &[0x80, 0x24], &[0]),
        ("no key", &[0xed, 0x01], &[]),
    ];
    for (what, prefix, key) in refused {
        assert_eq!(with(prefix, key).unwrap_err().code(), "ERR_DID", "{what}");
    }
    let mut longer = ed25519.clone();
    longer.push(0);
    assert!(with(&[0xed, 0x01], &longer).is_err());
}

#[test]
fn points_that_anyone_can_sign_for_are_no_keys() {
    let mut one = [0; 32];
    one[0] = 1;
    let mut p = [0xff; 32]; // The field's prime: zero, spelled a second way.
    (p[0], p[31]) = (0xed, 0x7f);
    let mut off_curve = [0; 32];
    off_curve[0] = 2;
    for bytes in [[0; 32], one, p, off_curve] {
        let key = VerifyingKey::new(Algorithm::Ed25519, &bytes);
        assert_eq!(key.unwrap_err().code(), "ERR_KEY", "{bytes:02x?}");
        let did = parsed(&did_of(&[&[0xed, 0x01][..], &bytes].concat()));
        assert_eq!(did.unwrap_err().code(), "ERR_DID", "{bytes:02x?}");
    }
}

#[test]
fn every_changed_character_is_another_did_or_none() {
    for text in [ED25519.1, P256.1] {
        let did = parsed(text).unwrap();
        for at in 0..text.len() {
            for with in ["1", "z", "Q", "0", ":", "\0"] {
                let mut changed = text.to_owned();
                changed.replace_range(at..=at, with);
                if changed != text
                    && let Ok(other) = parsed(&changed)
                {
                    assert_ne!(other.key(), did.key(), "{changed}");
                    assert_eq!(other.as_str(), changed);
                }
            }
        }
    }
}

#[test]
fn a_document_gives_the_keys_it_has_for_signing_and_no_others() {
    let [one, two] = [[7; 32], [9; 32]].map(|seed| {
        let key = ed25519_dalek::SigningKey::from_bytes(&seed).verifying_key();
        VerifyingKey::new(Algorithm::Ed25519, key.as_bytes()).unwrap()
    });
    let did = "did:web:example.com";
    let multibase = |key: &VerifyingKey| key.did().to_string().replace("did:key:", "");
    let method = |id: &str, member: &str| format!(r#"{{"id":"{id}",{member}}}"#);
    let first = method(
        "#a",
        &format!(r#""publicKeyMultibase":"{}""#, multibase(&one)),
    );
    let second = method(
        "did:web:example.com#b",
        &format!(r#""publicKeyJwk":{}"#, two.to_jwk()),
    );
    let odd = method("#c", r#""publicKeyMultibase":"zQ3shUnknown""#);
    let resolved = |rest: &str| {
        let mut documents = DidDocuments::default();
        let json = format!(r#"{{"id":"{did}","@context":["x"],{rest}}}"#);
        let added = documents.add(&json).map_err(|error| error.code());
        added.map(|did| documents.resolve(&did).unwrap())
    };
    let methods = format!(r#""verificationMethod":[{first},{second},{odd}]"#);
    let both = vec![one.clone(), two.clone()];
    assert_eq!(resolved(&methods).unwrap(), both);
    let asserts = |list: &str| resolved(&format!(r#"{methods},"assertionMethod":[{list}]"#));
    assert_eq!(asserts(r##""#b""##).unwrap(), std::slice::from_ref(&two));
    assert_eq!(
        asserts(r#""did:web:example.com#a""#).unwrap(),
        std::slice::from_ref(&one)
    );
    assert_eq!(asserts(&format!(r##""#b",{first}"##)).unwrap(), [two, one]);
    for nothing in [
        "",
        r##""#c""##,
        r##""#none""##,
        r#""did:web:other.com#a""#,
        "7",
    ] {
        assert_eq!(asserts(nothing).unwrap_err(), "ERR_KEY", "{nothing}");
    }
    let mut documents = DidDocuments::default();
    for (json, code) in [
        ("[]", "ERR_DID"),
        (r#"{"id":"did:plc:x"}"#, "ERR_DID"),
        (
            r#"{"id":"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"}"#,
            "ERR_DID",
        ),
        (r#"{"id":"did:web:a","id":"did:web:b"}"#, "ERR_CORRUPT"),
    ] {
        assert_eq!(documents.add(json).unwrap_err().code(), code, "{json}");
    }
    let unknown = documents.resolve(&did.parse().unwrap()).unwrap_err();
    assert_eq!(unknown.code(), "ERR_UNRESOLVED");
}
