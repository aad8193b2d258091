//! `query`, `search`, `recall`, `similar`: results, envelopes, pages, and escaping of hostile text.

use crate::command::{Home, belief, event, sample};

#[test]
fn a_query_is_answered_in_the_envelope_of_the_specification() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    let args = [
        "--json",
        "query",
        "--subject",
        "mira",
        "--relation",
        "mg:prefers",
    ];
    let answer = home.run(&args).json();
    assert_eq!(answer["total"], 7);
    let first = &answer["results"][0];
    assert_eq!(first["grain"]["subject"], "mira");
    assert_eq!(first["score"], 1.0);
    assert_eq!(
        first["matched_fields"],
        serde_json::json!(["subject", "relation"])
    );
    assert_eq!(first["content_address"].as_str().unwrap().len(), 64);

    let page = home.run(&[&args[..], &["--limit", "4"]].concat()).json();
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = [&args[..], &["--limit", "4", "--cursor", cursor]].concat();
    let rest = home.run(&rest).json();
    assert_eq!(rest["results"].as_array().unwrap().len(), 3);
    assert_eq!(rest["results"][2], answer["results"][6]);
}

#[test]
fn each_filter_keeps_what_it_says() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    let total = |args: &[&str]| {
        // Some of it expires in 2027, by the machine's clock.
        let query = ["--json", "query", "--limit", "0", "--expired"];
        let ran = home.run(&[&query, args].concat());
        assert!(ran.code <= 1, "{ran:?}");
        ran.json()["total"].as_u64().unwrap()
    };
    assert_eq!(total(&[]), 54);
    assert_eq!(total(&["--unreviewed"]), 55);
    assert_eq!(total(&["--type", "consent"]), 3);
    assert_eq!(total(&["--namespace", "studio:climbing:sensors"]), 9);
    assert!(total(&["--namespace", "studio"]) > 9);
    assert_eq!(total(&["--run", "wall-watch"]), 3);
    assert_eq!(total(&["--session", "dutch-2026-11-10"]), 5);
    assert_eq!(
        total(&["--tag", "phi:allergy", "--tag", "phi:medication"]),
        1
    );
    assert_eq!(total(&["--user", "nobody"]), 0);
    assert_eq!(total(&["--object", "A2"]), 1);
    let sure = total(&["--confidence", "0.9.."]);
    assert!(sure > 0 && sure < total(&["--confidence", "0.."]));
    assert_eq!(total(&["--verification", "unverified"]), 54);
    let tagged = total(&["--tag", "phi:allergy"]);
    assert_eq!(total(&["--no-tag", "phi:allergy"]), 54 - tagged);
    assert_eq!(total(&["--source-type", "nobody"]), 0);
    let before = total(&["--until", "2026-10-01"]);
    let after = total(&["--since", "2026-10-02"]);
    assert!(before > 0 && after > 0);
    assert_eq!(before + after, 54);
}

#[test]
fn superseded_grains_show_when_asked_for() {
    let home = Home::new();
    let old = home.put(&belief("user", "prefers", "tea")).remove(0);
    home.write("new.json", belief("user", "prefers", "coffee"));
    let new = home.ok(&["supersede", &old, "new.json"]);
    let query = ["--json", "query", "--subject", "user"];
    assert_eq!(home.run(&query).json()["total"], 1);
    assert_eq!(
        home.run(&[&query[..], &["--superseded"]].concat()).json()["total"],
        2
    );
    let derived = home
        .run(&["--json", "query", "--derived-from", &old])
        .json();
    assert_eq!(derived["results"][0]["content_address"], new.trim());
}

#[test]
fn what_was_known_and_what_was_true_is_asked_on_the_command_line() {
    let home = Home::new();
    let oslo = "{\"type\":\"belief\",\"subject\":\"mira\",\"relation\":\"lives_in\",\"object\":\"Oslo\",\"confidence\":0.9,\"system_valid_from\":1000,\"valid_to\":5000}\n";
    let old = home.put(oslo).remove(0);
    home.write("new.json", belief("mira", "lives_in", "Bergen"));
    let new = home.ok(&["supersede", &old, "new.json"]);
    let found = |args: &[&str]| {
        let answer = home.run(&[&["--json", "query"], args].concat()).json();
        let results = answer["results"].as_array().unwrap().clone();
        let addresses = results
            .iter()
            .map(|found| found["content_address"].as_str());
        addresses
            .map(|address| address.unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), [new.trim()]);
    assert_eq!(found(&["--known-at", "1970-01-01"]), [old.as_str()]);
    assert_eq!(found(&["--known-at", "999"]), [] as [&str; 0]);
    assert_eq!(
        found(&["--known-at", "2000", "--valid-at", "5001"]),
        [] as [&str; 0]
    );
    assert_eq!(found(&["--only-superseded"]), [old.as_str()]);
    assert_eq!(
        found(&["--superseded", "--sort", "stored", "--desc"]),
        [new.trim(), &old]
    );
}

#[test]
fn what_has_expired_is_shown_when_asked_for() {
    let home = Home::new();
    let lent = "{\"type\":\"belief\",\"subject\":\"mira\",\"relation\":\"has_lent\",\"object\":\"her drill\",\"confidence\":0.9,\"valid_to\":5000}\n";
    let address = home.put(lent).remove(0);
    let vector = format!("{{\"address\":\"{address}\",\"model\":\"m\",\"vector\":[1, 0]}}");
    home.write("vectors.jsonl", vector);
    home.ok(&["embed", "vectors.jsonl"]);
    home.write("vector.json", "[1, 0]");
    let ways: [&[&str]; 4] = [
        &["query"],
        &["search", "drill"],
        &["recall", "what has she lent?"],
        &["similar", "--model", "m", "--vector", "vector.json"],
    ];
    for way in ways {
        assert_eq!(home.run(way).code, 1, "{way:?}");
        let shown = home.run(&[way, &["--expired"]].concat());
        assert_eq!(shown.code, 0, "{shown:?}");
    }
    assert!(home.ok(&["get", &address]).contains("drill"));
    assert!(home.ok(&["export", "--format", "jsonl"]).contains("drill"));
}

#[test]
fn a_query_says_how_it_is_answered() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    let query = [
        "query",
        "--subject",
        "mira",
        "--confidence",
        "0.9..",
        "--explain",
    ];
    let shown = home.run(&query);
    assert!(
        shown.stdout.contains("subject = \"mira\": rows that fit"),
        "{shown:?}"
    );
    let plan = home.run(&[&["--json"], &query[..]].concat()).json();
    let total = plan["total"].as_u64().unwrap();
    assert!(total > 0, "{plan}");
    assert_eq!(
        plan["steps"].as_array().unwrap().last().unwrap()["left"],
        total
    );
    let surest = [
        "--json",
        "query",
        "--sort",
        "confidence",
        "--desc",
        "--limit",
        "2",
    ];
    let first = home.run(&surest).json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = home
        .run(&[&surest[..], &["--cursor", cursor]].concat())
        .json();
    let sure = |answer: &serde_json::Value, n: usize| {
        answer["results"][n]["grain"]["confidence"]
            .as_f64()
            .unwrap()
    };
    assert!(sure(&first, 0) >= sure(&first, 1) && sure(&first, 1) >= sure(&rest, 0));
    let wrong = home.run(&["--json", "query", "--sort", "size"]).json();
    assert_eq!(wrong["error"]["code"], "ERR_USAGE");
}

#[test]
fn a_search_lists_the_best_first() {
    let home = Home::new();
    home.ok(&["import", &sample("sample.mg")]);
    let shown = home.run(&["search", "peanut", "allergy"]);
    assert!(
        shown
            .stdout
            .lines()
            .next()
            .unwrap()
            .contains("klimkade bar"),
        "{shown:?}"
    );
    assert!(shown.stderr.contains(" of "), "{shown:?}");
    let answer = home.run(&["--json", "search", "peanut allergy", "--type", "belief"]);
    let answer = answer.json();
    assert_eq!(answer["results"][0]["grain"]["type"], "belief");
    let nothing = home.run(&["search", "submarine"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""));
}

#[test]
fn a_search_by_words_finds_no_other_form_and_takes_nothing_from_other_turns() {
    let home = Home::new();
    home.put(&event("I am allergic to peanuts", 1));
    assert_eq!(home.run(&["search", "allergies"]).code, 0);
    assert_eq!(home.run(&["search", "allergies", "--by-words"]).code, 1);
    let by_words = ["--json", "search", "peanuts", "--by-words", "--explain"];
    let answer = home.run(&by_words).json();
    let explanation = answer["results"][0]["explanation"].as_object().unwrap();
    assert!(explanation.keys().eq(["words"]), "{answer}");
}

#[test]
fn a_search_explains_its_scores_and_a_question_finds_another_form_of_a_word() {
    let home = Home::new();
    home.put(&event("I am allergic to peanuts", 1));
    home.put(&event("the weather was fine", 2));
    let shown = home.run(&["search", "any allergies?", "--explain"]);
    let mut lines = shown.stdout.lines();
    assert!(lines.next().unwrap().contains("peanuts"), "{shown:?}");
    let explained = lines.next().unwrap().trim_start();
    assert!(explained.starts_with("words "), "{shown:?}");
    let answer = home
        .run(&["--json", "search", "peanuts", "--explain"])
        .json();
    let result = &answer["results"][0];
    assert!(
        result["explanation"]["words"].as_f64().unwrap() > 0.0,
        "{answer}"
    );
    let known = home.run(&["recall", "any allergies?"]);
    assert!(known.stdout.contains("peanuts"), "{known:?}");
    assert!(!known.stdout.contains("weather"), "{known:?}");
}

#[test]
fn a_search_shows_where_it_fits_and_a_wrong_one_says_where_it_is_wrong() {
    let home = Home::new();
    let long = format!(
        "{} then we drank oolong tea by the lake",
        "blah ".repeat(60)
    );
    home.put(&event(&long, 1));
    let shown = home.run(&["search", "drink* AND oolong OR drank"]);
    let line = shown.stdout.lines().next().unwrap();
    assert!(line.contains("drank oolong tea"), "{shown:?}");
    assert!(!shown.stdout.contains('\u{1b}'), "{shown:?}");
    let wrong = home.run(&["--json", "search", "tea AND (cup"]);
    assert_eq!(
        (wrong.code, &wrong.json()["error"]["code"]),
        (2, &"ERR_SEARCH_SYNTAX".into())
    );
    let wrong = home.run(&["search", "objct:tea"]);
    assert!(
        wrong.stderr.contains("at 0") && wrong.stderr.contains("object"),
        "{wrong:?}"
    );
}

#[test]
fn a_question_recalls_lines_with_where_they_come_from() {
    let home = Home::new();
    home.ok(&["import", &sample("sample.mg")]);
    let known = home.run(&["recall", "is there a peanut allergy?", "--budget", "300"]);
    assert!(
        known.stdout.starts_with("## Facts\n- ") && known.stdout.contains("eanut"),
        "{known:?}"
    );
    let json = home.run(&["--json", "recall", "peanut"]).json();
    let line = &json["passages"][0]["lines"][0];
    assert_eq!(line["content_address"].as_str().unwrap().len(), 64);
    let plain = home.run(&["recall", "peanut", "--format", "text"]);
    assert!(plain.stdout.starts_with('['), "{plain:?}");
    assert_eq!(home.run(&["recall", "submarine"]).code, 1);
}

#[test]
fn a_recall_says_how_often_something_was_told() {
    let home = Home::new();
    for (text, number) in [
        ("watered the orchid", 1),
        ("watered the orchid and the fern", 2),
    ] {
        home.put(&event(text, number));
    }
    let known = home.run(&["recall", "How often did I water the orchid?"]);
    assert!(known.stdout.starts_with("Told 2 times, from "), "{known:?}");
    let json = home.run(&["--json", "recall", "How often did I water the orchid?"]);
    let told = &json.json()["told"];
    assert_eq!(told["count"], 2);
    assert!(told["first"].as_i64() < told["last"].as_i64(), "{told}");
}

#[test]
fn nothing_found_is_exit_1_and_a_wrong_question_is_exit_2() {
    let home = Home::new();
    home.put(&event("something", 1));
    assert_eq!(home.run(&["query", "--subject", "nobody"]).code, 1);
    let ran = home.run(&["--json", "query", "--cursor", "41"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["code"]),
        (2, &"ERR_CURSOR".into())
    );
    let ran = home.run(&["--json", "query", "--namespace", "studio:"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["code"]),
        (2, &"ERR_FILTER".into())
    );
    let ran = home.run(&["--json", "query", "--type", "fcat"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["code"]),
        (2, &"ERR_USAGE".into())
    );
    assert!(
        ran.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("belief")
    );
}

#[test]
fn text_of_strangers_cannot_drive_the_terminal() {
    let home = Home::new();
    let hostile = belief("\\u001b]0;owned\\u0007", "is", "\\u202egnp.exe\\u009b2J");
    let address = home.put(&hostile).remove(0);
    let address = address.as_str();
    for args in [
        &["query"][..],
        &["get", address],
        &["history", address],
        &["search", "owned"],
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, 0, "{ran:?}");
        let is_hostile = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!ran.stdout.contains(is_hostile), "{ran:?}");
        assert!(ran.stdout.contains("\\u{202E}"), "{ran:?}");
    }
    let json = home.run(&["--json", "get", address]).json();
    assert_eq!(json["grain"]["object"], "\u{202e}gnp.exe\u{9b}2J");
    let error = home.run_with(&["put", "-"], "{\"type\":\"\\u001b[31mred\"}\n");
    assert!(!error.stderr.contains('\u{1b}'), "{error:?}");
}

#[test]
fn vectors_that_were_brought_find_what_is_near() {
    let home = Home::new();
    let put = |text: &str, ms| home.put(&event(text, ms)).remove(0);
    let [tea, coffee, sea] = [put("tea", 1), put("coffee", 2), put("sea", 3)];
    home.write(
        "vectors.jsonl",
        format!(
            "{{\"address\":\"{tea}\",\"vector\":[1,0]}}\n{{\"address\":\"{coffee}\",\"vector\":[0.9,0.1]}}\n\
             {{\"address\":\"{sea}\",\"model\":\"m\",\"vector\":[-1,0.5]}}\n"
        ),
    );
    let kept = home.ok(&["embed", "vectors.jsonl", "--model", "m"]);
    assert_eq!(kept.trim(), "3 vectors stored");
    let found = |args: &[&str]| {
        let answer = home.run(&[&["--json", "similar", "--model", "m"], args].concat());
        let answer = answer.json();
        let results = answer["results"].as_array().unwrap().clone();
        let addresses = results
            .iter()
            .map(|found| found["content_address"].as_str());
        addresses
            .map(|address| address.unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&[&tea]), [coffee.as_str(), &sea]);
    home.write("asked.json", "[0.9, 0.1]");
    assert_eq!(
        found(&["--vector", "asked.json", "--limit", "1"]),
        [coffee.as_str()]
    );
    let both = ["--vector", "asked.json", "--words", "sea"];
    assert_eq!(found(&both)[0], sea);
    home.write(
        "wrong.jsonl",
        format!("{{\"address\":\"{tea}\",\"vector\":[1,2,3]}}\n"),
    );
    let wrong = home.run(&["--json", "embed", "wrong.jsonl", "--model", "m"]);
    assert_eq!(
        (wrong.code, &wrong.json()["error"]["code"]),
        (2, &"ERR_EMBEDDING".into())
    );
}

#[test]
fn a_session_is_read_in_the_order_of_its_events_and_a_group_under_its_observer() {
    let home = Home::new();
    let turn = |text: &str, at: i64| {
        format!(
            r#"{{"type":"event","content":"{text}","session_id":"s","created_at":9,"timestamp_ms":{at}}}"#
        )
    };
    home.put(&turn("second", 2_000));
    home.put(&turn("first", 1_000));
    let contents = |args: &[&str]| -> Vec<String> {
        let answer = home.run(&[&["--json", "query"], args].concat()).json();
        let results = answer["results"].as_array().unwrap().iter();
        let text = |found: &serde_json::Value| found["grain"]["content"].as_str().unwrap().into();
        results.map(text).collect()
    };
    assert_eq!(contents(&["--session", "s"]), ["first", "second"]);
    assert_eq!(
        contents(&["--sort", "timestamp_ms", "--desc"]),
        ["second", "first"]
    );
    assert_eq!(
        contents(&["--sort", "stored", "--session", "s"]),
        ["second", "first"]
    );
    assert_eq!(contents(&["--until", "1500"]), ["first"]);

    let seen = |id: &str, author: &str| {
        home.put(&format!(
            r#"{{"type":"observation","observer_id":"{id}","observer_type":"camera","author_did":"{author}","subject_did":"did:web:mira","entity_id":"door","created_at":{}}}"#,
            id.len()
        ))
    };
    seen("cam-1", "did:web:a");
    seen("cam-22", "did:web:b");
    let total = |args: &[&str]| {
        let ran = home.run(&[&["--json", "query", "--limit", "0"], args].concat());
        ran.json()["total"].as_u64().unwrap()
    };
    assert_eq!(total(&["--observer-type", "camera"]), 2);
    assert_eq!(total(&["--observer", "cam-1"]), 1);
    assert_eq!(total(&["--author", "did:web:b"]), 1);
    assert_eq!(
        total(&["--subject-did", "did:web:mira", "--entity-id", "door"]),
        2
    );
    let groups = home.run(&["--json", "query", "--by-observer"]).json();
    let groups = groups["by_observer"].as_array().unwrap();
    let ids: Vec<_> = groups
        .iter()
        .map(|group| group["observer_id"].as_str())
        .collect();
    assert_eq!(ids, [None, Some("cam-1"), Some("cam-22")]);
    assert_eq!(groups[0]["content_addresses"].as_array().unwrap().len(), 2);
    let text = home.ok(&["query", "--by-observer"]);
    assert!(text.contains("\ncamera cam-22\n"), "{text}");
}
