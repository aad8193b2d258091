//! The sink of records: it counts and hashes them, so that two readings of a file can be compared.

use sha2::{Digest, Sha256};

use crate::interchange::model::record_set::note_warnings;
use crate::interchange::{Error, Finding, Place, Record};

/// Passes records to `take` until it returns `false`, counting them and hashing their addresses.
pub(crate) struct RecordSink<'a> {
    take: &'a mut dyn FnMut(Record) -> bool,
    is_wanted: bool,
    len: u64,
    has_signed: bool,
    hash: Sha256,
    warnings: Vec<Finding>,
}

/// The result of one reading.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) len: u64,
    /// Whether any of them is signed.
    pub(crate) has_signed: bool,
    hash: [u8; 32],
}

impl<'a> RecordSink<'a> {
    pub(crate) fn new(take: &'a mut dyn FnMut(Record) -> bool) -> Self {
        Self {
            take,
            is_wanted: true,
            len: 0,
            has_signed: false,
            hash: Sha256::new(),
            warnings: Vec::new(),
        }
    }

    /// Passes a record on; returns whether more are wanted.
    pub(crate) fn push(&mut self, record: Record) -> bool {
        if self.is_wanted {
            self.len = self.len.saturating_add(1);
            self.has_signed |= record.grain.is_signed();
            self.hash.update(record.grain.address().as_bytes());
            note_warnings(&record, &mut self.warnings);
            self.is_wanted = (self.take)(record);
        }
        self.is_wanted
    }

    pub(crate) const fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Returns the result of the reading, and the warnings about its grains.
    pub(crate) fn finish(self) -> (Output, Vec<Finding>) {
        let output = Output {
            len: self.len,
            has_signed: self.has_signed,
            hash: self.hash.finalize().into(),
        };
        (output, self.warnings)
    }

    /// Ends a second reading, and compares it with the first.
    ///
    /// # Errors
    /// `ERR_IO` if the two differ, unless `take` ended this one.
    pub(crate) fn compare(self, validated: Output) -> Result<(), Error> {
        let is_whole = self.is_wanted;
        if is_whole && self.finish().0 != validated {
            return Err(changed());
        }
        Ok(())
    }
}

/// Returns the error of a file that is not what it was when it was validated.
pub(crate) fn changed() -> Error {
    Error::Io {
        place: Place::File,
        source: std::io::Error::other("the file changed while it was read"),
    }
}
