//! The content of a file to be imported, as its reader leaves it.

use crate::crypto::Resolver;

use super::{
    Diagnostics, Error, ForeignId, ForeignVectors, Format, Loss, Place, Record, RecordSet,
    Signature,
};

/// The content of a file, validated before any of it is stored.
#[derive(Debug)]
pub struct ImportFile {
    /// The format it was read as.
    pub format: Format,
    /// The valid records, in an order in which they can be stored.
    pub records: RecordSet,
    /// The errors of the others; an error of the file as a whole leaves no records.
    pub errors: Vec<Error>,
    /// Statements beside the errors, and where they stand.
    pub findings: Vec<(Place, String)>,
    /// The values that records cannot carry.
    pub loss: Loss,
    /// The export that this one is incremental to (PAM 16).
    pub base: Option<ForeignId>,
    /// The vectors of its records, or of records imported before.
    pub vectors: ForeignVectors,
    /// The result of checking the signature over the file; `None` for a format without one.
    pub signature: Option<Signature>,
    /// Whether the owner says that it is a copy of a store of the owner's own (ruling I28): what
    /// ended there ends here, under policy. No file proves that by itself.
    pub is_own: bool,
    /// The checksum in the footer of an archive (OMS 11.5).
    pub footer: Option<[u8; 32]>,
}

/// The result of reading a file as one format.
pub(super) type ReadResult = Result<ImportFile, Refusal>;

/// Why a file yields no records at all.
pub(super) enum Refusal {
    /// It cannot be opened.
    Unreadable(Error),
    /// It is not valid.
    Invalid(Vec<Error>),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<std::io::Error> for Refusal {
    fn from(source: std::io::Error) -> Self {
        Self::Unreadable(source.into())
    }
}

impl From<Vec<Error>> for Refusal {
    fn from(errors: Vec<Error>) -> Self {
        Self::Invalid(errors)
    }
}

impl ImportFile {
    /// Returns a file of a format, with nothing in it.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            records: RecordSet::default(),
            errors: Vec::new(),
            findings: Vec::new(),
            loss: Loss::default(),
            base: None,
            vectors: ForeignVectors::default(),
            signature: None,
            is_own: false,
            footer: None,
        }
    }

    /// Verifies the signatures of signed grains; those that do not verify become errors.
    pub fn verify_signatures(&mut self, resolver: &dyn Resolver) {
        self.errors.extend(self.records.verify(resolver));
    }

    /// Counts the valid records of a first reading, and keeps the first errors of the others; returns
    /// also whether any is signed.
    pub(super) fn count(
        &mut self,
        records: impl Iterator<Item = Result<Record, Error>>,
    ) -> (u64, bool) {
        let (mut len, mut has_signed) = (0_u64, false);
        let mut errors = Diagnostics::default();
        for record in records {
            match record {
                Ok(record) => {
                    len = len.saturating_add(1);
                    has_signed |= record.grain.is_signed();
                }
                Err(error) => errors.push(error),
            }
        }
        // A list of all of them could be a hundred times as large as the file.
        let last = errors.list.last().map(Error::code);
        self.errors.extend(errors.list);
        if let Some(code) = last.filter(|_| errors.more > 0) {
            let message = format!("and {} more that are not listed", errors.more);
            self.errors.push(Error::format(code, Place::File, message));
        }
        (len, has_signed)
    }
}
