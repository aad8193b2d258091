//! What every build can do, and the smallest (`--no-default-features`) does: put, get, query,
//! supersede, delete, nearest vectors and a check, in a folder that is opened again; and which
//! signatures count in a build that cannot check any.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use grainstore::codec::Profile;
use grainstore::crypto::from_delivery;
use grainstore::policy::{Doubt, Trust};
use grainstore::store::{Authorization, Embedding, Justification};
use grainstore::{Draft, Filter, Grain, Options, Search, Store};

const ASKED: Authorization<'static> = Authorization {
    reason: "asked by letter",
    authority: "the data protection officer",
};

#[test]
fn a_store_of_any_build_puts_gets_queries_supersedes_and_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path(), Options::default()).unwrap();
    let store = open();
    let tea = Draft::belief("user", "prefers", "tea").confidence(0.9);
    let tea = store.put(tea).unwrap();
    let coffee = Draft::belief("user", "prefers", "coffee").confidence(0.9);
    let coffee = coffee.derived_from(tea);
    let coffee = store.supersede(&tea, coffee, None).unwrap();
    let secret = store.put(Draft::event("a secret")).unwrap();
    let vector = Embedding::new(coffee, "tiny", &[0.9, 0.1]);
    store.put_embeddings(&[vector]).unwrap();
    store.admin().unwrap().delete(&secret, ASKED).unwrap();
    drop(store);

    let store = open();
    assert!(store.get(&secret).unwrap().is_none());
    assert_eq!(
        store.get(&tea).unwrap().unwrap().text("object"),
        Some("tea")
    );
    let found = store
        .query(&Filter::new().relation("prefers"), 10, None)
        .unwrap();
    assert_eq!((found.total, found.results[0].address), (1, coffee));
    let near = store.find(&Search::near("tiny", &[1.0, 0.0]).limit(1));
    assert_eq!(near.unwrap().results[0].address, coffee);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

const CHECKS_SIGNATURES: bool = cfg!(feature = "signatures");

fn kept(name: &str) -> std::path::PathBuf {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/stores");
    vectors.join(name)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (
            entry.as_ref().unwrap().path(),
            to.join(entry.unwrap().file_name()),
        );
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(from, to).unwrap()),
        }
    }
}

/// The store of `write_signed` in `tests/it/lifecycle/kept.rs`.
fn open_signed(folder: &Path) -> Store {
    if !folder.join("MANIFEST").exists() {
        copy(&kept("signed"), folder);
    }
    Store::open(folder, Options::default()).unwrap()
}

#[test]
fn a_signed_grain_opens_in_every_build_and_is_trusted_only_where_signatures_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_signed(folder.path());
    let trust = |object: &str| {
        let found = store.query(&Filter::new().object(object), 1, None).unwrap();
        let address = found.results[0].address;
        let signature = store.signature(&address).unwrap();
        (address, signature.map(|signature| signature.trust))
    };
    let (tea, of_tea) = trust("black tea");
    let (_, of_mill) = trust("a mill");
    let unchecked = Some(Trust::Untrusted(Doubt::Unchecked));
    let expected = match CHECKS_SIGNATURES {
        true => (
            Some(Trust::Verified),
            Some(Trust::Untrusted(Doubt::Unknown)),
        ),
        false => (unchecked, unchecked),
    };
    assert_eq!((of_tea, of_mill), expected);
    assert_eq!(trust("900").1, None);
    let verified = store.query(&Filter::new().verified(), 9, None).unwrap();
    assert_eq!(verified.total, u64::from(CHECKS_SIGNATURES));
    // The signature is kept, whether it is checked or not.
    let delivered = store.delivery(&tea).unwrap().unwrap();
    let (grain, _) = from_delivery(&delivered, Profile::Extended).unwrap();
    assert_eq!(grain.address(), tea);
    // A build that checks no signature says that the checkpoint proves nothing to it.
    let findings = store.maintenance().unwrap().check().unwrap().findings;
    let ids: Vec<_> = findings.iter().map(|finding| finding.id).collect();
    assert_eq!(
        ids.as_slice(),
        if CHECKS_SIGNATURES {
            &[][..]
        } else {
            &["checkpoint-unverified"]
        }
    );
    let repaired = {
        drop(store);
        grainstore::recovery::repair(folder.path(), Options::default()).unwrap()
    };
    assert_eq!(repaired.delivery(&tea).unwrap().unwrap(), delivered);
}

#[test]
fn what_demands_a_signature_is_refused_where_signatures_are_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_signed(folder.path());
    let found = store.query(&Filter::new(), 9, None).unwrap().results;
    let named = |object: &str| {
        let is_named = |grain: &Grain| grain.text("object") == Some(object);
        let found = found.iter().find(|found| is_named(&found.grain));
        found.unwrap().address
    };
    let code_of = |result: Result<(), grainstore::Error>| match result {
        Ok(()) => "done",
        Err(error) => error.code().as_str(),
    };
    let expected = |code| match CHECKS_SIGNATURES {
        true => "done",
        false => code,
    };

    // Only its signer may write in a namespace of a trusted signer, and only with a signature.
    let unsigned = Draft::belief("ada", "prefers", "milk").confidence(0.9);
    let unsigned = store.put(unsigned.namespace("tea")).map(drop);
    assert_eq!(code_of(unsigned), "ERR_UNTRUSTED");
    let other = Store::in_memory(Options::default()).unwrap();
    let delivered = store.delivery(&named("black tea")).unwrap().unwrap();
    let (signed, _) = from_delivery(&delivered, Profile::Extended).unwrap();
    assert_eq!(
        code_of(other.put(signed).map(drop)),
        expected("ERR_UNRESOLVED")
    );

    let checkpoint = store.maintenance().unwrap().checkpoints().unwrap().pop();
    let checked = store.maintenance().unwrap();
    let checked = checked.verify_checkpoint(&checkpoint.unwrap()).map(drop);
    assert_eq!(code_of(checked), expected("ERR_UNRESOLVED"));

    let rent = named("900");
    let signatures = [fs::read(kept("signed.cose")).unwrap()];
    let refused = store.contradict(&rent, Some("asked"));
    assert_eq!(code_of(refused), "ERR_INVALIDATION_DENIED");
    let signed = Justification {
        justification: None,
        signatures: &signatures,
    };
    let answer = store.contradict(&rent, signed);
    assert_eq!(code_of(answer), expected("ERR_INVALIDATION_DENIED"));
}

#[cfg(all(feature = "interchange", not(feature = "encryption")))]
#[test]
fn without_encryption_an_encrypted_file_is_refused_by_name_and_none_is_written() {
    use grainstore::interchange::{
        Decryption, Encryption, Format, ImportFile, ReadOptions, WriteOptions,
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.jsonl.age");
    fs::write(&path, b"age-encryption.org/v1\n-> X25519 abc\n").unwrap();
    let secret = Decryption::with_passphrase("correct horse".into());
    for decryption in [None, Some(secret)] {
        let options = ReadOptions {
            decryption,
            ..ReadOptions::default()
        };
        let refused = ImportFile::open(&path, None, &options).unwrap_err();
        assert_eq!(refused.code(), "ERR_UNSUPPORTED");
        assert!(refused.to_string().contains("`encryption`"), "{refused}");
    }
    let store = Store::in_memory(Options::default()).unwrap();
    store.put(Draft::event("hello")).unwrap();
    let admin = store.admin().unwrap();
    let mut out = Vec::new();
    let mut export = |encryption| {
        let options = WriteOptions {
            encryption,
            ..WriteOptions::default()
        };
        admin.export(Format::Jsonl, &Filter::new(), &options, &mut out)
    };
    let encryption = Encryption::with_passphrase("correct horse".into());
    let refused = export(Some(encryption)).unwrap_err();
    assert_eq!(refused.code(), "ERR_UNSUPPORTED");
    assert_eq!(export(None).unwrap().grains, 1);
    let read = ImportFile::of_bytes(&out, None, &ReadOptions::default()).unwrap();
    assert!(read.errors.is_empty());
}
