//! The report on a person and the erasure of a person (GDPR Art. 15 and 17): one selector for both,
//! and nothing left of what it selects.

mod random_stores;
mod receipt;
mod united;

use std::sync::Arc;

use grainstore::codec::Map;
use grainstore::grain::Time;
use grainstore::ledger::{Binding, Disk, Kind, Ledger, MemoryDisk, NewEntry, OpenMode};
use grainstore::policy::Rule;
use grainstore::store::{Authorization, Embedding, ErasureScope, Person, PersonReport, Until};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};

use crate::sample::addresses_of;

pub(crate) const ASKED: Authorization<'static> = Authorization {
    reason: "request 17",
    authority: "the data protection officer",
};

const ALL: ErasureScope = ErasureScope {
    mentions: false,
    except_kept: true,
    reseal_held: false,
};

fn open(disk: &MemoryDisk) -> Store {
    let options = Options {
        ballast_bytes: 0,
        ..Options::default()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

fn report(store: &Store, person: &Person) -> PersonReport {
    store.admin().unwrap().person_report(person).unwrap()
}

/// Returns whether the files of a store hold some bytes.
fn holds(disk: &MemoryDisk, bytes: &str) -> bool {
    let folders = ["", "ledger", "index", "text"].into_iter();
    let names = folders.flat_map(|folder| {
        let names = disk.list(folder).unwrap_or_default().into_iter();
        names.map(move |name| match folder {
            "" => name,
            _ => format!("{folder}/{name}"),
        })
    });
    let mut files = names.filter_map(|name| disk.open(&name, OpenMode::Read).ok());
    files.any(|file| {
        let mut content = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
        file.read_at(&mut content, 0).unwrap();
        let mut windows = content.windows(bytes.len());
        windows.any(|window| window == bytes.as_bytes())
    })
}

fn belief(subject: &str, object: &str) -> Draft {
    Draft::belief(subject, "knows", object).confidence(0.9)
}

#[test]
fn every_field_that_names_a_person_finds_the_grain_and_says_so() {
    let mut context = Map::new();
    context.insert("customer", "alice");
    let mut of_alice = Map::new();
    of_alice.insert("alice", 3);
    let event = || Draft::event("a note");
    // OMS 6.1, 6.9, 6.10, 8.10; a person's id may be in a field of any profile.
    let cases = [
        (event().user("alice"), "user_id", true),
        (belief("alice", "tea"), "subject", true),
        (event().set("subject_did", "alice"), "subject_did", true),
        (belief("bob", "alice"), "object", false),
        (event().set("session_id", "alice"), "session_id", false),
        (event().set("observer_did", "alice"), "observer_did", false),
        (event().set("entity_id", "alice"), "entity_id", false),
        (event().set("context", context), "context.customer", false),
        (event().set("votes", of_alice), "votes.(key)", false),
        (
            event().set("people", vec!["bob".to_owned(), "alice".to_owned()]),
            "people",
            false,
        ),
        (event().tag("alice"), "structural_tags", false),
        (belief("alice", "tea").user("bob"), "subject", false),
    ];
    for (draft, field, is_about) in cases {
        let store = Store::in_memory(Options::default()).unwrap();
        store.put(belief("bob", "malice")).unwrap();
        let address = store.put(draft).unwrap();
        let found = report(&store, &Person::new("alice"));
        let (one, none) = match is_about {
            true => (found.about, found.mentions),
            false => (found.mentions, found.about),
        };
        assert!(none.is_empty(), "{field}");
        assert_eq!(one.len(), 1, "{field}");
        assert_eq!(
            (one[0].address, &*one[0].found_by),
            (address, &[field.to_owned()][..])
        );
    }
}

#[test]
fn a_grain_with_a_subject_alone_is_reported_and_is_gone_after_the_erasure() {
    // Revision 1.6, 28.4.4.
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let draft = Draft::event("swordfish").set("subject", "alice");
    let address = store.put(draft).unwrap();
    let alice = Person::new("alice");
    assert_eq!(report(&store, &alice).about[0].address, address);
    let admin = store.admin().unwrap();
    let done = admin.erase_person(&alice, ErasureScope::default(), ASKED);
    assert_eq!(done.unwrap().erased, [address]);
    let after = report(&store, &alice);
    assert!(after.about.is_empty() && after.mentions.is_empty() && after.records.is_empty());
    assert_eq!(after.tombstones, 1);
    assert!(!holds(&disk, "swordfish") && !holds(&disk, "alice"));
}

#[test]
fn identifiers_are_compared_in_nfc_and_a_did_without_its_fragment() {
    let store = Store::in_memory(Options::default()).unwrap();
    let cafe = store.put(belief("cafe\u{301}", "tea")).unwrap();
    let did = store
        .put(belief("did:web:alice.example#key-1", "tea"))
        .unwrap();
    let person = Person::new("caf\u{e9}").also("did:web:alice.example#key-2");
    let found = report(&store, &person).about;
    let found: Vec<_> = found.iter().map(|grain| grain.address).collect();
    assert_eq!(found, [cafe, did]);
    // AIMEM 2.1: the name of a user in a bundle is a URI.
    let urn = Draft::event("a note").user("urn:grainstore:user:caf%C3%A9");
    store.put(urn).unwrap();
    assert_eq!(report(&store, &person).about.len(), 3);
    let none = store.admin().unwrap().person_report(&Person::new(""));
    assert_eq!(none.unwrap_err().code(), "ERR_FILTER");
}

#[test]
fn what_mentions_a_person_stays_unless_that_is_asked() {
    let store = Store::in_memory(Options::default()).unwrap();
    let own = store.put(Draft::event("a note").user("alice")).unwrap();
    let mention = store.put(belief("bob", "alice").user("bob")).unwrap();
    let summary = Draft::event("what she said").user("bob").derived_from(own);
    let summary = store.put(summary).unwrap();
    let free = store.put(belief("bob", "tea").user("bob")).unwrap();
    let alice = Person::new("alice");
    let admin = store.admin().unwrap();
    let done = admin
        .erase_person(&alice, ErasureScope::default(), ASKED)
        .unwrap();
    assert_eq!(
        (done.erased, done.mentions),
        (vec![own], vec![mention, summary])
    );
    assert!(store.exists(&mention).unwrap() && store.exists(&summary).unwrap());
    let scope = ErasureScope {
        mentions: true,
        ..ErasureScope::default()
    };
    // The grain that the summary was derived from is gone, and with it the way to find it.
    let done = admin.erase_person(&alice, scope, ASKED).unwrap();
    assert_eq!(done.erased, [mention]);
    assert!(store.exists(&free).unwrap());
    let again = admin.erase_person(&alice, scope, ASKED).unwrap();
    assert!(again.erased.is_empty() && again.begun.is_empty());
}

#[test]
fn a_grain_whose_elided_user_is_the_person_is_found_by_its_hash() {
    // OMS 10.1.1: the hash has no salt. A view is not stored; a grain that names no original is.
    let store = Store::in_memory(Options::default()).unwrap();
    let draft = Draft::event("a note")
        .user("alice")
        .created_at(Time::from_ms(1));
    let (view, _) = draft
        .finish(Default::default())
        .unwrap()
        .disclose(&["user_id"])
        .unwrap();
    let elided = view.field("_elided").unwrap().clone();
    let draft = || Draft::event("a note").set("_elided", elided.clone());
    store.put(draft()).unwrap();
    store.put(draft().set("subject", "bob")).unwrap();
    let found = report(&store, &Person::new("alice"));
    let fields: Vec<_> = found
        .about
        .iter()
        .map(|grain| &*grain.found_by[0])
        .collect();
    assert_eq!(fields, ["_elided.user_id", "_elided.user_id"]);
    let found = report(&store, &Person::new("bob"));
    assert!(
        found.about.is_empty(),
        "of another user, whose name is elided"
    );
    assert_eq!(found.mentions.len(), 1);
}

#[test]
fn what_a_person_brought_from_a_file_is_found_by_the_owner_of_its_foreign_names() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let read = || grainstore::interchange::ImportFile::open(&file, None, &Default::default());
    let all = store.import(read().unwrap()).unwrap().inserted;
    let mira = Person::new("mira-okafor");
    let found = report(&store, &mira).about;
    assert_eq!(found.len() as u64, all);
    let named = |by: &str| {
        found
            .iter()
            .filter(|it| it.found_by.iter().any(|it| it == by))
            .count()
    };
    assert!(named("foreign_id.scope") > 0, "{found:?}");
    assert!(found.iter().any(|grain| !grain.foreign_ids.is_empty()));
    store
        .admin()
        .unwrap()
        .erase_person(&mira, ALL, ASKED)
        .unwrap();
    assert!(!holds(&disk, "Coimbra") && !holds(&disk, "mira-okafor"));
    // Tombstones keep an older file from bringing it back (OMS 28.4).
    let again = store.import(read().unwrap()).unwrap();
    assert_eq!((again.inserted, again.erased.len() as u64), (0, all));
}

#[test]
fn grains_that_are_kept_refuse_the_erasure_unless_they_are_excepted() {
    // Rulings I12, I19: a hold, retention, a withdrawn consent.
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let put = |draft: Draft| store.put(draft.user("alice")).unwrap();
    let free = put(Draft::event("swordfish"));
    let held = put(Draft::event("evidence"));
    store.admin().unwrap().place_hold(&held, ASKED).unwrap();
    let mut policy = Map::new();
    policy.insert("minimum_retention_years", 7);
    let taxes = put(Draft::event("taxes").set("retention_policy", policy));
    let consent = |more: &str| {
        let json = format!(
            r#"{{"type":"consent","subject_did":"did:web:alice","grantee_did":"did:web:b",
            "scope":["store"],"created_at":1,{more}}}"#
        );
        store.put(Draft::from_json(&json).unwrap()).unwrap()
    };
    let grant = consent(r#""is_withdrawal":false"#);
    let withdrawal = consent(&format!(
        r#""is_withdrawal":true,"prior_consent":"{grant}""#
    ));
    let alice = Person::new("alice").also("did:web:alice");
    let admin = store.admin().unwrap();

    let refused = admin.erase_person(&alice, ErasureScope::default(), ASKED);
    assert_eq!(refused.unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    assert!(store.exists(&free).unwrap(), "all or nothing");
    let kept = vec![
        (held, Rule::LegalHold),
        (taxes, Rule::Retention),
        (grant, Rule::ConsentKept),
        (withdrawal, Rule::ConsentKept),
    ];
    let found = report(&store, &alice).about.into_iter();
    let found = found.filter_map(|grain| Some((grain.address, grain.kept?)));
    assert_eq!(found.collect::<Vec<_>>(), kept);
    let done = admin.erase_person(&alice, ALL, ASKED).unwrap();
    assert_eq!((done.erased, done.kept), (vec![free], kept));
    assert!(!holds(&disk, "swordfish") && store.exists(&held).unwrap());
    let anonymous = Authorization {
        reason: "",
        ..ASKED
    };
    let refused = admin.erase_person(&alice, ALL, anonymous);
    assert_eq!(refused.unwrap_err().code(), "ERR_AUTHORITY");
}

#[test]
fn the_facts_of_a_grain_and_the_records_that_stay_are_in_the_report() {
    let store = Store::in_memory(Options::default()).unwrap();
    let did = "did:web:alice.example".parse().unwrap();
    let address = store
        .as_actor(&did)
        .put(Draft::event("a note").user("alice"))
        .unwrap();
    store
        .put_embeddings(&[Embedding {
            of: address,
            model: "m".into(),
            vector: vec![1.0, 2.0],
        }])
        .unwrap();
    let alice = Person::new("alice").also("did:web:alice.example");
    let found = report(&store, &alice);
    assert_eq!(found.about[0].embeddings, ["m"]);
    let kinds: Vec<_> = found.records.iter().map(|(_, kind)| &**kind).collect();
    assert_eq!((kinds, found.written), (vec!["actor"], 1));
    let done = store
        .admin()
        .unwrap()
        .erase_person(&alice, ALL, ASKED)
        .unwrap();
    assert_eq!(done.records, 1, "the ledger keeps who wrote");
}

#[test]
fn a_scope_that_cannot_be_read_in_full_is_an_error() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    store.put(Draft::event("a note").user("alice")).unwrap();
    store.put(Draft::event("wombat").user("bob")).unwrap();
    // A damaged end would be a torn tail, and an index of memory alone could not be built again.
    store.put(Draft::event("quokka").user("bob")).unwrap();
    store.maintenance().unwrap().compact().unwrap();
    let id = store.maintenance().unwrap().stats().unwrap().store_id;
    drop(store);
    let alice = Person::new("alice");
    let fails = |disk: &MemoryDisk, code: &str| {
        let store = open(disk);
        let admin = store.admin().unwrap();
        assert_eq!(admin.person_report(&alice).unwrap_err().code(), code);
        let erased = admin.erase_person(&alice, ErasureScope::default(), ASKED);
        assert_eq!(erased.unwrap_err().code(), code);
        assert_eq!(
            store
                .query(&Filter::new().user("alice"), 10, None)
                .unwrap()
                .total,
            1
        );
    };
    let name = disk.list("ledger").unwrap().remove(0);
    let file = disk
        .open(&format!("ledger/{name}"), OpenMode::Write)
        .unwrap();
    let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
    file.read_at(&mut bytes, 0).unwrap();
    let at = bytes.windows(6).position(|part| part == b"wombat").unwrap();
    file.write_at(b"W", at as u64).unwrap();
    fails(&disk, "ERR_STORAGE_DAMAGED");
    file.write_at(b"w", at as u64).unwrap();

    let shared = Arc::new(disk.clone());
    let ledger = Ledger::open(shared, id, Default::default(), 0, None, |_| Vec::new());
    let body = b"sealed".as_slice();
    let entry = NewEntry {
        kind: Kind::SealedGrain,
        actor: None,
        body,
        binding: Binding::of([9; 16], body),
    };
    ledger
        .unwrap()
        .0
        .append(2_000_000_000_000, &[entry])
        .unwrap();
    fails(&disk, "ERR_SCOPE_INCOMPLETE");
}

#[test]
fn a_person_with_thousands_of_grains_is_erased_by_one_frame_and_completed_after_a_reopening() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let draft = |n: u32, user: &str| Draft::event(format!("zebra{n} of {user}")).user(user);
    let all: Vec<ContentAddress> = ["alice", "bob"]
        .iter()
        .flat_map(|user| {
            addresses_of(&store.put_batch((0..2_100).map(|n| draft(n, user))).unwrap())
        })
        .collect();
    let alice = Person::new("alice");
    let done = store
        .admin()
        .unwrap()
        .erase_person(&alice, ALL, ASKED)
        .unwrap();
    assert_eq!((done.erased.len(), done.begun.len()), (2_100, 3));
    let entries = done.begun.windows(2).all(|pair| pair[0].next() == pair[1]);
    assert!(entries, "one frame: {:?}", done.begun);
    assert!(!holds(&disk, "of alice") && holds(&disk, "of bob"));
    drop(store);
    let store = open(&disk);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    assert!(!store.exists(&all[0]).unwrap() && store.exists(&all[2_100]).unwrap());
    assert_eq!(
        store
            .put(draft(5, "alice").created_at(Time::from_ms(1)))
            .unwrap(),
        {
            let again = draft(5, "alice").created_at(Time::from_ms(1));
            again.finish(Default::default()).unwrap().address()
        }
    );
    let found = store.search("zebra7", &Filter::new(), 10).unwrap();
    assert_eq!(found.total, 1);
}

#[test]
fn a_restore_to_before_an_erasure_brings_no_grain_of_it_back() {
    let home = tempfile::tempdir().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    let store = Store::open(&from, Options::default()).unwrap();
    let draft = |n: u32| Draft::event(format!("zebra{n}")).user("alice");
    store.put_batch((0..1_500).map(draft)).unwrap();
    let bob = store.put(Draft::event("quokka").user("bob")).unwrap();
    let admin = store.admin().unwrap();
    let done = admin.erase_person(&Person::new("alice"), ALL, ASKED);
    assert_eq!(done.unwrap().begun.len(), 2);
    drop(store);
    let until = Until::Entries(1_501);
    let (store, restored) =
        grainstore::recovery::restore(&from, &to, until, Options::default()).unwrap();
    assert_eq!((restored.entries, restored.erasures), (1_501, 2));
    assert!(report(&store, &Person::new("alice")).about.is_empty());
    assert!(store.exists(&bob).unwrap());
    let checked = store.maintenance().unwrap().check().unwrap();
    assert_eq!(checked.findings, []);
}
