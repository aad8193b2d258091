//! Files as grains: finding the newest version of a path, writing the next, and ending it.

use std::cell::Cell;
use std::collections::BTreeMap;

use grainstore::codec::{Map, Value};
use grainstore::store::Version;
use grainstore::{Draft, Filter, Grain, Time, Type, newest_versions};

use super::MemoryError;
use super::path::{ROOT, parse};
use crate::Scope;
use crate::http::bounded;

/// The relation of a Belief that is a file.
pub const RELATION: &str = grainstore::interchange::MEMORY_FILE;

/// The files of a scope.
///
/// ```
/// use grainstore::{Options, Store};
/// use grainstore_server::Scope;
/// use grainstore_server::memory::Memory;
///
/// let memory = Memory::new(Scope::owner(Store::in_memory(Options::default())?));
/// assert!(memory.versions("/memories/notes.md")?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Memory {
    scope: Scope,
}

/// The newest version of a path.
pub(super) struct File {
    pub(super) text: String,
    grain: Grain,
}

impl Memory {
    /// Takes a scope; two with the same scope have the same files.
    pub const fn new(scope: Scope) -> Self {
        Self { scope }
    }

    /// Returns every version of a file, oldest first, with those before a deletion.
    ///
    /// # Errors
    /// [`MemoryError::Path`]; those of the store.
    pub fn versions(&self, path: &str) -> Result<Vec<Version>, MemoryError> {
        match self.newest(&parse(path)?)? {
            Some(grain) => Ok(self.scope.store().history(&grain.address())?),
            None => Ok(Vec::new()),
        }
    }

    /// Returns a file; `None` for a path without one.
    pub(super) fn file(&self, path: &str) -> Result<Option<File>, MemoryError> {
        Ok(self.newest(path)?.and_then(File::of))
    }

    /// Returns a file that must be there.
    pub(super) fn existing(&self, path: &str) -> Result<File, MemoryError> {
        if let Some(file) = self.file(path)? {
            return Ok(file);
        }
        let path = path.to_owned();
        Err(match self.is_directory(&path)? {
            true => MemoryError::Directory { path },
            false => MemoryError::NotFound { path },
        })
    }

    /// Returns the files below a directory, by path; the root may have none.
    pub(super) fn directory(&self, path: &str) -> Result<Vec<(String, File)>, MemoryError> {
        let mut grains: BTreeMap<String, Vec<Grain>> = BTreeMap::new();
        self.each(files(), &mut |grain| {
            let subject = grain.text("subject").unwrap_or_default();
            // Anything may be remembered with the relation of a file: what is no path is no file.
            let is_path = parse(subject).is_ok_and(|path| path == subject);
            if is_path && is_below(subject, path) {
                grains.entry(subject.to_owned()).or_default().push(grain);
            }
        })?;
        let mut found = Vec::new();
        for (path, grains) in grains {
            let first = self.first_of(grains)?;
            found.extend(first.and_then(File::of).map(|file| (path, file)));
        }
        if found.is_empty() && path != ROOT {
            return Err(MemoryError::NotFound {
                path: path.to_owned(),
            });
        }
        Ok(found)
    }

    pub(super) fn is_directory(&self, path: &str) -> Result<bool, MemoryError> {
        match self.directory(path) {
            Ok(_) => Ok(true),
            Err(MemoryError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Refuses a path below one that is a file.
    pub(super) fn refuse_file_above(&self, path: &str) -> Result<(), MemoryError> {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .filter(|at| *at > ROOT.len());
        for end in ends {
            let above = path.get(..end).unwrap_or_default();
            if self.file(above)?.is_some() {
                return Err(MemoryError::Exists {
                    path: above.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Writes a version of a file, after `old` if it is there; a path that was deleted goes on with
    /// its history.
    pub(super) fn write(
        &self,
        path: &str,
        text: &str,
        old: Option<&File>,
    ) -> Result<(), MemoryError> {
        let draft = draft(path, text);
        let before = match old {
            Some(file) => Some(file.grain.clone()),
            None => self.newest(path)?,
        };
        self.store(draft, before.as_ref())
    }

    /// Writes the copy of a file under another path.
    pub(super) fn write_copy(&self, path: &str, file: &File) -> Result<(), MemoryError> {
        let before = self.newest(path)?;
        self.store(draft(path, &file.text), before.as_ref())
    }

    /// Ends a file with a version that says so, and that answers leave out as expired.
    pub(super) fn remove(&self, path: &str, file: &File) -> Result<(), MemoryError> {
        let object = Map::from_iter([("text", Value::from("")), (REMOVED, Value::from(true))]);
        let draft = Draft::belief(path, RELATION, Value::Map(object)).confidence(1.0);
        // Before every clock that reads it: what ends at this millisecond has not expired yet.
        let end = file.grain.created_at().ms().saturating_sub(1);
        let draft = draft.valid_to(Time::from_ms(end));
        self.store(draft, Some(&file.grain))
    }

    fn store(&self, draft: Draft, before: Option<&Grain>) -> Result<(), MemoryError> {
        match before {
            Some(old) => {
                let old = old.address();
                self.scope
                    .store()
                    .supersede(&old, draft.derived_from(old), None)?;
            }
            None => {
                self.scope.store().put(draft)?;
            }
        }
        Ok(())
    }

    /// Returns the newest version of a path, also one that says that it was deleted.
    fn newest(&self, path: &str) -> Result<Option<Grain>, MemoryError> {
        let mut grains = Vec::new();
        self.each(files().subject(path), &mut |grain| grains.push(grain))?;
        self.first_of(grains)
    }

    /// Passes on the current grains that pass a filter, in the order in which they were stored.
    fn each(&self, filter: Filter, take: &mut dyn FnMut(Grain)) -> Result<(), MemoryError> {
        for page in self.scope.store().pages(&bounded(filter), PAGE_LEN) {
            page?
                .results
                .into_iter()
                .for_each(|found| take(found.grain));
        }
        Ok(())
    }

    /// Returns the file of several that claim one path: the one whose first version was stored first.
    /// A belief that is remembered under the path of a file, or a file that another process makes at
    /// the same moment, takes the place of none.
    fn first_of(&self, mut grains: Vec<Grain>) -> Result<Option<Grain>, MemoryError> {
        if grains.len() < 2 {
            return Ok(grains.pop());
        }
        let mut first: Option<(Time, Grain)> = None;
        for grain in grains {
            // A file may have had many versions, of which none is kept here.
            let oldest = Cell::new(None::<Time>);
            let see = |version: &Version| {
                let at = version.stored_at;
                oldest.set(Some(oldest.get().map_or(at, |before| before.min(at))));
                false
            };
            newest_versions(self.scope.store(), &grain.address(), 0, see)?;
            let Some(began) = oldest.get() else {
                continue;
            };
            if first.as_ref().is_none_or(|(earliest, _)| began < *earliest) {
                first = Some((began, grain));
            }
        }
        Ok(first.map(|(_, grain)| grain))
    }
}

impl File {
    /// Reads a version; `None` for one that says that the file was deleted.
    fn of(grain: Grain) -> Option<Self> {
        let object = grain.field("object")?.as_map()?;
        // A file that was removed from a tree in step has an end, and its last text.
        if object.contains(REMOVED) || grain.field("valid_to").is_some() {
            return None;
        }
        let text = object.get("text")?.as_text()?.to_owned();
        Some(Self { text, grain })
    }
}

fn draft(path: &str, text: &str) -> Draft {
    let object = Map::from_iter([("text", text)]);
    Draft::belief(path, RELATION, Value::Map(object)).confidence(1.0)
}

fn files() -> Filter {
    Filter::new()
        .of_type(Type::Belief)
        .relation(RELATION)
        .with_expired()
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// The member of an object that ends a file.
const REMOVED: &str = "removed";

const PAGE_LEN: usize = 500;
