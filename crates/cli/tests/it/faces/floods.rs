//! Floods of each kind of request by one token, while another asks: it is answered. Before that each
//! kind is asked once, which takes 256 MiB of memory at most.
//!
//! The test sends a bounded number of requests and measures nothing; `just load SECONDS` floods for a time
//! and prints how long the other waits, at fifty requests a second, and the most memory that the server
//! had.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::command::Home;
use crate::faces::load::{report, seconds};
use crate::faces::serve::{Served, answer};

/// Connections of a flood.
const FLOOD: usize = 24;

/// What the other asks where no time is given.
const QUESTIONS: u32 = 10;

/// How often it asks.
const EVERY: Duration = Duration::from_millis(20);

/// A request, and whether its body is sent in full.
struct Kind {
    name: &'static str,
    head: String,
    /// More headers, each with its end.
    headers: &'static str,
    body: String,
    is_whole: bool,
    has_token: bool,
}

impl Kind {
    fn new(name: &'static str, head: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            name,
            head: head.into(),
            headers: "",
            body: body.into(),
            is_whole: true,
            has_token: true,
        }
    }
}

/// Questions, and what is no request.
fn questions(address: &str) -> Vec<Kind> {
    let kind = |name, head: &str, body: serde_json::Value| Kind::new(name, head, body.to_string());
    let unfinished = |name, head: &str| Kind {
        is_whole: false,
        ..Kind::new(name, head, "{\"type\":\"event\"")
    };
    let many = vec![address; 1_000];
    vec![
        kind("followers", "GET /v1/changes?from=start", json!("")),
        kind("gets", "POST /v1/grains/get", json!({ "addresses": many })),
        kind("queries", "POST /v1/query", json!({ "limit": 1_000 })),
        kind(
            "searches",
            "POST /v1/search",
            json!({ "question": "umbrella", "limit": 1_000 }),
        ),
        kind(
            "recalls",
            "POST /v1/recall",
            json!({ "question": "where is the umbrella?" }),
        ),
        kind("growth", "POST /v1/growth", json!({})),
        kind("exports", "POST /v1/export", json!({ "format": "jsonl" })),
        kind(
            "reports",
            "POST /v1/persons/report",
            json!({ "user": "mira" }),
        ),
        Kind::new("histories", format!("GET /v1/grains/{address}/history"), ""),
        kind("logs", "POST /v1/audit", json!({})),
        Kind {
            has_token: false,
            ..kind("callers without a token", "POST /v1/query", json!({}))
        },
        unfinished("imports without an end", "POST /v1/import"),
        unfinished("writes without an end", "POST /v1/grains"),
        kind("what is not there", "GET /v1/nothing", json!("")),
        // Needs no token.
        kind("descriptions", "GET /v1/openapi.json", json!("")),
    ]
}

/// Requests that change something, or begin a session.
fn changes() -> Vec<Kind> {
    let kind = |name, head: &str, body: serde_json::Value| Kind::new(name, head, body.to_string());
    let record = json!({ "type": "event", "content": "umbrella", "created_at": 1 }).to_string();
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "flood", "version": "1" },
        },
    });
    vec![
        kind(
            "writes",
            "POST /v1/grains",
            json!({ "type": "event", "content": "umbrella" }),
        ),
        Kind {
            headers: "idempotency-key: one\r\n",
            ..kind(
                "writes under a key",
                "POST /v1/grains",
                json!({ "type": "event", "content": "hat" }),
            )
        },
        Kind::new(
            "imports",
            "POST /v1/import?format=jsonl",
            vec![record; 500].join("\n"),
        ),
        kind(
            "previews of erasures",
            "POST /v1/persons/erase",
            json!({ "user": "noah", "preview": true, "reason": "x", "authority": "x" }),
        ),
        Kind {
            headers: "content-type: application/json\r\n\
                      accept: application/json, text/event-stream\r\n",
            ..kind("agents", "POST /mcp", hello)
        },
    ]
}

fn send(stream: &mut TcpStream, kind: &Kind, token: &str) -> bool {
    let length = kind.body.len() + usize::from(!kind.is_whole) * 100;
    let token = if kind.has_token { token } else { "gst_unknown" };
    let request = format!(
        "{} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{}\
         content-length: {length}\r\n\r\n{}",
        kind.head, kind.headers, kind.body
    );
    stream.write_all(request.as_bytes()).is_ok()
}

/// Sends requests until the end, on connections that are opened anew when they are closed.
fn flood(at: &str, kind: &Kind, token: &str, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(at) else {
            continue;
        };
        drop(stream.set_read_timeout(Some(Duration::from_millis(500))));
        while !is_over.load(Ordering::Relaxed) && send(&mut stream, kind, token) {
            // Streams, and requests without an end, have no answer of a known length.
            if answer(&mut stream).is_none() {
                break;
            }
        }
    }
}

/// Asks as another tenant, and returns how long each question took.
fn ask(served: &Served, token: &str, address: &str) -> Vec<Duration> {
    let mut stream = TcpStream::connect(&served.at).unwrap();
    let (began, mut times) = (Instant::now(), Vec::new());
    let is_over = |n: u32| match seconds() {
        Some(time) => began.elapsed() >= time,
        None => n >= QUESTIONS,
    };
    let mut n = 0;
    while !is_over(n) {
        let due = began + EVERY * n;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let (head, body) = match n % 3 {
            0 => (format!("GET /v1/grains/{address}"), String::new()),
            1 => (
                "POST /v1/query".to_owned(),
                json!({ "limit": 5 }).to_string(),
            ),
            _ => (
                "POST /v1/search".to_owned(),
                json!({ "question": "hat", "limit": 5 }).to_string(),
            ),
        };
        let request = format!(
            "{head} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let (status, told) = answer(&mut stream).unwrap();
        assert_eq!(status, 200, "{told}");
        times.push(due.elapsed());
        n += 1;
    }
    times
}

fn put(served: &Served, token: &str, content: &str) -> String {
    let mut stream = TcpStream::connect(&served.at).unwrap();
    let body = json!({ "type": "event", "content": content });
    let kind = Kind::new("", "POST /v1/grains", body.to_string());
    assert!(send(&mut stream, &kind, token));
    let (status, told) = answer(&mut stream).unwrap();
    assert_eq!(status, 200, "{told}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    told["address"].as_str().unwrap().to_owned()
}

#[test]
fn another_token_is_answered_whatever_one_floods_with() {
    let home = Home::new();
    let all = "read,write,erase,export,import,admin";
    let served = Served::with(&home, all, &["--quiet"]);
    let other = home.ok(&[
        "token",
        "add",
        "--as",
        "did:web:other.example",
        "--user",
        "mira",
        "--allow",
        "read,write",
    ]);
    let (token, other) = (served.token.as_str(), other.trim_end());
    let mut large = String::new();
    for n in 0..200 {
        large = put(
            &served,
            token,
            &format!("umbrella {n} {}", "kitchen ".repeat(2_000)),
        );
    }
    let address = put(&served, other, "the hat is red");
    for kind in questions(&large).into_iter().chain(changes()) {
        one_request_takes_little_memory(&served, &kind, token);
    }
    for kind in questions(&large).into_iter().chain(changes()) {
        let is_over = AtomicBool::new(false);
        let began = Instant::now();
        let times = thread::scope(|scope| {
            for _ in 0..FLOOD {
                scope.spawn(|| flood(&served.at, &kind, token, &is_over));
            }
            let asked = scope.spawn(|| ask(&served, other, &address)).join();
            is_over.store(true, Ordering::Relaxed);
            asked.unwrap_or_else(|_| panic!("{}", kind.name))
        });
        if seconds().is_some() {
            report(&format!("beside {}", kind.name), began.elapsed(), times);
        }
    }
    if seconds().is_some() {
        println!("the server had at most {} KiB", peak(&served));
    }
}

/// Asks once, and holds the server to the memory that one request may take.
fn one_request_takes_little_memory(served: &Served, kind: &Kind, token: &str) {
    if kind.is_whole {
        let mut stream = TcpStream::connect(&served.at).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        assert!(send(&mut stream, kind, token));
        // A stream has no length.
        drop(answer(&mut stream));
    }
    let (peak, what) = (peak(served), kind.name);
    assert!(
        peak <= 256 << 10,
        "the server had {peak} KiB after one of the {what}"
    );
}

/// Returns the most memory that the server had, in KiB.
fn peak(served: &Served) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", served.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.unwrap_or(0)
}
