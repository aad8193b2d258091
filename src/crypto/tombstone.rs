//! Keyed marks of what was deleted, which do not reveal it (OMS 28.4).

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::codec::ContentAddress;
use crate::grain::ForeignId;

/// The key of the marks that deleted grains leave behind.
///
/// A mark recognizes a deleted grain that comes again, and reveals nothing without the key: the
/// input of a plain hash of an address or of a name could be guessed.
pub(crate) struct TombstoneKey(Zeroizing<[u8; 32]>);

impl TombstoneKey {
    /// Wraps 32 secret bytes.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Returns the mark of a grain.
    pub(crate) fn of_address(&self, address: &ContentAddress) -> [u8; 32] {
        self.mark(1, &[address.as_bytes()])
    }

    /// Returns the mark of the identifier that a grain has in a foreign format.
    pub(crate) fn of_foreign_id(&self, id: &ForeignId) -> [u8; 32] {
        self.mark(2, &id.parts().map(str::as_bytes))
    }

    /// Returns the mark by which an item or a path of a tree of notes is known again.
    #[cfg(feature = "interchange")]
    pub(crate) fn of_note(&self, scope: &str, digest: &str) -> [u8; 32] {
        self.mark(3, &[scope.as_bytes(), digest.as_bytes()])
    }

    /// Returns the mark of a turn of a conversation with an agent, whatever grain says it.
    pub(crate) fn of_turn(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.mark(4, parts)
    }

    fn mark(&self, domain: u8, parts: &[&[u8]]) -> [u8; 32] {
        // HMAC-SHA256 takes keys of every length; this one has 32 bytes.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&*self.0) else {
            return [0; 32];
        };
        mac.update(&[domain]);
        for part in parts {
            // Lengths, so that parts cannot run into each other.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for TombstoneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TombstoneKey")
    }
}
