//! A tree of Markdown in step with the store: what was edited in it comes in, and what changed here is
//! written there, file by file.
//!
//! Every file is written under a temporary name and renamed, and only over the bytes that came in. A step
//! that is interrupted anywhere is completed by the next one: what it wrote is found again by its words.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use crate::interchange::markdown::{self, MANIFEST, Manifest, Standing, folded, tree_tag};
use crate::interchange::{
    Error as FileError, Format, ImportFile, KnownTree, Place, ReadOptions, WriteOptions, sha256,
};
use crate::query::query;
use crate::store::import::{current_item, import};
use crate::store::read::{exists, now};
use crate::store::{Owner, Summary};

use super::file::whole_file;
use super::output::remove_remains;
use super::tree::{create_above, is_regular, refused, remove};
use super::{Error, ExportReport, Filter, io_error, recorded, unsupported};

/// See [`Admin::sync_tree`](crate::Admin::sync_tree).
pub(crate) fn sync_tree(
    owner: Owner<'_>,
    folder: &Path,
    reading: &ReadOptions,
    writing: &WriteOptions,
) -> Result<(Summary, ExportReport), Error> {
    owner.authorize_whole()?;
    let next = owner.store().snapshot().watermark();
    let (summary, mut exported) = step(owner, folder, reading, writing)?;
    if exported.files > 0 {
        exported = recorded(owner, Format::Markdown, &Filter::new(), exported, next)?;
    }
    Ok((summary, exported))
}

/// Brings a tree and the store in step once.
fn step(
    admin: Owner<'_>,
    folder: &Path,
    reading: &ReadOptions,
    writing: &WriteOptions,
) -> Result<(Summary, ExportReport), Error> {
    if writing.encryption.is_some() || writing.sign.is_some() {
        return Err(unsupported(
            "a tree of Markdown is neither encrypted nor signed",
        ));
    }
    let _turn = lock(folder).map_err(io_error)?;
    let reading = ReadOptions {
        in_step: true,
        ..reading.clone()
    };
    let open = || ImportFile::open(folder, Some(Format::Markdown), &reading);
    let file = open()?;
    let Some(tree) = file.records.tree().cloned() else {
        return Err(unsupported("only a directory is kept in step"));
    };
    check(admin, folder, &tree)?;
    for path in &tree.remains {
        remove_remains(&folder.join(path)).map_err(io_error)?;
    }
    let mut summary = import(admin.store(), file)?;
    let options = WriteOptions {
        dialect: Some(tree.dialect.to_owned()),
        now: writing.now.or_else(|| Some(now(admin.store()))),
        ..writing.clone()
    };
    let mut step = Step::new(folder, &tree, &summary);
    let report = step.write(admin, &options)?;
    summary.findings.append(&mut step.findings);
    summary.loss.merge(&report.loss);
    if report.files > 0 {
        let written = open()?;
        let records = written.records.settled();
        import(admin.store(), ImportFile { records, ..written })?;
    }
    Ok((summary, report))
}

/// Holds the directory, so that two steps do not write into it at once.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    fs::create_dir_all(folder)?;
    // Not every system opens a directory.
    let Ok(held) = File::open(folder) else {
        return Ok(None);
    };
    match held.try_lock() {
        Err(TryLockError::WouldBlock) => Err(refused("is kept in step by another process")),
        _ => Ok(Some(held)),
    }
}

/// Refuses a tree that is not what it was.
fn check(admin: Owner<'_>, folder: &Path, tree: &KnownTree) -> Result<(), Error> {
    let mut names = HashMap::new();
    for path in tree.read.keys().chain(&tree.unread) {
        if let Some(other) = names.insert(folded(path), path) {
            let message = format!("has {other} and {path}, which many disks take for one file");
            return Err(io_error(refused(&message)));
        }
    }
    let marks = folder.join(MANIFEST);
    if is_regular(&marks).map_err(io_error)? {
        let text = fs::read_to_string(&marks).map_err(io_error)?;
        let dialect = Manifest::parse(&text).map(|it| it.dialect);
        return match dialect.filter(|it| it != tree.dialect) {
            Some(dialect) => Err(unsupported(&format!("the tree is one of {dialect}"))),
            None => Ok(()),
        };
    }
    let is_empty = tree.read.is_empty() && tree.unread.is_empty();
    let notes = Filter::new().with_envelopes().tag(tree_tag(&tree.scope));
    if is_empty && !query(admin.store(), &notes, 1, None)?.results.is_empty() {
        // A disk that is not mounted must not end all that the tree said.
        let message = "is empty, and the tree that was here is not; if it is meant to be, create .grainstore-tree in it";
        return Err(io_error(refused(message)));
    }
    Ok(())
}

/// One writing of a tree.
struct Step<'a> {
    folder: &'a Path,
    tree: &'a KnownTree,
    /// The files that are left as they are: they have text that the store does not.
    held: BTreeSet<String>,
    /// The names of the files as the disk has them, by what it may take for the same.
    names: HashMap<String, &'a str>,
    findings: Vec<(Place, String)>,
}

impl<'a> Step<'a> {
    fn new(folder: &'a Path, tree: &'a KnownTree, summary: &Summary) -> Self {
        let refused = summary.refused.iter().map(FileError::place);
        let denied = summary.denied.iter().map(|(place, ..)| place);
        let places = refused.chain(denied).map(ToString::to_string);
        let held = places.filter_map(|place| Some(place.rsplit_once(':')?.0.to_owned()));
        let read = tree.read.keys().chain(&tree.unread);
        Self {
            folder,
            tree,
            held: held.chain(tree.unread.iter().cloned()).collect(),
            names: read.map(|path| (folded(path), path.as_str())).collect(),
            findings: Vec::new(),
        }
    }

    /// Writes what differs, and removes the notes of which the store has nothing.
    fn write(&mut self, admin: Owner<'_>, options: &WriteOptions) -> Result<ExportReport, Error> {
        let entries = super::entries(admin, &Filter::new(), options)?;
        let (tree, held) = (self.tree, self.held.clone());
        let leaves = |path: &str| tree.read.contains_key(path) && !held.contains(path);
        let standing = Standing {
            item: &|id| current_item(admin.store(), &tree.scope, id),
            text: &|path| {
                // A file that was removed or changed meanwhile is reported when it would be written.
                let is_read = tree.read.contains_key(path);
                let text = is_read.then(|| fs::read_to_string(self.folder.join(path)).ok());
                Ok(text.flatten())
            },
            has: &|address| exists(admin.store(), address),
            leaves: &leaves,
        };
        let (mut count, mut planned) = (0, HashSet::new());
        let mut written =
            markdown::write(&entries, options, Some(&standing), &mut |path, text| {
                planned.insert(folded(path));
                count += u64::from(self.put(path, text)? && path != MANIFEST);
                Ok::<(), Error>(())
            })?;
        for path in tree.read.keys().filter(|path| leaves(path)) {
            if !planned.contains(&folded(path)) && self.is_as_read(path)? {
                remove(self.folder, Path::new(path)).map_err(io_error)?;
                count += 1;
            }
        }
        entries.count_vectors(|_| false, &mut written.loss)?;
        Ok(ExportReport::of(written, count, &entries.loss()))
    }

    /// Writes a file, unless its bytes are these or are not those that came in. Returns whether it did.
    fn put(&mut self, path: &str, text: &str) -> Result<bool, Error> {
        let path = self.names.get(&folded(path)).copied().unwrap_or(path);
        let file = self.folder.join(path);
        create_above(self.folder, Path::new(path)).map_err(io_error)?;
        let found = digest(&file).map_err(io_error)?;
        if found.as_deref() == Some(bare(&sha256(text.as_bytes()))) {
            return Ok(false);
        }
        if path != MANIFEST && !self.is_as_read(path)? {
            return Ok(false);
        }
        let before = fs::symlink_metadata(&file).ok();
        whole_file(&file, &WriteOptions::default(), |out| {
            out.write_all(text.as_bytes()).map_err(io_error)
        })?;
        if let Some(before) = before {
            fs::set_permissions(&file, before.permissions()).map_err(io_error)?;
        }
        Ok(true)
    }

    /// Returns whether a file is still what came in; one that is not is left to the next step.
    fn is_as_read(&mut self, path: &str) -> Result<bool, Error> {
        let file = self.folder.join(path);
        let why = if self.tree.unread.iter().any(|it| it == path) {
            // The reading has said why.
            return Ok(false);
        } else if self.held.contains(path) {
            "is left as it is: not all of it came in"
        } else if digest(&file).map_err(io_error)? == self.tree.read.get(path).cloned() {
            return Ok(true);
        } else {
            "has changed since it came in, and waits for the next step"
        };
        self.findings
            .push((Place::Pointer(path.to_owned()), why.to_owned()));
        Ok(false)
    }
}

/// Returns the digest of a file; none of one that is not there. One that is no regular file has another
/// one than any text.
fn digest(file: &Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(found) if !found.is_file() => Ok(Some(String::new())),
        Ok(_) => Ok(Some(bare(&sha256(&fs::read(file)?)).to_owned())),
    }
}

fn bare(digest: &str) -> &str {
    digest.strip_prefix("sha256:").unwrap_or(digest)
}
