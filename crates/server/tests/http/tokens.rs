//! Tokens: who is let in, to what, and for how long.

use axum::body::Body;
use grainstore_server::http::{Grant, Operation, TokenFile};
use serde_json::json;

use crate::{ACTOR, Server, event};

#[test]
fn a_request_without_a_token_or_with_another_is_refused() {
    let server = Server::new();
    let token = server.all();
    let (id, secret) = token.strip_prefix("gst_").unwrap().split_once('_').unwrap();
    let wrong = [
        String::new(),
        "gst_".to_owned(),
        format!("gst_{id}_"),
        format!("gst_{id}_{}x", &secret[..42]),
        format!("gst_000000000000_{secret}"),
        secret.to_owned(),
        format!("{token}x"),
    ];
    for text in &wrong {
        let told = server.get(text, "/v1/grains/x").expect(401);
        assert_eq!(told.code(), "ERR_UNAUTHENTICATED");
        assert_eq!(told.headers["www-authenticate"], "Bearer");
    }
    let absent = server.ask("GET", "/v1/grains/x").send(Body::empty());
    absent.expect(401);
    let twice = server
        .ask("GET", "/v1/grains/x")
        .bearer(&token)
        .bearer(&token);
    twice.send(Body::empty()).expect(401);
    server.get(&token, "/v1/grains/x").expect(400);
}

#[test]
fn the_file_has_no_token_in_it_and_is_its_owners_alone() {
    let server = Server::new();
    let token = server.all();
    let text = std::fs::read_to_string(server.tokens.path()).unwrap();
    let secret = token.splitn(3, '_').nth(2).unwrap();
    assert!(!text.contains(secret), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(server.tokens.path()) & 0o777, 0o600);
        let open = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(server.tokens.path(), open).unwrap();
        let told = server.get(&token, "/metrics").expect(503);
        assert_eq!(told.code(), "ERR_TOKENS");
        assert_eq!(told.headers["retry-after"], "1");
    }
}

#[test]
fn a_revoked_token_is_refused_from_the_next_request_on() {
    let server = Server::new();
    let (kept, revoked) = (server.all(), server.all());
    server.get(&revoked, "/metrics").expect(200);
    let id = server.tokens.list().unwrap()[1].id.clone();
    assert!(server.tokens.revoke(&id).unwrap());
    server.get(&revoked, "/metrics").expect(401);
    server.get(&kept, "/metrics").expect(200);
    assert!(!server.tokens.revoke(&id).unwrap());
    std::fs::remove_file(server.tokens.path()).unwrap();
    server.get(&kept, "/metrics").expect(401);
}

#[test]
fn each_route_asks_for_its_operation() {
    let server = Server::new();
    let address = "0".repeat(64);
    let grain = format!("/v1/grains/{address}");
    let routes = [
        ("GET", "/metrics".to_owned(), Operation::Admin),
        ("GET", grain.clone(), Operation::Read),
        ("GET", format!("{grain}/exists"), Operation::Read),
        ("GET", format!("{grain}/history"), Operation::Read),
        ("POST", format!("{grain}/supersede"), Operation::Write),
        ("POST", format!("{grain}/contradict"), Operation::Write),
        ("POST", format!("{grain}/delete"), Operation::Erase),
        ("POST", "/v1/grains".to_owned(), Operation::Write),
        ("POST", "/v1/grains/batch".to_owned(), Operation::Write),
        ("POST", "/v1/grains/get".to_owned(), Operation::Read),
        ("POST", "/v1/query".to_owned(), Operation::Read),
        ("POST", "/v1/search".to_owned(), Operation::Read),
        ("POST", "/v1/recall".to_owned(), Operation::Read),
        ("POST", "/v1/cal".to_owned(), Operation::Read),
        ("POST", "/v1/cal/cancel".to_owned(), Operation::Read),
        ("POST", "/v1/cal/prepare".to_owned(), Operation::Write),
        ("POST", "/v1/cal/execute".to_owned(), Operation::Write),
        ("GET", "/v1/changes?from=never".to_owned(), Operation::Read),
        ("POST", "/v1/import".to_owned(), Operation::Import),
        ("POST", "/v1/export".to_owned(), Operation::Export),
        ("GET", "/v1/brain/export".to_owned(), Operation::Export),
        (
            "GET",
            "/v1/brain/export/stream".to_owned(),
            Operation::Export,
        ),
        ("POST", "/v1/brain/import".to_owned(), Operation::Import),
    ];
    for operation in Operation::ALL {
        let token = server.token(Grant::new(ACTOR, [operation]));
        for (method, path, needs) in &routes {
            let told = server.ask(method, path).bearer(&token).send(Body::empty());
            let is_refused = told.status == 403;
            assert_eq!(is_refused, *needs != operation, "{operation:?} {path}");
        }
    }
    for open in [
        "/healthz",
        "/readyz",
        "/v1/openapi.json",
        "/.well-known/aimem-spec",
    ] {
        server.ask("GET", open).send(Body::empty()).expect(200);
    }
}

#[test]
fn a_token_writes_as_its_actor() {
    let server = Server::new();
    let token = server.all();
    let address = server
        .post(&token, "/v1/grains", &event("hello"))
        .expect(200)
        .address();
    let grain = server.get(&token, &format!("/v1/grains/{address}")).json();
    assert_eq!(grain["grain"]["author_did"], ACTOR);
    let mut foreign = event("hello");
    foreign["author_did"] = json!("did:web:other.example");
    let told = server.post(&token, "/v1/grains", &foreign).expect(403);
    assert_eq!(told.code(), "ERR_ACCESS_DENIED");
}

#[test]
fn a_grant_that_means_nothing_makes_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::in_store(&folder.path().join("store"));
    let add = |grant| {
        let time = grainstore::Time::from_ms(1);
        file.add(grant, None, time, &grainstore::crypto::OsRandom)
    };
    assert!(add(Grant::new(ACTOR, [])).is_err());
    assert!(add(Grant::new("mira", [Operation::Read])).is_err());
    assert!(add(Grant::new(ACTOR, [Operation::Read]).for_user(" ")).is_err());
    assert!(add(Grant::new(ACTOR, [Operation::Read]).inside("")).is_err());
    assert!(!file.path().exists());
}

#[test]
fn what_several_processes_add_is_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::in_store(&folder.path().join("store"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let grant = Grant::new(ACTOR, [Operation::Read]);
                    let time = grainstore::Time::from_ms(1);
                    file.add(grant, None, time, &grainstore::crypto::OsRandom)
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(file.list().unwrap().len(), 20);
}

#[test]
fn the_log_has_no_content_and_no_token() {
    let server = Server::new();
    let token = server.all();
    server
        .post(&token, "/v1/grains", &event("a secret of mira"))
        .expect(200);
    let search = json!({ "question": "secret" });
    server.post(&token, "/v1/search", &search).expect(200);
    server.get(&token, "/v1/grains/mira").expect(400);
    server.get(&token, "/metrics?mira=1").expect(400);
    let log = server.log.lock().unwrap().join("\n");
    assert_eq!(log.lines().count(), 4, "{log}");
    let secret = token.splitn(3, '_').nth(2).unwrap();
    for word in ["secret", "mira", secret] {
        assert!(!log.contains(word), "{word}: {log}");
    }
    assert!(log.contains("\"route\":\"/v1/grains/{address}\""), "{log}");
}

#[cfg(unix)]
#[test]
fn a_link_or_a_pipe_in_the_place_of_a_file_of_tokens_is_not_used() {
    use std::os::unix::fs::symlink;
    for ending in ["", ".new", ".keys", ".lock"] {
        for is_link in [true, false] {
            let server = Server::new();
            let token = server.all();
            let mut path = server.tokens.path().as_os_str().to_owned();
            path.push(ending);
            let path = std::path::PathBuf::from(path);
            let victim = path.with_extension("victim");
            std::fs::write(&victim, "keep me").unwrap();
            drop(std::fs::remove_file(&path));
            if is_link {
                symlink(&victim, &path).unwrap();
            } else {
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    &path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
                    0,
                )
                .unwrap();
            }
            let grant = Grant::new(ACTOR, [Operation::Read]);
            let time = grainstore::Time::from_ms(1);
            let added = server
                .tokens
                .add(grant, None, time, &grainstore::crypto::OsRandom);
            assert_eq!(added.is_err(), ending != ".keys", "{ending}");
            let ask = server.ask("POST", "/v1/grains").bearer(&token);
            let told = ask
                .header("idempotency-key", "a")
                .send(event("hello").to_string());
            let is_refused = ["", ".keys"].contains(&ending);
            assert_eq!(told.status, if is_refused { 503 } else { 200 }, "{ending}");
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "keep me");
        }
    }
}

#[test]
fn tokens_beside_the_store_move_into_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("memory.grains");
    let before = TokenFile::at(folder.path().join("memory.grains.tokens"));
    let grant = Grant::new(ACTOR, [Operation::Read]);
    let time = grainstore::Time::from_ms(1);
    let made = before
        .add(grant, None, time, &grainstore::crypto::OsRandom)
        .unwrap();
    let now = TokenFile::in_store(&store);
    assert_eq!(now.list().unwrap()[0].id, made.id);
    assert!(now.path().starts_with(&store));
    assert!(!before.path().exists());
    // A store can still be made there.
    drop(grainstore::Store::open(&store, grainstore::Options::default()).unwrap());
    assert_eq!(now.list().unwrap().len(), 1);
}

#[test]
fn a_token_for_a_user_in_another_form_of_unicode_writes_for_them() {
    let server = Server::new();
    let grant = Grant::new(ACTOR, Operation::ALL).for_user("Zoe\u{308}");
    let token = server.token(grant);
    let stored = server.post(&token, "/v1/grains", &event("likes tea"));
    let address = stored.expect(200).address();
    let path = format!("/v1/grains/{address}");
    let stored = server.get(&token, &path).expect(200).json();
    assert_eq!(stored["grain"]["user_id"], "Zo\u{eb}");
    // As a file from before has it.
    let grant = json!({ "actor": ACTOR, "user": "Zoe\u{308}", "operations": ["read"] });
    let grant: Grant = serde_json::from_value(grant).unwrap();
    assert_eq!(grant.user.as_deref(), Some("Zo\u{eb}"));
}
