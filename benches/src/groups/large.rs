//! A million grains beside a tenth of that: speed, memory, bytes written, disk. Each store is filled
//! by a process of its own, so that its memory is its own.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::data::Generator;
use crate::machine::{self, Counters};
use crate::ours::Ours;
use crate::peer::Peer;
use crate::report::{Bound, Report, Table};
use crate::setup::{Settings, rotated};

/// The output of the filling process.
#[derive(Debug, Default, Clone, Copy)]
struct Filled {
    per_second: f64,
    memory_bytes: f64,
    at_rest_bytes: f64,
    written: f64,
    passed: f64,
    disk: f64,
}

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let sizes = [settings.sizes.large, settings.sizes.ingest];
    let mut filled = [Vec::new(), Vec::new()];
    for round in 0..settings.rounds {
        for place in rotated(2, round) {
            eprintln!("filling: round {}, {} grains", round + 1, sizes[place]);
            let folder = settings.temporary()?;
            filled[place].push(ask_process(sizes[place], folder.path())?);
        }
    }
    let [large, small] = &filled;
    let pick = |filled: &[Filled], value: fn(&Filled) -> f64| filled.iter().map(value).collect();
    let (many, few) = (sizes[0], sizes[1]);

    let title = "Ingest, batch 1000, no text, as the store grows";
    let mut table = Table::new(title, "grains/s");
    table.row(
        format!("store, {many}"),
        pick(large, |one| one.per_second),
        None,
    );
    let bound = Some(Bound::AtLeast(0.8));
    table.row(
        format!("store, {few}"),
        pick(small, |one| one.per_second),
        bound,
    );
    report.table(&table);

    let mut table = Table::new("Most memory at once", "MB");
    table.row(
        format!("store, {many}"),
        pick(large, |one| one.memory_bytes / 1e6),
        None,
    );
    table.row(
        format!("store, {few}"),
        pick(small, |one| one.memory_bytes / 1e6),
        None,
    );
    report.table(&table);

    let mut table = Table::new("Growth of memory", "bytes per further grain");
    let growth = |value: fn(&Filled) -> f64| -> Vec<f64> {
        let pairs = large.iter().zip(small);
        pairs
            .map(|(large, small)| (value(large) - value(small)) / (many - few) as f64)
            .collect()
    };
    let bound = Some(Bound::AtMost(30.0));
    table.row("store", growth(|one| one.memory_bytes), bound);
    report.table(&table);

    let title = "Growth of memory of a store just opened";
    let mut table = Table::new(title, "bytes per further grain");
    let bound = Some(Bound::AtMost(20.0));
    table.row("store", growth(|one| one.at_rest_bytes), bound);
    report.table(&table);

    let mut table = Table::new(format!("Bytes written at {many} grains"), "per blob byte");
    let bound = Some(Bound::AtMost(2.5));
    table.row("store, pages", pick(large, |one| one.written), bound);
    table.row(
        "store, bytes passed to write calls",
        pick(large, |one| one.passed),
        None,
    );
    report.table(&table);

    let mut table = Table::new(format!("Disk at {many} grains, no text"), "per blob byte");
    table.row(
        "store",
        pick(large, |one| one.disk),
        Some(Bound::AtMost(1.9)),
    );
    report.table(&table);
    Ok(())
}

fn ask_process(grains: u64, folder: &Path) -> Result<Filled> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--child", "fill", &grains.to_string()])
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    let [
        per_second,
        memory_bytes,
        at_rest_bytes,
        written,
        passed,
        disk,
    ] = numbers[..]
    else {
        return Err("the process that fills a store failed".into());
    };
    Ok(Filled {
        per_second,
        memory_bytes,
        at_rest_bytes,
        written,
        passed,
        disk,
    })
}

/// Fills a store and prints what it took. Grains are made in between, outside the time.
pub fn fill(grains: u64, folder: &Path) -> Result<()> {
    let mut ours = Ours::open(folder, false)?;
    let mut generator = Generator::new(4, grains);
    let (mut left, mut blob_bytes, mut spent) = (grains, 0, Duration::ZERO);
    let before = Counters::now()?;
    while left > 0 {
        let len = left.min(1_000);
        let chunk = generator.chunk(usize::try_from(len)?)?;
        blob_bytes += chunk.blob_bytes();
        let start = Instant::now();
        ours.put_batch(chunk.drafts)?;
        spent += start.elapsed();
        left -= len;
    }
    ours.settle()?;
    drop(ours);
    let counters = Counters::now()?.since(&before);
    let per = |bytes: u64| bytes as f64 / blob_bytes as f64;
    println!(
        "{} {} {} {} {} {}",
        grains as f64 / spent.as_secs_f64(),
        machine::peak_memory_bytes()?,
        super::number_of("rest", folder)?,
        per(counters.written),
        per(counters.passed),
        per(machine::disk_bytes(folder)?),
    );
    Ok(())
}

/// Opens a store and prints the memory of the process, in bytes and without files that are mapped.
pub fn rest(folder: &Path) -> Result<()> {
    let ours = Ours::open(folder, false)?;
    println!("{}", machine::own_memory_bytes()?);
    drop(ours);
    Ok(())
}
