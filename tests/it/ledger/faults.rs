//! A disk that fails: whatever fails, and however, what is left is a prefix.

use std::io::{self, ErrorKind};
use std::sync::atomic::AtomicUsize;

use grainstore::ledger::{DiskFile, EntryId, Lock};

use super::*;

/// What a failing operation does before it reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    NotApplied,
    Applied,
    Half,
}

/// Which mutations fail: the one with this number, or that one and all after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    at: usize,
    sticky: bool,
    mode: Mode,
    kind: ErrorKind,
}

#[derive(Debug, Clone)]
pub(super) struct FailingDisk {
    under: MemoryDisk,
    plan: Plan,
    /// Whether `END` fails, which the ledger can do without, or all the others.
    is_end: bool,
    done: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct FailingFile {
    under: Arc<dyn DiskFile>,
    disk: FailingDisk,
}

impl FailingDisk {
    pub(super) fn new(under: &MemoryDisk, plan: Plan) -> Self {
        Self {
            under: under.clone(),
            plan,
            is_end: false,
            done: Arc::default(),
        }
    }

    fn fires(&self) -> bool {
        let nth = self.done.fetch_add(1, Ordering::Relaxed);
        nth == self.plan.at || (self.plan.sticky && nth > self.plan.at)
    }

    /// Runs a mutation that is all or nothing.
    fn mutate<T>(&self, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if !self.fires() {
            return run();
        }
        if self.plan.mode == Mode::Applied {
            run()?;
        }
        Err(self.plan.kind.into())
    }

    /// Runs a mutation of a directory.
    fn change(&self, run: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.is_end { run() } else { self.mutate(run) }
    }

    fn wrap(&self, under: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        let disk = self.clone();
        Arc::new(FailingFile { under, disk })
    }
}

impl Disk for FailingDisk {
    fn open(&self, name: &str, access: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.under.open(name, access)?;
        Ok(match (name == "END") == self.is_end {
            true => self.wrap(file),
            false => file,
        })
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        if (name == "END") != self.is_end {
            return self.under.create(name);
        }
        let file = self.mutate(|| self.under.create(name))?;
        Ok(self.wrap(file))
    }
    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.change(|| self.under.create_folder(folder))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(|| self.under.rename(from, to))
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.change(|| self.under.remove(name))
    }
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.under.list(folder)
    }
    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.change(|| self.under.sync_folder(folder))
    }
    fn lock(&self, name: &str) -> io::Result<Lock> {
        self.under.lock(name)
    }
}

impl DiskFile for FailingFile {
    fn len_bytes(&self) -> io::Result<u64> {
        self.under.len_bytes()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.under.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if !self.disk.fires() {
            return self.under.write_at(bytes, offset);
        }
        let applied = match self.disk.plan.mode {
            Mode::NotApplied => 0,
            Mode::Half => bytes.len() / 2,
            Mode::Applied => bytes.len(),
        };
        self.under.write_at(&bytes[..applied], offset)?;
        Err(self.disk.plan.kind.into())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.mutate(|| self.under.set_len(len))
    }
    fn sync(&self) -> io::Result<()> {
        self.disk.mutate(|| self.under.sync())
    }
}

/// Every way to fail at operation `at`.
pub(super) fn plans(at: usize) -> impl Iterator<Item = Plan> {
    let modes = [Mode::NotApplied, Mode::Applied, Mode::Half].into_iter();
    modes.flat_map(move |mode| {
        let kinds = [ErrorKind::Other, ErrorKind::StorageFull].into_iter();
        kinds.flat_map(move |kind| {
            [false, true].map(|sticky| Plan {
                at,
                sticky,
                mode,
                kind,
            })
        })
    })
}

/// What a workload on a failing disk was told.
#[derive(Default)]
struct Told {
    acknowledged: Vec<Item>,
    /// The batch whose append came back as an error, if its outcome is unknown.
    unknown: Vec<Item>,
    codes: Vec<&'static str>,
    ops: usize,
}

fn work(under: &MemoryDisk, plan: Plan) -> Told {
    let disk = FailingDisk::new(under, plan);
    let done = Arc::clone(&disk.done);
    let mut told = Told::default();
    let ledger = match Ledger::create(Arc::new(disk), STORE, 400) {
        Ok(ledger) => ledger,
        Err(error) => {
            told.codes.push(error.code().as_str());
            told.ops = done.load(Ordering::Relaxed);
            return told;
        }
    };
    for nth in 0..8_u8 {
        let batch = vec![Item::new(vec![nth; 30]); 1 + usize::from(nth) % 3];
        match append(&ledger, &batch) {
            Ok(range) => {
                assert_eq!(range.start, EntryId::new(told.acknowledged.len() as u64));
                told.acknowledged.extend(batch);
            }
            Err(error) => {
                if told.unknown.is_empty() && error.code() != "ERR_STORAGE_HALTED" {
                    told.unknown = batch;
                }
                told.codes.push(error.code().as_str());
            }
        }
        // Reads go on whatever happened, and show what was acknowledged.
        assert_eq!(all(&ledger), told.acknowledged);
    }
    if let Err(error) = append(&ledger, &[]) {
        told.codes.push(error.code().as_str());
    }
    told.ops = done.load(Ordering::Relaxed);
    told
}

#[test]
fn whatever_operation_fails_and_however_what_is_left_is_a_prefix() {
    let never = plans(usize::MAX).next().unwrap();
    let ops = work(&MemoryDisk::default(), never).ops;
    assert!(ops > 20);
    for plan in (0..ops).flat_map(plans) {
        let disk = MemoryDisk::default();
        let told = work(&disk, plan);
        assert!(!told.codes.is_empty(), "{plan:?}");
        let left = match open(&disk, told.acknowledged.len() as u64) {
            Ok((_, _, left)) => left,
            Err(error) => {
                assert!(told.acknowledged.is_empty(), "{plan:?}: {error}");
                // A create that failed can be tried again.
                create(&disk, 400);
                continue;
            }
        };
        let mut with_unknown = told.acknowledged.clone();
        with_unknown.extend(told.unknown);
        assert!(
            left == told.acknowledged || left == with_unknown,
            "{plan:?}: {left:?}"
        );
        let again = open(&disk, left.len() as u64).unwrap();
        assert_eq!((again.1, again.2), (None, left), "{plan:?}");
    }
}

#[test]
fn an_append_with_an_unknown_outcome_halts_the_ledger_until_it_is_reopened() {
    // Operations 0 to 5 create the ledger; 6 is the write of the first append, 7 its sync.
    for (at, sync) in [(6, false), (7, true)] {
        for mut plan in plans(at) {
            plan.sticky = false;
            let told = work(&MemoryDisk::default(), plan);
            let full = plan.kind == ErrorKind::StorageFull;
            let first = if full {
                "ERR_STORAGE_FULL"
            } else {
                "ERR_STORAGE_IO"
            };
            assert_eq!(told.codes[0], first, "{plan:?}");
            if full && !sync {
                assert_eq!(told.codes.len(), 1, "a full disk is survived: {plan:?}");
                assert!(!told.acknowledged.is_empty());
            } else {
                assert_eq!(told.codes[1..], ["ERR_STORAGE_HALTED"; 8], "{plan:?}");
                assert!(told.acknowledged.is_empty());
            }
        }
    }
}

#[test]
fn an_end_that_cannot_be_published_fails_no_append() {
    for plan in (0..4).flat_map(plans) {
        let disk = MemoryDisk::default();
        let failing = FailingDisk {
            is_end: true,
            ..FailingDisk::new(&disk, plan)
        };
        let ledger = Ledger::create(Arc::new(failing), STORE, 400).unwrap();
        let batch = [Item::new(vec![7; 30])];
        for _ in 0..4 {
            append(&ledger, &batch).unwrap();
        }
        assert_eq!(open(&disk, 4).unwrap().2.len(), 4, "{plan:?}");
    }
}

#[test]
fn a_full_disk_leaves_nothing_of_the_batch_and_appends_go_on() {
    let never = plans(usize::MAX).next().unwrap();
    let ops = work(&MemoryDisk::default(), never).ops;
    let mut survived = 0;
    for mut plan in (6..ops).flat_map(plans) {
        (plan.sticky, plan.kind) = (false, ErrorKind::StorageFull);
        let disk = MemoryDisk::default();
        let told = work(&disk, plan);
        if told.codes == ["ERR_STORAGE_FULL"] {
            survived += 1;
            let len = told.acknowledged.len() as u64;
            let (_, opened, left) = open(&disk, len).unwrap();
            assert_eq!((opened, left), (None, told.acknowledged), "{plan:?}");
        }
    }
    // At least every write of a frame.
    assert!(survived >= 8 * 6, "{survived}");
}

#[test]
fn a_failure_while_a_torn_tail_is_set_aside_loses_no_byte() {
    let (sound, batches) = small();
    let files = files_of(&sound);
    let torn_at = |cut: u64| {
        let disk = disk_with(&files);
        let file = disk.open(&segment(3), OpenMode::Write).unwrap();
        file.set_len(cut).unwrap();
        disk
    };
    let kept = batches[..4].concat();
    // A torn header, and a torn frame.
    for cut in [20, 100] {
        let bytes = &files[2].1[..cut];
        let tail = if cut < 32 { bytes } else { &bytes[32..] };
        for plan in (0..8).flat_map(plans) {
            let disk = torn_at(cut as u64);
            let failing = Arc::new(FailingDisk::new(&disk, plan));
            let outcome = Ledger::open(failing, STORE, 400, 0, None, erases);
            drop(outcome);
            let (_, _, seen) = open(&disk, 0).unwrap();
            assert_eq!(seen, kept, "{plan:?}");
            let aside = files_of(&disk).into_iter();
            let mut aside = aside.filter(|(name, _)| name.contains("torn-"));
            assert!(aside.any(|(_, bytes)| bytes == tail), "{plan:?}");
        }
    }
}

#[test]
fn a_read_that_fails_names_the_entry_and_its_place() {
    let (disk, _) = small();
    let (ledger, ..) = open(&disk, 0).unwrap();
    let file = disk.open(&segment(2), OpenMode::Write).unwrap();
    file.set_len(40).unwrap();
    let error = ledger.read(EntryId::new(4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read entry 4 (segment 2, byte 148)"
    );
    assert_eq!(error.code(), "ERR_STORAGE_IO");
    assert!(ledger.read(EntryId::FIRST).is_ok());
}

#[test]
fn a_disk_too_full_for_ballast_keeps_none_and_says_so() {
    use grainstore::ledger::Ballast;

    let disk = MemoryDisk::default();
    let plan = Plan {
        at: 2,
        sticky: false,
        mode: Mode::Half,
        kind: ErrorKind::StorageFull,
    };
    let failing = FailingDisk::new(&disk, plan);
    let ballast = Ballast::new("ballast", 1 << 20);
    assert!(!ballast.restore(&failing).unwrap());
    assert_eq!(disk.list("").unwrap(), [""; 0]);
    assert!(ballast.restore(&failing).unwrap());
}

#[test]
fn a_directory_that_may_only_be_read_is_told_from_a_failing_one() {
    /// Nobody may write here.
    #[derive(Debug)]
    struct ReadOnlyDisk(ErrorKind);
    impl Disk for ReadOnlyDisk {
        fn open(&self, _: &str, _: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
            Err(self.0.into())
        }
        fn create(&self, _: &str) -> io::Result<Arc<dyn DiskFile>> {
            Err(self.0.into())
        }
        fn create_folder(&self, _: &str) -> io::Result<()> {
            Err(self.0.into())
        }
        fn rename(&self, _: &str, _: &str) -> io::Result<()> {
            Err(self.0.into())
        }
        fn remove(&self, _: &str) -> io::Result<()> {
            Err(self.0.into())
        }
        fn list(&self, _: &str) -> io::Result<Vec<String>> {
            Ok(Vec::new())
        }
        fn sync_folder(&self, _: &str) -> io::Result<()> {
            Err(self.0.into())
        }
        fn lock(&self, _: &str) -> io::Result<Lock> {
            Err(self.0.into())
        }
    }
    for kind in [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem] {
        let error = Lock::take(&ReadOnlyDisk(kind), "LOCK", "process 1 (one)").unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_READ_ONLY");
        let text = "cannot lock LOCK: the store may only be read here";
        assert_eq!(error.to_string(), text);
    }
}
