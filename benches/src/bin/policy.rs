//! The cost of protection: ingest of unprotected grains of which 30 % are derived from another, and
//! the supersession of a grain below a protected root (OMS 23.6).
//!
//! `cargo run --release --bin policy` in `benches/`. Policy cannot be switched off, so the ingest is
//! compared with that of the same grains which are *related* to the same grains instead: as many
//! bytes, as many links, as many keys in the index, and no question to policy about a parent.
//!
//! `policy count derived|related|nothing` stores one of them, or nothing, for a tool that counts
//! instructions: (derived − nothing) / (related − nothing) is the same ratio, whatever else runs.

use std::time::{Duration, Instant};

use grainstore::codec::Profile;
use grainstore::ledger::MemoryDisk;
use grainstore::store::Durability;
use grainstore::{ContentAddress, Draft, Options, Store, Time};
use grainstore_benches::Result;
use grainstore_benches::data::Generator;
use std::sync::Arc;

const GRAINS: usize = 30_000;
const COUNTED: usize = 10_000;
const BATCH: usize = 1_000;
const ROUNDS: usize = 15;
const HOPS: usize = 16;
const SUPERSESSIONS: usize = 400;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            ingest()?;
            supersede()
        }
        ["count", which] => count(which),
        _ => Err("policy [count derived|related|nothing]".into()),
    }
}

fn options() -> Options {
    Options {
        text: None,
        ballast_bytes: 0,
        durability: Durability::Relaxed,
        ..Options::default()
    }
}

/// The grains, derived from others and related to them.
fn grains(len: usize) -> Result<[Vec<Draft>; 2]> {
    let chunk = Generator::new(7, len as u64).chunk(len)?;
    let derived: Vec<Draft> = chunk.drafts.iter().map(as_derived).collect();
    let related = derived.iter().map(as_related).collect::<Result<_>>()?;
    Ok([derived, related])
}

fn count(which: &str) -> Result<()> {
    let [derived, related] = grains(COUNTED)?;
    match which {
        "derived" => store_all(&derived)?,
        "related" => store_all(&related)?,
        _ => Duration::ZERO,
    };
    Ok(())
}

fn ingest() -> Result<()> {
    let sets = grains(GRAINS)?;
    let [derived, related] = &sets;
    let linked = derived.iter().filter(|draft| parent(draft).is_some());
    let share = linked.count() * 100 / derived.len();
    let bytes = sets.each_ref().map(|set| blob_bytes(set));
    println!("{GRAINS} grains, {share} % derived; blobs {bytes:?} bytes");
    let (mut ratios, mut times) = (Vec::new(), [Vec::new(), Vec::new()]);
    store_all(related)?;
    for round in 0..ROUNDS {
        let mut took = [Duration::ZERO; 2];
        // Each goes first in its turn.
        for turn in 0..2 {
            let which = (round + turn) % 2;
            took[which] = store_all(&sets[which])?;
        }
        for (times, took) in times.iter_mut().zip(took) {
            times.push(took.as_secs_f64() * 1e6 / GRAINS as f64);
        }
        ratios.push(took[0].as_secs_f64() / took[1].as_secs_f64());
    }
    let [with, without] = times.map(median);
    println!("ingest, derived, µs a grain: {with:.2}");
    println!("the same, related instead:   {without:.2}");
    println!("ratio, median of {ROUNDS} rounds: {:.3}", median(ratios));
    Ok(())
}

fn blob_bytes(drafts: &[Draft]) -> usize {
    let blobs = drafts.iter().cloned();
    let blobs = blobs.filter_map(|draft| draft.finish(Profile::Extended).ok());
    blobs.map(|grain| grain.blob().len()).sum()
}

/// Without the level that lets a consolidation repeat what its source is about: policy must look
/// at what the parent says.
fn as_derived(draft: &Draft) -> Draft {
    let mut copy = Draft::new(draft.type_());
    for (name, value) in draft.fields().iter() {
        if name != "consolidation_level" {
            copy = copy.set(name, value.clone());
        }
    }
    copy
}

/// The same grain with the same link to the same grain, which says nothing that policy asks about.
/// The words of the relation are taken from its content.
fn as_related(draft: &Draft) -> Result<Draft> {
    let Some(parent) = parent(draft) else {
        return Ok(draft.clone());
    };
    let relation = format!(r#"{{"hash":"{parent}","relation_type":"elaborates"}}"#);
    let related = format!(r#"{{"type":"event","content":"-","related_to":[{relation}]}}"#);
    let related = Draft::from_json(&related)?;
    let mut copy = Draft::new(draft.type_());
    for (name, value) in draft.fields().iter() {
        copy = match name {
            "derived_from" => copy,
            "content" => {
                let text = value.as_text().unwrap_or_default();
                copy.set(name, &text[..text.len().saturating_sub(LONGER)])
            }
            name => copy.set(name, value.clone()),
        };
    }
    let links = related.fields().get("related_to").cloned();
    Ok(links
        .into_iter()
        .fold(copy, |copy, links| copy.set("related_to", links)))
}

fn parent(draft: &Draft) -> Option<&str> {
    let parents = draft.fields().get("derived_from")?;
    parents.texts().next()
}

/// How much more a link to what a grain is related to takes than one to what it is derived from.
const LONGER: usize = 17;

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
