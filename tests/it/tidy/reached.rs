//! Every source file is reached from a root that cargo builds, and every dev-dependency is used: a
//! test file that no module declares never runs, and nothing else says so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::imports::{tokens, without_comments};
use super::{below_root, files, root};

/// The folders of a package whose files cargo takes for roots, each unless its manifest says no.
const ROOTS: &[(&str, &str)] = &[
    ("src/bin", "autobins"),
    ("examples", "autoexamples"),
    ("benches", "autobenches"),
    ("tests", "autotests"),
];

/// The packages that the workspace leaves out.
const APART: [&str; 4] = ["fuzz", "benches", "node", "python"];

/// A package of the project: its folder and its manifest.
struct Package {
    folder: PathBuf,
    manifest: toml::Table,
}

impl Package {
    /// Returns all packages, those that the workspace leaves out as well.
    fn all() -> Vec<Self> {
        let crates = std::fs::read_dir(root().join("crates")).unwrap();
        let mut folders: Vec<_> = crates.map(|entry| entry.unwrap().path()).collect();
        folders.extend(
            [root()]
                .into_iter()
                .chain(APART.map(|name| root().join(name))),
        );
        let packages = folders.into_iter().map(|folder| Self {
            manifest: std::fs::read_to_string(folder.join("Cargo.toml"))
                .unwrap()
                .parse()
                .unwrap(),
            folder,
        });
        packages.collect()
    }

    /// Returns the files from which cargo builds the package.
    fn roots(&self) -> Vec<PathBuf> {
        let mut roots: Vec<_> = ["src/lib.rs", "src/main.rs", "build.rs"]
            .map(|file| self.folder.join(file))
            .to_vec();
        for (folder, switch) in ROOTS {
            let is_off = self.manifest["package"].get(*switch) == Some(&false.into());
            let entries = std::fs::read_dir(self.folder.join(folder));
            let entries = entries.into_iter().flatten().filter(|_| !is_off);
            roots.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let targets = self.manifest.values().filter_map(toml::Value::as_array);
        let paths = targets.flatten().filter_map(|target| target.get("path"));
        roots.extend(paths.map(|path| self.folder.join(path.as_str().unwrap())));
        roots.retain(|path| path.is_file() && path.extension().is_some_and(|it| it == "rs"));
        roots
    }

    /// Returns the files that are reached from the roots.
    fn reached(&self) -> BTreeSet<PathBuf> {
        let mut pending = self.roots();
        let roots = pending.clone();
        let mut reached = BTreeSet::new();
        while let Some(path) = pending.pop() {
            if reached.insert(path.clone()) {
                let text = std::fs::read_to_string(&path).unwrap();
                pending.extend(declared(&path, roots.contains(&path), &text));
            }
        }
        reached
    }
}

/// Returns the files that exist of the modules which a file declares.
fn declared(path: &Path, is_root: bool, text: &str) -> Vec<PathBuf> {
    let parent = path.parent().unwrap();
    let folder = match is_root || path.ends_with("mod.rs") {
        true => parent.to_owned(),
        false => path.with_extension(""),
    };
    let code = without_comments(text);
    let tokens = tokens(&code);
    let names = tokens
        .windows(3)
        .filter(|words| words[0] == "mod" && words[2] == ";");
    let mut found: Vec<_> = names
        .flat_map(|words| {
            let file = folder.join(format!("{}.rs", words[1]));
            [file, folder.join(words[1]).join("mod.rs")]
        })
        .collect();
    let lines = text.lines().map(str::trim);
    let given = lines.filter_map(|line| {
        let (_, path) = line
            .starts_with("#[")
            .then_some(line)?
            .split_once("path = \"")?;
        path.split('"').next()
    });
    found.extend(given.filter_map(|given| parent.join(given).canonicalize().ok()));
    found.retain(|path| path.is_file());
    found
}

#[test]
fn every_source_file_is_reached_from_a_root() {
    let packages = Package::all();
    let reached: BTreeSet<_> = packages.iter().flat_map(Package::reached).collect();
    let reached: BTreeSet<_> = reached.iter().map(|path| below_root(path)).collect();
    let folders = ["src", "tests", "examples", "crates"];
    let all = folders
        .iter()
        .chain(&APART)
        .flat_map(|folder| files(folder, "rs"));
    // Built and installed, and no source of this project.
    let is_made = |path: &String| path.contains("/target/") || path.contains("/node_modules/");
    let forgotten: Vec<_> = all
        .map(|file| file.path)
        .filter(|path| !is_made(path) && !reached.contains(path))
        .collect();
    assert!(forgotten.is_empty(), "\n{}", forgotten.join("\n"));
}

#[test]
fn every_dev_dependency_is_used() {
    for package in Package::all() {
        let Some(dependencies) = package.manifest.get("dev-dependencies") else {
            continue;
        };
        let reached = package.reached();
        let code = reached
            .iter()
            .map(|path| without_comments(&std::fs::read_to_string(path).unwrap()));
        let code: Vec<_> = code.collect();
        let words: BTreeSet<&str> = code.iter().flat_map(|code| tokens(code)).collect();
        for name in dependencies.as_table().unwrap().keys() {
            let is_used = words.contains(&*name.replace('-', "_"));
            assert!(is_used, "{}: {name}", package.folder.display());
        }
    }
}

#[test]
fn a_module_is_looked_for_beside_a_root_and_below_another_file() {
    let here = root().join("tests/it");
    let of = |path: &str, is_root, text| {
        let files = declared(&here.join(path), is_root, text).into_iter();
        let files: Vec<_> = files.map(|path| below_root(&path)).collect();
        files.join(" ")
    };
    assert_eq!(of("main.rs", true, "mod tidy;"), "tests/it/tidy.rs");
    assert_eq!(of("tidy.rs", false, "mod sizes;"), "tests/it/tidy/sizes.rs");
    assert_eq!(of("tidy.rs", false, "// mod sizes;\nmod none;"), "");
}
