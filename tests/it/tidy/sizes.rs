//! How large files, folders and the public face may be.

use std::collections::BTreeMap;

use super::imports::without_comments;
use super::{files, sources};

const LINES_MAX: usize = 500;
const FILES_TOO_LONG: usize = 0;

const FOLDER_MAX: usize = 15;
const FOLDERS_TOO_FULL: usize = 0;

const PUBLIC_TYPES_MAX: usize = 245;

const STORE_METHODS_MAX: usize = 45;

#[test]
fn a_file_is_not_two_files() {
    let sources = sources();
    let long = sources.iter().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LINES_MAX).then(|| format!("{} has {lines} lines", file.path))
    });
    assert_few("files too long", &long.collect::<Vec<_>>(), FILES_TOO_LONG);
}

#[test]
fn a_folder_can_be_seen_at_once() {
    let mut counts = BTreeMap::new();
    for file in sources() {
        let (folder, _) = file.path.rsplit_once('/').unwrap();
        *counts.entry(folder.to_owned()).or_insert(0_usize) += 1;
    }
    counts.retain(|_, count| *count > FOLDER_MAX);
    let full = counts
        .iter()
        .map(|(folder, count)| format!("{folder} has {count} files"));
    assert_few(
        "folders too full",
        &full.collect::<Vec<_>>(),
        FOLDERS_TOO_FULL,
    );
}

/// The workspace warns of what is `pub` and cannot be reached, so a declaration is enough.
#[test]
fn the_public_types_can_be_learned() {
    let mut types = Vec::new();
    for file in files("src", "rs") {
        let code = without_comments(&file.text);
        for line in code.lines().filter_map(|line| line.strip_prefix("pub ")) {
            let word = line.split(' ').next().unwrap();
            if ["struct", "enum", "trait", "type"].contains(&word) {
                types.push(format!("{}: {line}", file.path));
            }
        }
    }
    assert_few("public types", &types, PUBLIC_TYPES_MAX);
}

#[test]
fn the_methods_of_a_store_can_be_learned() {
    let mut methods = Vec::new();
    for file in files("src", "rs") {
        let code = without_comments(&file.text);
        let mut is_inside = false;
        for line in code.lines() {
            is_inside |= line.starts_with("impl Store {");
            is_inside &= !line.starts_with('}');
            if is_inside && line.starts_with("    pub ") && line.contains("fn ") {
                methods.push(format!("{}: {}", file.path, line.trim()));
            }
        }
    }
    assert_few("methods of Store", &methods, STORE_METHODS_MAX);
}

fn assert_few(what: &str, found: &[String], allowed: usize) {
    println!("{what}: {} of {allowed} allowed", found.len());
    let list = found.join("\n");
    assert!(
        found.len() <= allowed,
        "{what}: {} of {allowed}\n{list}",
        found.len()
    );
}
