//! Files that are not what was written: the index is built anew, or says so, and never answers
//! wrongly.

use std::io;
use std::sync::Mutex;

use super::*;
use grainstore::index::Comparison;
use grainstore::ledger::{DiskFile, Lock, MemoryDisk, OpenMode};

fn memory() -> Arc<dyn Disk> {
    Arc::new(MemoryDisk::default())
}

fn entries() -> Entries {
    let mut all = Entries((0..30).map(|n| Said::Grain(Box::new(grain(n)))).collect());
    all.0.extend([
        Said::Superseded(2, 3),
        Said::Alias(4, 1),
        Said::Mention(5),
        Said::Superseded(7, 3),
    ]);
    all
}

fn written(all: &Entries) -> Arc<dyn Disk> {
    let disk = memory();
    let (index, _) = open(&disk, &small());
    all.apply(&index);
    freeze(&index);
    disk
}

fn bytes_of(disk: &Arc<dyn Disk>, name: &str) -> Vec<u8> {
    let file = disk.open(name, OpenMode::Read).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// A disk with the same files, one of them changed.
fn with(disk: &Arc<dyn Disk>, changed: &str, bytes: &[u8]) -> Arc<dyn Disk> {
    let copy = memory();
    copy.create_folder("index").unwrap();
    for name in disk.list("index").unwrap() {
        let name = format!("index/{name}");
        let old = bytes_of(disk, &name);
        let new = if name == changed { bytes } else { &old };
        copy.create(&name).unwrap().write_at(new, 0).unwrap();
    }
    copy
}

const RUN: &str = "index/0000000000000001.run";
const CURRENT: &str = "index/CURRENT";

/// Opens a changed index and holds it to its promise; returns whether it noticed.
fn judge(disk: &Arc<dyn Disk>, all: &Entries, wanted: &BTreeMap<String, Vec<u64>>) -> bool {
    let (index, opened) = open(disk, &small());
    if opened.rebuilt.is_some() {
        assert_eq!(index.watermark(), 0);
        all.apply(&index);
        assert_eq!(&answers(&index.snapshot()), wanted);
        return true;
    }
    match try_answers(&index.snapshot()) {
        Ok(found) => assert_eq!(&found, wanted),
        Err(error) => assert_eq!(error.code(), "ERR_INDEX_DAMAGED"),
    }
    let mut comparison = Comparison::of(&index);
    let mut batch = index.batch();
    all.fill(&mut batch, 0, &[]);
    comparison.add(batch);
    !comparison.finish(&places).unwrap().is_empty()
}

#[test]
fn every_flipped_bit_of_a_run_is_noticed_and_none_changes_an_answer() {
    let all = entries();
    let disk = written(&all);
    let wanted = expected(&all, &[]);
    let bytes = bytes_of(&disk, RUN);
    println!("a run of {} bytes", bytes.len());
    for at in 0..bytes.len() {
        // One bit of each byte, another one in each: eight times the time finds nothing else.
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let disk = with(&disk, RUN, &changed);
        assert!(judge(&disk, &all, &wanted), "byte {at}");
    }
}

#[test]
fn every_flipped_bit_of_current_makes_the_index_anew() {
    let all = entries();
    let disk = written(&all);
    let wanted = expected(&all, &[]);
    let bytes = bytes_of(&disk, CURRENT);
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let disk = with(&disk, CURRENT, &changed);
        let (index, opened) = open(&disk, &small());
        assert!(
            opened.rebuilt.is_some() && index.watermark() == 0,
            "bit {bit}"
        );
        assert_eq!(disk.list("index").unwrap(), [""; 0]);
    }
    let disk = with(&disk, CURRENT, &bytes);
    assert!(!judge(&disk, &all, &wanted));
}

#[test]
fn a_file_that_is_cut_short_makes_the_index_anew() {
    let all = entries();
    let disk = written(&all);
    for name in [RUN, CURRENT] {
        let bytes = bytes_of(&disk, name);
        for len in (0..bytes.len()).step_by(if name == RUN { 13 } else { 1 }) {
            let disk = with(&disk, name, &bytes[..len]);
            let (index, opened) = open(&disk, &small());
            assert!(opened.rebuilt.is_some(), "{name} cut to {len}");
            all.apply(&index);
            freeze(&index);
            agree(answers(&index.snapshot()), expected(&all, &[]));
        }
        let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
        let (_, opened) = open(&with(&disk, name, &longer), &small());
        assert!(opened.rebuilt.is_some(), "{name} made longer");
    }
}

#[test]
fn files_of_another_store_or_another_place_are_not_taken() {
    let all = entries();
    let disk = written(&all);
    let other = StoreId::new([8; 16]);
    let opened = Index::open(&disk, other, TermKey::new([9; 16]), small());
    assert!(opened.1.rebuilt.is_some());

    let disk = written(&all);
    disk.remove(RUN).unwrap();
    assert!(
        open(&disk, &small())
            .1
            .rebuilt
            .unwrap()
            .contains("is missing")
    );

    // A run that was merged away, brought back under the name of the new one.
    let disk = memory();
    let (index, _) = open(&disk, &small());
    let mut some = entries();
    some.apply(&index);
    freeze(&index);
    let old = bytes_of(&disk, RUN);
    some.0.push(Said::Grain(Box::new(grain(99))));
    some.apply(&index);
    freeze(&index);
    index.merge_all().unwrap();
    drop(index);
    let merged = "index/0000000000000003.run";
    assert!(
        open(&with(&disk, merged, &old), &small())
            .1
            .rebuilt
            .is_some()
    );
}

/// A disk that notes what happens to its names.
#[derive(Debug)]
struct Noted {
    inner: Arc<dyn Disk>,
    notes: Mutex<Vec<String>>,
}

impl Noted {
    fn note(&self, note: String) {
        self.notes.lock().unwrap().push(note);
    }
}

impl Disk for Noted {
    fn open(&self, name: &str, access: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        self.inner.open(name, access)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.inner.create(name)
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.inner.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)?;
        self.note(format!("remove {name}"));
        Ok(())
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.inner.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.note(format!("sync {folder}"));
        self.inner.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.inner.lock(name)
    }
}

#[test]
fn what_a_killed_process_published_is_durable_before_the_runs_it_replaced_are_removed() {
    let disk = written(&entries());
    let replaced = "index/0000000000000007.run";
    disk.create(replaced).unwrap();
    let noted = Arc::new(Noted {
        inner: disk,
        notes: Mutex::default(),
    });
    let (_, opened) = open(&(Arc::clone(&noted) as Arc<dyn Disk>), &small());
    assert_eq!(opened.rebuilt, None);
    let notes = noted.notes.lock().unwrap();
    assert_eq!(*notes, ["sync index", &format!("remove {replaced}")]);
}
