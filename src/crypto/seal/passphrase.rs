//! A master key from a passphrase: argon2id (RFC 9106), with parameters that the vault keeps.

use argon2::{Algorithm, Argon2, Params, Version};

use crate::crypto::{Error, Random};

use super::secret::Secret;

/// The parameters of argon2id, kept beside what the key protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PassphraseParams {
    /// Memory, in KiB.
    pub(crate) memory_kib: u32,
    /// Passes over the memory.
    pub(crate) passes: u32,
    /// Lanes.
    pub(crate) lanes: u32,
    /// Random bytes of this store.
    pub(crate) salt: [u8; 16],
}

impl PassphraseParams {
    /// Draws a salt for the second recommended setting of RFC 9106: 64 MiB, 3 passes, 4 lanes.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`.
    pub(crate) fn draw(random: &dyn Random) -> Result<Self, Error> {
        let mut salt = [0; 16];
        random.fill(&mut salt)?;
        Ok(Self {
            memory_kib: 64 << 10,
            passes: 3,
            lanes: 4,
            salt,
        })
    }

    /// Derives the key of a passphrase.
    ///
    /// # Errors
    /// `ERR_KEY` for an empty passphrase, and for parameters that no vault has: damaged ones could
    /// ask for all memory.
    pub(crate) fn derive(&self, passphrase: &[u8]) -> Result<Secret, Error> {
        let reason = "parameters of a passphrase that no vault has";
        let is_plausible = self.memory_kib <= MEMORY_KIB_MAX
            && self.passes <= PASSES_MAX
            && self.lanes <= LANES_MAX;
        if !is_plausible {
            return Err(Error::Key { reason });
        }
        if passphrase.is_empty() {
            let reason = "the passphrase is empty";
            return Err(Error::Key { reason });
        }
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(32));
        let params = params.map_err(|_| Error::Key { reason })?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut outcome = Ok(());
        let secret = Secret::filled(|out| {
            outcome = argon2.hash_password_into(passphrase, &self.salt, out);
        });
        outcome.map_err(|_| Error::Key { reason })?;
        Ok(secret)
    }
}

const MEMORY_KIB_MAX: u32 = 1 << 20;
const PASSES_MAX: u32 = 64;
const LANES_MAX: u32 = 64;
