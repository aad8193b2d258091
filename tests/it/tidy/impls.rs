//! Where the methods of a type are: beside it, or scattered over rooms that imports do not show. A
//! method that another folder adds can call every other one, whatever the order of the rooms.

use std::collections::{BTreeMap, BTreeSet};

use super::files;
use super::imports::{tokens, without_comments};
use super::limits::assert_few;

#[test]
fn methods_are_in_the_folder_of_their_type() {
    let sources: Vec<_> = files("src", "rs")
        .into_iter()
        .map(|file| (file.path, without_comments(&file.text)))
        .collect();
    let mut folders = BTreeMap::<String, BTreeSet<&str>>::new();
    for (path, code) in &sources {
        let words = tokens(code);
        let pairs = words.windows(2).filter(|pair| TYPES.contains(&pair[0]));
        for pair in pairs {
            folders
                .entry(pair[1].to_owned())
                .or_default()
                .insert(folder(path));
        }
    }
    let mut outside = Vec::new();
    for (path, code) in &sources {
        for line in code.lines().filter_map(|line| line.strip_prefix("impl")) {
            let Some(name) = inherent(line) else { continue };
            let homes = folders.get(name);
            if homes.is_some_and(|homes| !homes.contains(folder(path))) {
                outside.push(format!("{path}: {name}"));
            }
        }
    }
    assert_few("impl blocks outside the folder of their type", &outside);
}

const TYPES: [&str; 4] = ["struct", "enum", "trait", "union"];

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the type of a block that implements no trait, from what stands behind `impl`.
fn inherent(line: &str) -> Option<&str> {
    let head = line
        .strip_suffix(" {")
        .filter(|head| !head.contains(" for "))?;
    let head = match head.strip_prefix('<') {
        Some(generics) => generics.split_once('>')?.1,
        None => head,
    };
    let name = head.trim().split('<').next()?;
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_plain.then_some(name)
}

#[test]
fn the_methods_of_the_engine_become_fewer() {
    let mut methods = Vec::new();
    for file in files("src/store", "rs") {
        let mut is_inside = false;
        for line in without_comments(&file.text).lines() {
            is_inside |= line.starts_with("impl Engine {");
            is_inside &= !line.starts_with('}');
            let is_item = line.starts_with("    ") && !line.starts_with("     ");
            if is_inside && is_item && tokens(line).contains(&"fn") {
                methods.push(format!("{}: {}", file.path, line.trim()));
            }
        }
    }
    assert_few("methods of the engine", &methods);
}

#[test]
fn a_block_that_implements_a_trait_is_not_inherent() {
    assert_eq!(inherent(" Store {"), Some("Store"));
    assert_eq!(inherent("<'a> Admin<'a> {"), Some("Admin"));
    assert_eq!(inherent(" Fold for Actors {"), None);
    assert_eq!(inherent("<T> Extend<T> for Diagnostics<T> {"), None);
    assert_eq!(inherent("ed by the store"), None);
}
