//! Tests of the write path that need a disk whose syncs wait or fail.

use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use crate::Store;
use crate::grain::{Draft, Grain, StatusChange, Time};
use crate::ledger::{Disk, DiskFile, Lock, MemoryDisk, OpenMode};
use crate::policy::Regime;
use crate::process::{Condvar, Mutex};
use crate::store::read::{peek, read_recorder};
use crate::store::records::{Record, StatusRecord};
use crate::store::rules::{Deed, Permit};
use crate::store::{Authorization, Durability, Error, Options};

/// A disk whose syncs wait at a gate, or fail; it counts them.
#[derive(Debug, Clone, Default)]
struct GateDisk {
    under: MemoryDisk,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    /// Syncs after this many fail.
    fails: Option<(u64, io::ErrorKind)>,
    panics: bool,
    arrived: u64,
    lock_lost: bool,
}

#[derive(Debug)]
struct GateFile {
    under: Arc<dyn DiskFile>,
    gate: Arc<Gate>,
}

impl GateDisk {
    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.gate.state.lock());
        self.gate.changed.notify_all();
    }

    /// Closes the gate, and returns how many syncs there were.
    fn close(&self) -> u64 {
        let mut state = self.gate.state.lock();
        state.closed = true;
        state.arrived
    }

    /// Waits until more than `before` syncs have come to the gate.
    fn until_after(&self, before: u64) {
        let state = self.gate.state.lock();
        drop(
            self.gate
                .changed
                .wait_while(state, |state| state.arrived <= before),
        );
    }

    fn wrap(&self, under: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        let gate = Arc::clone(&self.gate);
        Arc::new(GateFile { under, gate })
    }
}

impl Disk for GateDisk {
    fn open(&self, name: &str, access: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.wrap(self.under.open(name, access)?))
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.wrap(self.under.create(name)?))
    }
    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.under.create_folder(folder)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.under.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.under.remove(name)
    }
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.under.list(folder)
    }
    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.under.sync_folder(folder)
    }
    fn lock(&self, name: &str) -> io::Result<Lock> {
        let gate = Arc::clone(&self.gate);
        Ok(self
            .under
            .lock(name)?
            .watched(move || !gate.state.lock().lock_lost))
    }
}

impl DiskFile for GateFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.under.len_bytes()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.under.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.under.write_at(bytes, offset)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.under.set_len(len)
    }
    fn sync(&self) -> io::Result<()> {
        let mut state = self.gate.state.lock();
        state.arrived += 1;
        let nth = state.arrived;
        self.gate.changed.notify_all();
        let state = self.gate.changed.wait_while(state, |state| state.closed);
        assert!(!state.panics, "a disk of this test");
        match state.fails {
            Some((passed, kind)) if nth > passed => Err(kind.into()),
            _ => Ok(()),
        }
    }
}

fn ledger(store: &Store) -> &crate::ledger::Ledger {
    store.0.engine().ledger()
}

fn open(disk: &GateDisk, durability: Durability) -> Result<Store, Error> {
    let options = Options {
        durability,
        ballast_bytes: 0,
        ..Options::default()
    };
    Store::open_on(Arc::new(disk.clone()), options)
}

fn belief(object: &str) -> Draft {
    Draft::belief("user", "mg:prefers", object)
        .confidence(0.9)
        .created_at(Time::from_ms(1))
}

fn until_waiting(store: &Store, count: usize) {
    while store.0.engine().commits().queue.waiting() < count {
        thread::yield_now();
    }
}

#[test]
fn puts_that_come_while_the_disk_is_busy_share_one_sync() {
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Sync).unwrap();
    let before = disk.close();
    thread::scope(|scope| {
        scope.spawn(|| store.put(belief("first")).unwrap());
        disk.until_after(before);
        for n in 0..20 {
            let store = &store;
            scope.spawn(move || store.put(belief(&n.to_string())).unwrap());
        }
        until_waiting(&store, 20);
        disk.set(|state| state.closed = false);
    });
    assert_eq!(
        disk.close(),
        before + 2,
        "one for the first, one for the rest"
    );
    disk.set(|state| state.closed = false);
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 21);
    assert!(
        store
            .maintenance()
            .unwrap()
            .check()
            .unwrap()
            .findings
            .is_empty()
    );
}

#[test]
fn a_copy_of_what_is_not_durable_yet_is_acknowledged_with_the_first_and_not_before() {
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Sync).unwrap();
    let before = disk.close();
    thread::scope(|scope| {
        let put = || scope.spawn(|| store.put(belief("same")).unwrap());
        // The first leads alone: a leader takes all that have come before it has its turn.
        let mut puts = vec![put()];
        disk.until_after(before);
        puts.extend([put(), put(), put(), put()]);
        until_waiting(&store, 4);
        assert!(puts.iter().all(|put| !put.is_finished()));
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().grains,
            0,
            "not durable, not visible"
        );
        disk.set(|state| state.closed = false);
    });
    assert_eq!(store.maintenance().unwrap().stats().unwrap().entries, 1);
}

#[test]
fn a_refused_request_gets_its_own_error_and_spoils_nobodys_frame() {
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Sync).unwrap();
    let address = store.put(belief("old")).unwrap();
    let implied = || belief("new").derived_from(address);
    let before = disk.close();
    thread::scope(|scope| {
        scope.spawn(|| store.put(belief("first")).unwrap());
        disk.until_after(before);
        let refused = scope.spawn(|| store.put_batch([belief("with it"), implied()]).unwrap_err());
        let stored = scope.spawn(|| store.put_batch([belief("a"), belief("b")]).unwrap());
        until_waiting(&store, 2);
        disk.set(|state| state.closed = false);
        let refused = refused.join().unwrap();
        assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
        assert!(
            refused.to_string().starts_with("grain 1 of the batch"),
            "{refused}"
        );
        assert_eq!(stored.join().unwrap().len(), 2);
    });
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 4);
}

#[test]
fn what_a_grain_of_the_same_frame_implies_is_refused_as_if_it_had_been_stored_before() {
    let store = Store::in_memory(Options::default()).unwrap();
    let old: Grain = belief("old")
        .finish(crate::codec::Profile::Extended)
        .unwrap();
    let new = belief("new").derived_from(old.address());
    let together = store.put_batch([old.into(), super::NewGrain::from(new)]);
    assert_eq!(together.unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    let stats = store.maintenance().unwrap().stats().unwrap();
    assert_eq!(
        (stats.grains, stats.entries),
        (0, 1),
        "only that it was refused"
    );
}

#[test]
fn a_failed_sync_is_told_to_all_who_shared_it_and_stops_writing_but_not_reading() {
    for (kind, code) in [
        (io::ErrorKind::Other, "ERR_STORAGE_IO"),
        (io::ErrorKind::StorageFull, "ERR_STORAGE_FULL"),
    ] {
        let disk = GateDisk::default();
        let store = open(&disk, Durability::Sync).unwrap();
        let kept = store.put(belief("kept")).unwrap();
        let before = disk.close();
        thread::scope(|scope| {
            scope.spawn(|| store.put(belief("first")).unwrap());
            disk.until_after(before);
            let rest: Vec<_> = (0..6)
                .map(|n| {
                    let store = &store;
                    // The last is a copy of the first: its frame is not durable either.
                    let object = (n % 5).to_string();
                    scope.spawn(move || store.put(belief(&object)).unwrap_err())
                })
                .collect();
            until_waiting(&store, 6);
            disk.set(|state| (state.closed, state.fails) = (false, Some((before + 1, kind))));
            for put in rest {
                let error = put.join().unwrap();
                assert_eq!(error.code(), code);
            }
        });
        disk.set(|state| state.fails = None);
        let error = store.put(belief("late")).unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_HALTED");
        let error = store.supersede(&kept, belief("late").derived_from(kept), None);
        assert_eq!(error.unwrap_err().code(), "ERR_STORAGE_HALTED");
        assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 2);
        assert_eq!(store.get(&kept).unwrap().unwrap().address(), kept);
        assert_eq!(
            store.put(belief("kept")).unwrap(),
            kept,
            "it is there already"
        );
        drop(store);
        let store = open(&disk, Durability::Sync).unwrap();
        store.put(belief("late")).unwrap();
    }
}

#[test]
fn a_writer_that_panics_halts_the_store_and_hangs_nobody() {
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Sync).unwrap();
    let kept = store.put(belief("kept")).unwrap();
    let before = disk.close();
    thread::scope(|scope| {
        let first = scope.spawn(|| store.put(belief("first")));
        disk.until_after(before);
        let rest = [1, 2, 3].map(|n| {
            let store = &store;
            scope.spawn(move || store.put(belief(&n.to_string())))
        });
        until_waiting(&store, 3);
        disk.set(|state| (state.closed, state.panics) = (false, true));
        assert!(first.join().is_err());
        for put in rest {
            let error = put.join().unwrap().unwrap_err();
            assert_eq!(error.code(), "ERR_STORAGE_HALTED");
        }
    });
    disk.set(|state| state.panics = false);
    assert_eq!(store.get(&kept).unwrap().unwrap().address(), kept);
    drop(store);
    let store = open(&disk, Durability::Sync).unwrap();
    store.put(belief("first")).unwrap();
    assert!(
        store
            .maintenance()
            .unwrap()
            .check()
            .unwrap()
            .findings
            .is_empty()
    );
}

#[test]
fn a_lost_lock_stops_writing_before_anything_is_written() {
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Sync).unwrap();
    let kept = store.put(belief("kept")).unwrap();
    disk.set(|state| state.lock_lost = true);
    let error = store.put(belief("late")).unwrap_err();
    assert_eq!(error.code(), "ERR_STORE_LOCKED");
    // The lock is lost for good, even if the file is put back.
    disk.set(|state| state.lock_lost = false);
    let error = store.put(belief("late")).unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_HALTED");
    assert_eq!(store.maintenance().unwrap().stats().unwrap().entries, 1);
    assert!(store.get(&kept).unwrap().is_some());
}

#[test]
fn relaxed_syncs_when_asked_and_on_closing_and_not_for_each_put() {
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Relaxed).unwrap();
    let syncs = || disk.gate.state.lock().arrived;
    let before = syncs();
    for n in 0..10 {
        let address = store.put(belief(&n.to_string())).unwrap();
        assert!(store.exists(&address).unwrap());
    }
    assert_eq!((syncs(), ledger(&store).durable()), (before, 0));
    store.maintenance().unwrap().sync().unwrap();
    store.maintenance().unwrap().sync().unwrap();
    assert_eq!((syncs(), ledger(&store).durable()), (before + 1, 10));
    store.put(belief("last")).unwrap();
    drop(store);
    assert_eq!(syncs(), before + 2);
    let store = open(&disk, Durability::Relaxed).unwrap();
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 11);
}

#[test]
fn a_group_waits_for_others_and_never_acknowledges_before_the_sync() {
    let disk = GateDisk::default();
    // It would take an hour for one; a request that fills the frame ends the wait.
    let store = open(&disk, Durability::Group(Duration::from_secs(3600))).unwrap();
    let before = disk.close();
    thread::scope(|scope| {
        let small = scope.spawn(|| store.put(belief("small")).unwrap());
        until_waiting(&store, 1);
        let large =
            move |n: usize| Draft::event("e".repeat(60_000 + n)).created_at(Time::from_ms(1));
        let batch: Vec<_> = (0..20).map(large).collect();
        let many = scope.spawn(|| store.put_batch(batch).unwrap());
        disk.until_after(before);
        assert!(!small.is_finished() && !many.is_finished());
        disk.set(|state| state.closed = false);
    });
    let syncs = disk.gate.state.lock().arrived;
    // A frame takes the first request and what fits beside it.
    assert!((before + 1..=before + 2).contains(&syncs));
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 21);
}

const ASKED: Authorization<'_> = Authorization {
    reason: "a test",
    authority: "its author",
};

fn watch(store: &Store) {
    let regime = "name = \"ours\"\ntitle = \"ours\"\n[[clause]]\nid = \"reads\"\ncites = \"x\"\n\
                  says = \"x\"\nwhen = { tags = [\"watched\"] }\nrequires = { read_audit = true }\n";
    let regime = Regime::parse(regime).unwrap();
    let admin = store.admin().unwrap();
    admin.set_regimes(vec![regime], ASKED).unwrap();
}

#[test]
fn a_read_on_record_waits_for_no_sync_and_one_that_cannot_be_recorded_is_refused() {
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Sync).unwrap();
    watch(&store);
    let watched = store.put(belief("tea").tag("watched")).unwrap();
    let other = store.put(belief("milk")).unwrap();
    let before = disk.close();
    disk.set(|state| state.closed = false);
    assert!(store.get(&watched).unwrap().is_some());
    assert_eq!(
        store
            .admin()
            .unwrap()
            .reads(Some(&watched), None, 9)
            .unwrap()
            .len(),
        1
    );
    assert_eq!(disk.close(), before, "no sync");
    disk.set(|state| state.closed = false);
    assert!(ledger(&store).durable() < ledger(&store).len());
    store.put(belief("coffee")).unwrap();
    assert_eq!(ledger(&store).durable(), ledger(&store).len());

    disk.set(|state| state.lock_lost = true);
    assert!(store.get(&watched).is_err());
    assert!(store.get(&other).unwrap().is_some(), "of which nobody asks");
    disk.set(|state| state.lock_lost = false);
}

#[test]
fn what_is_erased_before_its_read_is_recorded_is_not_named_by_it() {
    let store = open(&GateDisk::default(), Durability::Sync).unwrap();
    watch(&store);
    let all = ["tea", "milk"].map(|what| store.put(belief(what).tag("watched")).unwrap());
    let mut recorder = read_recorder(&store.0, "get");
    for address in &all {
        recorder.add(&peek(&store.0, address).unwrap().unwrap());
    }
    store.admin().unwrap().delete(&all[0], ASKED).unwrap();
    recorder.record().unwrap();
    let reads = store.admin().unwrap().reads(None, None, 9).unwrap();
    assert_eq!(reads.len(), 1);
    assert_eq!(reads[0].addresses, [all[1]]);
}

#[test]
fn a_check_tells_a_lineage_that_leads_into_itself() {
    // Ruling P16. No operation makes one, so its entries are written by hand: `a` leads into the
    // circle of `b` and `c`, and `d` replaces itself.
    let disk = GateDisk::default();
    let store = open(&disk, Durability::Sync).unwrap();
    let all = ["a", "b", "c", "d"].map(|what| store.put(belief(what)).unwrap());
    let cycles = |store: &Store| {
        let found = store.maintenance().unwrap().check().unwrap().findings;
        let found = found.into_iter().filter(|one| one.id == "lineage-cycle");
        found.map(|one| one.message).collect::<Vec<_>>()
    };
    let replace = |of: usize, by: usize| {
        let change = StatusChange {
            superseded_by: Some(all[by]),
            ..StatusChange::default()
        };
        let record = Record::Status(StatusRecord::of(all[of], change));
        let owner = store.0.owner().unwrap();
        let mut txn = owner.begin().unwrap();
        // No rule of the table is in the way of this one.
        txn.change(&Permit::of(Deed::Seal), &record).unwrap();
        txn.commit().unwrap();
    };
    replace(0, 1);
    replace(1, 2);
    assert_eq!(cycles(&store), Vec::<String>::new(), "a chain is none");
    replace(2, 1);
    replace(3, 3);
    let told = cycles(&store);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().any(|one| one.contains(&all[3].to_string())));
    assert!(!told.iter().any(|one| one.contains(&all[0].to_string())));
    drop(store);
    let again = open(&disk, Durability::Sync).unwrap();
    assert_eq!(
        cycles(&again).len(),
        2,
        "in the ledger, so after every reopening"
    );
}
