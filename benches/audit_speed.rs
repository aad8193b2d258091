//! Prints what the audit trail costs, in processor time of the asking thread (Linux): `cargo bench --bench audit_speed -- [ENTRIES]`.

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::time::Duration;

use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
use grainstore::ledger::EntryId;
use grainstore::store::Durability;
use grainstore::{Draft, Options, Store, Time};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entries: u64 = std::env::args()
        .filter(|it| it != "--bench")
        .nth(1)
        .map_or(Ok(1_000_000), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let options = Options {
        durability: Durability::Relaxed,
        text: None,
        ..Options::default()
    };
    let store = Store::open(folder.path().join("memory"), options)?;
    for first in (0..entries).step_by(1_000) {
        let drafts = (first..entries.min(first + 1_000)).map(|n| {
            let time = Time::from_ms(i64::try_from(n).unwrap_or_default());
            Draft::event(format!("event {n}")).created_at(time)
        });
        store.put_batch(drafts.collect::<Vec<_>>())?;
    }
    let audit = store.maintenance()?.audit();
    let started = cpu();
    let note = audit.head()?;
    println!(
        "first root, of {} entries: {:?}",
        note.entries(),
        cpu() - started
    );
    let mut slowest = Duration::ZERO;
    let started = cpu();
    for n in 0..PROOFS {
        let begun = cpu();
        let proof = audit.prove(EntryId::new(n * 7_919 % entries), entries)?;
        assert!(proof.is_in(&note));
        slowest = slowest.max(cpu() - begun);
    }
    let mean = (cpu() - started) / u32::try_from(PROOFS)?;
    println!("a proof: {mean:?}, the slowest {slowest:?}");
    let started = cpu();
    for n in 1..=PROOFS {
        audit.prove_growth(n * 7_919 % entries + 1, entries)?;
    }
    let mean = (cpu() - started) / u32::try_from(PROOFS)?;
    println!("a proof of growth: {mean:?}");
    let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    let started = cpu();
    // Every byte is verified before a checkpoint is signed.
    store.maintenance()?.checkpoint(&key, &key.did())?;
    println!("verification of all bytes: {:?}", cpu() - started);
    Ok(())
}

/// Returns the processor time of this thread.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

const PROOFS: u64 = 1_000;
