//! Ten million grains with text in one store: whether it is as fast at the end as at the beginning,
//! what it takes of memory and disk, how long answers take, and how soon it is open again.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::Result;
use crate::data::Generator;
use crate::machine::{self, Counters};
use crate::ours::Ours;
use crate::peer::Peer;
use crate::report::{Bound, Report, Table};
use crate::setup::Settings;

use super::latency::{self, Asked, Question};

/// The questions, and the milliseconds that 99 of 100 answers may take.
const QUESTIONS: [(&str, Question, f64); 5] = [
    ("Get by address", latency::get, 0.2),
    ("Search, two words, top 10", latency::search, 10.0),
    (
        "Search, a frequent and another word, top 10",
        latency::frequent,
        10.0,
    ),
    (
        "Search, two words in a namespace, top 10",
        latency::search_in_team,
        10.0,
    ),
    ("Recall, eight words, 2000 tokens", latency::recall, 10.0),
];

/// Runs the group. Memory is that of this process, so it runs alone.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let grains = settings.sizes.ten_million;
    let folder = settings.temporary()?;
    let before = Counters::now()?;
    let mut ours = Ours::open(folder.path(), true)?;
    let filled = fill(&mut ours, grains)?;
    let mut table = Table::new(
        format!("Ingest with text until all is found, the last tenth of {grains}"),
        "grains/s",
    );
    table.row("store", vec![filled.last], None);
    table.row(
        "the first tenth",
        vec![filled.first],
        Some(Bound::AtLeast(0.7)),
    );
    report.table(&table);
    let megabytes = machine::peak_memory_bytes()? as f64 / 1e6;
    single(
        report,
        "Most memory at once, ingest",
        "MB",
        megabytes,
        Some(Bound::AtMost(600.0)),
    );

    let asked = Asked {
        store: ours.store().clone(),
        corpus: filled.generator.corpus(),
        grains,
        addresses: filled.addresses,
    };
    for question in QUESTIONS {
        latency::ask(settings, &asked, question, report)?;
    }
    drop((asked, ours));
    let megabytes = machine::peak_memory_bytes()? as f64 / 1e6;
    single(
        report,
        "Most memory at once, questions included",
        "MB",
        megabytes,
        Some(Bound::AtMost(600.0)),
    );
    let counters = Counters::now()?.since(&before);
    let per = |bytes: u64| bytes as f64 / filled.blob_bytes as f64;
    single(
        report,
        "Bytes written",
        "per blob byte",
        per(counters.written),
        None,
    );
    single(
        report,
        "Disk",
        "per blob byte",
        per(machine::disk_bytes(folder.path())?),
        None,
    );
    let seconds = super::number_of("answer", folder.path())?;
    single(
        report,
        "Opening it again, to the first answer",
        "seconds",
        seconds,
        Some(Bound::AtMost(1.0)),
    );
    Ok(())
}

fn single(report: &mut Report, title: &str, unit: &str, value: f64, bound: Option<Bound>) {
    let mut table = Table::new(title, unit);
    match bound {
        None => table.value("store", vec![value]),
        bound => table.row("store", vec![value], bound),
    }
    report.table(&table);
}

struct Filled {
    first: f64,
    last: f64,
    blob_bytes: u64,
    addresses: Vec<grainstore::ContentAddress>,
    generator: Generator,
}

/// Stores the grains; each tenth ends when all of its words are found. Grains are made outside the
/// time, and what the store does in the background meanwhile is not counted until the tenth ends.
fn fill(ours: &mut Ours, grains: u64) -> Result<Filled> {
    let mut generator = Generator::new(5, grains);
    let (mut addresses, mut blob_bytes) = (Vec::new(), 0);
    let mut rates = Vec::new();
    let tenth = (grains / 10).max(1);
    for _ in 0..10 {
        let (mut left, mut spent) = (tenth, Duration::ZERO);
        while left > 0 {
            let chunk = generator.chunk(usize::try_from(left.min(1_000))?)?;
            left -= chunk.drafts.len() as u64;
            blob_bytes += chunk.blob_bytes();
            addresses.extend(chunk.addresses.iter().step_by(997));
            let start = Instant::now();
            ours.put_batch(chunk.drafts)?;
            spent += start.elapsed();
        }
        let start = Instant::now();
        ours.index_text()?;
        spent += start.elapsed();
        let rate = tenth as f64 / spent.as_secs_f64();
        eprintln!("{rate:.0} grains/s in a tenth");
        rates.push(rate);
    }
    Ok(Filled {
        first: rates.first().copied().unwrap_or_default(),
        last: rates.last().copied().unwrap_or_default(),
        blob_bytes,
        addresses,
        generator,
    })
}

/// Opens a store, asks it something, and prints how long both took.
pub fn answer(folder: &Path) -> Result<()> {
    let start = Instant::now();
    let ours = Ours::open(folder, true)?;
    let found = ours
        .store()
        .search("a question", &grainstore::Filter::new(), 10)?;
    let seconds = start.elapsed().as_secs_f64();
    std::hint::black_box(found.total);
    println!("{seconds}");
    Ok(())
}
