//! A committed entry, as every fold sees it: borrowed from the frame that was just written, or
//! decoded from the ledger.

use crate::grain::{Grain, Time};
use crate::ledger::{self, EntryId, Kind};
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
}

impl<'a> Entry<'a> {
    pub(crate) const fn grain(&self) -> Option<&'a Grain> {
        match self.body {
            Body::Grain(grain) => Some(grain),
            Body::Record(_) => None,
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

    pub(crate) fn as_entry(&self) -> Entry<'_> {
        Entry {
            row: self.row,
            time: self.time,
            body: match &self.body {
                DecodedBody::Grain(grain) => Body::Grain(grain),
                DecodedBody::Record(record) => Body::Record(record),
            },
        }
    }
}
