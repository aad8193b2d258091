//! Runs the commands of README and of the guide in their order, as a reader would type them.

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../../README.md");

const GUIDE: &str = include_str!("../../../../docs/guide.md");

#[test]
fn every_command_of_the_readme_runs() {
    let (_, session) = README.split_once("```console\n").unwrap();
    let (session, _) = session.split_once("```").unwrap();
    let commands = commands(session);
    assert!(commands.len() >= 8, "{commands:?}");
    run(&commands);
}

#[test]
fn every_command_of_the_guide_runs() {
    let blocks = GUIDE.split("```console\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let commands: Vec<_> = blocks.flat_map(commands).collect();
    assert!(commands.len() >= 20, "{commands:?}");
    run(&commands);
}

fn commands(block: &str) -> Vec<&str> {
    let lines = block.lines();
    lines.filter_map(|line| line.strip_prefix("$ ")).collect()
}

/// Runs the lines in one shell, which keeps variables, and names the line that fails.
fn run(commands: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::os::unix::fs::symlink(root.join("examples"), home.path().join("examples")).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_grainstore"))
        .parent()
        .unwrap();
    let path = std::env::join_paths(
        [bin.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let script: String = commands
        .iter()
        .map(|line| {
            format!(
                "{line}\nif [ $? != 0 ]; then echo \"failed: \"'{}' >&2; exit 1; fi\n",
                line.replace('\'', "'\\''")
            )
        })
        .collect();
    let ran = Command::new("sh")
        .args(["-c", &script])
        .current_dir(home.path())
        .env("PATH", &path)
        .env_remove("GRAINSTORE_STORE")
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn the_readme_names_the_two_commands_that_do_everything() {
    for command in ["cargo run --release -- demo", "cargo test --workspace"] {
        assert!(README.contains(command), "{command}");
    }
}
