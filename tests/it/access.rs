//! Handles on a store: one author, one namespace, one role, and nothing beside them.

mod authority;
mod delegation;
mod handoff;
mod of_user;
mod on_behalf;
mod ways_in;

use std::sync::Arc;

use grainstore::crypto::Did;
use grainstore::grain::Verification;
use grainstore::ledger::MemoryDisk;
use grainstore::policy::{Capability, Role};
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Filter, Options, Store};
use proptest::prelude::*;

use crate::sample::PHI;

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn did(name: &str) -> Did {
    format!("did:web:{name}.example").parse().unwrap()
}

fn note(text: &str) -> Draft {
    Draft::event(text)
}

fn bot(store: &Store) -> Store {
    store.as_actor(&did("bot")).in_namespace("acme:chatbot")
}

/// The code of what was refused.
fn code<T: std::fmt::Debug>(outcome: Result<T, grainstore::store::Error>) -> &'static str {
    outcome.unwrap_err().code().as_str()
}

#[test]
fn what_a_handle_writes_has_its_author_and_namespace() {
    let store = memory();
    let address = bot(&store).put(note("tea")).unwrap();
    let grain = store.get(&address).unwrap().unwrap();
    assert_eq!(grain.text("author_did"), Some("did:web:bot.example"));
    assert_eq!(grain.text("namespace"), Some("acme:chatbot"));

    // A namespace inside its own is a choice that a writer may make.
    let inner = note("coffee").namespace("acme:chatbot:agent-7");
    let inner = bot(&store).put(inner).unwrap();
    assert!(bot(&store).exists(&inner).unwrap());
}

#[test]
fn a_handle_refuses_what_is_of_another_namespace_or_author_and_records_it() {
    let store = memory();
    let bot = bot(&store);
    bot.put(note("so that the actor is known")).unwrap();
    let finished = |draft: Draft| {
        let draft = draft.created_at(grainstore::Time::from_ms(1));
        draft.finish(Default::default()).unwrap()
    };
    let refused = [
        note("x").namespace("acme"),
        note("x").namespace("acme:chatbots"),
        note("x").namespace("other"),
        note("x").namespace(""),
        note("x").author("did:web:mallory.example"),
    ];
    for draft in refused {
        let entries = store.maintenance().unwrap().stats().unwrap().entries;
        assert_eq!(code(bot.put(draft.clone())), "ERR_ACCESS_DENIED");
        assert_eq!(
            code(bot.put_batch([note("fine"), draft])),
            "ERR_ACCESS_DENIED"
        );
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().entries,
            entries + 2,
            "two denials"
        );
    }
    // What is finished cannot be filled in any more.
    assert_eq!(code(bot.put(finished(note("x")))), "ERR_ACCESS_DENIED");
    let own = note("x")
        .namespace("acme:chatbot")
        .author(did("bot").as_str());
    assert!(bot.put(finished(own)).is_ok());
    assert_eq!(store.query(&Filter::new(), 10, None).unwrap().total, 2);
}

#[test]
fn what_lies_outside_a_handle_is_as_if_it_were_not_there() {
    let store = memory();
    let bot = bot(&store);
    let outside = [
        "acme",
        "acme:chatbots",
        "acme:payroll",
        "other",
        "Acme:chatbot",
    ];
    let mut hidden: Vec<ContentAddress> = outside
        .map(|namespace| store.put(note("a secret").namespace(namespace)).unwrap())
        .into();
    hidden.push(store.put(note("a secret")).unwrap());
    let seen = bot.put(note("a plan")).unwrap();

    for address in &hidden {
        assert_eq!(bot.get(address).unwrap(), None);
        assert!(!bot.exists(address).unwrap());
        assert_eq!(code(bot.status(address)), "ERR_NOT_FOUND");
        assert_eq!(code(bot.history(address)), "ERR_NOT_FOUND");
        assert_eq!(code(bot.contradict(address, Some("x"))), "ERR_NOT_FOUND");
        let verified = bot.set_verification(address, Verification::Verified, None);
        assert_eq!(code(verified), "ERR_NOT_FOUND");
        let new = note("another").derived_from(*address);
        assert_eq!(
            code(bot.supersede(address, new, Some("x"))),
            "ERR_NOT_FOUND"
        );
        assert!(store.status(address).unwrap().is_current());
    }
    assert_eq!(bot.list(None, 10).unwrap().addresses, [seen]);
    let found = bot.query(&Filter::new(), 10, None).unwrap();
    assert_eq!((found.total, found.results[0].address), (1, seen));
    assert_eq!(bot.search("secret", &Filter::new(), 10).unwrap().total, 0);
    assert_eq!(bot.search("plan", &Filter::new(), 10).unwrap().total, 1);
    // Asking for another namespace does not open it.
    for namespace in ["acme:payroll", "other", "acme:chatbots"] {
        let filter = Filter::new().namespace(namespace);
        assert_eq!(
            bot.query(&filter, 10, None).unwrap().total,
            0,
            "{namespace}"
        );
    }
    let outer = Filter::new().namespace("acme");
    assert_eq!(bot.query(&outer, 10, None).unwrap().total, 1);
}

#[test]
fn two_namespaces_with_one_hash_are_two_namespaces() {
    // OMS 3.1.1: two bytes of a hash decide nothing. These two share them.
    let hash = |namespace: &str| {
        let draft = note("x").namespace(namespace);
        let grain = draft.created_at(grainstore::Time::from_ms(1));
        grain
            .finish(Default::default())
            .unwrap()
            .header()
            .namespace_hash
    };
    let own = hash("team:0");
    let twin = (1..).map(|n| format!("team:{n}"));
    let twin = twin.into_iter().find(|name| hash(name) == own).unwrap();
    let store = memory();
    let theirs = store.put(note("theirs").namespace(&twin)).unwrap();
    let handle = store.in_namespace("team:0");
    let ours = handle.put(note("ours")).unwrap();
    assert_eq!(handle.get(&theirs).unwrap(), None);
    assert_eq!(handle.list(None, 10).unwrap().addresses, [ours]);
    assert_eq!(handle.query(&Filter::new(), 10, None).unwrap().total, 1);
    assert_eq!(
        code(handle.put(note("x").namespace(&twin))),
        "ERR_ACCESS_DENIED"
    );
}

#[test]
fn a_handle_can_be_narrowed_and_never_widened() {
    let store = memory();
    let secret = store
        .put(note("a secret").namespace("acme:payroll"))
        .unwrap();
    let own = bot(&store).put(note("mine")).unwrap();
    let inner = bot(&store).in_namespace("acme:chatbot:agent-7");
    assert_eq!(
        inner.capability().unwrap().namespace(),
        Some("acme:chatbot:agent-7")
    );
    assert!(!inner.exists(&own).unwrap());
    // The outer one is no way out, and neither is another one.
    let outer = bot(&store).in_namespace("acme");
    assert_eq!(
        outer.capability().unwrap().namespace(),
        Some("acme:chatbot")
    );
    for nowhere in [
        bot(&store).in_namespace("acme:payroll"),
        bot(&store)
            .in_namespace("acme:payroll")
            .in_namespace("acme"),
        bot(&store).in_namespace(""),
        store.in_namespace(""),
        store.in_namespace("acme:*"),
        bot(&store).as_actor(&did("mallory")),
    ] {
        assert!(!nowhere.exists(&secret).unwrap() && !nowhere.exists(&own).unwrap());
        assert!(nowhere.list(None, 10).unwrap().addresses.is_empty());
        assert!(
            nowhere
                .query(&Filter::new(), 10, None)
                .map_or(true, |found| found.total == 0)
        );
        let entry = note("x").namespace("acme:payroll");
        assert_eq!(code(nowhere.put(entry)), "ERR_ACCESS_DENIED");
    }
}

#[test]
fn a_reader_reads_and_writes_nothing() {
    let store = memory();
    let address = bot(&store).put(note("tea")).unwrap();
    let reader = bot(&store).read_only();
    assert!(reader.get(&address).unwrap().is_some());
    let new = note("coffee").derived_from(address);
    assert_eq!(code(reader.put(note("x"))), "ERR_ACCESS_DENIED");
    assert_eq!(
        code(reader.supersede(&address, new, None)),
        "ERR_ACCESS_DENIED"
    );
    assert_eq!(code(reader.contradict(&address, None)), "ERR_ACCESS_DENIED");
    assert!(store.status(&address).unwrap().is_current());
}

#[test]
fn an_owner_opens_and_closes_nothing() {
    // OMS 12.5.1.
    let store = memory();
    let owner = grainstore::codec::Map::from_iter([("type", "human"), ("name", "Ada")]);
    let owned = note("ada's").set("owner", owner.clone());
    let owned = store.put(owned.namespace("acme:chatbot")).unwrap();
    assert!(bot(&store).exists(&owned).unwrap());
    let new = note("taken").derived_from(owned);
    bot(&store).supersede(&owned, new, None).unwrap();
    // And to be its owner opens no namespace.
    let elsewhere = note("also ada's").set("owner", owner).namespace("acme:pay");
    let elsewhere = store.put(elsewhere.author(did("bot").as_str())).unwrap();
    assert!(!bot(&store).exists(&elsewhere).unwrap());
}

#[test]
fn health_information_takes_a_clearance() {
    // OMS 27.4: any phi: tag, whether it is one of the eighteen or not.
    let store = memory();
    let nurse = Capability::default()
        .inside("acme:chatbot")
        .cleared_for("phi");
    let nurse = store.with_capability(nurse).unwrap();
    for name in PHI.into_iter().chain(["diagnosis"]) {
        let tag = format!("phi:{name}");
        let draft = note(&tag).tag(&tag).namespace("acme:chatbot");
        let address = store.put(draft).unwrap();
        assert_eq!(bot(&store).get(&address).unwrap(), None, "{tag}");
        assert!(nurse.get(&address).unwrap().is_some(), "{tag}");
        let draft = note("another").tag(&tag);
        assert_eq!(code(bot(&store).put(draft.clone())), "ERR_ACCESS_DENIED");
        nurse.put(draft).unwrap();
    }
    assert_eq!(
        bot(&store).query(&Filter::new(), 99, None).unwrap().total,
        0
    );
    assert_eq!(nurse.query(&Filter::new(), 99, None).unwrap().total, 38);
}

#[test]
fn what_waits_for_review_drives_no_program() {
    // OMS 6.1.
    let store = memory();
    let draft = Draft::reasoning("deny the loan").set("requires_human_review", true);
    let address = bot(&store).put(draft).unwrap();
    assert_eq!(code(bot(&store).get(&address)), "ERR_REVIEW_REQUIRED");
    assert_eq!(bot(&store).query(&Filter::new(), 9, None).unwrap().total, 0);
    assert_eq!(
        bot(&store).search("loan", &Filter::new(), 9).unwrap().total,
        0
    );
    // Its author may still learn that it is there, and take it back.
    assert!(bot(&store).exists(&address).unwrap());

    assert_eq!(store.query(&Filter::new(), 9, None).unwrap().total, 0);
    assert_eq!(store.search("loan", &Filter::new(), 9).unwrap().total, 0);
    let all = Filter::new().with_unreviewed();
    assert_eq!(store.search("loan", &all, 9).unwrap().total, 1);

    let person = Capability::default().inside("acme").role(Role::Reviewer);
    let person = store.with_capability(person).unwrap();
    assert!(person.get(&address).unwrap().is_some());
    assert_eq!(person.query(&Filter::new(), 9, None).unwrap().total, 1);
    assert_eq!(person.search("loan", &Filter::new(), 9).unwrap().total, 1);
    let mandate = Authorization {
        reason: "it is right",
        authority: "Ada",
    };
    let review = store.admin().unwrap().reviews().unwrap().remove(0);
    store
        .admin()
        .unwrap()
        .clear_review(review.id, mandate)
        .unwrap();
    assert!(bot(&store).get(&address).unwrap().is_some());
    assert_eq!(bot(&store).query(&Filter::new(), 9, None).unwrap().total, 1);
    assert_eq!(store.query(&Filter::new(), 9, None).unwrap().total, 1);
}

#[test]
fn hidden_grains_take_no_place_in_an_answer() {
    let store = memory();
    for n in 0..20 {
        let draft = note(&format!("tea {n}")).namespace("acme:chatbot");
        let draft = if n % 4 == 3 {
            draft
        } else {
            draft.tag("phi:mrn")
        };
        store.put(draft).unwrap();
    }
    let bot = bot(&store);
    let first = bot.query(&Filter::new(), 3, None).unwrap();
    assert_eq!((first.results.len(), first.total_is_lower_bound), (3, true));
    let rest = bot.query(&Filter::new(), 3, first.next_cursor).unwrap();
    assert_eq!((rest.results.len(), rest.total_is_lower_bound), (2, false));
    assert_eq!(
        bot.search("tea", &Filter::new(), 5).unwrap().results.len(),
        5
    );
    let page = bot.list(None, 3).unwrap();
    let rest = bot.list(page.next, 3).unwrap();
    assert_eq!(
        (page.addresses.len(), rest.addresses.len(), rest.next),
        (3, 2, None)
    );
}

#[test]
fn the_ledger_says_who_acted() {
    let disk = MemoryDisk::default();
    let open = || Store::open_on(Arc::new(disk.clone()), Options::default()).unwrap();
    let address = bot(&open()).put(note("tea")).unwrap();
    let store = open();
    let new = note("coffee").derived_from(address);
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    let new = bot(&store).supersede(&address, new, None).unwrap();
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        entries + 2,
        "the actor is known"
    );
    let by_nobody = store.put(note("by the owner")).unwrap();
    let author = |address| store.history(&address).unwrap().pop().unwrap().stored_by;
    assert_eq!(author(new).as_deref(), Some("did:web:bot.example"));
    assert_eq!(author(by_nobody), None);
}

#[derive(Debug, Clone)]
struct Put {
    namespace: Option<String>,
    phi: bool,
}

fn puts() -> impl Strategy<Value = Vec<Put>> {
    let part = prop::sample::select(vec!["a", "b", "ab", "a:b", "A", ""]);
    let namespace = prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(":"));
    let put = (prop::option::of(namespace), any::<bool>());
    let put = put.prop_map(|(namespace, phi)| Put { namespace, phi });
    prop::collection::vec(put, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is stored, every way of reading through a handle shows the same grains: those
    /// whose namespace is the handle's, or begins with it and a colon.
    #[test]
    fn every_read_of_a_handle_agrees_with_the_definition(puts in puts(), scope in "a|a:b|ab|b:a") {
        let store = memory();
        let handle = store.in_namespace(&scope);
        let mut expected = Vec::new();
        let mut all = Vec::new();
        for (n, put) in puts.into_iter().enumerate() {
            let mut draft = note(&format!("word {n}"));
            if let Some(namespace) = &put.namespace {
                draft = draft.namespace(namespace);
            }
            if put.phi {
                draft = draft.tag("phi:name");
            }
            let lies_in = put.namespace.is_some_and(|namespace| {
                format!("{namespace}:").starts_with(&format!("{scope}:"))
            });
            let address = store.put(draft).unwrap();
            all.push(address);
            if lies_in && !put.phi {
                expected.push(address);
            }
        }
        let queried = handle.query(&Filter::new(), 99, None).unwrap();
        let queried: Vec<_> = queried.results.iter().map(|found| found.address).collect();
        prop_assert_eq!(&queried, &expected);
        prop_assert_eq!(&handle.list(None, 99).unwrap().addresses, &expected);
        let mut searched: Vec<_> = handle.search("word", &Filter::new(), 99).unwrap().results
            .iter().map(|found| found.address).collect();
        searched.sort_by_key(|address| all.iter().position(|one| one == address));
        prop_assert_eq!(&searched, &expected);
        for address in all {
            prop_assert_eq!(handle.exists(&address).unwrap(), expected.contains(&address));
            prop_assert_eq!(handle.get(&address).unwrap().is_some(), expected.contains(&address));
        }
    }
}
