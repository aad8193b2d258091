//! The demo, in a directory of its own.

use std::time::Instant;

use crate::command::{Home, event};

#[test]
fn the_demo_shows_what_it_promises() {
    let home = Home::new();
    let began = Instant::now();
    let shown = home.ok(&["demo"]);
    for phrase in [
        "78 grains imported",
        "55 grains imported",
        "11 grains imported",
        "severe peanut allergy",
        "mira prefers filter coffee without sugar",
        "superseded by",
        "grainstore --store demo.grains recall",
        "error[ERR_INVALIDATION_DENIED]",
        "145 addresses compared, 0 differ",
        "acknowledged grains are durable",
        "no problems found",
        "Try next",
    ] {
        assert!(shown.contains(phrase), "{phrase}:\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colours in a pipe");
    assert!(began.elapsed().as_secs() < 30);
    // Every path that the demo names is there.
    let words = shown.split_whitespace();
    let paths: Vec<_> = words
        .filter(|word| word.starts_with("demo.") || word.starts_with("demo-"))
        .map(|word| word.trim_end_matches([',', '.', ':']))
        .collect();
    assert!(paths.contains(&"demo-data/grains.jsonl"), "{shown}");
    for left in paths
        .into_iter()
        .chain(["demo.grains", "demo.mg", "demo-copy.grains"])
    {
        assert!(home.path(left).exists(), "{left}");
    }
    for line in shown.lines().filter(|line| line.contains("$ grainstore")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let found = home.ok(&["--store", "demo.grains", "search", "climbing holds"]);
    assert!(!found.is_empty());
}

#[test]
fn the_demo_replaces_nothing() {
    for name in ["demo.grains", "demo-copy.grains", "demo.mg", "demo-data"] {
        let home = Home::new();
        let put = home.run_with(&["--store", name, "put", "-"], event("mine", 1));
        assert_eq!(put.code, 0, "{put:?}");
        let ran = home.run(&["--json", "demo"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert_eq!(ran.json()["error"]["code"], "ERR_STORE_EXISTS");
        assert_eq!(
            home.run(&["--json", "--store", name, "stats"]).json()["grains"],
            1
        );
        assert_eq!(std::fs::read_dir(home.path(".")).unwrap().count(), 1);
    }
    let home = Home::new();
    std::fs::create_dir(home.path("demo.grains")).unwrap();
    home.write("demo.grains/diary.txt", "mine");
    assert_eq!(home.run(&["demo"]).code, 2);
    assert!(home.path("demo.grains/diary.txt").exists());
}
