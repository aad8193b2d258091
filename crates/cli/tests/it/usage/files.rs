//! `import`, `export`, `validate`: files read and written.

use std::fs;

use crate::command::{Home, event, sample};

#[test]
fn the_three_formats_are_told_apart_and_imported_once() {
    let home = Home::new();
    for (name, format, grains) in [
        ("pam", "pam", 78),
        ("grains.jsonl", "jsonl", 55),
        ("sample.mg", "mg", 11),
    ] {
        let summary = home.run(&["--json", "import", &sample(name)]).json();
        assert_eq!(summary["format"], format);
        assert_eq!(summary["inserted"], grains, "{summary}");
        assert_eq!(summary["refused"], serde_json::json!([]));
        let again = home.run(&["--json", "import", &sample(name)]).json();
        assert_eq!(
            (&again["inserted"], &again["unchanged"]),
            (&0.into(), &grains.into())
        );
    }
    assert_eq!(home.run(&["--json", "stats"]).json()["grains"], 144);
}

#[test]
fn the_sample_archive_is_what_its_source_makes() {
    let home = Home::new();
    home.ok(&["put", &sample("shared.jsonl")]);
    home.ok(&["export", "--format", "mg", "-o", "made.mg"]);
    let made = fs::read(home.path("made.mg")).unwrap();
    assert_eq!(made, fs::read(sample("sample.mg")).unwrap());
}

#[test]
fn a_grain_of_an_archive_is_shown_by_its_number_without_a_store() {
    // OMS 11.4.
    let home = Home::new();
    let events: String = (0..3).map(|n| event(&format!("event {n}"), n)).collect();
    let addresses = home.put(&events);
    home.ok(&["export", "--format", "mg", "-o", "made.mg"]);
    fs::remove_dir_all(home.path("memory.grains")).unwrap();
    let shown = home.run(&["get", "--archive", "made.mg", "2", "0", "--json"]);
    let shown = shown.json_lines();
    for (found, n) in shown.iter().zip([2, 0]) {
        assert_eq!(found["grain"]["content"], format!("event {n}"));
        assert_eq!(found["address"], addresses[n].as_str());
        assert!(found.get("status").is_none());
    }
    assert_eq!(shown.len(), 2);
    let delivered = home.ok(&["get", "--archive", "made.mg", "1", "--delivery"]);
    assert!(delivered.contains("event 1"));
    let none = ["get", "--archive", "made.mg", "3"];
    let refused = |args: &[&str], exit: i32, said: &str| {
        let ran = home.run(args);
        assert_eq!(ran.code, exit, "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    };
    refused(&none, 1, "made.mg has no grain 3");
    let address = ["get", "--archive", "made.mg", &addresses[0]];
    refused(&address, 2, "is not the number of a grain");
    // Another grain may be damaged.
    let mut bytes = fs::read(home.path("made.mg")).unwrap();
    let at = bytes.windows(7).position(|it| it == b"event 0").unwrap();
    bytes[at] ^= 1;
    home.write("made.mg", &bytes);
    assert!(
        home.ok(&["get", "--archive", "made.mg", "1"])
            .contains("event 1")
    );
    refused(&["validate", "made.mg"], 1, "ERR_MG_CHECKSUM");
}

#[test]
fn an_import_with_errors_stores_nothing_unless_told_to_keep_going() {
    let home = Home::new();
    let lines = event("one", 1) + "{\"type\":\"event\"}\nnonsense\n" + &event("two", 2);
    home.write("mixed.jsonl", lines);
    let ran = home.run(&["--json", "import", "mixed.jsonl"]);
    ran.fails(2, "ERR_SCHEMA", "mixed.jsonl, line 2");
    assert_eq!(ran.json()["refused"].as_array().unwrap().len(), 2);
    assert!(!home.path("memory.grains").exists());

    let ran = home.run(&["--json", "import", "--keep-going", "mixed.jsonl"]);
    assert_eq!(
        (ran.code, &ran.json()["inserted"]),
        (1, &2.into()),
        "{ran:?}"
    );
    assert_eq!(home.addresses().len(), 2);
}

#[test]
fn verify_only_and_validate_store_nothing() {
    let home = Home::new();
    for args in [&["import", "--verify-only"][..], &["validate"]] {
        let pam = sample("pam");
        let args = [&["--json"], args, &[pam.as_str()]].concat();
        let ran = home.run(&args);
        assert_eq!(
            (ran.code, &ran.json()["grains"]),
            (0, &78.into()),
            "{ran:?}"
        );
    }
    assert!(!home.path("memory.grains").exists());
    home.write("bad.jsonl", event("one", 1) + "nonsense\n");
    home.run(&["--json", "validate", "bad.jsonl"])
        .fails(1, "ERR_JSON", "bad.jsonl, line 2");
}

#[test]
fn an_export_brings_a_second_store_to_the_same_addresses_and_status() {
    let home = Home::new();
    home.ok(&["import", &sample("pam")]);
    home.ok(&["import", &sample("grains.jsonl")]);
    let mut addresses = home.addresses();
    addresses.sort();
    let current = home.run(&["--json", "stats"]).json()["current"].clone();
    for (name, options) in [
        ("plain.mg", &["--format", "mg"][..]),
        ("zstd.mg", &["--format", "mg", "--compress", "zstd"]),
        ("lz4.mg", &["--format", "mg", "--compress", "lz4"]),
        ("all.jsonl", &["--format", "jsonl"]),
    ] {
        let args = [&["--json", "export", "-o", name], options].concat();
        assert_eq!(home.run(&args).json()["grains"], addresses.len(), "{name}");
        let store = format!("{name}.grains");
        home.ok(&["--store", &store, "import", name]);
        let listed = home.ok(&["--store", &store, "list"]);
        let mut listed: Vec<_> = listed.lines().collect();
        listed.sort_unstable();
        assert_eq!(listed, addresses, "{name}");
        let stats = home.run(&["--store", &store, "--json", "stats"]).json();
        assert_eq!(stats["current"], current, "{name}");
    }
}

#[test]
fn an_export_of_the_same_grains_at_the_same_time_has_the_same_bytes() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    for format in ["mg", "jsonl", "pam", "aimem", "omi"] {
        let export = |at: &[&str], name: &str| {
            let args = ["export", "--plain", "-f", "--format", format, "-o", name];
            let ran = home.run(&[&args[..], at].concat());
            assert_eq!(ran.code, 0, "{ran:?}");
            fs::read(home.path(name)).unwrap()
        };
        let at = ["--at", "2026-11-20T10:00:00Z"];
        assert!(export(&at, "one") == export(&at, "other"), "{format}");
        if !["mg", "jsonl"].contains(&format) {
            let later = ["--at", "2026-11-21T10:00:00Z"];
            assert!(export(&at, "one") != export(&later, "other"), "{format}");
        }
    }
}

#[test]
fn an_export_to_stdout_is_the_file_and_filters_hold() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    home.ok(&["export", "--format", "mg", "-o", "all.mg"]);
    let mut command = home.command();
    let piped = command.args(["export", "--format", "mg"]).output().unwrap();
    assert_eq!(piped.stdout, fs::read(home.path("all.mg")).unwrap());

    let consents = home.run(&["export", "--format", "jsonl", "--type", "consent"]);
    assert_eq!(consents.stdout.lines().count(), 3, "{consents:?}");
    let old = "f8ac8c828e9d6832987ad10820845cbf1d9b3c46a9784351f0ac996b810cab1d";
    let new = crate::command::belief("mira", "dutch_level", "B1");
    let ran = home.run_with(&["supersede", old, "-"], new);
    assert_eq!(ran.code, 0, "{ran:?}");
    let count = |args: &[&str]| {
        let args = [
            &["--json", "export", "--format", "mg", "-f", "-o", "x.mg"],
            args,
        ]
        .concat();
        home.run(&args).json()["grains"].as_u64().unwrap()
    };
    assert_eq!((count(&[]), count(&["--current"])), (56, 55));
}

#[test]
fn a_changed_pam_store_is_refused_unless_accepted() {
    let home = Home::new();
    let store = fs::read_to_string(sample("pam/memory-store.json")).unwrap();
    assert!(store.contains("\"schema_version\": \"1.0\""));
    let changed = store.replacen("wren/2.4.0", "wren/2.4.1", 1);
    let changed = changed.replacen("\"initial\": 1.0", "\"initial\": 0.5", 1);
    home.write("memory-store.json", changed);
    let ran = home.run(&["--json", "import", "memory-store.json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let codes: Vec<_> = ran.json()["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["code"].as_str().unwrap().to_owned())
        .collect();
    assert!(codes.contains(&"PAM_CHECKSUM".to_owned()), "{codes:?}");
}

#[test]
fn equal_findings_are_one_line_with_their_count_and_first_places_and_json_has_all() {
    let home = Home::new();
    let talks = (0..25).map(|at| {
        format!(
            r#"{{"id": "c{at}", "title": "t", "mapping": {{"m": {{"id": "m", "parent": null,
            "message": {{"id": "m", "author": {{"role": "user"}},
            "content": {{"content_type": "text", "parts": ["hello"]}}}}}}}}}}"#
        )
    });
    let talks: Vec<_> = talks.collect();
    home.write("conversations.json", format!("[{}]", talks.join(",")));
    let told = home.run(&["validate", "conversations.json"]).stdout;
    let places = "conversation c0, conversation c1, conversation c2, …";
    let grouped = format!("25 times: PROVIDER_TIME: has no time ({places})");
    assert!(told.contains(&grouped), "{told}");
    assert!(told.contains("not carried: conversation (25)"), "{told}");
    assert_eq!(told.lines().count(), 5, "{told}");
    let said = home
        .run(&["--json", "validate", "conversations.json"])
        .json();
    assert_eq!(said["findings"].as_array().unwrap().len(), 25);
    let kinds = said["finding_kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    assert_eq!(kinds[0]["count"], 25);
    assert_eq!(kinds[0]["first"].as_array().unwrap().len(), 3);
}
