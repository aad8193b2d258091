//! How far a copy is behind 1,000 puts a second, what it takes from the writers, and what it writes.
//!
//! `cargo run --release -p grainstore-replica --example lag -- [SECONDS] [URL]`; without a URL the copy
//! lies in a temporary directory.

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use grainstore::{Draft, Options, Store};
use grainstore_replica::{Bucket, ShipOptions, Shipper};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let home = tempfile::tempdir()?;
    let url = arguments.next();
    let url = url.unwrap_or_else(|| format!("file://{}", home.path().join("copy").display()));
    let span = Duration::from_secs(seconds);

    let path = home.path().join("paced");
    let (acknowledged, shipped) = beside(&path, &format!("{url}/paced"), |store| {
        let mut acknowledged = Vec::new();
        let began = Instant::now();
        for n in 0..seconds * PACE {
            let due = began + Duration::from_micros(n * 1_000_000 / PACE);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            put(store, n)?;
            acknowledged.push(Instant::now());
        }
        Ok(acknowledged)
    })?;
    let mut lags: Vec<Duration> = Vec::new();
    for (nth, time) in (1..).zip(&acknowledged) {
        let seen = shipped.passes.iter().find(|(entries, _)| *entries >= nth);
        lags.push(
            seen.ok_or("an entry was not shipped")?
                .1
                .duration_since(*time),
        );
    }
    lags.sort();
    let at = |share: usize| lags[(lags.len() - 1) * share / 100].as_secs_f64();
    let rate = acknowledged.len() as u64 / seconds;
    println!(
        "{rate} puts/s: lag p50 {:.3} s, p99 {:.3} s, most {:.3} s",
        at(50),
        at(99),
        at(100)
    );
    let share = shipped.written as f64 / shipped.ledger as f64;
    println!(
        "{} bytes of ledger, {} bytes written: {share:.3}; {} passes",
        shipped.ledger,
        shipped.written,
        shipped.passes.len()
    );

    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let path = home.path().join(format!("alone{round}"));
        let store = Store::open(&path, Options::default())?;
        alone.push(full_speed(&store, span)?);
        drop(store);
        let path = home.path().join(format!("beside{round}"));
        let place = format!("{url}/beside{round}");
        let (rate, _) = beside(&path, &place, |store| full_speed(store, span))?;
        together.push(rate);
    }
    let (alone, together) = (median(alone), median(together));
    println!(
        "{WRITERS} writers: alone {alone:.0} puts/s, beside {together:.0}: {:.3}",
        together / alone
    );
    Ok(())
}

#[derive(Default)]
struct Copied {
    /// The entries of the copy, and when a pass said so.
    passes: Vec<(u64, Instant)>,
    written: u64,
    ledger: u64,
}

/// Runs work on a new store while a thread ships it, and returns once all is shipped.
fn beside<T>(
    path: &Path,
    url: &str,
    work: impl FnOnce(&Store) -> Outcome<T>,
) -> Outcome<(T, Copied)> {
    let store = Store::open(path, Options::default())?;
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let shipping = scope.spawn(|| ship(path, url, &is_done));
        let worked = work(&store);
        is_done.store(true, Ordering::Release);
        let copied = shipping
            .join()
            .map_err(|_| "the thread that ships panicked")??;
        Ok((worked?, copied))
    })
}

fn ship(path: &Path, url: &str, is_done: &AtomicBool) -> Outcome<Copied> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let bucket = Bucket::open(url, std::env::vars())?;
        let mut shipper = Shipper::open(path, bucket, ShipOptions::default()).await?;
        let mut copied = Copied::default();
        loop {
            let was_done = is_done.load(Ordering::Acquire);
            let began = Instant::now();
            let shipped = shipper.pass().await?;
            copied.passes.push((shipped.entries, Instant::now()));
            copied.written += shipped.written_bytes;
            copied.ledger += shipped.ledger_bytes;
            if was_done {
                return Ok(copied);
            }
            // As the command does.
            tokio::time::sleep(EVERY.saturating_sub(began.elapsed())).await;
        }
    })
}

/// Returns the puts a second of several threads that do nothing else.
fn full_speed(store: &Store, span: Duration) -> Outcome<f64> {
    let (count, failed) = (AtomicU64::new(0), Mutex::new(None));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                while began.elapsed() < span {
                    let n = count.fetch_add(1, Ordering::Relaxed);
                    if let Err(error) = put(store, n) {
                        *failed.lock().expect("no thread panics with it") = Some(error);
                        return;
                    }
                }
            });
        }
    });
    if let Some(error) = failed.lock().expect("no thread panics with it").take() {
        return Err(error);
    }
    Ok(count.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64())
}

fn put(store: &Store, n: u64) -> Outcome<()> {
    let text =
        format!("note {n}: the customer prefers to be called in the afternoon, and not before two");
    store.put(Draft::event(&text).session("talk"))?;
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

const PACE: u64 = 1_000;
const WRITERS: usize = 4;
const ROUNDS: usize = 3;
const EVERY: Duration = Duration::from_millis(500);
