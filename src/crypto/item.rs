//! The CBOR of signature messages (RFC 8949): in any order and any definite form of lengths, without
//! copies, without memory taken from declared lengths.
//!
//! Other implementations need not write deterministically (ruling P7): a signature covers the bytes
//! received, so a second spelling of a header is another message and replaces nothing.

use crate::codec::cbor_head::{
    self as head, ARRAY, BYTES, Input, MAP, NEGATIVE, POSITIVE, TAG, TEXT,
};

use super::Error;

/// Walks untrusted bytes. Nothing is of indefinite length.
pub(super) struct Items<'a> {
    rest: &'a [u8],
    len: usize,
}

/// The label of a header parameter (RFC 9052 1.4), compared by its value: it may be spelled in
/// several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label<'a> {
    /// An integer of 64 bits and a sign.
    Int(i128),
    Text(&'a str),
}

/// The members of a header, each value as it is spelled.
pub(super) type Members<'a> = Vec<(Label<'a>, &'a [u8])>;

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

    /// Reads a part of a message, a byte string whose length is in its shortest form: a message
    /// that was kept without its payload is written again as it came.
    pub(super) fn bytes(&mut self, otherwise: &'static str) -> Result<&'a [u8], Error> {
        let (major, info) = head::read_first(self)?;
        match (major, head::read_argument(self, info)?) {
            (BYTES, len) => self.take(len),
            _ => Err(self.fault(otherwise)),
        }
    }

    /// Reads a byte string of a header.
    pub(super) fn value_bytes(&mut self, otherwise: &'static str) -> Result<&'a [u8], Error> {
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
    pub(super) fn labels(&mut self) -> Result<Vec<Label<'a>>, Error> {
        let (ARRAY, len @ 1..=MEMBERS_MAX) = self.head()? else {
            return Err(self.fault("a list of labels is an array of one or more"));
        };
        (0..len).map(|_| self.label()).collect()
    }

    /// Reads a map of labels and values, in any order; no label stands twice.
    pub(super) fn members(&mut self) -> Result<Members<'a>, Error> {
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
            members.push((label, self.span(|items| items.skip(DEPTH_MAX))?));
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

    fn label(&mut self) -> Result<Label<'a>, Error> {
        Ok(match self.head()? {
            (POSITIVE, argument) => Label::Int(i128::from(argument)),
            (NEGATIVE, argument) => Label::Int(!i128::from(argument)),
            (TEXT, len) => Label::Text(self.utf8(len)?),
            _ => return Err(self.fault("a label is an integer or a text")),
        })
    }

    fn skip(&mut self, depth_left: usize) -> Result<(), Error> {
        let Some(below) = depth_left.checked_sub(1) else {
            return Err(self.fault("a header nests too deep"));
        };
        if let [0xe0..=0xff, ..] = self.rest {
            return self.skip_simple();
        }
        let (major, argument) = self.head()?;
        match major {
            BYTES => self.take(argument).map(drop)?,
            TEXT => self.utf8(argument).map(drop)?,
            ARRAY => {
                for _ in 0..argument {
                    self.skip(below)?;
                }
            }
            MAP => {
                for _ in 0..argument {
                    self.skip(below)?;
                    self.skip(below)?;
                }
            }
            TAG => self.skip(below)?,
            _ => {}
        }
        Ok(())
    }

    fn skip_simple(&mut self) -> Result<(), Error> {
        let [head] = self.array()?;
        match head & 0x1f {
            20..=23 => Ok(()),
            25 => self.array::<2>().map(drop),
            26 => self.array::<4>().map(drop),
            27 => self.array::<8>().map(drop),
            _ => Err(self.fault("an unassigned simple value")),
        }
    }

    /// Reads the head of an item that is no simple value.
    fn head(&mut self) -> Result<(u8, u64), Error> {
        let (major, info) = head::read_first(self)?;
        Ok((major, head::read_long_argument(self, info)?))
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

impl Label<'_> {
    /// Appends the label in its shortest form.
    #[cfg(feature = "signatures")]
    pub(super) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Int(int) => head::write_int(out, i64::try_from(int).unwrap_or_default()),
            Self::Text(text) => write_text(out, text),
        }
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
