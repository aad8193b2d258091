//! Proofs of entries and of growth, the published vectors, and notes that are signed by themselves.

use std::path::Path;
use std::sync::Arc;

use grainstore::codec::Value;
use grainstore::crypto::{Algorithm, Note, NoteKey, OsRandom, SigningKey};
use grainstore::ledger::{EntryId, verify_consistency, verify_inclusion};
use grainstore::store::{Authorization, Durability, NoteSchedule};
use grainstore::{Draft, Options, Store};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::foreign::json;

type Hash = [u8; 32];

#[test]
#[ignore = "needs corpora"]
fn every_published_vector_of_a_proof_is_judged_as_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors/merkle/testdata");
    let mut counts = [0, 0];
    let mut pending = vec![root];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let inside = std::fs::read_dir(path).unwrap();
            pending.extend(inside.map(|entry| entry.unwrap().path()));
            continue;
        }
        let vector = json(&std::fs::read_to_string(&path).unwrap());
        let is_rejected = !holds(&vector);
        let is_wrong = vector.get("wantErr").and_then(Value::as_bool).unwrap();
        assert_eq!(is_rejected, is_wrong, "{}", path.display());
        counts[usize::from(is_wrong)] += 1;
    }
    println!("{} that hold, {} that must fail", counts[0], counts[1]);
    assert!(counts[0] >= 12 && counts[1] >= 180, "{counts:?}");
}

fn holds(vector: &grainstore::codec::Map) -> bool {
    let number = |key: &str| {
        let number = vector.get(key)?;
        let number = number.as_i64().map(i64::cast_unsigned);
        Some(number.unwrap_or(u64::MAX))
    };
    // A root in words stands for a hash: only whether two are the same counts.
    let hash = |value: &Value| -> Option<Hash> {
        let bytes = data_encoding::BASE64.decode(value.as_text()?.as_bytes());
        let bytes = bytes.ok().filter(|bytes| !bytes.is_empty())?;
        let other = Sha256::digest(&bytes).into();
        Some(bytes.try_into().unwrap_or(other))
    };
    let one = |key: &str| hash(vector.get(key)?);
    let path = match vector.get("proof").and_then(Value::as_array) {
        Some(path) => path.iter().map(hash).collect::<Option<Vec<_>>>(),
        None => Some(Vec::new()),
    };
    let judge = || {
        let path = path?;
        Some(match number("leafIdx") {
            Some(index) => {
                let (size, leaf, root) = (number("treeSize")?, one("leafHash")?, one("root")?);
                verify_inclusion(index, size, &leaf, &path, &root)
            }
            None => {
                let (first, second) = (number("size1")?, number("size2")?);
                let (old, new) = (one("root1")?, one("root2")?);
                verify_consistency(first, second, &old, &new, &path)
            }
        })
    };
    judge().unwrap_or(false)
}

/// A store whose ledger fills a block of the tree, ends a block, or begins another.
fn grown(entries: usize) -> Store {
    let store = Store::in_memory(Options::default()).unwrap();
    let drafts = (0..entries).map(|n| Draft::event(format!("event {n}")).created_at_ms(n));
    let results = store.put_batch(drafts.collect::<Vec<_>>());
    results.unwrap();
    store
}

trait CreatedAt {
    fn created_at_ms(self, n: usize) -> Self;
}

impl CreatedAt for Draft {
    fn created_at_ms(self, n: usize) -> Self {
        self.created_at(grainstore::Time::from_ms(i64::try_from(n).unwrap()))
    }
}

#[test]
fn every_entry_and_every_growth_is_proven_under_the_roots_of_a_check() {
    let store = grown(700);
    let audit = store.maintenance().unwrap().audit();
    let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
    // Another way to the root: the pass over all bytes that signs a checkpoint.
    let message = store
        .maintenance()
        .unwrap()
        .checkpoint(&key, &key.did())
        .unwrap();
    let resolver = grainstore::crypto::Offline;
    let (checkpoint, _) = grainstore::crypto::Checkpoint::open(&message, &resolver).unwrap();
    let note = audit.head_after(700).unwrap();
    assert_eq!(
        (note.entries(), note.root()),
        (checkpoint.entries, checkpoint.root)
    );

    for size in [1, 2, 255, 256, 257, 511, 512, 513, 700] {
        let note = audit.head_after(size).unwrap();
        assert!(audit.extends(&note).unwrap());
        for entry in (0..size).step_by(37).chain([size - 1]) {
            let proof = audit.prove(EntryId::new(entry), size).unwrap();
            assert_eq!(proof.entry().get(), entry);
            assert!(proof.is_in(&note), "{entry} of {size}");
        }
        for first in (1..=size).step_by(41).chain([size]) {
            let path = audit.prove_growth(first, size).unwrap();
            let old = audit.head_after(first).unwrap().root();
            assert!(verify_consistency(first, size, &old, &note.root(), &path));
        }
        assert!(audit.prove(EntryId::new(size), size).is_err());
        assert!(audit.prove_growth(0, size).is_err());
    }
    assert_eq!(audit.head_after(702).unwrap_err().code(), "ERR_RANGE");
}

#[test]
fn a_proof_with_one_bit_flipped_is_none() {
    let store = grown(300);
    let audit = store.maintenance().unwrap().audit();
    let note = audit.head().unwrap();
    let proof = audit.prove(EntryId::new(270), 300).unwrap();
    assert!(proof.is_in(&note));
    for bit in 0..proof.header.len() * 8 {
        let mut flipped = proof.clone();
        flipped.header[bit / 8] ^= 1 << (bit % 8);
        assert!(!flipped.is_in(&note), "header, bit {bit}");
    }
    for bit in 0..256 {
        let mut flipped = proof.clone();
        flipped.before[bit / 8] ^= 1 << (bit % 8);
        assert!(!flipped.is_in(&note), "leaf before, bit {bit}");
    }
    for bit in 0..proof.path.len() * 256 {
        let mut flipped = proof.clone();
        flipped.path[bit / 256][bit % 256 / 8] ^= 1 << (bit % 8);
        assert!(!flipped.is_in(&note), "path, bit {bit}");
    }
    for bit in 0..64 {
        let mut flipped = proof.clone();
        flipped.entries ^= 1 << bit;
        assert!(!flipped.is_in(&note), "entries, bit {bit}");
    }
}

#[test]
fn an_erasure_leaves_every_proof_valid() {
    let store = grown(20);
    let audit = store.maintenance().unwrap().audit();
    let (note, proof) = (
        audit.head().unwrap(),
        audit.prove(EntryId::new(7), 20).unwrap(),
    );
    let address = store.list(None, 20).unwrap().addresses[7];
    let asked = Authorization {
        reason: "request",
        authority: "the officer",
    };
    store.admin().unwrap().delete(&address, asked).unwrap();
    assert_eq!(audit.prove(EntryId::new(7), 20).unwrap(), proof);
    assert!(proof.is_in(&note) && audit.extends(&note).unwrap());
    let later = audit.head().unwrap();
    assert!(
        audit
            .prove(EntryId::new(7), later.entries())
            .unwrap()
            .is_in(&later)
    );
}

#[test]
fn notes_are_signed_when_they_are_due_and_at_closing_appended_and_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.jsonl");
    let key = Arc::new(SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap());
    let delivered = Arc::new(Mutex::new(Vec::new()));
    let outbox = Arc::clone(&delivered);
    let schedule = NoteSchedule::new(10, Arc::clone(&key))
        .append_to(&file)
        .to(move |note: &Note| outbox.lock().push(note.clone()));
    let options = || Options {
        notes: Some(schedule.clone()),
        durability: Durability::Relaxed,
        ..Options::default()
    };
    let path = folder.path().join("memory");
    let store = Store::open(&path, options()).unwrap();
    for n in 0..25 {
        store.put(Draft::event(format!("event {n}"))).unwrap();
    }
    let heads = [10, 20].map(|entries| {
        let audit = store.maintenance().unwrap().audit();
        audit.head_after(entries).unwrap().root()
    });
    drop(store);
    // Opened and closed without a change there is nothing to sign.
    let store = Store::open(&path, options()).unwrap();
    let audit = store.maintenance().unwrap().audit();
    let delivered = std::mem::take(&mut *delivered.lock());
    let sizes: Vec<_> = delivered.iter().map(Note::entries).collect();
    assert_eq!(sizes, [10, 20, 25]);
    assert_eq!([delivered[0].root(), delivered[1].root()], heads);
    let log = NoteKey::log(delivered[0].origin(), key.verifying_key()).unwrap();
    assert!(delivered.iter().all(|note| note.is_signed_by(&log)));
    assert!(delivered.iter().all(|note| audit.extends(note).unwrap()));
    drop(store);
    let lines = std::fs::read_to_string(&file).unwrap();
    let notes = lines.lines().map(|line| {
        let text = json(line)
            .get("note")
            .and_then(Value::as_text)
            .unwrap()
            .to_owned();
        text.parse::<Note>().unwrap()
    });
    assert_eq!(notes.collect::<Vec<_>>(), delivered);
}
