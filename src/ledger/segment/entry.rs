//! Entries: header, salt and body, and the commitment that binds them (docs/format.md, "Entries").
//!
//! The only place that decides whether a body is the one its header commits to. Whether an erasure
//! accounts for a body that is not, the callers decide.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest, Sha256};

use super::field::{take, take_slice};
use crate::ledger::{EntryId, Kind};

/// An entry to append. The ledger adds sequence and time.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    /// The kind of record.
    pub kind: Kind,
    /// The sequence of the `actor` entry of the one who acts.
    pub actor: Option<EntryId>,
    /// The content; opaque to the ledger.
    pub body: &'a [u8],
    /// The salt and commitment of `body`. With those of another body the entry reads as damaged.
    pub binding: Binding,
}

/// A salt, and the commitment to salt and body that binds the body to its header.
///
/// It is computed before the append, so that no thread hashes under the lock of the writer.
///
/// ```
/// use grainstore::ledger::Binding;
///
/// let binding = Binding::of([7; 16], b"a blob"); // the salt is random in earnest
/// assert_eq!(format!("{binding:?}"), "Binding");
/// ```
#[derive(Clone, Copy)]
pub struct Binding {
    pub(in crate::ledger) salt: [u8; SALT_LEN],
    pub(in crate::ledger) commitment: [u8; 32],
}

impl Binding {
    /// The length of a salt in bytes.
    pub const SALT_LEN: usize = SALT_LEN;

    /// Binds a body of which the SHA-256 is known (a plain grain's content address).
    ///
    /// `salt` is unpredictable random bytes. It prevents the body of a redacted entry from being
    /// found by trial.
    pub fn new(salt: [u8; Self::SALT_LEN], hash: &[u8; 32]) -> Self {
        Self {
            salt,
            commitment: commitment(&salt, hash),
        }
    }

    /// Returns the binding of the entry after its redaction: the header keeps the commitment.
    pub(crate) const fn blank(self) -> Self {
        Self {
            salt: [0; SALT_LEN],
            ..self
        }
    }

    /// Returns whether it binds the body that has the SHA-256 `hash`.
    pub(crate) fn binds(&self, hash: &[u8; 32]) -> bool {
        commitment(&self.salt, hash) == self.commitment
    }

    pub(in crate::ledger) fn is_blank(&self) -> bool {
        self.salt == [0; SALT_LEN]
    }

    /// Binds a body.
    pub fn of(salt: [u8; Self::SALT_LEN], body: &[u8]) -> Self {
        Self::new(salt, &Sha256::digest(body).into())
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The salt never leaves the store.
        f.write_str("Binding")
    }
}

/// An entry as read, its body proven against its commitment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The header.
    pub header: EntryHeader,
    /// The content.
    pub body: Cow<'a, [u8]>,
    /// The SHA-256 of the content: of a plain grain its address.
    pub hash: [u8; 32],
}

/// The 64 bytes before an entry's salt and body. Leaves and proofs are made of headers only.
///
/// ```
/// use grainstore::ledger::{EntryHeader, EntryId, Kind};
///
/// let header = EntryHeader {
///     sequence: EntryId::new(0),
///     time_ms: 1_700_000_000_000,
///     actor: None,
///     body_len: 5,
///     kind: Kind::Grain,
///     commitment: [0; 32],
/// };
/// assert_eq!(header.to_bytes().len(), EntryHeader::LEN);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryHeader {
    /// The sequence number of the entry.
    pub sequence: EntryId,
    /// When it was appended, in milliseconds since 1970.
    pub time_ms: i64,
    /// The sequence of the `actor` entry of the one who acted.
    pub actor: Option<EntryId>,
    /// The length of the body in bytes.
    pub body_len: u32,
    /// The kind of record.
    pub kind: Kind,
    /// SHA-256(0x02 ‖ salt ‖ SHA-256(body)).
    pub commitment: [u8; 32],
}

impl EntryHeader {
    /// The length of a header in bytes.
    pub const LEN: usize = 64;

    /// Returns the bytes of the header, as in the segment.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0..8].copy_from_slice(&self.sequence.get().to_be_bytes());
        bytes[8..16].copy_from_slice(&self.time_ms.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.actor.map_or(NO_ACTOR, EntryId::get).to_be_bytes());
        bytes[24..28].copy_from_slice(&self.body_len.to_be_bytes());
        bytes[28] = self.kind.to_byte();
        bytes[32..64].copy_from_slice(&self.commitment);
        bytes
    }

    /// Returns the leaf of this entry, given the leaf before it: SHA-256(0x00 ‖ leaf ‖ header).
    pub fn leaf(&self, previous: &[u8; 32]) -> [u8; 32] {
        leaf(previous, &self.to_bytes())
    }

    pub(in crate::ledger) fn decode(bytes: &[u8; Self::LEN]) -> Result<Self, Fault> {
        let rest = &mut bytes.as_slice();
        let sequence = EntryId::new(u64::from_be_bytes(take(rest).ok_or(SHORT)?));
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
            actor: (actor != NO_ACTOR).then_some(EntryId::new(actor)),
            body_len,
            kind: Kind::from_byte(kind).ok_or(Fault::NewerKind { kind, sequence })?,
            commitment,
        })
    }
}

/// An entry as it lies in the segment, not yet proven.
#[derive(Debug, Clone, Copy)]
pub(in crate::ledger) struct RawEntry<'a> {
    pub(in crate::ledger) header: &'a [u8; EntryHeader::LEN],
    pub(super) salt: &'a [u8; SALT_LEN],
    pub(super) body: &'a [u8],
}

impl<'a> RawEntry<'a> {
    /// Takes the next entry off `rest`; `None` if `rest` is too short for it.
    pub(in crate::ledger) fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let (header, after) = rest.split_first_chunk()?;
        let (salt, mut after) = after.split_first_chunk()?;
        let body = take_slice(
            &mut after,
            usize::try_from(declared_extent(header)?.1).ok()?,
        )?;
        *rest = after;
        Some(Self { header, salt, body })
    }

    /// Returns the length of header, salt and body.
    pub(in crate::ledger) const fn len(&self) -> usize {
        OVERHEAD + self.body.len()
    }

    pub(in crate::ledger) fn sequence(&self) -> Option<u64> {
        Some(declared_extent(self.header)?.0)
    }

    /// Returns its salt, with the commitment in its header.
    pub(in crate::ledger) const fn binding(&self, header: &EntryHeader) -> Binding {
        Binding {
            salt: *self.salt,
            commitment: header.commitment,
        }
    }

    /// Returns its time, in milliseconds since 1970.
    pub(in crate::ledger) fn time_ms(&self) -> Option<i64> {
        let mut rest = self.header.get(8..)?;
        Some(i64::from_be_bytes(take(&mut rest)?))
    }

    /// Returns the entry, if its header can be decoded and its body is the one it commits to.
    pub(in crate::ledger) fn open(&self) -> Result<Entry<'a>, Fault> {
        let header = EntryHeader::decode(self.header)?;
        let hash = self.prove(&header)?;
        let body = Cow::Borrowed(self.body);
        Ok(Entry { header, body, hash })
    }

    /// Proves the body and returns its SHA-256. Invariant: no body leaves the ledger without this
    /// check or one of its address.
    fn prove(&self, header: &EntryHeader) -> Result<[u8; 32], Fault> {
        let inner = Sha256::digest(self.body).into();
        if commitment(self.salt, &inner) == header.commitment {
            Ok(inner)
        } else {
            Err(Fault::Body {
                blank: self.is_zero(),
            })
        }
    }

    /// Returns whether salt and body are all zero, as redaction leaves them.
    pub(in crate::ledger) fn is_zero(&self) -> bool {
        self.salt.iter().chain(self.body).all(|byte| *byte == 0)
    }
}

/// The reason why bytes are not an entry of this store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ledger) enum Fault {
    Broken(&'static str),
    /// The header is valid, and the body is not the one it commits to.
    Body {
        blank: bool,
    },
    /// The entry is of a kind that was added after this version.
    NewerKind {
        kind: u8,
        sequence: EntryId,
    },
}

/// Returns the fault of a body that is not proven and that no erasure lists.
pub(in crate::ledger) const fn body_fault(blank: bool) -> &'static str {
    if blank {
        "entry is blank and no erasure lists it"
    } else {
        "body does not match its commitment"
    }
}

/// Returns the sequence and body length that a header declares.
pub(in crate::ledger) fn declared_extent(header: &[u8; EntryHeader::LEN]) -> Option<(u64, u32)> {
    let mut rest = header.as_slice();
    let sequence = take(&mut rest)?;
    let _time_and_actor: [u8; 16] = take(&mut rest)?;
    let body_len = take(&mut rest)?;
    Some((u64::from_be_bytes(sequence), u32::from_be_bytes(body_len)))
}

/// Returns the commitment: SHA-256(0x02 ‖ salt ‖ SHA-256(body)).
pub(in crate::ledger) fn commitment(salt: &[u8; SALT_LEN], inner: &[u8; 32]) -> [u8; 32] {
    let hash = Sha256::new().chain_update([0x02]).chain_update(salt);
    hash.chain_update(inner).finalize().into()
}

pub(in crate::ledger) fn leaf(previous: &[u8; 32], header: &[u8; EntryHeader::LEN]) -> [u8; 32] {
    let hash = Sha256::new().chain_update([0x00]).chain_update(previous);
    hash.chain_update(header).finalize().into()
}

pub(super) const SALT_LEN: usize = 16;

/// The length of an entry without its body.
pub(in crate::ledger) const OVERHEAD: usize = EntryHeader::LEN + SALT_LEN;

/// 64 MiB: a body is held in memory whole.
pub(super) const BODY_MAX: usize = 64 << 20;

const NO_ACTOR: u64 = u64::MAX;
const SHORT: Fault = Fault::Broken("ends inside an entry header");
