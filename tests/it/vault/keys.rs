//! Where keys come from, where the root lies, and how long keys stay in memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use grainstore::crypto::{KeySource, Secret};
use grainstore::ledger::MemoryDisk;
use grainstore::vault::{Error, Root, ShredRoot, Vault};

use super::{Home, add, names, open, seal};

/// A root that a program keeps elsewhere.
#[derive(Debug, Default)]
struct Keeper(Mutex<Vec<Root>>);

fn copied(root: &Root) -> Root {
    Root {
        epoch: root.epoch,
        secret: Secret::copied(root.secret.expose()).unwrap(),
    }
}

impl ShredRoot for Keeper {
    fn read(&self) -> Result<Vec<Root>, Error> {
        Ok(self.0.lock().unwrap().iter().map(copied).collect())
    }

    fn stage(&self, next: &Root) -> Result<(), Error> {
        self.0.lock().unwrap().push(copied(next));
        Ok(())
    }

    fn keep_only(&self, epoch: u64) -> Result<(), Error> {
        self.0.lock().unwrap().retain(|root| root.epoch == epoch);
        Ok(())
    }
}

fn passphrase(text: &str) -> KeySource {
    KeySource::Passphrase(text.to_owned().into())
}

#[test]
fn a_passphrase_opens_the_vault_whose_parameters_it_was_made_with() {
    let home = Home::in_memory();
    let (vault, master) = Vault::create(home.files(), &passphrase("correct horse")).unwrap();
    add(&vault, &master, &["ada"]);
    drop(vault);
    let vault = home.open().unwrap();
    let wrong = vault.master_key(&passphrase("correct house")).unwrap_err();
    assert_eq!(wrong.code(), "ERR_MASTER_KEY");
    let master = vault.master_key(&passphrase("correct horse")).unwrap();
    assert_eq!(names(&vault.list(&master).unwrap()), ["ada"]);
}

#[test]
fn the_root_can_lie_outside_the_store() {
    let mut home = Home::in_memory();
    home.root = Arc::new(Keeper::default());
    let (vault, master) = home.create();
    add(&vault, &master, &["ada", "bea"]);
    vault.erase(&master, &["bea"]).unwrap();
    drop(vault);
    assert_eq!(
        home.disk.list("vault").unwrap(),
        ["LOCK", "copy", "vault.redb"]
    );
    let vault = home.open().unwrap();
    assert_eq!(names(&vault.list(&master).unwrap()), ["ada"]);
    drop(vault);
    home.root = Arc::new(Keeper::default());
    assert_eq!(home.open().unwrap_err().code(), "ERR_ROOT_MISSING");
}

#[test]
fn locking_a_user_locks_every_handle_and_unlocking_gives_them_back() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada", "bea"]);
    let (one, two) = (
        vault.unlock(&master, "ada").unwrap(),
        vault.unlock(&master, "ada").unwrap(),
    );
    let bea = vault.unlock(&master, "bea").unwrap();
    let sealed = seal(&one, "text");
    vault.lock("ada");
    assert!(one.keys().is_none() && two.keys().is_none());
    assert!(bea.keys().is_some());
    assert!(open(&vault.unlock(&master, "ada").unwrap(), &sealed).is_some());
    vault.lock_all();
    assert!(bea.keys().is_none());
}

#[test]
fn keys_are_wiped_when_their_time_is_over() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada", "bea"]);
    let (hour, ttl) = (Duration::from_secs(3_600), Duration::from_secs(3_600));
    vault.expire(hour, ttl);
    let ada = vault.unlock(&master, "ada").unwrap();
    vault.expire(hour + ttl / 2, ttl);
    let bea = vault.unlock(&master, "bea").unwrap();
    vault.expire(hour + ttl, ttl);
    assert!(ada.keys().is_none() && bea.keys().is_some());
    assert!(vault.unlock(&master, "ada").unwrap().keys().is_some());
    // A clock that goes back wipes nothing, and nothing stays longer for it.
    vault.expire(Duration::ZERO, ttl);
    assert!(bea.keys().is_some());
    vault.expire(hour + 3 * ttl / 2, ttl);
    assert!(bea.keys().is_none());
}

#[test]
fn the_keys_of_a_closed_vault_are_wiped() {
    let home = Home::on(Arc::new(MemoryDisk::default()));
    let (vault, master) = home.create();
    add(&vault, &master, &["ada"]);
    let keys = vault.unlock(&master, "ada").unwrap();
    drop(vault);
    assert!(keys.keys().is_none());
}

#[test]
fn an_erasure_waits_for_a_reader_who_has_the_keys() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada"]);
    let unlocked = vault.unlock(&master, "ada").unwrap();
    let sealed = seal(&unlocked, "text");
    std::thread::scope(|scope| {
        let guard = unlocked.keys().unwrap();
        let erasure = scope.spawn(|| vault.erase(&master, &["ada"]).unwrap());
        // Whether the erasure has begun or not: with the guard the keys are there.
        let opened = guard.open(grainstore::crypto::Purpose::Grain, &[], &sealed);
        assert!(opened.is_ok() && !erasure.is_finished());
        drop(guard);
        assert_eq!(erasure.join().unwrap().len(), 1);
    });
    assert!(unlocked.keys().is_none());
}
