//! Files in and out, in the formats of the library.

use grainstore_server::http::{Grant, Operation};
use serde_json::json;

use crate::{ACTOR, Server, belief, event};

#[test]
fn what_is_exported_is_imported_elsewhere_with_its_progress() {
    let server = Server::new();
    let token = server.all();
    for n in 0..3 {
        server
            .post(&token, "/v1/grains", &event(&format!("note {n}")))
            .expect(200);
    }
    let formats = [
        ("jsonl", "application/x-ndjson"),
        ("mg", "application/octet-stream"),
    ];
    for (format, media) in formats {
        let told = server
            .post(&token, "/v1/export", &json!({ "format": format }))
            .expect(200);
        assert_eq!(told.headers["content-type"], media);
        let other = Server::new();
        let import = |token: &str| {
            let ask = other
                .ask("POST", &format!("/v1/import?format={format}"))
                .bearer(token);
            ask.send(told.body.clone()).expect(200)
        };
        let token = other.all();
        let lines = import(&token).lines();
        assert_eq!(lines[0]["records"], 3);
        assert_eq!(lines.last().unwrap()["summary"]["inserted"], 3);
        let again = import(&token).lines();
        assert_eq!(again.last().unwrap()["summary"]["unchanged"], 3);
        assert_eq!(
            other
                .store
                .query(&Default::default(), 0, None)
                .unwrap()
                .total,
            3
        );
    }
}

#[test]
fn a_file_that_is_not_valid_is_refused_before_anything_is_stored() {
    let server = Server::new();
    let token = server.all();
    let import =
        |path: &str, body: &'static str| server.ask("POST", path).bearer(&token).send(body);
    import("/v1/import?format=jsonl", "{\"type\":\"event\"}\n").expect(422);
    import("/v1/import?format=poem", "roses").expect(400);
    import("/v1/import", "roses are red").expect(422);
    assert_eq!(
        server
            .store
            .query(&Default::default(), 0, None)
            .unwrap()
            .total,
        0
    );
}

#[test]
fn an_export_holds_what_the_token_sees() {
    let server = Server::new();
    let token = server.token(Grant::new(ACTOR, Operation::ALL).inside("acme"));
    server
        .post(&token, "/v1/grains", &belief("mira", "tea"))
        .expect(200);
    let mut guarded = belief("mira", "insulin");
    guarded["structural_tags"] = json!(["phi:rx"]);
    server.post(&token, "/v1/grains", &guarded).expect(403);
    let mut grant = Grant::new(ACTOR, Operation::ALL).inside("acme");
    grant.cleared.insert("phi".to_owned());
    let cleared = server.token(grant);
    server.post(&cleared, "/v1/grains", &guarded).expect(200);
    let lines = |token: &str| {
        let told = server.post(token, "/v1/export", &json!({ "format": "jsonl" }));
        told.expect(200).lines().len()
    };
    assert_eq!((lines(&token), lines(&cleared)), (1, 2));
}
