//! Keys that are destroyed or renewed, and those that are not.

use grainstore::crypto::{MasterKey, Secret};

use super::{Home, add, names, open, seal, source};

#[test]
fn an_erased_user_is_gone_and_the_others_live() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    let ids: Vec<String> = (0..40).map(|n| format!("user {n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let users = add(&vault, &master, &ids);
    let keys = vault.unlock(&master, ids[3]).unwrap();
    let sealed = seal(&keys, "soon noise");
    let others: Vec<_> = ids[4..]
        .iter()
        .map(|id| {
            let keys = vault.unlock(&master, id).unwrap();
            (id, seal(&keys, "kept"))
        })
        .collect();
    vault.lock_all();

    let before = vault.epoch().unwrap();
    let held = vault.unlock(&master, ids[3]).unwrap();
    let erased = vault.erase(&master, &ids[..4]).unwrap();
    assert_eq!(
        vault.epoch().unwrap(),
        before + 1,
        "one swap for all of them"
    );
    assert_eq!(erased.len(), 4);
    assert!(
        erased
            .iter()
            .all(|key| (key.from, key.to) == (before, before + 1))
    );
    assert!(
        held.keys().is_none(),
        "a handle from before the erasure is locked"
    );
    assert_eq!(
        vault.unlock(&master, ids[3]).unwrap_err().code(),
        "ERR_USER_UNKNOWN"
    );
    drop(vault);

    let vault = home.open().unwrap();
    assert_eq!(vault.list(&master).unwrap().len(), 36);
    for (id, sealed) in others {
        let keys = vault.unlock(&master, id).unwrap();
        assert_eq!(open(&keys, &sealed).unwrap(), b"kept", "{id}");
    }
    let receipt = vault.erased(&users[3].uid).unwrap().unwrap();
    assert!(erased.contains(&receipt), "the receipt can be made again");
    assert_eq!(vault.erased(&users[5].uid).unwrap(), None);

    // A person who comes back is another one: nothing of before opens.
    let again = add(&vault, &master, &ids[3..4]);
    assert_ne!(again[0].uid, users[3].uid);
    let keys = vault.unlock(&master, ids[3]).unwrap();
    assert_eq!(open(&keys, &sealed), None);
}

#[test]
fn an_erasure_that_names_an_unknown_user_destroys_nothing() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada", "bea"]);
    let error = vault.erase(&master, &["ada", "nemo"]).unwrap_err();
    assert_eq!(error.code(), "ERR_USER_UNKNOWN");
    let error = vault.erase(&foreign(), &["ada"]).unwrap_err();
    assert_eq!(error.code(), "ERR_MASTER_KEY");
    assert_eq!(vault.epoch().unwrap(), 1);
    assert_eq!(names(&vault.list(&master).unwrap()), ["ada", "bea"]);
}

#[test]
fn the_database_of_before_an_erasure_opens_with_no_root_of_after_it() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada", "bea"]);
    drop(vault);
    let both = ["vault/vault.redb", "vault/copy"];
    let old = both.map(|name| home.read(name));
    home.open().unwrap().erase(&master, &["ada"]).unwrap();
    let new = home.read("vault/vault.redb");
    home.write(both[0], &old[0]);
    // The copy is newer, and stands in for it.
    assert_eq!(names(&home.open().unwrap().list(&master).unwrap()), ["bea"]);
    home.write(both[1], &old[1]);
    let error = home.open().unwrap_err();
    assert_eq!(error.code(), "ERR_ROOT_MISSING");
    assert!(error.to_string().contains("restore"), "{error}");
    home.write("vault/vault.redb", &new);
    assert_eq!(names(&home.open().unwrap().list(&master).unwrap()), ["bea"]);
}

#[test]
fn the_root_is_renewed_without_anything_being_lost() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    add(&vault, &master, &["ada"]);
    let sealed = seal(&vault.unlock(&master, "ada").unwrap(), "kept");
    let before = home.read("vault/root");
    assert_eq!(vault.rotate_root(&master).unwrap(), 2);
    assert_ne!(home.read("vault/root"), before);
    assert_eq!(vault.rotate_root(&master).unwrap(), 3);
    drop(vault);
    let vault = home.open().unwrap();
    assert!(open(&vault.unlock(&master, "ada").unwrap(), &sealed).is_some());
}

#[test]
fn the_master_key_is_replaced_and_the_old_one_opens_nothing() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    let ids: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    add(&vault, &master, &ids);
    let sealed = seal(&vault.unlock(&master, "7").unwrap(), "kept");
    let next = foreign();
    let epoch = vault.rotate_master(&master, &next).unwrap();
    assert_eq!(
        vault.rotate_master(&master, &next).unwrap(),
        epoch,
        "repeated"
    );
    vault.lock_all();
    assert_eq!(
        vault.unlock(&master, "7").unwrap_err().code(),
        "ERR_MASTER_KEY"
    );
    drop(vault);
    let vault = home.open().unwrap();
    assert_eq!(
        vault.master_key(&source(1)).unwrap_err().code(),
        "ERR_MASTER_KEY"
    );
    assert!(open(&vault.unlock(&next, "7").unwrap(), &sealed).is_some());
    assert_eq!(vault.check(&next).unwrap(), 20);
}

#[test]
fn a_renewed_data_key_opens_of_the_old_values_only_those_that_are_retained() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    let [user] = &add(&vault, &master, &["ada"])[..] else {
        unreachable!()
    };
    let keys = vault.unlock(&master, "ada").unwrap();
    let token = keys.keys().unwrap().blind().token("subject/nfc1", "tea");
    let [old, gone, last] = ["old", "gone", "last"].map(|text| seal(&keys, text));
    let kept = keys.keys().unwrap().retain(&[&last, &old]).unwrap();
    let renewed = vault.rekey(&master, "ada", &kept).unwrap();
    assert_eq!((renewed.uid, renewed.generation), (user.uid, 2));
    assert!(keys.keys().is_none());
    let keys = vault.unlock(&master, "ada").unwrap();
    let new = seal(&keys, "new");
    assert!(keys.keys().unwrap().retain(&[&gone]).is_err());
    // A second renewal keeps of the retained keys what it is told to.
    let kept = keys.keys().unwrap().retain(&[&old, &new]).unwrap();
    vault.rekey(&master, "ada", &kept).unwrap();
    drop(vault);
    let vault = home.open().unwrap();
    assert_eq!(vault.check(&master).unwrap(), 1);
    let keys = vault.unlock(&master, "ada").unwrap();
    for (sealed, is_kept) in [(&old, true), (&gone, false), (&last, false), (&new, true)] {
        assert_eq!(open(&keys, sealed).is_some(), is_kept);
    }
    let same = keys.keys().unwrap().blind().token("subject/nfc1", "tea");
    assert_eq!(token, same, "tokens outlive a data key");
}

#[test]
fn a_hold_key_opens_what_is_held_of_an_erased_user_and_answers_to_no_user_id() {
    let home = Home::in_memory();
    let (vault, master) = home.create();
    let added = add(&vault, &master, &["ada", "bea"]);
    let uid = added.iter().find(|user| user.user == "ada").unwrap().uid;
    let (ada, bea) = (
        vault.unlock(&master, "ada").unwrap(),
        vault.unlock(&master, "bea").unwrap(),
    );
    let [held, gone] = ["held", "gone"].map(|text| seal(&ada, text));
    let other = seal(&bea, "other");
    let token = ada.keys().unwrap().blind().token("user_id/nfc1", "ada");
    let kept = ada.keys().unwrap().retain(&[&held]).unwrap();
    let erased = vault.erase_but(&master, &[("ada", Some(&kept))]).unwrap();
    assert_eq!(erased[0].uid, uid);
    drop(vault);
    let vault = home.open().unwrap();
    assert_eq!(vault.check(&master).unwrap(), 2);
    assert_eq!(vault.erased(&uid).unwrap(), Some(erased[0]));
    let refused = vault.unlock(&master, "ada").unwrap_err();
    assert_eq!(refused.code(), "ERR_USER_UNKNOWN");
    let users = vault.list(&master).unwrap();
    let name = &users.iter().find(|user| user.uid == uid).unwrap().user;
    assert!(name.starts_with("hold:"));
    let keys = vault.unlock(&master, name).unwrap();
    assert!(open(&keys, &held).is_some());
    assert_eq!(open(&keys, &gone), None);
    let after = keys.keys().unwrap().blind().token("user_id/nfc1", "ada");
    assert_ne!(token, after, "the token of the user id is found by nothing");
    let bea = vault.unlock(&master, "bea").unwrap();
    assert!(open(&bea, &other).is_some());
    // The end of the hold leaves the record of the erasure as it was.
    vault.erase(&master, &[name]).unwrap();
    assert_eq!(vault.erased(&uid).unwrap(), Some(erased[0]));
    assert_eq!(names(&vault.list(&master).unwrap()), ["bea"]);
}

fn foreign() -> MasterKey {
    MasterKey::new(Secret::copied(&[2; 32]).unwrap())
}
