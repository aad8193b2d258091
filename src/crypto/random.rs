//! The source of random bytes, an argument so that tests are repeatable.

use std::fmt;

use super::Error;

/// A source of unpredictable bytes.
///
/// ```
/// use grainstore::crypto::{OsRandom, Random};
///
/// let (mut a, mut b) = ([0; 16], [0; 16]);
/// OsRandom.fill(&mut a)?;
/// OsRandom.fill(&mut b)?;
/// assert_ne!(a, b);
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
pub trait Random: fmt::Debug + Send + Sync {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;
}

/// The operating system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsRandom;

impl Random for OsRandom {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where randomness enters; everywhere else it is an argument"
    )]
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(bytes).map_err(|source| Error::NoRandomness { source })
    }
}
