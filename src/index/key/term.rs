//! Terms: keyed hashes of the store's texts.
//!
//! The key is a secret of the store, so an attacker cannot prepare collisions. Readers check the
//! strings all the same.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher24;

use crate::codec::ContentAddress;

/// The secret under which a store hashes its terms (SipHash-2-4).
///
/// ```
/// use grainstore::index::TermKey;
///
/// let key = TermKey::new([7; 16]);
/// assert_eq!(key.hash(&["dark mode"]), key.hash(&["dark mode"]));
/// assert_ne!(key.hash(&["ab", "c"]), key.hash(&["a", "bc"]));
/// ```
#[derive(Clone)]
pub struct TermKey(SipHasher24);

impl TermKey {
    /// Wraps 16 secret bytes.
    pub fn new(secret: [u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(&secret))
    }

    /// Returns the identifier of a sequence of texts; never 0, which stands for an absent term.
    pub fn hash(&self, parts: &[&str]) -> u64 {
        let mut hasher = self.0;
        for part in parts {
            hasher.write(part.as_bytes());
            // 0xff is in no UTF-8 text, so parts cannot run into each other.
            hasher.write(&[0xff]);
        }
        hasher.finish().max(1)
    }

    /// Returns the identifier of a person, by pseudonym. No text has the byte in front, so it is
    /// the identifier of no text.
    pub(in crate::index) fn hash_person(&self, uid: &[u8; 16]) -> u64 {
        let mut hasher = self.0;
        hasher.write(&[0xfe]);
        hasher.write(uid);
        hasher.finish().max(1)
    }

    /// Returns the identifier of a grain that others point at. It is hashed because two addresses
    /// with a common prefix can be found by brute force.
    pub(in crate::index) fn hash_link(&self, address: &ContentAddress) -> u64 {
        let mut hasher = self.0;
        hasher.write(address.as_bytes());
        hasher.finish()
    }
}

impl fmt::Debug for TermKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TermKey")
    }
}
