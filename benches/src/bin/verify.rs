//! Checking an Ed25519 signature: this library beside the bare call into ed25519-dalek, in turns.
//!
//! Prints the median of the ratios of the rounds, and between what half of them lie.
//!
//! `cargo run --release --bin verify` in `benches/`.

use std::hint::black_box;
use std::time::Instant;

use ed25519_dalek::{Signature, VerifyingKey};
use grainstore::crypto::{Algorithm, Envelope, Error, Offline, OsRandom, Sign1, SigningKey};
use grainstore::grain::{Draft, Time};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    let text = "she would rather have tea in the morning and coffee after lunch ".repeat(4);
    let draft = Draft::event(text).author(key.did().as_str());
    let draft = draft
        .created_at(Time::from_ms(1_768_471_200_000))
        .to_be_signed();
    let grain = draft.finish(Default::default())?;
    let bytes = Envelope::sign(grain.blob(), &key, &key.did(), None)?;
    println!(
        "a blob of {} bytes, a message of {}",
        grain.blob().len(),
        bytes.len()
    );

    let message = Sign1::parse(&bytes)?;
    let public: [u8; 32] = key.verifying_key().to_bytes().as_slice().try_into()?;
    let bare = VerifyingKey::from_bytes(&public)?;
    let signature = Signature::from_bytes(bytes.last_chunk().ok_or("no signature")?);
    let signed = to_be_signed(&bytes, grain.blob());
    bare.verify_strict(&signed, &signature)?;

    let ours = key.verifying_key();
    compare(
        "a signature under a key at hand",
        || message.verify_with(grain.blob(), &ours).is_ok(),
        || bare.verify_strict(black_box(&signed), &signature).is_ok(),
    );
    compare(
        "a whole message, its did:key read and judged",
        || verified(&bytes).is_ok(),
        || {
            let key = VerifyingKey::from_bytes(black_box(&public));
            key.is_ok_and(|key| key.verify_strict(black_box(&signed), &signature).is_ok())
        },
    );
    Ok(())
}

fn verified(bytes: &[u8]) -> Result<(), Error> {
    Envelope::parse(black_box(bytes))?.verify(&Offline)?;
    Ok(())
}

/// Writes what is signed, as RFC 9052 has it: once, so that the bare call pays for nothing else.
fn to_be_signed(bytes: &[u8], payload: &[u8]) -> Vec<u8> {
    // 84, then the protected header: a byte string of more than 23 and less than 256 bytes.
    let protected = &bytes[1..3 + usize::from(bytes[2])];
    let len = u16::try_from(payload.len())
        .unwrap_or(u16::MAX)
        .to_be_bytes();
    let parts: [&[u8]; 5] = [b"\x84\x6aSignature1", protected, b"\x40\x59", &len, payload];
    parts.concat()
}

fn compare(what: &str, mut ours: impl FnMut() -> bool, mut bare: impl FnMut() -> bool) {
    let mut ratios = Vec::with_capacity(ROUNDS);
    let mut fastest = f64::MAX;
    for round in 0..ROUNDS {
        // The first one has the colder caches.
        let (a, b) = if round % 2 == 0 {
            let a = time(&mut ours);
            (a, time(&mut bare))
        } else {
            let b = time(&mut bare);
            (time(&mut ours), b)
        };
        ratios.push(a / b);
        fastest = fastest.min(b);
    }
    ratios.sort_by(f64::total_cmp);
    let at = |quarter: usize| ratios[ROUNDS * quarter / 4];
    println!(
        "{what}: {:.3} ({:.3} to {:.3}) of the bare call, which takes {fastest:.1} µs at best",
        at(2),
        at(1),
        at(3)
    );
}

/// Returns the microseconds of one.
fn time(work: &mut impl FnMut() -> bool) -> f64 {
    let start = Instant::now();
    for _ in 0..EACH {
        assert!(black_box(work()));
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(EACH)
}

const ROUNDS: usize = 2_001;
/// Few, so that most rounds pass between two interruptions.
const EACH: u32 = 5;
