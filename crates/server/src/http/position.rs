//! Places in the store as a caller sees them: cursors and the ids of events, sealed.
//!
//! A place counts the entries of the whole store, so that in the clear it would tell a tenant how
//! much others write. Sealed, it opens for the token that it was given to alone.

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit, Nonce, Tag};
use data_encoding::BASE64URL_NOPAD;
use grainstore::crypto::{OsRandom, Random};

/// Seals the text of a place for the holder of a token.
pub(crate) fn seal(key: &[u8; 32], holder: &str, place: &str) -> Option<String> {
    // One length for all: that of a number would tell its size.
    seal_text(key, holder, &format!("{place:<PLACE_LEN$}"))
}

/// Seals a text for a purpose.
pub(crate) fn seal_text(key: &[u8; 32], holder: &str, text: &str) -> Option<String> {
    let mut nonce = [0; NONCE_LEN];
    OsRandom.fill(&mut nonce).ok()?;
    let mut text = text.as_bytes().to_vec();
    let tag = cipher(key)
        .encrypt_inout_detached(
            &Nonce::from(nonce),
            holder.as_bytes(),
            text.as_mut_slice().into(),
        )
        .ok()?;
    Some(BASE64URL_NOPAD.encode(&[&nonce[..], &tag, &text].concat()))
}

/// Opens what [`seal`] and [`seal_text`] returned; `None` for any other text, and for another holder.
pub(crate) fn open(key: &[u8; 32], holder: &str, text: &str) -> Option<String> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
    let (tag, place) = sealed.split_first_chunk::<TAG_LEN>()?;
    let mut place = place.to_vec();
    cipher(key)
        .decrypt_inout_detached(
            &Nonce::from(*nonce),
            holder.as_bytes(),
            place.as_mut_slice().into(),
            &Tag::from(*tag),
        )
        .ok()?;
    Some(String::from_utf8(place).ok()?.trim_end().to_owned())
}

fn cipher(key: &[u8; 32]) -> Aes256Gcm {
    Aes256Gcm::new(&(*key).into())
}

const NONCE_LEN: usize = 12;

const TAG_LEN: usize = 16;

/// The longest cursor has 105 characters.
const PLACE_LEN: usize = 112;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_opens_for_its_holder_alone_and_no_flipped_bit_of_it_opens() {
        let key = [7; 32];
        let sealed = seal(&key, "a", "c.29.1").unwrap();
        assert_eq!(open(&key, "a", &sealed).as_deref(), Some("c.29.1"));
        assert_eq!(seal(&key, "a", "1").unwrap().len(), sealed.len());
        assert_eq!(open(&key, "b", &sealed), None);
        assert_eq!(open(&[8; 32], "a", &sealed), None);
        let bytes = BASE64URL_NOPAD.decode(sealed.as_bytes()).unwrap();
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert_eq!(open(&key, "a", &BASE64URL_NOPAD.encode(&bytes)), None);
        }
    }
}
