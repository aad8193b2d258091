//! The files that documents and the heads of modules name: each exists.

use std::collections::BTreeSet;

use super::{files, root, sources};

/// Endings of files of the project; others are files of users.
const ENDINGS: [&str; 3] = [".rs", ".md", ".tsv"];

#[test]
fn a_file_that_a_document_or_the_head_of_a_module_names_exists() {
    let known = project_files();
    let mut faults = Vec::new();
    for (path, text) in documents() {
        for name in named(&text) {
            if !exists(&known, &path, &name) {
                faults.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Returns the documents with their text, and the modules with their heads.
fn documents() -> Vec<(String, String)> {
    let pages = ["README.md", "CONTRIBUTING.md"].map(|name| {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        (name.to_owned(), text)
    });
    let heads = sources().into_iter().map(|file| {
        let lines = file.text.lines().take_while(|line| line.starts_with("//!"));
        (file.path.clone(), lines.collect::<Vec<_>>().join("\n"))
    });
    let docs = files("docs", "md").into_iter();
    let docs = docs.map(|file| (file.path, file.text));
    docs.chain(pages).chain(heads).collect()
}

fn project_files() -> BTreeSet<String> {
    let folders = [
        "src", "tests", "docs", "crates", "benches", "fuzz", "tools", "examples",
    ];
    let below = folders.iter().flat_map(|folder| {
        let found = ENDINGS.iter().flat_map(|end| files(folder, &end[1..]));
        found.map(|file| file.path).collect::<Vec<_>>()
    });
    let above = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    below.chain(above.map(str::to_owned)).collect()
}

/// Returns the names of files between backticks and the targets of links, without anchors.
fn named(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let links = text.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split([')', '#']).next());
    let names = quoted.chain(links.filter(|link| !link.contains("://")));
    let is_name = |name: &&str| {
        let is_plain = name
            .chars()
            .all(|c| c.is_alphanumeric() || "._-/".contains(c));
        is_plain
            && ENDINGS
                .iter()
                .any(|end| name.len() > end.len() && name.ends_with(end))
    };
    names.filter(is_name).map(str::to_owned).collect()
}

/// Whether a name is the end of the path of a file, or leads there from its document.
fn exists(known: &BTreeSet<String>, document: &str, name: &str) -> bool {
    let mut folder: Vec<&str> = document.split('/').collect();
    folder.pop();
    for part in name.split('/') {
        match part {
            ".." => drop(folder.pop()),
            "." => {}
            part => folder.push(part),
        }
    }
    let name = name.trim_start_matches("../");
    known.contains(&folder.join("/"))
        || known.contains(name)
        || known.iter().any(|path| path.ends_with(&format!("/{name}")))
}

#[test]
fn a_link_to_a_heading_of_a_page_finds_it() {
    let mut faults = Vec::new();
    let mut pages = documents();
    pages.retain(|(path, _)| path.ends_with(".md"));
    for (path, text) in &pages {
        for (page, heading) in headings_named(text) {
            // Pages lie in one folder; a name alone tells them apart.
            let name = page.rsplit('/').next().unwrap();
            let name = if name.is_empty() { path } else { name };
            let mut found = pages.iter().filter(|(other, _)| other.ends_with(name));
            if !found.any(|(_, text)| headings(text).contains(&heading)) {
                faults.push(format!("{path}: {page}#{heading}"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Returns the pages and headings that the links of a page name, the page empty for itself.
fn headings_named(text: &str) -> Vec<(String, String)> {
    let links = text.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split(')').next());
    let links = links.filter(|link| !link.contains("://"));
    let links = links.filter_map(|link| link.split_once('#'));
    links
        .map(|(page, heading)| (page.to_owned(), heading.to_owned()))
        .collect()
}

/// Returns the headings of a page as links name them: in small letters, with hyphens for spaces and
/// without other signs.
fn headings(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        !is_code && line.starts_with('#')
    });
    let plain = lines.map(|line| {
        let name = line.trim_start_matches('#').trim().to_lowercase();
        let signs = name
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        signs.collect::<String>().replace(' ', "-")
    });
    plain.collect()
}

#[test]
fn headings_are_named_as_links_name_them() {
    let page =
        "## The .mg file\n```\n# code\n```\n[a](#the-mg-file), [b](x/y.md#z), [c](https://d#e)";
    assert_eq!(headings(page), BTreeSet::from(["the-mg-file".to_owned()]));
    let named = headings_named(page);
    let named: Vec<_> = named
        .iter()
        .map(|(page, name)| (&**page, &**name))
        .collect();
    assert_eq!(named, [("", "the-mg-file"), ("x/y.md", "z")]);
}

#[test]
fn names_and_links_are_found_and_code_is_not() {
    let text = "See [x](format.md#a) and `a/b.rs`, not `grain.rs()` or [y](https://x.org/a.md).";
    assert_eq!(named(text), ["a/b.rs", "format.md"]);
    let known = BTreeSet::from(["src/a/b.rs".to_owned(), "docs/format.md".to_owned()]);
    assert!(exists(&known, "docs/x.md", "format.md") && exists(&known, "src/y.rs", "a/b.rs"));
    assert!(!exists(&known, "src/y.rs", "a/c.rs"));
}
