//! A tree, written file by file, and the file that marks it.

use std::collections::{BTreeMap, HashMap};

use crate::interchange::entries::surveyed;
use crate::interchange::export::{Entry, Written};
use crate::interchange::{Entries, WriteOptions};

use super::dialect::{Dialect, Index};
use super::name::{MANIFEST, checked};
use super::page::Writer;
use super::plan::{File, Plan};

/// Takes the path of a file, below the tree, and its text.
pub(crate) type Put<'a, E> = &'a mut dyn FnMut(&str, &str) -> Result<(), E>;

/// Writes the current beliefs and events as the files of a tree: `put` gets the path of each, below
/// the tree, and its text. The last is the file that marks the tree.
///
/// # Errors
/// `ERR_UNSUPPORTED` for a dialect that there is not; those of the entries, and of `put`.
pub(crate) fn write<E: Entries + ?Sized>(
    entries: &E,
    options: &WriteOptions,
    put: Put<'_, E::Error>,
) -> Result<Written, E::Error> {
    let dialect = Dialect::named(options.dialect.as_deref())?;
    let plan = surveyed(entries, || Plan::of(entries, dialect, options.now))?;
    let writer = Writer {
        dialect,
        plan: &plan,
    };
    let mut manifest = Manifest::new(dialect.name);
    let mut lines = Vec::new();
    let mut put = |path: &str, text: &str, manifest: &mut Manifest| {
        manifest.add(path, sha256(text));
        put(path, text)
    };
    for file in &plan.files {
        let mut grains: HashMap<u32, Entry> = HashMap::new();
        for number in file.numbers() {
            grains.extend(entries.read(number)?.map(|entry| (number, entry)));
        }
        let state = match file.state {
            Some(number) => entries.read(number)?,
            None => None,
        };
        let (text, first) = writer.text(file, state.as_ref().map(|(grain, _)| grain), &grains);
        put(&file.path, &text, &mut manifest)?;
        lines.extend(dialect.index.map(|index| index_line(file, &first, index)));
    }
    if let Some(index) = dialect
        .index
        .filter(|_| plan.has_index && !lines.is_empty())
    {
        put(
            index.file,
            &format!("{}{}", index.head, lines.concat()),
            &mut manifest,
        )?;
    }
    let marks = manifest.to_string();
    put(MANIFEST, &marks, &mut Manifest::default())?;
    Ok(Written {
        records: plan.records,
        loss: plan.loss,
    })
}

fn index_line(file: &File, first: &str, index: Index) -> String {
    let title: String = file.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.replace(['[', ']', '|'], " ");
    let stem = file.path.strip_suffix(".md").unwrap_or(&file.path);
    match index.wiki {
        true if stem == title => format!("- [[{stem}]]\n"),
        true => format!("- [[{stem}|{title}]]\n"),
        false => {
            let first = match first {
                "" => String::new(),
                first => format!(" — {first}"),
            };
            format!("- [{title}]({}){first}\n", file.path.replace(' ', "%20"))
        }
    }
}

fn sha256(text: &str) -> String {
    let named = crate::interchange::model::normalize::sha256(text.as_bytes());
    named.trim_start_matches("sha256:").to_owned()
}

/// The files that an export wrote: the digest of each file, by path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(super) dialect: String,
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
