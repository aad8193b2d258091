use sha2::{Digest, Sha256};

use crate::interchange::{Error, Place, Record};

/// Where records go on their way out of a file: they are counted, and their addresses hashed, so that
/// two readings of one file can be held against each other.
pub(crate) struct RecordSink<'a> {
    take: &'a mut dyn FnMut(Record) -> bool,
    is_wanted: bool,
    len: u64,
    has_signed: bool,
    hash: Sha256,
}

/// What came out of a reading.
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
        }
    }

    /// Hands a record over; returns whether more are wanted.
    pub(crate) fn give(&mut self, record: Record) -> bool {
        if self.is_wanted {
            self.len = self.len.saturating_add(1);
            self.has_signed |= record.grain.is_signed();
            self.hash.update(record.grain.address().as_bytes());
            self.is_wanted = (self.take)(record);
        }
        self.is_wanted
    }

    pub(crate) const fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    pub(crate) fn close(self) -> Output {
        Output {
            len: self.len,
            has_signed: self.has_signed,
            hash: self.hash.finalize().into(),
        }
    }

    /// Ends a reading of what came to `validated` before.
    ///
    /// # Errors
    /// `ERR_IO` if it came to something else, as far as it was wanted.
    pub(crate) fn compare(self, validated: Output) -> Result<(), Error> {
        let is_whole = self.is_wanted;
        if is_whole && self.close() != validated {
            return Err(changed());
        }
        Ok(())
    }
}

/// Says that a file is not what it was when it was validated.
pub(crate) fn changed() -> Error {
    Error::Io {
        place: Place::File,
        source: std::io::Error::other("the file changed while it was read"),
    }
}
