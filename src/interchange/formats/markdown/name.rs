//! Names of files: what every disk can hold, and nothing leads out of the tree; the file that marks a tree,
//! with the names of the others.

use std::collections::{BTreeMap, HashSet};

use crate::interchange::model::normalize::normalize_text;

/// The name of the file that marks a tree of this program.
pub(crate) const MANIFEST: &str = ".grainstore-tree";

/// The paths of a tree that are taken. Disks that do not tell cases apart are told apart here.
#[derive(Default)]
pub(super) struct Paths(HashSet<String>);

impl Paths {
    /// Takes a path that is to have exactly this name, if nothing has it yet.
    pub(super) fn take(&mut self, path: &str) -> bool {
        self.0.insert(folded(path))
    }

    /// Returns a path of its own in a folder, made of a title.
    pub(super) fn make(&mut self, folder: &str, title: &str) -> String {
        let stem = stem(title);
        let folder = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let mut path = format!("{folder}{stem}.md");
        let mut number = 2_u32;
        while !self.take(&path) {
            path = format!("{folder}{stem}-{number}.md");
            number = number.saturating_add(1);
        }
        path
    }
}

/// Returns a path as disks compare it that tell neither cases nor compositions of letters apart.
pub(crate) fn folded(path: &str) -> String {
    normalize_text(path).to_lowercase()
}

/// Returns a path that was read, or came with a grain, if it is one of a note below the tree: without
/// a name that leads out of it, is hidden, or stands for something else on some system.
pub(super) fn checked(path: &str) -> Option<String> {
    let path = normalize_text(path);
    let is_fine = |part: &str| {
        let allowed = |c: char| !c.is_control() && !FORBIDDEN.contains(&c);
        let bare = part.split('.').next().unwrap_or_default();
        !part.is_empty()
            && part.len() <= NAME_LEN_MAX.saturating_add(SUFFIX_LEN)
            && !part.starts_with('.')
            && !part.ends_with(['.', ' '])
            && part.chars().all(allowed)
            && !is_device(bare)
    };
    let is_deep = path.split('/').count() > PARTS_MAX;
    let is_note = path.ends_with(".md") || is_memory(&path);
    (!is_deep && is_note && path.split('/').all(is_fine)).then_some(path)
}

/// Whether a path is one of the memory tool, which has files of any ending.
pub(super) fn is_memory(path: &str) -> bool {
    path.starts_with("memories/")
}

/// Returns the name of a file, without its ending, for a title.
fn stem(title: &str) -> String {
    let mut stem = String::new();
    for c in normalize_text(title).chars() {
        let c = match c {
            _ if c.is_control() || FORBIDDEN.contains(&c) || "[]#^`".contains(c) => '-',
            _ => c,
        };
        if stem.len().saturating_add(c.len_utf8()) > NAME_LEN_MAX {
            break;
        }
        stem.push(c);
    }
    let stem = stem.trim_matches(['.', ' ', '-']);
    match stem {
        "" => "note".to_owned(),
        _ if is_device(stem.split('.').next().unwrap_or_default()) => format!("_{stem}"),
        _ => stem.to_owned(),
    }
}

/// Whether a name stands for a device on Windows, with any ending.
fn is_device(name: &str) -> bool {
    let name = name.trim_end().to_ascii_lowercase();
    let numbered = |prefix: &str| {
        let digit = name.strip_prefix(prefix).unwrap_or_default();
        matches!(
            digit,
            "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"
        )
    };
    matches!(name.as_str(), "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

/// Characters that some system gives a meaning in names.
const FORBIDDEN: [char; 9] = ['/', '\\', ':', '*', '?', '"', '<', '>', '|'];

/// Bytes of a name: disks take 255, and an ending and a number follow.
const NAME_LEN_MAX: usize = 120;
const SUFFIX_LEN: usize = 100;

/// As deep as folders are read.
const PARTS_MAX: usize = 9;

pub(super) fn sha256(text: &str) -> String {
    let named = crate::interchange::model::normalize::sha256(text.as_bytes());
    named.trim_start_matches("sha256:").to_owned()
}

/// The files that an export wrote: the digest of each file, by path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) dialect: String,
    files: BTreeMap<String, String>,
}

impl Manifest {
    pub(super) fn new(dialect: &str) -> Self {
        Self {
            dialect: dialect.to_owned(),
            files: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, path: &str, digest: String) {
        self.files.insert(path.to_owned(), digest);
    }

    /// Reads the file that marks a tree; `None` for another one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut manifest = Self::new(Self::dialect(text)?);
        for line in text.lines().skip(1) {
            let (digest, path) = line.split_once("  ")?;
            // A mark that someone else wrote must name nothing outside the tree.
            manifest.add(&checked(path)?, digest.to_owned());
        }
        Some(manifest)
    }

    /// Returns the dialect that the first line of such a file names.
    pub(super) fn dialect(text: &str) -> Option<&str> {
        text.lines().next()?.strip_prefix(FIRST)
    }

    /// Returns the files with their digests.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|(path, digest)| (path.as_str(), digest.as_str()))
    }

    /// Returns the digest of a file that it names.
    pub(super) fn digest(&self, path: &str) -> Option<&String> {
        self.files.get(path)
    }

    /// Returns whether it names a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
}

impl std::fmt::Display for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{FIRST}{}", self.dialect)?;
        self.files()
            .try_for_each(|(path, digest)| writeln!(f, "{digest}  {path}"))
    }
}

const FIRST: &str = "grainstore tree 1 ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_a_name_that_every_disk_holds() {
        let mut paths = Paths::default();
        let made = [
            "Ana",
            "ana",
            "../../etc/passwd",
            "CON",
            "nul.txt",
            "",
            "...",
            "a:b",
        ];
        let made = made.map(|title| paths.make("subjects", title));
        let expected = [
            "Ana",
            "ana-2",
            "etc-passwd",
            "_CON",
            "_nul.txt",
            "note",
            "note-2",
            "a-b",
        ];
        assert_eq!(made, expected.map(|name| format!("subjects/{name}.md")));
        assert!(paths.make("", &"é".repeat(500)).len() <= NAME_LEN_MAX + 3);
    }

    #[test]
    fn a_path_that_leads_out_of_the_tree_is_none() {
        for path in [
            "../a.md",
            "/a.md",
            "a/../b.md",
            ".git/a.md",
            "a//b.md",
            "C:/a.md",
            "nul.md",
        ] {
            assert_eq!(checked(path), None, "{path}");
        }
        assert_eq!(
            checked("people/Ana B.md").as_deref(),
            Some("people/Ana B.md")
        );
        assert_eq!(checked("e\u{301}.md").as_deref(), Some("\u{e9}.md"));
    }
}
