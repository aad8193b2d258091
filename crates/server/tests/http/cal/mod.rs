//! CAL over HTTP: changes in two phases, the switches of the operator, the media types.

use std::sync::Arc;

use grainstore_cal::Host;
use grainstore_server::http::{App, Grant, Limits, Operation};
use serde_json::{Value, json};

use crate::{ACTOR, Server, Told, belief};

const ADD: &str = "ADD belief SET subject = \"mira\" SET relation = \"mg:prefers\" \
    SET object = $what REASON \"she said so\"";

fn prepared(server: &Server, token: &str, cal: &str) -> Told {
    let body = json!({ "cal": cal, "parameters": { "what": "tea" } });
    server.post(token, "/v1/cal/prepare", &body)
}

fn capability(told: &Told) -> String {
    told.json()["token"].as_str().unwrap().to_owned()
}

fn executed(server: &Server, token: &str, capability: &str) -> Told {
    server.post(token, "/v1/cal/execute", &json!({ "token": capability }))
}

#[test]
fn a_change_is_prepared_and_made_once_by_the_caller_who_prepared_it() {
    let server = Server::new();
    let token = server.all();
    let other = server.token(Grant::new(ACTOR, Operation::ALL).for_user("mira"));
    let told = prepared(&server, &token, ADD).expect(200);
    assert_eq!(told.json()["plan"]["operation"], "add");
    assert_eq!(told.json()["tier"], 1);
    let count = |cal: &str| {
        server
            .post(&token, "/v1/cal", &json!({ "cal": cal }))
            .json()
    };
    assert_eq!(count("RECALL | COUNT")["count"], 0);

    let capability = capability(&told);
    let forged = format!("{capability}x");
    for (who, what) in [(&other, &capability), (&token, &forged)] {
        assert_eq!(executed(&server, who, what).expect(403).code(), "CAL-E044");
    }
    let made = executed(&server, &token, &capability).expect(200).json();
    assert_eq!(made["_cal"]["tier"], 1);
    let address = made["content_address"].as_str().unwrap();
    let again = executed(&server, &token, &capability).expect(403);
    assert_eq!(again.code(), "CAL-E044");
    let grain = server.get(&token, &format!("/v1/grains/{address}")).json();
    assert_eq!(grain["grain"]["author_did"], ACTOR);
    assert_eq!(grain["grain"]["x_reason"], "she said so");
    assert_eq!(grain["grain"]["object"], "tea");

    let change = format!(
        "SUPERSEDE sha256:{} SET object = \"coffee\" REASON \"r\"",
        &address[..10]
    );
    let told = prepared(&server, &token, &change).expect(200);
    let made = executed(&server, &token, &self::capability(&told)).expect(200);
    assert_eq!(made.json()["supersedes"], address);
    let late = prepared(&server, &token, &change).expect(409);
    assert_eq!(late.code(), "CAL-E040");
}

#[test]
fn a_change_reaches_no_further_than_the_token_of_its_caller() {
    let server = Server::new();
    let all = server.all();
    let mira = server.token(Grant::new(ACTOR, Operation::ALL).for_user("mira"));
    let two = Grant::new(ACTOR, Operation::ALL)
        .inside("acme")
        .inside("home");
    let two = server.token(two);
    let reader = server.token(Grant::new(ACTOR, [Operation::Read]));
    let theirs = server.post(&all, "/v1/grains", &belief("bob", "beer"));
    let theirs = theirs.expect(200).address();
    let change = format!("SUPERSEDE sha256:{theirs} SET object = \"wine\" REASON \"r\"");
    assert_eq!(
        prepared(&server, &mira, &change).expect(404).code(),
        "CAL-E046"
    );
    prepared(&server, &reader, ADD).expect(403);

    let told = prepared(&server, &mira, ADD).expect(200);
    let made = executed(&server, &mira, &capability(&told))
        .expect(200)
        .json();
    let path = format!("/v1/grains/{}", made["content_address"].as_str().unwrap());
    assert_eq!(server.get(&all, &path).json()["grain"]["user_id"], "mira");

    let body = json!({ "cal": ADD, "parameters": { "what": "tea" }, "namespace": "acme" });
    let told = server.post(&two, "/v1/cal/prepare", &body).expect(200);
    let elsewhere = json!({ "token": capability(&told), "namespace": "home" });
    let refused = server.post(&two, "/v1/cal/execute", &elsewhere).expect(403);
    assert_eq!(refused.code(), "CAL-E045");
    let there = json!({ "token": capability(&told), "namespace": "acme" });
    server.post(&two, "/v1/cal/execute", &there).expect(200);
}

#[test]
fn no_change_ends_a_review_or_goes_around_a_policy() {
    let server = Server::new();
    let token = server.all();
    let mut waits = belief("mira", "tea");
    waits["requires_human_review"] = json!(true);
    let mut locked = belief("joris", "tea");
    locked["invalidation_policy"] = json!({ "mode": "locked" });
    for (grain, code) in [
        (waits, "ERR_REVIEW_REQUIRED"),
        (locked, "ERR_INVALIDATION_DENIED"),
    ] {
        let told = server.post(&token, "/v1/grains", &grain);
        let address = told.expect(200).address();
        let change = format!("SUPERSEDE sha256:{address} SET object = \"wine\" REASON \"r\"");
        let told = prepared(&server, &token, &change);
        let told = match told.status {
            200 => executed(&server, &token, &capability(&told)),
            _ => told,
        };
        assert_eq!(told.expect(403).code(), code);
    }
}

#[test]
fn an_actor_adds_twenty_grains_in_a_minute() {
    let server = Server::new();
    let token = server.all();
    for n in 0..21 {
        let body = json!({ "cal": ADD, "parameters": { "what": format!("tea {n}") } });
        let told = server.post(&token, "/v1/cal/prepare", &body).expect(200);
        let made = executed(&server, &token, &capability(&told));
        match n {
            20 => assert_eq!(made.expect(429).code(), "CAL-E052"),
            _ => drop(made.expect(200)),
        }
    }
    let other = server.all();
    let told = prepared(&server, &other, ADD).expect(200);
    executed(&server, &other, &capability(&told)).expect(200);
}

#[test]
fn the_operator_switches_changes_off_or_all_of_it() {
    let server = Server::new();
    let token = server.all();
    let app = |host: Option<Host>| {
        let app = App::new(
            server.store.clone(),
            server.tokens.clone(),
            Limits::default(),
            |_: &str| (),
        );
        Arc::new(app.with_cal(host))
    };
    let post = |app: &Arc<App>, path: &str, body: &Value| {
        let ask = server.ask("POST", path).bearer(&token);
        let ask = ask.header("content-type", "application/json");
        ask.send_to(app, body.to_string())
    };
    let recall = json!({ "cal": "RECALL" });
    let change = json!({ "cal": ADD, "parameters": { "what": "tea" } });
    let reading = app(Some(Host::default()));
    post(&reading, "/v1/cal", &recall).expect(200);
    let refused = post(&reading, "/v1/cal/prepare", &change).expect(403);
    assert_eq!(refused.code(), "CAL-E044");
    let off = app(None);
    for (path, body) in [("/v1/cal", &recall), ("/v1/cal/prepare", &change)] {
        assert_eq!(post(&off, path, body).expect(503).code(), "ERR_CAL_OFF");
    }
}

#[test]
fn a_statement_comes_and_an_answer_goes_in_both_media_types() {
    let server = Server::new();
    let token = server.all();
    server
        .post(&token, "/v1/grains", &belief("mira", "tea"))
        .expect(200);
    let ask = |media: &str, accept: &str, body: &str| {
        let ask = server.ask("POST", "/v1/cal").bearer(&token);
        let ask = ask.header("content-type", media).header("accept", accept);
        ask.send(body.to_owned())
    };
    let statement = "RECALL beliefs ABOUT \"mira\" AS sml";
    let told = ask("text/cal", "*/*", statement).expect(200);
    assert_eq!(told.headers["content-type"], "text/cal; charset=utf-8");
    let text = String::from_utf8(told.body.to_vec()).unwrap();
    assert!(text.starts_with("<belief subject=\"mira\""), "{text}");
    let told = ask("text/cal; charset=utf-8", "application/json+cal", statement).expect(200);
    assert_eq!(told.headers["content-type"], "application/json+cal");
    assert_eq!(told.json()["formatted"], text.as_str());
    let form = json!({ "statement": "recall", "about": "mira", "as": "sml" }).to_string();
    let told = ask("application/json+cal", "text/cal", &form).expect(200);
    assert_eq!(told.body, text.as_bytes());
    let told = ask("text/cal", "", "RECALL \"x\"").expect(400);
    assert_eq!(told.json()["position"]["start"], 7);
    assert_eq!(
        ask("text/cal", "", "RECALL | COUNT").expect(200).json()["count"],
        1
    );
    ask("text/plain", "", "RECALL").expect(415);
}

#[test]
fn an_assembly_is_streamed_as_events_that_name_it() {
    let server = Server::new();
    let token = server.all();
    server
        .post(&token, "/v1/grains", &belief("mira", "tea"))
        .expect(200);
    let stream = json!({ "cal": "ASSEMBLE FROM (RECALL beliefs) STREAM" });
    let told = server.post(&token, "/v1/cal", &stream).expect(200);
    assert_eq!(told.headers["content-type"], "text/event-stream");
    let text = String::from_utf8(told.body.to_vec()).unwrap();
    assert!(
        text.starts_with("id: 1\nevent: assembly_started\ndata: {"),
        "{text}"
    );
    assert!(
        text.contains("mira prefers tea") || text.contains("<belief subject"),
        "{text}"
    );
    let mut ids: Vec<String> = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let data: Value = serde_json::from_str(line).unwrap();
        ids.push(data["assembly_id"].as_str().unwrap().to_owned());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "{text}");
    // It has ended, so that there is nothing to cancel.
    let cancel = json!({ "assembly_id": ids[0] });
    server.post(&token, "/v1/cal/cancel", &cancel).expect(404);

    let again = server.ask("POST", "/v1/cal").bearer(&token);
    let again = again.header("content-type", "application/json");
    let again = again.header("last-event-id", "3").send(stream.to_string());
    assert_eq!(again.expect(410).code(), "CAL-E081");
    let wrong = json!({ "cal": "ASSEMBLE FROM (RECALL facts) STREAM" });
    let told = server.post(&token, "/v1/cal", &wrong).expect(400);
    assert_eq!(told.code(), "CAL-E003");
}

#[test]
fn an_agent_changes_by_the_tool_that_is_there_where_changes_are_enabled() {
    let server = Server::new();
    let token = server.all();
    let listed = server.mcp(&token, "tools/list", json!({})).expect(200);
    let listed = crate::mcp::message(&listed)["result"]["tools"].clone();
    let has = |tools: &Value| {
        tools
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["name"] == "change")
    };
    assert!(has(&listed), "{listed}");
    let prepare = json!({ "statement": ADD, "parameters": { "what": "tea" } });
    let told = server.tool(&token, "change", &prepare);
    let capability = told["structuredContent"]["token"].as_str().unwrap();
    assert_eq!(told["structuredContent"]["plan"]["operation"], "add");
    let made = server.tool(&token, "change", &json!({ "token": capability }));
    let address = made["structuredContent"]["address"].as_str().unwrap();
    server
        .get(&token, &format!("/v1/grains/{address}"))
        .expect(200);
    let again = server.tool(&token, "change", &json!({ "token": capability }));
    assert_eq!(again["_meta"]["error"]["code"], "CAL-E044");
    let reader = server.token(Grant::new(ACTOR, [Operation::Read]));
    let refused = server.tool(&reader, "change", &prepare);
    assert_eq!(refused["_meta"]["error"]["code"], "ERR_ACCESS_DENIED");
}
