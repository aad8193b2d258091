//! The notes of a tree: its files one by one, cut into their items.
//!
//! A tree is read twice: once to validate it and to give its items their ids, and again when its
//! records are asked for. No more than one note is held at a time.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::grain::Time;
use crate::interchange::formats::tree_ids::{NoteIds, Now, SharedIds, Survey, digest};
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::record_sink::{Output, RecordSink, changed};
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::model::record_set::{KnownTree, RecordSource, Step};
use crate::interchange::{
    DIAGNOSTICS_MAX, Diagnostics, Error, Finding, Loss, Place, ReadOptions, Record,
};

use super::build::Builder;
use super::dialect::{Dialect, is_instruction};
use super::head::{Claim, Head};
use super::name::{MANIFEST, Manifest, checked, is_memory, sha256};
use super::note::{Item, Note, Part};
use super::residual::urn;

/// A tree whose notes can be read again.
pub(super) struct Tree {
    files: FileSet,
    root: Option<PathBuf>,
    pub(super) dialect: &'static Dialect,
    pub(super) options: ReadOptions,
    pub(super) scope: String,
    /// The files that are notes, by their numbers in the listing.
    notes: Vec<usize>,
    /// The digests of the files that were read, and the files that are there and were not.
    read: BTreeMap<String, String>,
    unread: Vec<String>,
    /// The files that an interrupted step left under temporary names.
    remains: Vec<String>,
    ids: SharedIds,
    output: Option<Output>,
}

/// Tells a finding about a file.
type Tell<'a> = &'a mut dyn FnMut(&str, String);

/// One note while it is read.
pub(super) struct Page<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) note: Note<'a>,
    pub(super) head: Head,
    /// Whether its frontmatter was read.
    pub(super) is_understood: bool,
    /// When its file was last written; unknown inside an archive.
    pub(super) written: Option<Time>,
}

impl Page<'_> {
    /// Returns the claim of the frontmatter about each item, with it.
    pub(super) fn claimed(&self) -> impl Iterator<Item = (&Item<'_>, Option<&Claim>)> {
        let mut left: HashMap<&str, Vec<&Claim>> = HashMap::new();
        for claim in self.head.grains.iter().rev() {
            left.entry(&claim.of).or_default().push(claim);
        }
        let items = self.note.parts.iter().filter_map(|part| match part {
            Part::Item(item) => Some(item),
            Part::Gap(_) => None,
        });
        items.map(move |item| {
            let found = match left.is_empty() {
                true => None,
                false => left.get_mut(digest(item.text).as_str()).and_then(Vec::pop),
            };
            (item, found)
        })
    }
}

impl Tree {
    /// Lists a tree and reads it once.
    ///
    /// # Errors
    /// Why a file cannot be read; too many notes or items.
    pub(super) fn open(
        input: Input<'_>,
        dialect: &'static Dialect,
        options: &ReadOptions,
        findings: &mut Diagnostics<Finding>,
    ) -> Result<Self, Error> {
        let root = match input {
            Input::Path(path) if path.is_dir() => Some(path.canonicalize()?),
            _ => None,
        };
        let place = root.as_deref().map(Path::to_string_lossy);
        let scope = options.scope.clone().or(place.map(Into::into));
        let files = FileSet::list(input, |_| true)?;
        let files = match files.is_one() {
            true => files,
            false => files.subset(|_, path| is_read(path)),
        };
        let mut tree = Self {
            files,
            root,
            dialect,
            options: options.clone(),
            scope: scope.unwrap_or_else(|| "local".to_owned()),
            notes: Vec::new(),
            read: BTreeMap::new(),
            unread: Vec::new(),
            remains: Vec::new(),
            ids: SharedIds::default(),
            output: None,
        };
        tree.survey(findings)?;
        Ok(tree)
    }

    pub(super) fn known(&self) -> KnownTree {
        KnownTree {
            scope: self.scope.clone(),
            ids: self.ids.clone(),
            is_lasting: self.root.is_some(),
            dialect: self.dialect.name,
            read: self.read.clone(),
            unread: self.unread.clone(),
            remains: self.remains.clone(),
            step: self.options.in_step.then_some(Step::Read),
        }
    }

    /// Reads every note once; what is no note is a finding.
    fn survey(&mut self, findings: &mut Diagnostics<Finding>) -> Result<(), Error> {
        let (mut survey, mut notes, mut items_left) = (Survey::new(), Vec::new(), ITEMS_MAX);
        let (mut read, mut unread, mut remains) = (BTreeMap::new(), Vec::new(), Vec::new());
        let marks = self.marks()?;
        let mut note = |path: &str, message: String| findings.note(Place::pointer(path), message);
        for (number, file) in self.files.each().enumerate() {
            let (path, file) = file?;
            if is_hidden(path) {
                continue;
            }
            if path.ends_with(PARTIAL) {
                remains.push(path.to_owned());
                continue;
            }
            let text = match self.text(path, &file) {
                Ok(text) => text,
                Err(message) => {
                    note(path, message);
                    unread.push(path.to_owned());
                    continue;
                }
            };
            let page = self.page(path, &text, Some(&mut note));
            let digest_of = sha256(&text);
            // In step only the list that was written there is written anew: another one is a note.
            let is_own = !self.options.in_step || marks.digest(path) == Some(&digest_of);
            read.insert(path.to_owned(), digest_of);
            if is_own && is_generated(&page, self.dialect) {
                continue;
            }
            let claimed: Vec<_> = page.claimed().map(|(item, _)| digest(item.text)).collect();
            items_left = items_left
                .checked_sub(claimed.len())
                .ok_or_else(|| too_many("items"))?;
            let none = NoteIds::default();
            let links = Builder::new(self, &page, &none).links();
            let ids = page.head.grains.iter();
            let claims = ids.filter_map(|claim| Some((urn(&claim.address?), claim.of.clone())));
            survey.push(Now {
                path: path.to_owned(),
                texts: claimed,
                links: links.iter().map(|target| digest(target)).collect(),
                claims: claims.collect(),
                ..Now::default()
            });
            notes.push(number);
        }
        if notes.len() > NOTES_MAX {
            return Err(too_many("notes"));
        }
        self.notes = notes;
        (self.read, self.unread, self.remains) = (read, unread, remains);
        self.ids.begin(survey);
        Ok(())
    }

    /// Reads what the last export, or the last step, says that it wrote.
    fn marks(&self) -> Result<Manifest, Error> {
        let Some(file) = self.files.get(MANIFEST)? else {
            return Ok(Manifest::default());
        };
        let text = read_text(&file).unwrap_or_default();
        Ok(Manifest::parse(&text).unwrap_or_default())
    }

    /// Reads a file that is a note, or says why it is left out.
    fn text(&self, path: &str, file: &SourceFile) -> Result<String, String> {
        if is_instruction(path) && !self.options.with_instructions {
            return Err("instructions are read when they are asked for".to_owned());
        }
        if self.options.in_step && checked(path).is_none() {
            return Err("has a name that not every disk holds, and is not kept in step".to_owned());
        }
        if path.ends_with(".partial") {
            return Err("has the name of a file that is being written".to_owned());
        }
        read_text(file)
    }

    /// Cuts a file into its items.
    fn page<'a>(&self, path: &'a str, text: &'a str, note: Option<Tell<'_>>) -> Page<'a> {
        let mut cut = match is_memory(path) {
            true => Note::whole(text),
            false => Note::of(text, self.dialect),
        };
        if self.dialect.index.is_some_and(|index| index.file == path) {
            leave_index_lines(&mut cut);
        }
        let head = cut.front.map(|front| Head::read(front, self.dialect));
        let head = head.unwrap_or_else(|| Ok(Head::default()));
        let is_understood = head.is_ok();
        let head = head.unwrap_or_else(|message| {
            if let Some(note) = note {
                note(
                    path,
                    format!("the frontmatter is kept and not understood: {message}"),
                );
            }
            Head::default()
        });
        Page {
            path,
            text,
            note: cut,
            head,
            is_understood,
            written: self.written(path),
        }
    }

    /// Returns when a file was last written.
    fn written(&self, path: &str) -> Option<Time> {
        let at = self.root.as_ref()?.join(path);
        let modified = at.symlink_metadata().ok()?.modified().ok()?;
        let since = modified.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok().map(Time::from_ms)
    }

    /// Reads every record, and remembers what they were.
    pub(super) fn validate(
        &mut self,
        errors: &mut Vec<Error>,
        loss: &mut Loss,
    ) -> Result<u64, Error> {
        let mut take = |_| true;
        let mut sink = RecordSink::new(&mut take);
        self.pass(&mut sink, Some((errors, loss)))?;
        let (output, _) = sink.finish();
        self.output = Some(output);
        Ok(output.len)
    }

    fn pass(
        &self,
        sink: &mut RecordSink<'_>,
        mut told: Option<(&mut Vec<Error>, &mut Loss)>,
    ) -> Result<(), Error> {
        let shared = self.ids.lock();
        let (survey, ids) = &*shared;
        let known = ids.notes.iter().zip(survey);
        let numbered = self.notes.iter().zip(known);
        let files: Vec<_> = self.files.names().map(str::to_owned).collect();
        for (number, (ids, now)) in numbered {
            let path = files.get(*number).ok_or_else(changed)?;
            let file = self.files.get(path)?.ok_or_else(changed)?;
            let text = read_text(&file).map_err(|_| changed())?;
            let page = self.page(path, &text, None);
            if page.claimed().count() != ids.items.len() || now.path != page.path {
                return Err(changed());
            }
            let builder = Builder::new(self, &page, ids);
            let mut loss = Loss::default();
            builder.records(
                &mut loss,
                &mut |record: Result<Record, Error>| match record {
                    Ok(record) => sink.push(record),
                    Err(error) => {
                        if let Some((errors, _)) = &mut told
                            && errors.len() < DIAGNOSTICS_MAX
                        {
                            errors.push(error);
                        }
                        true
                    }
                },
            );
            if let Some((_, whole)) = &mut told {
                whole.merge(&loss);
            }
            if !sink.is_wanted() {
                break;
            }
        }
        Ok(())
    }
}

impl RecordSource for Tree {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let mut sink = RecordSink::new(take);
        self.pass(&mut sink, None)?;
        // The ids may be others than those of the first reading, and so may the grains.
        let is_whole = sink.is_wanted();
        let len = sink.finish().0.len;
        let is_same = !is_whole || self.output.is_some_and(|output| output.len == len);
        is_same.then_some(()).ok_or_else(changed)
    }
}

/// Leaves the lines that list other notes to the gaps: they say nothing.
fn leave_index_lines(note: &mut Note<'_>) {
    for part in &mut note.parts {
        if let Part::Item(item) = part
            && is_index_line(item.text)
        {
            *part = Part::Gap(item.text);
        }
    }
}

pub(super) fn is_index_line(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("[[") || (first.starts_with('[') && first.contains("]("))
}

/// Whether a file only lists the others, as a tree of this program is written again.
fn is_generated(page: &Page<'_>, dialect: &Dialect) -> bool {
    let is_index = dialect.index.is_some_and(|index| index.file == page.path);
    let lists = |line: &str| {
        let line = line.trim();
        let item = line.strip_prefix("- ");
        line.is_empty() || line == "v1" || line.starts_with('#') || item.is_some_and(is_index_line)
    };
    is_index && page.text.lines().all(lists)
}

fn is_read(path: &str) -> bool {
    is_listed(path) || path.ends_with(PARTIAL) || is_memory(path)
}

/// The ending of a note that is being written.
const PARTIAL: &str = ".md.partial";

fn is_listed(name: &str) -> bool {
    name.ends_with(".md") || name == MANIFEST
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

/// Reads a note.
fn read_text(file: &SourceFile) -> Result<String, String> {
    let limit = u64::try_from(NOTE_LEN_MAX)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let bytes = file.head(limit).map_err(|error| error.to_string())?;
    if bytes.len() > NOTE_LEN_MAX {
        return Err(format!(
            "is longer than {} MiB, and not read",
            NOTE_LEN_MAX >> 20
        ));
    }
    // Each line takes tens of bytes while the note is read: millions of empty ones would fill the memory.
    if bytes.iter().filter(|byte| **byte == b'\n').count() > NOTE_LINES_MAX {
        return Err(format!(
            "has more than {NOTE_LINES_MAX} lines, and is not read"
        ));
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8, and not read".to_owned())
}

fn too_many(what: &str) -> Error {
    let message = format!("the tree has more {what} than are read");
    Error::Io {
        place: Place::File,
        source: std::io::Error::new(std::io::ErrorKind::FileTooLarge, message),
    }
}

/// The longest note that is read.
const NOTE_LEN_MAX: usize = 4 << 20;

/// The most lines of a note that is read.
const NOTE_LINES_MAX: usize = 200_000;

/// The most notes and items of a tree: their ids are held in memory.
const NOTES_MAX: usize = 100_000;
const ITEMS_MAX: usize = 500_000;

/// Returns the first bytes of each file of a tree that may tell its dialect.
pub(super) fn heads(input: Input<'_>) -> Result<Vec<(String, String)>, Error> {
    let files = FileSet::list(input, is_listed)?;
    let mut heads = Vec::new();
    for file in files.each() {
        let (path, file) = file?;
        if is_hidden(path) && path != MANIFEST {
            continue;
        }
        let head = if heads.len() < HEADS_MAX {
            file.head(HEAD_LEN)?
        } else {
            Vec::new()
        };
        heads.push((path.to_owned(), String::from_utf8_lossy(&head).into_owned()));
    }
    Ok(heads)
}

/// Files that are looked into, and how far.
const HEADS_MAX: usize = 64;
const HEAD_LEN: u64 = 2048;
