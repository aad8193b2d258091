//! What is on record, how it is filtered, and that it reveals nothing of what was erased.

use std::path::Path;

use grainstore::crypto::{Algorithm, ErasureReceipt, Offline, OsRandom, SigningKey};
use grainstore::interchange::{ExportKey, Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::ledger::MemoryDisk;
use grainstore::store::{
    AuditEntry, AuditFilter, Authorization, ErasureScope, InclusionProof, Person,
};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};

use crate::sealing::{open, with_persons};

const ASKED: Authorization<'static> = Authorization {
    reason: "request 17",
    authority: "the officer",
};

fn log(store: &Store, filter: &AuditFilter) -> Vec<AuditEntry> {
    let audit = store.maintenance().unwrap().audit();
    audit.log(filter, None, usize::MAX).unwrap()
}

fn of(operation: &str) -> AuditFilter {
    AuditFilter {
        operation: Some(operation.to_owned()),
        ..AuditFilter::default()
    }
}

fn life_of(address: ContentAddress) -> AuditFilter {
    AuditFilter {
        address: Some(address),
        ..AuditFilter::default()
    }
}

fn operations(entries: &[AuditEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.operation).collect()
}

#[test]
fn exports_imports_and_checks_are_on_record_with_their_scope_and_counts() {
    let store = Store::in_memory(Options::default()).unwrap();
    store.put(Draft::event("hello").user("alice")).unwrap();
    store.put(Draft::event("hi").user("bob")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.mg");
    let filter = Filter::new().user("alice");
    let options = WriteOptions::default();
    let admin = store.admin().unwrap();
    admin
        .export_file(Format::Mg, &filter, &options, &file)
        .unwrap();
    admin
        .export(Format::Jsonl, &Filter::new(), &options, &mut Vec::new())
        .unwrap();
    let exports = log(&store, &of("export"));
    let details: Vec<_> = exports.iter().map(|entry| entry.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "mg, by user_id, 1 grains, 0 withheld or lost",
            "jsonl, all, 2 grains, 0 withheld or lost"
        ]
    );

    let other = Store::in_memory(Options::default()).unwrap();
    let read = |path: &Path| ImportFile::open(path, None, &ReadOptions::default()).unwrap();
    other.import(read(&file)).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let footer = data_encoding::HEXLOWER.encode(&bytes[bytes.len() - 32..]);
    let imports = log(&other, &of("import"));
    assert_eq!(imports.len(), 1);
    assert!(
        imports[0].detail.ends_with(&format!("footer {footer}")),
        "{imports:?}"
    );

    let maintenance = store.maintenance().unwrap();
    let head = maintenance.audit().head().unwrap();
    maintenance.check_on_record(Some(&head)).unwrap();
    maintenance.check_structure_on_record(None).unwrap();
    let checks = log(&store, &of("check"));
    let details: Vec<_> = checks.iter().map(|entry| entry.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "every byte: 0 warnings, 0 findings of damage, against a checkpoint of 4 entries",
            "structure: 0 warnings, 0 findings of damage, unanchored"
        ]
    );
}

#[test]
fn a_skipped_verification_of_a_signature_is_on_record_and_can_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    let files = crate::interchange_vectors::valid(Format::Aimem);
    let read = |path: &Path, skip_signature| {
        let options = ReadOptions {
            skip_signature,
            ..ReadOptions::default()
        };
        ImportFile::open(path, None, &options).unwrap()
    };
    let store = Store::in_memory(Options::default()).unwrap();
    let admin = store.admin().unwrap();
    store.import(read(&files[0], false)).unwrap();
    let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
    let options = WriteOptions {
        sign: Some(ExportKey::new(key)),
        now: Some(grainstore::Time::from_ms(1_700_000_000_000)),
        ..WriteOptions::default()
    };
    let filter = Filter::new().with_superseded();
    admin
        .export_file(Format::Aimem, &filter, &options, &path)
        .unwrap();
    for is_skipped in [true, false] {
        store.import(read(&path, is_skipped)).unwrap();
    }
    let imports = log(&store, &of("import"));
    let ends = ["signature absent", "signature skipped", "signature valid"];
    for (entry, end) in imports.iter().zip(ends) {
        assert!(entry.detail.ends_with(end), "{entry:?}");
    }
    assert_eq!(imports.len(), ends.len());
}

#[test]
fn the_log_is_filtered_by_time_author_operation_grain_and_person() {
    let store = Store::in_memory(Options::default()).unwrap();
    let bot = "did:web:bot.example";
    let agent = store.as_actor(&bot.parse().unwrap());
    let note = agent.put(Draft::event("likes tea").user("alice")).unwrap();
    let locked = r#"{"type":"event","content":"the deed","created_at":1,"user_id":"bob",
        "invalidation_policy":{"mode":"locked"}}"#;
    let deed = store.put(Draft::from_json(locked).unwrap()).unwrap();
    let admin = store.admin().unwrap();
    admin.place_hold(&note, ASKED).unwrap();
    store.contradict(&deed, Some("wrong")).unwrap_err();
    admin.lift_hold(&note, ASKED).unwrap();

    let all = log(&store, &AuditFilter::default());
    let expected = ["actor", "store", "store", "hold", "deny", "release"];
    assert_eq!(operations(&all), expected);
    let by = |author: &str| AuditFilter {
        by: Some(author.to_owned()),
        ..AuditFilter::default()
    };
    assert_eq!(operations(&log(&store, &by(bot))), ["store"]);
    assert_eq!(log(&store, &by("")).len(), 5);
    let person = |id: &str| AuditFilter {
        person: Some(id.to_owned()),
        ..AuditFilter::default()
    };
    let alice = log(&store, &person("alice"));
    assert_eq!(operations(&alice), ["store", "hold", "release"]);
    assert_eq!(alice[1].detail, "request 17 (the officer)");
    assert_eq!(operations(&log(&store, &person("bob"))), ["store", "deny"]);
    let denied = log(&store, &of("deny"));
    assert_eq!(denied[0].addresses, [deed]);
    assert!(denied[0].detail.starts_with("contradict: "), "{denied:?}");
    let until = AuditFilter {
        to: Some(all[0].at),
        ..AuditFilter::default()
    };
    assert_eq!(log(&store, &until)[0], all[0]);
    let later = AuditFilter {
        from: Some(grainstore::Time::from_ms(all[5].at.ms() + 1)),
        ..AuditFilter::default()
    };
    assert!(log(&store, &later).is_empty());

    let audit = store.maintenance().unwrap().audit();
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = audit.log(&person("alice"), after, 2).unwrap();
        after = page.last().map(|entry| entry.entry);
        pages.extend(page);
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, alice);
}

#[test]
fn the_life_of_an_erased_grain_ends_with_its_erasure_and_no_other_line_tells_of_it() {
    let store = Store::in_memory(Options::default()).unwrap();
    let secret = store.put(Draft::event("the secret").user("alice")).unwrap();
    let other = store.put(Draft::event("another")).unwrap();
    let admin = store.admin().unwrap();
    admin.place_hold(&secret, ASKED).unwrap();
    admin.lift_hold(&secret, ASKED).unwrap();
    let before = log(&store, &life_of(secret));
    assert_eq!(operations(&before), ["store", "hold", "release"]);
    admin.delete(&secret, ASKED).unwrap();

    let life = log(&store, &life_of(secret));
    assert_eq!(operations(&life), ["erase", "erased"]);
    assert_eq!(operations(&log(&store, &life_of(other))), ["store"]);
    let all = log(&store, &AuditFilter::default());
    assert_eq!(operations(&all)[..4], ["store", "store", "hold", "hold"]);
    assert!(
        ["erased"; 3]
            .into_iter()
            .eq([0, 2, 3].map(|n| all[n].detail.as_str()))
    );
    assert!(all.iter().all(|entry| !entry.addresses.contains(&secret)));
    let mut export = Vec::new();
    store
        .maintenance()
        .unwrap()
        .audit()
        .export(None, &mut export)
        .unwrap();
    let export = String::from_utf8(export).unwrap();
    assert!(!export.contains(&secret.to_string()) && !export.contains("alice"));
}

#[test]
fn a_receipt_proves_the_entries_of_its_erasure_and_with_a_bit_flipped_it_does_not() {
    let store = Store::in_memory(Options::default()).unwrap();
    for n in 0..5 {
        store
            .put(Draft::event(format!("event {n}")).user("alice"))
            .unwrap();
        store
            .put(Draft::event(format!("event {n}")).user("bob"))
            .unwrap();
    }
    let admin = store.admin().unwrap();
    let scope = ErasureScope::default();
    let done = admin
        .erase_person(&Person::new("alice"), scope, ASKED)
        .unwrap();
    store.put(Draft::event("later")).unwrap();
    let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
    let message = admin.erasure_receipt(&done, &key, &key.did()).unwrap();
    let (receipt, _) = ErasureReceipt::open(&message, &Offline).unwrap();
    let note = store
        .maintenance()
        .unwrap()
        .audit()
        .head_after(done.entries)
        .unwrap();
    assert_eq!(receipt.tree, Some(note.root()));
    assert_eq!(receipt.proofs.len(), done.begun.len());
    assert!(InclusionProof::prove_erasure(&receipt) && admin.agrees_with(&receipt).unwrap());
    for bit in 0..receipt.proofs[0].len() * 8 {
        let mut flipped = receipt.clone();
        flipped.proofs[0][bit / 8] ^= 1 << (bit % 8);
        assert!(!InclusionProof::prove_erasure(&flipped), "bit {bit}");
    }
    let changes: [fn(&mut ErasureReceipt); 4] = [
        |receipt| receipt.entries += 1,
        |receipt| receipt.begun[0] -= 1,
        |receipt| drop(receipt.proofs.pop()),
        |receipt| receipt.tree = None,
    ];
    for change in changes {
        let mut changed = receipt.clone();
        change(&mut changed);
        assert!(!InclusionProof::prove_erasure(&changed), "{changed:?}");
    }
}

#[test]
fn the_log_of_a_store_says_nothing_of_a_sealed_person_who_is_locked() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let sealed = store.put(Draft::event("swordfish").user("alice")).unwrap();
    store.put(Draft::event("plain").user("bob")).unwrap();
    let admin = store.admin().unwrap();
    admin.place_hold(&sealed, ASKED).unwrap();
    assert!(admin.delete(&sealed, ASKED).is_err());
    let before = log(&store, &AuditFilter::default());
    let about: Vec<_> = operations(&log(&store, &life_of(sealed)))
        .into_iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(about, ["store", "hold", "deny"]);
    drop(store);

    let locked = open(&disk);
    let after = log(&locked, &AuditFilter::default());
    assert_eq!(after.len(), before.len());
    assert_eq!(log(&locked, &life_of(sealed)), []);
    for (before, after) in before.iter().zip(&after) {
        match before.addresses.contains(&sealed) {
            true => assert_eq!(
                (after.detail.as_str(), after.addresses.len()),
                ("sealed", 0)
            ),
            false => assert_eq!(before, after),
        }
    }
    locked.admin().unwrap().unlock("alice").unwrap();
    assert_eq!(log(&locked, &AuditFilter::default()), before);
}

#[test]
fn what_follows_from_a_grain_is_the_act_of_the_handle_that_stored_it() {
    let store = Store::in_memory(Options::default()).unwrap();
    let alice = "did:web:alice.example";
    let consent = |more: &str| {
        let json = format!(
            r#"{{"type":"consent","subject_did":"{alice}","grantee_did":"did:web:acme.example",
                "scope":["store"],"created_at":1{more}}}"#
        );
        Draft::from_json(&json).unwrap()
    };
    let grant = store.put(consent(r#","is_withdrawal":false"#)).unwrap();
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    let person = store.as_actor(&alice.parse().unwrap());
    person.put(consent(&withdrawal)).unwrap();
    let waits =
        r#"{"type":"reasoning","conclusion":"no","requires_human_review":true,"created_at":1}"#;
    person.put(Draft::from_json(waits).unwrap()).unwrap();
    let by_whom = |operation: &str| {
        let entries = log(&store, &of(operation)).into_iter();
        entries.map(|entry| entry.by).collect::<Vec<_>>()
    };
    for operation in ["withdraw", "supersede", "review"] {
        let by = by_whom(operation);
        assert!(!by.is_empty(), "{operation}");
        assert!(
            by.iter().all(|by| by.as_deref() == Some(alice)),
            "{operation}: {by:?}"
        );
    }
}
