//! `Cursor`: an opaque token from which the next page of a query continues.
//!
//! It binds the page to the snapshot, the time and the query of the first page.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::grain::Time;

use super::sort::Place;
use super::{Error, Filter, Sort};

/// The position after a page, and the snapshot of the first page: all pages of a query show the
/// same snapshot. It is opaque and valid for one query only.
///
/// ```
/// use grainstore::query::Cursor;
///
/// let cursor: Cursor = "c.29.19bc0c5a700.5f2a9c01.7.0.7".parse()?;
/// assert_eq!(cursor.to_string(), "c.29.19bc0c5a700.5f2a9c01.7.0.7");
/// assert!("41".parse::<Cursor>().is_err());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The number of ledger entries at the first page.
    pub(super) entries: u64,
    /// The time of the first page, which decides what has expired.
    pub(super) now: Time,
    question: u32,
    /// The last position returned.
    pub(super) last: Place,
}

impl Cursor {
    pub(super) fn new(
        (entries, now): (u64, Time),
        last: Place,
        filter: &Filter,
        sort: Sort,
    ) -> Self {
        Self {
            entries,
            now,
            question: question(filter, sort),
            last,
        }
    }

    /// Returns an error for the cursor of another query, in which its position has no meaning.
    pub(super) fn check(&self, filter: &Filter, sort: Sort) -> Result<(), Error> {
        if self.question == question(filter, sort) {
            return Ok(());
        }
        Err(Error::Cursor {
            text: self.to_string(),
        })
    }
}

/// The hash of a query, the same whether its order was named or is the one by default.
fn question(filter: &Filter, sort: Sort) -> u32 {
    let filter = filter.clone().sorted(sort);
    let hash: [u8; 32] = Sha256::digest(format!("{filter:?}")).into();
    hash.first_chunk()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (entries, question) = (self.entries, self.question);
        let now = self.now.ms().cast_unsigned();
        let [value, prefix, row] = self.last;
        write!(
            f,
            "c.{entries:x}.{now:x}.{question:08x}.{value:x}.{prefix:x}.{row:x}"
        )
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parse = || {
            let mut parts = text.strip_prefix("c.")?.split('.');
            let mut next = || u64::from_str_radix(parts.next()?, 16).ok();
            let cursor = Self {
                entries: next()?,
                now: Time::from_ms(next()?.cast_signed()),
                question: next()?.try_into().ok()?,
                last: [next()?, next()?, next()?],
            };
            // Only the canonical form is accepted.
            (cursor.to_string() == text).then_some(cursor)
        };
        parse().ok_or_else(|| Error::Cursor {
            text: text.to_owned(),
        })
    }
}
