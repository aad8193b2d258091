//! `--store postgres://…`, `ship` and `pull`: a store that machines share, each with a cache.

use serde_json::{Value, json};

use crate::command::{Home, event};
use crate::faces::mcp::{answer, call, hello};
use crate::faces::serve::Served;
use crate::server::Server;

#[test]
#[ignore = "needs PostgreSQL"]
fn a_store_on_postgresql_is_used_as_one_in_a_directory() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = format!("{}?store=acme", server.create("memory"));
    let home = Home::new();
    let at = |cache: &'static str| ["--store", url.as_str(), "--cache", cache].map(str::to_owned);
    let run = |cache, args: &[&str], stdin: &str| {
        let at = at(cache);
        let all: Vec<&str> = at
            .iter()
            .map(String::as_str)
            .chain(args.iter().copied())
            .collect();
        home.run_with(&all, stdin)
    };
    let missing = run("a", &["list"], "");
    assert_eq!(missing.code, 2, "{missing:?}");
    assert!(missing.stderr.contains("ERR_NOT_A_STORE"), "{missing:?}");

    let init = run("a", &["init"], "");
    assert_eq!(init.code, 0, "{init:?}");
    assert!(
        init.stderr.contains("synchronous_standby_names"),
        "{init:?}"
    );
    let again = run("b", &["init"], "");
    assert!(again.stderr.contains("ERR_STORE_EXISTS"), "{again:?}");

    let put = run("a", &["put", "-"], &event("the customer likes tea", 1));
    assert_eq!(put.code, 0, "{put:?}");
    let address = put.stdout.trim().to_owned();
    let found = run("b", &["search", "tea"], "");
    assert!(found.stdout.contains("likes tea"), "{found:?}");
    let deleted = run(
        "b",
        &[
            "delete",
            &address,
            "--yes",
            "--reason",
            "asked for",
            "--authority",
            "me",
        ],
        "",
    );
    assert_eq!(deleted.code, 0, "{deleted:?}");
    let gone = run("a", &["get", &address], "");
    assert_eq!(gone.code, 1, "{gone:?}");
    assert_eq!(run("a", &["check", "--deep"], "").code, 0);
    let alone = home.run(&["--store", "a", "put", "-"]);
    assert!(alone.stderr.contains("ERR_STORAGE_READ_ONLY"), "{alone:?}");

    // Without the server a question does not begin, or says that its answer is old.
    run("a", &["put", "-"], &event("the customer likes coffee", 2));
    server.crash();
    let refused = run("a", &["list"], "");
    assert!(refused.stderr.contains("ERR_UNREACHABLE"), "{refused:?}");
    let stale = run("a", &["--stale-ok", "list"], "");
    assert_eq!(
        (stale.code, stale.stdout.lines().count()),
        (0, 1),
        "{stale:?}"
    );
    assert!(stale.stderr.contains("does not answer"), "{stale:?}");
    let refused = run("a", &["--stale-ok", "put", "-"], &event("unheard", 3));
    assert!(refused.stderr.contains("ERR_UNREACHABLE"), "{refused:?}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_store_is_shipped_to_postgresql_and_pulled_back() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("moved");
    let home = Home::new();
    let lines: String = (0..20).map(|n| event(&format!("event {n}"), n)).collect();
    let addresses = home.put(&lines);
    let shipped = home.ok(&["ship", "memory.grains", &url]);
    assert!(shipped.contains("shipped memory.grains: "), "{shipped}");
    home.ok(&["ship", "memory.grains", &url]);
    let listed = home.ok(&["--store", &url, "--cache", "c", "list", "--limit", "50"]);
    assert!(addresses.iter().all(|address| listed.contains(address)));

    home.ok(&["pull", &url, "back"]);
    assert_eq!(
        home.ok(&["--store", "back", "list", "--limit", "50"]),
        listed
    );
    let refused = home.run(&["pull", "back", &url]);
    assert!(refused.stderr.contains("ERR_USAGE"), "{refused:?}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn long_frames_of_a_store_on_postgresql_lie_in_objects() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("bodies");
    let home = Home::new();
    let objects = home.path("objects");
    let bodies = format!("file://{}", objects.display());
    let at = |cache: &'static str, args: &[&str]| {
        let all = [&["--store", &url, "--cache", cache], args].concat();
        home.run(&all)
    };
    let refused = home.run(&["init", "--bodies", &bodies]);
    assert!(refused.stderr.contains("ERR_USAGE"), "{refused:?}");
    let refused = at("a", &["init", "--bodies", "nowhere"]);
    assert!(refused.stderr.contains("ERR_USAGE"), "{refused:?}");
    let init = at("a", &["init", "--bodies", &bodies]);
    assert_eq!(init.code, 0, "{init:?}");

    let letter = format!("the letter says {}", "and so on ".repeat(1_000));
    home.write("letter.jsonl", event(&letter, 1));
    let put = at("a", &["put", "letter.jsonl"]);
    assert_eq!(put.code, 0, "{put:?}");
    let address = put.stdout.trim();
    let longest = "SELECT max(octet_length(frame)) FROM grainstore_frames";
    let longest: u64 = server.sql("bodies", longest).parse().unwrap();
    assert!(longest < 2_000, "{longest}");
    let found = at("b", &["search", "letter"]);
    assert!(found.stdout.contains("letter says"), "{found:?}");

    // A machine that does not see the objects says so.
    let away = home.path("away");
    std::fs::rename(&objects, &away).unwrap();
    let refused = at("c", &["list"]);
    assert!(refused.stderr.contains("has no object"), "{refused:?}");
    std::fs::remove_dir_all(&objects).ok();
    std::fs::rename(&away, &objects).unwrap();
    assert_eq!(at("c", &["list"]).code, 0);

    home.ok(&["pull", &url, "back"]);
    let listed = home.ok(&["--store", "back", "list"]);
    assert!(listed.contains(&address[..8]), "{listed}");
    let moved = server.create("moved");
    let elsewhere = format!("file://{}", home.path("elsewhere").display());
    home.ok(&["ship", "back", &moved, "--bodies", &elsewhere]);
    let there = home.ok(&["--store", &moved, "--cache", "d", "list"]);
    assert_eq!(there, listed);
    let longest = server.sql(
        "moved",
        "SELECT max(octet_length(frame)) FROM grainstore_frames",
    );
    assert!(longest.parse::<u64>().unwrap() < 2_000, "{longest}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn agents_reach_a_store_on_postgresql_over_http_and_mcp() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.create("faces");
    let home = Home::new();
    let at = |cache: &'static str| ["--store", url.as_str(), "--cache", cache];
    home.ok(&[&at("a")[..], &["init"]].concat());

    let served = Served::of_store(&home, &at("a"));
    let put = served.put(&mut served.connect(), "the customer likes tea");
    let address = put.unwrap();
    let found = home.ok(&[&at("b")[..], &["get", &address]].concat());
    assert!(found.contains("likes tea"), "{found}");

    let belief = json!({ "subject": "mira", "relation": "prefers", "object": "green tea" });
    let asked = json!({ "question": "what does the customer like?" });
    let input = hello() + &call(1, "remember", &belief) + &call(2, "recall", &asked);
    let ran = home.run_with(&[&at("b")[..], &["mcp"]].concat(), input);
    assert_eq!(ran.code, 0, "{ran:?}");
    let recalled = answer(&ran, 2)["result"]["content"][0]["text"].to_string();
    assert!(recalled.contains("likes tea"), "{recalled}");
    let stored = answer(&ran, 1)["result"]["structuredContent"]["address"].clone();
    let stored = stored.as_str().unwrap();
    // The server that runs hears of it, and so does a command on a cache of its own.
    home.ok(&[&at("c")[..], &["get", stored]].concat());
    let path = format!("/v1/grains/{stored}");
    let is_heard = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        served.ask("GET", &path, &Value::Null).unwrap().0 == 200
    });
    assert!(is_heard, "the server does not hear of what another wrote");
}
