//! The nine bytes before every payload: version, flags, type, namespace hash, time (OMS 3.1).
//!
//! Whether a header agrees with its payload is judged in `grain`, which knows the fields.

use std::cell::RefCell;

use sha2::{Digest, Sha256};

use super::{Encoding, Error};

/// The nine bytes before a payload (OMS 3.1): routing hints that are part of what is hashed.
///
/// ```
/// use grainstore::codec::{Header, Sensitivity};
///
/// let header = Header::read(&[1, 0x80, 1, 0xa4, 0xd2, 0x69, 0x68, 0xba, 0xa0, 0x80])?;
/// assert_eq!(header.sensitivity(), Sensitivity::Pii);
/// assert_eq!(header.created_at_sec, 1_768_471_200);
/// assert_eq!(header.namespace_hash, Header::hash_namespace(Some("shared")));
/// # Ok::<(), grainstore::codec::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Flag bits (OMS 3.1.1).
    pub flags: Flags,
    /// The grain type byte.
    pub type_byte: u8,
    /// The first two bytes of SHA-256 of the namespace: a routing hint, never a decision.
    pub namespace_hash: [u8; 2],
    /// Creation time in seconds since 1970, clamped to 32 bits (ruling F11).
    pub created_at_sec: u32,
}

impl Header {
    /// The length of a header in bytes.
    pub const LEN: usize = 9;

    /// Reads the header of a blob.
    ///
    /// # Errors
    /// `ERR_TOO_SHORT` below ten bytes, `ERR_VERSION` for a version other than 1 (OMS 19.1).
    pub fn read(blob: &[u8]) -> Result<Self, Error> {
        let [
            version,
            flags,
            type_byte,
            ns_hi,
            ns_lo,
            s3,
            s2,
            s1,
            s0,
            _,
            ..,
        ] = *blob
        else {
            return Err(Error::TooShort { len: blob.len() });
        };
        if version != VERSION {
            return Err(Error::Version { version });
        }
        Ok(Self {
            flags: Flags(flags),
            type_byte,
            namespace_hash: [ns_hi, ns_lo],
            created_at_sec: u32::from_be_bytes([s3, s2, s1, s0]),
        })
    }

    /// Returns the nine bytes.
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let [ns_hi, ns_lo] = self.namespace_hash;
        let [s3, s2, s1, s0] = self.created_at_sec.to_be_bytes();
        let Self {
            flags, type_byte, ..
        } = self;
        [VERSION, flags.0, type_byte, ns_hi, ns_lo, s3, s2, s1, s0]
    }

    /// Returns the routing hash of a namespace; none and the empty one hash to zero (ruling F10).
    pub fn hash_namespace(namespace: Option<&str>) -> [u8; 2] {
        match namespace {
            None | Some("") => [0, 0],
            Some(namespace) if namespace.len() > NAMESPACE_KEPT => first_two(namespace),
            Some(namespace) => {
                let last = LAST_NAMESPACE.try_with(|last| {
                    let (known, hash) = &mut *last.borrow_mut();
                    if known != namespace {
                        *hash = first_two(namespace);
                        namespace.clone_into(known);
                    }
                    *hash
                });
                last.unwrap_or_else(|_| first_two(namespace))
            }
        }
    }

    /// Returns the header's seconds for a time in ms (ruling F11: clamped, so that any legal
    /// payload date can be stored).
    pub fn seconds(created_at_ms: i64) -> u32 {
        let seconds = created_at_ms.div_euclid(1000);
        u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
    }

    /// Returns the sensitivity in flag bits 6 and 7.
    pub const fn sensitivity(&self) -> Sensitivity {
        match self.flags.0 >> 6 {
            0 => Sensitivity::Public,
            1 => Sensitivity::Internal,
            2 => Sensitivity::Pii,
            _ => Sensitivity::Phi,
        }
    }

    /// Returns the encoding in flag bit 5.
    pub const fn encoding(&self) -> Encoding {
        if self.flags.contains(Flags::CBOR) {
            Encoding::Cbor
        } else {
            Encoding::MessagePack
        }
    }
}

/// The flag bits of a header (OMS 3.1.1).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// A COSE Sign1 envelope wraps the grain on delivery.
    pub const SIGNED: Self = Self(1);
    /// The payload is encrypted; never set on stored grains (ruling S3).
    pub const ENCRYPTED: Self = Self(1 << 1);
    /// The payload is compressed; never set on write (ruling S4).
    pub const COMPRESSED: Self = Self(1 << 2);
    /// The grain references external content.
    pub const CONTENT_REFS: Self = Self(1 << 3);
    /// The grain references external embeddings.
    pub const EMBEDDING_REFS: Self = Self(1 << 4);
    /// The payload is CBOR.
    pub const CBOR: Self = Self(1 << 5);

    /// Returns the flags of a sensitivity level and nothing else.
    pub const fn sensitivity(level: Sensitivity) -> Self {
        Self((level as u8) << 6)
    }

    /// Returns whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns these bits and, if `condition` holds, those of `other`.
    #[must_use]
    pub const fn with_if(self, other: Self, condition: bool) -> Self {
        if condition {
            Self(self.0 | other.0)
        } else {
            self
        }
    }

    /// Returns the byte.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl From<u8> for Flags {
    fn from(bits: u8) -> Self {
        Self(bits)
    }
}

impl std::fmt::Debug for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#010b}", self.0)
    }
}

/// The sensitivity of a grain (OMS 13.1): advice for routing, not a control (OMS 13.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Sensitivity {
    /// No constraint.
    #[default]
    Public = 0,
    /// Internal to an organisation.
    Internal = 1,
    /// Personally identifiable information.
    Pii = 2,
    /// Protected health information.
    Phi = 3,
}

impl Sensitivity {
    /// Returns the name used in JSON: `public`, `internal`, `pii`, `phi`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Internal => "internal",
            Self::Pii => "pii",
            Self::Phi => "phi",
        }
    }
}

const VERSION: u8 = 1;

thread_local! {
    /// The last namespace and its hash: grains that are written or read together share it, and its
    /// hash would be a seventh of what a grain takes to hash.
    static LAST_NAMESPACE: RefCell<(String, [u8; 2])> =
        const { RefCell::new((String::new(), [0; 2])) };
}

fn first_two(namespace: &str) -> [u8; 2] {
    let [hi, lo, ..] = <[u8; 32]>::from(Sha256::digest(namespace.as_bytes()));
    [hi, lo]
}

/// The longest namespace that a thread keeps, in bytes: the longest that is valid (ruling I25).
const NAMESPACE_KEPT: usize = 512;
