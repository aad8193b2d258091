//! What is named and refused: copies that were rolled back, are forked, lost or changed something, and
//! ledgers that are not the one that was shipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use grainstore::crypto::{Algorithm, Did, Offline, OsRandom, SigningKey};
use grainstore_replica::{
    Error, FollowOptions, Follower, Hash, Identities, ManifestKey, Recipients, ShipOptions,
    TrustedSigner,
};
use object_store::ObjectStoreExt;
use serde_json::{Value, json};

use super::faulty::Faulty;
use super::store::{Copied, delete, put};

/// A store whose copy the test can change.
pub(crate) fn reachable() -> (Copied, Arc<Faulty>) {
    let faulty = Faulty::new(1);
    let objects: Arc<Faulty> = Arc::clone(&faulty);
    (Copied::in_bucket(objects), faulty)
}

async fn set(objects: &Faulty, all: &BTreeMap<String, Vec<u8>>) {
    for name in objects.all().await.keys() {
        objects.delete(&name.as_str().into()).await.unwrap();
    }
    for (name, bytes) in all {
        objects
            .put(&name.as_str().into(), bytes.clone().into())
            .await
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_was_rolled_back_is_refused_by_those_who_saw_it() {
    let (copied, objects) = reachable();
    let store = copied.store();
    put(&store, 1);
    copied.ship().await.unwrap();
    let before = objects.all().await;
    put(&store, 2);
    copied.ship().await.unwrap();
    copied.fetch("follower").await.unwrap();
    set(&objects, &before).await;
    for refused in [
        copied.ship().await.map(drop).unwrap_err(),
        copied.fetch("follower").await.map(drop).unwrap_err(),
    ] {
        assert!(matches!(refused, Error::RolledBack { .. }), "{refused:?}");
    }
    set(&objects, &BTreeMap::new()).await;
    let refused = copied.ship().await.unwrap_err();
    assert!(
        matches!(refused, Error::RolledBack { found: 0, .. }),
        "{refused:?}"
    );
    let options = ShipOptions {
        anew: true,
        ..ShipOptions::default()
    };
    let mut shipper = copied.shipper_with(options).await.unwrap();
    assert_eq!(shipper.pass().await.unwrap().entries, 2);
    copied.fetch("other").await.unwrap();
    copied.assert_same("other");
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_lost_an_object_is_refused() {
    let (copied, objects) = reachable();
    let store = copied.store();
    for n in 0..3 {
        put(&store, n);
        copied.ship().await.unwrap();
    }
    let all = objects.all().await;
    let named = all.keys().filter(|name| name.starts_with("objects/"));
    for name in named {
        let mut less = all.clone();
        less.remove(name);
        set(&objects, &less).await;
        let refused = copied.ship().await.unwrap_err();
        let is_named = matches!(&refused, Error::Lost { name: lost, count: 1 } if lost == name);
        assert!(is_named, "{refused:?}");
        let refused = copied.fetch("copy").await.unwrap_err();
        assert!(matches!(refused, Error::Lost { .. }), "{refused:?}");
        drop(fs::remove_dir_all(copied.path("copy")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_flipped_bit_anywhere_is_found() {
    let (copied, objects) = reachable();
    let store = copied.store();
    put(&store, 1);
    copied.ship().await.unwrap();
    let all = objects.all().await;
    for name in all.keys().filter(|name| !name.starts_with("manifests/")) {
        let mut other = all.clone();
        let bytes = other.get_mut(name).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        set(&objects, &other).await;
        let refused = copied.fetch("copy").await.unwrap_err();
        assert_eq!(refused.code(), "ERR_STORAGE_DAMAGED", "{name}: {refused:?}");
        drop(fs::remove_dir_all(copied.path("copy")));
    }
}

/// Writes a manifest that was changed, under a name that proves it.
async fn forge(objects: &Faulty, change: impl FnOnce(&mut Value)) {
    let all = objects.all().await;
    let manifests = all.iter().rfind(|(name, _)| name.starts_with("manifests/"));
    let mut manifest: Value = serde_json::from_slice(manifests.unwrap().1).unwrap();
    manifest["number"] = json!(manifest["number"].as_u64().unwrap() + 1);
    change(&mut manifest);
    let bytes = serde_json::to_vec(&manifest).unwrap();
    let number = manifest["number"].as_u64().unwrap();
    let name = format!("manifests/{number:016}-{}.json", Hash::of(&bytes));
    objects.put(&name.into(), bytes.into()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_manifest_that_leaves_out_or_swaps_frames_is_refused() {
    let forgeries: [fn(&mut Value); 4] = [
        |manifest| drop(manifest["parts"].as_array_mut().unwrap().remove(1)),
        |manifest| drop(manifest["parts"].as_array_mut().unwrap().pop()),
        |manifest| manifest["parts"].as_array_mut().unwrap().swap(0, 1),
        |manifest| manifest["end"]["head"] = json!(Hash::of(b"another").to_string()),
    ];
    for forgery in forgeries {
        let (copied, objects) = reachable();
        let store = copied.store();
        for n in 0..3 {
            put(&store, n);
            copied.ship().await.unwrap();
        }
        forge(&objects, forgery).await;
        let refused = copied.fetch("copy").await.unwrap_err();
        let codes = ["ERR_STORAGE_DAMAGED", "ERR_BACKUP_DIVERGED"];
        assert!(
            codes.iter().any(|code| refused.code() == *code),
            "{refused:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn two_manifests_of_one_number_are_a_fork() {
    let (copied, objects) = reachable();
    let store = copied.store();
    put(&store, 1);
    copied.ship().await.unwrap();
    for time in [7, 8] {
        forge(&objects, |manifest| {
            manifest["number"] = json!(90);
            manifest["newest_ms"] = json!(time);
        })
        .await;
    }
    let refused = copied.ship().await.unwrap_err();
    assert!(
        matches!(refused, Error::Forked { number: 90, .. }),
        "{refused:?}"
    );
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for item in fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let to = to.join(item.file_name());
        match item.path().is_dir() {
            true => copy_folder(&item.path(), &to),
            false => drop(fs::copy(item.path(), to).unwrap()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_was_rolled_back_or_is_another_is_not_shipped() {
    let (copied, _) = reachable();
    let store = copied.store();
    put(&store, 1);
    drop(store);
    copy_folder(&copied.path("store"), &copied.path("old"));
    let store = copied.store();
    put(&store, 2);
    copied.ship().await.unwrap();
    drop(store);
    fs::rename(copied.path("store"), copied.path("new")).unwrap();

    fs::rename(copied.path("old"), copied.path("store")).unwrap();
    let refused = copied.ship().await.unwrap_err();
    assert!(
        matches!(refused, Error::Behind { here: 1, there: 2 }),
        "{refused:?}"
    );
    let store = copied.store();
    for n in 10..13 {
        put(&store, n);
        let refused = copied.ship().await.unwrap_err();
        assert!(matches!(refused, Error::Diverged { .. }), "{refused:?}");
    }
    drop(store);
    fs::remove_dir_all(copied.path("store")).unwrap();
    put(&copied.store(), 1);
    let refused = copied.ship().await.unwrap_err();
    assert!(matches!(refused, Error::OtherStore), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_machine_without_memory_goes_on_where_the_copy_ends() {
    let (copied, _) = reachable();
    let store = copied.store();
    put(&store, 1);
    copied.ship().await.unwrap();
    fs::remove_dir_all(copied.path("store/replica")).unwrap();
    put(&store, 2);
    let shipped = copied.ship().await.unwrap();
    assert_eq!((shipped.added, shipped.entries), (1, 2));
    copied.fetch("copy").await.unwrap();
    copied.assert_same("copy");
}

#[tokio::test(start_paused = true)]
async fn one_process_at_a_time_ships_to_a_place() {
    let (copied, _) = reachable();
    put(&copied.store(), 1);
    let _shipper = copied.shipper().await.unwrap();
    let refused = copied.ship().await.unwrap_err();
    assert_eq!(refused.code(), "ERR_STORE_LOCKED");
}

#[tokio::test(start_paused = true)]
async fn an_encrypted_copy_opens_with_its_key_alone() {
    let (copied, objects) = reachable();
    let store = copied.store();
    let address = put(&store, 1);
    let key = age::x25519::Identity::generate();
    let secret = age::secrecy::ExposeSecret::expose_secret(&key.to_string()).to_owned();
    let ship = async || {
        let recipients = Recipients::parse(&[key.to_public().to_string()]).unwrap();
        let options = ShipOptions {
            recipients: Some(recipients),
            ..ShipOptions::default()
        };
        let mut shipper = copied.shipper_with(options).await.unwrap();
        shipper.pass().await.unwrap()
    };
    ship().await;
    delete(&store, &address);
    put(&store, 2);
    assert_eq!(ship().await.waits, 0);
    for (name, bytes) in objects.all().await {
        let is_clear = bytes.windows(4).any(|part| part == b"note");
        assert!(!is_clear, "{name}");
    }
    let refused = copied.ship().await.unwrap_err();
    assert_eq!(refused.code(), "ERR_SEALED");
    let fetch = async |identities: Option<Identities>, name: &str| {
        let path = copied.path(name);
        let options = FollowOptions {
            identities,
            ..FollowOptions::default()
        };
        let mut follower = Follower::open(copied.bucket.clone(), &path, options).await?;
        follower.pass().await
    };
    let other = age::x25519::Identity::generate().to_string();
    let other = age::secrecy::ExposeSecret::expose_secret(&other).to_owned();
    for keys in [None, Some(Identities::parse(&other).unwrap())] {
        let refused = fetch(keys, "refused").await.unwrap_err();
        assert_eq!(refused.code(), "ERR_SEALED");
        drop(fs::remove_dir_all(copied.path("refused")));
    }
    fetch(Some(Identities::parse(&secret).unwrap()), "copy")
        .await
        .unwrap();
    copied.assert_same("copy");
}

#[tokio::test(start_paused = true)]
async fn a_signed_copy_is_believed_as_its_signer_left_it() {
    let (copied, objects) = reachable();
    let store = copied.store();
    let generated = || {
        let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
        (key.did(), ManifestKey::from(key))
    };
    let (did, key) = generated();
    let signed = |key: &ManifestKey| ShipOptions {
        key: Some(key.clone()),
        ..ShipOptions::default()
    };
    for n in 0..3 {
        put(&store, n);
        let mut shipper = copied.shipper_with(signed(&key)).await.unwrap();
        shipper.pass().await.unwrap();
    }
    let fetch = async |did: &Did, name: &str| {
        let options = FollowOptions {
            signer: Some(TrustedSigner::new(did.clone(), Arc::new(Offline))),
            ..FollowOptions::default()
        };
        let path = copied.path(name);
        let mut follower = Follower::open(copied.bucket.clone(), &path, options).await?;
        follower.pass().await
    };
    fetch(&did, "copy").await.unwrap();
    copied.assert_same("copy");
    let (other, other_key) = generated();
    for refused in [
        fetch(&other, "other").await.map(drop).unwrap_err(),
        copied
            .shipper_with(signed(&other_key))
            .await
            .map(drop)
            .unwrap_err(),
        copied.shipper().await.map(drop).unwrap_err(),
    ] {
        assert_eq!(refused.code(), "ERR_SIGNATURE", "{refused:?}");
    }
    // Sound in itself, and not what the signer left.
    forge(&objects, |manifest| manifest["newest_ms"] = json!(7)).await;
    let refused = fetch(&did, "forged").await.unwrap_err();
    assert_eq!(refused.code(), "ERR_SIGNATURE");
    copied.fetch("unasked").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stale_list_hides_no_manifest_from_the_one_who_wrote_it() {
    let (copied, objects) = reachable();
    let store = copied.store();
    put(&store, 1);
    copied.ship().await.unwrap();
    let folder = copied.path("store/replica");
    let memory = || {
        let items = fs::read_dir(&folder)
            .unwrap()
            .map(|item| item.unwrap().path());
        items
            .into_iter()
            .find(|path| path.extension().is_some_and(|it| it == "json"))
            .unwrap()
    };
    // The lists of this opening are those that stay.
    drop(copied.shipper().await.unwrap());
    let mut before: Value = serde_json::from_slice(&fs::read(memory()).unwrap()).unwrap();
    objects.freeze_lists(true);
    put(&store, 2);
    copied.ship().await.unwrap();
    let after: Value = serde_json::from_slice(&fs::read(memory()).unwrap()).unwrap();
    // The process ended between the manifest and its memory of it.
    before["next"] = after["manifest"].clone();
    fs::write(memory(), before.to_string()).unwrap();
    put(&store, 3);
    let shipped = copied.ship().await.unwrap();
    assert_eq!((shipped.entries, shipped.added), (3, 1));
    objects.freeze_lists(false);
    assert_eq!(copied.ship().await.unwrap().added, 0);
    copied.fetch("copy").await.unwrap();
    copied.assert_same("copy");
}
