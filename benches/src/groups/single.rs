//! Single durable puts: by one thread beside a bare append and sync, and by 64 threads.

use std::time::Instant;

use grainstore::Draft;

use crate::Result;
use crate::data::{Chunk, Generator};
use crate::floor;
use crate::ours::Ours;
use crate::report::{Bound, Report, Table};
use crate::setup::{Engine, Settings, rotated};

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let single = usize::try_from(settings.sizes.single)?;
    let mut generator = Generator::new(2, settings.sizes.ingest);
    let one = generator.chunk(single)?;
    let many = generator.chunk(single / 5 * THREADS)?;

    // The engines, then a bare file, then 64 threads.
    let raw = Engine::KEEPING.len();
    let mut per_second = vec![Vec::new(); raw + 2];
    // A sync takes as long as the disk's other users let it: many short turns, not few long ones.
    for round in 0..settings.rounds * TURNS {
        eprintln!("single puts: turn {}", round + 1);
        for place in rotated(per_second.len(), round) {
            let rate = match Engine::KEEPING.get(place) {
                Some(engine) => by_one(settings, *engine, &one)?,
                None if place == raw => {
                    let folder = settings.temporary()?;
                    let spent = floor::append_and_sync(folder.path(), &one.blobs)?;
                    single as f64 / spent.as_secs_f64()
                }
                None => by_many(settings, &many)?,
            };
            per_second[place].push(rate);
        }
    }
    let threads = per_second.pop().unwrap_or_default();
    let raw = per_second.pop().unwrap_or_default();
    let ours = per_second.first().cloned().unwrap_or_default();

    let mut table = Table::new("Single durable put, one thread, no text", "puts/s");
    for (engine, rounds) in Engine::KEEPING.iter().zip(per_second) {
        let bound = (*engine == Engine::Sqlite).then_some(Bound::AtLeast(1.3));
        table.row(engine.name(), rounds, bound);
    }
    table.row("append and fdatasync", raw, Some(Bound::AtLeast(0.8)));
    report.table(&table);

    let mut table = Table::new("Single durable puts by 64 threads, no text", "puts/s");
    table.row("store, 64 threads", threads, None);
    table.row("store, one thread", ours, Some(Bound::AtLeast(5.0)));
    report.table(&table);
    Ok(())
}

fn by_one(settings: &Settings, engine: Engine, chunk: &Chunk) -> Result<f64> {
    let folder = settings.temporary()?;
    let mut peer = engine.open(folder.path(), false)?;
    let puts: Vec<Vec<Draft>> = chunk.batches(1);
    let start = Instant::now();
    for put in puts {
        peer.put_batch(put)?;
    }
    Ok(chunk.drafts.len() as f64 / start.elapsed().as_secs_f64())
}

fn by_many(settings: &Settings, chunk: &Chunk) -> Result<f64> {
    let folder = settings.temporary()?;
    let ours = Ours::open(folder.path(), false)?;
    let shares = chunk.batches(chunk.drafts.len() / THREADS);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = shares
            .into_iter()
            .map(|share| {
                let store = ours.store().clone();
                scope.spawn(move || {
                    for draft in share {
                        store.put(draft)?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(_) => Err("a thread that puts panicked".into()),
            })
    })
    .map(|()| chunk.drafts.len() as f64 / start.elapsed().as_secs_f64())
}

const THREADS: usize = 64;
/// Turns in a round.
const TURNS: usize = 5;
