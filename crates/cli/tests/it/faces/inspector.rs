//! The inspector in a browser: the tasks of a person, accessibility, and hostile content
//! (`inspector.mjs`).

use std::path::Path;
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
