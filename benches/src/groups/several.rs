//! What it costs that several processes have a store open: each here is a handle of its own in one
//! process, and the locks of files keep handles apart as they do processes.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use grainstore::ledger::EntryId;
use grainstore::{ContentAddress, Draft, Filter, Store};

use crate::Result;
use crate::data::{Dice, Generator};
use crate::ours::{Ours, options};
use crate::peer::Peer;
use crate::report::{Bound, Report, Table};
use crate::setup::Settings;

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let folder = settings.temporary()?;
    let addresses = fill(settings.sizes.ingest, folder.path())?;
    gets(settings, folder.path(), &addresses, report)?;
    news(settings, folder.path(), report)?;
    puts(settings, folder.path(), report)
}

fn fill(grains: u64, folder: &Path) -> Result<Vec<ContentAddress>> {
    let mut ours = Ours::open(folder, true)?;
    let chunk = Generator::new(5, grains).chunk(usize::try_from(grains)?)?;
    let addresses = chunk.addresses.clone();
    for batch in chunk.batches(1_000) {
        ours.put_batch(batch)?;
    }
    ours.settle()?;
    Ok(addresses)
}

fn open(folder: &Path) -> Result<Store> {
    Ok(Store::open(folder, options(true))?)
}

/// Gets by a follower that has nothing new to apply, and by a process that is alone.
fn gets(
    settings: &Settings,
    folder: &Path,
    addresses: &[ContentAddress],
    report: &mut Report,
) -> Result<()> {
    let (mut alone, mut following) = (Vec::new(), Vec::new());
    let get = |store: &Store, seed: usize| -> Result<f64> {
        let mut dice = Dice::new(seed as u64);
        let start = Instant::now();
        for _ in 0..settings.sizes.questions * 10 {
            let place = usize::try_from(dice.below(addresses.len() as u64))?;
            let address = addresses.get(place).ok_or("no address")?;
            store.get(address)?.ok_or("a grain is gone")?;
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(seconds * 1e6 / (settings.sizes.questions * 10) as f64)
    };
    for round in 0..=settings.rounds {
        let keeper = open(folder)?;
        get(&keeper, round)?;
        let by_keeper = get(&keeper, round)?;
        let follower = open(folder)?;
        get(&follower, round)?;
        let by_follower = get(&follower, round)?;
        if round > 0 {
            alone.push(by_keeper);
            following.push(by_follower);
        }
    }
    let mut table = Table::new("Get by address, nothing new to follow", "us");
    table.row("store, following", following, None);
    table.row("store, alone", alone, Some(Bound::AtMost(1.15)));
    report.table(&table);
    Ok(())
}

/// How long after its acknowledgement a grain is found by another process, by address and by a word.
fn news(settings: &Settings, folder: &Path, report: &mut Report) -> Result<()> {
    let (mut by_address, mut by_word) = (Vec::new(), Vec::new());
    for round in 0..=settings.rounds {
        let writer = open(folder)?;
        let follower = open(folder)?;
        let mut times = [Vec::new(), Vec::new()];
        for n in 0..settings.sizes.questions / 2 {
            let word = format!("news{round}x{n}");
            let address = writer.put(Draft::event(format!("{word} of today")))?;
            let start = Instant::now();
            let is_word = n % 2 == 1;
            match is_word {
                false => while follower.get(&address)?.is_none() {},
                true => {
                    while follower
                        .search(&word, &Filter::new(), 1)?
                        .results
                        .is_empty()
                    {}
                }
            }
            times[usize::from(is_word)].push(start.elapsed());
        }
        if round > 0 {
            let [address, word] = &mut times;
            by_address.push(late(address));
            by_word.push(late(word));
        }
    }
    for (what, late) in [("address", by_address), ("a word", by_word)] {
        let title =
            format!("A grain of another process, found by {what} after its acknowledgement");
        let mut table = Table::new(title, "ms, 99 of 100 take no longer");
        table.row("store", late, Some(Bound::AtMost(1.0)));
        report.table(&table);
    }
    Ok(())
}

fn late(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let place = (times.len() * 99 / 100).min(times.len().saturating_sub(1));
    let found = times.get(place);
    found.map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Durable puts of one writer with eight followers that read what is new, and alone.
fn puts(settings: &Settings, folder: &Path, report: &mut Report) -> Result<()> {
    let (mut alone, mut followed) = (Vec::new(), Vec::new());
    for round in 0..=settings.rounds {
        let writer = open(folder)?;
        let put = |what: &str| -> Result<f64> {
            let start = Instant::now();
            for n in 0..settings.sizes.single * 5 {
                writer.put(Draft::event(format!("{what} {round} {n}")))?;
            }
            let seconds = start.elapsed().as_secs_f64();
            Ok((settings.sizes.single * 5) as f64 / seconds)
        };
        let by_itself = put("alone")?;
        let is_over = AtomicBool::new(false);
        let with_followers = thread::scope(|scope| -> Result<f64> {
            let mut followers = Vec::new();
            for _ in 0..FOLLOWERS {
                let store = open(folder)?;
                let first = EntryId::new(store.maintenance()?.index_snapshot().watermark());
                let is_over = &is_over;
                followers.push(scope.spawn(move || follow(&store, first, is_over)));
            }
            let rate = put("followed");
            is_over.store(true, Ordering::Relaxed);
            for follower in followers {
                let seen = follower.join().map_err(|_| "a follower failed")?;
                if seen < settings.sizes.single * 5 {
                    return Err(format!("a follower saw {seen} grains").into());
                }
            }
            rate
        })?;
        if round > 0 {
            alone.push(by_itself);
            followed.push(with_followers);
        }
    }
    let mut table = Table::new("Durable puts of one writer", "puts/s");
    table.row("store, 8 followers", followed, None);
    table.row("store, alone", alone, Some(Bound::AtLeast(0.9)));
    report.table(&table);
    Ok(())
}

/// Reads what is new until the writer is done, and returns the number of grains.
fn follow(store: &Store, first: EntryId, is_over: &AtomicBool) -> u64 {
    let mut feed = store.changes(first);
    let mut seen = 0;
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        seen += feed.by_ref().filter(|change| change.is_ok()).count() as u64;
        if was_over {
            return seen;
        }
        feed.wait(Duration::from_millis(50));
    }
}

const FOLLOWERS: usize = 8;
