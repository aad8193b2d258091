use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::Kind;
use super::field::{take, take_slice};

/// An entry to append; sequence, time, salt and commitment are the ledger's to add.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    /// What the entry records.
    pub kind: Kind,
    /// The sequence of the `actor` entry that says who acts.
    pub actor: Option<u64>,
    /// The content; opaque to the ledger.
    pub body: &'a [u8],
    /// SHA-256 of `body` if the caller knows it (a plain grain's content address), so that the
    /// body is not hashed twice. A wrong one makes an entry that reads as damaged.
    pub hash: Option<[u8; 32]>,
}

/// An entry as read, its body proven against its commitment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What the ledger says about the body.
    pub header: Header,
    /// The content.
    pub body: Cow<'a, [u8]>,
}

/// The 64 bytes before an entry's salt and body: all that leaves and proofs are made of.
///
/// ```
/// use grainstore::ledger::{Header, Kind};
///
/// let header = Header {
///     sequence: 0,
///     time_ms: 1_700_000_000_000,
///     actor: None,
///     body_len: 5,
///     kind: Kind::Grain,
///     commitment: [0; 32],
/// };
/// assert_eq!(header.to_bytes().len(), Header::LEN);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The place of the entry in the ledger, counted from 0 without gaps.
    pub sequence: u64,
    /// When it was appended, in milliseconds since 1970.
    pub time_ms: i64,
    /// The sequence of the `actor` entry that says who acted.
    pub actor: Option<u64>,
    /// The length of the body in bytes.
    pub body_len: u32,
    /// What the entry records.
    pub kind: Kind,
    /// SHA-256(0x02 ‖ salt ‖ SHA-256(body)).
    pub commitment: [u8; 32],
}

impl Header {
    /// The length of a header in bytes.
    pub const LEN: usize = 64;

    /// Returns the bytes of the header, as in the segment.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0..8].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.time_ms.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.actor.unwrap_or(NO_ACTOR).to_be_bytes());
        bytes[24..28].copy_from_slice(&self.body_len.to_be_bytes());
        bytes[28] = self.kind.to_byte();
        bytes[32..64].copy_from_slice(&self.commitment);
        bytes
    }

    /// Returns the leaf of this entry, given the leaf before it: SHA-256(0x00 ‖ leaf ‖ header).
    pub fn leaf(&self, previous: &[u8; 32]) -> [u8; 32] {
        leaf(previous, &self.to_bytes())
    }

    fn decode(bytes: &[u8; Self::LEN]) -> Result<Self, Fault> {
        let rest = &mut bytes.as_slice();
        let sequence = u64::from_be_bytes(take(rest).ok_or(SHORT)?);
        let time_ms = i64::from_be_bytes(take(rest).ok_or(SHORT)?);
        let actor = u64::from_be_bytes(take(rest).ok_or(SHORT)?);
        let body_len = u32::from_be_bytes(take(rest).ok_or(SHORT)?);
        let [kind] = take(rest).ok_or(SHORT)?;
        let reserved: [u8; 3] = take(rest).ok_or(SHORT)?;
        let commitment = take(rest).ok_or(SHORT)?;
        if reserved != [0; 3] {
            return Err(Fault::Broken("reserved bytes of an entry are set"));
        }
        Ok(Self {
            sequence,
            time_ms,
            actor: (actor != NO_ACTOR).then_some(actor),
            body_len,
            kind: Kind::from_byte(kind).ok_or(Fault::NewerKind { kind, sequence })?,
            commitment,
        })
    }
}

/// An entry as it lies in the segment: cut out, not yet believed.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawEntry<'a> {
    pub(super) header: &'a [u8; Header::LEN],
    salt: &'a [u8; SALT_LEN],
    body: &'a [u8],
}

impl<'a> RawEntry<'a> {
    /// Cuts the next entry off `rest`; none if `rest` is too short for it.
    pub(super) fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let (header, after) = rest.split_first_chunk()?;
        let (salt, mut after) = after.split_first_chunk()?;
        let body = take_slice(&mut after, usize::try_from(extent(header)?.1).ok()?)?;
        *rest = after;
        Some(Self { header, salt, body })
    }

    pub(super) fn sequence(&self) -> Option<u64> {
        Some(extent(self.header)?.0)
    }

    /// Returns the entry, if its header is understood and its body is the one committed to.
    pub(super) fn open(&self) -> Result<Entry<'a>, Fault> {
        let header = Header::decode(self.header)?;
        Ok(Entry {
            header,
            body: Cow::Borrowed(self.body(&header)?),
        })
    }

    /// Returns the body. The only place that judges one: a redacted entry, blank and listed by a
    /// durable erasure, will be told from damage here.
    fn body(&self, header: &Header) -> Result<&'a [u8], Fault> {
        let inner: [u8; 32] = Sha256::digest(self.body).into();
        if commitment(self.salt, &inner) == header.commitment {
            Ok(self.body)
        } else if self.salt.iter().chain(self.body).all(|byte| *byte == 0) {
            Err(Fault::Broken("entry is blank and no erasure lists it"))
        } else {
            Err(Fault::Broken("body does not match its commitment"))
        }
    }
}

/// Why bytes are not a frame or entry of this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Broken(&'static str),
    /// The bytes hold together, but their kind was added after this version.
    NewerKind {
        kind: u8,
        sequence: u64,
    },
}

/// Returns the sequence and body length that a header declares.
pub(super) fn extent(header: &[u8; Header::LEN]) -> Option<(u64, u32)> {
    let mut rest = header.as_slice();
    let sequence = take(&mut rest)?;
    let _time_and_actor: [u8; 16] = take(&mut rest)?;
    let body_len = take(&mut rest)?;
    Some((u64::from_be_bytes(sequence), u32::from_be_bytes(body_len)))
}

/// Returns what binds a body to its header; the salt keeps a redacted body from being guessed.
pub(super) fn commitment(salt: &[u8; SALT_LEN], inner: &[u8; 32]) -> [u8; 32] {
    let hash = Sha256::new().chain_update([0x02]).chain_update(salt);
    hash.chain_update(inner).finalize().into()
}

pub(super) fn leaf(previous: &[u8; 32], header: &[u8; Header::LEN]) -> [u8; 32] {
    let hash = Sha256::new().chain_update([0x00]).chain_update(previous);
    hash.chain_update(header).finalize().into()
}

pub(super) const SALT_LEN: usize = 16;

/// The length of an entry without its body.
pub(super) const OVERHEAD: usize = Header::LEN + SALT_LEN;

/// 64 MiB; one body is held in memory whole.
pub(super) const BODY_MAX: usize = 64 << 20;

const NO_ACTOR: u64 = u64::MAX;
const SHORT: Fault = Fault::Broken("ends inside an entry header");
