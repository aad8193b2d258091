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
