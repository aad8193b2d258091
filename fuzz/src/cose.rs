//! The law of `cose_verify`: a signed message that verifies holds the blob that was signed, however
//! its bytes were changed.

use std::sync::OnceLock;

use grainstore::crypto::{Algorithm, Envelope, Error, Offline, Random, Sign1, SigningKey};
use grainstore::grain::{Draft, Grain, Time};

use crate::choice;
use crate::meter::{PLAIN, measure};

/// Reads bytes as a signed message; then changes a good envelope as the bytes say.
///
/// - An accepted envelope, written again, is the same bytes but for a tag, also after it was kept
///   beside its blob.
/// - Whatever is done to an envelope: if it verifies, it holds the blob that was signed, and names
///   its signer.
pub fn cose_verify(data: &[u8]) {
    let message = measure(PLAIN, data.len(), || Sign1::parse(data));
    let envelope = measure(PLAIN, data.len(), || Envelope::parse(data));
    if let Ok(envelope) = envelope {
        assert!(message.is_ok(), "an envelope is a message");
        check_written(&envelope, data);
        // The signature is hardly ever right; finding out must not fail in another way.
        drop(envelope.verify(&Offline));
    }
    let good = good(choice([Algorithm::Ed25519, Algorithm::P256], data.len()));
    let changed = change(&good.bytes, data);
    let Ok(envelope) = Envelope::parse(&changed) else {
        return;
    };
    check_written(&envelope, &changed);
    if let Ok(signer) = envelope.verify(&Offline) {
        assert_eq!(envelope.blob(), good.grain.blob());
        assert_eq!(envelope.address(), good.grain.address());
        assert_eq!(signer.did, good.key.did());
        assert_eq!(signer.key, good.key.verifying_key());
    }
}

fn check_written(envelope: &Envelope<'_>, data: &[u8]) {
    let written = envelope.to_bytes();
    assert_eq!(written, data.strip_prefix(&[0xd2]).unwrap_or(data));
    let beside = envelope.to_detached();
    let again = Envelope::parse_detached(&beside, envelope.blob());
    assert_eq!(again.expect("it was an envelope").to_bytes(), written);
}

/// Replaces bytes: each three bytes of `data` are a place and what stands there then. The remaining
/// bytes are inserted or removed at a place.
fn change(good: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let (edits, rest) = data.as_chunks::<3>();
    for [high, low, byte] in edits.iter().take(16) {
        let place = usize::from(u16::from_be_bytes([*high, *low])) % bytes.len();
        bytes[place] = *byte;
    }
    match rest {
        [place] => drop(bytes.remove(usize::from(*place) % bytes.len())),
        [place, byte] => bytes.insert(usize::from(*place) % bytes.len(), *byte),
        _ => {}
    }
    bytes
}

struct Good {
    key: SigningKey,
    grain: Grain,
    bytes: Vec<u8>,
}

fn good(algorithm: Algorithm) -> &'static Good {
    static BOTH: [OnceLock<Good>; 2] = [const { OnceLock::new() }; 2];
    let [ed25519, p256] = &BOTH;
    let place = match algorithm {
        Algorithm::Ed25519 => ed25519,
        Algorithm::P256 => p256,
    };
    place.get_or_init(|| {
        let key = SigningKey::generate(algorithm, &Sevens).expect("a key");
        let draft = Draft::event("signed").created_at(Time::from_ms(1));
        let grain = draft.to_be_signed().finish(Default::default());
        let grain = grain.expect("a grain");
        let bytes = Envelope::sign(grain.blob(), &key, &key.did(), Some(1)).expect("an envelope");
        Good { key, grain, bytes }
    })
}

/// Returns the envelope that [`cose_verify`] changes.
pub fn good_envelope(algorithm: Algorithm) -> Vec<u8> {
    good(algorithm).bytes.clone()
}

#[derive(Debug)]
struct Sevens;

impl Random for Sevens {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.fill(7);
        Ok(())
    }
}
