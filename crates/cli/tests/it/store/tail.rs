//! `tail`: what one process stores another prints as it is stored.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::command::{Home, belief, event};

#[test]
fn what_one_process_puts_is_printed_by_another_that_follows() {
    let home = Home::new();
    home.put(&belief("mira", "likes", "tea"));
    let mut command = home.command();
    let follow = [
        "tail",
        "--follow",
        "--from",
        "0",
        "--subject",
        "mira",
        "--json",
    ];
    let mut child = command.args(follow).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["grain"]["object"], "tea");
    home.put(&(belief("noor", "likes", "milk") + &belief("mira", "likes", "coffee")));
    let second = next();
    assert_eq!(second["grain"]["object"], "coffee");
    assert_eq!(second["entry"], 2);
    let stored = home.put(&belief("mira", "likes", "water"));
    assert_eq!(next()["address"], stored[0].as_str());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn without_following_all_that_is_stored_is_printed_in_order() {
    let home = Home::new();
    let stored = home.put(&(event("one", 1) + &event("two", 2) + &event("three", 3)));
    let ran = home.run(&["tail", "--json", "--from", "1"]);
    let printed: Vec<_> = ran.json_lines();
    let addresses: Vec<_> = printed
        .iter()
        .map(|line| line["address"].as_str().unwrap())
        .collect();
    assert_eq!(addresses, stored[1..]);
    let people = home.ok(&["tail"]);
    let words: Vec<_> = people.lines().map(|line| line.contains("two")).collect();
    assert_eq!(words, [false, true, false]);
    assert_eq!(home.run(&["tail", "--subject", "mira"]).code, 1);
    assert_eq!(home.run(&["tail", "--in", "elsewhere"]).code, 1);
}

#[test]
fn changes_since_a_time_and_by_an_author_are_shown_with_their_content() {
    let home = Home::new();
    // Of long ago, and stored now.
    home.put(&(event("one", 1) + &event("two", 2)));
    let since = |time| home.run(&["changes", "--since", time, "--by", "owner", "--json"]);
    let today = since("today").json_lines();
    assert_eq!(today.len(), 2);
    assert_eq!(today[1]["grain"]["content"], "two");
    assert_eq!(since("2999-01-01").code, 1);
    assert_eq!(home.run(&["changes", "--until", "yesterday"]).code, 1);
    assert_eq!(home.run(&["changes", "--by", "did:key:zAnother"]).code, 1);
    let both = home.ok(&["changes", "--until", "2999-01-01"]);
    assert_eq!(both.lines().count(), 2, "{both}");
}
