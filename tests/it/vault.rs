//! The vault: keys of persons that can be destroyed. Crashes and the attacker are in
//! `grainstore-crash`.

mod damage;
mod erasure;
mod in_store;
mod keys;

use std::sync::Arc;
use std::time::Duration;

use grainstore::crypto::{KeySource, MasterKey, OsRandom, Purpose};
use grainstore::grain::Time;
use grainstore::ledger::{Ballast, Disk, FileDisk, MemoryDisk};
use grainstore::vault::{Error, FileShredRoot, ShredRoot, Unlocked, User, Vault, VaultFiles};

pub(crate) const STORE: [u8; 16] = [7; 16];

/// A vault and its disk, which a test can open again.
struct Home {
    disk: Arc<dyn Disk>,
    root: Arc<dyn ShredRoot>,
}

impl Home {
    fn in_memory() -> Self {
        Self::on(Arc::new(MemoryDisk::default()))
    }

    fn on(disk: Arc<dyn Disk>) -> Self {
        let root = FileShredRoot::new(Arc::clone(&disk), "vault/root", STORE, Arc::new(OsRandom));
        let root: Arc<dyn ShredRoot> = Arc::new(root);
        Self { disk, root }
    }

    fn files(&self) -> VaultFiles {
        VaultFiles {
            disk: Arc::clone(&self.disk),
            store: STORE,
            root: Arc::clone(&self.root),
            random: Arc::new(OsRandom),
            ballast: Ballast::new("ballast", 0),
            is_writer: true,
            lock_wait: Duration::ZERO,
        }
    }

    fn create(&self) -> (Vault, MasterKey) {
        Vault::create(self.files(), &source(1)).unwrap()
    }

    fn open(&self) -> Result<Vault, Error> {
        Ok(Vault::open(self.files())?.expect("a vault"))
    }

    fn read(&self, name: &str) -> Vec<u8> {
        let file = self
            .disk
            .open(name, grainstore::ledger::OpenMode::Read)
            .unwrap();
        let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
        file.read_at(&mut bytes, 0).unwrap();
        bytes
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let file = self
            .disk
            .open(name, grainstore::ledger::OpenMode::Write)
            .unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        file.write_at(bytes, 0).unwrap();
    }
}

fn source(byte: u8) -> KeySource {
    KeySource::Callback(Box::new(move || Ok(vec![byte; 32].into())))
}

fn add(vault: &Vault, master: &MasterKey, users: &[&str]) -> Vec<User> {
    vault
        .add(master, users, Time::from_ms(1_700_000_000_000))
        .unwrap()
}

fn seal(keys: &Unlocked, text: &str) -> Vec<u8> {
    let keys = keys.keys().unwrap();
    keys.seal(&OsRandom, Purpose::Grain, &[], text.as_bytes())
        .unwrap()
}

fn open(keys: &Unlocked, sealed: &[u8]) -> Option<Vec<u8>> {
    let opened = keys.keys()?.open(Purpose::Grain, &[], sealed).ok()?;
    Some(opened.to_vec())
}

fn names(users: &[User]) -> Vec<&str> {
    users.iter().map(|user| &*user.user).collect()
}

#[test]
fn a_vault_is_created_once_and_keeps_its_users_when_it_is_opened_again() {
    let home = Home::in_memory();
    assert!(Vault::open(home.files()).unwrap().is_none());
    let (vault, master) = home.create();
    let added = add(&vault, &master, &["bea", "ada"]);
    assert_ne!(added[0].uid, added[1].uid);
    let sealed = seal(&vault.unlock(&master, "ada").unwrap(), "a grain");
    let error = Vault::create(home.files(), &source(1)).unwrap_err();
    assert_eq!(error.code(), "ERR_STORE_EXISTS");
    drop(vault);
    let vault = home.open().unwrap();
    let users = vault.list(&master).unwrap();
    assert_eq!(names(&users), ["ada", "bea"]);
    assert_eq!(users[1], added[0]);
    let keys = vault.unlock(&master, "ada").unwrap();
    assert_eq!(open(&keys, &sealed).unwrap(), b"a grain");
    let keys = vault.unlock(&master, "bea").unwrap();
    assert_eq!(open(&keys, &sealed), None, "it is another person's");
    assert_eq!(vault.check(&master).unwrap(), 2);
}

#[test]
fn a_user_id_is_one_in_every_unicode_spelling() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["Jose\u{301}"]);
    assert!(vault.unlock(&master, "Jos\u{e9}").is_ok());
    let again = vault
        .add(&master, &["new", "Jos\u{e9}"], Time::from_ms(1))
        .unwrap_err();
    assert_eq!(again.code(), "ERR_USER_EXISTS");
    assert_eq!(
        vault.list(&master).unwrap().len(),
        1,
        "none of the call is added"
    );
    let unknown = vault.unlock(&master, "jose").unwrap_err();
    assert_eq!(unknown.code(), "ERR_USER_UNKNOWN");
}

#[test]
fn nothing_of_a_user_stands_in_the_files_of_the_vault() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    let users = add(&vault, &master, &["margarethe.of.somewhere"]);
    let files = [home.read("vault/vault.redb"), home.read("vault/root")].concat();
    let holds = |needle: &[u8]| files.windows(needle.len()).any(|window| window == needle);
    assert!(!holds(b"margarethe"));
    assert!(!holds(&users[0].uid), "the pseudonym is sealed too");
    assert!(!holds(&[1; 32]), "the master key");
}

#[test]
fn thousands_of_users_share_the_buckets_evenly_enough() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    let ids: Vec<String> = (0..1_030).map(|n| format!("user {n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let sealed = {
        add(&vault, &master, &ids[..1]);
        seal(
            &vault.unlock(&master, ids[0]).unwrap(),
            "before the buckets were doubled",
        )
    };
    add(&vault, &master, &ids[1..1_000]);
    add(&vault, &master, &ids[1_000..]);
    vault.lock_all();
    assert!(open(&vault.unlock(&master, ids[0]).unwrap(), &sealed).is_some());
    assert_eq!(vault.check(&master).unwrap(), 1_030);
    vault.erase(&master, &ids[10..20]).unwrap();
    assert_eq!(home.open().unwrap().check(&master).unwrap(), 1_020);
}

#[cfg(unix)]
#[test]
fn the_files_are_their_owners_and_no_link_is_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempfile::tempdir().unwrap();
    let home = Home::on(Arc::new(FileDisk::new(folder.path())));
    let (vault, master) = home.create();
    add(&vault, &master, &["ada"]);
    for name in ["vault/root", "vault/vault.redb"] {
        let mode = std::fs::metadata(folder.path().join(name))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
    drop(vault);
    let elsewhere = folder.path().join("elsewhere");
    let root = folder.path().join("vault/root");
    std::fs::rename(&root, &elsewhere).unwrap();
    symlink(&elsewhere, &root).unwrap();
    let before = std::fs::read(&elsewhere).unwrap();
    assert!(home.open().is_err());
    assert_eq!(std::fs::read(&elsewhere).unwrap(), before);
}
