//! Deletion for compliance (OMS 28.4): nothing of a deleted grain remains, and it is not stored
//! again.

use std::sync::Arc;

use grainstore::codec::Map;
use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::ledger::MemoryDisk;
use grainstore::policy::{Actor, Operation, Rule};
use grainstore::store::{Asked, Authorization, ErasureScope, NewGrain, Person};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};

const ASKED: Authorization<'static> = Authorization {
    reason: "asked by letter",
    authority: "the data protection officer",
};

fn belief(object: &str) -> Draft {
    Draft::belief("user", "prefers", object).confidence(0.9)
}

fn open(disk: &MemoryDisk) -> Store {
    let options = Options {
        ballast_bytes: 0,
        ..Options::default()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

fn is_gone(store: &Store, address: &ContentAddress, word: &str) {
    assert!(!store.exists(address).unwrap());
    assert!(store.get(address).unwrap().is_none());
    assert_eq!(store.search(word, &Filter::new(), 10).unwrap().total, 0);
    let all = Filter::new().with_superseded();
    let found = store.query(&all, 100, None).unwrap();
    assert!(found.results.iter().all(|found| found.address != *address));
    assert!(!store.list(None, 100).unwrap().addresses.contains(address));
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_deleted_grain_is_gone_for_every_reader_and_after_reopening() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let address = store.put(belief("wombats")).unwrap();
    let other = store.put(belief("quokkas")).unwrap();
    let before = store.maintenance().unwrap().index_snapshot();
    store.admin().unwrap().delete(&address, ASKED).unwrap();
    is_gone(&store, &address, "wombats");
    assert!(
        before.candidates(&address).unwrap().is_empty(),
        "an old view"
    );
    assert_eq!(
        store
            .admin()
            .unwrap()
            .delete(&address, ASKED)
            .unwrap_err()
            .code(),
        "ERR_NOT_FOUND"
    );
    drop((store, before));
    let store = open(&disk);
    is_gone(&store, &address, "wombats");
    assert!(store.exists(&other).unwrap());
    assert!(store.put(belief("numbats")).is_ok());
}

#[test]
fn what_a_grain_said_is_gone_from_a_text_view_that_the_store_was_opened_without() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Options::default()).unwrap();
    let address = store.put(belief("wombats")).unwrap();
    store.put(belief("quokkas")).unwrap();
    store.maintenance().unwrap().flush_text().unwrap();
    drop(store);
    let files = || {
        std::fs::read_dir(folder.path().join("text"))
            .unwrap()
            .count()
    };
    assert!(files() > 0);
    let without = Options {
        text: None,
        ..Options::default()
    };
    let store = Store::open(folder.path(), without).unwrap();
    store.admin().unwrap().delete(&address, ASKED).unwrap();
    assert_eq!(files(), 0);
    drop(store);
    let store = Store::open(folder.path(), Options::default()).unwrap();
    is_gone(&store, &address, "wombats");
    let others = store.search("quokkas", &Filter::new(), 10).unwrap();
    assert_eq!(others.total, 1);
}

#[test]
fn what_it_superseded_stays_superseded_and_says_no_more_by_what() {
    let store = open(&MemoryDisk::default());
    let first = store.put(belief("tea")).unwrap();
    let second = store
        .supersede(&first, belief("coffee").derived_from(first), None)
        .unwrap();
    store.admin().unwrap().delete(&second, ASKED).unwrap();
    let status = store.status(&first).unwrap();
    assert!(!status.is_current() && status.superseded_by.is_none());
    assert!(status.system_valid_to.is_some());
    is_gone(&store, &second, "coffee");
    assert_eq!(store.history(&first).unwrap().len(), 1);
}

#[test]
fn a_deleted_grain_comes_back_only_where_just_that_is_asked() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let grain = belief("wombats").created_at(grainstore::Time::from_ms(1));
    let address = store.put(grain.clone()).unwrap();
    store.admin().unwrap().delete(&address, ASKED).unwrap();
    let refused = |store: &Store| {
        assert_eq!(store.put(grain.clone()).unwrap_err().code(), "ERR_ERASED");
        let batch = store.put_batch([grain.clone()]).unwrap_err();
        assert_eq!(batch.code(), "ERR_ERASED");
    };
    refused(&store);
    drop(store);
    let store = open(&disk);
    refused(&store);
    assert_eq!(
        store.put(NewGrain::from(grain.clone()).again()).unwrap(),
        address
    );
    assert!(store.exists(&address).unwrap());
    // It is a grain like any other now.
    assert_eq!(store.put(grain).unwrap(), address);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn an_older_file_does_not_bring_it_back_by_address_or_by_name() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let store = open(&MemoryDisk::default());
    let read = || ImportFile::open(&file, None, &ReadOptions::default()).unwrap();
    let summary = store.import(read()).unwrap();
    assert!(summary.inserted > 0);
    let addresses = store.list(None, 1_000).unwrap().addresses;
    for address in &addresses {
        store.admin().unwrap().delete(address, ASKED).unwrap();
    }
    let again = store.import(read()).unwrap();
    assert_eq!(again.inserted, 0);
    assert_eq!(again.erased.len(), addresses.len());
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 0);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_deletion_without_a_reason_or_an_authority_is_denied_and_recorded() {
    let store = open(&MemoryDisk::default());
    let address = store.put(belief("tea")).unwrap();
    for deletion in [
        Authorization {
            reason: " ",
            ..ASKED
        },
        Authorization {
            authority: "",
            ..ASKED
        },
    ] {
        let entries = store.maintenance().unwrap().stats().unwrap().entries;
        let denied = store
            .admin()
            .unwrap()
            .delete(&address, deletion)
            .unwrap_err();
        assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED");
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().entries,
            entries + 1
        );
    }
    assert!(store.exists(&address).unwrap());
}

#[test]
fn a_grain_is_kept_as_long_as_its_retention_says() {
    // OMS 6.1: apart from the invalidation policy, which may be open.
    let clock = super::at(1_000);
    let store = Store::in_memory(clock.0).unwrap();
    let mut policy = Map::new();
    policy.insert("minimum_retention_years", 7);
    let draft = belief("taxes").set("retention_policy", policy);
    let address = store.put(draft).unwrap();
    clock.1.set(6 * 365 * 86_400_000);
    let denied = store.admin().unwrap().delete(&address, ASKED).unwrap_err();
    assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED");
    assert!(denied.to_string().contains("retention"), "{denied}");
    clock.1.set(8 * 365 * 86_400_000);
    // Ruling I21: whoever sets the clock must not end a retention.
    assert!(store.admin().unwrap().delete(&address, ASKED).is_err());
    let mandate = Authorization {
        reason: "the archive was not opened for years",
        authority: "the operator",
    };
    store.admin().unwrap().accept_clock(mandate).unwrap();
    store.admin().unwrap().delete(&address, ASKED).unwrap();
    is_gone(&store, &address, "taxes");
}

#[test]
fn retention_keeps_a_grain_from_deletion_and_from_nothing_else() {
    // OMS 6.1: apart from the invalidation policy.
    let (options, _) = super::at(1_000);
    let store = Store::in_memory(options).unwrap();
    let kept = |what: &str, years: i64| {
        let policy = Map::from_iter([("minimum_retention_years", years)]);
        store
            .put(belief(what).set("retention_policy", policy))
            .unwrap()
    };
    let replaced = kept("a", 7);
    let new = belief("b").derived_from(replaced);
    store.supersede(&replaced, new, None).unwrap();
    let disputed = kept("c", 1);
    store.contradict(&disputed, None).unwrap();
    for address in [replaced, disputed, kept("d", 1_000_000_000_000)] {
        let denied = store.admin().unwrap().delete(&address, ASKED).unwrap_err();
        assert!(denied.to_string().contains("retention"), "{denied}");
    }
    let free = kept("e", 0);
    assert!(store.admin().unwrap().delete(&free, ASKED).is_ok());
    use grainstore::codec::Value;
    for wrong in [Value::from("7"), 7.5.into(), true.into(), Value::from(-1)] {
        let policy = Map::from_iter([("minimum_retention_years", wrong)]);
        let refused = store.put(belief("f").set("retention_policy", policy));
        let code = refused.unwrap_err().code();
        assert!(
            ["ERR_SCHEMA", "ERR_RANGE"].contains(&code.as_str()),
            "{code}"
        );
    }
}

#[test]
fn a_deletion_names_the_authority_that_the_grain_requires() {
    // OMS 6.1: `deletion_requires`, for a deletion by hand, of a person, and after a withdrawal.
    let store = Store::in_memory(Options::default()).unwrap();
    let kept = Map::from_iter([
        ("deletion_requires", "records office"),
        ("regulation", "sox"),
    ]);
    let consent = Draft::consent("did:web:ada", "did:web:bob", ["store"]);
    let consent = store.put(consent).unwrap();
    let receipt = belief("wombats")
        .user("ada")
        .set("processing_basis", consent);
    let receipt = store.put(receipt.set("retention_policy", kept)).unwrap();
    let withdrawal = Draft::consent("did:web:ada", "did:web:bob", ["store"]);
    let withdrawal = withdrawal
        .set("is_withdrawal", true)
        .set("prior_consent", consent);
    store.put(withdrawal).unwrap();
    let admin = || store.admin().unwrap();
    let ada = Person::new("ada");
    let erase = |asked| admin().erase_person(&ada, ErasureScope::default(), asked);
    for refused in [
        admin().delete(&receipt, ASKED).unwrap_err(),
        erase(ASKED).unwrap_err(),
    ] {
        assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
        let said = refused.to_string();
        let required = r#"requires an authority that names "records office" (sox)"#;
        assert!(said.ends_with(required), "{said}");
    }
    let rule = Some(Rule::DeletionRequires);
    assert_eq!(admin().pending_erasures().unwrap()[0].kept, rule);
    assert_eq!(
        admin().run_consent_erasures(ASKED).unwrap().kept[0].kept,
        rule
    );
    let actor = Actor {
        justification: Some("asked"),
        authority: Some("the office"),
        ..Actor::default()
    };
    let asked = Asked::Change(Operation::Delete);
    let explained = admin().explain_policy(&receipt, asked, &actor).unwrap();
    let wants = Some(r#"an authority that names "records office""#.to_owned());
    assert_eq!((explained.is_allowed, explained.wants), (false, wants));
    let named = Authorization {
        authority: "the Records Office, file 9",
        ..ASKED
    };
    assert_eq!(
        admin().run_consent_erasures(named).unwrap().erased,
        [receipt]
    );
}

#[test]
fn a_person_is_erased_by_the_authority_that_a_grain_requires() {
    let store = Store::in_memory(Options::default()).unwrap();
    let kept = Map::from_iter([("deletion_requires", "records office")]);
    let receipt = belief("wombats").user("ada").set("retention_policy", kept);
    let receipt = store.put(receipt).unwrap();
    let scope = ErasureScope {
        except_kept: true,
        ..ErasureScope::default()
    };
    let erase = |asked| {
        let admin = store.admin().unwrap();
        admin
            .erase_person(&Person::new("ada"), scope, asked)
            .unwrap()
    };
    assert_eq!(erase(ASKED).kept, [(receipt, Rule::DeletionRequires)]);
    let named = Authorization {
        authority: "records office",
        ..ASKED
    };
    assert_eq!(erase(named).erased, [receipt]);
}
