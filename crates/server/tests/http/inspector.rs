//! The routes behind the inspector, and the files that it is made of.

use axum::body::Body;
use grainstore::crypto::{ErasureReceipt, Offline, OsRandom, SigningKey};
use grainstore_server::http::{App, Grant, Limits, Operation};
use serde_json::json;

use crate::{ACTOR, Server, belief, event};

const FILES: [&str; 3] = ["/ui/", "/ui/app.js", "/ui/style.css"];

#[test]
fn the_inspector_is_served_where_it_is_asked_for_and_lets_no_foreign_script_in() {
    let server = Server::new();
    for path in FILES {
        server.ask("GET", path).send(Body::empty()).expect(404);
    }
    let (store, tokens) = (server.store.clone(), server.tokens.clone());
    let app = App::new(store, tokens, Limits::default(), |_| {}).with_inspector();
    let app = std::sync::Arc::new(app);
    for path in FILES {
        let told = server
            .ask("GET", path)
            .send_to(&app, Body::empty())
            .expect(200);
        let policy = told.headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(told.headers["x-content-type-options"], "nosniff");
        assert_eq!(told.headers["cache-control"], "no-store");
    }
    let told = server
        .ask("GET", "/")
        .send_to(&app, Body::empty())
        .expect(307);
    assert_eq!(told.headers["location"], "/ui/");
}

/// No file has a way to turn text into markup or code, or names another host.
#[test]
fn the_files_of_the_inspector_make_elements_of_text_alone() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for forbidden in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "setHTML",
            "parseFromString",
            "localStorage",
            "javascript:",
            "https:",
            "style=",
        ] {
            assert!(!text.contains(forbidden), "{}: {forbidden}", path.display());
        }
        assert!(text.lines().count() <= 500, "{}", path.display());
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn a_search_returns_excerpts_in_parts() {
    let server = Server::new();
    let token = server.all();
    server
        .post(&token, "/v1/grains", &event("<b>täglich</b> green tea"))
        .expect(200);
    let asked = json!({ "question": "tea", "with_snippets": true });
    let found = server.post(&token, "/v1/search", &asked).expect(200).json();
    let parts = found["results"][0]["snippet"].as_array().unwrap().clone();
    let text: String = parts
        .iter()
        .map(|part| part["text"].as_str().unwrap())
        .collect();
    assert_eq!(text, "<b>täglich</b> green tea");
    let marked: Vec<_> = parts
        .iter()
        .filter(|part| part["is_match"] == true)
        .collect();
    assert_eq!(marked[0]["text"], "tea");
}

#[test]
fn a_search_by_words_finds_no_other_form_of_a_word() {
    let server = Server::new();
    let token = server.all();
    server
        .post(&token, "/v1/grains", &event("I am allergic to peanuts"))
        .expect(200);
    for (by_words, total) in [(false, 1), (true, 0)] {
        let asked = json!({ "question": "allergies", "by_words": by_words });
        let found = server.post(&token, "/v1/search", &asked).expect(200).json();
        assert_eq!(found["total"], total, "{found}");
    }
}

#[test]
fn the_protection_of_a_grain_names_the_rule_and_what_rests_on_it() {
    let server = Server::new();
    let token = server.all();
    let mut grain = belief("mira", "peanuts");
    grain["invalidation_policy"] = json!({ "mode": "locked" });
    let address = server
        .post(&token, "/v1/grains", &grain)
        .expect(200)
        .address();
    let told = server.get(&token, &format!("/v1/grains/{address}/protection"));
    let told = told.expect(200).json();
    assert_eq!(told["changes"]["supersede"]["is_allowed"], false, "{told}");
    assert_eq!(told["resting_on"], json!([]));
}

#[test]
fn a_person_is_reported_previewed_and_erased_with_a_signed_receipt() {
    let key = SigningKey::generate(grainstore::crypto::Algorithm::Ed25519, &OsRandom).unwrap();
    let server = Server::with(Limits::default(), Some(key));
    let token = server.all();
    for (user, text) in [
        ("mira", "likes tea"),
        ("mira", "likes rain"),
        ("noor", "knows mira"),
    ] {
        let mut grain = event(text);
        grain["user_id"] = json!(user);
        server.post(&token, "/v1/grains", &grain).expect(200);
    }
    let post = |path: &str, body| server.post(&token, path, &body);
    let person = json!({ "user": "mira" });
    let report = post("/v1/persons/report", person).expect(200).json();
    assert_eq!(report["about"].as_array().unwrap().len(), 2, "{report}");
    let preview = post(
        "/v1/persons/erase",
        json!({ "user": "mira", "preview": true }),
    );
    let preview = preview.expect(200).json();
    assert_eq!(preview["would_erase"].as_array().unwrap().len(), 2);
    let erase = json!({ "user": "mira", "reason": "request 17", "authority": "the office" });
    let unstated = post("/v1/persons/erase", json!({ "user": "mira" })).expect(422);
    assert_eq!(unstated.code(), "ERR_AUTHORITY");
    let done = post("/v1/persons/erase", erase).expect(200).json();
    assert_eq!(done["erased"], preview["would_erase"]);
    let message = done["receipt"]["receipt"].as_str().unwrap();
    let message = data_encoding::HEXLOWER.decode(message.as_bytes()).unwrap();
    let (receipt, _) = ErasureReceipt::open(&message, &Offline).unwrap();
    assert!(receipt.names("mira") && receipt.erased == 2);
    assert!(server.store.admin().unwrap().agrees_with(&receipt).unwrap());
}

#[test]
fn two_users_of_one_person_are_united_with_a_reason_and_their_report_is_one() {
    let server = Server::new();
    let token = server.all();
    for user in ["mira", "user-7f3a"] {
        let mut grain = event("likes tea");
        grain["user_id"] = json!(user);
        server.post(&token, "/v1/grains", &grain).expect(200);
    }
    let post = |path: &str, body| server.post(&token, path, &body);
    let mut alias = json!({ "user": "mira", "other": "user-7f3a" });
    let unstated = post("/v1/persons/alias", alias.clone()).expect(422);
    assert_eq!(unstated.code(), "ERR_AUTHORITY");
    alias["reason"] = json!("her account");
    alias["authority"] = json!("mira");
    let told = post("/v1/persons/alias", alias.clone()).expect(200).json();
    assert_eq!(told["stated"].as_array().unwrap().len(), 2, "{told}");
    let report = post("/v1/persons/report", json!({ "user": "mira" })).expect(200);
    let about = report.json()["about"].as_array().unwrap().len();
    assert_eq!(about, 4, "both notes, and the grains that unite them");
    let again = post("/v1/persons/alias", alias).expect(200).json();
    assert_eq!(again["stated"], json!([]));
    let by = json!({ "by": ACTOR, "operation": "verify" });
    let entries = post("/v1/audit", by).expect(200).json();
    assert_eq!(entries["entries"].as_array().unwrap().len(), 2, "{entries}");
}

#[test]
fn a_token_of_one_user_does_nothing_to_another_person() {
    let server = Server::new();
    let mut grain = event("likes tea");
    grain["user_id"] = json!("noor");
    let all = server.all();
    let address = server
        .post(&all, "/v1/grains", &grain)
        .expect(200)
        .address();
    let of_mira = server.token(Grant::new(ACTOR, Operation::ALL).for_user("mira"));
    let inside = server.token(Grant::new(ACTOR, Operation::ALL).inside("acme"));
    let why = ("request 17", "the office");
    for body in [
        json!({ "user": "noor" }),
        json!({ "user": "mira", "also": ["noor"] }),
        json!({ "user": "mira", "mentions": true }),
    ] {
        let mut erase = body.clone();
        erase["reason"] = json!(why.0);
        erase["authority"] = json!(why.1);
        server
            .post(&of_mira, "/v1/persons/erase", &erase)
            .expect(403);
        server
            .post(&inside, "/v1/persons/erase", &erase)
            .expect(403);
        if body.get("mentions").is_none() {
            server
                .post(&of_mira, "/v1/persons/report", &body)
                .expect(403);
            server
                .post(&inside, "/v1/persons/report", &body)
                .expect(403);
        }
    }
    for token in [&of_mira, &inside] {
        server.post(token, "/v1/audit", &json!({})).expect(403);
        server.get(token, "/v1/conflicts").expect(403);
        let alias = json!({ "user": "mira", "other": "noor", "reason": why.0, "authority": why.1 });
        server.post(token, "/v1/persons/alias", &alias).expect(403);
        let settle = json!({ "keep": address });
        server
            .post(token, "/v1/conflicts/settle", &settle)
            .expect(403);
    }
    server
        .get(&all, &format!("/v1/grains/{address}"))
        .expect(200);
}

#[test]
fn a_token_of_a_user_erases_nothing_that_it_does_not_see() {
    let server = Server::new();
    let (all, of_mira) = (
        server.all(),
        Grant::new(ACTOR, Operation::ALL).for_user("mira"),
    );
    let of_mira = server.token(of_mira);
    server
        .post(&of_mira, "/v1/grains", &event("mine"))
        .expect(200);
    // About her, and of no user.
    let address = server
        .post(&all, "/v1/grains", &belief("mira", "tea"))
        .expect(200)
        .address();
    let report = server.post(&of_mira, "/v1/persons/report", &json!({ "user": "mira" }));
    let report = report.expect(200).json();
    assert_eq!(report["about"].as_array().unwrap().len(), 1);
    assert!(report["mentions"].is_null() && report["entries_written"].is_null());
    let erase = json!({ "user": "mira", "reason": "request 17", "authority": "the office" });
    server
        .post(&of_mira, "/v1/persons/erase", &erase)
        .expect(403);
    server
        .get(&all, &format!("/v1/grains/{address}"))
        .expect(200);
    server.post(&all, "/v1/persons/erase", &erase).expect(200);
}

#[test]
fn growth_counts_by_day_type_and_namespace() {
    let server = Server::new();
    let token = server.all();
    let mut inside = event("one");
    inside["namespace"] = json!("acme:a");
    for grain in [inside, event("two"), event("three"), belief("mira", "tea")] {
        server.post(&token, "/v1/grains", &grain).expect(200);
    }
    let told = server
        .post(&token, "/v1/growth", &json!({}))
        .expect(200)
        .json();
    let counts: u64 = { told["days"].as_array().unwrap().iter() }
        .map(|day| day["count"].as_u64().unwrap())
        .sum();
    assert_eq!(
        (counts, &told["counted"], &told["is_cut"]),
        (4, &json!(4), &json!(false))
    );
    assert_eq!(told["days"].as_array().unwrap().len(), 3, "{told}");
}

#[test]
fn groups_count_conversations_and_a_confined_token_is_told_of_its_own() {
    let server = Server::new();
    let all = server.all();
    for n in 0..7 {
        let mut grain = event(&n.to_string());
        grain["user_id"] = json!(if n == 6 { "noor" } else { "mira" });
        grain["session_id"] = json!(format!("talk {}", n % 2));
        grain["created_at"] = json!(1_768_471_200_000_i64 + n);
        server.post(&all, "/v1/grains", &grain).expect(200);
    }
    let told = |token: &str, body: &serde_json::Value| {
        let told = server.post(token, "/v1/groups", body).expect(200).json();
        let groups = told["groups"].as_array().unwrap().clone();
        let groups = groups.into_iter().map(|group| {
            let grains = group["grains"].as_array().unwrap().iter();
            let said = grains.map(|one| one["grain"]["content"].as_str().unwrap().to_owned());
            (
                group["value"].as_str().unwrap().to_owned(),
                group["count"].as_u64().unwrap(),
                said.collect::<Vec<_>>().join(" "),
            )
        });
        (told["total"].as_u64().unwrap(), groups.collect::<Vec<_>>())
    };
    let group = |value: &str, count, said: &str| (value.to_owned(), count, said.to_owned());
    let (even, odd) = (group("talk 0", 4, "0 2 4 6"), group("talk 1", 3, "1 3 5"));
    let sessions = json!({ "by": "session_id" });
    assert_eq!(told(&all, &sessions), (2, vec![even, odd.clone()]));
    let second = json!({ "by": "session_id", "skip": 1, "limit": 1 });
    assert_eq!(told(&all, &second), (2, vec![odd.clone()]));
    let types = json!({ "by": "type", "filter": { "user": "mira" } });
    assert_eq!(
        told(&all, &types),
        (1, vec![group("event", 6, "0 1 2 3 5")])
    );
    // A token of one person counts what it sees alone.
    let of_mira = server.token(Grant::new(ACTOR, [Operation::Read]).for_user("mira"));
    let own = (2, vec![odd, group("talk 0", 3, "0 2 4")]);
    assert_eq!(told(&of_mira, &sessions), own);
    assert_eq!(
        told(&of_mira, &types),
        (1, vec![group("event", 6, "0 1 2 3 5")])
    );
    for token in [&all, &of_mira] {
        let other = json!({ "by": "content" });
        server.post(token, "/v1/groups", &other).expect(400);
    }
}

#[test]
fn a_conversation_has_the_title_that_an_import_brought_where_the_token_sees_it() {
    let server = Server::new();
    let all = server.all();
    for (session, user) in [("a", "mira"), ("b", "noor")] {
        let mut turn = event(session);
        turn["session_id"] = json!(session);
        let title = json!({
            "type": "state", "context": { "title": format!("On {session}") },
            "session_id": session, "user_id": user, "created_at": 1_768_471_200_000_i64,
        });
        turn["user_id"] = json!("mira");
        for grain in [turn, title] {
            server.post(&all, "/v1/grains", &grain).expect(200);
        }
    }
    let titles = |token: &str| {
        let asked = json!({ "by": "session_id", "filter": { "type": "event" } });
        let told = server.post(token, "/v1/groups", &asked).expect(200).json();
        let groups = told["groups"].as_array().unwrap().iter();
        let titles = groups.map(|group| (group["value"].clone(), group["title"].clone()));
        titles.collect::<std::collections::HashMap<_, _>>()
    };
    let told = titles(&all);
    assert_eq!(
        (&told[&json!("a")], &told[&json!("b")]),
        (&json!("On a"), &json!("On b"))
    );
    let of_mira = server.token(Grant::new(ACTOR, [Operation::Read]).for_user("mira"));
    let told = titles(&of_mira);
    assert_eq!(
        (&told[&json!("a")], &told[&json!("b")]),
        (&json!("On a"), &json!(null))
    );
}

#[test]
fn the_audit_log_is_read_backwards_too() {
    let server = Server::new();
    let token = server.token(Grant::new(ACTOR, [Operation::Admin, Operation::Write]));
    for n in 0..5 {
        let mut grain = event(&n.to_string());
        grain["user_id"] = json!("mira");
        server.post(&token, "/v1/grains", &grain).expect(200);
    }
    let read = |newest_first: bool, person: Option<&str>| {
        let (mut seen, mut after) = (Vec::new(), json!(null));
        loop {
            let body = json!({
                "limit": 2, "after": after, "newest_first": newest_first, "person": person,
            });
            let told = server.post(&token, "/v1/audit", &body).expect(200).json();
            let entries = told["entries"].as_array().unwrap();
            seen.extend(entries.iter().map(|entry| entry["entry"].as_u64().unwrap()));
            after = told["next"].clone();
            if after.is_null() {
                return seen;
            }
        }
    };
    for person in [None, Some("mira")] {
        let mut forwards = read(false, person);
        assert!(forwards.len() >= 5, "{forwards:?}");
        forwards.reverse();
        assert_eq!(read(true, person), forwards);
    }
}

#[test]
fn the_audit_log_is_read_in_pages() {
    let server = Server::new();
    let token = server.token(Grant::new(ACTOR, [Operation::Admin, Operation::Write]));
    for n in 0..5 {
        server
            .post(&token, "/v1/grains", &event(&n.to_string()))
            .expect(200);
    }
    let (mut seen, mut after) = (0, json!(null));
    loop {
        let body = json!({ "limit": 2, "after": after, "operation": "store" });
        let told = server.post(&token, "/v1/audit", &body).expect(200).json();
        seen += told["entries"].as_array().unwrap().len();
        after = told["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(seen, 5);
    let reader = server.token(Grant::new(ACTOR, [Operation::Read]));
    server.post(&reader, "/v1/audit", &json!({})).expect(403);
}

/// The page and the library show the same characters by their numbers.
#[test]
fn the_page_shows_every_hidden_character() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/dom.js");
    let text = std::fs::read_to_string(path).unwrap();
    let class = text
        .split_once("/[")
        .unwrap()
        .1
        .split_once("]/gu")
        .unwrap()
        .0;
    let code = |part: &str| {
        let digits = part.trim_start_matches("\\u{").trim_end_matches('}');
        u32::from_str_radix(digits, 16).unwrap()
    };
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for part in class.split_inclusive('}') {
        match part.strip_prefix('-') {
            Some(end) => ranges.last_mut().unwrap().1 = code(end),
            None => ranges.push((code(part), code(part))),
        }
    }
    for c in ('\0'..=char::MAX).filter(|c| !['\t', '\n'].contains(c)) {
        let shown = grainstore::render::escaped(c.encode_utf8(&mut [0; 4])) != c.to_string();
        let number = u32::from(c);
        let in_page = ranges
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&number));
        assert_eq!(in_page, shown, "{number:04x}");
    }
}
