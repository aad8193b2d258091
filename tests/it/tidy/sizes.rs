//! How large files, folders and the public face may be.

use std::collections::BTreeMap;
use std::fs;

use super::imports::{tokens, without_comments};
use super::limits::assert_few;
use super::{files, root, sources};

const LINES_MAX: usize = 500;
const FOLDER_MAX: usize = 15;

#[test]
fn a_file_is_not_two_files() {
    let sources = sources();
    let long = sources.iter().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LINES_MAX).then(|| format!("{} has {lines} lines", file.path))
    });
    assert_few("files too long", &long.collect::<Vec<_>>());
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
    assert_few("folders too full", &full.collect::<Vec<_>>());
}

/// The workspace warns of what is `pub` and cannot be reached, so a declaration is enough.
#[test]
fn the_public_types_can_be_learned() {
    let documented = documented_types();
    let mut types = Vec::new();
    for file in files("src", "rs") {
        let code = without_comments(&file.text);
        for line in code
            .lines()
            .filter_map(|line| line.trim().strip_prefix("pub "))
        {
            let word = line.split(' ').next().unwrap();
            if ["struct", "enum", "trait", "type"].contains(&word) {
                types.push(format!("{}: {line}", file.path));
            }
        }
    }
    assert_few("documented types", &documented);
    // The rest is hidden: the tests, the simulator, the fuzz targets and the benches need it.
    println!("{}", types.join("\n"));
    types.truncate(types.len() - documented.len());
    assert_few("internal types", &types);
}

/// Returns the types that the documentation of the crate shows, each under its module.
fn documented_types() -> Vec<String> {
    let mut found = documented();
    found.retain(|path| is_type(path.rsplit("::").next().unwrap()));
    found
}

/// Returns the names that the documentation of the crate shows, each under its module.
pub(super) fn documented() -> Vec<String> {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let code = without_comments(&lib);
    let tokens = tokens(&code);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if tokens[at..].starts_with(&["pub", "mod"]) && !is_hidden(&tokens, at) {
            found.extend(documented_in("src", tokens[at + 2]));
        }
        // What is passed on from a private room; the others are counted in theirs.
        let private = ["code", "face"].into_iter();
        for room in private.filter(|room| tokens[at..].starts_with(&["pub", "use", room])) {
            found.extend(passed_on(&tokens[at..]).map(|name| format!("{room}::{name}")));
        }
    }
    found
}

/// Returns the names that a module shows, with those of the modules that it shows.
fn documented_in(parent: &str, module: &str) -> Vec<String> {
    let folder = format!("{parent}/{module}");
    let Ok(text) = fs::read_to_string(root().join(&folder).join("mod.rs")) else {
        return Vec::new();
    };
    let code = without_comments(&text);
    let tokens = tokens(&code);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if tokens[at] != "pub" || is_hidden(&tokens, at) {
            continue;
        }
        match tokens[at + 1] {
            "use" => {
                let path = tokens[at + 2];
                // A type of another room is counted there.
                if path == "crate" && !folder.starts_with(&format!("src/{}", tokens[at + 4])) {
                    continue;
                }
                for name in passed_on(&tokens[at..]) {
                    let inner = documented_in(&format!("{folder}/{path}"), name);
                    found.push(format!("{module}::{name}"));
                    found.extend(inner);
                }
            }
            "struct" | "enum" | "trait" | "type" | "fn" => {
                found.push(format!("{module}::{}", tokens[at + 2]));
            }
            _ => {}
        }
    }
    found
}

/// Returns the names at the ends of a `use` declaration.
fn passed_on<'a>(tokens: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let end = tokens.iter().position(|token| *token == ";").unwrap();
    let pairs = tokens[..=end].windows(2);
    pairs.filter_map(|pair| [",", "}", ";"].contains(&pair[1]).then_some(pair[0]))
}

/// Whether one of the attributes before an item hides it from the documentation.
fn is_hidden(tokens: &[&str], at: usize) -> bool {
    let mut before = &tokens[..at];
    while before.last() == Some(&"]") {
        let start = before.iter().rposition(|token| *token == "#").unwrap();
        if before[start..].contains(&"hidden") {
            return true;
        }
        before = &before[..start];
    }
    false
}

/// A name with a capital and a small letter: neither a function nor a constant.
fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
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
    assert_few("methods of Store", &methods);
}
