//! Holds `docs/conformance.md` and `docs/rulings.md` to the truth: a test that the page names is
//! there and runs, its counts are counted, and a ruling that anything cites is written down.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// One rule of the specification, as the page states it.
struct Row {
    id: String,
    section: String,
    state: State,
}

enum State {
    /// Held by these tests.
    Held(Vec<String>),
    Waiting,
}

impl Row {
    /// Reads `| id | section | rule | test or waiting |`.
    fn read(line: &str) -> Result<Self, String> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", id, section, rule, state, ""] = cells[..] else {
            return Err(format!("not four columns: {line}"));
        };
        let number = id
            .strip_prefix("OMS-")
            .and_then(|id| id.strip_prefix(section))
            .and_then(|number| number.strip_prefix('-'));
        if number.is_none_or(|number| number.parse::<u32>().is_err()) || rule.is_empty() {
            return Err(format!("not an id, its section and a rule: {line}"));
        }
        let state = match state.split_once(": ") {
            Some(("test", names)) => State::Held(names.split(", ").map(str::to_owned).collect()),
            Some(("waiting", topic)) if TOPICS.contains(&topic) => State::Waiting,
            _ => return Err(format!("neither a test nor a topic: {line}")),
        };
        Ok(Self {
            id: id.to_owned(),
            section: section.to_owned(),
            state,
        })
    }

    const fn is_held(&self) -> bool {
        matches!(self.state, State::Held(_))
    }

    /// Whether the rule stands in one of these sections or in a part of one.
    fn is_in(&self, sections: &[&str]) -> bool {
        sections.iter().any(|section| {
            let rest = self.section.strip_prefix(section);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

const TOPICS: [&str; 8] = [
    "skeleton",
    "format",
    "engine",
    "policy",
    "signing",
    "interchange",
    "search",
    "sealed",
];

/// What the levels rest on, as the head of the page says it (OMS 17).
const LEVEL_1: &[&str] = &[
    "3", "4", "5", "6", "7", "8", "13", "19", "20.4", "21", "22", "B", "C",
];
const LEVEL_2: &[&str] = &["14", "15", "17.2", "23", "24", "25", "26", "27", "28"];

#[test]
fn every_named_test_exists_and_the_counts_are_true() {
    let page = page("conformance.md");
    let (rows, mut faults) = rows(&page);
    let mut seen = BTreeSet::new();
    for row in &rows {
        if !seen.insert(&row.id) {
            faults.push(format!("{} is there twice", row.id));
        }
        if let State::Held(tests) = &row.state {
            let missing = tests.iter().filter_map(|test| find(test).err());
            faults.extend(missing.map(|fault| format!("{}: {fault}", row.id)));
        }
    }
    let held = rows.iter().filter(|row| row.is_held()).count();
    let waiting = rows.len() - held;
    let counts = format!("**{} rules: {held} held, {waiting} waiting.**", rows.len());
    println!("{counts}");
    if !page.lines().any(|line| line == counts) {
        faults.push(format!("the page should say: {counts}"));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_level_that_is_declared_waits_for_nothing() {
    let page = page("conformance.md");
    let (rows, _) = rows(&page);
    let waiting_in = |sections| {
        let waits = |row: &&Row| !row.is_held() && row.is_in(sections);
        let ids = rows.iter().filter(waits).map(|row| row.id.clone());
        ids.collect::<BTreeSet<_>>()
    };
    assert!(page.contains("**Level 2 is declared**"), "OMS 17");
    for sections in [LEVEL_1, LEVEL_2] {
        assert_eq!(waiting_in(sections), BTreeSet::new());
    }
}

#[test]
fn what_turns_a_test_red_names_rules_and_tests_that_exist() {
    let page = page("conformance.md");
    let (rows, _) = rows(&page);
    let (_, table) = page.split_once(SAMPLE).unwrap();
    let is_row = |line: &&str| line.starts_with('|') && !line.starts_with("| ---");
    let lines: Vec<&str> = table.lines().filter(is_row).collect();
    for line in &lines[1..] {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", id, _, tests, ""] = cells[..] else {
            panic!("not three columns: {line}");
        };
        let is_known = rows.iter().any(|row| row.id == id) || !id.starts_with("OMS-");
        assert!(is_known, "{id}");
        for test in tests.split(", ") {
            find(test).unwrap();
        }
    }
    assert!(lines.len() > 20);
}

#[test]
fn a_missing_test_a_malformed_row_and_an_unknown_topic_are_noticed() {
    for (row, expected) in [
        ("| OMS-3-1 | 3 | A rule | waiting: skeleton |", true),
        ("| OMS-3-1 | 3 | A rule | test: a::b, a::c |", true),
        ("| OMS-3-1 | 3 | A rule | waiting: tomorrow |", false),
        ("| OMS-3-1 | 3 | A rule | held |", false),
        ("| OMS-3-1 | 3 | A rule |", false),
        ("| OMS-3-1 | 3.1 | A rule | waiting: skeleton |", false),
        ("| OMS-3-x | 3 | A rule | waiting: skeleton |", false),
        ("| OMS-3-1 | 3 | | waiting: skeleton |", false),
    ] {
        assert_eq!(Row::read(row).is_ok(), expected, "{row}");
    }
    for (test, expected) in [
        (
            "codec::what_is_not_canonical_is_refused_with_its_code",
            true,
        ),
        (
            "ledger::damage::stale_bytes_behind_the_end_are_set_aside",
            true,
        ),
        ("codec::random_bytes_never_panic", true),
        ("codec::map", false),
        ("codec::no_such_test", false),
        ("no_such_file::no_such_test", false),
        ("grain::table::tests::no_such_test", false),
        ("cli::no_such_test", false),
    ] {
        assert_eq!(find(test).is_ok(), expected, "{test}");
    }
}

#[test]
fn every_ruling_that_is_cited_is_written_down() {
    let written: BTreeSet<String> = page("rulings.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .map(|(id, _)| id.to_owned())
        .filter(|id| is_ruling(id))
        .collect();
    let mut cited = BTreeMap::new();
    for folder in [
        "src",
        "tests",
        "docs",
        "crates",
        "README.md",
        "CONTRIBUTING.md",
    ] {
        for file in files(&root().join(folder)) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            cited.extend(citations(&text).into_iter().map(|id| (id, file.clone())));
        }
    }
    assert!(cited.len() > 50, "{cited:?}");
    cited.retain(|id, _| !written.contains(id));
    assert!(cited.is_empty(), "{cited:?}");
}

#[test]
fn an_ignored_test_holds_nothing() {
    let text =
        "#[test]\n#[expect(\n  dead_code)]\nfn a() {}\n#[test]\n#[ignore]\nfn b() {}\nfn c() {}";
    assert_eq!(tests_of(text), BTreeSet::from(["a"]));
}

#[test]
fn citations_are_found_across_lists_and_lines() {
    let text = "(ruling F1) Rulings F2, F3 and I4: x. ruling\n    /// T5. rulings M6,\n//! S7 F8";
    let found = citations(text);
    let expected = ["F1", "F2", "F3", "I4", "T5", "M6", "S7"];
    assert_eq!(found, expected.map(str::to_owned));
}

/// The rows of the tables, and what is wrong with those that are none.
fn rows(page: &str) -> (Vec<Row>, Vec<String>) {
    let (tables, _) = page.split_once(SAMPLE).unwrap();
    let is_row = |line: &&str| {
        line.starts_with('|') && !line.starts_with("| ---") && !line.starts_with("| id |")
    };
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for line in tables.lines().filter(is_row) {
        match Row::read(line) {
            Ok(row) => rows.push(row),
            Err(fault) => faults.push(fault),
        }
    }
    (rows, faults)
}

/// Finds a test by the path that cargo prints for it.
///
/// A path with `::tests::` is a unit test in `src`; `cli::` stands before those of the command;
/// every other one is in `tests/it`. Each module on the way must be declared, or nothing runs it.
fn find(test: &str) -> Result<(), String> {
    let (at, path) = match test.strip_prefix("cli::") {
        Some(path) => ("crates/cli/tests/it/main.rs", path),
        None if test.contains("::tests::") => ("src/lib.rs", test),
        None => ("tests/it/main.rs", test),
    };
    let mut file = root().join(at);
    let mut folder = file.parent().unwrap().to_owned();
    let mut text = fs::read_to_string(&file).map_err(|_| format!("{test}: no {at}"))?;
    let (modules, name) = path.rsplit_once("::").unwrap_or(("", path));
    for module in modules.split("::").filter(|module| !module.is_empty()) {
        let declares = |text: &str, end: char| {
            let ends = format!("mod {module}{end}");
            text.lines()
                .any(|line| line.trim_end_matches(" {").ends_with(ends.trim_end()))
        };
        if module == "tests" && declares(&text, ' ') {
            continue;
        }
        if !declares(&text, ';') {
            return Err(format!("{test}: {} has no mod {module}", file.display()));
        }
        folder = folder.join(module);
        file = folder.with_extension("rs");
        if !file.is_file() {
            file = folder.join("mod.rs");
        }
        text = fs::read_to_string(&file).map_err(|_| format!("{test}: no {module}"))?;
    }
    if tests_of(&text).contains(name) {
        Ok(())
    } else {
        Err(format!("{test}: not in {}", file.display()))
    }
}

/// The tests of a file that run: functions marked as tests and not ignored.
fn tests_of(text: &str) -> BTreeSet<&str> {
    let mut tests = BTreeSet::new();
    let (mut is_test, mut is_ignored) = (false, false);
    for line in text.lines().map(str::trim) {
        is_test |= line == "#[test]";
        is_ignored |= line.starts_with("#[ignore");
        if let Some(name) = line.strip_prefix("fn ") {
            if is_test && !is_ignored {
                tests.insert(name.split(['(', '<']).next().unwrap());
            }
            (is_test, is_ignored) = (false, false);
        }
    }
    tests
}

/// The rulings that a text cites: what follows the word, as far as it is a list of ids.
fn citations(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = text
        .split_whitespace()
        .filter(|word| !word.starts_with("//"))
        .peekable();
    while let Some(word) = words.next() {
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        if !["ruling", "rulings", "Ruling", "Rulings"].contains(&word) {
            continue;
        }
        let mut goes_on = true;
        while let Some(next) = words.peek() {
            let id = next.trim_matches(|c: char| !c.is_alphanumeric());
            if ["and", "or"].contains(next) {
                goes_on = true;
            } else if goes_on && is_ruling(id) {
                found.push(id.to_owned());
                goes_on = next.ends_with(',');
            } else {
                break;
            }
            words.next();
        }
    }
    found
}

fn is_ruling(word: &str) -> bool {
    let number = word.strip_prefix(['F', 'I', 'T', 'S', 'M']);
    number.is_some_and(|number| number.parse::<u8>().is_ok_and(|number| number > 0))
}

fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap();
    entries
        .flat_map(|entry| files(&entry.unwrap().path()))
        .collect()
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

const SAMPLE: &str = "## What turns a test red";
