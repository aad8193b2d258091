//! A committed entry, as every fold sees it: borrowed from the frame that was just written, or
//! decoded from the ledger.

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::ledger::{self, EntryId, Kind, Ledger};
use crate::store::Error;
use crate::store::records::{Record, SealedCard, SealedRecord};

use super::Keyring;

/// A committed entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// Its sequence.
    pub(crate) row: EntryId,
    pub(crate) time: Time,
    pub(crate) body: Body<'a>,
    /// The card of an entry that is sealed, opened or not; `None` for one in the clear.
    pub(crate) card: Option<&'a SealedCard>,
    /// The address of an opened grain as the files have it: the hash of its ciphertext (OMS 20.2).
    pub(crate) ciphertext: Option<ContentAddress>,
}

/// The body of a committed entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Body<'a> {
    Grain(&'a Grain),
    Record(&'a Record),
    /// A grain whose bytes are damaged.
    Damaged,
    /// An entry that is sealed for a person who is locked. It is in no answer, and is not damaged.
    Locked,
}

impl<'a> Entry<'a> {
    /// Returns the card of a sealed entry that is opened.
    pub(crate) fn opened_card(&self) -> Option<&'a SealedCard> {
        self.card.filter(|_| !matches!(self.body, Body::Locked))
    }

    pub(crate) const fn grain(&self) -> Option<&'a Grain> {
        match self.body {
            Body::Grain(grain) => Some(grain),
            Body::Record(_) | Body::Damaged | Body::Locked => None,
        }
    }
}

/// An entry decoded from the ledger.
#[derive(Debug)]
pub(crate) struct DecodedEntry {
    row: EntryId,
    time: Time,
    body: DecodedBody,
    card: Option<SealedCard>,
    ciphertext: Option<ContentAddress>,
}

#[derive(Debug)]
enum DecodedBody {
    Grain(Box<Grain>),
    Record(Record),
    Damaged,
    Locked,
}

impl DecodedEntry {
    /// Decodes an entry whose bytes the ledger has proven; a sealed one is locked.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` for a body that only a faulty writer would write.
    pub(crate) fn decode(entry: ledger::Entry<'_>) -> Result<Self, Error> {
        let row = entry.header.sequence;
        let sealed = match entry.header.kind {
            Kind::SealedGrain => SealedRecord::decode(&entry.body),
            _ => None,
        };
        let since = sealed.as_ref().and_then(|sealed| sealed.card.since);
        let time = since.unwrap_or(Time::from_ms(entry.header.time_ms));
        let (kind, hash) = (entry.header.kind, ContentAddress::new(entry.hash));
        let (body, card) = match sealed {
            Some(sealed) => (DecodedBody::Locked, Some(sealed.card)),
            None => {
                let body = DecodedBody::of(row, kind, entry.body.into_owned(), hash)?;
                (body, None)
            }
        };
        Ok(Self {
            row,
            time,
            body,
            card,
            ciphertext: None,
        })
    }

    /// Decodes an entry, and opens a sealed one whose person is unlocked.
    ///
    /// # Errors
    /// As [`DecodedEntry::decode`].
    pub(crate) fn opened(entry: ledger::Entry<'_>, keyring: &Keyring) -> Result<Self, Error> {
        let row = entry.header.sequence;
        let mut opened = None;
        if entry.header.kind == Kind::SealedGrain {
            opened = SealedRecord::decode(&entry.body).and_then(|sealed| keyring.open(&sealed));
        }
        let is_grain = opened.as_ref().is_some_and(|it| it.kind == Kind::Grain);
        let ciphertext = is_grain.then(|| ContentAddress::new(entry.hash));
        let mut decoded = Self::decode(entry)?;
        if let Some(opened) = opened {
            let address = ContentAddress::of(&opened.body);
            decoded.body = DecodedBody::of(row, opened.kind, opened.body, address)?;
            decoded.ciphertext = ciphertext;
        }
        Ok(decoded)
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
                card: None,
                ciphertext: None,
            });
        }
        Err(error.into())
    }

    /// Decodes the fields of a grain now, and not when they are first asked for. Returns the length of
    /// its blob.
    pub(crate) fn decode_fields(&self) -> usize {
        let DecodedBody::Grain(grain) = &self.body else {
            return 0;
        };
        grain.fields();
        grain.blob().len()
    }

    pub(crate) fn as_entry(&self) -> Entry<'_> {
        Entry {
            row: self.row,
            time: self.time,
            body: match &self.body {
                DecodedBody::Grain(grain) => Body::Grain(grain),
                DecodedBody::Record(record) => Body::Record(record),
                DecodedBody::Damaged => Body::Damaged,
                DecodedBody::Locked => Body::Locked,
            },
            card: self.card.as_ref(),
            ciphertext: self.ciphertext,
        }
    }
}

impl DecodedBody {
    /// Decodes a body, which has this hash.
    fn of(row: EntryId, kind: Kind, body: Vec<u8>, hash: ContentAddress) -> Result<Self, Error> {
        if kind == Kind::Grain {
            let grain = Grain::from_verified(body, hash);
            let grain = grain.map_err(|_| Error::malformed(row, kind))?;
            return Ok(Self::Grain(Box::new(grain)));
        }
        let record = Record::decode(kind, &body);
        Ok(Self::Record(
            record.ok_or_else(|| Error::malformed(row, kind))?,
        ))
    }
}
