//! A committed entry, as every fold sees it: borrowed from the frame that was just written, or
//! decoded from the ledger.

use crate::grain::{Grain, Time};
use crate::ledger::{self, EntryId, Kind, Ledger};
use crate::store::Error;
use crate::store::records::Record;

/// A committed entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// Its sequence.
    pub(crate) row: EntryId,
    pub(crate) time: Time,
    pub(crate) body: Body<'a>,
}

/// The body of a committed entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Body<'a> {
    Grain(&'a Grain),
    Record(&'a Record),
    /// A grain whose bytes are damaged.
    Damaged,
}

impl<'a> Entry<'a> {
    pub(crate) const fn grain(&self) -> Option<&'a Grain> {
        match self.body {
            Body::Grain(grain) => Some(grain),
            Body::Record(_) | Body::Damaged => None,
        }
    }
}

/// An entry decoded from the ledger.
#[derive(Debug)]
pub(crate) struct DecodedEntry {
    row: EntryId,
    time: Time,
    body: DecodedBody,
}

#[derive(Debug)]
enum DecodedBody {
    Grain(Box<Grain>),
    Record(Record),
    Damaged,
}

impl DecodedEntry {
    /// Decodes an entry whose bytes the ledger has proven.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for a body that only a faulty writer would write.
    pub(crate) fn decode(entry: ledger::Entry<'_>) -> Result<Self, Error> {
        let (row, kind) = (entry.header.sequence, entry.header.kind);
        let body = if kind == Kind::Grain {
            let grain = Grain::from_proven(entry.body.into_owned());
            DecodedBody::Grain(Box::new(grain.map_err(|_| Error::malformed(row, kind))?))
        } else {
            let record = Record::decode(kind, &entry.body);
            DecodedBody::Record(record.ok_or_else(|| Error::malformed(row, kind))?)
        };
        Ok(Self {
            row,
            time: Time::from_ms(entry.header.time_ms),
            body,
        })
    }

    /// Returns the entry that could not be read if it is a grain whose bytes are damaged: one rotten
    /// grain keeps no store from opening, and no view from being built.
    ///
    /// # Errors
    /// The error of reading any other entry.
    pub(crate) fn damaged(ledger: &Ledger, error: ledger::Error) -> Result<Self, Error> {
        if let ledger::Error::Damaged { sequence, .. } = error
            && let Some(header) = ledger.damaged_grain(sequence)?
        {
            tracing::warn!(%error, "the grain is left out");
            return Ok(Self {
                row: sequence,
                time: Time::from_ms(header.time_ms),
                body: DecodedBody::Damaged,
            });
        }
        Err(error.into())
    }

    pub(crate) fn as_entry(&self) -> Entry<'_> {
        Entry {
            row: self.row,
            time: self.time,
            body: match &self.body {
                DecodedBody::Grain(grain) => Body::Grain(grain),
                DecodedBody::Record(record) => Body::Record(record),
                DecodedBody::Damaged => Body::Damaged,
            },
        }
    }
}
