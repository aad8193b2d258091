//! Key derivation: labels, HKDF-SHA256 (RFC 5869) and HMAC-SHA256 (docs/format.md, "Sealed values").
//!
//! Every label begins with the name and version of this scheme, and every part of an `info` has its
//! length before it, so that no two uses of a key can be made to agree.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroize;

use super::secret::Secret;

const PREFIX: &[u8] = b"grainstore/v1/";

/// Returns `grainstore/v1/label`, a zero byte, and each part behind its length.
pub(super) fn info(label: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut info = [PREFIX, label.as_bytes(), &[0]].concat();
    for part in parts {
        // Parts are identifiers of a few bytes; a length that does not fit cannot occur.
        let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
        info.extend_from_slice(&len.to_be_bytes());
        info.extend_from_slice(part);
    }
    info
}

/// HKDF with one output block of a key's length.
pub(super) fn hkdf(salt: &[u8], ikm: &Secret, info: &[u8]) -> Secret {
    expand(&extract(salt, ikm.expose()), info)
}

/// HKDF-Extract.
pub(super) fn extract(salt: &[u8], ikm: &[u8]) -> Secret {
    let (mut prk, _) = Hkdf::<Sha256>::extract(Some(salt), ikm);
    let secret = Secret::filled(|bytes| bytes.copy_from_slice(&prk));
    prk.as_mut_slice().zeroize();
    secret
}

/// HKDF-Expand to the length of a key.
pub(super) fn expand(prk: &Secret, info: &[u8]) -> Secret {
    Secret::filled(|bytes| expand_to(prk, info, bytes))
}

/// HKDF-Expand.
pub(super) fn expand_to(prk: &Secret, info: &[u8], out: &mut [u8]) {
    let hkdf = Hkdf::<Sha256>::from_prk(prk.expose());
    let expanded = hkdf.map(|hkdf| hkdf.expand(info, out));
    // A key has 32 bytes, as many as a hash, and an output here at most 76 of 8,160.
    assert!(matches!(expanded, Ok(Ok(()))), "the lengths are constants");
}

/// HMAC over parts that the caller keeps apart.
pub(super) fn mac(key: &Secret, parts: &[&[u8]]) -> [u8; 32] {
    // HMAC takes keys of every length; this one has 32 bytes.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.expose()) else {
        unreachable!("HMAC takes keys of every length");
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}
