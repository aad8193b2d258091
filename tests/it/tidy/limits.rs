//! The limits of what is counted: a number that is lowered when the code falls below it, and never
//! raised. The history of `limits.tsv` shows whether one was.

use std::collections::BTreeMap;
use std::process::Command;

use super::root;

const FILE: &str = "tests/it/tidy/limits.tsv";

/// Holds what was found to the limit of a name, and shows it where there is too much.
pub(super) fn assert_few(name: &str, found: &[String]) {
    let allowed = parse(include_str!("limits.tsv"))[name];
    println!("{name}: {} of {allowed} allowed", found.len());
    let list = found.join("\n");
    assert!(
        found.len() <= allowed,
        "{name}: {} of {allowed}\n{list}",
        found.len()
    );
}

fn parse(text: &str) -> BTreeMap<String, usize> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let limits = lines.map(|(name, limit)| (name.to_owned(), limit.parse().unwrap()));
    limits.collect()
}

#[test]
fn no_limit_was_ever_raised() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(root()).output();
        let output = output.ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    // A package without its history has nothing to compare.
    let Some(commits) = git(&[
        "log",
        "--reverse",
        "--topo-order",
        "--format=%H",
        "--",
        FILE,
    ]) else {
        return;
    };
    let versions = commits
        .lines()
        .filter_map(|commit| git(&["show", &format!("{commit}:{FILE}")]));
    let now = include_str!("limits.tsv").to_owned();
    let mut least = BTreeMap::<String, usize>::new();
    for version in versions.chain([now]) {
        for (name, limit) in parse(&version) {
            let before = least.entry(name.clone()).or_insert(limit);
            assert!(
                limit <= *before,
                "{name} was raised from {before} to {limit}"
            );
            *before = limit;
        }
    }
}
