//! DIDs of the two supported methods, `did:key` and `did:web`.
//!
//! A `did:web` is parsed and compared here, never fetched.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::{Algorithm, Error, VerifyingKey};

/// The identity of a signer: a `did:key`, which holds its own key, or a `did:web`, which names the
/// place of its keys (OMS 12.2, 22.4).
///
/// A key has one spelling, so equal texts are equal keys. A `did:web` is carried and compared;
/// only a [`Resolver`](super::Resolver) of the caller resolves it.
///
/// ```
/// use grainstore::crypto::Did;
///
/// let did: Did = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK".parse()?;
/// assert_eq!(did.key().map(|key| key.did()), Some(did));
/// assert!("did:web:example.com:agents:summarizer".parse::<Did>()?.key().is_none());
/// assert!("did:web:example.com/agents".parse::<Did>().is_err());
/// # Ok::<(), grainstore::crypto::Error>(())
/// ```
#[derive(Clone)]
pub struct Did {
    text: Box<str>,
    key: Option<Box<VerifyingKey>>,
}

impl Did {
    /// Returns the text.
    pub const fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the key that a `did:key` holds.
    pub fn key(&self) -> Option<&VerifyingKey> {
        self.key.as_deref()
    }

    /// Returns the DID of a DID URL: what stands before its path, query or fragment.
    ///
    /// DID Core 3.2: a path, a query and a fragment name something of the party, and are no part of
    /// its DID. OMS 12.1: `did:key:z6Mk…#z6Mk…` names a key of the same party as `did:key:z6Mk…`.
    pub(crate) fn bare(text: &str) -> &str {
        text.split(['#', '?', '/']).next().unwrap_or(text)
    }

    pub(super) fn of_key(key: &VerifyingKey) -> Self {
        let mut bytes = prefix_of(key.algorithm()).to_vec();
        bytes.extend_from_slice(&key.to_bytes());
        let text = format!("{KEY}z{}", bs58::encode(bytes).into_string());
        Self {
            text: text.into(),
            key: Some(Box::new(key.clone())),
        }
    }
}

impl FromStr for Did {
    type Err = Error;

    /// Reads a DID, and nothing around it: no fragment, no path, no query.
    ///
    /// # Errors
    /// `ERR_DID`.
    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(key) = text.strip_prefix(KEY) {
            return parse_key(text, key);
        }
        let Some(place) = text.strip_prefix(WEB) else {
            return Err(fault("neither did:key nor did:web"));
        };
        check_place(place)?;
        Ok(Self {
            text: text.into(),
            key: None,
        })
    }
}

impl PartialEq for Did {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Did {}

impl PartialOrd for Did {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Did {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for Did {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// OMS 22.4: multibase `z`, a multicodec varint, and a key of the length its type asks for.
fn parse_key(text: &str, key: &str) -> Result<Did, Error> {
    // Base58 takes time in the square of its length, so the length is judged first.
    if text.len() > KEY_LEN_MAX {
        return Err(fault("a did:key longer than any key read here"));
    }
    let digits = key
        .strip_prefix('z')
        .ok_or(fault("a did:key begins with z, for base58"))?;
    let bytes = bs58::decode(digits)
        .into_vec()
        .map_err(|_| fault("a character that base58 does not have"))?;
    let (code, key) = read_varint(&bytes)?;
    let algorithm = match code {
        ED25519_PUB => Algorithm::Ed25519,
        P256_PUB => Algorithm::P256,
        // X25519 among them: a key for agreement, which signs nothing.
        _ => return Err(fault("a key type other than Ed25519 and P-256")),
    };
    if key.len() != algorithm.key_len() {
        return Err(fault("a key of another length than its type asks for"));
    }
    let key = VerifyingKey::new(algorithm, key)
        .map_err(|_| fault("a key that is not on its curve, or not safe"))?;
    let did = Did::of_key(&key);
    if *did.text != *text {
        return Err(fault("a key that is not spelled canonically"));
    }
    Ok(did)
}

/// Reads an unsigned varint: seven bits a byte, the lowest first, in its shortest form.
fn read_varint(bytes: &[u8]) -> Result<(u64, &[u8]), Error> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().enumerate().take(VARINT_LEN_MAX) {
        let bits = u64::from(byte & 0x7f);
        // At most nine bytes of seven bits each: no bit leaves the 64.
        value |= bits << index.saturating_mul(7);
        if byte & 0x80 == 0 {
            if bits == 0 && index > 0 {
                return Err(fault("a key type that is not in its shortest form"));
            }
            let rest = bytes.get(index.saturating_add(1)..);
            return Ok((value, rest.unwrap_or_default()));
        }
    }
    Err(fault("a key type that does not end"))
}

/// A domain, with a port perhaps, and path segments, separated by colons. Lower case, so that one
/// place has one spelling; no dots-only segment, since the rest becomes a path.
fn check_place(place: &str) -> Result<(), Error> {
    if place.len() > PLACE_LEN_MAX {
        return Err(fault("a did:web longer than 512 characters"));
    }
    let mut parts = place.split(':');
    let domain = parts.next().unwrap_or_default();
    let (host, port) = match domain.split_once("%3A") {
        Some((host, port)) => (host, Some(port)),
        None => (domain, None),
    };
    if !host.split('.').all(is_host_label) {
        return Err(fault("a did:web without a domain in lower case"));
    }
    if port.is_some_and(|port| port.starts_with('0') || port.parse::<u16>().is_err()) {
        return Err(fault("a did:web with a port that is none"));
    }
    if !parts.all(is_segment) {
        return Err(fault("a did:web with a path that is none"));
    }
    Ok(())
}

fn is_host_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&label.len())
        && label.bytes().all(is_letter)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn is_segment(segment: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    segment.bytes().all(is_letter) && segment.bytes().any(|byte| byte != b'.')
}

const fn prefix_of(algorithm: Algorithm) -> [u8; 2] {
    match algorithm {
        Algorithm::Ed25519 => [0xed, 0x01],
        Algorithm::P256 => [0x80, 0x24],
    }
}

const fn fault(reason: &'static str) -> Error {
    Error::Did { reason }
}

const KEY: &str = "did:key:";
const WEB: &str = "did:web:";

/// Multicodec names of the key types.
const ED25519_PUB: u64 = 0xed;
const P256_PUB: u64 = 0x1200;

const VARINT_LEN_MAX: usize = 9;
const KEY_LEN_MAX: usize = 128;
const PLACE_LEN_MAX: usize = 512;
