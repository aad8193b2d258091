use sha2::{Digest, Sha256};

use super::{Error, Place, Record};

/// Where records go on their way out of a file: they are counted, and their addresses hashed, so that
/// two readings of one file can be held against each other.
pub(super) struct Outlet<'a> {
    take: &'a mut dyn FnMut(Record) -> bool,
    is_wanted: bool,
    len: u64,
    has_signed: bool,
    hash: Sha256,
}

/// What came out of a reading.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) len: u64,
    /// Whether any of them is signed.
    pub(super) has_signed: bool,
    hash: [u8; 32],
}

impl<'a> Outlet<'a> {
    pub(super) fn new(take: &'a mut dyn FnMut(Record) -> bool) -> Self {
        Self {
            take,
            is_wanted: true,
            len: 0,
            has_signed: false,
            hash: Sha256::new(),
        }
    }

    /// Hands a record over; returns whether more are wanted.
    pub(super) fn give(&mut self, record: Record) -> bool {
        if self.is_wanted {
            self.len = self.len.saturating_add(1);
            self.has_signed |= record.grain.is_signed();
            self.hash.update(record.grain.address().as_bytes());
            self.is_wanted = (self.take)(record);
        }
        self.is_wanted
    }

    pub(super) const fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    pub(super) fn close(self) -> Output {
        Output {
            len: self.len,
            has_signed: self.has_signed,
            hash: self.hash.finalize().into(),
        }
    }

    /// Ends a reading of what came to `judged` before.
    ///
    /// # Errors
    /// `ERR_IO` if it came to something else, as far as it was wanted.
    pub(super) fn compare(self, judged: Output) -> Result<(), Error> {
        let is_whole = self.is_wanted;
        if is_whole && self.close() != judged {
            return Err(changed());
        }
        Ok(())
    }
}

/// Says that a file is not what it was when it was judged.
pub(super) fn changed() -> Error {
    Error::Io {
        place: Place::File,
        source: std::io::Error::other("the file changed while it was read"),
    }
}
