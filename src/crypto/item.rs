//! The CBOR of signature messages (RFC 8949): strict, without copies, without memory taken from
//! declared lengths.

use crate::codec::cbor_head::{
    self as head, ARRAY, BYTES, Input, MAP, NEGATIVE, POSITIVE, TAG, TEXT,
};

use super::Error;

/// Walks untrusted bytes. Lengths and integers must be in their shortest form, nothing is of
/// indefinite length, so that an item has one spelling and can be compared by its bytes.
pub(super) struct Items<'a> {
    rest: &'a [u8],
    len: usize,
}

/// Whether an item must be deterministic (RFC 8949 4.2.1) or well-formed only.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Deterministic,
    WellFormed,
}

/// The members of a header, label and value each as they are spelled.
pub(super) type Members<'a> = Vec<(&'a [u8], &'a [u8])>;

impl<'a> Items<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            len: bytes.len(),
        }
    }

    /// Steps over one byte if it is `expected`.
    pub(super) fn skip_byte(&mut self, expected: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == expected => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Reads a byte string.
    pub(super) fn bytes(&mut self, otherwise: &'static str) -> Result<&'a [u8], Error> {
        match self.head()? {
            (BYTES, len) => self.take(len),
            _ => Err(self.fault(otherwise)),
        }
    }

    /// Reads a text.
    pub(super) fn text(&mut self, otherwise: &'static str) -> Result<&'a str, Error> {
        match self.head()? {
            (TEXT, len) => self.utf8(len),
            _ => Err(self.fault(otherwise)),
        }
    }

    /// Reads an integer of 64 signed bits.
    pub(super) fn int(&mut self, otherwise: &'static str) -> Result<i64, Error> {
        let int = match self.head()? {
            (POSITIVE, argument) => i64::try_from(argument).ok(),
            (NEGATIVE, argument) => i64::try_from(argument).ok().map(|int| !int),
            _ => None,
        };
        int.ok_or_else(|| self.fault(otherwise))
    }

    /// Reads the labels of an array of one or more.
    pub(super) fn labels(&mut self) -> Result<Vec<&'a [u8]>, Error> {
        let (ARRAY, len @ 1..=MEMBERS_MAX) = self.head()? else {
            return Err(self.fault("a list of labels is an array of one or more"));
        };
        (0..len).map(|_| self.label()).collect()
    }

    /// Reads a map of labels and values.
    pub(super) fn members(&mut self, form: Form) -> Result<Members<'a>, Error> {
        let (MAP, len) = self.head()? else {
            return Err(self.fault("a header is a map"));
        };
        if len > MEMBERS_MAX {
            return Err(self.fault("a header has at most 64 members"));
        }
        let mut members = Members::new();
        for _ in 0..len {
            let label = self.label()?;
            if members.iter().any(|(other, _)| *other == label) {
                return Err(self.fault("a label stands twice"));
            }
            if form == Form::Deterministic && members.last().is_some_and(|(last, _)| *last > label)
            {
                return Err(self.fault("labels are not in canonical order"));
            }
            members.push((label, self.spelled(form, DEPTH_MAX)?));
        }
        Ok(members)
    }

    pub(super) fn finish(&self, otherwise: &'static str) -> Result<(), Error> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.fault(otherwise))
        }
    }

    pub(super) const fn fault(&self, reason: &'static str) -> Error {
        Error::Malformed {
            offset: self.len.saturating_sub(self.rest.len()),
            reason,
        }
    }

    /// Returns the bytes of what comes next, up to where `read` stops.
    pub(super) fn span(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<&'a [u8], Error> {
        let start = self.rest;
        read(self)?;
        let len = start.len().saturating_sub(self.rest.len());
        Ok(start.get(..len).unwrap_or_default())
    }

    fn spelled(&mut self, form: Form, depth_left: usize) -> Result<&'a [u8], Error> {
        self.span(|items| items.skip(form, depth_left))
    }

    /// RFC 9052 1.4: a label is an integer or a text.
    fn label(&mut self) -> Result<&'a [u8], Error> {
        self.span(|items| match items.head()? {
            (POSITIVE | NEGATIVE, _) => Ok(()),
            (TEXT, len) => items.utf8(len).map(drop),
            _ => Err(items.fault("a label is an integer or a text")),
        })
    }

    fn skip(&mut self, form: Form, depth_left: usize) -> Result<(), Error> {
        let Some(below) = depth_left.checked_sub(1) else {
            return Err(self.fault("a header nests too deep"));
        };
        if let [0xe0..=0xff, ..] = self.rest {
            return self.skip_simple(form);
        }
        let (major, argument) = self.head()?;
        match major {
            BYTES => self.take(argument).map(drop)?,
            TEXT => self.utf8(argument).map(drop)?,
            ARRAY => {
                for _ in 0..argument {
                    self.skip(form, below)?;
                }
            }
            MAP => {
                let mut last: &[u8] = &[];
                for _ in 0..argument {
                    let key = self.spelled(form, below)?;
                    if form == Form::Deterministic && key <= last {
                        return Err(self.fault("keys are not in canonical order"));
                    }
                    last = key;
                    self.skip(form, below)?;
                }
            }
            TAG => self.skip(form, below)?,
            _ => {}
        }
        Ok(())
    }

    fn skip_simple(&mut self, form: Form) -> Result<(), Error> {
        let [head] = self.array()?;
        match head & 0x1f {
            20..=22 => Ok(()),
            // A double has several spellings, and nothing that is protected needs one.
            _ if form == Form::Deterministic => Err(self.fault("a value without one spelling")),
            23 => Ok(()),
            25 => self.array::<2>().map(drop),
            26 => self.array::<4>().map(drop),
            27 => self.array::<8>().map(drop),
            _ => Err(self.fault("an unassigned simple value")),
        }
    }

    /// Reads the head of an item that is no simple value.
    fn head(&mut self) -> Result<(u8, u64), Error> {
        let (major, info) = head::read_first(self)?;
        Ok((major, head::read_argument(self, info)?))
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8], Error> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let Some((head, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.fault("a length reaches past the end"));
        };
        self.rest = rest;
        Ok(head)
    }

    fn utf8(&mut self, len: u64) -> Result<&'a str, Error> {
        let bytes = self.take(len)?;
        std::str::from_utf8(bytes).map_err(|_| self.fault("text is not UTF-8"))
    }
}

impl Input for Items<'_> {
    type Error = Error;

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let Some((head, rest)) = self.rest.split_first_chunk() else {
            return Err(self.fault("cut short"));
        };
        self.rest = rest;
        Ok(*head)
    }

    fn fault(&self, reason: &'static str) -> Error {
        Items::fault(self, reason)
    }
}

/// Appends a byte string.
pub(super) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    head::write_len(out, BYTES, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends a text.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    head::write_len(out, TEXT, text.len());
    out.extend_from_slice(text.as_bytes());
}

const MEMBERS_MAX: u64 = 64;
const DEPTH_MAX: usize = 16;
