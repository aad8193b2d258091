//! Files that are signed, and files that only some can read.

use std::path::Path;

use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use grainstore::codec::{Map, Value};
use grainstore::crypto::{Algorithm, OsRandom, SigningKey, VerifyingKey};
use grainstore::interchange::{
    Decryption, Encryption, ExportKey, Format, ImportFile, ReadOptions, Signature, WriteOptions,
};
use grainstore::{Filter, Options, Store, Time};

use super::foreign::{codes, edit, json, text_of};
use crate::whole::{aimem, pam};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn sample() -> Store {
    let store = memory();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    store.import(read(&data, &ReadOptions::default())).unwrap();
    store
}

fn read(path: &Path, options: &ReadOptions) -> ImportFile {
    let reading = ImportFile::open(path, None, options).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    reading
}

fn key(algorithm: Algorithm) -> ExportKey {
    ExportKey::new(SigningKey::generate(algorithm, &OsRandom).unwrap())
}

fn options() -> WriteOptions {
    WriteOptions {
        now: Some(Time::from_ms(1_780_000_000_000)),
        ..WriteOptions::default()
    }
}

fn identity() -> (Encryption, Decryption) {
    use age::secrecy::ExposeSecret as _;
    let identity = age::x25519::Identity::generate();
    let recipient = identity.to_public().to_string();
    let file = format!("# a comment\n{}\n", identity.to_string().expose_secret());
    (
        Encryption::to(&[recipient]).unwrap(),
        Decryption::with_identities(file),
    )
}

#[test]
fn a_sealed_file_tells_nothing_and_opens_for_those_it_is_for() {
    let store = sample();
    let folder = tempfile::tempdir().unwrap();
    let (seal, unseal) = identity();
    let opened = ReadOptions {
        decryption: Some(unseal),
        ..ReadOptions::default()
    };
    for (format, name) in [
        (Format::Mg, "a.mg.age"),
        (Format::Jsonl, "a.jsonl"),
        (Format::Pam, "a.zip.age"),
        (Format::Pam, "a.json"),
        (Format::Omi, "a.omi.json.age"),
        (Format::AimemNdjson, "a.ndjson"),
    ] {
        let path = folder.path().join(name);
        let options = WriteOptions {
            encryption: Some(seal.clone()),
            ..options()
        };
        let filter = Filter::new();
        let exported = store
            .admin()
            .unwrap()
            .export_file(format, &filter, &options, &path)
            .unwrap();
        assert!(exported.grains > 0, "{name}");
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"age-encryption.org/v1\n"), "{name}");
        assert!(!bytes.windows(4).any(|word| word == b"Mira"), "{name}");
        let reading = read(&path, &opened);
        assert_eq!(reading.format, format);
        // One file holds its messages only as an archive, and AIMEM has no conversations.
        let lost = exported
            .loss
            .iter()
            .any(|(field, _)| field == "conversation");
        assert_eq!(
            lost,
            matches!(name, "a.json" | "a.ndjson"),
            "{name}: {:?}",
            exported.loss
        );
        let (_, other) = identity();
        for unseal in [
            None,
            Some(other),
            Some(Decryption::with_passphrase("x".into())),
        ] {
            let options = ReadOptions {
                decryption: unseal,
                ..ReadOptions::default()
            };
            let error = ImportFile::open(&path, None, &options).unwrap_err();
            assert_eq!(error.code(), "ERR_SEALED", "{name}");
        }
        // A file that was cut is no file.
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let error = ImportFile::open(&path, None, &opened).unwrap_err();
        assert_eq!(error.code(), "ERR_SEALED", "{name}");
    }
    let sealed = WriteOptions {
        encryption: Some(seal),
        ..options()
    };
    let refused =
        store
            .admin()
            .unwrap()
            .export_file(Format::Pam, &Filter::new(), &sealed, folder.path());
    assert_eq!(refused.unwrap_err().code(), "ERR_UNSUPPORTED");
}

#[test]
fn a_passphrase_seals_and_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.age");
    let sealed = WriteOptions {
        encryption: Some(Encryption::with_passphrase("correct horse".into())),
        ..options()
    };
    let store = sample();
    let filter = Filter::new();
    store
        .admin()
        .unwrap()
        .export_file(Format::Jsonl, &filter, &sealed, &path)
        .unwrap();
    // The work that the passphrase takes is fixed, whatever the machine and its load.
    let bytes = std::fs::read(&path).unwrap();
    let (at, work) = scrypt_stanza(&bytes);
    assert_eq!(work, "18");
    let options = ReadOptions {
        decryption: Some(Decryption::with_passphrase("correct horse".into())),
        ..ReadOptions::default()
    };
    let grains = read(&path, &options).records.len();
    assert_eq!(
        grains,
        store.maintenance().unwrap().stats().unwrap().current
    );
    let wrong = ReadOptions {
        decryption: Some(Decryption::with_identities("no key".into())),
        ..ReadOptions::default()
    };
    let error = ImportFile::open(&path, None, &wrong).unwrap_err();
    assert_eq!(error.code(), "ERR_IDENTITY");
    assert!(!error.to_string().contains("no key"));
    // A file that asks for more work than memory allows is refused before any of it is done.
    let mut greedy = bytes;
    greedy[at..at + 2].copy_from_slice(b"40");
    std::fs::write(&path, greedy).unwrap();
    let error = ImportFile::open(&path, None, &options).unwrap_err();
    assert_eq!(error.code(), "ERR_SEALED");
    assert!(error.to_string().contains("work"), "{error}");
}

/// Returns where a file for a passphrase states the work that it takes, and what it states.
fn scrypt_stanza(file: &[u8]) -> (usize, String) {
    let start = b"-> scrypt ";
    let at = file
        .windows(start.len())
        .position(|it| it == start)
        .unwrap();
    let line = file[at..].split(|byte| *byte == b'\n').next().unwrap();
    let line = std::str::from_utf8(line).unwrap();
    let (before, work) = line.rsplit_once(' ').unwrap();
    (at + before.len() + 1, work.to_owned())
}

#[test]
fn a_store_of_memories_goes_through_a_zip_with_its_conversations() {
    let store = sample();
    let folder = tempfile::tempdir().unwrap();
    let [zip, plain] = ["a.zip", "plain"].map(|name| folder.path().join(name));
    std::fs::create_dir(&plain).unwrap();
    let filter = Filter::new().with_superseded();
    for path in [&zip, &plain] {
        store
            .admin()
            .unwrap()
            .export_file(Format::Pam, &filter, &options(), path)
            .unwrap();
    }
    let addresses = |path: &Path| {
        let records = read(path, &ReadOptions::default()).records.into_vec();
        records
            .unwrap()
            .into_iter()
            .map(|record| record.grain.address())
            .collect::<Vec<_>>()
    };
    assert!(addresses(&zip).len() > 50);
    assert_eq!(addresses(&zip), addresses(&plain));
}

fn signed(store: &Store) -> Map {
    signed_with(store, Algorithm::Ed25519)
}

fn signed_with(store: &Store, algorithm: Algorithm) -> Map {
    let options = WriteOptions {
        sign: Some(key(algorithm)),
        ..options()
    };
    let mut bytes = Vec::new();
    store
        .admin()
        .unwrap()
        .export(Format::Pam, &Filter::new(), &options, &mut bytes)
        .unwrap();
    json(&String::from_utf8(bytes).unwrap())
}

#[test]
fn a_signed_memory_store_is_verified_and_what_does_not_fit_is_a_warning() {
    let store = sample();
    let read = |file: &Map| pam::read_bytes(text_of(file).as_bytes(), &ReadOptions::default());
    let file = signed(&store);
    let import = read(&file).unwrap();
    assert_eq!(import.signature, Some(Signature::Valid));
    let signature = file.get("signature").and_then(Value::as_map).unwrap();
    let value = signature.get("value").and_then(Value::as_text).unwrap();
    assert_eq!(value.len(), 86, "without padding");
    // With padding, as Appendix D has it.
    let mut padded = file.clone();
    edit(
        &mut padded,
        "signature/value",
        Some(&format!("\"{value}==\"")),
    );
    assert_eq!(read(&padded).unwrap().signature, Some(Signature::Valid));
    for (path, json) in [
        ("owner/id", "\"somebody\""),
        ("export_id", "\"another\""),
        ("signature/value", &format!("\"{}\"", "A".repeat(86))),
        ("signature/value", "\"AAAA\""),
        ("signature/value", "\"*\""),
        ("signature/public_key", "\"nobody\""),
        (
            "signature/public_key",
            "\"z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK\"",
        ),
    ] {
        let mut changed = file.clone();
        edit(&mut changed, path, Some(json));
        let import = read(&changed).unwrap();
        assert_eq!(import.signature, Some(Signature::Invalid), "{path}");
        assert!(import.codes().contains(&"PAM_SIGNATURE"), "{path}");
    }
    let mut other = file.clone();
    edit(&mut other, "signature/algorithm", Some("\"RS256\""));
    let import = read(&other).unwrap();
    assert_eq!(import.signature, Some(Signature::Skipped));
    assert!(import.codes().contains(&"PAM_SIGNATURE"), "told");
    edit(&mut other, "signature/algorithm", Some("\"ES256\""));
    assert_eq!(read(&other).unwrap().signature, Some(Signature::Invalid));
    for (path, json, code) in [
        ("export_id", None, "PAM_SIGNATURE_FORM"),
        ("export_date", None, "PAM_SIGNATURE_FORM"),
        ("integrity", None, "PAM_SIGNATURE_FORM"),
        (
            "signature/signed_at",
            Some("\"1999-01-01T00:00:00Z\""),
            "PAM_SIGNATURE_FORM",
        ),
        ("signature/algorithm", Some("\"none\""), "PAM_SCHEMA"),
    ] {
        let mut changed = file.clone();
        edit(&mut changed, path, json);
        assert_eq!(codes(&read(&changed).unwrap_err()), [code], "{path}");
    }
}

#[test]
fn a_memory_store_is_signed_and_verified_with_p256_in_every_spelling() {
    let read = |file: &Map| {
        let import = pam::read_bytes(text_of(file).as_bytes(), &ReadOptions::default());
        import.unwrap().signature.unwrap()
    };
    let file = signed_with(&sample(), Algorithm::P256);
    let signature = file.get("signature").and_then(Value::as_map).unwrap();
    let text = |name: &str| signature.get(name).and_then(Value::as_text).unwrap();
    assert_eq!(text("algorithm"), "ES256");
    assert_eq!(read(&file), Signature::Valid);
    let with = |name: &str, value: &str| {
        let mut changed = file.clone();
        let value = Value::from(value).to_json();
        edit(&mut changed, &format!("signature/{name}"), Some(&value));
        read(&changed)
    };
    // The key in other spellings.
    let key = VerifyingKey::from_text(text("public_key")).unwrap();
    let did = key.did().to_string();
    let point = {
        let jwk = json(text("public_key"));
        let number = |name: &str| {
            let text = jwk.get(name).and_then(Value::as_text).unwrap();
            BASE64URL_NOPAD.decode(text.as_bytes()).unwrap()
        };
        [vec![4], number("x"), number("y")].concat()
    };
    // SubjectPublicKeyInfo of RFC 5480: id-ecPublicKey, prime256v1.
    let spki = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
    let spki = [HEXLOWER.decode(spki.as_bytes()).unwrap(), point].concat();
    let base64 = BASE64.encode(&spki);
    let (first, second) = base64.split_at(64);
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{first}\n{second}\n-----END PUBLIC KEY-----\n");
    for spelled in [did.as_str(), did.trim_start_matches("did:key:"), &pem] {
        assert_eq!(with("public_key", spelled), Signature::Valid, "{spelled}");
    }
    // The signature in DER, as some libraries write it.
    let raw = BASE64URL_NOPAD.decode(text("value").as_bytes()).unwrap();
    let integer = |bytes: &[u8]| {
        let bytes: Vec<u8> = bytes.iter().copied().skip_while(|it| *it == 0).collect();
        let sign: &[u8] = if bytes[0] > 0x7f { &[0] } else { &[] };
        let len = u8::try_from(sign.len() + bytes.len()).unwrap();
        [&[2, len], sign, &bytes].concat()
    };
    let both = [integer(&raw[..32]), integer(&raw[32..])].concat();
    let der = [vec![0x30, u8::try_from(both.len()).unwrap()], both].concat();
    assert_eq!(
        with("value", &BASE64URL_NOPAD.encode(&der)),
        Signature::Valid
    );
    assert_eq!(
        with("value", &BASE64URL_NOPAD.encode(&der[..60])),
        Signature::Invalid
    );
    assert_eq!(with("algorithm", "Ed25519"), Signature::Invalid);
    let mut other = file.clone();
    edit(&mut other, "owner/id", Some("\"somebody\""));
    assert_eq!(read(&other), Signature::Invalid);
}

#[test]
fn the_signature_of_a_bundle_stands_beside_it_and_passing_it_over_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.aimem.json");
    std::fs::write(&path, text_of(&super::aimem::sample())).unwrap();
    let store = memory();
    let unsigned = read(&path, &ReadOptions::default());
    assert_eq!(unsigned.signature, Some(Signature::Absent));
    store.import(unsigned).unwrap();
    let filter = Filter::new().with_superseded();
    for (format, algorithm) in [
        (Format::Aimem, Algorithm::Ed25519),
        (Format::AimemNdjson, Algorithm::P256),
    ] {
        let options = WriteOptions {
            sign: Some(key(algorithm)),
            ..options()
        };
        let exported = store
            .admin()
            .unwrap()
            .export_file(format, &filter, &options, &path);
        assert_eq!(exported.unwrap().files, 2);
        let reading = read(&path, &ReadOptions::default());
        assert_eq!(reading.signature, Some(Signature::Valid));
        assert!(reading.findings[0].1.starts_with("signed by did:key:z"));
        let refused = store
            .admin()
            .unwrap()
            .export(format, &filter, &options, &mut Vec::new());
        assert_eq!(refused.unwrap_err().code(), "ERR_UNSUPPORTED");
    }
    // A bundle of somebody else under this signature.
    let mut other = super::aimem::sample();
    edit(&mut other, "exported_at", Some("\"2026-06-12T10:00:01Z\""));
    super::aimem::seal(&mut other);
    std::fs::write(&path, text_of(&other)).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    assert_eq!(codes(&reading.errors), ["signature_invalid"]);
    assert!(reading.records.is_empty());
    let skipped = ReadOptions {
        skip_signature: true,
        ..ReadOptions::default()
    };
    let reading = read(&path, &skipped);
    assert_eq!(reading.signature, Some(Signature::Skipped));
    // AIMEM 5.3: skipping is part of the audit trail.
    let home = folder.path().join("store");
    let store = Store::open(&home, Options::default()).unwrap();
    store.import(reading).unwrap();
    drop(store);
    let segments = super::foreign::files(&home.join("ledger")).into_iter();
    let ledger: Vec<u8> = segments.flat_map(|(_, bytes)| bytes).collect();
    let word = b"\xa3sig\xa7skipped";
    assert!(ledger.windows(word.len()).any(|bytes| bytes == word));
    // The name without its endings is looked at as well.
    let bundle = std::fs::read(&path).unwrap();
    let signing = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
    let signature = aimem::sign(&bundle, Format::Aimem, &signing).unwrap();
    std::fs::remove_file(folder.path().join("memory.aimem.json.sig")).unwrap();
    std::fs::write(folder.path().join("memory.sig"), signature).unwrap();
    let reading = read(&path, &ReadOptions::default());
    assert_eq!(reading.signature, Some(Signature::Valid));
}
