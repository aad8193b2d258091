//! An attacker who writes the files, and makes every check fit: found with a checkpoint that was kept
//! elsewhere, and told as unanchored without one.

use std::sync::Arc;

use grainstore::ledger::{
    Binding, Disk, Kind, Ledger, MemoryDisk, NewEntry, OpenMode, SEGMENT_BYTES, StoreId,
};
use grainstore::{Options, Store};
use sha2::{Digest, Sha256};

/// An entry as the attacker finds it in the segment, its salt included.
#[derive(Clone)]
struct Found {
    salt: [u8; 16],
    body: Vec<u8>,
}

impl Found {
    /// The record of an import, of a format with this name: the smallest that an index takes.
    fn of(n: usize) -> Self {
        let name = n.to_string();
        let mut body = vec![0x81, 0xa1, b'f', 0xa0 | u8::try_from(name.len()).unwrap()];
        body.extend(name.bytes());
        let salt = Sha256::digest(&body)[..16].try_into().unwrap();
        Self { salt, body }
    }
}

fn options() -> Options {
    Options {
        text: None,
        ballast_bytes: 0,
        ..Options::default()
    }
}

/// A directory with this identity and this history, every hash of it computed anew.
fn forged(manifest: &[u8], store: [u8; 16], entries: &[Found]) -> MemoryDisk {
    let disk = MemoryDisk::default();
    disk.create("MANIFEST")
        .unwrap()
        .write_at(manifest, 0)
        .unwrap();
    let made = Arc::new(disk.clone());
    let ledger = Ledger::create(made, StoreId::new(store), SEGMENT_BYTES).unwrap();
    let new = entries.iter().map(|entry| NewEntry {
        kind: Kind::Import,
        actor: None,
        body: &entry.body,
        binding: Binding::new(entry.salt, &Sha256::digest(&entry.body).into()),
    });
    let time_ms = 1_700_000_000_000;
    ledger.append(time_ms, &new.collect::<Vec<_>>()).unwrap();
    disk
}

const ENTRIES: usize = 200;

type Attack = fn(&mut Vec<Found>, usize, &Found);
const ATTACKS: [(&str, Attack); 6] = [
    ("delete", |all, at, _| drop(all.remove(at))),
    ("insert", |all, at, alien| all.insert(at, alien.clone())),
    ("swap", |all, at, _| {
        let other = (at + 1) % all.len();
        all.swap(at, other);
    }),
    // A copy behind the last entry would be growth.
    ("duplicate", |all, at, _| {
        let copy = all[at % (ENTRIES - 1)].clone();
        all.insert(at, copy);
    }),
    ("truncate", |all, at, _| all.truncate(at)),
    ("fork", |all, at, alien| {
        all.truncate(at);
        all.resize(ENTRIES + 5, alien.clone());
    }),
];

/// At every place where `GRAINSTORE_TIMES` asks for it, as a campaign does; else at every fifth.
#[test]
fn every_change_at_every_place_of_200_entries_is_found_with_a_checkpoint_and_unanchored_without() {
    let disk = MemoryDisk::default();
    let store = Store::open_on(Arc::new(disk.clone()), options()).unwrap();
    let id = store.maintenance().unwrap().audit().head().unwrap().store();
    drop(store);
    let file = disk.open("MANIFEST", OpenMode::Read).unwrap();
    let mut manifest = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
    file.read_at(&mut manifest, 0).unwrap();

    let genuine: Vec<_> = (0..ENTRIES).map(Found::of).collect();
    let alien = Found::of(9_999);
    let disk = forged(&manifest, id, &genuine);
    let store = Store::open_on(Arc::new(disk), options()).unwrap();
    let note = store.maintenance().unwrap().audit().head().unwrap();
    assert_eq!(note.entries(), ENTRIES as u64);
    let pinned = Options {
        since: Some(note.clone()),
        ..options()
    };
    let opens = |history: &[Found]| {
        let disk = forged(&manifest, id, history);
        Store::open_on(Arc::new(disk), pinned.clone())
    };
    // The history itself, and what grew from it.
    for more in 0..3 {
        let grown = genuine.iter().chain(&genuine[..more]).cloned();
        opens(&grown.collect::<Vec<_>>()).unwrap();
    }

    let is_campaign = std::env::var_os("GRAINSTORE_TIMES").is_some();
    let step = if is_campaign { 1 } else { 5 };
    for (name, attack) in ATTACKS {
        for at in (0..ENTRIES).step_by(step) {
            let mut history = genuine.clone();
            attack(&mut history, at, &alien);
            let code = opens(&history).err().map(|error| error.code().to_string());
            assert_eq!(
                code.as_deref(),
                Some("ERR_STORAGE_DAMAGED"),
                "{name} at {at}"
            );
            if at % 50 != 0 {
                continue;
            }
            let disk = Arc::new(forged(&manifest, id, &history));
            let store = Store::open_on(disk, options()).unwrap();
            let maintenance = store.maintenance().unwrap();
            let report = maintenance.check_on_record(None).unwrap();
            assert_eq!(
                (report.findings.len(), report.anchor),
                (0, None),
                "{name} at {at}"
            );
            let report = maintenance.check_structure_on_record(Some(&note)).unwrap();
            let ids: Vec<_> = report.findings.iter().map(|it| it.id).collect();
            assert_eq!(
                (ids, report.anchor),
                (vec!["checkpoint-differs"], None),
                "{name} at {at}"
            );
        }
    }
}
