//! Blind tokens: a sealed value is found by a keyed hash of the text that is asked for (OMS 20.3).
//!
//! The key is a person's own. The same text of two persons has unrelated tokens, and without the
//! key a token tells nothing. The label of a field names its normal form with a version.

use std::fmt;

use super::derive;
use super::secret::Secret;

/// The key of a person's tokens and aliases. It outlives the data keys, which may be renewed.
pub struct BlindKey(Secret);

impl BlindKey {
    /// Derives the key from a person's index secret.
    pub fn new(store: &[u8; 16], secret: &Secret) -> Self {
        Self(derive::extract(store, secret.expose()))
    }

    /// Returns the token of a text that stands in a field, with a label such as `subject/nfc1`.
    pub fn token(&self, label: &str, text: &str) -> [u8; 32] {
        let key = derive::expand(&self.0, &derive::info("blind-index", &[label.as_bytes()]));
        derive::mac(&key, &[text.as_bytes()])
    }

    /// Returns the half of a token, for fields of which a person has many values.
    pub fn short_token(&self, label: &str, text: &str) -> [u8; 16] {
        let [token, _] = halves(self.token(label, text));
        token
    }

    /// Returns the alias of a plaintext address, which is stored nowhere in the clear.
    pub fn alias(&self, address: &[u8; 32]) -> [u8; 32] {
        let key = derive::expand(&self.0, &derive::info("alias", &[]));
        derive::mac(&key, &[address])
    }
}

fn halves(bytes: [u8; 32]) -> [[u8; 16]; 2] {
    let (mut first, mut second) = ([0; 16], [0; 16]);
    let (low, high) = bytes.split_at(16);
    first.copy_from_slice(low);
    second.copy_from_slice(high);
    [first, second]
}

impl fmt::Debug for BlindKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlindKey")
    }
}
