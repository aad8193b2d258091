//! The records of a file, in an order in which they can be stored.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use crate::codec::{ContentAddress, Profile};
use crate::crypto::{Resolver, verify_signature};
use crate::interchange::{Error, Finding, Record};

use super::of_user::OfUser;
use crate::interchange::formats::tree_ids::SharedIds;

/// The records of a file, in an order in which they can be stored.
///
/// They are not held in memory: the file was read to validate them, and is read again when they
/// are asked for.
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::interchange::{Place, Record, RecordSet};
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let records = RecordSet::from(vec![Record::new(grain, Place::Line(1))]);
/// assert_eq!(records.len(), 1);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Default)]
pub struct RecordSet {
    source: Source,
    len: u64,
    /// Whether any of them is signed.
    has_signed: bool,
    /// Those whose signature did not verify.
    refused: HashSet<ContentAddress>,
    tree: Option<KnownTree>,
    /// The warnings about their grains, if the validation has noted them.
    warnings: Option<Vec<Finding>>,
}

/// A tree of notes.
#[derive(Debug, Clone)]
pub(crate) struct KnownTree {
    pub(crate) scope: String,
    pub(crate) ids: SharedIds,
    /// Whether the next import of this scope is of the same tree: only a directory lasts.
    pub(crate) is_lasting: bool,
    pub(crate) dialect: &'static str,
    /// The digest of each file that was read, by path, and the files that were left out.
    pub(crate) read: BTreeMap<String, String>,
    pub(crate) unread: Vec<String>,
    /// The files that an export or a step left under temporary names.
    pub(crate) remains: Vec<String>,
    /// Whether it is kept in step with the store.
    pub(crate) step: Option<Step>,
}

/// A reading of a tree that is kept in step with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The edits of the tree come in.
    Read,
    /// The items that the store wrote are noted. Nothing ends: an item that the tree lacks now was left out
    /// here.
    Settled,
}

/// A validated file whose records can be read again.
pub(crate) trait RecordSource: Send + Sync {
    /// Passes the records to `take`, in an order in which they can be stored, until it returns
    /// `false`.
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error>;
}

/// Records in memory.
struct Held(Vec<Record>);

impl RecordSource for Held {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        self.0.iter().cloned().all(take);
        Ok(())
    }
}

/// Records of another source, each as a function that is made anew for each reading leaves it.
struct Mapped<Make> {
    source: Box<dyn RecordSource>,
    make: Make,
}

impl<Make, Change> RecordSource for Mapped<Make>
where
    Make: FnMut() -> Change + Send + Sync,
    Change: FnMut(Record) -> Record,
{
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let mut change = (self.make)();
        self.source.each(&mut |record| take(change(record)))
    }
}

enum Source {
    InMemory(Vec<Record>),
    File(Box<dyn RecordSource>),
}

impl Default for Source {
    fn default() -> Self {
        Self::InMemory(Vec::new())
    }
}

impl RecordSet {
    pub(crate) fn new(source: impl RecordSource + 'static, len: u64, has_signed: bool) -> Self {
        Self {
            source: Source::File(Box::new(source)),
            len,
            has_signed,
            refused: HashSet::new(),
            tree: None,
            warnings: None,
        }
    }

    /// Returns the records with the warnings that the validation has noted.
    pub(crate) fn with_warnings(self, warnings: Vec<Finding>) -> Self {
        Self {
            warnings: Some(warnings),
            ..self
        }
    }

    /// Returns the records as those of a tree of notes.
    pub(crate) fn of_tree(self, tree: KnownTree) -> Self {
        Self {
            tree: Some(tree),
            ..self
        }
    }

    /// Returns the tree that they are of.
    pub(crate) const fn tree(&self) -> Option<&KnownTree> {
        self.tree.as_ref()
    }

    /// Returns the records of a tree as what the store wrote there.
    pub(crate) fn settled(mut self) -> Self {
        if let Some(tree) = &mut self.tree {
            tree.step = Some(Step::Settled);
        }
        self
    }

    /// Returns the records as those of a user, whatever user the file names.
    pub(crate) fn of_user(self, user: &str, profile: Profile) -> Self {
        let user = user.to_owned();
        self.with_source(|source| OfUser {
            source,
            user,
            profile,
        })
    }

    /// Returns the records as a function leaves them, one by one when they are asked for. `make` makes the
    /// function for each reading: it meets the records in their order, from the first one on.
    ///
    /// ```
    /// use grainstore::grain::{Draft, Time};
    /// use grainstore::interchange::{ForeignId, Place, Record, RecordSet};
    ///
    /// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
    /// let records = RecordSet::from(vec![Record::new(grain, Place::Line(1))]);
    /// let named = records.map(|| |mut record: Record| {
    ///     record.foreign_id = Some(ForeignId::new("aimem", "here", "1"));
    ///     record
    /// });
    /// assert_eq!(named.into_vec().unwrap()[0].foreign_id.as_ref().unwrap().scope(), "here");
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    #[must_use]
    pub fn map<Change>(self, make: impl FnMut() -> Change + Send + Sync + 'static) -> Self
    where
        Change: FnMut(Record) -> Record + 'static,
    {
        self.with_source(|source| Mapped { source, make })
    }

    fn with_source<S: RecordSource + 'static>(
        self,
        make: impl FnOnce(Box<dyn RecordSource>) -> S,
    ) -> Self {
        let source: Box<dyn RecordSource> = match self.source {
            Source::InMemory(records) => Box::new(Held(records)),
            Source::File(source) => source,
        };
        Self {
            source: Source::File(Box::new(make(source))),
            warnings: None,
            ..self
        }
    }

    /// Returns the number of records.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all of them, whatever memory that takes.
    ///
    /// # Errors
    /// `ERR_IO`, also if the file is not what it was when it was validated.
    pub fn into_vec(self) -> Result<Vec<Record>, Error> {
        let mut records = Vec::new();
        self.each(|record| {
            records.push(record);
            Ok::<(), Error>(())
        })?;
        Ok(records)
    }

    /// Returns the warnings about their grains, up to 10,000: as the validation of the file noted them, or by
    /// reading it.
    ///
    /// ```
    /// use grainstore::interchange::RecordSet;
    ///
    /// assert!(RecordSet::default().warnings().unwrap().is_empty());
    /// ```
    ///
    /// # Errors
    /// As [`RecordSet::into_vec`].
    pub fn warnings(mut self) -> Result<Vec<Finding>, Error> {
        if let Some(warnings) = self.warnings.take().filter(|_| self.refused.is_empty()) {
            return Ok(warnings);
        }
        let mut warnings = Vec::new();
        self.each(|record| {
            note_warnings(&record, &mut warnings);
            Ok::<(), Error>(())
        })?;
        Ok(warnings)
    }

    /// Passes them to `take` one by one.
    ///
    /// # Errors
    /// As [`RecordSet::into_vec`], and those of `take`, which end it.
    pub fn each<E: From<Error>>(
        mut self,
        mut take: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.source {
            Source::InMemory(records) => records.into_iter().try_for_each(take),
            Source::File(_) => self.read(&mut take),
        }
    }

    /// Shows them to `look` one by one, and keeps them: they are read again when they are asked for.
    ///
    /// # Errors
    /// As [`RecordSet::each`].
    pub fn look<E: From<Error>>(
        &mut self,
        mut look: impl FnMut(&Record) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.source {
            Source::InMemory(records) => records.iter().try_for_each(look),
            Source::File(_) => self.read(&mut |record| look(&record)),
        }
    }

    fn read<E: From<Error>>(
        &mut self,
        take: &mut dyn FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut result, refused) = (Ok(()), &self.refused);
        if let Source::File(source) = &mut self.source {
            source.each(&mut |record| {
                if !refused.contains(&record.grain.address()) {
                    result = take(record);
                }
                result.is_ok()
            })?;
        }
        result
    }

    /// Drops signed grains whose signatures do not verify, and returns why.
    pub(crate) fn verify(&mut self, resolver: &dyn Resolver) -> Vec<Error> {
        let mut errors = Vec::new();
        let mut is_refused = |record: &Record| {
            if !record.grain.is_signed() {
                return false;
            }
            let place = record.place.clone();
            let verified = verify_signature(&record.grain, resolver);
            let refused = verified.map_err(|source| Error::Signature { place, source });
            refused.map_err(|error| errors.push(error)).is_err()
        };
        let source = match &mut self.source {
            Source::InMemory(records) => {
                records.retain(|record| !is_refused(record));
                self.len = len_u64(records.len());
                return errors;
            }
            Source::File(_) if !self.has_signed => return errors,
            Source::File(source) => source,
        };
        let refused = &mut self.refused;
        let before = refused.len();
        let read = source.each(&mut |record| {
            if !refused.contains(&record.grain.address()) && is_refused(&record) {
                refused.insert(record.grain.address());
            }
            true
        });
        let dropped = refused.len().saturating_sub(before);
        self.len = self.len.saturating_sub(len_u64(dropped));
        errors.extend(read.err());
        errors
    }
}

impl From<Vec<Record>> for RecordSet {
    fn from(records: Vec<Record>) -> Self {
        Self {
            len: len_u64(records.len()),
            source: Source::InMemory(records),
            ..Self::default()
        }
    }
}

impl fmt::Debug for RecordSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordSet")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Adds the warnings about a record's grain, up to a number that fits any report.
pub(crate) fn note_warnings(record: &Record, warnings: &mut Vec<Finding>) {
    let left = WARNINGS_MAX.saturating_sub(warnings.len());
    let noted = record.warnings.iter().take(left);
    warnings.extend(noted.map(|warning| (record.place.clone(), warning.to_string())));
}

/// As many as an import lists.
const WARNINGS_MAX: usize = 10_000;

/// Passes valid records to `take`; those that are not were reported by the validation.
pub(crate) fn each_valid(
    records: impl Iterator<Item = Result<Record, Error>>,
    take: &mut dyn FnMut(Record) -> bool,
) -> Result<(), Error> {
    for record in records {
        match record {
            Ok(record) => {
                if !take(record) {
                    break;
                }
            }
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(())
}

fn len_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
