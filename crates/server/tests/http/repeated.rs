//! Requests that are repeated under an idempotency key: what is remembered, and what is not.

use grainstore_server::http::App;
use serde_json::{Value, json};

use crate::{Server, Told, event};

#[test]
fn a_repeated_request_under_one_key_is_answered_as_before() {
    let server = Server::new();
    let token = server.all();
    let send = |body: &str, key: &str| {
        let ask = server.ask("POST", "/v1/grains").bearer(&token);
        ask.header("idempotency-key", key).send(body.to_owned())
    };
    let draft = r#"{"type":"event","content":"no time of its own"}"#;
    let first = send(draft, "a").expect(200).address();
    assert_eq!(send(draft, "a").expect(200).address(), first);
    let other = send(r#"{"type":"event","content":"another"}"#, "a").expect(422);
    assert_eq!(other.code(), "ERR_IDEMPOTENCY_KEY");
    // A refusal is not kept: the same key may succeed later.
    send("{}", "b").expect(422);
    send(draft, "b").expect(200);
    let other = server.all();
    let ask = server.ask("POST", "/v1/grains").bearer(&other);
    ask.header("idempotency-key", "a").send("{}").expect(422);
}

#[test]
fn a_key_outlives_a_restart_and_the_repetition_is_the_same_grain() {
    let server = Server::new();
    let token = server.all();
    let send = |app: &std::sync::Arc<App>, path: &str, body: &str, key: &str| {
        let ask = server.ask("POST", path).bearer(&token);
        ask.header("idempotency-key", key)
            .send_to(app, body.to_owned())
    };
    let restarted = || {
        let limits = grainstore_server::http::Limits::default();
        let (store, tokens) = (server.store.clone(), server.tokens.clone());
        std::sync::Arc::new(App::new(store, tokens, limits, |_| {}))
    };
    let draft = r#"{"type":"event","content":"no time of its own"}"#;
    let first = send(&server.app, "/v1/grains", draft, "a")
        .expect(200)
        .address();
    send(&server.app, "/v1/grains", "{}", "refused").expect(422);
    let other = r#"{"grain":{"type":"event","content":"the next version"}}"#;
    let path = format!("/v1/grains/{first}/supersede");
    let next = send(&server.app, &path, other, "b").expect(200).address();
    for _ in 0..2 {
        let again = restarted();
        let told = send(&again, "/v1/grains", draft, "a").expect(200);
        assert_eq!(told.address(), first);
        assert_eq!(send(&again, &path, other, "b").expect(200).address(), next);
        let told = send(&again, "/v1/grains", "{}", "a").expect(422);
        assert_eq!(told.code(), "ERR_IDEMPOTENCY_KEY");
    }
    // A refusal takes no key, also after a restart.
    send(&restarted(), "/v1/grains", draft, "refused").expect(200);
    let mut path = server.tokens.path().as_os_str().to_owned();
    path.push(".keys");
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(!kept.contains(&first), "{kept}");
}

#[test]
fn a_question_under_a_key_is_asked_again_and_takes_the_key_from_no_change() {
    let server = Server::new();
    let token = server.all();
    let send = |path: &str, body: &Value, key: &str| {
        let ask = server.ask("POST", path).bearer(&token);
        ask.header("idempotency-key", key).send(body.to_string())
    };
    let address = send("/v1/grains", &event("of mira"), "put")
        .expect(200)
        .address();
    let query = json!({});
    let total = |told: Told| told.expect(200).json()["total"].clone();
    assert_eq!(total(send("/v1/query", &query, "a")), 1);
    let why = json!({ "reason": "asked for", "authority": "mira" });
    let path = format!("/v1/grains/{address}/delete");
    // A question has taken no key.
    send(&path, &why, "a").expect(200);
    assert_eq!(total(send("/v1/query", &query, "b")), 0);
    assert_eq!(
        send(&path, &why, "a").expect(200).json()["deleted"],
        *address
    );
}

#[test]
fn the_keys_of_one_token_flush_none_of_another() {
    let server = Server::new();
    let (one, other) = (server.all(), server.all());
    let send = |token: &str, key: &str, content: &str| {
        let body = json!({ "type": "event", "content": content });
        let ask = server.ask("POST", "/v1/grains").bearer(token);
        ask.header("idempotency-key", key)
            .send(body.to_string())
            .expect(200)
            .address()
    };
    let first = send(&one, "mine", "no time of its own");
    for n in 0..4_200 {
        send(&other, &n.to_string(), "flood");
    }
    assert_eq!(send(&one, "mine", "no time of its own"), first);
}

#[test]
fn nothing_on_disk_confirms_what_is_guessed_of_a_request() {
    use data_encoding::HEXLOWER;
    use sha2::{Digest, Sha256};
    let server = Server::new();
    let body = event("the password is tea").to_string();
    let ask = server.ask("POST", "/v1/grains").bearer(&server.all());
    ask.header("idempotency-key", "a")
        .send(body.clone())
        .expect(200);
    let mut path = server.tokens.path().as_os_str().to_owned();
    path.push(".keys");
    let kept = std::fs::read_to_string(path).unwrap();
    // As an earlier version hashed it: the address of the route and the body, with their lengths.
    let mut hash = Sha256::new();
    for part in ["/v1/grains", &body] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    assert!(!kept.contains(&HEXLOWER.encode(&hash.finalize())), "{kept}");
}
