//! Delegations between agents (OMS 6.11): the namespaces, types, tools, depth and expiry that they
//! permit, on every path of a write.

use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::store::Authorization;
use proptest::test_runner::TestRunner;

use super::*;
use crate::store::at;

/// Who delegates to whom, with more members.
pub(super) fn delegation(from: &str, to: &str, more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"goal","description":"work of {from} for {to}","goal_state":"active",
            "subject":"did:web:{from}.example","relation":"mg:delegates_to",
            "object":"did:web:{to}.example","author_did":"did:web:{from}.example",
            "created_at":1{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

fn by(author: &str, namespace: &str) -> Draft {
    note("x").author(did(author).as_str()).namespace(namespace)
}

const CHAT: &str = r#","authorized_namespaces":["acme:chat"],"delegation_depth":0"#;

#[test]
fn a_delegated_author_writes_where_it_may_and_nowhere_else() {
    let store = memory();
    assert!(
        store.put(by("b", "acme:pay")).is_ok(),
        "nobody has delegated to it yet"
    );
    store.put(delegation("a", "b", CHAT)).unwrap();
    assert!(store.put(by("b", "acme:chat")).is_ok());
    assert!(store.put(by("b", "acme:chat:room-1")).is_ok());
    for namespace in ["acme", "acme:chats", "other", ""] {
        let entries = store.maintenance().unwrap().stats().unwrap().entries;
        assert_eq!(
            code(store.put(by("b", namespace))),
            "ERR_ACCESS_DENIED",
            "{namespace}"
        );
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().entries,
            entries + 1,
            "the denial"
        );
        let handle = store.as_actor(&did("b"));
        assert_eq!(
            code(handle.put(note("x").namespace(namespace))),
            "ERR_ACCESS_DENIED"
        );
    }
    let batch = [by("b", "acme:chat"), by("b", "other")];
    assert_eq!(code(store.put_batch(batch)), "ERR_ACCESS_DENIED");
    // Its delegator, and anybody else, acts on authority of its own.
    assert!(store.put(by("a", "other")).is_ok() && store.put(by("c", "other")).is_ok());
}

#[test]
fn a_delegated_author_sees_and_changes_only_what_it_may() {
    let store = memory();
    let inside = store.put(note("in").namespace("acme:chat")).unwrap();
    let outside = store.put(note("out").namespace("acme:pay")).unwrap();
    store.put(delegation("a", "b", CHAT)).unwrap();
    let handle = store.as_actor(&did("b"));
    assert!(handle.exists(&inside).unwrap() && !handle.exists(&outside).unwrap());
    let found = handle.query(&Filter::new(), 9, None).unwrap();
    assert_eq!(
        found
            .results
            .iter()
            .map(|found| found.address)
            .collect::<Vec<_>>(),
        [inside]
    );
    assert!(handle.contradict(&outside, Some("x")).is_err());
    // What replaces a grain elsewhere touches it, wherever the new one lies.
    let new = by("b", "acme:chat").derived_from(outside);
    assert_eq!(
        code(store.supersede(&outside, new, Some("x"))),
        "ERR_ACCESS_DENIED"
    );
    assert!(store.status(&outside).unwrap().is_current());
    handle.contradict(&inside, Some("x")).unwrap();
}

#[test]
fn types_and_tools_are_held_to_the_delegation() {
    let store = memory();
    let more = r#","authorized_types":[2,5],"authorized_tools":["search"],"delegation_depth":0"#;
    store.put(delegation("a", "b", more)).unwrap();
    let tool = |name: &str| {
        let input = grainstore::codec::Map::from_iter([("q", "tea")]);
        Draft::action(name, input, "done", false).author(did("b").as_str())
    };
    assert!(store.put(by("b", "any")).is_ok());
    assert!(store.put(tool("search")).is_ok());
    assert_eq!(code(store.put(tool("delete_all"))), "ERR_ACCESS_DENIED");
    let belief = Draft::belief("b", "likes", "tea").confidence(0.5);
    let belief = belief.author(did("b").as_str());
    assert_eq!(code(store.put(belief)), "ERR_ACCESS_DENIED");
}

#[test]
fn a_delegation_ends_by_the_clock_of_the_store() {
    let (options, clock) = at(5_000);
    let store = Store::in_memory(options).unwrap();
    let more = r#","delegation_expiry":10000,"delegation_depth":0"#;
    store.put(delegation("a", "b", more)).unwrap();
    clock.set(9_999);
    assert!(store.put(by("b", "x")).is_ok());
    clock.set(10_000);
    let refused = store.put(by("b", "y")).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("delegation_expired (OMS 6.11)"),
        "{refused}"
    );
    // A clock that is put back does not bring it back: the ledger knows better.
    clock.set(6_000);
    assert_eq!(code(store.put(by("b", "z"))), "ERR_ACCESS_DENIED");
}

#[test]
fn a_delegatee_hands_on_as_far_as_the_depth_goes() {
    // OMS 6.11: depth 0 means not at all.
    let store = memory();
    store
        .put(delegation("a", "b", r#","delegation_depth":0"#))
        .unwrap();
    let on = delegation("b", "c", r#","delegation_depth":0"#);
    let refused = store.put(on.clone()).unwrap_err();
    assert!(
        refused.to_string().contains("delegation_depth (OMS 6.11)"),
        "{refused}"
    );
    // Whoever brings it, and whatever it says about its author.
    let mut quiet = on.fields().clone();
    quiet.remove("author_did");
    let quiet = Draft::from_value(grainstore::codec::Value::Map(quiet)).unwrap();
    assert_eq!(code(store.put(quiet)), "ERR_ACCESS_DENIED");

    for depth in 0..4_usize {
        let store = memory();
        let names = ["a", "b", "c", "d", "e", "f"];
        let more = format!(r#","delegation_depth":{depth}"#);
        store.put(delegation("a", "b", &more)).unwrap();
        for (removes, pair) in names[1..].windows(2).enumerate() {
            let outcome = store.put(delegation(pair[0], pair[1], ""));
            assert_eq!(outcome.is_ok(), removes < depth, "depth {depth}, {pair:?}");
            if outcome.is_err() {
                break;
            }
            assert!(store.put(by(pair[1], "x")).is_ok());
        }
    }
}

#[test]
fn nobody_hands_on_more_than_it_has() {
    let store = memory();
    let more = r#","authorized_namespaces":["acme:chat"],"delegation_depth":1"#;
    store.put(delegation("a", "b", more)).unwrap();
    let wide = delegation("b", "c", r#","authorized_namespaces":["*"]"#).namespace("acme:chat");
    store.put(wide).unwrap();
    assert!(store.put(by("c", "acme:chat:x")).is_ok());
    assert_eq!(code(store.put(by("c", "acme:pay"))), "ERR_ACCESS_DENIED");
    // And not through a handle either.
    let wide = delegation("bot", "c", r#","authorized_namespaces":["acme"]"#);
    assert_eq!(code(bot(&store).put(wide)), "ERR_ACCESS_DENIED");
    assert_eq!(
        code(bot(&store).put(delegation("bot", "d", ""))),
        "ERR_ACCESS_DENIED"
    );
    let own = delegation("bot", "c", r#","authorized_namespaces":["acme:chatbot:x"]"#);
    assert!(bot(&store).put(own).is_ok());
}

#[test]
fn what_ended_a_delegation_does_not_free_its_delegatee() {
    let revoke: [fn(&Store, &ContentAddress); 4] = [
        |store, address| store.contradict(address, Some("over")).unwrap(),
        |store, address| {
            let retracted = Verification::Retracted;
            store
                .set_verification(address, retracted, Some("over"))
                .unwrap();
        },
        |store, address| {
            let json = r#"{"type":"goal","description":"over","goal_state":"failed",
                "created_at":2}"#;
            let new = Draft::from_json(json).unwrap().derived_from(*address);
            store.supersede(address, new, None).unwrap();
        },
        // OMS 28.7: the delegatee itself says that it is done.
        |store, address| {
            let json = r#"{"type":"goal","description":"done","goal_state":"satisfied",
                "author_did":"did:web:b.example","namespace":"acme:chat","created_at":2}"#;
            store
                .put(Draft::from_json(json).unwrap().derived_from(*address))
                .unwrap();
        },
    ];
    for revoke in revoke {
        let store = memory();
        let address = store.put(delegation("a", "b", CHAT)).unwrap();
        assert!(store.put(by("b", "acme:chat")).is_ok());
        revoke(&store, &address);
        let late = by("b", "acme:chat").tag("late");
        assert_eq!(code(store.put(late.clone())), "ERR_ACCESS_DENIED");
        // Another delegation is another authority.
        store.put(delegation("c", "b", CHAT)).unwrap();
        assert!(store.put(late).is_ok());
    }
}

#[test]
fn a_delegation_in_anothers_name_neither_opens_nor_binds() {
    let store = memory();
    let forged = delegation("a", "b", CHAT);
    let forged = forged.set("author_did", "did:web:mallory.example");
    store.put(forged).unwrap();
    assert!(store.put(by("b", "anywhere")).is_ok());
    store.put(delegation("a", "c", CHAT)).unwrap();
    let forged = delegation("a", "c", r#","authorized_namespaces":["*"]"#);
    store
        .put(
            forged
                .set("author_did", "did:web:c.example")
                .namespace("acme:chat"),
        )
        .unwrap();
    assert_eq!(code(store.put(by("c", "anywhere"))), "ERR_ACCESS_DENIED");
    // To oneself: no way to call one's own authority delegated, or to prove it by itself.
    store.put(delegation("d", "d", CHAT)).unwrap();
    assert!(store.put(by("d", "anywhere")).is_ok());
}

#[test]
fn a_circle_of_delegations_leads_to_no_authority() {
    let store = memory();
    let open = r#","authorized_namespaces":["*"]"#;
    store.put(delegation("a", "b", open)).unwrap();
    store.put(delegation("b", "a", open)).unwrap();
    for who in ["a", "b"] {
        assert_eq!(code(store.put(by(who, "x"))), "ERR_ACCESS_DENIED");
    }
}

#[test]
fn a_delegation_from_a_file_opens_nothing_until_somebody_vouches_for_it() {
    // Ruling I18: a hostile file must not widen what an author may do here.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.jsonl");
    let elsewhere = memory();
    let wide = delegation("a", "b", r#","authorized_namespaces":["*"]"#).tag("wide");
    let wide = elsewhere.put(wide).unwrap();
    elsewhere
        .set_verification(&wide, Verification::Verified, None)
        .unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    elsewhere
        .admin()
        .unwrap()
        .export(
            Format::Jsonl,
            &Filter::new(),
            &Default::default(),
            &mut file,
        )
        .unwrap();
    let store = memory();
    store.put(delegation("a", "b", CHAT)).unwrap();
    let summary = store
        .import(ImportFile::open(&path, None, &ReadOptions::default()).unwrap())
        .unwrap();
    assert_eq!(summary.inserted, 1, "{summary:?}");
    let told = |(_, text): &(_, String)| text.contains("opens nothing until it is verified");
    assert!(summary.findings.iter().any(told), "{summary:?}");
    assert_eq!(code(store.put(by("b", "anywhere"))), "ERR_ACCESS_DENIED");
    store
        .set_verification(&wide, Verification::Verified, Some("a told me"))
        .unwrap();
    assert!(store.put(by("b", "anywhere")).is_ok());
}

#[test]
fn only_the_owner_verifies_a_delegation() {
    // Otherwise an agent would vouch for the delegation that opens the store to it.
    let store = memory();
    store.put(delegation("a", "b", CHAT)).unwrap();
    let wide = delegation("a", "b", r#","authorized_namespaces":["*"]"#).namespace("acme:chat");
    let wide = imported(&store, wide);
    let b = store.as_actor(&did("b")).in_namespace("acme");
    for (to, because) in [
        (Verification::Verified, "it is right"),
        (Verification::Unverified, "start again"),
    ] {
        store
            .set_verification(&wide, Verification::Contested, Some("is it?"))
            .unwrap();
        let vouched = b.set_verification(&wide, to, Some(because));
        assert_eq!(code(vouched), "ERR_ACCESS_DENIED", "{to:?}");
    }
    assert_eq!(code(store.put(by("b", "acme:pay"))), "ERR_ACCESS_DENIED");
    let verified = Verification::Verified;
    store
        .set_verification(&wide, verified, Some("a told me"))
        .unwrap();
    assert!(store.put(by("b", "acme:pay")).is_ok());
}

#[test]
fn a_delegation_of_an_agent_binds_inside_the_namespaces_it_names() {
    let store = memory();
    let rogue = store.as_actor(&did("rogue")).in_namespace("rogue");
    let victim = store.as_actor(&did("victim"));
    let mine = victim.put(note("mine").namespace("acme")).unwrap();
    let more = r#","authorized_namespaces":["rogue"],"authorized_types":[2]"#;
    rogue
        .put(delegation("rogue", "victim", more).namespace("rogue"))
        .unwrap();
    assert!(victim.exists(&mine).unwrap());
    assert!(victim.put(note("more").namespace("acme")).is_ok());
    let belief = |namespace: &str| {
        let belief = Draft::belief("tea", "is", "hot").confidence(0.5);
        belief.namespace(namespace)
    };
    assert!(victim.put(belief("acme")).is_ok());
    assert_eq!(code(victim.put(belief("rogue"))), "ERR_ACCESS_DENIED");
    // An agent of all namespaces that names none opens them all, and closes none.
    let agent = store.as_actor(&did("agent"));
    agent
        .put(delegation("agent", "victim", r#","authorized_types":[2]"#))
        .unwrap();
    assert!(victim.put(belief("acme:tea")).is_ok());
}

#[test]
fn a_delegation_that_does_not_bind_shows_in_no_refusal() {
    let store = memory();
    let ended = store.put(delegation("desk", "victim", "")).unwrap();
    store.contradict(&ended, Some("over")).unwrap();
    let victim = store.as_actor(&did("victim"));
    let refused = || {
        let refused = victim.put(note("more").namespace("acme"));
        refused.unwrap_err().to_string()
    };
    let before = refused();
    let rogue = store.as_actor(&did("rogue")).in_namespace("rogue");
    let more = r#","authorized_namespaces":["rogue"]"#;
    rogue
        .put(delegation("rogue", "victim", more).namespace("rogue"))
        .unwrap();
    assert_eq!(refused(), before);
}

#[test]
fn a_delegation_from_a_file_binds_nobody_until_the_owner_verifies_it() {
    let store = memory();
    let hostile = delegation("a", "b", r#","authorized_namespaces":["nowhere"]"#);
    let hostile = imported(&store, hostile);
    assert!(store.put(by("b", "acme:pay")).is_ok());
    store
        .set_verification(&hostile, Verification::Verified, Some("a told me"))
        .unwrap();
    assert_eq!(code(store.put(by("b", "acme:hr"))), "ERR_ACCESS_DENIED");
}

#[test]
fn a_file_ends_the_delegation_that_a_file_brought_and_the_owner_verified() {
    let store = memory();
    let task = imported(&store, delegation("a", "b", CHAT).namespace("acme:chat"));
    let verified = store.set_verification(&task, Verification::Verified, Some("a told me"));
    verified.unwrap();
    assert!(store.put(by("b", "acme:chat")).is_ok());
    let json = r#"{"type":"goal","description":"done","goal_state":"satisfied",
        "author_did":"did:web:b.example","namespace":"acme:chat","created_at":2}"#;
    imported(&store, Draft::from_json(json).unwrap().derived_from(task));
    let late = by("b", "acme:chat").tag("late");
    assert_eq!(code(store.put(late)), "ERR_ACCESS_DENIED");
}

#[test]
fn a_handle_without_an_author_neither_delegates_nor_hands_back() {
    let store = memory();
    let nameless = store.in_namespace("rogue");
    let inside = r#","authorized_namespaces":["rogue"]"#;
    nameless
        .put(delegation("a", "b", inside).namespace("rogue"))
        .unwrap();
    assert!(store.put(by("b", "acme:pay").tag("free")).is_ok());

    let task = delegation("a", "b", CHAT).namespace("acme:chat");
    let task = store.put(task).unwrap();
    let json = r#"{"type":"goal","description":"done","goal_state":"satisfied",
        "author_did":"did:web:b.example","namespace":"acme:chat","created_at":2}"#;
    let done = Draft::from_json(json).unwrap().derived_from(task);
    store.in_namespace("acme:chat").put(done.clone()).unwrap();
    imported(&store, done.tag("from a file"));
    assert!(store.put(by("b", "acme:chat")).is_ok(), "its task goes on");
    let own = store.as_actor(&did("b")).in_namespace("acme:chat");
    own.hand_back(&task, "done").unwrap();
    assert_eq!(code(own.put(note("late"))), "ERR_ACCESS_DENIED");
    // The ledger records such a handle apart from the owner's, without a name.
    let written = nameless.put(note("by nobody")).unwrap();
    assert_eq!(store.history(&written).unwrap()[0].stored_by, None);
}

/// Imports a grain from a file.
fn imported(store: &Store, draft: Draft) -> ContentAddress {
    let grain = draft.finish(Default::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.jsonl");
    std::fs::write(&path, grain.to_json()).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    let summary = store.import(reading).unwrap();
    assert_eq!(summary.inserted, 1, "{summary:?}");
    grain.address()
}

#[test]
fn a_store_that_is_opened_again_knows_its_delegations() {
    let disk = MemoryDisk::default();
    let open = || Store::open_on(Arc::new(disk.clone()), Options::default()).unwrap();
    let address = open().put(delegation("a", "b", CHAT)).unwrap();
    assert_eq!(code(open().put(by("b", "other"))), "ERR_ACCESS_DENIED");
    let deletion = Authorization {
        reason: "test",
        authority: "test",
    };
    open().admin().unwrap().delete(&address, deletion).unwrap();
    assert!(
        open().put(by("b", "other")).is_ok(),
        "what was never said binds nobody"
    );
}

/// Somebody lets somebody write, in some namespaces and to some depth.
#[derive(Debug, Clone)]
struct Link {
    from: usize,
    to: usize,
    spaces: Option<Vec<usize>>,
    depth: Option<usize>,
}

const SPACES: [&str; 3] = ["a", "a:b", "c"];
const WITHIN: [[bool; 3]; 3] = [
    [true, true, false],
    [false, true, false],
    [false, false, true],
];

/// Whether an author may write in a namespace, found by trying every way up.
fn may(links: &[Link], who: usize, space: usize, below: usize, path: &[usize]) -> bool {
    let mut held = links.iter().filter(|link| link.to == who).peekable();
    if held.peek().is_none() {
        return true;
    }
    held.any(|link| {
        let open = link.spaces.as_ref();
        open.is_none_or(|open| open.iter().any(|outer| WITHIN[*outer][space]))
            && link.depth.is_none_or(|most| below <= most)
            && !path.contains(&link.from)
            && may(
                links,
                link.from,
                space,
                below + 1,
                &[path, &[link.from]].concat(),
            )
    })
}

/// Delegations among five authors in three namespaces, against a search without shortcuts.
#[test]
fn random_delegations_agree_with_a_plain_search() {
    let link = (
        0..5_usize,
        0..5_usize,
        prop::option::of(prop::collection::vec(0..3_usize, 0..2)),
        prop::option::of(0..3_usize),
    );
    let links = prop::collection::vec(link, 0..7);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    let outcome = runner.run(&links, |links| {
        let store = memory();
        let mut known: Vec<Link> = Vec::new();
        for (n, (from, to, spaces, depth)) in links.into_iter().enumerate() {
            if from == to {
                continue;
            }
            let mut more = format!(r#","priority":{n}"#);
            if let Some(spaces) = &spaces {
                let names: Vec<_> = spaces.iter().map(|at| SPACES[*at]).collect();
                more += &format!(r#","authorized_namespaces":{names:?}"#);
            }
            if let Some(depth) = depth {
                more += &format!(r#","delegation_depth":{depth}"#);
            }
            let draft = delegation(&format!("p{from}"), &format!("p{to}"), &more).namespace("c");
            let allowed = may(&known, from, 2, 1, &[from]);
            prop_assert_eq!(store.put(draft).is_ok(), allowed);
            if allowed {
                known.push(Link {
                    from,
                    to,
                    spaces,
                    depth,
                });
            }
        }
        for who in 0..5 {
            for (space, name) in SPACES.iter().enumerate() {
                let stored = store.put(by(&format!("p{who}"), name)).is_ok();
                prop_assert_eq!(
                    stored,
                    may(&known, who, space, 0, &[who]),
                    "p{} in {}",
                    who,
                    name
                );
            }
        }
        Ok(())
    });
    outcome.unwrap();
}
