//! Another key, a missing root and damaged files are distinct errors, and none is a panic.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use grainstore::vault::{Error, Vault};

use super::{Home, add, names, source};

#[test]
fn another_master_key_is_told_from_a_damaged_vault() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada"]);
    let error = vault.master_key(&source(9)).unwrap_err();
    assert_eq!(error.code(), "ERR_MASTER_KEY");
    assert!(vault.master_key(&source(1)).is_ok());
    let empty = grainstore::crypto::KeySource::Environment("GRAINSTORE_NO_SUCH_KEY".into());
    assert_eq!(vault.master_key(&empty).unwrap_err().code(), "ERR_KEY");
}

#[test]
fn a_missing_root_or_database_says_what_to_restore() {
    let home = Home::in_memory();
    let (vault, _) = home.create();
    drop(vault);
    let root = home.read("vault/root");
    home.disk.remove("vault/root").unwrap();
    let error = home.open().unwrap_err();
    assert_eq!(error.code(), "ERR_ROOT_MISSING");
    assert!(
        error.to_string().contains("restore the vault's root file"),
        "{error}"
    );
    home.disk.create("vault/root").unwrap();
    home.write("vault/root", &root);
    assert!(home.open().is_ok());

    home.disk.remove("vault/vault.redb").unwrap();
    for error in [
        Vault::open(home.files()).unwrap_err(),
        // A new vault would destroy the root of the lost one.
        Vault::create(home.files(), &source(1)).unwrap_err(),
    ] {
        assert!(matches!(error, Error::DatabaseMissing), "{error}");
        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
    }
    assert_eq!(home.read("vault/root"), root);
}

#[test]
fn one_sound_copy_of_the_root_is_enough_and_makes_the_others_whole() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada"]);
    drop(vault);
    let sound = home.read("vault/root");
    // Epoch 1 is odd: the second slot. Its copies begin at 0, 1536 and 3072.
    for kept in [0, 1536, 3072] {
        let mut damaged = sound.clone();
        for at in [0, 1536, 3072] {
            if at != kept {
                damaged[4096 + at + 40] ^= 1;
            }
        }
        home.write("vault/root", &damaged);
        let vault = home.open().unwrap();
        assert_eq!(names(&vault.list(&master).unwrap()), ["ada"]);
        assert_eq!(home.read("vault/root"), sound);
    }
    let mut lost = sound;
    for at in [0, 1536, 3072] {
        lost[4096 + at + 40] ^= 1;
    }
    home.write("vault/root", &lost);
    assert_eq!(home.open().unwrap_err().code(), "ERR_ROOT_MISSING");
    assert_eq!(
        home.read("vault/root"),
        lost,
        "what is left is not overwritten"
    );
}

/// Where the vault opens after a flip, its users are all there or damage is reported.
#[test]
fn a_flipped_bit_of_the_database_is_reported_or_harmless() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada", "bea", "cleo"]);
    drop(vault);
    let (database, root) = (home.read("vault/vault.redb"), home.read("vault/root"));
    let copy = home.read("vault/copy");
    let written = (0..database.len()).filter(|at| database[*at] != 0);
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for at in written.step_by(97) {
        let mut flipped = database.clone();
        flipped[at] ^= 1 << (at % 8);
        home.write("vault/vault.redb", &flipped);
        // The one before it may have been left without a copy.
        drop(home.disk.create("vault/copy"));
        home.write("vault/copy", &copy);
        let vault = home.open().unwrap();
        assert_eq!(vault.check(&master).unwrap(), 3, "byte {at}");
        drop(vault);
        // Alone, as a vault from before there was a copy.
        home.disk.remove("vault/copy").unwrap();
        home.write("vault/root", &root);
        let read = || {
            let vault = home.open()?;
            vault.check(&master)?;
            vault.list(&master)
        };
        // redb checks what it reads with assertions in a debug build.
        let outcome = match catch_unwind(AssertUnwindSafe(read)) {
            Err(_) => "a panic of redb".to_owned(),
            Ok(Err(error)) => error.code().to_string(),
            Ok(Ok(users)) => {
                assert_eq!(names(&users), ["ada", "bea", "cleo"], "byte {at}");
                "harmless".to_owned()
            }
        };
        assert_ne!(outcome, "ERR_MASTER_KEY", "byte {at}");
        *outcomes.entry(outcome).or_default() += 1;
    }
    println!("{outcomes:?}");
    assert!(outcomes.contains_key("ERR_STORAGE_DAMAGED"), "{outcomes:?}");
}

#[test]
fn the_vault_of_another_store_is_not_opened() {
    let home = Home::in_memory();
    drop(home.create());
    let mut files = home.files();
    files.store = [8; 16];
    assert_eq!(
        Vault::open(files).unwrap_err().code(),
        "ERR_STORAGE_DAMAGED"
    );
}
