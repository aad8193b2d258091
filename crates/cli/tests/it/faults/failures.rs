//! Invalid input and failing systems: each error has a code, a place and a hint, and stored grains
//! are neither lost nor changed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Home, binary, event, sample};

/// Returns a store with one grain, which must survive every failure.
fn home_with_a_grain() -> (Home, String) {
    let home = Home::new();
    let address = home.put(&event("precious", 1)).remove(0);
    (home, address)
}

#[track_caller]
fn still_only(home: &Home, address: &str) {
    assert_eq!(home.addresses(), [address]);
    assert!(home.ok(&["get", address]).contains("precious"));
    home.ok(&["check"]);
}

#[test]
fn a_broken_json_line() {
    let (home, address) = home_with_a_grain();
    home.write(
        "broken.jsonl",
        event("new", 2) + "{\"type\": \"event\", \"content\": \n",
    );
    for command in ["put", "import"] {
        home.run(&["--json", command, "broken.jsonl"])
            .fails(2, "ERR_JSON", "broken.jsonl, line 2");
        still_only(&home, &address);
    }
    let ran = home.run(&["put", "broken.jsonl"]);
    assert!(
        ran.stderr
            .contains("error[ERR_JSON]: broken.jsonl, line 2: "),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("\n  hint: "), "{ran:?}");
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_truncated_archive() {
    let (home, address) = home_with_a_grain();
    let whole = fs::read(sample("sample.mg")).unwrap();
    for len in [whole.len() - 1, whole.len() / 2, 20] {
        home.write("cut.mg", &whole[..len]);
        let ran = home.run(&["--json", "import", "cut.mg"]);
        let code = ran.json()["error"]["code"].as_str().unwrap().to_owned();
        assert!(
            ["ERR_MG_CHECKSUM", "ERR_MG_TRUNCATED"].contains(&code.as_str()),
            "{ran:?}"
        );
        ran.fails(2, &code, "cut.mg");
        still_only(&home, &address);
    }
}

#[test]
fn a_directory_that_is_no_store() {
    let home = Home::new();
    fs::create_dir(home.path("photos")).unwrap();
    home.write("photos/cat.jpg", "meow");
    home.write("file", "meow");
    home.write("one.jsonl", event("new", 2));
    for store in ["photos", "file", "nowhere"] {
        home.run(&["--store", store, "--json", "stats"])
            .fails(2, "ERR_NOT_A_STORE", store);
    }
    for store in ["photos", "file"] {
        home.run(&["--store", store, "--json", "put", "one.jsonl"])
            .fails(2, "ERR_NOT_A_STORE", store);
    }
    let left: Vec<_> = fs::read_dir(home.path("photos")).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_store_of_a_newer_format() {
    let (home, address) = home_with_a_grain();
    let path = home.path("memory.grains/MANIFEST");
    let manifest = fs::read_to_string(&path).unwrap();
    let newer = manifest.replace("\"version\":1", "\"version\":2");
    assert_ne!(newer, manifest);
    fs::write(&path, &newer).unwrap();
    home.write("one.jsonl", event("new", 2));
    for args in [&["stats"][..], &["put", "one.jsonl"], &["check"]] {
        home.run(&[&["--json"], args].concat())
            .fails(2, "ERR_STORE_VERSION", "memory.grains");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    fs::write(&path, manifest).unwrap();
    still_only(&home, &address);
}

#[test]
fn a_store_that_another_process_has_open() {
    let (home, address) = home_with_a_grain();
    let mut other = home.command();
    let other = other
        .args(["put", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut other = other.spawn().unwrap();
    let mut stdin = other.stdin.take().unwrap();
    stdin.write_all(event("precious", 1).as_bytes()).unwrap();
    let mut stdout = BufReader::new(other.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    // A command that only reads works beside it.
    let beside = home.ok(&["get", &address]);
    assert!(beside.contains("precious"), "{beside}");
    // So does one that stores. Only the files that the other process writes are not to be had.
    let new = home.put(&event("new", 2)).remove(0);
    let refused = home.run(&["--json", "--wait", "0", "compact"]);
    refused.fails(2, "ERR_STORE_LOCKED", "memory.grains");
    let message = refused.json()["error"]["message"].to_string();
    let holder = format!("in use by process {} (grainstore)", other.id());
    assert!(message.contains(&holder), "{message}");
    drop(stdin);
    assert!(other.wait().unwrap().success());
    assert_eq!(home.addresses(), [address, new]);
    home.ok(&["check"]);
}

#[test]
fn a_file_that_is_not_there_or_is_of_no_format() {
    let (home, address) = home_with_a_grain();
    for command in ["put", "import", "validate"] {
        home.run(&["--json", command, "nowhere.jsonl"])
            .fails(2, "ERR_IO", "nowhere.jsonl");
    }
    home.write("song.mp3", [0xff, 0xfb, 0x90]);
    home.run(&["--json", "import", "song.mp3"])
        .fails(2, "ERR_FORMAT_UNKNOWN", "song.mp3");
    home.run(&[
        "--json",
        "export",
        "--format",
        "mg",
        "-o",
        "no/such/folder.mg",
    ])
    .fails(2, "ERR_IO", "no/such/folder.mg");
    still_only(&home, &address);
}

#[test]
fn damage_is_found_named_and_exit_4() {
    let home = Home::new();
    let lines: String = (0..50).map(|number| event("entry", number)).collect();
    // Two frames: what follows a damaged one shows that it is no torn tail.
    home.put(&lines);
    home.put(&event("later", 99));
    let ledger = home.path("memory.grains/ledger");
    let segment = fs::read_dir(ledger)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[700] ^= 1;
    fs::write(&segment, &bytes).unwrap();
    let check = home.run(&["--json", "check"]);
    assert_eq!(check.code, 4, "{check:?}");
    let findings = check.json()["findings"].clone();
    assert_eq!(findings[0]["id"], "ledger-damaged");
    assert_eq!(findings[0]["severity"], "damage");
    let ran = home.run(&["--json", "list"]);
    ran.fails(4, "ERR_STORAGE_DAMAGED", "memory.grains");
    assert_eq!(
        fs::read(&segment).unwrap(),
        bytes,
        "looking changes nothing"
    );
}

#[test]
fn wrong_usage_is_an_error_in_json_too() {
    let home = Home::new();
    for args in [
        &["--json", "frobnicate"][..],
        &["--json", "get"],
        &["list", "--json", "--lim"],
    ] {
        let ran = home.run(args);
        assert_eq!(
            (ran.code, &ran.json()["error"]["code"]),
            (2, &"ERR_USAGE".into())
        );
    }
    let ran = home.run(&[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("Usage:"), "{ran:?}");
}

/// Fills a file system of a few megabytes, which takes the right to mount one.
#[test]
#[ignore = "needs unshare"]
fn a_full_disk() {
    let home = Home::new();
    let disk = home.path("disk");
    fs::create_dir(&disk).unwrap();
    let lines: String = (0..40_000)
        .map(|number| event(&"x".repeat(200), number))
        .collect();
    home.write("many.jsonl", &lines);
    let script = "set -e
        mount -t tmpfs -o size=3m tmpfs disk
        set +e
        cat many.jsonl | \"$1\" --store disk/s --json put - >acknowledged
        echo $? >code
        df disk >&2
        \"$1\" --store disk/s list >listed
        echo $? >list-code
        \"$1\" --store disk/s --json check >check
        exit 0";
    let output = unshared(script, &home.path(""));
    let read = |name: &str| fs::read_to_string(home.path(name)).unwrap();
    assert_eq!(read("code").trim(), "2", "{output}");
    let printed = read("acknowledged");
    let lines: Vec<serde_json::Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, acknowledged) = lines.split_last().unwrap();
    let error = &last["error"];
    assert_eq!(error["code"], "ERR_STORAGE_FULL", "{last}");
    assert!(
        error["place"].as_str().unwrap().contains("disk/s"),
        "{last}"
    );
    assert!(error["hint"].as_str().unwrap().contains("free"), "{last}");
    assert!(!acknowledged.is_empty());

    assert_eq!(read("list-code").trim(), "0", "{output}");
    let listed = read("listed");
    let expected: String = acknowledged
        .iter()
        .map(|line| line["address"].as_str().unwrap().to_owned() + "\n")
        .collect();
    assert_eq!(listed, expected);
    let check: serde_json::Value = serde_json::from_str(&read("check")).unwrap();
    assert_eq!(check["grains"], acknowledged.len(), "{check}");
}

/// Runs a script in a name space of mounts of its own.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs unshare"]
fn a_store_that_can_only_be_read_is_read_and_not_changed() {
    let home = Home::new();
    fs::create_dir(home.path("disk")).unwrap();
    home.write("line", event("obsidian", 1));
    // Without capabilities the permissions hold for root, too, as for any other user.
    let script = "set -e
        mount -t tmpfs tmpfs disk
        \"$1\" --store disk/s put line >stored
        cp -r disk/s plain
        chmod -R a-w plain
        mount -o remount,ro disk
        setpriv --bounding-set=-all --inh-caps=-all sh -c '
            set -e
            for store in disk/s plain; do
                \"$1\" --store $store get $(cat stored)
                \"$1\" --store $store search obsidian
                \"$1\" --store $store tail
                ! \"$1\" --store $store --json put line >refused
                grep -q ERR_STORAGE_READ_ONLY refused
            done' sh \"$1\" >read
        diff -r disk/s plain";
    unshared(script, &home.path(""));
    let read = fs::read_to_string(home.path("read")).unwrap();
    assert_eq!(read.matches("obsidian").count(), 6, "{read}");
}

fn unshared(script: &str, home: &Path) -> String {
    let output = Command::new("unshare")
        .args(["-rm", "sh", "-c", script, "sh", binary()])
        .current_dir(home)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    stderr
}
