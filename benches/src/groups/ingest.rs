//! Storing many grains in durable batches.

use std::time::Instant;

use crate::Result;
use crate::conversations::event;
use crate::data::{Chunk, Generator};
use crate::machine::{self, Counters};
use crate::report::{Bound, Report, Table};
use crate::setup::{Engine, Settings, rotated};

/// The result of one engine in one round.
#[derive(Debug)]
struct Measured {
    seconds: f64,
    /// Until all is stored.
    stored: Counters,
    /// Until the engine is closed: with merges, and the compaction of the store.
    closed: Counters,
    disk_bytes: u64,
    /// After a compression, where that is a choice.
    compressed: Option<u64>,
}

/// How grains are stored.
#[derive(Debug, Clone, Copy)]
struct Ingest {
    batch_len: usize,
    text: bool,
    /// Whether the caller hands over a batch once the one before it is durable: an engine that can
    /// prepares none of them ahead.
    is_waited_for: bool,
}

impl Ingest {
    const fn of(batch_len: usize) -> Self {
        Self {
            batch_len,
            text: false,
            is_waited_for: false,
        }
    }
}

/// Batches of 1000, all indexes, no text: speed, processor time, bytes written, disk.
pub fn by_thousands(settings: &Settings, report: &mut Report) -> Result<()> {
    let chunk = corpus(settings.sizes.ingest)?;
    let ingest = Ingest::of(1_000);
    let measured = rounds(settings, Engine::KEEPING, &chunk, ingest)?;
    let bound = |engine| match engine {
        Engine::Sqlite => at_least(6.0),
        Engine::Fjall => at_least(3.5),
        Engine::Redb => at_least(8.0),
        _ => None,
    };
    speed(report, &measured, &chunk, "batch 1000, no text", bound);
    costs(report, &measured, &chunk, "no text", Some([4.5, 1.9]));
    let waited = Ingest {
        is_waited_for: true,
        ..ingest
    };
    let measured = rounds(settings, &[Engine::Ours], &chunk, waited)?;
    let title = "batch 1000, no text, each waited for by the caller";
    speed(report, &measured, &chunk, title, |_| None);
    Ok(())
}

/// Batches of 100.
pub fn by_hundreds(settings: &Settings, report: &mut Report) -> Result<()> {
    let chunk = corpus(settings.sizes.small_batches)?;
    let measured = rounds(settings, Engine::KEEPING, &chunk, Ingest::of(100))?;
    let bound = |engine| match engine {
        Engine::Sqlite => at_least(5.0),
        Engine::Fjall => at_least(2.5),
        _ => None,
    };
    speed(report, &measured, &chunk, "batch 100, no text", bound);
    Ok(())
}

/// Batches of 1000 until every word is in the full-text index.
pub fn with_text(settings: &Settings, report: &mut Report) -> Result<()> {
    let chunk = corpus(settings.sizes.ingest)?;
    let measured = until_found(settings, &chunk)?;
    let title = "batch 1000, everything searchable at the end";
    let bound = |engine| match engine {
        Engine::Sqlite => at_least(3.0),
        _ => None,
    };
    speed(report, &measured, &chunk, title, bound);
    costs(report, &measured, &chunk, "with text", Some([15.0, 2.2]));
    Ok(())
}

/// Batches of 1000 messages as an assistant exports them, until every word is in the full-text index.
pub fn messages(settings: &Settings, report: &mut Report) -> Result<()> {
    let drafts = (0..settings.sizes.ingest).map(event);
    let chunk = Chunk::of(drafts.collect::<Result<_>>()?)?;
    let measured = until_found(settings, &chunk)?;
    let title = "messages, everything searchable at the end";
    speed(report, &measured, &chunk, title, |_| None);
    costs(report, &measured, &chunk, "messages", None);
    Ok(())
}

/// Measures the engines that search, until every word is in the full-text index.
fn until_found(settings: &Settings, chunk: &Chunk) -> Result<Vec<(Engine, Vec<Measured>)>> {
    let ingest = Ingest {
        text: true,
        ..Ingest::of(1_000)
    };
    rounds(settings, Engine::SEARCHING, chunk, ingest)
}

fn corpus(grains: u64) -> Result<Chunk> {
    Generator::new(1, grains).chunk(usize::try_from(grains)?)
}

const fn at_least(bound: f64) -> Option<Bound> {
    Some(Bound::AtLeast(bound))
}

/// Measures engines round by round, each going first in its turn.
fn rounds(
    settings: &Settings,
    engines: &[Engine],
    chunk: &Chunk,
    ingest: Ingest,
) -> Result<Vec<(Engine, Vec<Measured>)>> {
    let mut all: Vec<_> = engines.iter().map(|engine| (*engine, Vec::new())).collect();
    for round in 0..settings.rounds {
        for place in rotated(engines.len(), round) {
            let (engine, measured) = &mut all[place];
            eprintln!("ingest: round {}, {}", round + 1, engine.name());
            measured.push(measure(settings, *engine, chunk, ingest)?);
        }
    }
    Ok(all)
}

fn measure(settings: &Settings, engine: Engine, chunk: &Chunk, ingest: Ingest) -> Result<Measured> {
    let folder = settings.temporary()?;
    let batches = chunk.batches(ingest.batch_len);
    let mut peer = engine.open(folder.path(), ingest.text)?;
    let before = Counters::now()?;
    let start = Instant::now();
    if ingest.is_waited_for {
        for batch in batches {
            peer.put_batch(batch)?;
        }
    } else {
        peer.put_batches(batches)?;
    }
    if ingest.text {
        peer.index_text()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let stored = Counters::now()?.since(&before);
    // Deferred work is counted too, although no caller waits for it.
    peer.settle()?;
    drop(peer);
    let closed = Counters::now()?.since(&before);
    let disk_bytes = machine::disk_bytes(folder.path())?;
    let mut compressed = None;
    if engine == Engine::Ours && engine.open(folder.path(), ingest.text)?.compress()? {
        compressed = Some(machine::disk_bytes(folder.path())?);
    }
    Ok(Measured {
        seconds,
        stored,
        closed,
        disk_bytes,
        compressed,
    })
}

fn speed(
    report: &mut Report,
    all: &[(Engine, Vec<Measured>)],
    chunk: &Chunk,
    title: &str,
    bound: impl Fn(Engine) -> Option<Bound>,
) {
    let grains = chunk.drafts.len() as f64;
    let mut table = Table::new(format!("Ingest, {title}"), "grains/s");
    for (engine, measured) in all {
        let rounds = measured.iter().map(|one| grains / one.seconds).collect();
        table.row(engine.name(), rounds, bound(*engine));
    }
    report.table(&table);
}

/// Prints what an ingest costs besides time: with `bounds`, of the processor time and the disk, in full.
fn costs(
    report: &mut Report,
    all: &[(Engine, Vec<Measured>)],
    chunk: &Chunk,
    title: &str,
    bounds: Option<[f64; 2]>,
) {
    let grains = chunk.drafts.len() as f64;
    let blob_bytes = chunk.blob_bytes() as f64;
    let mut print = |what: &str, unit: &str, bound, value: &dyn Fn(&Measured) -> f64| {
        let mut table = Table::new(format!("{what}, {title}"), unit);
        for (place, (engine, measured)) in all.iter().enumerate() {
            let rounds = measured.iter().map(value).collect();
            table.row(engine.name(), rounds, if place == 0 { bound } else { None });
        }
        report.table(&table);
    };
    let at_most = |place: usize| bounds.map(|bounds| Bound::AtMost(bounds[place]));
    print("Processor time", "µs per grain", at_most(0), &|one| {
        one.stored.cpu.as_secs_f64() * 1e6 / grains
    });
    if bounds.is_some() {
        let title_closed = "Processor time until it is merged and compacted";
        print(title_closed, "µs per grain", None, &|one| {
            one.closed.cpu.as_secs_f64() * 1e6 / grains
        });
        print("Bytes written", "per blob byte", None, &|one| {
            one.closed.written as f64 / blob_bytes
        });
    }
    print("Disk", "bytes per blob byte", at_most(1), &|one| {
        one.disk_bytes as f64 / blob_bytes
    });
    let title_compressed = "Disk, ours compressed";
    print(title_compressed, "bytes per blob byte", None, &|one| {
        one.compressed.unwrap_or(one.disk_bytes) as f64 / blob_bytes
    });
}
