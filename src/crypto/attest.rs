//! Signed statements about a ledger: checkpoints and receipts.
//!
//! The store fills them in and compares them with its own ledger.

use crate::codec::{ContentAddress, Encoding, Map, Profile};
use crate::grain::Time;

use super::{Error, Resolver, Sign1, Signer};

/// The state of a ledger at one moment, to be signed (a tree head of RFC 9162).
///
/// A copy kept elsewhere proves two things that nothing inside the store can: that the store was
/// set back to an earlier state, or that its past was rewritten.
///
/// ```
/// use grainstore::crypto::{Algorithm, Checkpoint, Offline, OsRandom, SigningKey};
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::event("hello"))?;
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let message = store.maintenance()?.checkpoint(&key, &key.did())?;
/// let (checkpoint, signer) = Checkpoint::open(&message, &Offline)?;
/// assert_eq!((checkpoint.entries, signer.did), (1, key.did()));
/// assert!(store.maintenance()?.verify_checkpoint(&message)?.is_of_this_ledger);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The store id.
    pub store: [u8; 16],
    /// The number of entries.
    pub entries: u64,
    /// The last leaf.
    pub head: [u8; 32],
    /// The root of the Merkle tree over the leaves.
    pub root: [u8; 32],
    /// When, by the store's clock.
    pub time: Time,
    /// SHA-256 of the checkpoint before, if there is one.
    pub previous: Option<[u8; 32]>,
}

/// A statement that a grain was durable in a store at one moment.
///
/// ```
/// use grainstore::crypto::{Algorithm, Offline, OsRandom, Receipt, SigningKey};
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::event("hello"))?;
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let message = store.maintenance()?.receipt(&address, &key, &key.did())?;
/// let (receipt, _) = Receipt::open(&message, &Offline)?;
/// assert_eq!((receipt.grain, receipt.sequence), (address, 0));
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The store id.
    pub store: [u8; 16],
    /// The grain.
    pub grain: ContentAddress,
    /// The sequence of its entry in the ledger.
    pub sequence: u64,
    /// When the entry was written, by the store's clock.
    pub time: Time,
}

impl Checkpoint {
    /// Checks the signature of a message and returns its content and its signer.
    ///
    /// # Errors
    /// As [`Sign1::parse`] and [`Sign1::verify`]; `ERR_CORRUPT` for a message of another kind.
    pub fn open(message: &[u8], resolver: &dyn Resolver) -> Result<(Self, Signer), Error> {
        let (map, signer) = open(CHECKPOINT, message, resolver)?;
        let read = || {
            Some(Self {
                store: bytes(&map, "store")?,
                entries: count(&map, "entries")?,
                head: bytes(&map, "head")?,
                root: bytes(&map, "root")?,
                time: Time::from_ms(map.get("time")?.as_i64()?),
                previous: match map.get("prev") {
                    Some(_) => Some(bytes(&map, "prev")?),
                    None => None,
                },
            })
        };
        Ok((read().ok_or(NOT_ONE)?, signer))
    }
}

impl Receipt {
    /// Checks the signature of a message and returns its content and its signer.
    ///
    /// # Errors
    /// As [`Checkpoint::open`].
    pub fn open(message: &[u8], resolver: &dyn Resolver) -> Result<(Self, Signer), Error> {
        let (map, signer) = open(RECEIPT, message, resolver)?;
        let read = || {
            Some(Self {
                store: bytes(&map, "store")?,
                grain: ContentAddress::new(bytes(&map, "grain")?),
                sequence: count(&map, "sequence")?,
                time: Time::from_ms(map.get("time")?.as_i64()?),
            })
        };
        Ok((read().ok_or(NOT_ONE)?, signer))
    }
}

fn open(kind: &str, message: &[u8], resolver: &dyn Resolver) -> Result<(Map, Signer), Error> {
    let message = Sign1::parse(message)?;
    // A signature for another purpose proves nothing here.
    let payload = message
        .payload()
        .filter(|_| message.content_type() == Some(kind));
    let payload = payload.ok_or(NOT_ONE)?;
    let signer = message.verify(payload, resolver)?;
    let map = Encoding::MessagePack.decode(payload, Profile::Extended)?;
    Ok((map.into_map(), signer))
}

fn bytes<const N: usize>(map: &Map, key: &str) -> Option<[u8; N]> {
    map.get(key)?.as_bytes()?.try_into().ok()
}

fn count(map: &Map, key: &str) -> Option<u64> {
    map.get(key)?.as_i64()?.try_into().ok()
}

const NOT_ONE: Error = Error::Envelope {
    reason: "not a statement of this kind",
};

pub(super) const CHECKPOINT: &str = "application/vnd.grainstore.checkpoint+msgpack";
pub(super) const RECEIPT: &str = "application/vnd.grainstore.receipt+msgpack";
