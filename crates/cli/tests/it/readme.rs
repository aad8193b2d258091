//! Runs the commands of README in their order, as a reader would type them.

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../../README.md");

#[test]
fn every_command_of_the_readme_runs() {
    let (_, session) = README.split_once("```console\n").unwrap();
    let (session, _) = session.split_once("```").unwrap();
    let commands: Vec<_> = session
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");

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
    for line in commands {
        let ran = Command::new("sh")
            .args(["-c", line])
            .current_dir(home.path())
            .env("PATH", &path)
            .env_remove("GRAINSTORE_STORE")
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{line}\n{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

#[test]
fn the_readme_names_the_two_commands_that_do_everything() {
    for command in ["cargo run --release -- demo", "cargo test --workspace"] {
        assert!(README.contains(command), "{command}");
    }
}
