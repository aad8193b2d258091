//! Requests that no client would send: none breaks the server, and none is answered with 500.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request};
use proptest::prelude::*;
use tower::ServiceExt;

use crate::Server;

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"];

const PATHS: [&str; 38] = [
    "/healthz",
    "/metrics",
    "/v1/openapi.json",
    "/v1/grains",
    "/v1/grains/batch",
    "/v1/grains/get",
    "/v1/grains/{}",
    "/v1/grains/{}/exists",
    "/v1/grains/{}/history",
    "/v1/grains/{}/supersede",
    "/v1/grains/{}/contradict",
    "/v1/grains/{}/delete",
    "/v1/grains/{}/protection",
    "/v1/token",
    "/v1/groups",
    "/v1/growth",
    "/v1/persons/report",
    "/v1/persons/erase",
    "/v1/persons/alias",
    "/v1/audit",
    "/v1/conflicts",
    "/v1/conflicts/settle",
    "/mcp",
    "/mcp?{}",
    "/v1/query",
    "/v1/search",
    "/v1/recall",
    "/v1/cal",
    "/v1/cal/prepare",
    "/v1/cal/cancel",
    "/v1/cal/execute",
    "/v1/changes?from={}",
    "/v1/import?format={}",
    "/v1/export",
    "/v1/brain/export?scope={}",
    "/v1/brain/export/stream?{}",
    "/v1/brain/import",
    "/{}",
];

const HEADERS: [&str; 11] = [
    "content-type",
    "content-length",
    "last-event-id",
    "idempotency-key",
    "aimem-signature",
    "authorization",
    "accept",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "x-anything",
];

/// Text that stands where an address, a name or a number is expected.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0".repeat(64)),
        Just("jsonl".to_owned()),
        Just("SINCE&since=x".to_owned()),
        "[0-9a-f]{0,70}",
        "(%[0-9a-f]{2}|[a-z/?&=.]){0,20}",
    ]
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let names = prop::sample::select(vec![
        "type",
        "content",
        "grains",
        "grain",
        "addresses",
        "filter",
        "limit",
        "cursor",
        "sort",
        "text",
        "question",
        "budget",
        "format",
        "reason",
        "authority",
        "blob",
        "envelope",
        "address",
        "justification",
        "subject",
        "relation",
        "object",
        "confidence",
        "created_at",
        "since",
        "derived_from",
        "user_id",
        "namespace",
        "chunks",
        "version",
        "checksum",
        "tags",
        "user",
        "also",
        "preview",
        "keep",
        "after",
        "with_snippets",
        "jsonrpc",
        "method",
        "params",
        "id",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "\\PC{0,12}".prop_map(Into::into),
        Just("event".into()),
        Just("belief".into()),
        Just("0".repeat(64).into()),
    ];
    leaf.prop_recursive(4, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::vec((names.clone(), inner), 0..8).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                serde_json::Value::Object(members.collect())
            }),
        ]
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => json().prop_map(|value| value.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
        1 => Just(b"[".repeat(5_000)),
        1 => json().prop_map(|value| format!("{value}\n{value}").into_bytes()),
    ]
}

/// `just hostile` sends many times as many.
#[expect(
    clippy::disallowed_methods,
    reason = "another length of a campaign is no reason to build it again"
)]
fn cases() -> u32 {
    let times = std::env::var("GRAINSTORE_TIMES");
    8 * times.map_or(1, |times| times.parse::<u32>().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_is_answered_with_a_failure_of_the_server(
        requests in prop::collection::vec(
            (
                prop::sample::select(&METHODS[..2]),
                prop::sample::select(&PATHS[..]),
                word(),
                prop::collection::vec(
                    (
                        prop::sample::select(&HEADERS[..]),
                        prop::collection::vec(
                            prop_oneof![0x20..0x7f_u8, Just(b'\t'), 0x80..=0xff_u8], 0..20,
                        ),
                    ),
                    0..3,
                ),
                body(),
            ),
            80,
        ),
    ) {
        let server = Server::new();
        let token = server.all();
        for (method, path, word, headers, body) in requests {
            let uri = path.replace("{}", &word);
            let mut request = Request::builder().method(method).uri(&uri);
            request = request.header("authorization", format!("Bearer {token}"));
            for (name, value) in headers {
                if let Ok(value) = HeaderValue::from_bytes(&value) {
                    request = request.header(HeaderName::from_static(name), value);
                }
            }
            // What is no request at all is refused before it reaches a route.
            let Ok(request) = request.body(Body::from(body)) else { continue };
            let answer = server.runtime.block_on(async {
                let answer = server.app.router().oneshot(request).await.unwrap();
                let (parts, body) = answer.into_parts();
                let is_feed = parts.headers.get("content-type")
                    .is_some_and(|it| it == "text/event-stream");
                if !is_feed {
                    axum::body::to_bytes(body, usize::MAX).await.unwrap();
                }
                parts.status.as_u16()
            });
            prop_assert!(answer < 500, "{method} {uri}: {answer}");
        }
    }
}

#[test]
fn other_methods_are_answered_too() {
    let server = Server::new();
    let token = server.all();
    for method in METHODS {
        for path in PATHS {
            let path = path.replace("{}", "x");
            let told = server.ask(method, &path).bearer(&token).send(Body::empty());
            assert!(told.status < 500, "{method} {path}: {}", told.status);
        }
    }
}
