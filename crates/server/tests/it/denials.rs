//! A denial is an answer that the model can read, and the scope of a server holds.

use grainstore::crypto::Did;
use grainstore::store::{Authorization, RequiredConsent};
use grainstore::{Draft, Filter, Store};
use grainstore_server::Scope;
use serde_json::json;

use crate::client::{Client, store};

fn agent(store: &Store, namespace: &str) -> Client {
    let did: Did = "did:web:bot.acme.example".parse().unwrap();
    Client::new(Scope::agent(store, Some(&did), Some(namespace)).unwrap())
}

#[test]
fn a_locked_memory_is_left_alone_and_the_model_is_told_why() {
    let store = store();
    let locked = Draft::belief("user", "is_allergic_to", "peanuts").confidence(1.0);
    let locked = locked.set(
        "invalidation_policy",
        grainstore::codec::Map::from_iter([("mode", "locked")]),
    );
    let address = store.put(locked).unwrap().to_string();
    let mut client = Client::of(&store);
    let said = client.refused(
        "correct",
        json!({ "address": address, "text": "none" }),
        "ERR_INVALIDATION_DENIED",
    );
    assert!(said.contains("locked"), "{said}");
    assert!(said.contains("What to do: "), "{said}");
    assert_eq!(
        client.ok("search", json!({ "question": "peanuts" }))["total"],
        1
    );
}

#[test]
fn a_consent_that_is_demanded_is_asked_for() {
    let store = store();
    store
        .admin()
        .unwrap()
        .require_consent(
            "health",
            RequiredConsent {
                read: false,
                write: true,
            },
            Authorization {
                reason: "policy",
                authority: "the office",
            },
        )
        .unwrap();
    let mut client = Client::of(&store);
    let said = client.refused(
        "remember",
        json!({ "text": "a fever", "namespace": "health" }),
        "ERR_CONSENT",
    );
    assert!(said.contains("processing_basis"), "{said}");
}

#[test]
fn an_agent_reads_and_writes_in_its_namespace_only() {
    let store = store();
    let secret = store
        .put(Draft::event("the salary of everyone").namespace("acme:payroll"))
        .unwrap();
    let mut client = agent(&store, "acme:bot");
    client.note("customers like tea");
    let stored = store
        .query(&Filter::new().namespace("acme:bot"), 10, None)
        .unwrap();
    assert_eq!(
        stored.results[0].grain.text("author_did"),
        Some("did:web:bot.acme.example")
    );

    let said = client.refused(
        "remember",
        json!({ "text": "x", "namespace": "acme:payroll" }),
        "ERR_ACCESS_DENIED",
    );
    assert!(said.contains("tell the user"), "{said}");
    assert_eq!(
        client.ok("search", json!({ "question": "salary" }))["total"],
        0
    );
    assert_eq!(
        client.ok(
            "query",
            json!({ "filter": { "namespace": "acme:payroll" } })
        )["total"],
        0
    );
    for tool in ["get", "history"] {
        client.refused(
            tool,
            json!({ "address": secret.to_string() }),
            "ERR_NOT_FOUND",
        );
        client.refused(
            tool,
            json!({ "address": &secret.to_string()[..12] }),
            "ERR_NOT_FOUND",
        );
    }
    client.refused(
        "correct",
        json!({ "address": secret.to_string(), "text": "y" }),
        "ERR_NOT_FOUND",
    );
    let read = client.ask(
        "resources/read",
        json!({ "uri": format!("grain://{secret}") }),
    );
    assert!(
        read["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no grain"),
        "{read}"
    );
}

#[test]
fn an_agent_deletes_nothing_and_reports_on_no_one() {
    let store = store();
    let mut client = agent(&store, "acme");
    let address = client.note("mine");
    for confirm in [false, true] {
        let arguments = json!({ "address": address, "confirm": confirm });
        client.refused("forget", arguments, "ERR_ACCESS_DENIED");
    }
    client.refused("report", json!({ "user": "mira" }), "ERR_ACCESS_DENIED");
    let document = "{\"type\":\"event\",\"content\":\"x\",\"created_at\":1}\n";
    client.refused(
        "import_conversation",
        json!({ "document": document }),
        "ERR_ACCESS_DENIED",
    );
    assert_eq!(client.ok("query", json!({}))["total"], 1);
}

#[test]
fn a_server_for_one_person_knows_no_other() {
    let store = store();
    let bobs = store
        .put(
            Draft::event("bob likes beer")
                .user("bob")
                .session("s")
                .namespace("n"),
        )
        .unwrap();
    store
        .put(Draft::event("tea is of no one").session("s"))
        .unwrap();
    let mut client = Client::new(Scope::owner(store).of_user("mira"));
    client.ok(
        "remember",
        json!({ "text": "mira likes tea with beer", "session": "s" }),
    );

    let recalled = client.ok("recall", json!({ "question": "beer tea", "reach": 10 }));
    assert_eq!(recalled["found"], 1, "{recalled}");
    for filter in [
        json!({}),
        json!({ "user": "bob" }),
        json!({ "session": "s" }),
    ] {
        let found = client.ok("query", json!({ "filter": filter }));
        assert_eq!(
            found["total"],
            u64::from(filter["user"].is_null()),
            "{found}"
        );
    }
    let asked = json!({ "statement": "RECALL WITH superseded | COUNT" });
    let counted = client.ok("cal", asked);
    assert_eq!(counted["answer"], "{\"count\":1,\"total\":1}\n");
    for tool in ["get", "history", "forget"] {
        client.refused(
            tool,
            json!({ "address": bobs.to_string() }),
            "ERR_NOT_FOUND",
        );
    }
    client.refused(
        "correct",
        json!({ "address": bobs.to_string(), "text": "x" }),
        "ERR_NOT_FOUND",
    );
    client.refused(
        "remember",
        json!({ "text": "x", "user": "bob" }),
        "ERR_ACCESS_DENIED",
    );
    let message =
        json!({ "messages": [{ "role": "user", "content": "x" }], "session": "s", "user": "bob" });
    client.refused("import_conversation", message, "ERR_ACCESS_DENIED");
    client.refused("report", json!({ "user": "bob" }), "ERR_ACCESS_DENIED");
    assert_eq!(client.ok("report", json!({}))["about_total"], 1);

    let listed = client.result("resources/list", json!({}));
    assert!(!listed.to_string().contains("bob"), "{listed}");
    let session = client.result("resources/read", json!({ "uri": "session://s" }));
    assert!(!session.to_string().contains("bob"), "{session}");
}

#[test]
fn an_address_that_names_nothing_is_answered_with_what_to_do() {
    let store = store();
    let mut client = agent(&store, "acme");
    let denied = client.refused("get", json!({ "address": "0".repeat(64) }), "ERR_NOT_FOUND");
    assert!(denied.contains("search"), "{denied}");
    client.refused("get", json!({ "address": "xyz" }), "ERR_HASH_LENGTH");
}

#[test]
fn a_sealed_person_stays_locked_and_the_model_is_told_what_is_missing() {
    use std::sync::Arc;

    use grainstore::Options;
    use grainstore::crypto::KeySource;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    std::fs::write(&path, [7; 32]).unwrap();
    let key = KeySource::File(path);
    let options = Options {
        master_key: Some(Arc::new(key)),
        ..Options::default()
    };
    let store = Store::in_memory(options).unwrap();
    store.admin().unwrap().vault().add(&["mira"]).unwrap();
    store.admin().unwrap().unlock("mira").unwrap();
    let mut client = Client::new(Scope::owner(store.clone()).of_user("mira"));
    let address = client.note("a secret of mira");
    store.admin().unwrap().lock("mira").unwrap();
    let said = client.refused("remember", json!({ "text": "more" }), "ERR_LOCKED");
    assert!(said.contains("--unlock"), "{said}");
    let found = client.call("recall", json!({ "question": "secret" }));
    assert!(!found.to_string().contains("a secret"), "{found}");
    let got = client.call("get", json!({ "address": address }));
    assert!(!got.to_string().contains("a secret"), "{got}");
    store.admin().unwrap().unlock("mira").unwrap();
    assert_eq!(
        client.ok("recall", json!({ "question": "secret" }))["found"],
        1
    );
}
