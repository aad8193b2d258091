//! What protection costs: ingest of unprotected grains of which 30 % are derived from another, and
//! the supersession of a grain below a protected root (OMS 23.6).
//!
//! `cargo run --release --bin policy` in `benches/`. There is no way to switch policy off, so the
//! ingest is compared with that of the same grains whose `derived_from` has a name that nobody
//! knows: as many bytes, and neither a link in the index nor a question to policy. The difference
//! is more than what policy costs.

use std::time::{Duration, Instant};

use grainstore::ledger::MemoryDisk;
use grainstore::store::Durability;
use grainstore::{ContentAddress, Draft, Options, Store, Time};
use grainstore_benches::Result;
use grainstore_benches::data::Generator;
use std::sync::Arc;

const GRAINS: usize = 30_000;
const BATCH: usize = 1_000;
const ROUNDS: usize = 9;
const HOPS: usize = 16;
const SUPERSESSIONS: usize = 400;

fn main() -> Result<()> {
    ingest()?;
    supersede()
}

fn options() -> Options {
    Options {
        text: None,
        ballast_bytes: 0,
        durability: Durability::Relaxed,
        ..Options::default()
    }
}

fn ingest() -> Result<()> {
    let linked = Generator::new(7, GRAINS as u64).chunk(GRAINS)?.drafts;
    let derived = |draft: &Draft| draft.fields().get("derived_from").is_some();
    let share = linked.iter().filter(|draft| derived(draft)).count() * 100 / linked.len();
    let bare: Vec<Draft> = linked.iter().map(unlinked).collect();
    let (mut ratios, mut times) = (Vec::new(), [Vec::new(), Vec::new()]);
    for round in 0..ROUNDS {
        let mut took = [Duration::ZERO; 2];
        // Each goes first in its turn.
        for turn in 0..2 {
            let which = (round + turn) % 2;
            took[which] = store_all([&linked, &bare][which])?;
        }
        for (times, took) in times.iter_mut().zip(took) {
            times.push(took.as_secs_f64() * 1e6 / GRAINS as f64);
        }
        ratios.push(took[0].as_secs_f64() / took[1].as_secs_f64());
    }
    let [with, without] = times.map(median);
    println!("ingest of {GRAINS} grains, {share} % derived, µs a grain: {with:.2}");
    println!("the same with the links unknown:                      {without:.2}");
    println!("ratio, median of {ROUNDS} rounds: {:.3}", median(ratios));
    Ok(())
}

/// The same bytes, but for the letters of a name.
fn unlinked(draft: &Draft) -> Draft {
    let mut copy = Draft::new(draft.type_());
    for (name, value) in draft.fields().iter() {
        let name = match name {
            "derived_from" => "derived_xxxx",
            name => name,
        };
        copy = copy.set(name, value.clone());
    }
    copy
}

fn store_all(drafts: &[Draft]) -> Result<Duration> {
    let store = Store::open_on(Arc::new(MemoryDisk::default()), options())?;
    let batches: Vec<Vec<Draft>> = drafts.chunks(BATCH).map(<[Draft]>::to_vec).collect();
    let begun = Instant::now();
    for batch in batches {
        store.put_batch(batch)?;
    }
    Ok(begun.elapsed())
}

/// Makes a chain below a root, and returns its end.
fn chain(store: &Store, name: usize, mode: &str, hops: usize) -> Result<ContentAddress> {
    let json = format!(
        r#"{{"type":"event","content":"root {name} {mode} {hops}","created_at":1,
            "invalidation_policy":{{"mode":"{mode}","scope":"subtree"}}}}"#
    );
    let mut at = store.put(Draft::from_json(&json)?)?;
    for hop in 0..hops {
        let next = Draft::event(format!("{hop} below {name} {mode} {hops}"));
        at = store.put(next.created_at(Time::from_ms(2)).derived_from(at))?;
    }
    Ok(at)
}

fn supersede() -> Result<()> {
    let disk = MemoryDisk::default();
    let store = Store::open_on(Arc::new(disk.clone()), options())?;
    let kinds = [("open", 0), ("soft_locked", HOPS)];
    let mut ends = Vec::new();
    for name in 0..SUPERSESSIONS {
        for (mode, hops) in kinds {
            ends.push((hops, chain(&store, name, mode, hops)?));
        }
    }
    let (cold, warm) = ends.split_at(ends.len() / 2);
    report("as it was written", &store, warm)?;
    drop(store);
    let store = Store::open_on(Arc::new(disk), options())?;
    report("after opening, when nothing is remembered", &store, cold)
}

fn report(when: &str, store: &Store, ends: &[(usize, ContentAddress)]) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    for (hops, end) in ends {
        let new = Draft::event(format!("instead of {end}")).derived_from(*end);
        let begun = Instant::now();
        store.supersede(end, new, Some("asked"))?;
        let took = begun.elapsed().as_secs_f64() * 1e6;
        times[usize::from(*hops > 0)].push(took);
    }
    let [free, protected] = times.map(median);
    println!(
        "supersede, {when}, µs: {free:.1} free, {protected:.1} below a root at {HOPS} hops: {:+.1}",
        protected - free
    );
    Ok(())
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or_default()
}
