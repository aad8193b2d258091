//! The HTTP interface as its callers see it: requests in, statuses and documents out.
//!
//! Most tests hand requests to the router; those of connections use a socket on loopback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aimem;
#[path = "../../../../tests/attempts/mod.rs"]
mod attempts;
mod cal;
mod description;
mod doors;
mod files;
mod hostile;
mod inspector;
mod listening;
mod mcp;
mod oauth;
mod protocol;
mod reach;
mod repeated;
#[path = "../../../../tests/attempts/statements.rs"]
mod statements;
mod tenants;
mod tokens;
mod traces;

use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request};
use grainstore::crypto::{OsRandom, SigningKey};
use grainstore::{Options, Store, Time};
use grainstore_server::http::{App, Grant, Limits, Operation, TokenFile};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

const ACTOR: &str = "did:web:bot.acme.example";

/// A server over a store in memory.
struct Server {
    app: Arc<App>,
    store: Store,
    tokens: TokenFile,
    log: Arc<Mutex<Vec<String>>>,
    runtime: tokio::runtime::Runtime,
    _folder: TempDir,
}

/// A request to be sent.
struct Ask<'a> {
    server: &'a Server,
    request: axum::http::request::Builder,
}

/// An answer, read to its end.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

impl Server {
    fn new() -> Self {
        Self::with(Limits::default(), None)
    }

    fn with(limits: Limits, key: Option<SigningKey>) -> Self {
        Self::over(Options::default(), limits, key)
    }

    fn over(options: Options, limits: Limits, key: Option<SigningKey>) -> Self {
        Self::of(Store::in_memory(options).unwrap(), limits, key)
    }

    fn of(store: Store, limits: Limits, key: Option<SigningKey>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = TokenFile::in_store(&folder.path().join("memory.grains"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let app = App::new(store.clone(), tokens.clone(), limits, move |line: &str| {
            lines.lock().unwrap().push(line.to_owned());
        });
        let host = grainstore_cal::Host::with_changes().unwrap();
        let app = app.with_cal(Some(host)).measuring_disk(|| Some(1 << 30));
        let app = match key {
            Some(key) => app.signing_with(key),
            None => app,
        };
        let runtime = tokio::runtime::Builder::new_current_thread();
        Self {
            app: Arc::new(app),
            store,
            tokens,
            log,
            runtime: { runtime }.enable_all().build().unwrap(),
            _folder: folder,
        }
    }

    /// Makes a token and returns its text.
    fn token(&self, grant: Grant) -> String {
        let made = self.tokens.add(grant, None, Time::from_ms(1), &OsRandom);
        made.unwrap().text
    }

    /// Makes a token that may do everything.
    fn all(&self) -> String {
        self.token(Grant::new(ACTOR, Operation::ALL))
    }

    fn ask(&self, method: &str, path: &str) -> Ask<'_> {
        Ask {
            server: self,
            request: Request::builder().method(method).uri(path),
        }
    }

    fn get(&self, token: &str, path: &str) -> Told {
        self.ask("GET", path).bearer(token).send(Body::empty())
    }

    fn post(&self, token: &str, path: &str, body: &Value) -> Told {
        let ask = self.ask("POST", path).bearer(token);
        ask.header("content-type", "application/json")
            .send(body.to_string())
    }
}

impl Ask<'_> {
    fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    fn header(self, name: &str, value: &str) -> Self {
        Self {
            request: self.request.header(name, value),
            ..self
        }
    }

    fn send(self, body: impl Into<Body>) -> Told {
        let app = Arc::clone(&self.server.app);
        self.send_to(&app, body)
    }

    /// Sends it, and reads no body: that of a session goes on.
    fn send_head(self, body: impl Into<Body>) -> Told {
        let request = self.request.body(body.into()).unwrap();
        self.server.runtime.block_on(async {
            let answer = self.server.app.router().oneshot(request).await.unwrap();
            let (parts, body) = answer.into_parts();
            let is_stream = parts.headers.get("content-type");
            let is_stream = is_stream.is_some_and(|it| it == "text/event-stream");
            let body = match is_stream {
                true => Bytes::new(),
                false => axum::body::to_bytes(body, usize::MAX).await.unwrap(),
            };
            Told {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body,
            }
        })
    }

    /// Sends it to another server over the same store.
    fn send_to(self, app: &Arc<App>, body: impl Into<Body>) -> Told {
        let request = self.request.body(body.into()).unwrap();
        self.server.runtime.block_on(async {
            let answer = app.router().oneshot(request).await.unwrap();
            let (parts, body) = answer.into_parts();
            Told {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body: axum::body::to_bytes(body, usize::MAX).await.unwrap(),
            }
        })
    }
}

impl Told {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.body).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn code(&self) -> String {
        let body = self.json();
        let code = body.get("code").or_else(|| body.get("title")).unwrap();
        code.as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn expect(self, status: u16) -> Self {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{body}");
        self
    }

    fn address(&self) -> String {
        self.json()["address"].as_str().unwrap().to_owned()
    }
}

fn event(content: &str) -> Value {
    json!({ "type": "event", "content": content, "created_at": 1_768_471_200_000_i64 })
}

fn belief(subject: &str, object: &str) -> Value {
    json!({
        "type": "belief", "subject": subject, "relation": "likes", "object": object,
        "confidence": 0.9, "created_at": 1_768_471_200_000_i64,
    })
}
