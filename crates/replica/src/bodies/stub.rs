//! Stubs: a row has one in the place of a long frame, with the name and the key of its object.

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use grainstore::crypto::Random;
use grainstore_shared::Error;

use crate::Hash;

/// The place of a frame that lies in an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stub {
    /// The length of the frame.
    pub(super) len: u64,
    /// The name of the object, the hash of its bytes.
    pub(super) hash: Hash,
    /// The key of this object alone.
    key: [u8; KEY_LEN],
}

impl Stub {
    /// Seals a frame under a new key. Returns the bytes of the object with the stub that opens it.
    ///
    /// # Errors
    /// [`Error::Refused`] without randomness.
    pub(super) fn seal(frame: &[u8], random: &dyn Random) -> Result<(Self, Vec<u8>), Error> {
        let mut key = [0; KEY_LEN];
        random.fill(&mut key).map_err(Error::refused)?;
        let mut object = Vec::with_capacity(frame.len().saturating_add(TAG_LEN));
        object.extend_from_slice(frame);
        let cipher = Aes256Gcm::new((&key).into());
        let tag = cipher.encrypt_inout_detached((&NONCE).into(), b"", object.as_mut_slice().into());
        let tag = tag.map_err(|_| Error::refused("a frame is too long to be sealed"))?;
        object.extend_from_slice(&tag);
        let stub = Self {
            len: frame.len() as u64,
            hash: Hash::of(&object),
            key,
        };
        Ok((stub, object))
    }

    /// Returns the frame in the bytes of the object; `None` if they are not what was sealed.
    pub(super) fn open(&self, mut object: Vec<u8>) -> Option<Vec<u8>> {
        let end = object.len().checked_sub(TAG_LEN)?;
        let tag: [u8; TAG_LEN] = object.split_off(end).try_into().ok()?;
        let cipher = Aes256Gcm::new((&self.key).into());
        let opened = cipher.decrypt_inout_detached(
            (&NONCE).into(),
            b"",
            object.as_mut_slice().into(),
            (&tag).into(),
        );
        opened.ok().map(|()| object)
    }

    /// Returns the length of the object.
    pub(super) const fn object_len(&self) -> u64 {
        self.len.saturating_add(TAG_LEN as u64)
    }

    /// Returns the bytes of the row, which are as many for each stub: a row keeps its length.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.len.to_be_bytes());
        bytes.extend_from_slice(&self.hash.to_bytes());
        bytes.extend_from_slice(&self.key);
        bytes
    }

    /// Reads the bytes of a row; `None` for those of a frame.
    pub(super) fn parse(row: &[u8]) -> Option<Self> {
        let rest = row.strip_prefix(MAGIC)?;
        let (len, rest) = rest.split_first_chunk()?;
        let (hash, key) = rest.split_first_chunk()?;
        Some(Self {
            len: u64::from_be_bytes(*len),
            hash: Hash::new(*hash),
            key: key.try_into().ok()?,
        })
    }
}

impl std::fmt::Debug for Stub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stub({})", self.hash)
    }
}

/// A frame begins with `GFRM`.
const MAGIC: &[u8; 4] = b"GOBJ";
const KEY_LEN: usize = 32;
const TAG_LEN: usize = 16;
/// A key seals one object, so the nonce need not differ.
const NONCE: [u8; 12] = [0; 12];

#[cfg(test)]
mod tests {
    use grainstore::crypto::OsRandom;

    use super::*;

    #[test]
    fn a_stub_alone_opens_its_object() {
        let (stub, object) = Stub::seal(b"a frame", &OsRandom).unwrap();
        let (other, again) = Stub::seal(b"a frame", &OsRandom).unwrap();
        assert_ne!(stub.hash, other.hash, "objects have names of their own");
        assert_eq!(Stub::parse(&stub.to_bytes()), Some(stub));
        assert_eq!(stub.open(object.clone()), Some(b"a frame".to_vec()));
        assert_eq!(other.open(object.clone()), None);
        assert_eq!(stub.open(again), None);
        assert_eq!(object.len() as u64, stub.object_len());
        assert!(!object.windows(5).any(|bytes| bytes == b"frame"));
        for cut in 0..object.len() {
            assert_eq!(stub.open(object[..cut].to_vec()), None);
        }
    }

    #[test]
    fn a_frame_is_no_stub() {
        let (stub, _) = Stub::seal(b"", &OsRandom).unwrap();
        let bytes = stub.to_bytes();
        assert_eq!(Stub::parse(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Stub::parse(&[&bytes[..], b"x"].concat()), None);
        assert_eq!(Stub::parse(b"GFRM"), None);
    }
}
