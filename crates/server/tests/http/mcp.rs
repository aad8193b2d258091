//! MCP over HTTP: the tools of a token, and sessions that belong to it.

use axum::body::Body;
use grainstore_server::http::{Grant, Operation};
use serde_json::{Value, json};

use crate::{ACTOR, Server, Told, event};

const STATELESS: &str = "2026-07-28";

impl Server {
    /// Sends a request of the revision without a handshake.
    pub(crate) fn mcp(&self, token: &str, method: &str, mut params: Value) -> Told {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        let name = params.get("name").or_else(|| params.get("uri"));
        let name = name.and_then(Value::as_str).unwrap_or("x").to_owned();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let ask = self.ask("POST", "/mcp").bearer(token);
        ask.header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", STATELESS)
            .header("mcp-method", method)
            .header("mcp-name", &name)
            .send(body.to_string())
    }

    /// Calls a tool and returns its result.
    pub(crate) fn tool(&self, token: &str, name: &str, arguments: &Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        let told = self.mcp(token, "tools/call", params).expect(200);
        message(&told)["result"].clone()
    }
}

/// Returns the response in a body, or in the one event of a stream.
pub(crate) fn message(told: &Told) -> Value {
    let text = std::str::from_utf8(&told.body).unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let data = lines.find(|line| line.contains("jsonrpc")).unwrap_or(text);
    serde_json::from_str(data).unwrap()
}

fn begin(server: &Server, token: &str) -> Told {
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let ask = server.ask("POST", "/mcp").bearer(token);
    ask.header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .send_head(hello.to_string())
}

#[test]
fn a_token_is_shown_the_tools_that_it_permits_and_is_refused_the_others() {
    let server = Server::new();
    let reader = server.token(Grant::new(ACTOR, [Operation::Read]));
    let told = server.mcp(&reader, "tools/list", json!({})).expect(200);
    let listed = message(&told)["result"]["tools"].clone();
    let names = listed.as_array().unwrap().iter();
    let names: Vec<_> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["recall", "search", "query", "cal", "get", "history"]
    );
    for (name, arguments) in [
        ("remember", json!({ "text": "x" })),
        ("forget", json!({ "address": "0".repeat(64) })),
        ("report", json!({ "user": "mira" })),
        ("memory", json!({ "command": "view", "path": "/memories" })),
    ] {
        let result = server.tool(&reader, name, &arguments);
        let code = &result["_meta"]["error"]["code"];
        assert_eq!(
            (&result["isError"], code),
            (&json!(true), &json!("ERR_ACCESS_DENIED"))
        );
    }
    let all = server.all();
    let stored = server.tool(&all, "remember", &json!({ "text": "the hat is red" }));
    assert_eq!(stored["isError"], false, "{stored}");
    let found = server.tool(&reader, "search", &json!({ "question": "hat" }));
    assert_eq!(found["structuredContent"]["total"], 1);
}

#[test]
fn a_caller_without_a_token_or_without_the_right_to_read_is_let_in_nowhere() {
    let server = Server::new();
    let writer = server.token(Grant::new(ACTOR, [Operation::Write]));
    for method in ["GET", "POST", "DELETE"] {
        let told = server.ask(method, "/mcp").send(Body::empty()).expect(401);
        assert_eq!(told.headers["www-authenticate"], "Bearer");
        server
            .ask(method, "/mcp")
            .bearer(&writer)
            .send(Body::empty())
            .expect(403);
    }
    server
        .ask("PUT", "/mcp")
        .bearer(&writer)
        .send(Body::empty())
        .expect(405);
    let several = Grant::new(ACTOR, [Operation::Read])
        .inside("acme:a")
        .inside("acme:b");
    let several = server.token(several);
    server.mcp(&several, "tools/list", json!({})).expect(400);
}

#[test]
fn a_session_belongs_to_its_token_and_ends_with_it() {
    let server = Server::new();
    let (mine, other) = (server.all(), server.all());
    let begun = begin(&server, &mine).expect(200);
    let session = begun.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let ping = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let send = |token: &str| {
        let ask = server.ask("POST", "/mcp").bearer(token);
        let ask = ask.header("host", "localhost");
        let ask = ask.header("content-type", "application/json");
        ask.header("accept", "application/json, text/event-stream")
            .header("mcp-session-id", &session)
            .send_head(ping.to_string())
    };
    send(&mine).expect(202);
    send(&other).expect(404);
    let id = mine.split('_').nth(1).unwrap();
    assert!(server.tokens.revoke(id).unwrap());
    send(&mine).expect(401);
}

#[test]
fn sessions_of_a_token_are_bounded() {
    let server = Server::new();
    let token = server.all();
    for _ in 0..64 {
        begin(&server, &token).expect(200);
    }
    assert_eq!(begin(&server, &token).expect(429).code(), "ERR_BUSY");
    begin(&server, &server.all()).expect(200);
}

#[test]
fn a_deletion_takes_a_second_call_and_the_right_to_erase() {
    let server = Server::new();
    let token = server.all();
    let address = server
        .post(&token, "/v1/grains", &event("a slip"))
        .expect(200)
        .address();
    let forget = |confirm: bool| {
        let arguments = json!({ "address": address, "confirm": confirm });
        server.tool(&token, "forget", &arguments)["structuredContent"].clone()
    };
    // A first call that says it is confirmed is not.
    assert_eq!(forget(true)["deleted"], false);
    assert_eq!(forget(true)["deleted"], true);
    server
        .get(&token, &format!("/v1/grains/{address}"))
        .expect(404);
}

/// Calls a tool in a session, and returns the text of its answer.
fn tool_in(
    server: &Server,
    (token, session): (&str, &str),
    name: &str,
    arguments: &Value,
) -> Value {
    let call = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": name, "arguments": arguments },
    });
    let ask = server.ask("POST", "/mcp").bearer(token);
    let told = ask
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-session-id", session)
        .header("mcp-protocol-version", "2025-06-18")
        .send(call.to_string());
    message(&told.expect(200))["result"].clone()
}

#[test]
fn a_preview_in_one_session_confirms_in_no_other() {
    let server = Server::new();
    let token = server.all();
    let session = || {
        let told = begin(&server, &token).expect(200);
        let id = told.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let ask = server.ask("POST", "/mcp").bearer(&token);
        ask.header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-session-id", &id)
            .send(ready.to_string())
            .expect(202);
        id
    };
    let (one, other) = (session(), session());
    let address = server
        .post(&token, "/v1/grains", &event("a secret"))
        .address();
    let deleted = |session: &str, confirm: bool| {
        let arguments = json!({ "address": address, "confirm": confirm });
        let told = tool_in(&server, (&token, session), "forget", &arguments);
        told["structuredContent"]["deleted"].clone()
    };
    assert_eq!(deleted(&one, false), false);
    assert_eq!(deleted(&other, true), false);
    assert_eq!(deleted(&one, true), true);
    // The ledger says who decided.
    let log = server.post(&token, "/v1/audit", &json!({ "operation": "erase" }));
    let log = log.expect(200).json().to_string();
    let id = server.tokens.list().unwrap()[0].id.clone();
    assert!(log.contains(ACTOR) && log.contains(&id), "{log}");
}

#[test]
fn the_open_stream_of_a_revoked_token_ends() {
    use tokio_stream::StreamExt;
    use tower::ServiceExt;
    let server = Server::new();
    let token = server.all();
    let told = begin(&server, &token).expect(200);
    let id = told.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let request = axum::http::Request::get("/mcp")
        .header("authorization", format!("Bearer {token}"))
        .header("host", "localhost")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &id);
    let request = request.body(Body::empty()).unwrap();
    server.runtime.block_on(async {
        let answer = server.app.router().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        let mut stream = answer.into_body().into_data_stream();
        let id = server.tokens.list().unwrap().remove(0).id;
        assert!(server.tokens.revoke(&id).unwrap());
        while stream.next().await.is_some() {}
    });
}

#[test]
fn a_page_of_another_host_reaches_no_agent() {
    let server = Server::new();
    let token = server.all();
    let asked = |host: &str, origin: Option<&str>| {
        let ask = server
            .ask("POST", "/mcp")
            .bearer(&token)
            .header("host", host);
        let ask = match origin {
            Some(origin) => ask.header("origin", origin),
            None => ask,
        };
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
        let ask = ask.header("content-type", "application/json");
        ask.send(call.to_string()).status
    };
    for (host, origin) in [
        ("evil.example", None),
        ("evil.example:7471", Some("http://evil.example:7471")),
        ("localhost:7471", Some("http://evil.example")),
        ("localhost:7471", Some("null")),
        ("127.0.0.1:7471", Some("http://localhost.evil.example")),
    ] {
        assert_eq!(asked(host, origin), 403, "{host} {origin:?}");
    }
    for (host, origin) in [
        ("localhost:7471", None),
        ("127.0.0.1:7471", Some("http://127.0.0.1:7471")),
        ("[::1]:7471", Some("http://localhost:6274")),
    ] {
        assert_ne!(asked(host, origin), 403, "{host} {origin:?}");
    }
}
