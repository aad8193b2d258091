//! The reach of a token, and the answers about everything outside it.

use grainstore_server::http::{Grant, Operation};
use serde_json::{Value, json};

use crate::tenants::{Tenant, USERS};
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
}

#[test]
fn a_grain_that_links_to_a_grain_out_of_reach_is_refused_whether_that_is_stored_or_not() {
    let server = Server::new();
    let [first, second, _] = USERS.map(|user| Tenant::of(&server, user, None));
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
