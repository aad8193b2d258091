//! SQLite files of other tools: those of `test-vectors/sqlite`, which are made of their statements.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::command::Home;

/// Returns the samples, and what is expected of each.
fn expected() -> Map<String, Value> {
    let text = std::fs::read_to_string(folder().join("expect.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-vectors/sqlite")
}

#[test]
fn every_database_has_a_small_a_rich_and_a_broken_sample() {
    let expected = expected();
    let sources = expected.keys().filter_map(|path| path.split_once('/'));
    let sources: std::collections::BTreeSet<_> = sources.map(|(source, _)| source).collect();
    let is_there = |path: &str| assert!(expected.contains_key(path), "{path}");
    for source in sources.into_iter().filter(|it| *it != "hostile") {
        let kinds = ["small", "rich", "broken"];
        kinds
            .iter()
            .for_each(|kind| is_there(&format!("{source}/{kind}.sql")));
    }
    for source in ["claude-mem", "openai-agents"] {
        is_there(&format!("{source}/rich.sql"));
    }
}

fn make(home: &Home, sample: &str) {
    let statements = std::fs::read_to_string(folder().join(sample)).unwrap();
    let file = home.path("x.db");
    Connection::open(file)
        .unwrap()
        .execute_batch(&statements)
        .unwrap();
}

/// Returns the grains of a store as JSON.
fn grains(home: &Home, args: &[&str]) -> Vec<Value> {
    let lines = home.ok(&[&["export", "--format", "jsonl"], args].concat());
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line.get("type").is_some())
        .collect()
}

#[test]
fn every_file_comes_to_the_grains_that_are_expected() {
    for (sample, expected) in expected() {
        let home = Home::new();
        make(&home, &sample);
        let ran = home.run(&["--json", "import", "x.db"]);
        let result = ran.json();
        if let Some(code) = expected.get("error") {
            assert_eq!(
                (ran.code, &result["error"]["code"]),
                (2, code),
                "{sample}: {result}"
            );
            continue;
        }
        assert_eq!(ran.code, 0, "{sample}: {ran:?}");
        let count = |name: &str| result[name].as_array().map(|it| it.len().into());
        let found: Map<String, Value> = [
            ("format", result["format"].clone()),
            ("grains", result["inserted"].clone()),
            ("findings", count("findings").unwrap()),
            ("loss", result["loss"].clone()),
            ("current", grains(&home, &["--current"]).len().into()),
            ("has", expected["has"].clone()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        assert_eq!(Value::Object(found), expected, "{sample}");
        let grains = grains(&home, &[]);
        for wanted in expected["has"].as_array().unwrap() {
            let wanted = wanted.as_object().unwrap();
            let is_it = |grain: &&Value| wanted.iter().all(|(name, value)| grain[name] == *value);
            assert!(
                grains.iter().any(|grain| is_it(&grain)),
                "{sample}: {wanted:?} in {grains:#?}"
            );
        }
        let again = home.run(&["--json", "import", "x.db"]).json();
        let counts = (&again["inserted"], &again["updated"], &again["unchanged"]);
        assert_eq!(
            counts,
            (&0.into(), &0.into(), &result["inserted"]),
            "{sample}"
        );
        let left: Vec<_> = std::fs::read_dir(home.path(".")).unwrap().collect();
        // The store, the file, and nothing beside it.
        assert_eq!(left.len(), 2, "{sample}: {left:?}");
    }
}

#[test]
fn a_history_that_grew_gives_its_new_versions() {
    let home = Home::new();
    make(&home, "mem0/small.sql");
    home.ok(&["import", "x.db"]);
    let later = "INSERT INTO history VALUES ('h2', 'm1', 'Prefers pnpm', 'Prefers bun', 'UPDATE', \
                 '2026-05-01T08:00:00Z', '2026-06-01T08:00:00Z', 0, NULL, NULL);";
    let update = Connection::open(home.path("x.db")).unwrap();
    update.execute_batch(later).unwrap();
    let grown = home.run(&["--json", "import", "x.db"]).json();
    assert_eq!(
        (&grown["updated"], &grown["unchanged"]),
        (&1.into(), &1.into()),
        "{grown}"
    );
    let current = grains(&home, &["--current"]);
    assert_eq!(
        (current.len(), &current[0]["object"]),
        (1, &"Prefers bun".into())
    );
    let end = "INSERT INTO history VALUES ('h3', 'm1', 'Prefers bun', NULL, 'DELETE', \
               '2026-05-01T08:00:00Z', '2026-07-01T08:00:00Z', 1, NULL, NULL);";
    update.execute_batch(end).unwrap();
    home.ok(&["import", "x.db"]);
    assert_eq!(grains(&home, &["--current"]).len(), 0);
}

#[test]
fn a_damaged_file_is_an_error_and_stores_nothing() {
    let home = Home::new();
    make(&home, "mem0/rich.sql");
    let whole = std::fs::read(home.path("x.db")).unwrap();
    type Damage = fn(&mut Vec<u8>);
    let damaged: [(&str, Damage); 4] = [
        ("cut", |file| file.truncate(file.len() / 2)),
        ("head", |file| file[100..400].fill(0xff)),
        ("pages", |file| file[4096..].fill(0x7f)),
        ("short", |file| file.truncate(20)),
    ];
    for (name, damage) in damaged {
        let mut file = whole.clone();
        damage(&mut file);
        home.write("x.db", file);
        let ran = home.run(&["--json", "import", "x.db"]);
        let code = &ran.json()["error"]["code"];
        assert!(ran.code > 0 && code.is_string(), "{name}: {ran:?}");
    }
    assert!(!home.path("memory.grains").exists());
}

#[test]
fn a_scan_names_what_is_there_and_imports_what_is_chosen() {
    let home = Home::new();
    assert_eq!(home.run(&["--json", "scan", "--home", "."]).code, 1);
    make(&home, "mem0/small.sql");
    std::fs::create_dir(home.path(".mem0")).unwrap();
    std::fs::rename(home.path("x.db"), home.path(".mem0/history.db")).unwrap();
    let found = home.run(&["--json", "scan", "--home", "."]).json();
    let found = &found["found"];
    assert_eq!(
        (&found[0]["source"], &found[0]["files"]),
        (&"mem0".into(), &1.into())
    );
    assert!(!home.path("memory.grains").exists());
    home.ok(&["scan", "--home", ".", "--import", "mem0"]);
    assert_eq!(grains(&home, &[]).len(), 1);
}

#[test]
fn an_import_says_what_came_and_what_to_ask() {
    let home = Home::new();
    make(&home, "openmemory/rich.sql");
    let command = ["import", "--from", "openmemory", "x.db"];
    // A preview needs no store, and makes none.
    for more in [&["--dry-run"][..], &[]] {
        assert!(!home.path("memory.grains").exists());
        let screen = home.ok(&[&command[..], more].concat());
        for part in [
            "3 inserted",
            "in it: 1 person (ana), 3 facts, 2026-05-01",
            "deleted: its user deleted it there",
            "try: grainstore recall",
        ] {
            assert!(screen.contains(part), "{part}: {screen}");
        }
        assert_eq!(screen.matches("grainstore recall").count(), 3, "{screen}");
    }
}

#[test]
fn an_import_proposes_no_id_as_a_question() {
    let home = Home::new();
    home.ok(&["init"]);
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/pam");
    let screen = home.ok(&["import", sample]);
    let asked: Vec<_> = screen.split("grainstore recall \"").skip(1).collect();
    assert_eq!(asked.len(), 3, "{screen}");
    for question in asked {
        let question = question.lines().next().unwrap().trim_end_matches('"');
        assert!(question.contains(' '), "{question}");
    }
}
