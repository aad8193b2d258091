//! `merge`: the grains of another store, with their status, once.

use crate::command::{Home, belief, event};

#[test]
fn another_store_is_merged_with_the_status_of_its_grains_and_only_read() {
    let home = Home::new();
    home.put(&event("ours", 1));
    let other = ["--store", "other.grains"];
    let put = home.run_with(
        &[&other[..], &["put", "-"]].concat(),
        belief("ana", "likes", "tea"),
    );
    let tea = put.stdout.trim().to_owned();
    home.ok(&[&other[..], &["correct", &tea, "--set", "object=milk"]].concat());
    let before = home.ok(&[&other[..], &["list"]].concat());

    let shown = home
        .run(&["merge", "other.grains", "--dry-run", "--json"])
        .json();
    assert_eq!(shown["inserted"], 2, "{shown}");
    assert_eq!(home.addresses().len(), 1);
    let merged = home.run(&["merge", "other.grains", "--json"]).json();
    assert_eq!(merged["inserted"], 2, "{merged}");
    assert_eq!(home.addresses().len(), 3);
    let status = home.run(&["status", &tea, "--json"]).json();
    assert_eq!(status["current"], false, "{status}");
    let again = home.run(&["merge", "other.grains", "--json"]).json();
    assert_eq!(again["inserted"], 0, "{again}");
    assert_eq!(home.ok(&[&other[..], &["list"]].concat()), before);
}

#[test]
fn a_grain_that_was_erased_here_does_not_come_back_by_a_merge() {
    let home = Home::new();
    let gone = home.put(&event("gone", 1)).remove(0);
    home.ok(&["backup", "copy"]);
    home.ok(&["restore", "copy", "other.grains"]);
    home.ok(&[
        "delete",
        &gone,
        "--reason",
        "r",
        "--authority",
        "a",
        "--yes",
    ]);
    home.run(&["merge", "other.grains"]);
    assert_eq!(home.addresses().len(), 0);
}

/// A store and an older copy of it, in which a belief is still current that was corrected since.
fn corrected(home: &Home) -> [String; 2] {
    let put = home.run_with(&["put", "-"], belief("ana", "lives in", "Porto"));
    let porto = put.stdout.trim().to_owned();
    let contract = home.put(&event("the contract", 1)).remove(0);
    home.ok(&["export", "--format", "jsonl", "-o", "old.jsonl"]);
    home.ok(&["--store", "copy.grains", "import", "old.jsonl"]);
    home.ok(&["correct", &porto, "--set", "object=Lisbon"]);
    [porto, contract]
}

fn is_current(home: &Home, address: &str) -> bool {
    let copy = ["--store", "copy.grains", "--json", "status", address];
    home.run(&copy).json()["current"] == true
}

#[test]
fn a_correction_and_a_hold_reach_the_other_store_by_a_merge() {
    let home = Home::new();
    let [porto, contract] = corrected(&home);
    let why = ["--reason", "Doe v. Acme", "--authority", "legal"];
    home.ok(&[&["hold", "place", &contract][..], &why].concat());
    let ran = home.run(&["--store", "copy.grains", "--json", "merge", "memory.grains"]);
    assert_eq!(
        (ran.code, &ran.json()["corrected"], &ran.json()["held"]),
        (0, &1.into(), &1.into()),
        "{}",
        ran.stdout
    );
    assert!(!is_current(&home, &porto));
    let held = home.run(&["--store", "copy.grains", "hold", "list"]).stdout;
    assert!(held.contains("Doe v. Acme"), "{held}");
}

#[test]
fn an_import_ends_what_ended_in_the_owners_copy_and_tells_what_ended_in_another_file() {
    let home = Home::new();
    let [porto, _] = corrected(&home);
    home.ok(&["export", "--format", "jsonl", "-o", "new.jsonl"]);
    let import = |more: &[&str]| {
        home.run(
            &[
                &["--store", "copy.grains", "--json", "import", "new.jsonl"],
                more,
            ]
            .concat(),
        )
    };
    let ran = import(&[]);
    assert_eq!(
        (ran.code, &ran.json()["corrected"]),
        (1, &0.into()),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.json()["unapplied"][0]["existing"], porto.as_str());
    assert!(is_current(&home, &porto));
    let ran = import(&["--own"]);
    assert_eq!(
        (ran.code, &ran.json()["corrected"]),
        (0, &1.into()),
        "{}",
        ran.stdout
    );
    assert!(!is_current(&home, &porto));
}

#[test]
fn an_increment_from_where_the_last_export_ended_has_what_ended_since() {
    let home = Home::new();
    let put = home.run_with(&["put", "-"], belief("ana", "lives in", "Porto"));
    let porto = put.stdout.trim().to_owned();
    home.put(&event("other", 1));
    let told = home
        .run(&["--json", "export", "--format", "jsonl", "-o", "one.jsonl"])
        .json();
    home.ok(&["--store", "copy.grains", "import", "one.jsonl"]);
    home.ok(&["correct", &porto, "--set", "object=Lisbon"]);
    let next = told["next"].to_string();
    let told = home.run(&[
        "--json",
        "export",
        "--format",
        "jsonl",
        "--from",
        &next,
        "-o",
        "two.jsonl",
    ]);
    assert_eq!(told.json()["grains"], 2, "{}", told.stdout);
    home.ok(&["--store", "copy.grains", "import", "--own", "two.jsonl"]);
    assert!(!is_current(&home, &porto));
}
