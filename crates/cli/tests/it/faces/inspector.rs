//! The inspector in a browser: the tasks of a person, accessibility, and hostile content
//! (`inspector.mjs`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::Home;
use crate::faces::serve::Served;

/// The browser and its driver are installed by `.ci/run`, where there is a network.
#[test]
#[ignore = "needs chromium with playwright-core"]
fn a_person_finds_changes_and_erases_in_a_browser_and_hostile_content_stays_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = Home::new();
    home.ok(&["did", "new", "operator.pem"]);
    let options = ["--ui", "--sign-key", "operator.pem"];
    let all = "read,write,erase,export,import,admin";
    let served = Served::with(&home, all, &options);
    let output = Command::new("node")
        .arg(root.join("crates/cli/tests/it/faces/inspector.mjs"))
        .arg(format!("http://{}", served.at))
        .arg(&served.token)
        .arg(root.join("target/inspector"))
        .arg(home.path(""))
        // More hostile strings, where the folder of test data is there.
        .arg(root.join("../shared/vectors/blns/blns.json"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{told}");
    println!("{said}");
    // The receipt that the person saved is one that the command verifies.
    home.ok(&[
        "user",
        "verify",
        "receipt.json",
        "--person",
        "mira",
        "--in-store",
    ]);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a script beside this file against a server, and returns what it said.
fn driven(script: &str, served: &Served, more: &[&str]) -> String {
    let output = Command::new("node")
        .arg(root().join("crates/cli/tests/it/faces").join(script))
        .arg(format!("http://{}", served.at))
        .arg(&served.token)
        .arg(root().join("target/inspector"))
        .args(more)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{told}");
    said
}

/// `GRAINSTORE_WRITE_LOOKS=1` writes the pictures anew.
#[test]
#[ignore = "needs chromium with playwright-core"]
fn the_pages_look_as_the_pictures_that_are_kept() {
    let home = Home::new();
    let served = Served::with(&home, "read,write,erase,export,import,admin", &["--ui"]);
    let pictures = root().join("crates/cli/tests/it/faces/looks");
    println!(
        "{}",
        driven(
            "inspector_looks.mjs",
            &served,
            &[pictures.to_str().unwrap()]
        )
    );
}

/// Returns grains of 1,000 persons: conversations of ten turns, and beliefs. Every tenth is of one person,
/// and every fiftieth about one city.
fn many(grains: usize) -> String {
    let mut lines = String::new();
    for n in 0..grains {
        let at = 1_768_471_200_000_u64 - (n as u64 % 1_000) * 86_400;
        let person = match n % 10 {
            0 => "busy".to_owned(),
            _ => format!("person-{}", n / 10 % 1_000),
        };
        let (talk, city) = (n / 10, n % 50);
        let line = match n % 10 {
            8 | 9 => format!(
                "{{\"type\":\"belief\",\"subject\":\"{person}\",\"relation\":\"lives_in_{n}\",\"object\":\"city-{city}\",\
                 \"confidence\":0.9,\"user_id\":\"{person}\",\"created_at\":{at}}}"
            ),
            turn => format!(
                "{{\"type\":\"event\",\"content\":\"turn {n}: the {} umbrella stands behind door {city}\",\"role\":\"{}\",\
                 \"session_id\":\"talk-{talk}\",\"user_id\":\"{person}\",\"created_at\":{at}}}",
                ["green", "red", "old"][n % 3],
                ["user", "assistant"][turn % 2],
            ),
        };
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

/// `GRAINSTORE_PAGE_GRAINS` and `GRAINSTORE_PAGE_MS` set the number of grains and the limit of a page when it is compiled; a debug
/// build is held to a loose one.
#[test]
#[ignore = "needs chromium with playwright-core"]
fn the_pages_of_a_store_of_50000_grains_open_in_time() {
    let grains = option_env!("GRAINSTORE_PAGE_GRAINS").unwrap_or("50000");
    let most_ms = option_env!("GRAINSTORE_PAGE_MS").unwrap_or("15000");
    let home = Home::new();
    home.write("many.jsonl", many(grains.parse().unwrap()));
    home.ok(&["--quiet", "import", "many.jsonl"]);
    let served = Served::with(&home, "read,write,erase,export,import,admin", &["--ui"]);
    let said = driven("inspector_many.mjs", &served, &[most_ms]);
    println!("{said}");
}
