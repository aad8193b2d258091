//! Every tool, as a model uses it.

use std::sync::Arc;

use grainstore::crypto::KeySource;
use grainstore::ledger::{Disk, EntryId, Ledger, MemoryDisk};
use grainstore::render::tokens;
use grainstore::{ContentAddress, Draft, Options, Store, Time};
use serde_json::json;

use crate::client::{Client, REVISIONS, STATELESS, parsed, store, text};
use grainstore_server::Scope;

#[test]
fn every_tool_has_schemas_a_title_and_hints_at_every_revision() {
    for revision in REVISIONS.into_iter().chain([STATELESS]) {
        let mut client = Client::at(Scope::owner(store()), revision, json!({}));
        let listed = client.result("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap();
        let names: Vec<_> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        let all = [
            "remember",
            "recall",
            "search",
            "query",
            "cal",
            "get",
            "history",
            "correct",
            "forget",
            "report",
            "import_conversation",
            "memory",
        ];
        assert_eq!(names, all, "{revision}");
        for tool in tools {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
            assert!(
                tool["title"].is_string() && tool["description"].is_string(),
                "{tool}"
            );
            // A client may know a part of JSON Schema only.
            let (input, whole) = (tool["inputSchema"].to_string(), tool.to_string());
            assert!(!input.contains("\"null\""), "{input}");
            assert!(!whole.contains("\"format\":\"uint"), "{whole}");
            let hints = &tool["annotations"];
            assert_eq!(hints["openWorldHint"], false, "{tool}");
            let name = tool["name"].as_str().unwrap();
            let reads = [
                "recall", "search", "query", "cal", "get", "history", "report",
            ]
            .contains(&name);
            assert_eq!(hints["readOnlyHint"], reads, "{tool}");
            let destroys = hints["destructiveHint"].as_bool();
            assert_eq!(destroys, (!reads).then_some(name == "forget"), "{tool}");
            assert_eq!(hints["idempotentHint"].is_boolean(), !reads, "{tool}");
        }
    }
}

#[test]
fn the_list_of_tools_costs_a_conversation_at_most_2500_tokens() {
    let mut client = Client::of(&store());
    let listed = client.result("tools/list", json!({}));
    let spent = tokens(&listed["tools"].to_string());
    assert!(spent <= 2_500, "{spent}");
}

#[test]
fn a_message_of_eight_words_costs_an_answer_at_most_100_tokens() {
    let store = store();
    let said = Draft::event("we meet on Monday morning in the office");
    let said = said.session("s-2026-01").user("mira").role("user");
    store.put(said.set("observer_id", "Noah")).unwrap();
    let mut client = Client::of(&store);
    for (tool, arguments) in [
        ("search", json!({ "question": "monday" })),
        ("query", json!({ "filter": { "since": "yesterday" } })),
    ] {
        let item = client.ok(tool, arguments.clone())["items"][0].clone();
        // The person, not the role.
        assert_eq!(item["speaker"], "Noah");
        let spent = cost(&mut client, tool, arguments);
        assert!(spent <= 100, "{tool}: {spent}");
    }
}

#[test]
fn a_query_for_changes_says_what_was_stored_since_and_by_whom() {
    let store = store();
    let did = "did:web:bot.acme.example";
    let old = Draft::belief("mira", "likes", "tea").created_at(Time::from_ms(1_000));
    let old = store.put(old).unwrap();
    let bot = store.as_actor(&did.parse().unwrap());
    let new = Draft::belief("mira", "likes", "coffee").created_at(Time::from_ms(2_000));
    bot.supersede(&old, new, None).unwrap();
    store.put(Draft::event("hello").session("s")).unwrap();
    let mut client = Client::of(&store);
    let mut asked = |arguments: serde_json::Value| client.ok("query", arguments);
    let of = |answer: &serde_json::Value| -> Vec<String> {
        let items = answer["items"].as_array().unwrap().iter();
        items
            .map(|item| item["text"].as_str().unwrap().to_owned())
            .collect()
    };
    // By the time of storing, whatever a grain says of its own.
    let all = asked(json!({ "changes_since": "yesterday" }));
    assert_eq!(of(&all), ["mira likes tea", "mira likes coffee", "hello"]);
    assert_eq!(all["items"][0]["is_current"], false);
    assert_eq!(all["items"][1]["stored_by"], did);
    assert!(all["items"][1]["stored_at"].is_string());
    assert_eq!(
        of(&asked(json!({ "changes_since": "yesterday", "by": did }))),
        ["mira likes coffee"]
    );
    let owners =
        json!({ "changes_since": "yesterday", "by": "owner", "filter": { "subject": "mira" } });
    assert_eq!(of(&asked(owners)), ["mira likes tea"]);
    // In pages, each of which begins where the one before ended.
    let first = asked(json!({ "changes_since": "yesterday", "limit": 2 }));
    let rest = json!({ "changes_since": "yesterday", "cursor": first["next_cursor"] });
    let rest = asked(rest);
    assert_eq!((of(&first).len(), of(&rest)), (2, vec!["hello".to_owned()]));
    assert!(rest["next_cursor"].is_null());
    for arguments in [
        json!({ "by": "owner" }),
        json!({ "changes_since": "yesterday", "sort": "time" }),
    ] {
        client.refused("query", arguments, "ERR_USAGE");
    }
    let cursor = json!({ "changes_since": "yesterday", "cursor": "x" });
    client.refused("query", cursor, "ERR_CURSOR");
}

#[test]
fn a_filter_of_a_tool_is_that_of_http_and_takes_words_for_times() {
    let store = store();
    store
        .put(Draft::event("said now").set("observer_id", "noah"))
        .unwrap();
    let old = Draft::event("said long ago").created_at(Time::from_ms(1_000));
    store.put(old).unwrap();
    let mut client = Client::of(&store);
    let mut total = |filter: serde_json::Value| {
        client.ok("query", json!({ "filter": filter }))["total"].clone()
    };
    assert_eq!(total(json!({})), 2);
    assert_eq!(total(json!({ "since": "2 hours ago" })), 1);
    assert_eq!(total(json!({ "until": "last week" })), 1);
    assert_eq!(total(json!({ "until": "1970-01" })), 1);
    // Listed for no model, and taken.
    assert_eq!(total(json!({ "observer": "noah" })), 1);
    let said = client.refused(
        "query",
        json!({ "filter": { "since": "soon" } }),
        "ERR_FILTER",
    );
    assert!(
        said.contains("\"soon\" names no time; write 2026-01-15"),
        "{said}"
    );
}

#[test]
fn what_is_remembered_is_recalled_with_its_source() {
    let mut client = Client::of(&store());
    let belief = json!({ "subject": "mira", "relation": "prefers", "object": "green tea" });
    let stored = client.ok("remember", belief);
    assert_eq!(stored["related"], json!([]));
    let recalled = client.call(
        "recall",
        json!({ "question": "what does mira drink, tea?" }),
    );
    let address = stored["address"].as_str().unwrap();
    assert!(
        text(&recalled).contains("mira prefers green tea"),
        "{recalled}"
    );
    assert!(text(&recalled).contains(&address[..8]), "{recalled}");
    let output = &recalled["structuredContent"];
    assert_eq!(output["sources"], json!([&address[..8]]));
    assert_eq!(output["found"], 1);
    assert_eq!(output["is_cut"], false);
    let nothing = client.call("recall", json!({ "question": "zebra" }));
    // No shared word is no proof that nothing is known.
    let told = "No memory shares a word with the question; other words may find one.";
    assert!(text(&nothing).contains(told), "{nothing}");
    assert!(!text(&nothing).contains("Nothing is known"), "{nothing}");
}

#[test]
fn what_is_believed_otherwise_is_shown_where_it_could_be_corrected() {
    let mut client = Client::of(&store());
    let belief =
        |object: &str| json!({ "subject": "mira", "relation": "lives_in", "object": object });
    let old = client.ok("remember", belief("Bern"))["address"].clone();
    let new = client.ok("remember", belief("Basel"));
    let old = &old.as_str().unwrap()[..8];
    assert_eq!(new["related"][0]["address"], old);
    assert_eq!(new["related"].as_array().unwrap().len(), 1);
}

#[test]
fn a_grain_of_any_type_can_be_remembered_with_its_fields() {
    let store = store();
    let mut client = Client::of(&store);
    let goal = json!({ "type": "goal", "description": "ship it", "goal_state": "active" });
    let stored = client.ok(
        "remember",
        json!({ "grain": goal, "user": "mira", "tags": ["work"], "time": "2026-01-15" }),
    );
    assert_eq!(stored["new"], true);
    let grain = store.get(&parsed(&stored["address"])).unwrap().unwrap();
    assert_eq!(grain.text("user_id"), Some("mira"));
    assert_eq!(grain.created_at().ms(), 1_768_435_200_000);
    let got = client.ok("get", json!({ "address": stored["address"] }));
    assert_eq!(got["grain"]["description"], "ship it");
    assert_eq!(got["grain"]["structural_tags"], json!(["work"]));
    assert_eq!(
        (&got["is_current"], &got["verification_status"]),
        (&json!(true), &json!("unverified"))
    );
}

#[test]
fn search_ranks_and_query_pages_through_everything_once() {
    let store = store();
    for at in 0..30 {
        store
            .put(Draft::event(format!("note {at} about tea")).session("s"))
            .unwrap();
    }
    let mut client = Client::of(&store);
    let found = client.ok("search", json!({ "question": "\"note 7\"", "limit": 3 }));
    assert_eq!(found["items"][0]["text"], "note 7 about tea");
    assert!(found["items"][0]["score"].as_f64().unwrap() > 0.0);

    let (mut seen, mut cursor) = (Vec::new(), json!(null));
    loop {
        let page = client.ok(
            "query",
            json!({ "filter": { "session": "s" }, "limit": 12, "max_tokens": 400, "cursor": cursor }),
        );
        assert_eq!(page["total"], 30);
        let items = page["items"].as_array().unwrap();
        assert!(!items.is_empty());
        assert_eq!(page["left_out"], 30 - items.len());
        seen.extend(
            items
                .iter()
                .map(|item| item["text"].as_str().unwrap().to_owned()),
        );
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let all: Vec<_> = (0..30).map(|at| format!("note {at} about tea")).collect();
    assert_eq!(seen, all);
}

#[test]
fn a_correction_supersedes_and_the_history_tells_both() {
    let store = store();
    let mut client = Client::of(&store);
    let old = client.ok(
        "remember",
        json!({ "subject": "mira", "relation": "lives_in", "object": "Bern", "session": "s1" }),
    );
    // A model gives what recall showed it: the first digits.
    let short = &old["address"].as_str().unwrap()[..8];
    let new = client.ok(
        "correct",
        json!({ "address": short, "text": "Basel", "reason": "moved" }),
    );
    assert_eq!(new["supersedes"], old["address"]);
    let grain = store.get(&parsed(&new["address"])).unwrap().unwrap();
    assert_eq!(
        (grain.text("object"), grain.text("session_id")),
        (Some("Basel"), Some("s1"))
    );

    let history = client.ok("history", json!({ "address": short }));
    let texts: Vec<_> = history["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["text"].clone())
        .collect();
    assert_eq!(texts, ["mira lives in Bern", "mira lives in Basel"]);
    let new_short = &new["address"].as_str().unwrap()[..8];
    assert_eq!(history["versions"][0]["superseded_by"], new_short);
    let found = client.ok("search", json!({ "question": "Bern" }));
    assert_eq!(found["total"], 0);

    let again = client.refused(
        "correct",
        json!({ "address": short, "text": "Chur" }),
        "ERR_CONFLICT",
    );
    assert!(again.contains("history"), "{again}");
    let cleared = client.ok(
        "correct",
        json!({ "address": new["address"], "fields": { "session_id": null, "confidence": 0.5 } }),
    );
    let grain = store.get(&parsed(&cleared["address"])).unwrap().unwrap();
    assert_eq!(
        (grain.text("object"), grain.text("session_id")),
        (Some("Basel"), None)
    );
}

#[test]
fn a_report_has_everything_about_a_person_with_old_versions() {
    let store = store();
    let mut client = Client::of(&store);
    let first = client.ok("remember", json!({ "text": "likes tea", "user": "mira" }));
    client.ok(
        "correct",
        json!({ "address": first["address"], "text": "likes coffee" }),
    );
    client.ok(
        "remember",
        json!({ "subject": "bob", "relation": "knows", "object": "mira", "user": "bob" }),
    );
    client.ok("remember", json!({ "text": "of another", "user": "bob" }));
    let report = client.ok("report", json!({ "user": "mira" }));
    assert_eq!(
        (&report["about_total"], &report["mentions_total"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["left_out"], 0);
    assert_eq!(report["about"].as_array().unwrap().len(), 2);
    assert_eq!(report["mentions"][0]["text"], "bob knows mira");
}

#[test]
fn a_conversation_is_imported_once_and_in_its_order() {
    let mut client = Client::of(&store());
    let messages = json!([
        { "role": "user", "content": "where did I climb?", "time": "2026-01-15T10:00:00Z" },
        { "role": "assistant", "content": "on the Eiger", "time": "2026-01-15T10:00:05Z" },
    ]);
    let import = json!({ "messages": messages, "session": "climb", "user": "mira" });
    let first = client.ok("import_conversation", import.clone());
    assert_eq!(
        (&first["stored"], &first["unchanged"]),
        (&json!(2), &json!(0))
    );
    let second = client.ok("import_conversation", import);
    assert_eq!(
        (&second["stored"], &second["unchanged"]),
        (&json!(0), &json!(2))
    );
    let recalled = client.call("recall", json!({ "question": "Eiger" }));
    let text = text(&recalled);
    assert!(
        text.find("user: where did I climb?") < text.find("assistant: on the Eiger"),
        "{text}"
    );
}

#[test]
fn an_export_of_another_tool_is_imported() {
    let mut client = Client::of(&store());
    let document = "{\"type\":\"event\",\"content\":\"hello\",\"created_at\":1}\nnot json\n";
    let imported = client.ok("import_conversation", json!({ "document": document }));
    assert_eq!(
        (&imported["stored"], &imported["refused"]),
        (&json!(1), &json!(1))
    );
    assert!(
        imported["reasons"][0].as_str().unwrap().contains("line 2"),
        "{imported}"
    );
    client.refused(
        "import_conversation",
        json!({ "document": "" }),
        "ERR_FORMAT_UNKNOWN",
    );
}

/// What an answer costs as text and as data.
fn cost(client: &mut Client, tool: &str, arguments: serde_json::Value) -> usize {
    let result = client.call(tool, arguments);
    tokens(&text(&result)).max(tokens(&result["structuredContent"].to_string()))
}

#[test]
fn no_answer_exceeds_its_tokens_and_each_says_what_it_left_out() {
    let store = store();
    let long = "tea and more ".repeat(5_000);
    let first = store
        .put(Draft::event(&long).session("s").user("mira"))
        .unwrap();
    for at in 0..200 {
        let draft = Draft::event(format!("note {at} about tea for mira {}", "x".repeat(at)));
        store.put(draft.session("s").user("mira")).unwrap();
    }
    let mut client = Client::of(&store);
    for max in [100, 500, 2_000, 20_000] {
        // The lines about what was left out, and a first item whose text was cut.
        let limit = max + 250;
        for (tool, arguments) in [
            ("recall", json!({ "question": "tea", "max_tokens": max })),
            (
                "search",
                json!({ "question": "tea", "limit": 100, "max_tokens": max }),
            ),
            ("query", json!({ "limit": 100, "max_tokens": max })),
            (
                "get",
                json!({ "address": first.to_string(), "max_tokens": max }),
            ),
            ("report", json!({ "user": "mira", "max_tokens": max })),
            (
                "history",
                json!({ "address": first.to_string(), "max_tokens": max }),
            ),
        ] {
            let spent = cost(&mut client, tool, arguments);
            assert!(spent <= limit, "{tool}: {spent} of {max}");
        }
    }
    let unbounded = json!({ "question": "tea", "limit": 9_999_999, "max_tokens": 999_999_999_u64 });
    let found = client.ok("search", unbounded);
    assert!(found["items"].as_array().unwrap().len() <= 100);
    assert_eq!(
        found["left_out"],
        201 - found["items"].as_array().unwrap().len()
    );
    let got = client.ok("get", json!({ "address": first.to_string() }));
    assert_eq!(got["left_out"], json!(["content"]));
}

#[test]
fn hidden_characters_of_stored_text_are_shown_to_the_model() {
    let store = store();
    let address = store
        .put(Draft::event("tea\u{200b}\u{e0041} for all"))
        .unwrap();
    let mut client = Client::of(&store);
    for (tool, arguments) in [
        ("recall", json!({ "question": "tea" })),
        ("search", json!({ "question": "tea*" })),
        ("get", json!({ "address": address.to_string() })),
    ] {
        let said = text(&client.call(tool, arguments));
        assert!(
            said.contains(r"tea\u{200B}\u{E0041} for all"),
            "{tool}: {said}"
        );
    }
}

#[test]
fn what_one_client_stores_another_recalls() {
    let store: Store = store();
    let mut one = Client::of(&store);
    let mut other = Client::of(&store);
    one.note("the meeting is on monday");
    let found = other.ok("search", json!({ "question": "meeting" }));
    assert_eq!(found["total"], 1);
}

#[test]
fn requests_in_flight_at_once_are_each_answered_once() {
    let store = store();
    let mut client = Client::of(&store);
    for at in 0..50 {
        let arguments = json!({ "text": format!("note {at}") });
        let params = json!({ "name": "remember", "arguments": arguments });
        let id = format!("call {at}");
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        client.write(&request.to_string());
    }
    let mut answered: Vec<_> = (0..50)
        .map(|_| client.read())
        .inspect(|said| assert_eq!(said["result"]["isError"], false, "{said}"))
        .map(|said| said["id"].as_str().unwrap().to_owned())
        .collect();
    answered.sort();
    answered.dedup();
    assert_eq!(answered.len(), 50);
    let all = store.query(&grainstore::Filter::new(), 100, None).unwrap();
    assert_eq!(all.total, 50);
}

#[test]
fn hidden_characters_are_shown_in_structured_content_and_resources_too() {
    let store = store();
    let mut client = Client::of(&store);
    let address = client.note("be\u{e0041}ware\u{202e} of\nlines");
    let got = client.ok("get", json!({ "address": address }));
    assert_eq!(
        got["grain"]["content"],
        "be\\u{E0041}ware\\u{202E} of\nlines"
    );
    let read = client.result(
        "resources/read",
        json!({ "uri": format!("grain://{address}") }),
    );
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(!text.contains(['\u{e0041}', '\u{202e}']), "{text}");
}

#[test]
fn no_model_ends_the_review_of_a_person() {
    let store = store();
    let mut client = Client::of(&store);
    let grain = json!({
        "type": "reasoning", "conclusion": "deny the loan", "requires_human_review": true,
    });
    let stored = client.ok("remember", json!({ "grain": grain }));
    for value in [json!(null), json!(false)] {
        let fields = json!({ "requires_human_review": value, "conclusion": "grant it" });
        let call = json!({ "address": stored["address"], "fields": fields });
        client.refused("correct", call, "ERR_REVIEW_REQUIRED");
    }
    client.ok(
        "correct",
        json!({ "address": stored["address"], "text": "grant it" }),
    );
}

#[test]
fn a_statement_of_cal_is_answered_within_the_tokens_and_refused_at_its_place() {
    let mut client = Client::of(&store());
    for object in ["green tea", "coffee <b>"] {
        let belief = json!({ "subject": "mira", "relation": "prefers", "object": object });
        client.ok("remember", belief);
    }
    let statement = "RECALL beliefs ABOUT $who AS sml";
    let asked = json!({ "statement": statement, "parameters": { "who": "mira" } });
    let told = client.ok("cal", asked);
    let answer = told["answer"].as_str().unwrap();
    assert_eq!(answer.lines().count(), 2, "{answer}");
    assert!(
        answer.contains(">prefers coffee &lt;b></belief>"),
        "{answer}"
    );
    let count = client.ok("cal", json!({ "statement": "RECALL beliefs | COUNT" }));
    assert!(
        count["answer"].as_str().unwrap().contains("\"count\":2"),
        "{count}"
    );

    for n in 0..60 {
        client.note(&format!("a note of some length, the number {n}"));
    }
    let asked = json!({ "statement": "RECALL events | LIMIT 60", "max_tokens": 100 });
    let told = client.ok("cal", asked);
    assert_eq!(told["is_cut"], true);
    let answer = told["answer"].as_str().unwrap();
    assert!(tokens(answer) <= 100 && answer.ends_with(")\n"), "{answer}");
    let refused = client.refused("cal", json!({ "statement": "RECALL fact" }), "CAL-E003");
    assert!(refused.contains("RECALL fact\n       ^^^^"), "{refused}");
}

#[test]
fn a_model_is_told_what_is_odd_about_what_it_stores() {
    let mut client = Client::of(&store());
    let misspelt = json!({ "grain": { "type": "event", "content": "hi", "userid": "mira" } });
    let stored = client.ok("remember", misspelt);
    assert!(
        stored["warnings"].to_string().contains("userid"),
        "{stored}"
    );
    let change = json!({ "address": stored["address"], "fields": { "sessionid": "s1" } });
    let stored = client.ok("correct", change);
    assert!(
        stored["warnings"].to_string().contains("sessionid"),
        "{stored}"
    );
}

#[test]
fn get_finds_a_sealed_grain_by_the_hash_of_its_ciphertext_while_unlocked() {
    // OMS 20.2.
    let disk = Arc::new(MemoryDisk::default());
    let options = Options {
        master_key: Some(Arc::new(KeySource::Callback(Box::new(|| {
            Ok(vec![7; 32].into())
        })))),
        ..Options::default()
    };
    let store = Store::open_on(Arc::clone(&disk) as Arc<dyn Disk>, options).unwrap();
    store.admin().unwrap().vault().add(&["mira"]).unwrap();
    store.admin().unwrap().unlock("mira").unwrap();
    let address = store.put(Draft::event("likes tea").user("mira")).unwrap();
    let id = store.maintenance().unwrap().stats().unwrap().store_id;
    let (ledger, _) = Ledger::open_to_read(disk, id, |_| Vec::new()).unwrap();
    let last = ledger.read(EntryId::new(ledger.len() - 1)).unwrap();
    let ciphertext = ContentAddress::of(&last.body).to_string();
    let mut client = Client::of(&store);
    let asked = json!({ "address": ciphertext });
    let found = client.ok("get", asked.clone());
    assert_eq!(found["address"], json!(address.to_string()));
    let uri = json!({ "uri": format!("grain://{ciphertext}") });
    let read = client.result("resources/read", uri);
    let read = read["contents"][0]["text"].as_str().unwrap();
    assert!(read.contains(&address.to_string()), "{read}");
    store.admin().unwrap().lock("mira").unwrap();
    client.refused("get", asked, "ERR_NOT_FOUND");
}
