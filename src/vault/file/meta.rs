//! The one row about the vault itself: whose it is, which root opens it, how its key is made.

use sha2::{Digest, Sha256};

use crate::crypto::PassphraseParams;

/// The row, of 81 bytes. Its check tells a damaged row from another master key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) store: [u8; 16],
    /// By which the store knows its master key.
    pub(crate) key_check: [u8; 16],
    /// The epoch of the root that opens the buckets.
    pub(crate) epoch: u64,
    /// The binary logarithm of the number of buckets.
    pub(crate) bits: u8,
    /// Where a passphrase makes the master key.
    pub(crate) passphrase: Option<PassphraseParams>,
}

const VERSION: u8 = 1;
const CONTENT_LEN: usize = 1 + 16 + 16 + 8 + 1 + 1 + 12 + 16;

/// 4 million buckets would serve 10^13 persons.
const BITS_MAX: u8 = 22;

impl Meta {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.store);
        bytes.extend_from_slice(&self.key_check);
        bytes.extend_from_slice(&self.epoch.to_be_bytes());
        bytes.push(self.bits);
        bytes.push(u8::from(self.passphrase.is_some()));
        let params = self.passphrase.unwrap_or(PassphraseParams {
            memory_kib: 0,
            passes: 0,
            lanes: 0,
            salt: [0; 16],
        });
        for number in [params.memory_kib, params.passes, params.lanes] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&params.salt);
        let sum = check(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }

    /// Reads the row; `None` if it is not one that was written.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (content, stated) = bytes.split_at_checked(CONTENT_LEN)?;
        let (version, rest) = content.split_first()?;
        let (store, rest) = rest.split_first_chunk()?;
        let (key_check, rest) = rest.split_first_chunk()?;
        let (epoch, rest) = rest.split_first_chunk()?;
        let ([bits, has_passphrase], rest) = rest.split_first_chunk()?;
        let (memory, rest) = rest.split_first_chunk()?;
        let (passes, rest) = rest.split_first_chunk()?;
        let (lanes, salt) = rest.split_first_chunk()?;
        let is_sound = check(content) == stated && *version == VERSION && *bits <= BITS_MAX;
        let params = PassphraseParams {
            memory_kib: u32::from_be_bytes(*memory),
            passes: u32::from_be_bytes(*passes),
            lanes: u32::from_be_bytes(*lanes),
            salt: salt.try_into().ok()?,
        };
        is_sound.then_some(Self {
            store: *store,
            key_check: *key_check,
            epoch: u64::from_be_bytes(*epoch),
            bits: *bits,
            passphrase: (*has_passphrase == 1).then_some(params),
        })
    }

    /// Returns the number of buckets.
    pub(crate) const fn buckets(&self) -> u32 {
        1 << self.bits
    }
}

fn check(bytes: &[u8]) -> [u8; 8] {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    let [a, b, c, d, e, f, g, h, ..] = hash;
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_comes_back_and_no_flipped_bit_of_it_is_read() {
        let mut meta = Meta {
            store: [1; 16],
            key_check: [2; 16],
            epoch: 3,
            bits: 4,
            passphrase: None,
        };
        assert_eq!(Meta::decode(&meta.encode()), Some(meta));
        meta.passphrase = Some(PassphraseParams {
            memory_kib: 5,
            passes: 6,
            lanes: 7,
            salt: [8; 16],
        });
        let bytes = meta.encode();
        assert_eq!(Meta::decode(&bytes), Some(meta));
        for at in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            *flipped.get_mut(at / 8).unwrap() ^= 1 << (at % 8);
            assert_eq!(Meta::decode(&flipped), None, "bit {at}");
        }
    }
}
