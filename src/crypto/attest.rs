//! Signed statements about a ledger: checkpoints, and receipts for grains and for erasures.
//!
//! The store fills them in and compares them with its own ledger.

use sha2::{Digest, Sha256};

use crate::codec::{ContentAddress, Encoding, Map, Profile, Value};
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

/// A statement that a person was erased from a store: the erased grains, those that were kept and
/// why, and the place in the ledger.
///
/// It attests the erasure in this store at that time. It proves neither that no copy is elsewhere,
/// nor that free text of other grains does not speak of the person.
///
/// ```
/// use grainstore::crypto::{Algorithm, ErasureReceipt, Offline, OsRandom, SigningKey};
/// use grainstore::store::{Authorization, ErasureScope, Person};
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let note = store.put(Draft::event("likes tea").user("alice"))?;
/// let asked = Authorization { reason: "request 17", authority: "the DPO" };
/// let admin = store.admin()?;
/// let done = admin.erase_person(&Person::new("alice"), ErasureScope::default(), asked)?;
///
/// let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
/// let message = admin.erasure_receipt(&done, &key, &key.did())?;
/// let (receipt, signer) = ErasureReceipt::open(&message, &Offline)?;
/// assert!(receipt.names("alice") && !receipt.names("bob"));
/// assert_eq!((receipt.erased, receipt.root), (1, ErasureReceipt::root_of(&[note])));
/// assert_eq!(signer.did, key.did());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureReceipt {
    /// The store id.
    pub store: [u8; 16],
    /// 32 random bytes, which are nowhere else: without them the commitments name no person.
    pub nonce: [u8; 32],
    /// For each identifier of the person, SHA-256(nonce ‖ identifier).
    pub persons: Vec<[u8; 32]>,
    /// When the erasure was complete, by the store's clock.
    pub time: Time,
    /// The number of entries of the ledger then.
    pub entries: u64,
    /// The last leaf of the ledger then.
    pub head: [u8; 32],
    /// The root of the Merkle tree over the leaves of the ledger then; `None` in receipts of earlier
    /// versions.
    pub tree: Option<[u8; 32]>,
    /// For each entry that began the erasure, its proof under that root: the header, the leaf before
    /// and the path, one behind the other.
    pub proofs: Vec<Vec<u8>>,
    /// The entries that began the erasure.
    pub begun: Vec<u64>,
    /// The number of erased grains.
    pub erased: u64,
    /// The root over their addresses ([`ErasureReceipt::root_of`]).
    pub root: [u8; 32],
    /// The number of blanked entries: the grains, and entries about them.
    pub blanked: u64,
    /// The grains that were kept, each with the name of the rule.
    pub kept: Vec<(ContentAddress, String)>,
    /// The number of grains that mention the person and stay.
    pub mentions: u64,
    /// The number of other sealed persons who were locked, whose grains were not looked into.
    pub locked_persons: u64,
    /// The number of records that name the person and stay.
    pub records: u64,
    /// Of a sealed person: the epoch of the root before and after.
    pub epochs: Option<(u64, u64)>,
    /// Of a sealed person: the check value of the destroyed key.
    pub key_check: Option<[u8; 32]>,
    /// Of a sealed person: the escrows that still hold an older root, each with its end.
    pub escrows: Vec<(String, Time)>,
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

impl ErasureReceipt {
    /// Checks the signature of a message and returns its content and its signer.
    ///
    /// # Errors
    /// As [`Checkpoint::open`].
    pub fn open(message: &[u8], resolver: &dyn Resolver) -> Result<(Self, Signer), Error> {
        let (map, signer) = open(ERASURE, message, resolver)?;
        Ok((Self::from_map(&map).ok_or(NOT_ONE)?, signer))
    }

    /// Returns whether the person of the erasure has an identifier.
    pub fn names(&self, identifier: &str) -> bool {
        let commitment = Self::commitment(&self.nonce, identifier);
        self.persons.contains(&commitment)
    }

    pub(crate) fn commitment(nonce: &[u8; 32], identifier: &str) -> [u8; 32] {
        let hash = Sha256::new().chain_update(nonce);
        hash.chain_update(identifier).finalize().into()
    }

    /// Returns the root of the Merkle tree (RFC 9162, 2.1) over addresses in ascending order: a
    /// leaf is SHA-256(0x00 ‖ address).
    pub fn root_of(addresses: &[ContentAddress]) -> [u8; 32] {
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let leaf = |address: &ContentAddress| {
            let hash = Sha256::new().chain_update([0x00]);
            hash.chain_update(address.as_bytes()).finalize().into()
        };
        let mut level: Vec<[u8; 32]> = addresses.iter().map(leaf).collect();
        while level.len() > 1 {
            // The odd one moves up as it is, which is the split at a power of two.
            let node = |pair: &[[u8; 32]]| match pair {
                [left, right] => {
                    let hash = Sha256::new().chain_update([0x01]);
                    hash.chain_update(left)
                        .chain_update(right)
                        .finalize()
                        .into()
                }
                _ => pair.first().copied().unwrap_or_default(),
            };
            level = level.chunks(2).map(node).collect();
        }
        let root = level.pop();
        root.unwrap_or_else(|| Sha256::digest([]).into())
    }

    fn from_map(map: &Map) -> Option<Self> {
        let list = |key: &str| match map.get(key) {
            Some(value) => value.as_array(),
            None => Some(&[][..]),
        };
        let hash = |value: &Value| value.as_bytes()?.try_into().ok();
        let path = |value: &Value| value.as_bytes().map(<[u8]>::to_vec);
        let number = |value: &Value| u64::try_from(value.as_i64()?).ok();
        Some(Self {
            store: bytes(map, "store")?,
            nonce: bytes(map, "nonce")?,
            persons: list("persons")?.iter().map(hash).collect::<Option<_>>()?,
            time: Time::from_ms(map.get("time")?.as_i64()?),
            entries: count(map, "entries")?,
            head: bytes(map, "head")?,
            tree: match map.get("tree") {
                Some(value) => Some(hash(value)?),
                None => None,
            },
            proofs: list("proofs")?.iter().map(path).collect::<Option<_>>()?,
            begun: list("begun")?.iter().map(number).collect::<Option<_>>()?,
            erased: count(map, "erased")?,
            root: bytes(map, "root")?,
            blanked: count(map, "blanked")?,
            kept: pairs(list("kept")?, |address, rule| {
                let address = ContentAddress::new(hash(address)?);
                Some((address, rule.as_text()?.to_owned()))
            })?,
            mentions: count(map, "mentions")?,
            locked_persons: match map.contains("locked") {
                true => count(map, "locked")?,
                false => 0,
            },
            records: count(map, "records")?,
            epochs: match list("epochs")? {
                [] => None,
                [before, after] => Some((number(before)?, number(after)?)),
                _ => return None,
            },
            key_check: match map.get("kcv") {
                Some(value) => Some(hash(value)?),
                None => None,
            },
            escrows: pairs(list("escrows")?, |name, end| {
                Some((name.as_text()?.to_owned(), Time::from_ms(end.as_i64()?)))
            })?,
        })
    }
}

/// Reads a list of pairs.
fn pairs<T>(list: &[Value], read: impl Fn(&Value, &Value) -> Option<T>) -> Option<Vec<T>> {
    let pair = |value: &Value| match value.as_array()? {
        [one, other] => read(one, other),
        _ => None,
    };
    list.iter().map(pair).collect()
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
pub(super) const ERASURE: &str = "application/vnd.grainstore.erasure+msgpack";
pub(super) const RECEIPT: &str = "application/vnd.grainstore.receipt+msgpack";
