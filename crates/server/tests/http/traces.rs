//! Spans for an OpenTelemetry collector, which is a socket here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use axum::body::Body;
use grainstore_server::http::{App, Limits, Traces};
use serde_json::{Value, json};

use crate::{Server, event};

/// Takes one request and returns its head and its body.
fn collected(listener: &TcpListener) -> (String, Value) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut len) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(text) = line.strip_prefix("content-length: ") {
            len = text.trim_end().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; len];
    reader.read_exact(&mut body).unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        .unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

#[test]
fn a_collector_gets_a_span_for_each_request_without_content() {
    let server = Server::new();
    let token = server.all();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let traces = Traces::to(&format!("http://{}/base/", listener.local_addr().unwrap())).unwrap();
    let (store, tokens) = (server.store.clone(), server.tokens.clone());
    let app = App::new(store, tokens, Limits::default(), |_| {}).with_traces(traces);
    let app = Arc::new(app);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (flags, content) in [("01", "a secret"), ("00", "not traced")] {
        let ask = server.ask("POST", "/v1/grains").bearer(&token);
        let parent = format!("00-{trace}-00f067aa0ba902b7-{flags}");
        let ask = ask.header("traceparent", &parent);
        ask.send_to(&app, event(content).to_string()).expect(200);
    }
    let ask = server.ask("GET", "/v1/grains/nothing").bearer(&token);
    ask.send_to(&app, Body::empty()).expect(400);
    let ask = server
        .ask("POST", "/mcp")
        .header("traceparent", "00-0-0-01");
    ask.send_to(&app, Body::empty()).expect(401);

    // The rest is sent when the server ends.
    let ended = std::thread::spawn(move || drop(app));
    let (head, told) = collected(&listener);
    ended.join().unwrap();
    assert!(
        head.starts_with("POST /base/v1/traces HTTP/1.1\r\n"),
        "{head}"
    );
    let scope = &told["resourceSpans"][0]["scopeSpans"][0];
    let spans = scope["spans"].as_array().unwrap();
    let names: Vec<_> = spans.iter().map(|span| &span["name"]).collect();
    assert_eq!(
        names,
        ["POST /v1/grains", "GET /v1/grains/{address}", "POST /mcp"]
    );
    assert_eq!(spans[0]["traceId"], trace);
    assert_eq!(spans[0]["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!(spans[0]["kind"], 2);
    assert!(spans[2]["parentSpanId"].is_null(), "{told}");
    let error = json!({ "key": "error.type", "value": { "stringValue": "ERR_HASH_LENGTH" } });
    assert!(spans[1]["attributes"].as_array().unwrap().contains(&error));
    let text = told.to_string();
    for secret in ["a secret", "nothing", &token] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn a_collector_that_is_not_there_holds_no_request_up() {
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let server = Server::new();
    let traces = Traces::to(&format!("http://{gone}")).unwrap();
    let (store, tokens) = (server.store.clone(), server.tokens.clone());
    let app = App::new(store, tokens, Limits::default(), |_| {}).with_traces(traces);
    let app = Arc::new(app);
    server.ask("GET", "/healthz").send_to(&app, "").expect(200);
    drop(app);
}

#[test]
fn a_collector_is_an_http_url_without_anything_that_would_change_a_request() {
    for url in [
        "https://collector.example",
        "collector:4318",
        "http://",
        "http://:4318",
        "http://user@host",
        "http://host/?x",
        "http://host/\r\nx: y",
        "http://host:99999",
    ] {
        assert!(Traces::to(url).is_err(), "{url}");
    }
    for url in [
        "http://127.0.0.1:4318",
        "http://[::1]:4318/otlp",
        "http://collector",
    ] {
        assert!(Traces::to(url).is_ok(), "{url}");
    }
}
