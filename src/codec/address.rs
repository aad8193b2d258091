//! Content addresses: the SHA-256 of a blob, as bytes and as text (OMS 5).
//!
//! Comparison is in constant time. References with a prefix are read here (ruling F19); what they
//! point at is the reader's affair.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::Error;

/// Identifies a grain: the SHA-256 of its complete blob (OMS 5).
///
/// Its text form is 64 lower-case hexadecimal digits and nothing else.
///
/// ```
/// use grainstore::codec::ContentAddress;
///
/// let address = ContentAddress::of(b"some blob");
/// assert_eq!(address.to_string().parse::<ContentAddress>()?, address);
/// assert!("ABC".parse::<ContentAddress>().is_err());
/// # Ok::<(), grainstore::codec::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentAddress([u8; 32]);

impl ContentAddress {
    /// The length of an address in bytes.
    pub const LEN: usize = 32;

    /// Returns the address of a complete blob: header and payload.
    pub fn of(blob: &[u8]) -> Self {
        Self(Sha256::digest(blob).into())
    }

    /// Wraps 32 bytes that are already a SHA-256.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns whether `blob` has this address, in time that does not depend on where they differ.
    pub fn verifies(&self, blob: &[u8]) -> bool {
        self.is(&Self::of(blob))
    }

    /// Returns whether two addresses are the same, in time that does not depend on where they
    /// differ.
    pub(crate) fn is(&self, other: &Self) -> bool {
        // OMS 17.1, 20.4: hashes are compared in constant time.
        self.0.ct_eq(&other.0).into()
    }

    /// Reads an address as references spell it: bare, or after `sha256:` or `mg:sha256:`.
    ///
    /// # Errors
    /// `ERR_HASH_LENGTH`, `ERR_HASH_FORMAT`, as [`FromStr`].
    pub fn from_reference(text: &str) -> Result<Self, Error> {
        // Ruling F19: the prefixes are stripped where references are resolved, never where stored.
        let bare = text.strip_prefix("mg:").unwrap_or(text);
        bare.strip_prefix("sha256:").unwrap_or(bare).parse()
    }

    /// Returns the least and the greatest address that begin with these hexadecimal digits, in either
    /// case.
    ///
    /// # Errors
    /// `ERR_HASH_LENGTH` for more digits than an address has, `ERR_HASH_FORMAT` for another character.
    pub(crate) fn bounds(digits: &str) -> Result<[Self; 2], Error> {
        if digits.len() > 2 * Self::LEN {
            return Err(Error::HashLength { len: digits.len() });
        }
        if !digits.is_ascii() {
            return Err(Error::HashFormat);
        }
        let filled = |with: char| {
            let all = digits.chars().chain(std::iter::repeat(with));
            let all: String = all.take(2 * Self::LEN).collect();
            all.to_ascii_lowercase().parse()
        };
        Ok([filled('0')?, filled('f')?])
    }
}

impl FromStr for ContentAddress {
    type Err = Error;

    /// Reads 64 lower-case hexadecimal digits (OMS 5.1).
    ///
    /// # Errors
    /// `ERR_HASH_LENGTH` for another length, `ERR_HASH_FORMAT` for another digit.
    fn from_str(text: &str) -> Result<Self, Error> {
        if text.len() != 64 {
            return Err(Error::HashLength { len: text.len() });
        }
        let bytes = data_encoding::HEXLOWER
            .decode(text.as_bytes())
            .map_err(|_| Error::HashFormat)?;
        bytes.try_into().map(Self).map_err(|_| Error::HashFormat)
    }
}

impl fmt::Display for ContentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&data_encoding::HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for ContentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_digits_are_the_addresses_that_begin_with_them() {
        let [low, high] = ContentAddress::bounds("3Fa").unwrap();
        assert_eq!(low.to_string(), format!("3fa{}", "0".repeat(61)));
        assert_eq!(high.to_string(), format!("3fa{}", "f".repeat(61)));
        let [low, high] = ContentAddress::bounds(&"a".repeat(64)).unwrap();
        assert_eq!(low, high);
        for (digits, error) in [
            ("é", Error::HashFormat),
            ("12g", Error::HashFormat),
            (&"0".repeat(65), Error::HashLength { len: 65 }),
        ] {
            assert_eq!(
                ContentAddress::bounds(digits).unwrap_err().code(),
                error.code()
            );
        }
    }
}
