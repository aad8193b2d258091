//! Secret bytes in memory: one owner, no copies, no text, wiped when dropped.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::crypto::{Error, Random};

use super::derive;

/// The length of every key, in bytes.
pub(super) const KEY_LEN: usize = 32;

/// 32 secret bytes. There is no `Clone` and no `PartialEq`, and they are wiped when dropped.
///
/// They lie on the heap: a value that is moved leaves copies of itself on the stack.
pub struct Secret(Box<[u8; KEY_LEN]>);

impl Secret {
    /// Draws a secret.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub fn draw(random: &dyn Random) -> Result<Self, Error> {
        let mut secret = Self::zeros();
        random.fill(&mut *secret.0)?;
        Ok(secret)
    }

    /// Copies a secret out of a buffer that the caller wipes; `None` for another length.
    pub fn copied(bytes: &[u8]) -> Option<Self> {
        let mut secret = Self::zeros();
        if bytes.len() != KEY_LEN {
            return None;
        }
        secret.0.copy_from_slice(bytes);
        Some(secret)
    }

    /// Fills a new secret.
    pub(super) fn filled(fill: impl FnOnce(&mut [u8; KEY_LEN])) -> Self {
        let mut secret = Self::zeros();
        fill(&mut secret.0);
        secret
    }

    /// Returns the bytes.
    pub const fn expose(&self) -> &[u8; KEY_LEN] {
        &self.0
    }

    /// Returns whether two secrets are the same, in constant time.
    pub fn is(&self, other: &Self) -> bool {
        self.0.as_slice().ct_eq(other.0.as_slice()).into()
    }

    /// Returns a value that this key alone has, which does not reveal it.
    pub fn check_value(&self) -> [u8; 32] {
        derive::mac(self, &[b"kcv"])
    }

    fn zeros() -> Self {
        Self(Box::new([0; KEY_LEN]))
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Overwrites the stack below the caller: ciphers and hashes leave blocks of what they handled there.
#[inline(never)]
pub(crate) fn scrub_stack() {
    let mut below = [0_u8; STACK_BYTES];
    below.zeroize();
    std::hint::black_box(&below);
}

/// Deeper than the calls of a cipher reach.
const STACK_BYTES: usize = 32 << 10;
