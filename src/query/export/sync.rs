//! A tree of Markdown in step with the store: what was edited in it comes in, and what changed here is
//! written there, file by file.
//!
//! Every file is written under a temporary name and renamed, and only over the bytes that came in. A step
//! that is interrupted anywhere is completed by the next one: what it wrote is found again by its words.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use crate::grain::Time;
use crate::interchange::markdown::{self, Earlier, MANIFEST, Manifest, Standing, folded, tree_tag};
use crate::interchange::{
    Error as FileError, Format, ImportFile, KnownTree, Place, ReadOptions, WriteOptions, sha256,
};
use crate::ledger::EntryId;
use crate::query::query;
use crate::store::import::{current_item, import, is_as_it_was, notes_of, wall_clock};
use crate::store::read::{locked_persons, now};
use crate::store::{Owner, Summary};

use super::file::whole_file;
use super::last_step::{LastStep, Mark, Marks, Stamp};
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
    let now = writing.now.unwrap_or_else(|| now(admin.store()));
    let before = Before::of(admin, folder, reading, writing)?;
    if before.is_as_it_was(now)? {
        return Ok(Default::default());
    }
    let earlier = notes_of(admin.store(), &before.scope)?;
    let standing = before.standing(&earlier);
    let reading = ReadOptions {
        in_step: true,
        dialect: reading.dialect.clone().or_else(|| dialect_of(folder)),
        ..reading.clone()
    };
    let unread = Arc::new(standing.keys().cloned().collect());
    let file = ImportFile::open_tree(folder, &unread, &reading)?;
    let Some(tree) = file.records.tree().cloned() else {
        return Err(unsupported("only a directory is kept in step"));
    };
    check(admin, folder, &tree)?;
    for path in &tree.remains {
        remove_remains(&folder.join(path)).map_err(io_error)?;
    }
    let records = file.records.after(earlier);
    let mut summary = import(admin.store(), ImportFile { records, ..file })?;
    let options = WriteOptions {
        dialect: Some(tree.dialect.to_owned()),
        now: Some(now),
        ..writing.clone()
    };
    let mut step = Step::new((folder, before.marks()), (&tree, standing), &summary);
    let end = EntryId::new(admin.store().snapshot().watermark());
    let report = step.write(admin, &options)?;
    summary.findings.append(&mut step.findings);
    summary.loss.merge(&report.loss);
    if report.files > 0 {
        let listed = markdown::listed(folder)?.into_iter();
        let others = listed.filter(|path| !step.written.contains(path));
        let written = ImportFile::open_tree(folder, &Arc::new(others.collect()), &reading)?;
        let records = written.records.settled();
        import(admin.store(), ImportFile { records, ..written })?;
    }
    let after = before.after(&step, (report.files == 0).then_some((end, now)));
    // Without it the next step reads everything.
    if let Err(error) = after.keep(admin.store(), &before.name) {
        tracing::warn!(%error, "the files of a tree are not remembered");
    }
    Ok((summary, report))
}

/// Returns the dialect of a tree that was kept in step before.
fn dialect_of(folder: &Path) -> Option<String> {
    let marks = folder.join(MANIFEST);
    let text = is_regular(&marks)
        .ok()?
        .then(|| fs::read_to_string(&marks).ok())??;
    Some(Manifest::parse(&text)?.dialect)
}

/// The files of a tree when a step begins, and what the last step left.
struct Before<'a> {
    admin: Owner<'a>,
    scope: String,
    /// The name of the last step: that of the same tree with the same options.
    name: String,
    /// When the files had these stamps, at the latest.
    moment: Time,
    last: LastStep,
    stamps: BTreeMap<String, Stamp>,
}

impl<'a> Before<'a> {
    fn of(
        admin: Owner<'a>,
        folder: &Path,
        reading: &ReadOptions,
        writing: &WriteOptions,
    ) -> Result<Self, Error> {
        let store = admin.store();
        let root = folder.canonicalize().map_err(io_error)?;
        let scope = markdown::scope(Some(&root), reading);
        let asked = (
            (&root, env!("CARGO_PKG_VERSION"), locked_persons(store)),
            (&reading.dialect, reading.with_instructions, &reading.user),
            (&reading.profile, &reading.default_created_at),
            (&writing.purpose, writing.skip_damaged, writing.shareable),
        );
        let marks = Marks {
            store,
            scope: &scope,
        };
        let name = data_encoding::HEXLOWER.encode(&marks.path(&format!("{asked:?}")));
        let moment = wall_clock(store);
        let mut stamps = BTreeMap::new();
        for path in markdown::listed(folder)? {
            let stamp = Stamp::of(&folder.join(&path)).map_err(io_error)?;
            stamps.extend(stamp.map(|stamp| (path, stamp)));
        }
        Ok(Self {
            last: LastStep::read(store, &name),
            admin,
            scope,
            name,
            moment,
            stamps,
        })
    }

    fn marks(&self) -> Marks<'_> {
        Marks {
            store: self.admin.store(),
            scope: &self.scope,
        }
    }

    /// Returns what is known of the text of a file that is as it was.
    fn text(&self, path: &str, stamp: &Stamp) -> Option<Option<Mark>> {
        self.last.as_it_was(&self.marks().path(path), stamp)
    }

    /// Returns whether neither the tree nor the store has changed since the last step, which had nothing to
    /// write.
    fn is_as_it_was(&self, now: Time) -> Result<bool, Error> {
        let Some((end, at)) = self
            .last
            .written
            .filter(|_| self.last.len() == self.stamps.len())
        else {
            return Ok(false);
        };
        let mut stamps = self.stamps.iter();
        Ok(stamps.all(|(path, stamp)| self.text(path, stamp).is_some())
            && is_as_it_was(self.admin.store(), end, [at, now])?)
    }

    /// Returns the notes that need not be read, with the marks of their texts: they are as they were, and the
    /// store still has what stands in them.
    fn standing(&self, notes: &[Earlier]) -> BTreeMap<String, Mark> {
        let notes = notes.iter().filter(|note| !note.is_over);
        let known = notes.filter_map(|note| {
            let text = self.text(&note.path, self.stamps.get(&note.path)?)??;
            Some((note.path.clone(), text))
        });
        known.collect()
    }

    /// Returns what the next step may rely on: the files that are as the store has them, and those that were
    /// left out.
    fn after(&self, step: &Step<'_>, written: Option<(EntryId, Time)>) -> LastStep {
        let mut after = LastStep::of(written);
        let marks = self.marks();
        let others = self
            .stamps
            .iter()
            .filter(|(path, _)| !step.written.contains(*path));
        for (path, stamp) in others {
            let text = step.planned.get(path).map(|planned| marks.text(planned));
            let is_here = match (step.standing.get(path), step.tree.read.get(path)) {
                (Some(standing), _) => text.as_ref() == Some(standing),
                (None, Some(read)) => text == Some(marks.text(read)) && !step.held.contains(path),
                (None, None) => false,
            };
            if is_here {
                after.add(marks.path(path), *stamp, text, self.moment);
            } else if path == MANIFEST || step.tree.unread.contains(path) {
                after.add(marks.path(path), *stamp, None, self.moment);
            }
        }
        after
    }
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
    for path in there(tree) {
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
    let is_empty = there(tree).next().is_none();
    let notes = Filter::new().with_envelopes().tag(tree_tag(&tree.scope));
    if is_empty && !query(admin.store(), &notes, 1, None)?.results.is_empty() {
        // A disk that is not mounted must not end all that the tree said.
        let message = "is empty, and the tree that was here is not; if it is meant to be, create .grainstore-tree in it";
        return Err(io_error(refused(message)));
    }
    Ok(())
}

/// Returns the paths of the files of a tree.
fn there(tree: &KnownTree) -> impl Iterator<Item = &String> {
    let standing = tree.standing.iter();
    tree.read.keys().chain(&tree.unread).chain(standing)
}

/// One writing of a tree.
struct Step<'a> {
    folder: &'a Path,
    marks: Marks<'a>,
    tree: &'a KnownTree,
    /// The marks of the texts of those that were not read, since they are as they were.
    standing: BTreeMap<String, Mark>,
    /// The digests of the texts that the store would write, and the files that were written.
    planned: HashMap<String, String>,
    written: HashSet<String>,
    /// The files that are left as they are: they have text that the store does not.
    held: BTreeSet<String>,
    /// The names of the files as the disk has them, by what it may take for the same.
    names: HashMap<String, &'a str>,
    findings: Vec<(Place, String)>,
}

impl<'a> Step<'a> {
    fn new(
        (folder, marks): (&'a Path, Marks<'a>),
        (tree, standing): (&'a KnownTree, BTreeMap<String, Mark>),
        summary: &Summary,
    ) -> Self {
        let refused = summary.refused.iter().map(FileError::place);
        let denied = summary.denied.iter().map(|(place, ..)| place);
        let places = refused.chain(denied).map(ToString::to_string);
        let held = places.filter_map(|place| Some(place.rsplit_once(':')?.0.to_owned()));
        Self {
            folder,
            marks,
            tree,
            standing,
            planned: HashMap::new(),
            written: HashSet::new(),
            held: held.chain(tree.unread.iter().cloned()).collect(),
            names: there(tree)
                .map(|path| (folded(path), path.as_str()))
                .collect(),
            findings: Vec::new(),
        }
    }

    /// Writes what differs, and removes the notes of which the store has nothing.
    fn write(&mut self, admin: Owner<'_>, options: &WriteOptions) -> Result<ExportReport, Error> {
        let entries = super::entries(admin, &Filter::new(), options)?;
        let (tree, held) = (self.tree, self.held.clone());
        let is_there = |path: &str| tree.read.contains_key(path) || tree.standing.contains(path);
        let leaves = |path: &str| is_there(path) && !held.contains(path);
        let standing = Standing {
            item: &|id| current_item(admin.store(), &tree.scope, id),
            leaves: &leaves,
        };
        let (mut count, mut planned) = (0, HashSet::new());
        let mut written =
            markdown::write(&entries, options, Some(&standing), &mut |path, text| {
                planned.insert(folded(path));
                count += u64::from(self.put(path, text)? && path != MANIFEST);
                Ok::<(), Error>(())
            })?;
        for path in there(tree).filter(|path| leaves(path)) {
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
        let planned = bare(&sha256(text.as_bytes())).to_owned();
        let mark = self.marks.text(&planned);
        self.planned.insert(path.to_owned(), planned.clone());
        if self.standing.get(path) == Some(&mark) {
            return Ok(false);
        }
        let file = self.folder.join(path);
        create_above(self.folder, Path::new(path)).map_err(io_error)?;
        let found = digest(&file).map_err(io_error)?;
        if found == Some(planned) {
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
        self.written.insert(path.to_owned());
        Ok(true)
    }

    /// Returns whether the text of a file, if it is there, came in.
    fn is_in(&self, path: &str, digest: Option<String>) -> bool {
        match self.standing.get(path) {
            Some(mark) => digest.is_some_and(|digest| self.marks.text(&digest) == *mark),
            None => digest == self.tree.read.get(path).cloned(),
        }
    }

    /// Returns whether a file is still what came in; one that is not is left to the next step.
    fn is_as_read(&mut self, path: &str) -> Result<bool, Error> {
        let file = self.folder.join(path);
        let why = if self.tree.unread.iter().any(|it| it == path) {
            // The reading has said why.
            return Ok(false);
        } else if self.held.contains(path) {
            "is left as it is: not all of it came in"
        } else if self.is_in(path, digest(&file).map_err(io_error)?) {
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
