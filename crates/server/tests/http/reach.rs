//! The reach of a token, and the answers about everything outside it.

use std::sync::Arc;

use grainstore::crypto::KeySource;
use grainstore::ledger::{Disk, EntryId, Kind, Ledger, MemoryDisk};
use grainstore::{ContentAddress, Options, Store};
use grainstore_server::http::{Grant, Limits, Operation};
use serde_json::{Value, json};

use crate::tenants::Tenant;
use crate::{ACTOR, Server, belief, event};

#[test]
fn what_waits_for_review_is_in_no_history_and_no_program_replaces_it() {
    let server = Server::new();
    let token = server.all();
    let reasoning = |conclusion: &str, waits: bool| {
        json!({
            "type": "reasoning", "conclusion": conclusion, "requires_human_review": waits,
            "created_at": 1_768_471_200_000_i64,
        })
    };
    let old = server.post(&token, "/v1/grains", &reasoning("deny the loan", true));
    let old = old.expect(200).address();
    let path = format!("/v1/grains/{old}");
    for question in ["", "/history"] {
        let told = server.get(&token, &format!("{path}{question}")).expect(403);
        assert_eq!(told.code(), "ERR_REVIEW_REQUIRED");
    }
    for waits in [json!(false), Value::Null] {
        let mut new = reasoning("grant it", true);
        new["requires_human_review"] = waits;
        if new["requires_human_review"].is_null() {
            new.as_object_mut().unwrap().remove("requires_human_review");
        }
        let new = json!({ "grain": new });
        let told = server
            .post(&token, &format!("{path}/supersede"), &new)
            .expect(403);
        assert_eq!(told.code(), "ERR_REVIEW_REQUIRED");
    }
    let new = json!({ "grain": reasoning("grant it", true) });
    server
        .post(&token, &format!("{path}/supersede"), &new)
        .expect(200);
}

#[test]
fn a_sealed_grain_answers_to_the_hash_of_its_ciphertext_while_unlocked() {
    // OMS 20.2.
    let disk = Arc::new(MemoryDisk::default());
    let options = Options {
        master_key: Some(Arc::new(KeySource::Callback(Box::new(|| {
            Ok(vec![7; 32].into())
        })))),
        ..Options::default()
    };
    let store = Store::open_on(Arc::clone(&disk) as Arc<dyn Disk>, options).unwrap();
    store.admin().unwrap().vault().add(&["mira"]).unwrap();
    store.admin().unwrap().unlock("mira").unwrap();
    let id = store.maintenance().unwrap().stats().unwrap().store_id;
    let server = Server::of(store, Limits::default(), None);
    let token = server.all();
    let mut own = belief("mira", "tea");
    own["user_id"] = json!("mira");
    let address = server
        .post(&token, "/v1/grains", &own)
        .expect(200)
        .address();
    let (ledger, _) = Ledger::open_to_read(disk, id, |_| Vec::new()).unwrap();
    let last = ledger.read(EntryId::new(ledger.len() - 1)).unwrap();
    assert_eq!(last.header.kind, Kind::SealedGrain);
    let ciphertext = ContentAddress::of(&last.body);
    let path = format!("/v1/grains/{ciphertext}");
    let told = server.get(&token, &path).expect(200);
    assert_eq!(told.json()["address"], json!(address));
    let both = json!({ "addresses": [ciphertext.to_string(), address] });
    let told = server.post(&token, "/v1/grains/get", &both).expect(200);
    let told = told.json();
    assert_eq!(told["grains"][0]["address"], json!(address), "{told}");
    assert_eq!(told["grains"][1]["address"], json!(address), "{told}");
    let client = Grant::new(ACTOR, Operation::ALL).for_user("sol");
    server.get(&server.token(client), &path).expect(404);
    server.store.admin().unwrap().lock("mira").unwrap();
    let locked = server.get(&token, &path).expect(404);
    let own = server.get(&token, &format!("/v1/grains/{address}"));
    assert_eq!(locked.code(), own.expect(404).code());
}

#[test]
fn what_replaced_a_grain_is_named_only_within_reach() {
    let server = Server::new();
    let all = server.all();
    let mira = server.token(Grant::new(ACTOR, Operation::ALL).for_user("mira"));
    let mut own = belief("mira", "tea");
    own["user_id"] = json!("mira");
    let old = server.post(&all, "/v1/grains", &own).expect(200).address();
    let path = format!("/v1/grains/{old}");
    let new = json!({ "grain": belief("mira", "coffee") });
    let new = server
        .post(&all, &format!("{path}/supersede"), &new)
        .expect(200)
        .address();
    let told = server.get(&mira, &path).expect(200);
    assert_eq!(told.json()["status"]["current"], false);
    assert_eq!(told.json()["status"]["superseded_by"], Value::Null);
    let query = json!({ "filter": { "superseded": true } });
    for (route, body) in [
        ("/v1/query", query),
        ("/v1/persons/report", json!({ "user": "mira" })),
    ] {
        let told = server.post(&mira, route, &body).expect(200);
        assert!(
            !String::from_utf8_lossy(&told.body).contains(&new),
            "{route}"
        );
    }
    let told = server.get(&mira, &format!("{path}/history")).expect(200);
    assert!(!String::from_utf8_lossy(&told.body).contains(&new));
    for (tool, arguments) in [
        ("get", json!({ "address": old })),
        ("history", json!({ "address": old })),
        ("report", json!({ "user": "mira" })),
        ("query", json!({ "filter": { "superseded": true } })),
    ] {
        let told = server.tool(&mira, tool, &arguments).to_string();
        assert!(!told.contains(&new[..8]), "{tool}: {told}");
    }
    let read = json!({ "uri": format!("grain://{old}") });
    let told = server.mcp(&mira, "resources/read", read);
    assert!(!String::from_utf8_lossy(&told.body).contains(&new[..8]));
}

#[test]
fn a_grain_that_links_to_a_grain_out_of_reach_is_refused_whether_that_is_stored_or_not() {
    let server = Server::new();
    let [first, second] = [0, 1].map(|n| Tenant::of(&server, n, false));
    let secret = belief("mira", "tea");
    let secret = server
        .post(&first.token, "/v1/grains", &secret)
        .expect(200)
        .address();
    for address in [secret, "0".repeat(64)] {
        for links in [
            json!({ "derived_from": [address] }),
            json!({ "related_to": [{ "hash": address, "relation_type": "supports" }] }),
            json!({ "context": { "seen": format!("mg:sha256:{address}") } }),
        ] {
            let mut grain = belief("mira", "coffee");
            for (name, value) in links.as_object().unwrap() {
                grain[name] = value.clone();
            }
            let told = server.post(&second.token, "/v1/grains", &grain).expect(404);
            assert_eq!(told.code(), "ERR_NOT_FOUND");
        }
    }
}

#[test]
fn an_import_passes_the_rules_of_a_put_and_every_entry_names_its_token() {
    let server = Server::new();
    let all = server.all();
    let rogue = "did:web:rogue.example";
    let token = server.token(Grant::new(rogue, [Operation::Import, Operation::Erase]));
    let import = |grain: &Value| {
        let ask = server.ask("POST", "/v1/import?format=jsonl").bearer(&token);
        ask.send(grain.to_string())
    };
    let mut foreign = event("in the name of another");
    foreign["author_did"] = json!(ACTOR);
    let told = import(&foreign).expect(403);
    assert_eq!(told.code(), "ERR_ACCESS_DENIED");
    // Nobody but a party withdraws a consent.
    let consent = json!({
        "type": "consent", "subject_did": "did:web:mira.example", "grantee_did": ACTOR,
        "scope": "memory", "is_withdrawal": true, "created_at": 1_768_471_200_000_i64,
    });
    let told = import(&consent);
    let inserted = told.lines().pop().unwrap()["summary"]["inserted"].clone();
    assert!(told.status != 200 || inserted != 1, "{told:?}");
    // A record without an author is the actor's, as one that is put.
    let told = import(&event("hello")).expect(200);
    let summary = told.lines().pop().unwrap();
    assert_eq!(summary["summary"]["inserted"], 1, "{summary}");
    let told = server
        .post(&all, "/v1/query", &json!({}))
        .expect(200)
        .json();
    let grain = &told["results"][0];
    assert_eq!(grain["grain"]["author_did"], rogue);
    let address = grain["content_address"].as_str().unwrap();
    let why = json!({ "reason": "asked for", "authority": "mira" });
    let path = format!("/v1/grains/{address}/delete");
    server.post(&token, &path, &why).expect(200);
    let id = server.tokens.list().unwrap()[1].id.clone();
    let log = server
        .post(&all, "/v1/audit", &json!({ "by": rogue }))
        .expect(200)
        .json();
    let entries = log["entries"].as_array().unwrap();
    for operation in ["import", "erase"] {
        let found = entries.iter().find(|it| it["operation"] == operation);
        assert_eq!(found.unwrap()["token"], *id, "{operation}: {log}");
    }
}

const VICTIM: &str = "did:web:victim.example";

/// A delegation from one author to another, for the namespaces that are given.
fn delegation(from: &str, to: &str, namespaces: &[&str]) -> Value {
    json!({
        "type": "goal", "description": "work together", "goal_state": "active",
        "namespace": "shared", "subject": from, "relation": "mg:delegates_to", "object": to,
        "author_did": from, "delegation_depth": 0, "authorized_namespaces": namespaces,
        "created_at": 1_768_471_200_000_i64,
    })
}

/// Stores a grain over HTTP and another over MCP; returns the codes of the refusals.
fn stored(server: &Server, token: &str, namespace: &str, content: &str) -> [Option<String>; 2] {
    let mut grain = event(content);
    grain["namespace"] = json!(namespace);
    let told = server.post(token, "/v1/grains", &grain);
    let by_http = (told.status != 200).then(|| told.code());
    grain["content"] = json!(format!("{content}, over MCP"));
    let told = server.tool(token, "remember", &json!({ "grain": grain }));
    let code = &told["_meta"]["error"]["code"];
    let by_mcp = (told["isError"] == true).then(|| code.as_str().unwrap().to_owned());
    [by_http, by_mcp]
}

#[test]
fn a_delegation_of_one_tenant_neither_locks_nor_frees_the_agent_of_another() {
    let denied = [(); 2].map(|()| Some("ERR_ACCESS_DENIED".to_owned()));
    let rogue = "did:web:rogue.example";
    for is_over_mcp in [false, true] {
        let server = Server::new();
        let of = |actor: &str, user: &str| {
            let write = [Operation::Read, Operation::Write];
            server.token(Grant::new(actor, write).for_user(user))
        };
        let (rogues, victims) = (of(rogue, "mallory"), of(VICTIM, "mira"));
        let delegate = |to: &str, types: &[u8]| {
            let mut grain = delegation(rogue, to, &["shared"]);
            grain["authorized_types"] = json!(types);
            if is_over_mcp {
                let told = server.tool(&rogues, "remember", &json!({ "grain": grain }));
                assert_eq!(told["isError"], false, "{told}");
            } else {
                server.post(&rogues, "/v1/grains", &grain).expect(200);
            }
        };
        // Nobody delegated to the victim, who writes where she likes, and still does.
        delegate(VICTIM, &[7]);
        assert_eq!(stored(&server, &victims, "shared", "hello"), [None, None]);
        // For the rogue's person it binds.
        let inside = of(VICTIM, "mallory");
        assert_eq!(stored(&server, &inside, "shared", "hello"), denied);

        // One that the owner restricted is not freed by another tenant.
        let restricted = "did:web:restricted.example";
        let all = server.all();
        let grain = delegation(ACTOR, restricted, &["shared:room"]);
        let address = server
            .post(&all, "/v1/grains", &grain)
            .expect(200)
            .address();
        let address = address.parse().unwrap();
        let vouched = grainstore::grain::Verification::Verified;
        server
            .store
            .set_verification(&address, vouched, None)
            .unwrap();
        let restricted_one = of(restricted, "mira");
        assert_eq!(
            stored(&server, &restricted_one, "shared:room", "in"),
            [None, None]
        );
        assert_eq!(stored(&server, &restricted_one, "shared", "out"), denied);
        delegate(restricted, &[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            stored(&server, &restricted_one, "shared", "still out"),
            denied
        );
        assert_eq!(
            stored(&server, &restricted_one, "shared:room", "still in"),
            [None, None]
        );
    }
}

#[test]
fn a_file_of_any_format_brings_no_more_than_its_actor_may_put() {
    let server = Server::new();
    let all = server.all();
    let person = "44444444-4444-4444-4444-444444444444";
    let token = server.token(Grant::new(VICTIM, Operation::ALL).for_user(person));
    // The owner lets the actor write goals alone.
    let mut only_goals = delegation(ACTOR, VICTIM, &["shared"]);
    only_goals["authorized_types"] = json!([7]);
    let address = server
        .post(&all, "/v1/grains", &only_goals)
        .expect(200)
        .address();
    let vouched = grainstore::grain::Verification::Verified;
    let address = address.parse().unwrap();
    server
        .store
        .set_verification(&address, vouched, None)
        .unwrap();
    assert!(stored(&server, &token, "shared", "tea")[0].is_some());
    let stored = |server: &Server| {
        let told = server.post(&all, "/v1/query", &json!({})).expect(200);
        told.json()["total"].as_u64().unwrap()
    };
    let before = stored(&server);
    let bundle = crate::aimem::bundle(person, 0, "tea");
    let told = server.ask("POST", "/v1/brain/import").bearer(&token);
    let told = told.send(bundle.clone());
    assert!(
        told.status == 403 || told.json()["chunks_inserted"] == 0,
        "{told:?}"
    );
    for (format, body) in [("aimem", bundle), ("jsonl", event("tea").to_string())] {
        let path = format!("/v1/import?format={format}");
        let told = server.ask("POST", &path).bearer(&token).send(body);
        let last = told.lines().pop().unwrap();
        assert!(
            told.status == 403 || last["summary"]["inserted"] == 0,
            "{told:?}"
        );
    }
    assert_eq!(stored(&server), before);
}

#[test]
fn a_file_delegates_no_further_than_the_namespace_of_its_token() {
    let server = Server::new();
    let token = server.token(Grant::new(VICTIM, Operation::ALL).inside("shared"));
    for (namespaces, is_admitted) in [(&["shared:room"][..], true), (&["elsewhere"], false)] {
        let grain = delegation(VICTIM, ACTOR, namespaces);
        let ask = server.ask("POST", "/v1/import?format=jsonl");
        let told = ask.bearer(&token).send(grain.to_string());
        assert_eq!(told.status == 200, is_admitted, "{told:?}");
        let told = server.post(&token, "/v1/grains", &grain);
        assert_eq!(told.status == 200, is_admitted, "{told:?}");
    }
}

#[test]
fn a_statement_of_cal_reads_no_more_than_its_token() {
    let server = Server::new();
    let all = server.all();
    let mira = server.token(Grant::new(ACTOR, [Operation::Read]).for_user("mira"));
    let mut own = belief("mira", "tea");
    own["user_id"] = json!("mira");
    let old = server.post(&all, "/v1/grains", &own).expect(200).address();
    let mut other = belief("bob", "beer");
    other["user_id"] = json!("bob");
    let bobs = server
        .post(&all, "/v1/grains", &other)
        .expect(200)
        .address();
    let new = json!({ "grain": belief("mira", "coffee") });
    let replace = format!("/v1/grains/{old}/supersede");
    server.post(&all, &replace, &new).expect(200);

    let ask = |token: &str, cal: &str| server.post(token, "/v1/cal", &json!({ "cal": cal }));
    for (cal, of_all, of_mira) in [
        ("RECALL WITH superseded", 3, 1),
        ("RECALL WHERE user_id = \"bob\" | COUNT", 1, 0),
        ("RECALL LIKE \"beer\"", 1, 0),
        ("(RECALL) UNION (RECALL WITH superseded)", 3, 1),
    ] {
        assert_eq!(ask(&all, cal).expect(200).json()["total"], of_all, "{cal}");
        assert_eq!(
            ask(&mira, cal).expect(200).json()["total"],
            of_mira,
            "{cal}"
        );
    }
    let told = ask(&mira, "RECALL WITH superseded").json();
    assert_eq!(told["results"][0]["superseded_by"], Value::Null, "{told}");
    let exists = format!("EXISTS sha256:{}", &bobs[..10]);
    assert_eq!(ask(&all, &exists).json()["exists"], true);
    assert_eq!(ask(&mira, &exists).json()["exists"], false);
    let history = format!("HISTORY sha256:{bobs}");
    assert_eq!(ask(&mira, &history).expect(404).code(), "CAL-E046");
}

#[test]
fn a_statement_comes_as_text_or_as_json_and_is_refused_at_its_place() {
    let server = Server::new();
    let token = server.all();
    server
        .post(&token, "/v1/grains", &belief("mira", "tea"))
        .expect(200);
    let form = json!({
        "query": { "statement": "recall", "about": { "$param": "who" }, "as": "sml" },
        "parameters": { "who": "mira" },
    });
    let told = server.post(&token, "/v1/cal", &form).expect(200).json();
    assert_eq!(told["_cal"]["statement_type"], "recall");
    assert!(
        told["formatted"]
            .as_str()
            .unwrap()
            .starts_with("<belief subject=\"mira\""),
        "{told}"
    );
    let told = server
        .post(&token, "/v1/cal", &json!({ "cal": "RECALL fact" }))
        .expect(400);
    assert_eq!(told.code(), "CAL-E003");
    assert_eq!(told.json()["position"]["start"], 7);
    let change = "SUPERSEDE sha256:12345678 SET object = \"x\" REASON \"y\"";
    let told = server
        .post(&token, "/v1/cal", &json!({ "cal": change }))
        .expect(403);
    assert_eq!(told.code(), "CAL-E044");
    for wrong in [json!({}), json!({ "cal": "RECALL", "query": {} })] {
        server.post(&token, "/v1/cal", &wrong).expect(400);
    }
}
