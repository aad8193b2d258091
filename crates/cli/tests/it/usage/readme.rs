//! Runs the commands of README and of the guide in their order, as a reader would type them.

use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../../../README.md");

const GUIDE: &str = include_str!("../../../../../docs/guide.md");

const OPERATE: &str = include_str!("../../../../../docs/operate.md");

const CAL: &str = include_str!("../../../../../docs/cal.md");

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

#[test]
fn every_command_of_the_page_on_operation_runs() {
    let blocks = OPERATE.split("```console\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let commands: Vec<_> = blocks.flat_map(commands).collect();
    assert!(commands.len() >= 15, "{commands:?}");
    run(&commands);
}

#[test]
fn every_command_of_the_page_on_cal_runs() {
    let blocks = CAL.split("```console\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let commands: Vec<_> = blocks.flat_map(commands).collect();
    assert!(commands.len() >= 18, "{commands:?}");
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
        .env("HOME", home.path())
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

#[test]
fn no_link_of_the_readme_is_dead_in_the_repository_and_in_the_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let mut links = 0;
    let targets = README.split("](").skip(1);
    for target in targets.map(|rest| rest.split(')').next().unwrap()) {
        if target.starts_with("https://") {
            continue;
        }
        links += 1;
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        assert!(root.join(file).is_file(), "{target}");
        if !anchor.is_empty() {
            let page = std::fs::read_to_string(root.join(file)).unwrap();
            let heads = page.lines().filter(|line| line.starts_with('#'));
            let mut anchors = heads.map(|head| {
                let head = head.trim_start_matches(['#', ' ']).to_lowercase();
                head.replace(' ', "-")
            });
            assert!(anchors.any(|head| head == anchor), "{target}");
        }
        // The package has it: its manifest names the file, or all of its kind.
        let kinds = ["docs/*.md", "LICENSE-*", file];
        let of = |kind: &&str| match kind.split_once('*') {
            Some((before, after)) => file.starts_with(before) && file.ends_with(after),
            None => true,
        };
        let mut kinds = kinds.iter().filter(|kind| of(kind));
        assert!(kinds.any(|kind| manifest.contains(*kind)), "{target}");
    }
    assert!(links > 15, "{links}");
}

#[test]
fn the_recording_shows_the_steps_of_the_demo() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recording = std::fs::read_to_string(root.join("docs/demo.svg")).unwrap();
    let home = crate::command::Home::new();
    let shown = home.ok(&["demo"]);
    let mut steps = shown.lines().filter(|line| {
        let (number, _) = line.split_once(". ").unwrap_or_default();
        number.parse::<u32>().is_ok()
    });
    let mut count = 0;
    steps.by_ref().for_each(|step| {
        count += 1;
        let step = step.replace('&', "&amp;");
        assert!(recording.contains(&step), "record it anew: {step}");
    });
    assert_eq!(count, 9);
}

#[test]
#[ignore = "needs python3"]
fn the_recording_is_made_from_the_demo() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("demo.svg");
    let ran = Command::new("python3")
        .arg(root.join("tools/record_demo.py"))
        .args([Path::new(env!("CARGO_BIN_EXE_grainstore")), &target])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let recording = std::fs::read_to_string(target).unwrap();
    assert_eq!(recording.matches("<g class=").count(), 10, "{recording}");
    for shown in ["9. Recall", "class=\"notice\"", "peanut"] {
        assert!(recording.contains(shown), "{shown}: {recording}");
    }
}
