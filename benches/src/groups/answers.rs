//! Answers as agents ask for them: searches with the default ranking beside tantivy's BM25 of the same
//! words, recalls by one thread and by several, reads beside a steady writer, and reads from the disk.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use grainstore::{Draft, Filter};
use rustix::fs::{Advice, fadvise};

use crate::data::{Dice, Generator, VOCABULARY, word};
use crate::peer::{Peer, Words};
use crate::report::{Bound, Report, Table};
use crate::setup::{Settings, rotated};
use crate::tantivy_alone::Tantivy;
use crate::{Result, machine};

use super::latency::{Asked, Question, at, fill, get, recall, search};

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let folder = settings.temporary()?;
    let asked = fill(settings.sizes.read, folder.path())?;
    by_default(settings, &asked, report)?;
    recalls(settings, &asked, report)?;
    beside_a_steady_writer(settings, &asked, report)?;
    from_the_disk(settings, &asked, folder.path(), report)
}

/// Searches for two words: the default ranking, and tantivy's BM25 of either word.
fn by_default(settings: &Settings, asked: &Asked, report: &mut Report) -> Result<()> {
    let folder = settings.temporary()?;
    let mut tantivy = Tantivy::open(folder.path())?;
    let mut generator = Generator::new(5, asked.grains);
    let mut left = asked.grains;
    while left > 0 {
        let chunk = generator.chunk(usize::try_from(left.min(10_000))?)?;
        left -= chunk.drafts.len() as u64;
        tantivy.put_batch(chunk.drafts)?;
    }
    tantivy.index_text()?;
    tantivy.settle()?;
    let mut us = [Vec::new(), Vec::new()];
    for round in 0..=settings.rounds {
        let mut dice = Dice::new(round as u64);
        let count = settings.sizes.questions;
        let word = |dice: &mut Dice| word(dice.skewed_more(VOCABULARY));
        let pairs: Vec<_> = (0..count)
            .map(|_| (word(&mut dice), word(&mut dice)))
            .collect();
        for place in rotated(2, round) {
            let start = Instant::now();
            for (one, other) in &pairs {
                let found = match place {
                    0 => {
                        let words = format!("{one} {other}");
                        let found = asked.store.search(&words, &Filter::new(), 10)?;
                        found.results.len()
                    }
                    _ => {
                        let words = Words::Or(one.clone(), other.clone());
                        tantivy.search(&words, 10)?.len()
                    }
                };
                std::hint::black_box(found);
            }
            let spent = start.elapsed().as_secs_f64() * 1e6 / pairs.len() as f64;
            if round > 0 {
                us[place].push(spent);
            }
        }
    }
    let [ours, theirs] = us;
    let title = "Search as by default, two words, beside BM25 of either word";
    let mut table = Table::new(title, "µs per question");
    table.row("store", ours, None);
    table.row("tantivy alone, BM25", theirs, Some(Bound::AtMost(3.0)));
    report.table(&table);
    Ok(())
}

/// Recalls of 2,000 tokens: by one thread, and by as many as there are cores.
fn recalls(settings: &Settings, asked: &Asked, report: &mut Report) -> Result<()> {
    let cores = thread::available_parallelism()?.get();
    let (mut one, mut all) = (Vec::new(), Vec::new());
    for round in 0..=settings.rounds {
        let rates = [rate(asked, 1, round)?, rate(asked, cores, round)?];
        if round > 0 {
            one.push(rates[0]);
            all.push(rates[1]);
        }
    }
    let mut table = Table::new("Recall, eight words, 2000 tokens", "recalls/s");
    table.row(format!("{cores} threads"), all, None);
    table.row("1 thread", one, None);
    report.table(&table);
    Ok(())
}

fn rate(asked: &Asked, threads: usize, round: usize) -> Result<f64> {
    let start = Instant::now();
    let answered = thread::scope(|scope| {
        let readers = (0..threads).map(|reader| {
            scope.spawn(move || {
                let mut dice = Dice::new((round * 64 + reader) as u64);
                let mut answered = 0_u64;
                while start.elapsed() < READING && recall(asked, &mut dice).is_ok() {
                    answered += 1;
                }
                answered
            })
        });
        let readers: Vec<_> = readers.collect();
        let answers = readers.into_iter().map(|reader| reader.join().ok());
        answers.sum::<Option<u64>>()
    });
    let answered = answered.ok_or("a reader failed")?;
    Ok(answered as f64 / start.elapsed().as_secs_f64())
}

/// Reads while another thread makes 1,000 durable puts a second, and the puts.
fn beside_a_steady_writer(settings: &Settings, asked: &Asked, report: &mut Report) -> Result<()> {
    let questions: [(&str, Question); 2] = [
        ("Get by address", get),
        ("Search, two words, top 10", search),
    ];
    for (name, question) in questions {
        let (mut alone, mut beside, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=settings.rounds {
            let quiet = late(asked, question, round)?;
            let is_over = AtomicBool::new(false);
            let start = Instant::now();
            let (busy, puts) = thread::scope(|scope| {
                let writer = scope.spawn(|| steady_puts(asked, &is_over));
                let busy = late(asked, question, round);
                is_over.store(true, Ordering::Relaxed);
                (busy, writer.join().unwrap_or(0))
            });
            if round > 0 {
                alone.push(quiet);
                beside.push(busy?);
                written.push(puts as f64 / start.elapsed().as_secs_f64());
            }
        }
        let title = format!("{name}, p99, beside 1,000 durable puts a second");
        let mut table = Table::new(title, "ms");
        table.row("store", beside, None);
        table.row("store, alone", alone, None);
        report.table(&table);
        let mut table = Table::new(format!("The puts beside: {name}"), "puts/s");
        table.value("store", written);
        report.table(&table);
    }
    Ok(())
}

fn steady_puts(asked: &Asked, is_over: &AtomicBool) -> u64 {
    let start = Instant::now();
    let mut puts: u32 = 0;
    while !is_over.load(Ordering::Relaxed) {
        let due = Duration::from_millis(1) * puts;
        thread::sleep(due.saturating_sub(start.elapsed()));
        let text = format!("a steady writer says {puts}");
        if asked.store.put(Draft::event(text)).is_err() {
            return 0;
        }
        puts += 1;
    }
    u64::from(puts)
}

/// Asks for a while; returns the milliseconds that 99 of 100 answers took at most.
fn late(asked: &Asked, question: Question, round: usize) -> Result<f64> {
    let mut dice = Dice::new(round as u64);
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < READING {
        let asked_at = Instant::now();
        question(asked, &mut dice)?;
        times.push(asked_at.elapsed());
    }
    times.sort_unstable();
    Ok(at(&times, 99))
}

/// Gets whose bytes the system has to read from the disk.
fn from_the_disk(
    settings: &Settings,
    asked: &Asked,
    folder: &Path,
    report: &mut Report,
) -> Result<()> {
    let (mut median, mut slow) = (Vec::new(), Vec::new());
    for round in 0..settings.rounds {
        let mut dice = Dice::new(round as u64);
        let mut times = Vec::new();
        for _ in 0..settings.sizes.questions / 10 {
            forget(&folder.join("ledger"))?;
            let start = Instant::now();
            get(asked, &mut dice)?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        median.push(at(&times, 50));
        slow.push(at(&times, 99));
    }
    let mut table = Table::new("Get by address from the disk, p99", "ms");
    table.row("store", slow, None);
    table.row("p50", median, None);
    report.table(&table);
    report.say(&machine::file_system(folder)?);
    Ok(())
}

/// Drops the pages of all files of a folder from the cache of the system.
fn forget(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let file = File::open(entry?.path())?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

/// How long readers read in a round.
const READING: Duration = Duration::from_millis(1_500);
