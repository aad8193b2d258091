use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Seek};

use crate::codec::ContentAddress;
use crate::crypto::Resolver;

use crate::interchange::{Error, Place, Record, aimem, jsonl, mg, omi, pam, provider};

/// The records of a file, in an order in which they can be stored.
///
/// Those of long formats are not held: the file was read to validate them, and is read again when they
/// are asked for, so that a few of them are in memory at a time.
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::interchange::{Place, Record, Records};
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let records = Records::from(vec![Record::new(grain, Place::Line(1))]);
/// assert_eq!(records.len(), 1);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Default)]
pub struct Records {
    source: Source,
    len: u64,
    /// Whether any of them is signed.
    has_signed: bool,
    /// Those whose signature did not verify.
    refused: HashSet<ContentAddress>,
}

/// Where records come from.
pub(in crate::interchange) enum Source {
    Held(Vec<Record>),
    Mg(Input),
    Jsonl(Input, jsonl::Options),
    Aimem(Box<aimem::Bundle<Input>>),
    Omi(Box<omi::File<Input>>),
    Pam(Box<pam::File>),
    Provider(Box<provider::Export>),
}

impl Default for Source {
    fn default() -> Self {
        Self::Held(Vec::new())
    }
}

/// An open file: what was validated is what is read again, whatever its name stands for by then.
pub(in crate::interchange) type Input = BufReader<File>;

impl Records {
    pub(in crate::interchange) fn new(source: Source, len: u64, has_signed: bool) -> Self {
        Self {
            source,
            len,
            has_signed,
            refused: HashSet::new(),
        }
    }

    /// Returns how many there are.
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
    /// `ERR_IO`, also of a file that is not what it was when it was validated.
    pub fn into_vec(self) -> Result<Vec<Record>, Error> {
        let mut records = Vec::new();
        self.each(|record| {
            records.push(record);
            Ok::<(), Error>(())
        })?;
        Ok(records)
    }

    /// Hands them over one after the other.
    ///
    /// # Errors
    /// As [`Records::into_vec`], and those of `take`, which end it.
    pub fn each<E: From<Error>>(
        mut self,
        mut take: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Source::Held(records) = self.source {
            return records.into_iter().try_for_each(take);
        }
        let refused = std::mem::take(&mut self.refused);
        let mut result = Ok(());
        self.read(&mut |record| {
            if !refused.contains(&record.grain.address()) {
                result = take(record);
            }
            result.is_ok()
        })?;
        result
    }

    /// Drops signed grains whose signatures do not verify, and says why.
    pub(in crate::interchange) fn verify(&mut self, resolver: &dyn Resolver) -> Vec<Error> {
        let mut errors = Vec::new();
        let mut is_refused = |record: &Record| {
            if !record.grain.is_signed() {
                return false;
            }
            let place = record.place.clone();
            let verified = record.grain.verify_signature(resolver);
            let refused = verified.map_err(|source| Error::Signature { place, source });
            refused.map_err(|error| errors.push(error)).is_err()
        };
        if let Source::Held(records) = &mut self.source {
            records.retain(|record| !is_refused(record));
            self.len = len_u64(records.len());
            return errors;
        }
        if !self.has_signed {
            return errors;
        }
        let mut refused = std::mem::take(&mut self.refused);
        let before = refused.len();
        let read = self.read(&mut |record| {
            if !refused.contains(&record.grain.address()) && is_refused(&record) {
                refused.insert(record.grain.address());
            }
            true
        });
        let dropped = refused.len().saturating_sub(before);
        self.len = self.len.saturating_sub(len_u64(dropped));
        self.refused = refused;
        errors.extend(read.err());
        errors
    }

    /// Reads a file again, as long as more of it is wanted.
    fn read(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        match &mut self.source {
            Source::Held(_) => Ok(()),
            Source::Mg(input) => {
                let archive = mg::Archive::open(input, mg::ReadOptions::default())?;
                go_through(archive.records()?, take)
            }
            Source::Jsonl(input, options) => {
                input.rewind().map_err(world)?;
                go_through(jsonl::Reader::new(input, options.clone()), take)
            }
            Source::Aimem(bundle) => bundle.each(take),
            Source::Omi(file) => file.each(take),
            Source::Pam(file) => file.each(take),
            Source::Provider(export) => export.each(take),
        }
    }
}

impl From<Vec<Record>> for Records {
    fn from(records: Vec<Record>) -> Self {
        let len = len_u64(records.len());
        Self::new(Source::Held(records), len, true)
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Hands over what is sound; what is not was told when the file was validated.
fn go_through(
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

const fn world(source: io::Error) -> Error {
    Error::Io {
        place: Place::File,
        source,
    }
}
