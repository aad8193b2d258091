//! `recover`, and what names it.

use std::fs;

use crate::command::{Home, event};

const SEGMENT: &str = "memory.grains/ledger/0000000000000001.seg";

/// Makes a store of 20 grains, of which the header of one frame is damaged.
fn damaged() -> Home {
    let home = Home::new();
    for n in 1..=20 {
        home.put(&event(&format!("tea number {n}"), n));
    }
    fs::remove_dir_all(home.path("memory.grains/index")).unwrap();
    let mut bytes = fs::read(home.path(SEGMENT)).unwrap();
    let word = b"tea number 7";
    let body = bytes.windows(word.len()).position(|part| part == word);
    let frame = (0..body.unwrap())
        .rev()
        .find(|at| bytes[*at..].starts_with(b"GFRM"));
    bytes[frame.unwrap() + 9] ^= 1;
    fs::write(home.path(SEGMENT), bytes).unwrap();
    home
}

#[test]
fn a_store_that_does_not_open_names_the_command_and_what_it_would_bring_out() {
    let home = damaged();
    let ran = home.run(&["list"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.stderr.contains("`grainstore recover DIR NEW`"),
        "{ran:?}"
    );
    let told = "would bring out 20 grains and 0 other entries; 0 entries are lost";
    assert!(ran.stderr.contains(told), "{ran:?}");
    let dry = home.run(&["--json", "recover", "memory.grains", "--dry-run"]);
    assert_eq!(
        (dry.code, &dry.json()["grains"]),
        (4, &20.into()),
        "{dry:?}"
    );
    assert_eq!(dry.json()["path"], serde_json::Value::Null);
}

#[test]
fn a_damaged_store_is_recovered_with_a_report() {
    let home = damaged();
    let before = fs::read(home.path(SEGMENT)).unwrap();
    let ran = home.run(&["recover", "memory.grains", "new.grains"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.stdout
            .contains("lost: ledger/0000000000000001.seg, bytes "),
        "{ran:?}"
    );
    assert!(ran.stdout.contains(": no entry: "), "{ran:?}");
    let told = "new.grains: 20 grains and 0 other entries recovered, 0 lost of 20 entries";
    assert!(ran.stdout.contains(told), "{ran:?}");
    assert_eq!(
        home.ok(&["--store", "new.grains", "list"]).lines().count(),
        20
    );
    home.ok(&["--store", "new.grains", "check", "--deep"]);
    let log = home.ok(&["--store", "new.grains", "audit", "log"]);
    assert!(log.contains("recovered, 0 lost"), "{log}");
    assert_eq!(fs::read(home.path(SEGMENT)).unwrap(), before);
    home.run(&["--json", "recover", "memory.grains", "new.grains"])
        .fails(2, "ERR_STORE_EXISTS", "new.grains");
    fs::create_dir(home.path("photos")).unwrap();
    home.run(&["--json", "recover", "photos", "other"])
        .fails(2, "ERR_NOT_A_STORE", "photos");
}

#[test]
fn a_sound_store_is_recovered_with_exit_0() {
    let home = Home::new();
    home.put(&event("tea", 1));
    let ran = home.run(&["--json", "recover", "memory.grains", "new.grains"]);
    assert_eq!(
        (ran.code, &ran.json()["lost"]),
        (0, &serde_json::json!([])),
        "{ran:?}"
    );
}

#[test]
fn a_check_says_where_the_damage_is_and_what_to_do() {
    let home = damaged();
    let ran = home.run(&["check", "--deep"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    for told in [
        "ledger/0000000000000001.seg, bytes ",
        "entry 6: ",
        "`grainstore recover DIR NEW` brings out everything that still proves itself",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {ran:?}");
    }
    let found = home.run(&["--json", "check", "--deep"]).json()["findings"].clone();
    assert!(
        found[0]["advice"].as_str().unwrap().contains("recover"),
        "{found}"
    );
}

#[test]
fn a_damaged_manifest_is_mended_and_said() {
    let home = Home::new();
    home.put(&event("tea", 1));
    home.write("memory.grains/MANIFEST", "rubbish");
    let ran = home.run(&["list"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("written anew from its copy"), "{ran:?}");
    assert!(!home.run(&["list"]).stderr.contains("anew"));
}

#[test]
fn a_segment_that_may_have_been_cut_is_said_with_the_entry_from_where_on() {
    let home = Home::new();
    home.put(&event("tea", 1));
    home.put(&event("milk", 2));
    fs::remove_dir_all(home.path("memory.grains/index")).unwrap();
    fs::remove_file(home.path("memory.grains/END")).unwrap();
    let bytes = fs::read(home.path(SEGMENT)).unwrap();
    fs::write(home.path(SEGMENT), &bytes[..bytes.len() - 1]).unwrap();
    let ran = home.run(&["list"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for told in [
        "acknowledged entries from 1 on may be missing",
        "ledger segment 1, from byte ",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {ran:?}");
    }
}

/// Another user than the owner: without capabilities root is one, too.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs setpriv"]
fn a_store_of_another_user_is_read() {
    let home = Home::new();
    home.put(&event("tea", 1));
    let script = "chmod 755 . memory.grains && chmod -R a+rX memory.grains
        setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '
            for command in stats list ls check tail; do
                \"$1\" $command >/dev/null || exit 9
            done' sh \"$1\"";
    let ran = std::process::Command::new("sh")
        .args(["-c", script, "sh", crate::command::binary()])
        .current_dir(home.path(""))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

/// Makes a store of 20 grains, of which one byte of the blob of the seventh is damaged.
fn rotten() -> Home {
    let home = Home::new();
    for n in 1..=20 {
        home.put(&event(&format!("tea number {n}"), n));
    }
    let mut bytes = fs::read(home.path(SEGMENT)).unwrap();
    let word = b"tea number 7";
    let body = bytes.windows(word.len()).position(|part| part == word);
    bytes[body.unwrap()] ^= 1;
    fs::write(home.path(SEGMENT), bytes).unwrap();
    home
}

#[test]
fn an_export_ends_at_damage_and_goes_past_it_where_it_is_told() {
    let home = rotten();
    home.write("all.mg", "an earlier export");
    for output in ["-", "all.mg"] {
        let export = ["export", "--force", "--format", "mg", "-o", output];
        let ran = home.run(&export);
        assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{ran:?}");
        assert!(ran.stderr.contains("entry 6 is damaged"), "{ran:?}");
        assert!(ran.stderr.contains("--skip-damaged"), "{ran:?}");
    }
    assert_eq!(fs::read(home.path("all.mg")).unwrap(), b"an earlier export");
    let args = [
        "--json",
        "export",
        "--skip-damaged",
        "--format",
        "jsonl",
        "-o",
        "rest.jsonl",
    ];
    let ran = home.run(&args);
    assert_eq!(
        (ran.code, &ran.json()["grains"]),
        (4, &19.into()),
        "{ran:?}"
    );
    assert_eq!(ran.json()["damaged_entries"], serde_json::json!([6]));
}

#[test]
fn a_damaged_store_is_backed_up_where_it_is_told_and_never_over_an_earlier_backup() {
    let home = rotten();
    let ran = home.run(&["backup", "copy"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("--damaged"), "{ran:?}");
    let ran = home.run(&["--json", "backup", "--damaged", "copy"]);
    assert_eq!(
        (ran.code, &ran.json()["damaged"]),
        (4, &1.into()),
        "{ran:?}"
    );
    let again = home.run(&["backup", "--damaged", "copy"]);
    assert_eq!(again.code, 4, "{again:?}");
    assert!(again.stderr.contains("new or empty directory"), "{again:?}");
    let ran = home.run(&["restore", "copy", "restored"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let told = "entry 6 is damaged and blank in the new store";
    assert!(ran.stdout.contains(told), "{ran:?}");
    let ran = home.run(&["recover", "copy", "recovered"]);
    let told = "19 grains and 0 other entries recovered, 1 lost of 20 entries";
    assert!(ran.stdout.contains(told), "{ran:?}");
    // A header that is damaged keeps `restore` out, and it names the way.
    let mut bytes = fs::read(home.path("copy/ledger/0000000000000001.seg")).unwrap();
    bytes[40] ^= 1;
    fs::write(home.path("copy/ledger/0000000000000001.seg"), bytes).unwrap();
    let ran = home.run(&["restore", "copy", "none"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.stderr.contains("`grainstore recover DIR NEW`"),
        "{ran:?}"
    );
}
