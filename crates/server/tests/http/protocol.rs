//! The store protocol of OMS 28.4, operation by operation.

use axum::body::Body;
use grainstore_server::http::{Grant, Operation};
use serde_json::{Value, json};

use crate::{ACTOR, Server, belief, event};

#[test]
fn a_grain_is_stored_read_replaced_and_erased() {
    let server = Server::new();
    let token = server.all();
    let old = server
        .post(&token, "/v1/grains", &belief("mira", "tea"))
        .expect(200)
        .address();
    let path = format!("/v1/grains/{old}");
    assert_eq!(
        server
            .post(&token, "/v1/grains", &belief("mira", "tea"))
            .address(),
        old
    );
    let told = server.get(&token, &path).expect(200).json();
    assert_eq!(told["grain"]["object"], "tea");
    assert_eq!(told["status"]["current"], true);

    let new = json!({ "grain": belief("mira", "coffee"), "justification": "she said so" });
    let new = server
        .post(&token, &format!("{path}/supersede"), &new)
        .expect(200)
        .address();
    let told = server.get(&token, &path).expect(200).json();
    assert_eq!(told["status"]["superseded_by"], *new);
    let versions = server
        .get(&token, &format!("{path}/history"))
        .expect(200)
        .json();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 2);
    let again = json!({ "grain": belief("mira", "water") });
    let told = server
        .post(&token, &format!("{path}/supersede"), &again)
        .expect(409);
    assert_eq!(told.code(), "ERR_CONFLICT");

    let path = format!("/v1/grains/{new}");
    let told = server
        .post(&token, &format!("{path}/contradict"), &json!({}))
        .expect(200);
    assert_eq!(told.json()["status"]["contradicted"], true);
    let why = json!({ "reason": "asked for", "authority": "mira" });
    server
        .post(&token, &format!("{path}/delete"), &why)
        .expect(200);
    server.get(&token, &path).expect(404);
    assert_eq!(
        server.get(&token, &format!("{path}/exists")).json()["exists"],
        false
    );
    server
        .post(&token, &format!("{path}/delete"), &why)
        .expect(404);
    let mut same = belief("mira", "coffee");
    same["derived_from"] = json!([old]);
    server.post(&token, "/v1/grains", &same).expect(410);
}

#[test]
fn a_refusal_of_a_policy_is_403_with_its_code() {
    let server = Server::new();
    let token = server.all();
    let mut locked = belief("mira", "tea");
    locked["invalidation_policy"] = json!({ "mode": "locked" });
    let address = server
        .post(&token, "/v1/grains", &locked)
        .expect(200)
        .address();
    let new = json!({ "grain": belief("mira", "coffee") });
    let told = server
        .post(&token, &format!("/v1/grains/{address}/supersede"), &new)
        .expect(403);
    assert_eq!(told.code(), "ERR_INVALIDATION_DENIED");
}

#[test]
fn a_batch_is_stored_whole_or_not_at_all() {
    let server = Server::new();
    let token = server.all();
    let batch = json!({ "grains": [event("one"), event("two")] });
    let told = server
        .post(&token, "/v1/grains/batch", &batch)
        .expect(200)
        .json();
    assert_eq!(told["new"], json!([true, true]));
    let again = server.post(&token, "/v1/grains", &event("two"));
    assert_eq!(again.expect(200).json()["new"], false);
    let addresses = told["addresses"].clone();
    let missing = json!("0".repeat(64));
    let mut asked = addresses.as_array().unwrap().clone();
    asked.push(missing);
    let told = server.post(&token, "/v1/grains/get", &json!({ "addresses": asked }));
    let grains = told.expect(200).json()["grains"].clone();
    assert_eq!(grains[1]["grain"]["content"], "two");
    assert_eq!(grains[2], Value::Null);

    let batch = json!({ "grains": [event("three"), { "type": "event" }] });
    let told = server.post(&token, "/v1/grains/batch", &batch).expect(422);
    assert_eq!(told.json()["index"], 1);
    let all = server.post(&token, "/v1/query", &json!({})).json();
    assert_eq!(all["total"], 2);
}

#[test]
fn an_encoded_grain_keeps_its_bytes() {
    let server = Server::new();
    let reader = server.all();
    let draft = grainstore::Draft::event("hello").created_at(grainstore::Time::from_ms(5));
    let grain = draft.author(ACTOR).finish(Default::default()).unwrap();
    let hex: String = grain
        .blob()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let told = server
        .post(&reader, "/v1/grains", &json!({ "blob": hex }))
        .expect(200);
    assert_eq!(told.address(), grain.address().to_string());
    let wrong = json!({ "blob": hex, "address": "0".repeat(64) });
    server.post(&reader, "/v1/grains", &wrong).expect(422);
}

#[test]
fn pages_follow_each_other_and_a_cursor_is_for_its_scope_alone() {
    let server = Server::new();
    let token = server.all();
    for n in 0..5 {
        server
            .post(&token, "/v1/grains", &event(&n.to_string()))
            .expect(200);
    }
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = server.post(
            &token,
            "/v1/query",
            &json!({ "limit": 2, "cursor": cursor }),
        );
        let page = page.expect(200).json();
        let results = page["results"].as_array().unwrap().clone();
        seen.extend(results.iter().map(|it| it["grain"]["content"].clone()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        let other = Grant::new(ACTOR, [Operation::Read]).for_user("mira");
        let other = server.token(other);
        let told = server.post(
            &other,
            "/v1/query",
            &json!({ "limit": 2, "cursor": cursor }),
        );
        assert_eq!(told.expect(400).code(), "ERR_CURSOR");
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4"]);
}

#[test]
fn questions_are_answered_with_what_matches() {
    let server = Server::new();
    let token = server.all();
    server
        .post(&token, "/v1/grains", &belief("mira", "green tea"))
        .expect(200);
    server
        .post(&token, "/v1/grains", &event("the weather in Porto"))
        .expect(200);
    let told = server
        .post(&token, "/v1/search", &json!({ "question": "tea" }))
        .expect(200)
        .json();
    assert_eq!(told["total"], 1);
    assert_eq!(told["results"][0]["grain"]["subject"], "mira");
    let body = json!({ "question": "what does mira drink?", "format": "text" });
    let told = server.post(&token, "/v1/recall", &body).expect(200).json();
    assert!(
        told["text"].as_str().unwrap().contains("green tea"),
        "{told}"
    );
    assert_eq!(told["addresses"].as_array().unwrap().len(), 1);
    let body = json!({ "filter": { "type": "belief", "since": "2026-01-01T00:00:00Z" } });
    assert_eq!(server.post(&token, "/v1/query", &body).json()["total"], 1);
    for wrong in [
        json!({ "filter": { "type": "beleif" } }),
        json!({ "filter": { "since": "soon" } }),
        json!({ "limit": 0 }),
        json!({ "sort": "luck" }),
    ] {
        server.post(&token, "/v1/query", &wrong).expect(400);
    }
    let unknown = json!({ "filter": { "colour": "red" } });
    assert_eq!(
        server
            .post(&token, "/v1/query", &unknown)
            .expect(422)
            .code(),
        "ERR_SCHEMA"
    );
}

#[test]
fn a_token_of_several_namespaces_reads_them_all_and_writes_where_it_says() {
    let server = Server::new();
    let grant = Grant::new(ACTOR, [Operation::Read, Operation::Write]);
    let token = server.token(grant.inside("acme:a").inside("acme:b"));
    let put = |namespace: &str| {
        let mut grain = event(namespace);
        grain["namespace"] = json!(namespace);
        server.post(&token, "/v1/grains", &grain)
    };
    let inside = put("acme:b:deep").expect(200).address();
    put("acme:c").expect(403);
    server
        .post(&token, "/v1/grains", &event("where?"))
        .expect(400);
    server
        .get(&token, &format!("/v1/grains/{inside}"))
        .expect(200);
    let query = |namespace: &str| {
        server.post(
            &token,
            "/v1/query",
            &json!({ "filter": { "namespace": namespace } }),
        )
    };
    assert_eq!(query("acme:b").expect(200).json()["total"], 1);
    assert_eq!(query("acme:a").expect(200).json()["total"], 0);
    query("acme").expect(403);
    put("acme:a").expect(200);
    let all = server.post(&token, "/v1/query", &json!({})).expect(200);
    assert_eq!(all.json()["total"], 2);
    let one = server.token(Grant::new(ACTOR, [Operation::Read]).inside("acme:a"));
    server
        .get(&one, &format!("/v1/grains/{inside}"))
        .expect(404);
}

#[test]
fn followers_get_what_is_stored_and_go_on_where_they_were() {
    let server = Server::new();
    let token = server.all();
    server.post(&token, "/v1/grains", &event("one")).expect(200);
    let first = follow(&server, &token, "/v1/changes?from=start", None, 1);
    assert_eq!(first[0].1["grain"]["content"], "one");
    server.post(&token, "/v1/grains", &event("two")).expect(200);
    let next = follow(&server, &token, "/v1/changes", Some(&first[0].0), 1);
    assert_eq!(next[0].1["grain"]["content"], "two");
    let wrong = server.ask("GET", "/v1/changes").bearer(&token);
    wrong
        .header("last-event-id", "7")
        .send(Body::empty())
        .expect(400);
}

/// Returns the ids and the data of so many events.
pub(crate) fn follow(
    server: &Server,
    token: &str,
    path: &str,
    after: Option<&str>,
    count: usize,
) -> Vec<(String, Value)> {
    use tokio_stream::StreamExt;
    use tower::ServiceExt;
    let mut request = axum::http::Request::get(path);
    request = request.header("authorization", format!("Bearer {token}"));
    if let Some(id) = after {
        request = request.header("last-event-id", id);
    }
    let request = request.body(Body::empty()).unwrap();
    server.runtime.block_on(async {
        let answer = server.app.router().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        let mut stream = answer.into_body().into_data_stream();
        let mut text = String::new();
        while text.matches("data: ").count() < count {
            let piece = stream.next().await.unwrap().unwrap();
            text.push_str(std::str::from_utf8(&piece).unwrap());
        }
        let events = text.split("\n\n").filter(|event| event.contains("data: "));
        let line = |event: &str, name: &str| {
            let mut lines = event.lines();
            lines
                .find_map(|line| Some(line.strip_prefix(name)?.to_owned()))
                .unwrap()
        };
        let events = events.map(|event| {
            (
                line(event, "id: "),
                serde_json::from_str(&line(event, "data: ")).unwrap(),
            )
        });
        events.collect()
    })
}

#[test]
fn an_answer_is_bounded_and_an_address_counts_once() {
    let server = Server::new();
    let token = server.all();
    let big = |n: usize| event(&format!("{n} {}", "tea ".repeat(230_000)));
    let put = |n| {
        server
            .post(&token, "/v1/grains", &big(n))
            .expect(200)
            .address()
    };
    let addresses: Vec<_> = (0..11).map(put).collect();
    let get = |addresses: &[String]| {
        let told = server.post(&token, "/v1/grains/get", &json!({ "addresses": addresses }));
        let told = told.expect(200);
        assert!(told.body.len() < 10 << 20, "{}", told.body.len());
        told.json()
    };
    let told = get(&vec![addresses[0].clone(); 1_000]);
    assert_eq!(told["grains"].as_array().unwrap().len(), 1);
    let told = get(&addresses);
    let (grains, next) = (told["grains"].as_array().unwrap().len(), &told["next"]);
    assert_eq!(*next, grains);
    assert!((1..11).contains(&grains));
    let rest = get(&addresses[grains..]);
    assert_eq!(rest["grains"].as_array().unwrap().len(), 11 - grains);
    // Pages too, which go on where they were cut; a search says that it was cut.
    let mut seen = 0;
    let mut cursor = Value::Null;
    loop {
        let told = server.post(
            &token,
            "/v1/query",
            &json!({ "limit": 1_000, "cursor": cursor }),
        );
        let told = told.expect(200);
        assert!(told.body.len() < 10 << 20, "{}", told.body.len());
        let page = told.json();
        seen += page["results"].as_array().unwrap().len();
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, 11);
    let search = json!({ "question": "tea", "limit": 1_000 });
    let told = server.post(&token, "/v1/search", &search).expect(200);
    assert!(told.body.len() < 10 << 20, "{}", told.body.len());
    assert!(told.json()["partial"].is_string());
}

#[test]
fn warnings_about_a_grain_are_in_the_answer_to_its_put() {
    let server = Server::new();
    let token = server.all();
    let misspelt = |text: &str| json!({ "type": "event", "content": text, "userid": "mira" });
    let put = server.post(&token, "/v1/grains", &misspelt("one"));
    let put = put.expect(200).json();
    let is_named = |warnings: &Value| warnings.to_string().contains("userid");
    assert!(is_named(&put["warnings"]), "{put}");
    let batch = json!({ "grains": [event("two"), misspelt("three")] });
    let batch = server.post(&token, "/v1/grains/batch", &batch);
    let batch = batch.expect(200).json();
    assert_eq!(batch["warnings"][0]["index"], 1);
    let address = put["address"].as_str().unwrap();
    let new = json!({ "grain": misspelt("four") });
    let path = format!("/v1/grains/{address}/supersede");
    let new = server.post(&token, &path, &new).expect(200).json();
    assert!(is_named(&new["warnings"]), "{new}");
    let put = server.post(&token, "/v1/grains", &event("five"));
    assert!(put.expect(200).json().get("warnings").is_none());
}
