//! The HTTP profile of AIMEM (draft-aimem-bundle-00, 3): every status of it, and what goes in comes
//! out.

use axum::body::Body;
use data_encoding::BASE64;
use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
use grainstore::interchange::{Format, aimem};
use grainstore_server::http::{Grant, Limits, Operation};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{ACTOR, Server, Told};

const TENANT: &str = "11111111-1111-1111-1111-111111111111";

/// Returns a bundle of one chunk.
pub(crate) fn bundle(tenant: &str, urn: u8, content: &str) -> String {
    checked(bundle_value(tenant, urn, content))
}

fn bundle_value(tenant: &str, urn: u8, content: &str) -> Value {
    json!({
        "format": "aimem-bundle", "version": "1", "producer": "acme", "tenant_id": tenant,
        "exported_at": "2026-06-12T10:00:00Z", "scope": "FULL",
        "chunks": [{
            "id": format!("urn:aimem:acme:c{urn}"), "content": content,
            "memory_type": "preference", "created_at": "2026-04-01T09:30:00Z",
        }],
        "edges": [], "entities": [], "chunk_entities": [],
    })
}

/// Adds the checksum. Members are sorted, and there are no numbers: the text is canonical.
fn checked(mut bundle: Value) -> String {
    let digest = Sha256::digest(bundle.to_string().as_bytes());
    bundle["checksum"] = json!(format!(
        "sha256:{}",
        data_encoding::HEXLOWER.encode(&digest)
    ));
    bundle.to_string()
}

fn tenant(server: &Server) -> String {
    server.token(Grant::new(ACTOR, [Operation::Export, Operation::Import]).for_user(TENANT))
}

fn import(server: &Server, token: &str, body: impl Into<Body>) -> Told {
    let ask = server.ask("POST", "/v1/brain/import").bearer(token);
    ask.header("content-type", aimem_type()).send(body)
}

const fn aimem_type() -> &'static str {
    "application/aimem-bundle+json"
}

#[test]
fn every_status_of_an_export() {
    let server = Server::new();
    let token = tenant(&server);
    let reader = server.token(Grant::new(ACTOR, [Operation::Read]).for_user(TENANT));
    let export = |token: &str, query: &str| {
        let told = server.get(token, &format!("/v1/brain/export{query}"));
        (told.status, title(&told))
    };
    let ok = (200, String::new());
    assert_eq!(export(&token, ""), ok);
    assert_eq!(export(&token, "?scope=FULL"), ok);
    assert_eq!(export(&token, "?scope=DNA_ONLY"), ok);
    assert_eq!(
        export(&token, "?scope=SINCE&since=2026-01-01T00:00:00Z"),
        ok
    );
    assert_eq!(export(&token, "/stream"), ok);
    assert_eq!(export("gst_x_y", ""), refused(401, "ERR_UNAUTHENTICATED"));
    assert_eq!(
        export("gst_x_y", "/stream"),
        refused(401, "ERR_UNAUTHENTICATED")
    );
    assert_eq!(export(&reader, ""), refused(403, "ERR_ACCESS_DENIED"));
    assert_eq!(
        export(&reader, "/stream"),
        refused(403, "ERR_ACCESS_DENIED")
    );
    assert_eq!(export(&token, "?scope=SOME"), refused(422, "invalid_scope"));
    assert_eq!(
        export(&token, "?scope=SINCE"),
        refused(422, "since_missing")
    );
    assert_eq!(
        export(&token, "?since=2026-01-01T00:00:00Z"),
        refused(422, "invalid_scope")
    );
    assert_eq!(
        export(&token, "?scope=SINCE&since=soon"),
        refused(422, "invalid_timestamp")
    );
    assert_eq!(export(&token, "?colour=red"), refused(400, "ERR_USAGE"));
}

/// Bundles that are malformed, each with the code of its fault.
fn malformed() -> Vec<(String, &'static str)> {
    let good = || bundle_value(TENANT, 0, "tea");
    let with = |name: &str, value: Value| {
        let mut bundle = good();
        bundle[name] = value;
        checked(bundle)
    };
    let chunk = |name: &str, value: Value| {
        let mut bundle = good();
        bundle["chunks"][0][name] = value;
        checked(bundle)
    };
    let edge = json!([{
        "source_id": "urn:aimem:acme:c0", "target_id": "urn:aimem:acme:c9",
        "edge_type": "semantic", "weight": 1, "created_at": "2026-04-01T09:30:00Z",
    }]);
    vec![
        (String::from("{"), "not_object"),
        (String::from("[]"), "not_object"),
        (with("format", json!("other")), "bad_format"),
        (with("version", json!("2")), "unsupported_version"),
        (with("producer", json!("ACME!")), "invalid_producer"),
        (with("tenant_id", json!("mira")), "invalid_tenant_id"),
        (with("exported_at", json!("today")), "invalid_timestamp"),
        (with("scope", json!("SOME")), "invalid_scope"),
        (with("scope", json!("SINCE")), "since_missing"),
        (good().to_string(), "missing_checksum"),
        (chunk("id", json!("c0")), "invalid_urn"),
        (chunk("content", json!("")), "empty_content"),
        (chunk("content_hash", json!("sha256:00")), "bad_hash_format"),
        (
            chunk("content_hash", json!(format!("sha256:{}", "0".repeat(64)))),
            "hash_mismatch",
        ),
        (chunk("memory_type", json!("dream")), "invalid_memory_type"),
        (chunk("zone", json!("twilight")), "invalid_zone"),
        (with("edges", edge), "edge_target_unknown"),
    ]
}

#[test]
fn every_status_of_an_import() {
    let server = Server::new();
    let token = tenant(&server);
    let reader = server.token(Grant::new(ACTOR, [Operation::Read]).for_user(TENANT));
    let ok = (200, String::new());
    let import = |token: &str, body: String| {
        let told = import(&server, token, body);
        (told.status, title(&told))
    };
    let good = || bundle_value(TENANT, 0, "tea");
    assert_eq!(import(&token, checked(good())), ok);
    assert_eq!(
        import("gst_x_y", checked(good())),
        refused(401, "ERR_UNAUTHENTICATED")
    );
    assert_eq!(
        import(&reader, checked(good())),
        refused(403, "ERR_ACCESS_DENIED")
    );
    let wrong = checked(good()).replace("tea", "rum");
    assert_eq!(import(&token, wrong), refused(409, "checksum_mismatch"));
    for (body, code) in malformed() {
        assert_eq!(import(&token, body.clone()), refused(422, code), "{body}");
    }
    let text = server.ask("POST", "/v1/brain/import").bearer(&token);
    let told = text
        .header("content-type", "text/plain")
        .send(checked(good()));
    assert_eq!((told.status, title(&told)), refused(415, "ERR_MEDIA_TYPE"));
    let told = server
        .ask("PUT", "/v1/brain/import")
        .bearer(&token)
        .send(Body::empty());
    assert_eq!(told.status, 405);
}

#[test]
fn a_bundle_that_is_too_long_or_comes_when_others_do_is_refused() {
    let small = Limits {
        file_bytes: 100,
        ..Limits::default()
    };
    let server = Server::with(small, None);
    let told = import(&server, &tenant(&server), bundle(TENANT, 0, "tea"));
    assert_eq!((told.status, title(&told)), refused(413, "ERR_TOO_LARGE"));
    let none = Limits {
        bulk: 0,
        waiting_time: std::time::Duration::ZERO,
        ..Limits::default()
    };
    let server = Server::with(none, None);
    let told = import(&server, &tenant(&server), bundle(TENANT, 0, "tea"));
    assert_eq!((told.status, title(&told)), refused(503, "ERR_BUSY"));
    assert_eq!(told.headers["retry-after"], "1");
    let none = Limits {
        requests: 0,
        ..Limits::default()
    };
    let server = Server::with(none, None);
    let told = import(&server, &tenant(&server), bundle(TENANT, 0, "tea"));
    assert_eq!((told.status, title(&told)), refused(503, "ERR_BUSY"));
    assert_eq!(told.headers["retry-after"], "1");
}

#[test]
fn what_is_exported_is_imported_again_as_nothing_new() {
    let server = Server::new();
    let token = tenant(&server);
    let sent = bundle(TENANT, 0, "green tea");
    let summary = import(&server, &token, sent.clone()).expect(200).json();
    assert_eq!(summary["chunks_inserted"], 1);
    let told = server.get(&token, "/v1/brain/export").expect(200);
    assert_eq!(told.headers["content-type"], aimem_type());
    let bundle: Value = told.json();
    assert_eq!(bundle, serde_json::from_str::<Value>(&sent).unwrap());
    let again = import(&server, &token, told.body).expect(200).json();
    assert_eq!(again["chunks_inserted"], 0, "{again}");
    assert_eq!(again["chunks_skipped_idempotent"], 1, "{again}");

    let lines = server.get(&token, "/v1/brain/export/stream").expect(200);
    assert_eq!(lines.lines()[1]["_kind"], "chunk");
    let ask = server.ask("POST", "/v1/brain/import").bearer(&token);
    let again = ask
        .header("content-type", "application/x-ndjson")
        .send(lines.body);
    assert_eq!(again.expect(200).json()["chunks_skipped_idempotent"], 1);
}

#[test]
fn a_chunk_that_contradicts_a_stored_one_is_in_the_summary_and_a_newer_one_updates_it() {
    let server = Server::new();
    let token = tenant(&server);
    import(&server, &token, bundle(TENANT, 0, "tea")).expect(200);
    let told = import(&server, &token, bundle(TENANT, 0, "coffee"))
        .expect(200)
        .json();
    assert_eq!(
        told["chunks_rejected_conflict"],
        json!(["urn:aimem:acme:c0"]),
        "{told}"
    );
    assert_eq!(told["chunks_inserted"], 0, "{told}");
    let newer = || {
        let mut newer = bundle_value(TENANT, 0, "water");
        newer["chunks"][0]["created_at"] = json!("2026-05-01T09:30:00Z");
        import(&server, &token, checked(newer)).expect(200).json()
    };
    let counts = |told: Value| {
        let names = ["inserted", "updated", "skipped_idempotent"];
        names.map(|name| told[format!("chunks_{name}")].as_u64().unwrap())
    };
    assert_eq!(counts(newer()), [0, 1, 0]);
    assert_eq!(counts(newer()), [0, 0, 1]);
}

#[test]
fn a_bundle_of_another_tenant_is_stored_for_the_tenant_of_the_token() {
    let server = Server::new();
    let token = tenant(&server);
    let told = import(
        &server,
        &token,
        bundle(&format!("urn:uuid:{TENANT}"), 0, "tea"),
    );
    assert_eq!(told.expect(200).json()["chunks_inserted"], 1);
    let other = "22222222-2222-2222-2222-222222222222";
    let told = import(&server, &token, bundle(other, 1, "coffee"));
    assert_eq!(told.expect(200).json()["chunks_inserted"], 1);
    let bundle: Value = server.get(&token, "/v1/brain/export").expect(200).json();
    assert_eq!(bundle["tenant_id"], TENANT);
    assert_eq!(bundle["chunks"].as_array().unwrap().len(), 2, "{bundle}");
    let again = import(
        &server,
        &token,
        checked({
            let mut bundle = bundle;
            bundle.as_object_mut().unwrap().remove("checksum");
            bundle
        }),
    );
    assert_eq!(again.expect(200).json()["chunks_inserted"], 0);
}

#[test]
fn an_empty_tenant_exports_a_bundle_that_is_valid() {
    let server = Server::new();
    let token = tenant(&server);
    for path in ["/v1/brain/export", "/v1/brain/export/stream"] {
        let told = server.get(&token, path).expect(200);
        let is_stream = path.ends_with("stream");
        assert_eq!(told.lines()[0]["tenant_id"], TENANT);
        let media = if is_stream {
            "application/x-ndjson"
        } else {
            aimem_type()
        };
        let ask = server.ask("POST", "/v1/brain/import").bearer(&token);
        ask.header("content-type", media)
            .send(told.body)
            .expect(200);
    }
}

#[test]
fn signatures_are_made_and_checked() {
    let key = || {
        let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
        let pem = key.to_pem().unwrap().to_string();
        (key, SigningKey::from_pem(&pem).unwrap())
    };
    let (ours, same) = key();
    let server = Server::with(Limits::default(), Some(ours));
    let token = tenant(&server);
    let sent = bundle(TENANT, 0, "tea");
    let (theirs, _) = key();
    let signature = aimem::sign(sent.as_bytes(), Format::Aimem, &theirs).unwrap();
    let send = |signature: &str, body: String| {
        let ask = server.ask("POST", "/v1/brain/import").bearer(&token);
        ask.header("aimem-signature", signature).send(body)
    };
    let told = send(&BASE64.encode(&signature), bundle(TENANT, 1, "coffee"));
    assert_eq!(
        (told.status, title(&told)),
        refused(422, "signature_invalid")
    );
    let told = send("not base64", sent.clone());
    assert_eq!(
        (told.status, title(&told)),
        refused(422, "signature_invalid")
    );
    let told = send(&BASE64.encode(&signature), sent).expect(200).json();
    assert_eq!(told["signer"], theirs.did().as_str());

    for (path, format) in [
        ("/v1/brain/export", Format::Aimem),
        ("/v1/brain/export/stream", Format::AimemNdjson),
    ] {
        let told = server.get(&token, path).expect(200);
        let signature = BASE64
            .decode(told.headers["aimem-signature"].as_bytes())
            .unwrap();
        let signer = aimem::verify(&told.body, format, &signature).unwrap();
        assert_eq!(signer.did, same.did());
    }
    let told = server
        .ask("GET", "/.well-known/aimem-pubkey")
        .send(Body::empty())
        .expect(200);
    assert_eq!(told.body[10..], same.verifying_key().to_bytes());
    let spec = server
        .ask("GET", "/.well-known/aimem-spec")
        .send(Body::empty())
        .json();
    assert_eq!(spec["signatures"]["made"], true);
    let plain = Server::new();
    plain
        .ask("GET", "/.well-known/aimem-pubkey")
        .send(Body::empty())
        .expect(404);
}

fn title(told: &Told) -> String {
    if told.status == 200 {
        return String::new();
    }
    assert_eq!(told.headers["content-type"], "application/problem+json");
    let problem = told.json();
    assert_eq!(problem["status"], told.status);
    problem["title"].as_str().unwrap().to_owned()
}

fn refused(status: u16, title: &str) -> (u16, String) {
    (status, title.to_owned())
}

/// The corpus of the reference implementation: each bundle is sent by its own tenant.
#[test]
#[ignore = "needs corpora"]
fn the_corpus_of_the_reference_is_answered_as_its_folders_say() {
    let corpus = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/aimem/corpus"
    );
    let mut seen = 0;
    for (folder, is_good) in [("valid", true), ("edge", true), ("invalid", false)] {
        for entry in std::fs::read_dir(format!("{corpus}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let bundle: Value = serde_json::from_str(&text).unwrap_or_default();
            let server = Server::new();
            let user = bundle["tenant_id"].as_str().unwrap_or(TENANT);
            let grant = Grant::new(ACTOR, [Operation::Import, Operation::Export]);
            let token = server.token(grant.for_user(user));
            let told = import(&server, &token, text);
            let expected: &[u16] = if is_good { &[200] } else { &[409, 422] };
            assert!(
                expected.contains(&told.status),
                "{}: {told:?}",
                path.display()
            );
            seen += 1;
            if is_good {
                let bundle = server.get(&token, "/v1/brain/export").expect(200).body;
                let again = import(&server, &token, bundle).expect(200).json();
                assert_eq!(again["chunks_inserted"], 0, "{}", path.display());
            }
        }
    }
    assert!(seen > 5, "{seen}");
}

/// As `conformance.py run` of the reference does: every bundle of the corpus to one tenant, in order, as
/// `application/json`.
#[test]
#[ignore = "needs corpora"]
fn the_corpus_is_answered_by_one_tenant_as_the_runner_of_the_reference_expects() {
    let corpus = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/aimem/corpus"
    );
    let server = Server::new();
    let token = tenant(&server);
    let mut passed = 0;
    for (folder, expected) in [
        ("valid", &[200][..]),
        ("invalid", &[409, 422]),
        ("edge", &[200]),
    ] {
        let files = std::fs::read_dir(format!("{corpus}/{folder}")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for path in files {
            let ask = server.ask("POST", "/v1/brain/import").bearer(&token);
            let ask = ask.header("content-type", "application/json");
            let told = ask.send(std::fs::read(&path).unwrap());
            assert!(expected.contains(&told.status), "{path:?}: {told:?}");
            passed += 1;
        }
    }
    assert_eq!(passed, 28);
}
