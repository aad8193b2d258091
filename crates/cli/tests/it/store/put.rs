//! `put`: when a grain is acknowledged, and which errors discard which lines.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::command::{Home, event};

#[test]
fn every_line_of_a_file_gets_its_address_in_order() {
    let home = Home::new();
    home.write("grains.jsonl", event("one", 1) + "\n" + &event("two", 2));
    let printed = home.ok(&["put", "grains.jsonl"]);
    let listed = home.ok(&["list"]);
    assert_eq!(printed.lines().count(), 2);
    assert_eq!(printed, listed);
    assert_eq!(
        home.ok(&["put", "grains.jsonl"]),
        printed,
        "again is a no-op"
    );
    assert_eq!(home.ok(&["list"]), listed);
}

#[test]
fn a_grain_that_was_stored_before_is_told_from_a_new_one() {
    let home = Home::new();
    home.put(&event("one", 1));
    let lines = event("one", 1) + "\n" + &event("two", 2) + "\n" + &event("two", 2);
    home.write("grains.jsonl", lines);
    let ran = home.run(&["--json", "put", "grains.jsonl"]);
    let stored = ran.json_lines();
    let new: Vec<_> = stored.iter().map(|line| line["new"].as_bool()).collect();
    assert_eq!(new, [Some(false), Some(true), Some(false)], "{ran:?}");
    let again = home.run(&["put", "grains.jsonl"]);
    let note = "3 of 3 grains were stored before";
    assert!(again.stderr.contains(note), "{again:?}");
}

#[test]
fn a_writer_that_waits_gets_each_address_before_it_writes_the_next_line() {
    let home = Home::new();
    let mut child = home
        .command()
        .args(["put", "-", "--keep-going"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for number in 0..3 {
        let line = event("waiting", number);
        stdin.write_all(line.as_bytes()).unwrap();
        let mut address = String::new();
        stdout.read_line(&mut address).unwrap();
        assert_eq!(address.trim_end().len(), 64);
        // Alone in the pipe, and not the end of it.
        stdin.write_all(b"nonsense\n").unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_file_with_a_wrong_line_is_not_stored_at_all() {
    let home = Home::new();
    let good: String = (0..600).map(|number| event("good", number)).collect();
    home.write("bad.jsonl", good + "{\"type\":\"belief\"}\n");
    let ran = home.run(&["--json", "put", "bad.jsonl"]);
    ran.fails(2, "ERR_SCHEMA", "bad.jsonl, line 601");
    assert!(
        !home.path("memory.grains").exists(),
        "not even a store was made"
    );
}

#[test]
fn a_wrong_line_on_stdin_takes_back_its_batch_and_nothing_that_was_printed() {
    let home = Home::new();
    let good: String = (0..600).map(|number| event("good", number)).collect();
    let ran = home.run_with(&["put", "-"], good + "{\"type\"\n" + &event("after", 1));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("stdin, line 601"), "{ran:?}");
    let printed: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(home.addresses(), printed);
    assert!(printed.len() >= 256, "whole batches before it are stored");
}

#[test]
fn keep_going_stores_what_is_right_and_reports_what_is_not() {
    let home = Home::new();
    home.write(
        "mixed.jsonl",
        event("one", 1) + "nonsense\n" + &event("two", 2),
    );
    let ran = home.run(&["--json", "put", "--keep-going", "mixed.jsonl"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines = ran.json_lines();
    let refused: Vec<_> = lines
        .iter()
        .filter(|line| !line["error"].is_null())
        .collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0]["line"], 2);
    assert_eq!(refused[0]["error"]["code"], "ERR_JSON");
    assert_eq!(home.addresses().len(), 2);
}

#[test]
fn what_would_replace_a_grain_by_the_back_door_is_denied_and_its_batch_with_it() {
    let home = Home::new();
    let old = home
        .put(&crate::command::belief("user", "prefers", "tea"))
        .remove(0);
    let new = crate::command::belief("user", "prefers", "coffee");
    let new = new.replace(
        "\"type\"",
        &format!("\"derived_from\":[\"{old}\"],\"type\""),
    );
    home.write("two.jsonl", event("innocent", 7) + &new);
    let ran = home.run(&["--json", "put", "two.jsonl"]);
    ran.fails(3, "ERR_INVALIDATION_DENIED", "two.jsonl, line 2");
    assert_eq!(home.addresses(), [old]);
    let ran = home.run(&["put", "--keep-going", "two.jsonl"]);
    assert_eq!((ran.code, home.addresses().len()), (1, 2), "{ran:?}");
}

#[test]
fn a_grain_without_a_time_gets_the_time_of_now() {
    let home = Home::new();
    let address = home
        .put("{\"type\":\"event\",\"content\":\"now\"}\n")
        .remove(0);
    let grain = home.run(&["--json", "get", &address]).json();
    assert!(grain["grain"]["created_at"].as_i64().unwrap() > 1_700_000_000_000);
}

#[test]
fn blobs_can_be_put_as_encode_writes_them() {
    let home = Home::new();
    let encoded = home.run_with(&["grain", "encode", "--encoding", "cbor"], event("cbor", 9));
    let address = encoded.json()["address"].as_str().unwrap().to_owned();
    assert_eq!(home.put(&encoded.stdout), [address]);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = Home::new();
    home.put(
        &(0..3000)
            .map(|number| event("many", number))
            .collect::<String>(),
    );
    let mut child = home
        .command()
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn what_was_read_is_stored_although_nobody_reads_the_addresses() {
    let home = Home::new();
    let lines: String = (0..3_000).map(|number| event("unheard", number)).collect();
    let mut child = home
        .command()
        .args(["put", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let (head, tail) = lines.split_at(lines.find('\n').unwrap() + 1);
    stdin.write_all(head.as_bytes()).unwrap();
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    stdin.write_all(tail.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("3000 grains stored"), "{message}");
    assert_eq!(home.addresses().len(), 3_000);
}

#[test]
fn commands_that_are_started_at_once_all_succeed() {
    let home = Home::new();
    home.ok(&["init"]);
    let start = |number: u64| {
        let name = format!("{number}.jsonl");
        home.write(&name, event("at once", number));
        let mut command = home.command();
        command.args(["--wait", "120", "put", &name]);
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..24).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(home.addresses().len(), 24);
}

#[test]
fn every_way_in_gives_the_same_warnings() {
    let home = Home::new();
    let grain = |more: &str| {
        format!(
            r#"{{"type":"observation","observer_id":"o","created_at":1,"observer_type":"llm"{more}}}"#
        )
    };
    let cases = [
        (grain(""), &["observer_model"][..]),
        (grain(r#","observer_model":"m","source_type":"sensor""#), &["source_type"]),
        (grain(r#","observer_model":"m","observation_mode":"active""#), &["context.probe"]),
        (
            grain(r#","observer_model":"m","observation_mode":"reflective""#),
            &["derived_from", "observation_scope"],
        ),
        (
            grain(r#","observer_model":"m","observation_scope":"longitudinal""#),
            &["derived_from"],
        ),
        (
            r#"{"type":"event","content":"x","created_at":1,"parent_message_id":"0000000000000000000000000000000000000000000000000000000000000000"}"#.to_owned(),
            &["session_id"],
        ),
        (
            r#"{"type":"belief","subject":"a","relation":"mg:knows","object":"b","confidence":1.0,"created_at":1,"source_type":"consolidated"}"#.to_owned(),
            &["consolidation_level", "derived_from"],
        ),
        (grain(r#","observer_model":"m""#), &[]),
    ];
    for (line, expected) in cases {
        home.write("in.jsonl", format!("{line}\n"));
        let fields = |ran: &Value| {
            let warnings = ran["warnings"].as_array().cloned().unwrap_or_default();
            let text = |it: &Value| match it {
                Value::String(text) => text.clone(),
                other => other["message"].as_str().unwrap().to_owned(),
            };
            let fields = warnings.iter().map(text);
            let mut fields: Vec<_> = fields
                .map(|text| text.split(": ").next().unwrap().to_owned())
                .collect();
            fields.sort_unstable();
            fields
        };
        let ways: [&[&str]; 4] = [
            &["grain", "encode", "in.jsonl"],
            &["validate", "in.jsonl"],
            &["import", "in.jsonl", "--dry-run"],
            &["put", "in.jsonl"],
        ];
        home.run(&["init"]);
        for way in ways {
            let json = home.run(&[&["--json"], way].concat());
            assert_eq!(fields(&json.json()), expected, "{way:?} {line} {json:?}");
            let ran = home.run(way);
            for field in expected {
                assert!(
                    ran.stderr.contains(&format!("{field}: ")),
                    "{way:?} {ran:?}"
                );
            }
        }
        let imported = home.run(&["--json", "--store", "other", "import", "in.jsonl"]);
        assert_eq!(fields(&imported.json()), expected, "{imported:?}");
    }
}
