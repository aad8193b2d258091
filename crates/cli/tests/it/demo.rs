//! The demo: twice, in a directory of its own.

use std::time::Instant;

use crate::command::Home;

#[test]
fn the_demo_runs_twice_and_shows_what_it_promises() {
    let home = Home::new();
    for _ in 0..2 {
        let began = Instant::now();
        let shown = home.ok(&["demo"]);
        for phrase in [
            "78 grains imported",
            "55 grains imported",
            "11 grains imported",
            "severe peanut allergy",
            "mira prefers filter coffee without sugar",
            "superseded by",
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
    }
    for left in ["demo.grains", "demo.mg", "demo-copy.grains"] {
        assert!(home.path(left).exists(), "{left}");
    }
    let found = home.ok(&["--store", "demo.grains", "search", "climbing holds"]);
    assert!(!found.is_empty());
}

#[test]
fn the_demo_removes_nothing_that_is_not_a_store() {
    let home = Home::new();
    std::fs::create_dir(home.path("demo.grains")).unwrap();
    home.write("demo.grains/diary.txt", "mine");
    let ran = home.run(&["--json", "demo"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(ran.json()["error"]["code"], "ERR_NOT_A_STORE");
    assert!(home.path("demo.grains/diary.txt").exists());
}
