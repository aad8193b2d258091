//! The write rates of the disk, and those of a store on it: `cargo bench --bench write_rates --
//! [DIRECTORY]`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use grainstore::ledger::{Binding, Kind, Ledger, MemoryDisk, NewEntry, SEGMENT_BYTES, StoreId};
use grainstore::store::Durability;
use grainstore::{ContentAddress, Draft, Grain, Options, Store};
use sha2::{Digest, Sha256};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    let parent = std::env::args_os()
        .filter(|it| it != "--bench")
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let home = parent.join(format!("write-rates-{}", std::process::id()));
    std::fs::create_dir(&home)?;
    let outcome = run(&home);
    std::fs::remove_dir_all(&home)?;
    outcome
}

fn run(home: &Path) -> Result<()> {
    serial_part()?;
    for round in 0..3 {
        say(&format!("round {round}"));
        raw(home, 1_000)?;
        for (name, durability) in [
            ("sync", Durability::Sync),
            ("group 1 ms", Durability::Group(Duration::from_millis(1))),
            ("relaxed", Durability::Relaxed),
        ] {
            singles(home, name, durability, 1, 1_000)?;
            singles(home, name, durability, 64, 16_000)?;
        }
        batches(home, 1_000, 50)?;
    }
    Ok(())
}

/// The disk alone: what a put writes, appended and synced.
fn raw(home: &Path, count: u32) -> Result<()> {
    let path = home.join("raw");
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    let bytes = [7; 460];
    let started = Instant::now();
    for _ in 0..count {
        file.write_all(&bytes)?;
        file.sync_data()?;
    }
    rate("raw append and fdatasync", count.into(), started.elapsed());
    Ok(std::fs::remove_file(path)?)
}

fn singles(
    home: &Path,
    name: &str,
    durability: Durability,
    threads: u64,
    count: u64,
) -> Result<()> {
    let (store, path) = open(home, durability)?;
    let started = Instant::now();
    thread::scope(|scope| {
        let putting: Vec<_> = (0..threads)
            .map(|thread| {
                let store = &store;
                scope.spawn(move || -> Result<()> {
                    for n in (thread..count).step_by(threads.try_into()?) {
                        store.put(draft(n))?;
                    }
                    Ok(())
                })
            })
            .collect();
        putting
            .into_iter()
            .try_for_each(|put| put.join().unwrap_or(Ok(())))
    })?;
    rate(
        &format!("single puts, {name}, {threads} threads"),
        count,
        started.elapsed(),
    );
    drop(store);
    Ok(std::fs::remove_dir_all(path)?)
}

fn batches(home: &Path, len: u64, count: u64) -> Result<()> {
    let (store, path) = open(home, Durability::Sync)?;
    let batches: Vec<Vec<Draft>> = (0..count)
        .map(|batch| (0..len).map(|n| draft(batch * len + n)).collect())
        .collect();
    let mut addresses = Vec::new();
    let started = Instant::now();
    for batch in batches {
        addresses.extend(store.put_batch(batch)?.iter().map(|put| put.address));
    }
    rate(&format!("batches of {len}"), len * count, started.elapsed());
    gets(&store, &addresses)?;
    drop(store);
    Ok(std::fs::remove_dir_all(path)?)
}

/// A verified get against what it cannot do without.
fn gets(store: &Store, addresses: &[ContentAddress]) -> Result<()> {
    let mut bytes = 0;
    let started = Instant::now();
    for address in addresses {
        bytes += store
            .get(address)?
            .as_ref()
            .map_or(0, |grain: &Grain| grain.blob().len());
    }
    rate("get by address", addresses.len() as u64, started.elapsed());
    let body = vec![7; bytes / addresses.len()];
    let started = Instant::now();
    let mut last = 0;
    for _ in addresses {
        last ^= Sha256::digest(std::hint::black_box(&body))[0];
    }
    rate(
        &format!("SHA-256 of {} bytes ({last})", body.len()),
        addresses.len() as u64,
        started.elapsed(),
    );
    Ok(())
}

/// The serial part of appending, after the grains were prepared.
fn serial_part() -> Result<()> {
    let ledger = Ledger::create(
        Arc::new(MemoryDisk::default()),
        StoreId::new([7; 16]),
        SEGMENT_BYTES,
    )?;
    let body = [7; 335];
    let entry = NewEntry {
        kind: Kind::Grain,
        actor: None,
        body: &body,
        binding: Binding::of([1; 16], &body),
    };
    let entries = vec![entry; 1_000];
    let started = Instant::now();
    for _ in 0..200 {
        ledger.append(1, &entries)?;
    }
    rate(
        "ledger append in memory, entries",
        200_000,
        started.elapsed(),
    );
    Ok(())
}

fn open(home: &Path, durability: Durability) -> Result<(Store, PathBuf)> {
    let path = home.join("store");
    let options = Options {
        durability,
        ..Options::default()
    };
    Ok((Store::open(&path, options)?, path))
}

fn draft(n: u64) -> Draft {
    let words =
        "what was said at some length about a matter of moderate weight, and why it was said";
    Draft::belief(
        format!("subject {}", n % 5_000),
        "mg:knows",
        format!("{n}: {words}"),
    )
    .confidence(0.9)
    .namespace("work:notes")
}

fn rate(what: &str, count: u64, took: Duration) {
    let each = took.as_secs_f64() / count as f64;
    say(&format!(
        "{what:<44} {:>10.0}/s {:>9.2} us",
        1.0 / each,
        each * 1e6
    ));
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn say(line: &str) {
    println!("{line}");
}
