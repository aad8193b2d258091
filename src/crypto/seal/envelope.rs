//! The sealed envelope, suite 1 (docs/format.md, "Sealed values"): a key, a nonce and a commitment
//! for each message, and AES-256-GCM over the padded plaintext.
//!
//! AES-GCM alone opens under several keys and fails when a nonce repeats. The commitment is checked
//! before decryption, and the salt hashes the plaintext, so that a random generator which repeats
//! itself still gives distinct keys to distinct messages.

use std::fmt;

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::crypto::{Error, Random};

use super::context::Context;
use super::derive;
use super::secret::Secret;

const MAGIC: &[u8; 4] = b"GSE1";
const SUITE: u8 = 1;
const GENERATION_AT: usize = 5;
const SALT_AT: usize = 9;
pub(super) const SALT_LEN: usize = 32;
pub(super) const MESSAGE_KEYS_LEN: usize = 76;
const COMMIT_AT: usize = SALT_AT + SALT_LEN;
pub(super) const HEADER_LEN: usize = COMMIT_AT + 32;
const TAG_LEN: usize = 16;

/// The longest plaintext, in bytes.
const PLAINTEXT_MAX: usize = 64 << 20;

/// The keys that seal values under one secret: a data key, a bucket key or a wrapping key.
pub struct SealingKey {
    seal: Secret,
    hedge: Secret,
}

impl SealingKey {
    /// Derives the keys of a secret in a store.
    pub fn new(store: &[u8; 16], secret: &Secret) -> Self {
        let prk = derive::extract(store, secret.expose());
        Self {
            seal: derive::expand(&prk, &derive::info("seal", &[])),
            hedge: derive::expand(&prk, &derive::info("hedge", &[])),
        }
    }

    /// Seals a value, padded so that its length says little (Padmé: at most 12 % more).
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`; `ERR_UNSUPPORTED` above 64 MiB.
    pub fn seal(
        &self,
        random: &dyn Random,
        context: &Context<'_>,
        plaintext: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let mut entropy = Zeroizing::new([0; 32]);
        random.fill(&mut *entropy)?;
        let padded = pad(plaintext)?;
        let associated = context.associated_data();
        self.seal_padded(&entropy, context.generation, &associated, &padded)
    }

    /// Opens a value.
    ///
    /// # Errors
    /// `ERR_SEALED`, the same for another key, another place and any damage.
    pub fn open(
        &self,
        context: &Context<'_>,
        envelope: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.message(envelope)
            .ok_or(Error::Sealed)?
            .open(context, envelope)
    }

    /// Returns the generation that an envelope names, before anything is verified.
    pub fn generation(envelope: &[u8]) -> Option<u32> {
        let bytes = envelope.get(GENERATION_AT..SALT_AT)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    }

    /// Returns whether the key has sealed an envelope, wherever that belongs.
    pub fn has_sealed(&self, envelope: &[u8]) -> bool {
        self.message(envelope).is_some()
    }

    /// Returns the keys of the message in an envelope.
    pub(super) fn message(&self, envelope: &[u8]) -> Option<MessageKeys> {
        let (salt, commitment) = salt_and_commitment(envelope)?;
        let message = MessageKeys::derive(&self.seal, salt);
        // The commitment comes first: AES-GCM alone would open under a key made for it.
        message.commits_to(commitment).then_some(message)
    }

    pub(super) fn seal_padded(
        &self,
        entropy: &[u8; 32],
        generation: u32,
        associated: &[u8],
        padded: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let salt = self.salt(entropy, associated, padded);
        let message = MessageKeys::derive(&self.seal, &salt);
        let mut sealed = padded.to_vec();
        let tag = message.cipher().encrypt_inout_detached(
            (&message.nonce()).into(),
            associated,
            sealed.as_mut_slice().into(),
        );
        let Ok(tag) = tag else {
            // Only a length beyond 64 GiB is refused; `pad` has refused it before.
            sealed.zeroize();
            return Err(TOO_LONG);
        };
        let mut envelope = Vec::with_capacity(sealed.len().saturating_add(HEADER_LEN + TAG_LEN));
        envelope.extend_from_slice(MAGIC);
        envelope.push(SUITE);
        envelope.extend_from_slice(&generation.to_be_bytes());
        envelope.extend_from_slice(&salt);
        envelope.extend_from_slice(message.commitment());
        envelope.extend_from_slice(&sealed);
        envelope.extend_from_slice(&tag);
        Ok(envelope)
    }

    #[cfg(test)]
    pub(super) fn open_padded(
        &self,
        generation: u32,
        associated: &[u8],
        envelope: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let message = self.message(envelope).ok_or(Error::Sealed)?;
        message.open_padded(generation, associated, envelope)
    }

    /// Returns the salt of a message: distinct for distinct messages even if the entropy repeats.
    pub(super) fn salt(&self, entropy: &[u8; 32], associated: &[u8], padded: &[u8]) -> [u8; 32] {
        let len = (associated.len() as u64).to_be_bytes();
        derive::mac(&self.hedge, &[entropy, &len, associated, padded])
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey")
    }
}

/// Returns the salt of an envelope, before anything is verified.
pub(super) fn salt_of(envelope: &[u8]) -> Option<&[u8]> {
    salt_and_commitment(envelope).map(|(salt, _)| salt)
}

fn salt_and_commitment(envelope: &[u8]) -> Option<(&[u8], &[u8])> {
    let (magic, rest) = envelope.split_at_checked(MAGIC.len())?;
    let (suite, rest) = rest.split_first()?;
    let (_, rest) = rest.split_at_checked(SALT_AT - GENERATION_AT)?;
    let (salt, rest) = rest.split_at_checked(SALT_LEN)?;
    let (commitment, _) = rest.split_at_checked(HEADER_LEN - COMMIT_AT)?;
    (magic == MAGIC && *suite == SUITE).then_some((salt, commitment))
}

/// The key, the nonce and the commitment of one message.
pub(super) struct MessageKeys(Zeroizing<[u8; MESSAGE_KEYS_LEN]>);

impl MessageKeys {
    fn derive(seal: &Secret, salt: &[u8]) -> Self {
        let mut bytes = Zeroizing::new([0; MESSAGE_KEYS_LEN]);
        let info = derive::info("seal-msg", &[&[SUITE], salt]);
        derive::expand_to(seal, &info, &mut *bytes);
        Self(bytes)
    }

    /// Takes the keys of the message in an envelope; `None` for those of another one.
    pub(super) fn of(bytes: &[u8], envelope: &[u8]) -> Option<Self> {
        let mut keys = Zeroizing::new([0; MESSAGE_KEYS_LEN]);
        if bytes.len() != keys.len() {
            return None;
        }
        keys.copy_from_slice(bytes);
        let (_, commitment) = salt_and_commitment(envelope)?;
        Some(Self(keys)).filter(|keys| keys.commits_to(commitment))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &*self.0
    }

    fn commits_to(&self, commitment: &[u8]) -> bool {
        bool::from(self.commitment().ct_eq(commitment))
    }

    /// Opens the value of the message.
    pub(super) fn open(
        &self,
        context: &Context<'_>,
        envelope: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let associated = context.associated_data();
        let mut padded = self.open_padded(context.generation, &associated, envelope)?;
        unpad(&mut padded).ok_or(Error::Sealed)?;
        Ok(padded)
    }

    fn open_padded(
        &self,
        generation: u32,
        associated: &[u8],
        envelope: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        if SealingKey::generation(envelope) != Some(generation) {
            return Err(Error::Sealed);
        }
        let (_, body) = envelope.split_at_checked(HEADER_LEN).ok_or(Error::Sealed)?;
        let end = body.len().checked_sub(TAG_LEN).ok_or(Error::Sealed)?;
        let (sealed, tag) = body.split_at(end);
        let tag: [u8; TAG_LEN] = tag.try_into().map_err(|_| Error::Sealed)?;
        let mut plaintext = Zeroizing::new(sealed.to_vec());
        self.cipher()
            .decrypt_inout_detached(
                (&self.nonce()).into(),
                associated,
                plaintext.as_mut_slice().into(),
                (&tag).into(),
            )
            .map_err(|_| Error::Sealed)?;
        Ok(plaintext)
    }

    fn parts(&self) -> (&[u8], &[u8], &[u8]) {
        let (key, rest) = self.0.split_at(32);
        let (nonce, commitment) = rest.split_at(12);
        (key, nonce, commitment)
    }

    fn cipher(&self) -> Aes256Gcm {
        let mut key = Zeroizing::new([0; 32]);
        key.copy_from_slice(self.parts().0);
        Aes256Gcm::new((&*key).into())
    }

    fn nonce(&self) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce.copy_from_slice(self.parts().1);
        nonce
    }

    fn commitment(&self) -> &[u8] {
        self.parts().2
    }
}

/// Returns the length, the value, and zeros up to the Padmé length.
fn pad(plaintext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    if plaintext.len() > PLAINTEXT_MAX {
        return Err(TOO_LONG);
    }
    let len = u32::try_from(plaintext.len()).map_err(|_| TOO_LONG)?;
    let padded_len = padme(plaintext.len().saturating_add(LEN_LEN));
    // The capacity is exact: a vector that grows leaves a copy behind.
    let mut padded = Zeroizing::new(Vec::with_capacity(padded_len));
    padded.extend_from_slice(&len.to_be_bytes());
    padded.extend_from_slice(plaintext);
    padded.resize(padded_len, 0);
    Ok(padded)
}

/// Takes length and padding away; `None` if they are not as [`pad`] makes them.
fn unpad(padded: &mut Zeroizing<Vec<u8>>) -> Option<()> {
    let (len, rest) = padded.split_first_chunk()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
    let zeros = rest.get(len..)?;
    if zeros.iter().any(|byte| *byte != 0) || padded.len() != padme(len.saturating_add(LEN_LEN)) {
        return None;
    }
    padded.drain(..LEN_LEN);
    // The bytes behind the end hold the last of the plaintext still: zeroed with the buffer.
    padded.truncate(len);
    Some(())
}

/// The length rounded up so that its logarithm's bits remain (Nikitin et al., PETS 2019).
pub(super) fn padme(len: usize) -> usize {
    let Some(exponent @ 1..) = len.checked_ilog2() else {
        return len;
    };
    let kept = exponent.ilog2().saturating_add(1);
    let step = 1_usize.checked_shl(exponent.saturating_sub(kept));
    len.checked_next_multiple_of(step.unwrap_or(1))
        .unwrap_or(len)
}

const LEN_LEN: usize = 4;

const TOO_LONG: Error = Error::Unsupported {
    what: "a sealed value of more than 64 MiB",
};
