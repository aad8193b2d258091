//! The change feed: the acknowledged entries of a store, of whichever process, once each and in the
//! order of the ledger, as far as the handle may read them.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use grainstore::ledger::{EntryId, MemoryDisk};
use grainstore::policy::Regime;
use grainstore::query::Changes;
use grainstore::store::{Authorization, Changed, Durability};
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time};
use proptest::prelude::*;

const OFFICE: Authorization<'static> = Authorization {
    reason: "a request",
    authority: "the office",
};

fn open_on(disk: &MemoryDisk) -> Store {
    let options = Options {
        lock_wait: Duration::from_secs(120),
        ..Options::default()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

fn note(text: &str) -> Draft {
    Draft::belief("ada", "notes", text).confidence(0.5)
}

/// Returns what a feed yields, in words: the object of a grain, or the name of the change.
fn told(changes: &mut Changes) -> Vec<String> {
    let word = |what| match what {
        Changed::Stored(version) => {
            let version: Box<grainstore::store::Version> = version;
            version.grain.text("object").unwrap_or("?").to_owned()
        }
        Changed::Status(of) => format!("status of {}", &of.to_string()[..8]),
        Changed::Erased => "erased".to_owned(),
        Changed::Erasing(rows) => format!("erasing {rows:?}"),
        _ => "other".to_owned(),
    };
    changes.map(|change| word(change.unwrap().what)).collect()
}

#[test]
fn each_process_is_told_of_what_any_has_stored_once_and_in_one_order() {
    let disk = MemoryDisk::default();
    let stores = [open_on(&disk), open_on(&disk), open_on(&disk)];
    let mut feeds = stores.each_ref().map(|store| store.changes(EntryId::FIRST));
    let mut all = Vec::new();
    for n in 0..30 {
        let word = format!("n{n}");
        stores[n % 3].put(note(&word)).unwrap();
        // One of them asks each time, the others once in a while.
        assert_eq!(told(&mut feeds[0]), std::slice::from_ref(&word));
        assert_eq!(told(&mut feeds[0]), [""; 0]);
        all.push(word);
    }
    assert_eq!(told(&mut feeds[1]), all);
    assert_eq!(told(&mut feeds[2]), all);
    let mut later = stores[1].changes(EntryId::new(28));
    assert_eq!(told(&mut later), ["n28", "n29"]);
    assert_eq!(later.position(), EntryId::new(30));
}

#[test]
fn what_is_not_durable_yet_is_in_no_feed_of_another_process() {
    let home = tempfile::tempdir().unwrap();
    let options = Options {
        durability: Durability::Relaxed,
        ..Options::default()
    };
    let writer = Store::open(home.path(), options).unwrap();
    let reader = Store::open(home.path(), Options::default().read_only()).unwrap();
    let mut feed = reader.changes(EntryId::FIRST);
    writer.put(note("slate")).unwrap();
    assert_eq!(told(&mut feed), [""; 0]);
    writer.maintenance().unwrap().sync().unwrap();
    assert_eq!(told(&mut feed), ["slate"]);
}

#[test]
fn a_narrowed_handle_is_told_of_the_grains_that_it_may_read_and_of_nothing_else() {
    let store = Store::in_memory(Options::default()).unwrap();
    let ours = store.in_namespace("ours");
    let mut feed = ours.changes(EntryId::FIRST);
    let first = store.put(note("first").namespace("ours")).unwrap();
    let secret = store.put(note("secret").namespace("theirs")).unwrap();
    let consent = r#"{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
        "scope":["store"],"created_at":1,"is_withdrawal":"#;
    let consent = |rest: &str| Draft::from_json(&format!("{consent}{rest}}}")).unwrap();
    let grant = store.put(consent("false")).unwrap();
    let resting = note("resting").namespace("ours");
    let resting = resting.set("processing_basis", grant.to_string());
    store.put(resting).unwrap();
    let prior = format!(r#"true,"prior_consent":"{grant}""#);
    store.put(consent(&prior)).unwrap();
    let decides = Draft::reasoning("deny it").set("requires_human_review", true);
    store.put(decides.namespace("ours")).unwrap();
    let newer = note("newer").namespace("ours").derived_from(first);
    store.supersede(&first, newer, None).unwrap();
    let other = note("other").namespace("theirs").derived_from(secret);
    store.supersede(&secret, other, None).unwrap();

    let mut told_ours = told(&mut feed);
    told_ours.sort();
    let status = format!("status of {}", &first.to_string()[..8]);
    assert_eq!(told_ours, ["first", "newer", &status]);
    let mut owners = told(&mut store.changes(EntryId::FIRST));
    owners.retain(|word| word != "other");
    for word in ["first", "secret", "resting", "newer", &status] {
        assert!(owners.iter().any(|told| told == word), "{word}: {owners:?}");
    }
}

#[test]
fn an_erased_grain_comes_as_erased_from_the_beginning_of_its_erasure_on() {
    let disk = MemoryDisk::default();
    let [keeper, other, third] = [open_on(&disk), open_on(&disk), open_on(&disk)];
    let erased = keeper.put(note("obsidian")).unwrap();
    keeper.put(note("kept")).unwrap();
    let mut feed = third.changes(EntryId::FIRST);
    assert_eq!(told(&mut feed), ["obsidian", "kept"]);
    thread::scope(|scope| {
        let deleting = scope.spawn(|| other.admin().unwrap().delete(&erased, OFFICE).unwrap());
        while !feed.wait(Duration::ZERO) {
            thread::yield_now();
        }
        // The keeper has not come to it yet.
        assert_eq!(told(&mut feed), ["erasing [0]"]);
        for store in [&keeper, &third] {
            let again = told(&mut store.changes(EntryId::FIRST));
            assert_eq!(again, ["erased", "kept", "erasing [0]"]);
        }
        let narrowed = third.in_namespace("");
        assert!(!told(&mut narrowed.changes(EntryId::FIRST)).contains(&"erased".to_owned()));
        while !deleting.is_finished() {
            keeper.maintenance().unwrap().tend().unwrap();
        }
    });
    assert_eq!(told(&mut feed), ["other"], "it is complete");
}

#[test]
fn a_wait_ends_with_news_of_any_process_and_without_them_when_its_time_is_over() {
    let disk = MemoryDisk::default();
    let (one, other) = (open_on(&disk), open_on(&disk));
    let mut feed = other.changes(EntryId::FIRST);
    assert!(!feed.wait(Duration::ZERO));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let has_news = feed.wait(Duration::from_secs(600));
            (has_news, told(&mut feed))
        });
        one.put(note("news")).unwrap();
        assert_eq!(waiting.join().unwrap(), (true, vec!["news".to_owned()]));
    });
}

#[test]
fn a_read_that_a_regime_wants_recorded_is_recorded_before_the_feed_yields_the_grain() {
    let store = Store::in_memory(Options::default()).unwrap();
    let ours = Regime::parse(
        "name = \"ours\"\ntitle = \"our own\"\n[[clause]]\nid = \"reads\"\n\
         cites = \"a contract\"\nsays = \"we know who reads what\"\n\
         requires = { read_audit = true }\n",
    );
    let admin = store.admin().unwrap();
    admin.set_regimes(vec![ours.unwrap()], OFFICE).unwrap();
    let address = store.put(note("granite")).unwrap();
    let mut feed = store.changes(EntryId::FIRST);
    assert_eq!(told(&mut feed), ["other", "granite", "other"]);
    let reads = admin.reads(Some(&address), None, 10).unwrap();
    assert_eq!(reads.len(), 1);
    assert_eq!(reads[0].operation, "changes");
}

fn addresses(feed: Changes) -> Vec<ContentAddress> {
    let stored = feed.filter_map(|change| match change.unwrap().what {
        Changed::Stored(version) => Some(version.grain.address()),
        _ => None,
    });
    stored.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::random::cases(12)))]
    #[test]
    fn a_filtered_feed_yields_what_a_query_returns(
        grains in prop::collection::vec((0_usize..3, 0_usize..3, prop::bool::ANY), 1..30)
    ) {
        let store = Store::in_memory(Options { text: None, ..Options::default() }).unwrap();
        let mut last = None;
        for (n, (subject, namespace, replaces)) in (0_i64..).zip(grains) {
            let draft = Draft::belief(format!("s{subject}"), "is", format!("{n}"));
            let draft = draft.confidence(0.5).namespace(format!("n{namespace}"));
            let draft = draft.created_at(Time::from_ms(n));
            last = Some(match last.filter(|_| replaces) {
                Some(old) => store.supersede(&old, draft.derived_from(old), None).unwrap(),
                None => store.put(draft).unwrap(),
            });
        }
        for filter in [
            Filter::new(),
            Filter::new().subject("s1").with_superseded(),
            Filter::new().namespace("n2").only_superseded(),
            Filter::new().since(Time::from_ms(7)).subject("s0"),
        ] {
            for handle in [store.clone(), store.in_namespace("n2")] {
                let found = handle.query(&filter, usize::MAX, None).unwrap();
                let found: Vec<_> = found.results.iter().map(|found| found.address).collect();
                let feed = handle.changes(EntryId::FIRST).matching(filter.clone());
                prop_assert_eq!(addresses(feed), found);
            }
        }
    }
}
