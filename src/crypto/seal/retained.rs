//! The keys of single messages, which outlive the key that made them: what they open stays readable
//! when that key is destroyed, and nothing else that it has sealed does.

use std::fmt;

use zeroize::Zeroizing;

use crate::crypto::Error;

use super::context::Context;
use super::envelope::{HEADER_LEN, MESSAGE_KEYS_LEN, MessageKeys, SALT_LEN, SealingKey, salt_of};

/// The keys of single messages, by the salt of their envelope.
#[derive(Default)]
pub struct RetainedKeys {
    /// Salt and keys of each message, one behind the other, in the order of the salts.
    parts: Vec<Zeroizing<Vec<u8>>>,
}

impl RetainedKeys {
    /// The bytes of an envelope that say which keys are those of its message.
    pub(crate) const HEADER_LEN: usize = HEADER_LEN;

    /// Collects keys of messages; their number is at most that of the envelopes.
    pub(crate) fn collect(
        count: usize,
        fill: impl FnOnce(&mut Collected) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut collected = Collected {
            // The capacity is exact: a vector that grows leaves a copy behind.
            bytes: Zeroizing::new(Vec::with_capacity(count.saturating_mul(RECORD_LEN))),
        };
        fill(&mut collected)?;
        let (records, _) = collected.bytes.as_chunks_mut::<RECORD_LEN>();
        records.sort_unstable();
        let parts = collected.bytes.chunks(PART_RECORDS * RECORD_LEN);
        let parts = parts.map(|part| Zeroizing::new(part.to_vec()));
        Ok(Self {
            parts: parts.collect(),
        })
    }

    /// Takes back what [`RetainedKeys::parts`] gave; `None` for bytes that are no part.
    pub(crate) fn from_parts(parts: Vec<Zeroizing<Vec<u8>>>) -> Option<Self> {
        let is_whole = |part: &Zeroizing<Vec<u8>>| part.len().is_multiple_of(RECORD_LEN);
        parts.iter().all(is_whole).then_some(Self { parts })
    }

    /// Returns whether no message has its keys here.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the keys as bytes, in parts that can be sealed.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().map(|part| part.as_slice())
    }

    /// Opens a value whose message has its key here.
    ///
    /// # Errors
    /// `ERR_SEALED`, the same for a missing key, another place and any damage.
    pub(crate) fn open(
        &self,
        context: &Context<'_>,
        envelope: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        let message = self.message(envelope).ok_or(Error::Sealed)?;
        message.open(context, envelope)
    }

    fn message(&self, envelope: &[u8]) -> Option<MessageKeys> {
        let salt = salt_of(envelope)?;
        self.parts.iter().find_map(|part| {
            let (records, _) = part.as_chunks::<RECORD_LEN>();
            let found = records.binary_search_by(|record| record[..SALT_LEN].cmp(salt));
            let (_, keys) = records.get(found.ok()?)?.split_at(SALT_LEN);
            MessageKeys::of(keys, envelope)
        })
    }
}

/// Keys of messages that are being collected.
pub(crate) struct Collected {
    bytes: Zeroizing<Vec<u8>>,
}

impl Collected {
    /// Adds the keys of the message in an envelope that `key` has sealed.
    ///
    /// # Errors
    /// `ERR_SEALED` for an envelope of another key.
    pub(crate) fn add(&mut self, key: &SealingKey, envelope: &[u8]) -> Result<(), Error> {
        let message = key.message(envelope).ok_or(Error::Sealed)?;
        self.push(envelope, &message)
    }

    /// Adds the keys of a message that are retained already.
    ///
    /// # Errors
    /// `ERR_SEALED` for a message without keys there.
    pub(crate) fn add_again(
        &mut self,
        retained: &RetainedKeys,
        envelope: &[u8],
    ) -> Result<(), Error> {
        let message = retained.message(envelope).ok_or(Error::Sealed)?;
        self.push(envelope, &message)
    }

    fn push(&mut self, envelope: &[u8], message: &MessageKeys) -> Result<(), Error> {
        self.bytes
            .extend_from_slice(salt_of(envelope).ok_or(Error::Sealed)?);
        self.bytes.extend_from_slice(message.as_bytes());
        Ok(())
    }
}

impl fmt::Debug for RetainedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RetainedKeys")
    }
}

/// A salt and the keys of its message.
const RECORD_LEN: usize = SALT_LEN + MESSAGE_KEYS_LEN;

/// Records of a part, of 27 MiB: a sealed value has at most 64.
const PART_RECORDS: usize = 1 << 18;
