//! The vault of a store: created by its first person, opened when it is needed, told in the ledger, and
//! in no backup.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use grainstore::crypto::{KeySource, OsRandom, Secret};
use grainstore::ledger::{Ballast, Disk, DiskFile, Lock, MemoryDisk, OpenMode};
use grainstore::store::Until;
use grainstore::vault::{Error, FileShredRoot, Root, ShredRoot, Vault, VaultFiles};
use grainstore::{Draft, Options, Store};

use super::{names, source};

fn options(byte: u8) -> Options {
    Options {
        master_key: Some(Arc::new(source(byte))),
        ballast_bytes: 0,
        ..Options::default()
    }
}

fn open(disk: &MemoryDisk, options: Options) -> Store {
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

fn users(store: &Store) -> Result<Vec<String>, grainstore::Error> {
    let users = store.admin().unwrap().vault().list()?;
    Ok(names(&users).into_iter().map(str::to_owned).collect())
}

/// The code of the error of a call.
fn code<T>(outcome: Result<T, grainstore::Error>) -> String {
    outcome.err().expect("an error").code().to_string()
}

fn all_files(disk: &MemoryDisk) -> Vec<u8> {
    let mut all = Vec::new();
    for folder in ["", "ledger", "index", "text", "vault"] {
        for name in disk.list(folder).unwrap_or_default() {
            let path = format!("{folder}/{name}");
            let file = disk.open(path.trim_start_matches('/'), OpenMode::Read);
            let Ok(file) = file else { continue };
            let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
            file.read_at(&mut bytes, 0).unwrap();
            all.extend(bytes);
        }
    }
    all
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

#[test]
fn the_first_person_creates_the_vault_and_later_openings_find_it() {
    let disk = MemoryDisk::default();
    let store = open(&disk, options(1));
    assert_eq!(users(&store).unwrap(), [""; 0]);
    assert_eq!(
        code(store.admin().unwrap().vault().rotate()),
        "ERR_USER_UNKNOWN"
    );
    assert!(disk.list("vault").is_err(), "no vault without persons");
    let added = store
        .admin()
        .unwrap()
        .vault()
        .add(&["beatrice", "adalbert"])
        .unwrap();
    assert_eq!(users(&store).unwrap(), ["adalbert", "beatrice"]);
    let again = store
        .admin()
        .unwrap()
        .vault()
        .add(&["cordelia", "adalbert"]);
    assert_eq!(code(again), "ERR_USER_EXISTS");
    drop(store);

    let store = open(&disk, options(1));
    let vault = store.admin().unwrap().vault();
    assert_eq!(vault.list().unwrap().len(), 2);
    assert_eq!(vault.list().unwrap()[1].uid, added[0].uid);
    assert_eq!(vault.rekey("adalbert").unwrap().generation, 2);
    assert_eq!(vault.rotate().unwrap(), 3);
    let status = vault.status().unwrap();
    assert_eq!((status.persons, status.epoch), (2, 3));
    assert!(status.fault.is_none());
    let report = store.maintenance().unwrap().check().unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    assert!(!has(&all_files(&disk), "cordelia") && !has(&all_files(&disk), "adalbert"));
}

#[test]
fn a_wrong_key_a_missing_key_and_a_missing_root_are_told_apart() {
    let disk = MemoryDisk::default();
    let store = open(&disk, options(1));
    store.admin().unwrap().vault().add(&["ada"]).unwrap();
    drop(store);
    assert_eq!(code(users(&open(&disk, options(2)))), "ERR_MASTER_KEY");
    let without = Options {
        master_key: None,
        ..options(1)
    };
    let store = open(&disk, without);
    assert_eq!(code(users(&store)), "ERR_KEY");
    assert_eq!(
        code(store.admin().unwrap().vault().add(&["bea"])),
        "ERR_KEY"
    );
    assert!(store.put(Draft::event("plain data needs no key")).is_ok());
    drop(store);

    disk.remove("vault/root").unwrap();
    let store = open(&disk, options(1));
    let error = store.admin().unwrap().vault().list().unwrap_err();
    assert_eq!(error.code(), "ERR_ROOT_MISSING");
    assert!(
        error.to_string().contains("restore the vault's root file"),
        "{error}"
    );
    let status = store.admin().unwrap().vault().status().unwrap();
    assert!(matches!(
        status.fault,
        Some(Error::RootMissing { epoch: 1 })
    ));
    assert_eq!(status.persons, 1);
    disk.remove("vault/vault.redb").unwrap();
    let error = store.admin().unwrap().vault().add(&["bea"]).unwrap_err();
    assert_eq!(
        error.code(),
        "ERR_ROOT_MISSING",
        "a new vault would hide the loss"
    );
    assert!(error.to_string().contains("vault/"), "{error}");
}

#[test]
fn a_store_opened_for_reading_opens_the_vault_and_changes_nothing_of_it() {
    let disk = MemoryDisk::default();
    let writer = open(&disk, options(1));
    writer.admin().unwrap().vault().add(&["ada"]).unwrap();
    let before = all_files(&disk);
    let below: Arc<dyn Disk> = Arc::new(disk.clone());
    let reader = Store::open_on(Arc::clone(&below), options(1).read_only()).unwrap();
    let vault = reader.admin().unwrap().vault();
    assert_eq!(users(&reader).unwrap(), ["ada"]);
    assert_eq!(vault.check().unwrap(), 1);
    assert_eq!(vault.status().unwrap().persons, 1);
    assert_eq!(code(vault.add(&["bea"])), "ERR_STORAGE_READ_ONLY");
    assert_eq!(code(vault.rotate()), "ERR_STORAGE_READ_ONLY");
    assert_eq!(all_files(&disk), before);
}

/// A root that a program keeps elsewhere.
#[derive(Debug, Default)]
struct Keeper(parking_lot::Mutex<Vec<Root>>);

impl ShredRoot for Keeper {
    fn read(&self) -> Result<Vec<Root>, Error> {
        let roots = self.0.lock();
        let copied = roots.iter().map(|root| Root {
            epoch: root.epoch,
            secret: Secret::copied(root.secret.expose()).unwrap(),
        });
        Ok(copied.collect())
    }

    fn stage(&self, next: &Root) -> Result<(), Error> {
        let secret = Secret::copied(next.secret.expose()).unwrap();
        let epoch = next.epoch;
        self.0.lock().push(Root { epoch, secret });
        Ok(())
    }

    fn keep_only(&self, epoch: u64) -> Result<(), Error> {
        self.0.lock().retain(|root| root.epoch == epoch);
        Ok(())
    }
}

#[test]
fn the_root_of_a_store_can_lie_elsewhere() {
    let disk = MemoryDisk::default();
    let keeper = Arc::new(Keeper::default());
    let elsewhere = || Options {
        shred_root: Some(Arc::clone(&keeper) as Arc<dyn ShredRoot>),
        ..options(1)
    };
    let store = open(&disk, elsewhere());
    store.admin().unwrap().vault().add(&["ada"]).unwrap();
    drop(store);
    assert_eq!(disk.list("vault").unwrap(), ["LOCK", "copy", "vault.redb"]);
    assert_eq!(users(&open(&disk, elsewhere())).unwrap(), ["ada"]);
    assert_eq!(code(users(&open(&disk, options(1)))), "ERR_ROOT_MISSING");
}

#[test]
fn the_master_key_is_replaced_and_the_replacement_can_be_repeated() {
    let disk = MemoryDisk::default();
    let store = open(&disk, options(1));
    let vault = store.admin().unwrap().vault();
    vault.add(&["ada"]).unwrap();
    let passphrase = KeySource::Passphrase("correct horse".to_owned().into());
    assert_eq!(code(vault.rotate_master(&passphrase)), "ERR_KEY");
    assert_eq!(vault.rotate_master(&source(2)).unwrap(), 2);
    assert_eq!(code(vault.list()), "ERR_MASTER_KEY");
    // After a crash the old key may be the one in the options still.
    assert_eq!(vault.rotate_master(&source(2)).unwrap(), 2);
    drop(store);
    assert_eq!(users(&open(&disk, options(2))).unwrap(), ["ada"]);
}

#[test]
fn a_swap_that_a_crash_kept_from_the_ledger_is_told_by_the_next_change() {
    let disk = MemoryDisk::default();
    let store = open(&disk, options(1));
    store.admin().unwrap().vault().add(&["ada"]).unwrap();
    let id = *store
        .maintenance()
        .unwrap()
        .stats()
        .unwrap()
        .store_id
        .as_bytes();
    drop(store);
    // The swap alone, as before a crash.
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let random = Arc::new(OsRandom);
    let root = FileShredRoot::new(Arc::clone(&shared), "vault/root", id, random.clone());
    let files = VaultFiles {
        disk: shared,
        store: id,
        root: Arc::new(root),
        random,
        ballast: Ballast::new("ballast", 0),
        is_writer: true,
        lock_wait: Duration::ZERO,
    };
    let vault = Vault::open(files).unwrap().unwrap();
    let master = vault.master_key(&source(1)).unwrap();
    assert_eq!(vault.rotate_root(&master).unwrap(), 2);
    drop(vault);

    let store = open(&disk, options(1));
    let vault = store.admin().unwrap().vault();
    assert_eq!(vault.status().unwrap().epoch, 1);
    let entries = |store: &Store| store.maintenance().unwrap().check().unwrap().entries;
    let before = entries(&store);
    vault.add(&["bea"]).unwrap();
    assert_eq!(vault.status().unwrap().epoch, 2);
    assert_eq!(entries(&store), before + 2, "the swap, and the person");
}

/// A disk of a store that has so many bytes for the vault and the ballast together.
#[derive(Debug, Clone)]
struct SmallDisk(MemoryDisk, Arc<AtomicU64>);

#[derive(Debug)]
struct SmallFile(Arc<dyn DiskFile>, SmallDisk);

impl SmallDisk {
    fn check(&self, more: u64) -> std::io::Result<()> {
        let files = ["ballast", "vault/vault.redb", "vault/root"];
        let len = |name: &&str| {
            let file = self.0.open(name, OpenMode::Read);
            file.and_then(|file| file.len_bytes()).unwrap_or_default()
        };
        let used: u64 = files.iter().map(len).sum();
        match used + more > self.1.load(Ordering::Relaxed) {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }

    fn file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(SmallFile(file, self.clone()))
    }
}

impl Disk for SmallDisk {
    fn open(&self, name: &str, mode: OpenMode) -> std::io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(self.0.open(name, mode)?))
    }

    fn create(&self, name: &str) -> std::io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(self.0.create(name)?))
    }

    fn create_folder(&self, folder: &str) -> std::io::Result<()> {
        self.0.create_folder(folder)
    }

    fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, name: &str) -> std::io::Result<()> {
        self.0.remove(name)
    }

    fn list(&self, folder: &str) -> std::io::Result<Vec<String>> {
        self.0.list(folder)
    }

    fn sync_folder(&self, folder: &str) -> std::io::Result<()> {
        self.0.sync_folder(folder)
    }

    fn lock(&self, name: &str) -> std::io::Result<Lock> {
        self.0.lock(name)
    }
}

impl DiskFile for SmallFile {
    fn len_bytes(&self) -> std::io::Result<u64> {
        self.0.len_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        self.1.check(bytes.len() as u64)?;
        self.0.write_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.1.check(len.saturating_sub(self.0.len_bytes()?))?;
        self.0.set_len(len)
    }

    fn sync(&self) -> std::io::Result<()> {
        self.0.sync()
    }
}

#[test]
fn a_swap_of_the_root_succeeds_on_a_full_disk() {
    let room = Arc::new(AtomicU64::new(u64::MAX));
    let disk = SmallDisk(MemoryDisk::default(), Arc::clone(&room));
    let options = Options {
        ballast_bytes: 8 << 20,
        ..options(1)
    };
    let store = Store::open_on(Arc::new(disk.clone()), options).unwrap();
    let vault = store.admin().unwrap().vault();
    let names: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    vault
        .add(&names.iter().map(String::as_str).collect::<Vec<_>>())
        .unwrap();
    // Full to the last byte, with the ballast.
    let files = ["ballast", "vault/vault.redb", "vault/root"];
    let lens = files.map(|name| {
        disk.open(name, OpenMode::Read)
            .unwrap()
            .len_bytes()
            .unwrap()
    });
    room.store(lens.iter().sum(), Ordering::Relaxed);
    assert_eq!(vault.rotate().unwrap(), 2);
    assert_eq!(vault.rekey("7").unwrap().generation, 2);
    assert!(
        disk.open("ballast", OpenMode::Read).is_err(),
        "it was given up"
    );
    assert_eq!(vault.check().unwrap(), 300);
}

#[test]
fn an_old_copy_of_the_vault_with_its_root_is_refused() {
    let (home, store) = home();
    let vault = home.path().join("old/vault");
    let copy = ["root", "vault.redb"].map(|name| (name, std::fs::read(vault.join(name)).unwrap()));
    drop(store);
    let store = Store::open(home.path().join("old"), options(1)).unwrap();
    store.admin().unwrap().vault().rotate().unwrap();
    drop(store);
    for (name, bytes) in copy {
        std::fs::write(vault.join(name), bytes).unwrap();
    }
    let store = Store::open(home.path().join("old"), options(1)).unwrap();
    let error = store.admin().unwrap().vault().list().unwrap_err();
    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
    assert!(error.to_string().contains("an old copy"), "{error}");
}

/// A store in a folder, with a person and a grain.
fn home() -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path().join("old"), options(1)).unwrap();
    store.admin().unwrap().vault().add(&["ada"]).unwrap();
    store.put(Draft::event("plain")).unwrap();
    (home, store)
}

#[test]
fn a_backup_has_no_vault_and_its_restore_opens_the_keys_beside_the_current_vault() {
    let (home, store) = home();
    let [old, copy, new] = ["old", "copy", "new"].map(|name| home.path().join(name));
    store.maintenance().unwrap().backup(&copy).unwrap();
    assert!(!copy.join("vault").exists());
    // A backup is a store: it tells of the person, and says where the keys are.
    let restored = Store::open(&copy, options(1)).unwrap();
    let error = restored.admin().unwrap().vault().list().unwrap_err();
    assert_eq!(error.code(), "ERR_ROOT_MISSING");
    assert!(
        error.to_string().contains("move the folder vault/"),
        "{error}"
    );
    drop((restored, store));

    // The vault of the lost store is moved to where it is restored.
    std::fs::create_dir(&new).unwrap();
    std::fs::rename(old.join("vault"), new.join("vault")).unwrap();
    let restore = || grainstore::recovery::restore(&copy, &new, Until::End, options(1));
    std::fs::write(new.join("note"), b"of another program").unwrap();
    assert_eq!(code(restore()), "ERR_NOT_A_STORE");
    std::fs::remove_file(new.join("note")).unwrap();
    let (store, _) = restore().unwrap();
    assert_eq!(users(&store).unwrap(), ["ada"]);
    store.admin().unwrap().vault().rotate().unwrap();
}

#[cfg(unix)]
#[test]
fn a_vault_behind_a_link_is_not_opened() {
    let (home, store) = home();
    drop(store);
    let (folder, away) = (home.path().join("old/vault"), home.path().join("away"));
    std::fs::rename(&folder, &away).unwrap();
    std::os::unix::fs::symlink(&away, &folder).unwrap();
    let store = Store::open(home.path().join("old"), options(1)).unwrap();
    assert_eq!(code(users(&store)), "ERR_STORAGE_IO");
}
