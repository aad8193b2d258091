//! Trust rules: the signers that may write, and how far their signatures count.

use grainstore::crypto::{SigningKey, Statement, sign};
use grainstore::grain::Verification;
use grainstore::policy::{Actor, Doubt, Operation, Trust, TrustRule};
use grainstore::store::{Asked, Justification};

use super::*;

fn rule(key: &SigningKey) -> TrustRule {
    TrustRule::new(key.did())
}

fn trust_in(store: &Store, grain: Grain) -> Trust {
    let address = store.put(grain).unwrap();
    store.signature(&address).unwrap().unwrap().trust
}

#[test]
fn a_valid_signature_of_somebody_unknown_is_shown_as_that() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let address = store.put(signed_by(draft("dark mode"), &ada())).unwrap();
    store.put(draft("tea")).unwrap();
    let unknown = Trust::Untrusted(Doubt::Unknown);
    let found = store.query(&Filter::new(), 9, None).unwrap();
    let shown: Vec<_> = found
        .results
        .iter()
        .map(|it| it.signature.clone())
        .collect();
    assert_eq!(shown[0].as_ref().map(|it| it.trust), Some(unknown));
    assert_eq!(shown[1], None, "nobody signed it");
    let json = found.to_json();
    assert!(json.contains(r#""doubt":"unknown_signer""#), "{json}");
    assert!(json.contains(r#""trust":"untrusted""#), "{json}");

    store
        .admin()
        .unwrap()
        .trust(rule(&ada()), "our own agent")
        .unwrap();
    store
        .admin()
        .unwrap()
        .trust(rule(&ada()), "our own agent")
        .unwrap();
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    let trust = |store: &Store| store.signature(&address).unwrap().unwrap().trust;
    assert_eq!(trust(&store), Trust::Verified);
    drop(store);
    let store = open(&disk);
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        entries
    );
    assert_eq!(trust(&store), Trust::Verified);
    assert_eq!(store.admin().unwrap().trusted(), [rule(&ada())]);
    assert!(
        store
            .admin()
            .unwrap()
            .distrust(&ada().did(), "the key was lost")
            .unwrap()
    );
    assert!(
        !store
            .admin()
            .unwrap()
            .distrust(&ada().did(), "again")
            .unwrap()
    );
    assert_eq!(trust(&store), unknown);
    drop(store);
    assert_eq!(trust(&open(&disk)), unknown);
    assert_eq!(
        open(&disk).maintenance().unwrap().check().unwrap().findings,
        []
    );
}

#[test]
fn trust_is_for_namespaces_types_and_authors_and_for_nothing_else() {
    let store = memory();
    let mut hr = rule(&ada());
    hr.namespaces = vec!["acme:hr".into()];
    hr.types = vec![grainstore::Type::Belief];
    store
        .admin()
        .unwrap()
        .trust(hr, "writes about people")
        .unwrap();
    let at = |namespace: &str| draft("x").namespace(namespace);
    let event = Draft::event("x").namespace("acme:hr");
    let event = event.created_at(Time::from_ms(1));
    let cases = [
        (at("acme:hr"), Trust::Verified),
        (at("acme:hr:pay"), Trust::Verified),
        (at("acme:hrx"), Trust::Untrusted(Doubt::Namespace)),
        (at("acme"), Trust::Untrusted(Doubt::Namespace)),
        (at(""), Trust::Untrusted(Doubt::Namespace)),
        (event, Trust::Untrusted(Doubt::Type)),
    ];
    for (draft, expected) in cases {
        let shown = format!("{draft:?}");
        assert_eq!(
            trust_in(&store, signed_by(draft, &ada())),
            expected,
            "{shown}"
        );
    }
    // A second rule adds to the first.
    let mut events = rule(&ada());
    events.types = vec![grainstore::Type::Event];
    store.admin().unwrap().trust(events, "and logs").unwrap();
    let event = Draft::event("y").created_at(Time::from_ms(1));
    assert_eq!(trust_in(&store, signed_by(event, &ada())), Trust::Verified);
}

#[test]
fn nobody_signs_for_another_author_unless_delegated() {
    let store = memory();
    let theirs = || unsigned(draft("dark mode").author(bob().did().as_str()));
    let by_ada = || sign(theirs(), &ada(), &ada().did(), None).unwrap();
    assert_eq!(code(store.put(by_ada())), "ERR_UNTRUSTED");
    store
        .admin()
        .unwrap()
        .trust(rule(&ada()), "our own agent")
        .unwrap();
    assert_eq!(code(store.put(by_ada())), "ERR_UNTRUSTED");
    // Whoever would wrap a grain of another first keeps its author from it no longer.
    let address = store.put(sign(theirs(), &bob(), &bob().did(), None).unwrap());
    let signature = store.signature(&address.unwrap()).unwrap().unwrap();
    assert_eq!(signature.signer, bob().did());

    let mut delegated = rule(&ada());
    delegated.authors = vec!["did:web:example.com:agents:7".into()];
    store
        .admin()
        .unwrap()
        .trust(delegated, "signs for agent 7")
        .unwrap();
    let for_agent = unsigned(draft("tea").author("did:web:example.com:agents:7"));
    let for_agent = sign(for_agent, &ada(), &ada().did(), None).unwrap();
    assert_eq!(trust_in(&store, for_agent.clone()), Trust::Verified);
    store
        .admin()
        .unwrap()
        .distrust(&ada().did(), "no more")
        .unwrap();
    let signature = store.signature(&for_agent.address()).unwrap().unwrap();
    assert_eq!(signature.trust, Trust::Untrusted(Doubt::Author));
    // A grain that names no author claims nothing but its signature.
    let nobodys = sign(unsigned(draft("rice")), &ada(), &ada().did(), None);
    assert_eq!(
        trust_in(&store, nobodys.unwrap()),
        Trust::Untrusted(Doubt::Unknown)
    );
}

#[test]
fn a_rule_holds_for_each_spelling_of_its_namespace_and_the_empty_text_is_none() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let mut rule = rule(&ada());
    rule.namespaces = vec!["cafe\u{301}".into()];
    store
        .admin()
        .unwrap()
        .trust(rule.clone(), "writes the menu")
        .unwrap();
    let at = |namespace: &str| signed_by(draft("x").namespace(namespace), &ada());
    // At once, and not only after the ledger is read again.
    assert_eq!(trust_in(&store, at("caf\u{e9}:menu")), Trust::Verified);
    drop(store);
    let store = open(&disk);
    assert_eq!(trust_in(&store, at("cafe\u{301}")), Trust::Verified);
    // Ruling I24.
    rule.namespaces.push("".into());
    for is_exclusive in [false, true] {
        rule.is_exclusive = is_exclusive;
        assert_eq!(
            code(store.admin().unwrap().trust(rule.clone(), "nowhere")),
            "ERR_TRUST"
        );
    }
}

#[test]
fn where_only_trusted_signers_write_nobody_else_does() {
    let store = memory();
    let mut closed = rule(&ada());
    closed.is_exclusive = true;
    assert_eq!(
        code(store.admin().unwrap().trust(closed.clone(), "")),
        "ERR_TRUST",
        "it would close all"
    );
    closed.namespaces = vec!["agent:identity".into()];
    store
        .admin()
        .unwrap()
        .trust(closed, "the operator alone")
        .unwrap();
    let there = |object: &str| draft(object).namespace("agent:identity");
    let refused = "ERR_UNTRUSTED";
    assert_eq!(code(store.put(there("x"))), refused);
    assert_eq!(code(store.put(signed_by(there("x"), &bob()))), refused);
    assert_eq!(code(store.put_batch([draft("y"), there("x")])), refused);
    let old = store.put(signed_by(there("owner"), &ada())).unwrap();
    let new = there("other").derived_from(old);
    assert_eq!(code(store.supersede(&old, new.clone(), None)), refused);
    let new = signed_by(new, &ada());
    store.supersede(&old, new, None).unwrap();
    store.put(draft("elsewhere")).unwrap();
    // An import is no way around.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.jsonl");
    let line = r#"{"type":"event","content":"hi","created_at":1,"namespace":"agent:identity"}"#;
    std::fs::write(&path, line).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    let summary = store.import(reading).unwrap();
    let codes: Vec<_> = summary
        .refused
        .iter()
        .map(|error| error.code().as_str())
        .collect();
    assert_eq!((codes, summary.inserted), (vec![refused], 0));
    // Another trusted signer may write there too.
    assert_eq!(code(store.put(signed_by(there("z"), &bob()))), refused);
    assert_eq!(denials(&store), 6, "each is on record");
    store
        .admin()
        .unwrap()
        .trust(rule(&bob()), "a second operator")
        .unwrap();
    assert_eq!(
        trust_in(&store, signed_by(there("z"), &bob())),
        Trust::Verified
    );
}

#[test]
fn where_only_trusted_signers_write_nobody_else_ends_what_is_written() {
    let store = memory();
    let mut closed = rule(&ada());
    closed.is_exclusive = true;
    closed.namespaces = vec!["ops".into()];
    let admin = store.admin().unwrap();
    admin.trust(closed, "the operator alone").unwrap();
    let there = |object: &str| signed_by(draft(object).namespace("ops"), &ada());
    let old = store.put(there("the door is shut")).unwrap();
    let outside = |object: &str| draft(object).derived_from(old);
    let refused = "ERR_UNTRUSTED";
    let agent = store.as_actor(&bob().did());
    for handle in [&store, &agent] {
        let own = outside("the door is open");
        assert_eq!(code(handle.supersede(&old, own, Some("x"))), refused);
        assert_eq!(code(handle.contradict(&old, Some("x"))), refused);
        for to in [Verification::Retracted, Verification::Contested] {
            assert_eq!(code(handle.set_verification(&old, to, None)), refused);
        }
    }
    let by_bob = signed_by(outside("the door is ajar"), &bob());
    assert_eq!(code(store.supersede(&old, by_bob, Some("x"))), refused);
    assert_eq!(denials(&store), 9, "each is on record");
    assert!(store.status(&old).unwrap().is_current());
    let asked = Asked::Change(Operation::Contradict);
    let explained = admin
        .explain_policy(&old, asked, &Actor::default())
        .unwrap();
    assert_eq!(explained.rule.as_deref(), Some("untrusted"));

    // Those who may write there may end what is there, from wherever they write.
    let store_id = *store
        .maintenance()
        .unwrap()
        .stats()
        .unwrap()
        .store_id
        .as_bytes();
    let signature =
        |statement: Statement, key: &SigningKey| [statement.sign(key, &key.did(), None).unwrap()];
    let statement = || Statement::contradict(old, store_id).unwrap();
    let [by_ada, by_bob] = [ada(), bob()].map(|key| signature(statement(), &key));
    let because = |signatures| Justification {
        signatures,
        ..Justification::default()
    };
    assert_eq!(code(store.contradict(&old, because(&by_bob))), refused);
    let new = signed_by(outside("the door is gone"), &ada());
    let new = store.supersede(&old, new, None).unwrap();
    assert_eq!(store.status(&old).unwrap().superseded_by, Some(new));
    store.contradict(&old, because(&by_ada)).unwrap();
    assert!(store.status(&old).unwrap().contradicted);
    // Another namespace is open to all.
    let open = store.put(signed_by(draft("tea"), &ada())).unwrap();
    store.contradict(&open, Some("coffee")).unwrap();
}

#[test]
fn a_namespace_that_is_not_in_nfc_is_closed_by_its_rule_at_once_and_after_reopening() {
    let disk = MemoryDisk::default();
    let store = open(&disk);
    let mut closed = rule(&ada());
    closed.namespaces = vec!["cafe\u{301}".into()];
    closed.is_exclusive = true;
    store
        .admin()
        .unwrap()
        .trust(closed, "the operator alone")
        .unwrap();
    let assert_closed = |store: &Store| {
        for namespace in ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}:menu"] {
            let there = || draft("x").namespace(namespace);
            assert_eq!(code(store.put(there())), "ERR_UNTRUSTED", "{namespace}");
            let trust = trust_in(store, signed_by(there(), &ada()));
            assert_eq!(trust, Trust::Verified, "{namespace}");
        }
    };
    assert_closed(&store);
    drop(store);
    assert_closed(&open(&disk));
}

#[test]
fn only_what_is_verified_is_found_where_that_is_asked() {
    let store = memory();
    store
        .admin()
        .unwrap()
        .trust(rule(&ada()), "our own agent")
        .unwrap();
    let mut ours = Vec::new();
    for n in 0..60_i64 {
        let at = |draft: Draft| draft.created_at(Time::from_ms(1_768_471_200_000 + n));
        store.put(at(draft("green tea"))).unwrap();
        store
            .put(signed_by(at(draft("green tea")), &bob()))
            .unwrap();
        ours.push(
            store
                .put(signed_by(at(draft("green tea")), &ada()))
                .unwrap(),
        );
    }
    let asked = Filter::new().verified();
    let found = store.query(&asked, 100, None).unwrap();
    let addresses = |found: &grainstore::Page| -> Vec<_> {
        found.results.iter().map(|it| it.address).collect()
    };
    assert_eq!((found.total, addresses(&found)), (60, ours.clone()));
    let narrower = asked
        .clone()
        .subject("user")
        .namespace("work")
        .object("green tea");
    assert_eq!(store.query(&narrower, 100, None).unwrap().total, 60);
    let few = asked.clone().until(Time::from_ms(1_768_471_200_002));
    assert_eq!(addresses(&store.query(&few, 100, None).unwrap()), ours[..3]);
    let searched = store.search("tea", &asked, 100).unwrap();
    let mut sorted = addresses(&searched);
    sorted.sort_unstable();
    ours.sort_unstable();
    assert_eq!((searched.total, sorted), (60, ours.clone()));
    assert!(searched.results.iter().all(|it| {
        it.signature.as_ref().map(|signature| signature.trust) == Some(Trust::Verified)
    }));
    let explained = store
        .maintenance()
        .unwrap()
        .explain(&asked)
        .unwrap()
        .to_string();
    assert!(explained.contains("trust = verified"), "{explained}");
    // A verified grain that was deleted is not there; and then nobody is trusted any more.
    let asked_for = Authorization {
        reason: "asked by letter",
        authority: "the data protection officer",
    };
    store.admin().unwrap().delete(&ours[0], asked_for).unwrap();
    assert_eq!(store.query(&asked, 100, None).unwrap().total, 59);
    store
        .admin()
        .unwrap()
        .distrust(&ada().did(), "the key was lost")
        .unwrap();
    assert_eq!(store.query(&asked, 100, None).unwrap().total, 0);
    assert_eq!(store.search("tea", &asked, 100).unwrap().total, 0);
}
