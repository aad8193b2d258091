//! The store through its smallest door: what is put is there, what is protected stays, and what a
//! directory holds is opened or refused with a reason.

mod abbreviated;
mod accesses;
mod batches;
mod degraded;
mod deletion;
mod disk_calls;
mod doors;
mod foreign_views;
mod importing;
mod opening;
#[cfg(unix)]
mod planted;
mod recover;
mod rot;
mod writing;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use grainstore::grain::{Draft, Time, Type};
use grainstore::index::Family;
use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::ledger::Kind;
use grainstore::store::{Clock, Options};
use grainstore::{ContentAddress, Filter, Store};

use crate::sample::addresses_of;

/// A clock that is set, never read from the machine.
#[derive(Debug, Default)]
pub(crate) struct SetClock {
    now: AtomicI64,
    steady: AtomicI64,
    /// The start of the machine; zero is none that other processes know.
    boot: AtomicI64,
}

impl SetClock {
    /// Lets time pass until the clock shows this, or sets it back.
    pub(crate) fn set(&self, ms: i64) {
        let before = self.now.swap(ms, Ordering::Relaxed);
        let passed = ms.saturating_sub(before).max(0);
        self.steady.fetch_add(passed, Ordering::Relaxed);
    }

    /// Sets the time of day, and no time passes.
    pub(crate) fn leap(&self, ms: i64) {
        self.now.store(ms, Ordering::Relaxed);
    }

    /// Starts the machine.
    pub(crate) fn start(&self) {
        self.steady.store(0, Ordering::Relaxed);
        self.boot.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Time {
        Time::from_ms(self.now.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        let steady = self.steady.load(Ordering::Relaxed);
        Duration::from_millis(steady.try_into().unwrap())
    }

    fn boot(&self) -> Option<[u8; 16]> {
        let boot = self.boot.load(Ordering::Relaxed);
        (boot != 0).then(|| i128::from(boot).to_be_bytes())
    }
}

pub(crate) fn at(ms: i64) -> (Options, Arc<SetClock>) {
    let clock = Arc::new(SetClock::default());
    clock.set(ms);
    let options = Options {
        clock: clock.clone(),
        ..Options::default()
    };
    (options, clock)
}

fn memory() -> Store {
    Store::in_memory(at(1_768_471_200_000).0).unwrap()
}

#[test]
fn a_store_opened_without_its_text_view_refuses_searches_and_feeds_it_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let without = Options {
        text: None,
        ..at(1).0
    };
    let store = Store::open(folder.path(), without).unwrap();
    let address = store.put(Draft::event("green tea")).unwrap();
    let refused = store.search("tea", &Filter::new(), 10).unwrap_err();
    assert_eq!(refused.code(), "ERR_TEXT");
    store.maintenance().unwrap().flush_text().unwrap();
    assert_sound(&store);
    drop(store);

    let store = Store::open(folder.path(), at(1).0).unwrap();
    let found = store.search("tea", &Filter::new(), 10).unwrap();
    assert_eq!(found.results[0].address, address);
}

fn assert_sound(store: &Store) {
    let report = store.maintenance().unwrap().check().unwrap();
    assert_eq!(report.findings, []);
}

fn prefers(object: &str) -> Draft {
    Draft::belief("user", "mg:prefers", object).confidence(0.9)
}

fn absent() -> ContentAddress {
    ContentAddress::new([7; 32])
}

#[test]
fn what_is_put_is_there_under_its_address_and_putting_it_again_is_a_no_op() {
    let store = memory();
    let address = store.put(prefers("dark mode")).unwrap();
    let grain = store.get(&address).unwrap().unwrap();
    assert_eq!(grain.address(), address);
    assert_eq!(
        grain.created_at().ms(),
        1_768_471_200_000,
        "the store's clock"
    );
    assert!(store.exists(&address).unwrap());
    let before = store.maintenance().unwrap().stats().unwrap();
    assert_eq!(store.put(grain).unwrap(), address);
    assert_eq!(store.maintenance().unwrap().stats().unwrap(), before);
    assert_eq!(store.get(&absent()).unwrap(), None);
    assert!(!store.exists(&absent()).unwrap());
}

#[test]
fn a_batch_is_stored_whole_or_not_at_all_and_says_which_grain_is_bad() {
    let store = memory();
    let drafts = vec![prefers("a"), prefers("b").confidence(2.0), prefers("c")];
    let error = store.put_batch(drafts).unwrap_err();
    assert_eq!(error.code(), "ERR_RANGE");
    assert!(error.to_string().contains("grain 1"), "{error}");
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 0);

    let twice = vec![prefers("a"), prefers("a"), prefers("b")];
    let stored = store.put_batch(twice).unwrap();
    let new: Vec<_> = stored.iter().map(|put| put.is_new).collect();
    assert_eq!(new, [true, false, true]);
    let addresses = addresses_of(&stored);
    assert_eq!(addresses[0], addresses[1]);
    let known = store.put_batch([prefers("b"), prefers("c")]).unwrap();
    let new: Vec<_> = known.iter().map(|put| put.is_new).collect();
    assert_eq!(new, [false, true]);
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 3);
    let found = store
        .get_batch(&[addresses[2], absent(), addresses[0]])
        .unwrap();
    let objects = found
        .iter()
        .map(|grain| grain.as_ref().and_then(|grain| grain.text("object")));
    assert_eq!(objects.collect::<Vec<_>>(), [Some("b"), None, Some("a")]);
}

#[test]
fn a_supersession_is_atomic_and_leaves_both_grains_readable() {
    let (options, clock) = at(1_000);
    let store = Store::in_memory(options).unwrap();
    let old = store.put(prefers("light mode")).unwrap();
    clock.set(2_000);
    let new = store
        .supersede(&old, prefers("dark mode").derived_from(old), Some("asked"))
        .unwrap();

    let status = store.status(&old).unwrap();
    assert_eq!(status.superseded_by, Some(new));
    assert_eq!(status.system_valid_to, Some(Time::from_ms(2_000)));
    assert!(!status.is_current() && store.status(&new).unwrap().is_current());
    // OMS 5.6: the blob is untouched.
    assert!(
        store
            .get(&old)
            .unwrap()
            .unwrap()
            .field("superseded_by")
            .is_none()
    );

    let current = store
        .query(&Filter::new().subject("user"), 10, None)
        .unwrap();
    assert_eq!(current.results.len(), 1);
    assert_eq!(current.results[0].address, new);
    let all = Filter::new().subject("user").with_superseded();
    assert_eq!(store.query(&all, 10, None).unwrap().total, 2);
    assert_eq!(store.search("mode", &Filter::new(), 10).unwrap().total, 1);
}

#[test]
fn only_the_head_of_a_lineage_can_be_superseded_and_only_by_what_names_it() {
    let store = memory();
    let old = store.put(prefers("a")).unwrap();
    let nameless = prefers("b")
        .created_at(Time::from_ms(4))
        .finish(Default::default());
    let nameless = store.supersede(&old, nameless.unwrap(), None).unwrap_err();
    assert_eq!(nameless.code(), "ERR_SCHEMA", "ruling I5");
    let missing = store.supersede(&absent(), prefers("b").derived_from(absent()), None);
    assert_eq!(missing.unwrap_err().code(), "ERR_NOT_FOUND");

    // A draft is made to name it.
    let new = prefers("b").created_at(Time::from_ms(5));
    let head = store.supersede(&old, new.clone(), None).unwrap();
    // A retry after an unknown outcome is done already; another successor is a fork (ruling I17).
    assert_eq!(store.supersede(&old, new, None).unwrap(), head);
    let fork = store
        .supersede(&old, prefers("c").derived_from(old), None)
        .unwrap_err();
    assert_eq!(fork.code(), "ERR_CONFLICT");
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 2);
    let itself = store.get(&head).unwrap().unwrap();
    assert_eq!(
        store.supersede(&head, itself, None).unwrap_err().code(),
        "ERR_SCHEMA"
    );
}

#[test]
fn a_protected_grain_refuses_supersession_and_the_refusal_is_recorded() {
    let modes = [
        "locked",
        "quorum",
        "delegated",
        "timed",
        "hold",
        "a mode of tomorrow",
    ];
    for mode in modes {
        let store = memory();
        let policy = grainstore::codec::Map::from_iter([("mode", mode)]);
        let draft = prefers("a").set("invalidation_policy", policy);
        let old = store.put(draft).unwrap();
        let before = store.maintenance().unwrap().stats().unwrap().entries;
        let denied = store.supersede(&old, prefers("b").derived_from(old), Some("please"));
        assert_eq!(
            denied.unwrap_err().code(),
            "ERR_INVALIDATION_DENIED",
            "{mode}"
        );
        let after = store.maintenance().unwrap().stats().unwrap();
        assert_eq!(
            (after.grains, after.entries),
            (1, before + 1),
            "{mode}: one denial, no grain"
        );
        assert!(store.status(&old).unwrap().is_current());
    }
    // OMS 8.10: consent protects itself without saying so.
    let store = memory();
    let grant = store
        .put(Draft::consent("did:a", "did:b", ["store"]))
        .unwrap();
    let narrower = Draft::consent("did:a", "did:b", ["retrieve"]).replacing(grant);
    assert_eq!(
        store.supersede(&grant, narrower, None).unwrap_err().code(),
        "ERR_INVALIDATION_DENIED"
    );
}

#[test]
fn a_put_that_is_really_a_supersession_is_refused() {
    // OMS 17.2, ruling I4.
    let store = memory();
    let old = store.put(prefers("a").namespace("work")).unwrap();
    let code = |draft: Draft| store.put(draft).map_err(|error| error.code().as_str());
    let same = prefers("b").namespace("work").derived_from(old);
    assert_eq!(code(same.clone()), Err("ERR_INVALIDATION_DENIED"));
    let declared = Draft::event("x")
        .derived_from(old)
        .set("invalidation_type", "retraction");
    assert_eq!(code(declared), Err("ERR_INVALIDATION_DENIED"));
    let snapshot = store.maintenance().unwrap().index_snapshot();
    let refused = snapshot.of_kind(Kind::Denial).rows().unwrap();
    let about = snapshot.pointing_at(Family::Mentions, &old).rows().unwrap();
    assert_eq!((refused.len(), about.len()), (2, 2), "on record");
    // A summary, another namespace and another subject derive without replacing.
    assert!(code(same.clone().set("consolidation_level", 1)).is_ok());
    assert!(code(same.clone().namespace("home")).is_ok());
    assert!(code(same.set("subject", "somebody else")).is_ok());
}

#[test]
fn a_replaces_link_changes_no_status() {
    // OMS 14.3, 23.7 bypass 2.
    let store = memory();
    let old = store.put(prefers("a")).unwrap();
    let link = grainstore::codec::Map::from_iter([
        ("hash", old.to_string()),
        ("relation_type", "replaces".to_owned()),
    ]);
    let links = vec![grainstore::codec::Value::Map(link)];
    store.put(prefers("b").set("related_to", links)).unwrap();
    assert!(store.status(&old).unwrap().is_current());
}

#[test]
fn a_reply_in_another_session_than_its_parent_is_a_warning_and_not_an_error() {
    let store = memory();
    let parent = store.put(Draft::event("hello").session("monday")).unwrap();
    let warned = |session: &str| {
        let reply = Draft::event("hi").session(session);
        let reply = reply
            .set("parent_message_id", parent)
            .created_at(Time::from_ms(1));
        let reply = reply.finish(Default::default()).unwrap();
        let warnings = store.warnings(&reply).unwrap();
        store.put(reply).unwrap();
        warnings
            .into_iter()
            .map(|warning| warning.field)
            .collect::<Vec<_>>()
    };
    assert_eq!(warned("monday"), Vec::<String>::new());
    assert_eq!(warned("tuesday"), ["parent_message_id"]);
}

#[test]
fn an_import_gives_the_warnings_that_need_the_store_as_a_put_does() {
    // Ruling P17: of a put and an import, whatever the order of the file, also in a dry run.
    let finished = |draft: Draft| {
        let draft = draft.created_at(Time::from_ms(1));
        draft.finish(Default::default()).unwrap()
    };
    let parent = finished(Draft::event("hello").session("monday"));
    let reply = |session: &str| {
        let reply = Draft::event("hi").session(session);
        finished(reply.set("parent_message_id", parent.address()))
    };
    let (ada, shop) = ("did:web:ada.example", "did:web:shop.example");
    let withdrawal = |of: ContentAddress| {
        let draft = Draft::consent(ada, shop, ["store"]).set("is_withdrawal", true);
        finished(draft.set("prior_consent", of))
    };
    let grant = |person: &str| finished(Draft::consent(person, shop, ["store"]));
    let delegation = Draft::belief(ada, "mg:delegates_to", shop).confidence(1.0);
    let delegation = delegation.push("authorized_namespaces", "shop");
    let delegation = delegation.set("delegation_depth", 0);
    let delegation = finished(delegation.author("did:web:bob.example"));
    let (own, others) = (grant(ada), grant("did:web:bob.example"));
    let cases = [
        (vec![reply("monday"), parent.clone()], None),
        (
            vec![reply("tuesday"), parent.clone()],
            Some("parent_message_id"),
        ),
        (vec![reply("tuesday")], None),
        (vec![withdrawal(absent())], Some("prior_consent")),
        (vec![withdrawal(own.address()), own], None),
        (
            vec![withdrawal(others.address()), others],
            Some("prior_consent"),
        ),
        (vec![delegation], Some("author_did")),
    ];
    for (mut grains, expected) in cases {
        for _ in 0..2 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("in.jsonl");
            let lines: Vec<_> = grains.iter().map(|grain| grain.to_json() + "\n").collect();
            std::fs::write(&path, lines.concat()).unwrap();
            let read = || ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
            let store = memory();
            let seen = store.admin().unwrap().preview_import(read()).unwrap();
            let imported = store.import(read()).unwrap();
            assert_eq!(seen.warnings, imported.warnings);
            assert_eq!(store.import(read()).unwrap().warnings, imported.warnings);
            let fields = imported
                .warnings
                .iter()
                .filter_map(|(_, text)| text.split(':').next());
            let fields: Vec<_> = fields.collect();
            assert_eq!(fields, Vec::from_iter(expected), "{lines:?}");
            let put: Vec<_> = grains
                .iter()
                .flat_map(|grain| store.warnings(grain).unwrap())
                .map(|warning| warning.field)
                .collect();
            assert_eq!(put, fields, "as a put");
            grains.reverse();
        }
    }
}

#[test]
fn history_shows_a_lineage_from_any_of_its_grains() {
    let (options, clock) = at(0);
    let store = Store::in_memory(options).unwrap();
    let mut lineage = vec![store.put(prefers("0")).unwrap()];
    for n in 1..20 {
        clock.set(n);
        let head = *lineage.last().unwrap();
        let next = prefers(&n.to_string()).derived_from(head);
        lineage.push(store.supersede(&head, next, None).unwrap());
    }
    store.put(prefers("unrelated")).unwrap();
    for address in &lineage {
        let history = store.history(address).unwrap();
        let addresses: Vec<_> = history
            .iter()
            .map(|version| version.grain.address())
            .collect();
        assert_eq!(addresses, lineage);
        assert!(history.last().unwrap().status.is_current());
    }
    assert_eq!(
        store.history(&absent()).unwrap_err().code(),
        "ERR_NOT_FOUND"
    );
}

#[test]
fn filters_intersect_and_namespaces_hold_what_is_inside_them() {
    let store = memory();
    for (namespace, user, tag) in [
        ("acme:bot:7", "u1", "x"),
        ("acme:bot", "u2", "x"),
        ("acme", "u1", "y"),
        ("acmeish", "u1", "x"),
    ] {
        let draft = prefers(namespace).namespace(namespace).user(user).tag(tag);
        store.put(draft).unwrap();
    }
    store
        .put(Draft::event("hello").namespace("acme").session("s1"))
        .unwrap();
    let count = |filter: Filter| store.query(&filter, 10, None).unwrap().total;
    assert_eq!(count(Filter::new()), 5);
    assert_eq!(count(Filter::new().namespace("acme")), 4);
    assert_eq!(count(Filter::new().namespace("acme:bot")), 2);
    assert_eq!(count(Filter::new().namespace("acme").user("u1")), 2);
    assert_eq!(
        count(Filter::new().namespace("acme").tag("x").user("u2")),
        1
    );
    assert_eq!(count(Filter::new().of_type(Type::Event)), 1);
    assert_eq!(count(Filter::new().session("s1").user("u1")), 0);
    assert_eq!(
        count(Filter::new().relation("mg:prefers").object("acme")),
        1
    );
    let search = |filter| store.search("hello acme", &filter, 10).unwrap().total;
    assert_eq!(search(Filter::new().of_type(Type::Event)), 1);
    assert_eq!(
        store
            .query(&Filter::new().namespace("acme:"), 1, None)
            .unwrap_err()
            .code(),
        "ERR_FILTER"
    );
}

#[test]
fn every_pattern_of_a_triple_is_answered() {
    let store = memory();
    for s in ["a", "b"] {
        for r in ["p", "q"] {
            for o in ["x", "y"] {
                store.put(Draft::belief(s, r, o).confidence(1.0)).unwrap();
            }
        }
    }
    for bound in 0..8_u32 {
        let mut filter = Filter::new();
        if bound & 1 != 0 {
            filter = filter.subject("a");
        }
        if bound & 2 != 0 {
            filter = filter.relation("p");
        }
        if bound & 4 != 0 {
            filter = filter.object("x");
        }
        let expected = 8_u64 >> bound.count_ones();
        assert_eq!(
            store.query(&filter, 10, None).unwrap().total,
            expected,
            "{bound:03b}"
        );
    }
}

#[test]
fn pages_join_up_whatever_is_written_between_them() {
    let store = memory();
    let put = |n: u32| store.put(prefers(&n.to_string())).unwrap();
    let first: Vec<_> = (0..10).map(put).collect();
    let (mut seen, mut after) = (Vec::new(), None);
    let mut listed = Vec::new();
    let mut list_after = None;
    for n in 0.. {
        let page = store.query(&Filter::new(), 3, after).unwrap();
        seen.extend(page.results.iter().map(|found| found.address));
        let list = store.list(list_after, 3).unwrap();
        listed.extend(list.addresses);
        if n == 1 {
            put(100);
        }
        (after, list_after) = (page.next_cursor, list.next);
        if after.is_none() && list_after.is_none() {
            break;
        }
    }
    // A query is of the moment of its first page; a list goes on to what is there.
    assert_eq!(seen, first);
    assert_eq!(listed[..10], first[..]);
    assert_eq!(listed.len(), 11);
}

#[test]
fn questions_are_found_however_their_letters_are_composed() {
    let store = memory();
    store.put(prefers("Caf\u{e9}").user("Zo\u{eb}")).unwrap();
    let decomposed = Filter::new().object("Cafe\u{301}").user("Zoe\u{308}");
    assert_eq!(store.query(&decomposed, 1, None).unwrap().total, 1);
    assert_eq!(
        store
            .search("cafe\u{301}", &Filter::new(), 1)
            .unwrap()
            .total,
        1
    );
}
