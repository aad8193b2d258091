//! The signature over a file: the result of checking it, and the key that makes one.

use std::fmt;
use std::sync::Arc;

use crate::crypto::SigningKey;

/// The result of checking the signature over a file, as the ledger records it (AIMEM 5.3).
///
/// ```
/// use grainstore::interchange::Signature;
///
/// assert_eq!(Signature::Skipped.name(), "skipped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// There is none.
    Absent,
    /// There is one, and it was not checked.
    Skipped,
    /// It does not verify.
    Invalid,
    /// It verifies; whether the signer is trusted is another question.
    Valid,
}

impl Signature {
    /// Returns the word in the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Skipped => "skipped",
            Self::Invalid => "invalid",
            Self::Valid => "valid",
        }
    }
}

/// The key that signs exports; `Debug` shows its public half.
///
/// ```
/// use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
/// use grainstore::interchange::ExportKey;
///
/// let key = ExportKey::new(SigningKey::generate(Algorithm::Ed25519, &OsRandom)?);
/// assert!(format!("{key:?}").starts_with("did:key:"));
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Clone)]
pub struct ExportKey(Arc<SigningKey>);

impl ExportKey {
    /// Wraps a key for the options of an export.
    pub fn new(key: SigningKey) -> Self {
        Self(Arc::new(key))
    }

    pub(crate) fn key(&self) -> &SigningKey {
        &self.0
    }
}

impl fmt::Debug for ExportKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.did(), f)
    }
}
