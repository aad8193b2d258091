//! `--store postgres://…`, `ship` and `pull`: a store that machines share, each with a cache.

use crate::command::{Home, event};
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
