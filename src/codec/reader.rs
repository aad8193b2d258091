//! A cursor over untrusted bytes, shared by the two decoders.
//!
//! Every step is checked: no panic, no memory reserved from a declared length, no recursion past
//! the limit of the profile.

use super::cbor_head::Input;
use super::{Error, Profile};

/// Walks untrusted bytes: every step is checked, nothing is reserved from a declared length.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
    pub(super) depth_left: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8], profile: Profile) -> Self {
        Self {
            rest: bytes,
            len: bytes.len(),
            depth_left: profile.depth_max(),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        let (first, rest) = self.rest.split_first().ok_or_else(|| self.cut_short())?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) const fn peek(&self) -> Option<u8> {
        match self.rest {
            [first, ..] => Some(*first),
            [] => None,
        }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (head, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| self.cut_short())?;
        self.rest = rest;
        Ok(*head)
    }

    pub(super) fn take(&mut self, len: u64) -> Result<&'a [u8], Error> {
        let len = usize::try_from(len).map_err(|_| self.cut_short())?;
        let (head, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or_else(|| self.cut_short())?;
        self.rest = rest;
        Ok(head)
    }

    /// Checks a declared number of items: each takes at least `width` bytes of what is left.
    pub(super) fn count(&self, declared: u64, width: u64) -> Result<u64, Error> {
        let left = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        match declared.checked_mul(width) {
            Some(needed) if needed <= left => Ok(declared),
            _ => Err(self.cut_short()),
        }
    }

    pub(super) fn text(&mut self, len: u64) -> Result<&'a str, Error> {
        let bytes = self.take(len)?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.fault("text is not UTF-8"))?;
        if !super::canonical::is_canonical_text(text) {
            return Err(self.fault("text is not NFC or contains a byte-order mark"));
        }
        Ok(text)
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // OMS 4.10: checked before the recursion it prevents.
        self.depth_left = self
            .depth_left
            .checked_sub(1)
            .ok_or_else(|| self.fault("nesting is deeper than the profile allows"))?;
        let value = read(self)?;
        self.depth_left = self.depth_left.saturating_add(1);
        Ok(value)
    }

    pub(super) fn finish(&self) -> Result<(), Error> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.fault("bytes after the payload"))
        }
    }

    pub(super) const fn offset(&self) -> usize {
        self.len.saturating_sub(self.rest.len())
    }

    pub(super) const fn fault(&self, reason: &'static str) -> Error {
        Error::Corrupt {
            offset: self.offset(),
            reason,
        }
    }

    const fn cut_short(&self) -> Error {
        self.fault("a length reaches past the end")
    }
}

impl Input for Reader<'_> {
    type Error = Error;

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        Reader::array(self)
    }

    fn fault(&self, reason: &'static str) -> Error {
        Reader::fault(self, reason)
    }
}

/// Returns a vector for a declared number of items, with room for the first four at most: a vector
/// that grows from nothing takes room for four, which arrays of one in arrays of one multiply.
pub(super) fn room<T>(declared: u64) -> Vec<T> {
    Vec::with_capacity(usize::try_from(declared.min(4)).unwrap_or_default())
}
