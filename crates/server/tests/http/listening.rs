//! Where a server listens, how much it takes at a time, and when it lets go of a follower. The tests
//! of whole processes are those of the command.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use grainstore_server::http::{Grant, Limits, Operation, ServeError, Serving};
use serde_json::json;
use tokio_stream::StreamExt;
use tower::ServiceExt;

use crate::{ACTOR, Server, event};

#[test]
fn a_server_listens_beyond_this_machine_only_behind_a_proxy() {
    for at in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let told = Serving::on(at.parse().unwrap(), false).unwrap_err();
        assert!(matches!(told, ServeError::Exposed { .. }), "{told}");
        assert!(told.to_string().contains("--behind-proxy"), "{told}");
    }
    assert!(Serving::on("127.0.0.1:0".parse().unwrap(), false).is_ok());
    assert!(Serving::on("0.0.0.0:0".parse().unwrap(), true).is_ok());
}

#[test]
fn each_limit_has_its_status_and_says_when_to_come_again() {
    let usual = Limits::default;
    let limits = [
        (
            429,
            "/v1/token",
            Limits {
                requests_of_token: 0,
                ..usual()
            },
        ),
        (
            503,
            "/v1/changes",
            Limits {
                feeds: 0,
                ..usual()
            },
        ),
        (
            503,
            "/v1/token",
            Limits {
                requests: 0,
                ..usual()
            },
        ),
    ];
    for (status, path, limits) in limits {
        let server = Server::with(limits, None);
        let told = server.get(&server.all(), path).expect(status);
        assert_eq!(told.code(), "ERR_BUSY");
        assert_eq!(told.headers["retry-after"], "1");
        assert_eq!(told.json()["retry_after"], 1);
    }
    let server = Server::with(
        Limits {
            time: Duration::ZERO,
            ..usual()
        },
        None,
    );
    // A body that never comes: a request that is answered at once is never late.
    let ask = server.ask("POST", "/v1/grains").bearer(&server.all());
    let never = tokio_stream::pending::<Result<&str, std::io::Error>>();
    let told = ask.send(Body::from_stream(never)).expect(408);
    assert_eq!(told.code(), "ERR_TIMEOUT");
    assert_eq!(told.headers["retry-after"], "1");
    let server = Server::with(
        Limits {
            body_bytes: 10,
            ..usual()
        },
        None,
    );
    let token = server.all();
    server
        .post(&token, "/v1/grains", &event("too long"))
        .expect(413);
    // A body that does not say how long it is is read up to the limit.
    let pieces = tokio_stream::iter([Ok::<_, std::io::Error>("{\"type\":"), Ok("\"event\"}")]);
    let ask = server.ask("POST", "/v1/grains").bearer(&token);
    ask.send(Body::from_stream(pieces)).expect(413);
}

#[test]
fn a_request_that_ended_counts_no_more() {
    let server = Server::with(
        Limits {
            requests_of_token: 1,
            ..Limits::default()
        },
        None,
    );
    let token = server.all();
    for n in 0..3 {
        server
            .post(&token, "/v1/grains", &event(&n.to_string()))
            .expect(200);
        server.post(&token, "/v1/grains", &json!({})).expect(422);
    }
    let text = server.get(&token, "/metrics").expect(200).body;
    let text = std::str::from_utf8(&text).unwrap();
    for line in [
        "grainstore_http_requests_in_flight 1",
        "grainstore_grains 3",
        "grainstore_erasures_due 0",
        "grainstore_last_backup_timestamp_seconds 0",
        "grainstore_disk_free_bytes 1073741824",
        "grainstore_http_request_duration_seconds_count{method=\"POST\",route=\"/v1/grains\",status=\"200\"} 3",
        "grainstore_http_request_duration_seconds_count{method=\"POST\",route=\"/v1/grains\",status=\"422\"} 3",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
}

#[test]
fn the_dashboard_and_the_page_on_operation_name_metrics_that_there_are() {
    let server = Server::new();
    let (token, confined) = (
        server.all(),
        server.token(Grant::new(ACTOR, Operation::ALL).inside("acme")),
    );
    server.post(&token, "/v1/grains", &event("one")).expect(200);
    let text_of = |token: &str| {
        let told = server.get(token, "/metrics").expect(200).body;
        String::from_utf8(told.to_vec()).unwrap()
    };
    let text = text_of(&token);
    // A token that is confined learns nothing of the rest of the store.
    assert!(!text_of(&confined).contains("grainstore_grains"));
    let dashboard = include_str!("../../../../docs/grafana.json");
    let page = include_str!("../../../../docs/operate.md");
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    for place in [dashboard, page] {
        for (at, _) in place.match_indices("grainstore_") {
            let rest = &place[at..];
            let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
            let name = &rest[..end];
            assert!(text.contains(name), "{name}");
        }
    }
}

#[test]
fn a_stream_of_events_ends_when_its_token_is_revoked() {
    let server = Server::new();
    let token = server.all();
    let request = Request::get("/v1/changes").header("authorization", format!("Bearer {token}"));
    let request = request.body(Body::empty()).unwrap();
    server.runtime.block_on(async {
        let answer = server.app.router().oneshot(request).await.unwrap();
        let mut stream = answer.into_body().into_data_stream();
        assert_eq!(stream.next().await.unwrap().unwrap(), ": following\n\n");
        let id = server.tokens.list().unwrap().remove(0).id;
        assert!(server.tokens.revoke(&id).unwrap());
        assert!(stream.next().await.is_none());
    });
}

#[test]
fn followers_who_see_nothing_leave_the_threads_to_others() {
    let server = Server::with(
        Limits {
            threads: 2,
            ..Limits::default()
        },
        None,
    );
    let all = server.all();
    let batch: Vec<_> = (0..1_000).map(|n| event(&n.to_string())).collect();
    server
        .post(&all, "/v1/grains/batch", &json!({ "grains": batch }))
        .expect(200);
    let grant = Grant::new(ACTOR, [Operation::Read]).for_user("nobody");
    let token = server.token(grant);
    let ask = |token: &str, path: &str| {
        let request = Request::get(path).header("authorization", format!("Bearer {token}"));
        request.body(Body::empty()).unwrap()
    };
    server.runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..16 {
            let request = ask(&token, "/v1/changes?from=start");
            let answer = server.app.router().oneshot(request).await.unwrap();
            let mut stream = answer.into_body().into_data_stream();
            assert_eq!(stream.next().await.unwrap().unwrap(), ": following\n\n");
            streams.push(stream);
        }
        // One thread of two is never theirs: the other token is answered while they look.
        for _ in 0..20 {
            let request = ask(&all, "/v1/token");
            let answer = server.app.router().oneshot(request).await.unwrap();
            assert_eq!(answer.status(), 200);
        }
    });
}

#[test]
fn the_followers_of_one_token_leave_places_for_others() {
    let limits = Limits {
        feeds: 4,
        ..Limits::default()
    };
    let server = Server::with(limits, None);
    let (one, other) = (
        server.all(),
        server.token(Grant::new(ACTOR, [Operation::Read]).for_user("mira")),
    );
    let follow = |token: &str| {
        let request =
            Request::get("/v1/changes").header("authorization", format!("Bearer {token}"));
        request.body(Body::empty()).unwrap()
    };
    server.runtime.block_on(async {
        let mut open = Vec::new();
        for (token, status) in [(&one, 200), (&one, 200), (&one, 429), (&other, 200)] {
            let answer = server.app.router().oneshot(follow(token)).await.unwrap();
            assert_eq!(answer.status(), status);
            open.push(answer);
        }
    });
}

#[test]
fn a_server_with_a_certificate_speaks_tls() {
    use std::io::{Read, Write};

    use grainstore_server::http::serve;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
    use tokio_rustls::rustls::{
        ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto,
    };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/tls");
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let wrong = Serving::with_tls("127.0.0.1:0".parse().unwrap(), &key, &certificate);
    assert!(matches!(wrong, Err(ServeError::Tls { .. })));
    let serving = Serving::with_tls("127.0.0.1:0".parse().unwrap(), &certificate, &key).unwrap();
    let at = serving.address();
    let server = Server::new();
    let Server { store, tokens, .. } = server;
    let app = grainstore_server::http::App::new(store, tokens, Limits::default(), |_| {});
    // It ends with the process of the test.
    std::thread::spawn(move || serve(app, serving));
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(&certificate).unwrap())
        .unwrap();
    let provider = std::sync::Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(std::sync::Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, std::net::TcpStream::connect(at).unwrap());
    let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn files_that_do_not_come_to_an_end_leave_room_for_others() {
    let limits = Limits {
        waiting_time: Duration::ZERO,
        ..Limits::default()
    };
    let server = Server::with(limits, None);
    let (one, other) = (
        server.all(),
        server.token(Grant::new(ACTOR, Operation::ALL).for_user("mira")),
    );
    let import = |token: &str, body: Body| {
        let request = Request::post("/v1/import?format=jsonl");
        let request = request.header("authorization", format!("Bearer {token}"));
        server.app.router().oneshot(request.body(body).unwrap())
    };
    let never = || Body::from_stream(tokio_stream::pending::<Result<&str, std::io::Error>>());
    server.runtime.block_on(async {
        let waiting = [
            tokio::spawn(import(&one, never())),
            tokio::spawn(import(&one, never())),
        ];
        tokio::task::yield_now().await;
        let told = import(&one, never()).await.unwrap();
        assert_eq!(told.status(), 429);
        let mut grain = event("hello");
        grain["user_id"] = json!("mira");
        let told = import(&other, Body::from(grain.to_string())).await.unwrap();
        assert_eq!(told.status(), 200);
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
    });
}
