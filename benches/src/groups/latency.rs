//! How long one answer takes, warm, in a store of a million; and whether readers get in each
//! other's way while another thread writes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use grainstore::query::{Recall, Sort, SortBy};
use grainstore::{ContentAddress, Filter, Store, Time, Type};

use crate::Result;
use crate::data::{Corpus, Dice, Generator, VOCABULARY, word};
use crate::ours::Ours;
use crate::peer::Peer;
use crate::report::{Bound, Report, Table};
use crate::setup::Settings;

/// The store, and what questions are made from.
pub(super) struct Asked {
    pub(super) store: Store,
    pub(super) corpus: Corpus,
    pub(super) grains: u64,
    pub(super) addresses: Vec<ContentAddress>,
}

pub(super) type Question = fn(&Asked, &mut Dice) -> Result<u64>;

/// The queries, and the milliseconds that 99 of 100 answers may take.
const QUESTIONS: [(&str, Question, f64); 11] = [
    ("Get by address", get, 1.0),
    ("Subject and relation, 10 grains", statement, 1.0),
    ("No filter, 10 grains", anything, 1.0),
    ("User and tag, 10 grains", user_and_tag, 1.0),
    ("Type, namespace and a week, 10 grains", type_and_week, 1.0),
    ("Namespace, the 10 surest", surest, 1.0),
    (
        "Namespace, the 10 newest that were known at a time",
        known,
        1.0,
    ),
    ("Search, two words, top 10", search, 1.0),
    ("Search, a frequent and another word, top 10", frequent, 1.0),
    (
        "Search, two words in a namespace, top 10",
        search_in_team,
        1.0,
    ),
    ("Recall, eight words, 2000 tokens", recall, 4.0),
];

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let folder = settings.temporary()?;
    let asked = fill(settings.sizes.large, folder.path())?;
    for (name, question, late_max) in QUESTIONS {
        ask(settings, &asked, (name, question, late_max), report)?;
    }
    beside_a_writer(settings, &asked, report)
}

/// Asks one kind of question in rounds, and holds 99 of 100 answers to a number of milliseconds.
pub(super) fn ask(
    settings: &Settings,
    asked: &Asked,
    (name, question, late_max): (&str, Question, f64),
    report: &mut Report,
) -> Result<()> {
    let (mut median, mut late) = (Vec::new(), Vec::new());
    for round in 0..=settings.rounds {
        let mut dice = Dice::new(round as u64);
        let mut times = Vec::new();
        for _ in 0..settings.sizes.questions {
            let start = Instant::now();
            question(asked, &mut dice)?;
            times.push(start.elapsed());
        }
        // The first round warms the caches.
        if round > 0 {
            times.sort_unstable();
            median.push(at(&times, 50));
            late.push(at(&times, 99));
        }
    }
    let title = format!("{name}, p99");
    let mut table = Table::new(title, "ms");
    table.row("store", late, Some(Bound::AtMost(late_max)));
    table.row("p50", median, None);
    report.table(&table);
    Ok(())
}

pub(super) fn fill(grains: u64, folder: &std::path::Path) -> Result<Asked> {
    let mut ours = Ours::open(folder, true)?;
    let mut generator = Generator::new(5, grains);
    let mut addresses = Vec::new();
    let mut left = grains;
    while left > 0 {
        let chunk = generator.chunk(usize::try_from(left.min(1_000))?)?;
        left -= chunk.drafts.len() as u64;
        addresses.extend(chunk.addresses.iter().step_by(97));
        ours.put_batch(chunk.drafts)?;
    }
    ours.index_text()?;
    ours.settle()?;
    Ok(Asked {
        store: ours.store().clone(),
        corpus: generator.corpus(),
        grains,
        addresses,
    })
}

pub(super) fn at(times: &[Duration], percent: usize) -> f64 {
    let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times
        .get(place)
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

pub(super) fn get(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let place = usize::try_from(dice.below(asked.addresses.len() as u64))?;
    let address = asked.addresses.get(place).ok_or("no address")?;
    let grain = asked.store.get(address)?.ok_or("a grain is gone")?;
    Ok(grain.blob().len() as u64)
}

fn query(asked: &Asked, filter: &Filter, sort: Sort) -> Result<u64> {
    Ok(asked
        .store
        .query(&filter.clone().sorted(sort), 10, None)?
        .total)
}

fn statement(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let statement = asked.corpus.statement(dice.below(asked.grains));
    let filter = Filter::new()
        .subject(statement.subject)
        .relation(statement.relation);
    query(asked, &filter, Sort::default())
}

fn anything(asked: &Asked, _: &mut Dice) -> Result<u64> {
    query(asked, &Filter::new(), Sort::default())
}

fn user_and_tag(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let filter = Filter::new()
        .user(format!("user-{:04}", dice.skewed(500)))
        .tag(format!("tag{}", dice.skewed(100)));
    query(asked, &filter, Sort::default())
}

fn type_and_week(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let from = Corpus::second_ms(dice.below(asked.grains));
    let filter = in_team(dice)
        .of_type(Type::Event)
        .since(Time::from_ms(from))
        .until(Time::from_ms(from + 7 * 24 * 3_600 * 1_000));
    query(asked, &filter, Sort::default())
}

fn surest(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let filter = in_team(dice).confidence(0.9, None);
    query(asked, &filter, Sort::by(SortBy::Confidence).descending())
}

fn known(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let now = Time::from_ms(i64::MAX);
    let filter = in_team(dice)
        .known_at(now)
        .user(format!("user-{:04}", dice.skewed(500)));
    query(asked, &filter, Sort::by(SortBy::CreatedAt).descending())
}

fn in_team(dice: &mut Dice) -> Filter {
    Filter::new().namespace(format!("org:team{}", dice.below(20)))
}

/// Returns a word as often as texts have it.
fn some_word(dice: &mut Dice) -> String {
    word(dice.skewed_more(VOCABULARY))
}

pub(super) fn search(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let words = format!("{} {}", some_word(dice), some_word(dice));
    Ok(asked.store.search(&words, &Filter::new(), 10)?.total)
}

pub(super) fn frequent(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let words = format!("{} {}", word(dice.below(10)), some_word(dice));
    Ok(asked.store.search(&words, &Filter::new(), 10)?.total)
}

pub(super) fn search_in_team(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let words = format!("{} {}", some_word(dice), some_word(dice));
    Ok(asked.store.search(&words, &in_team(dice), 10)?.total)
}

pub(super) fn recall(asked: &Asked, dice: &mut Dice) -> Result<u64> {
    let words: Vec<String> = (0..8).map(|_| some_word(dice)).collect();
    let recall = Recall::default();
    let known = asked
        .store
        .recall(&words.join(" "), &Filter::new(), &recall)?;
    Ok(known.tokens as u64)
}

/// One thread that reads, and eight, while another thread stores.
fn beside_a_writer(settings: &Settings, asked: &Asked, report: &mut Report) -> Result<()> {
    let (mut one, mut eight) = (Vec::new(), Vec::new());
    let mut generator = Generator::new(6, asked.grains);
    for _ in 0..settings.rounds {
        for (readers, rounds) in [(1, &mut one), (8, &mut eight)] {
            rounds.push(readings(asked, readers, &mut generator)?);
        }
    }
    let mut table = Table::new(
        "Gets and triple lookups while one thread stores, 8 threads against one",
        "answers/s",
    );
    table.row("8 threads", eight, None);
    table.row("1 thread", one, Some(Bound::AtLeast(1.7)));
    report.table(&table);
    Ok(())
}

fn readings(asked: &Asked, readers: u64, generator: &mut Generator) -> Result<f64> {
    let stops = AtomicBool::new(false);
    let answers = AtomicU64::new(0);
    let mut batches = Vec::new();
    for _ in 0..100 {
        batches.push(generator.chunk(100)?.drafts);
    }
    let start = Instant::now();
    thread::scope(|scope| {
        let (stops, answers) = (&stops, &answers);
        scope.spawn(move || {
            for batch in batches {
                if stops.load(Ordering::Relaxed) || asked.store.put_batch(batch).is_err() {
                    return;
                }
            }
        });
        for reader in 0..readers {
            scope.spawn(move || {
                let mut dice = Dice::new(reader);
                while !stops.load(Ordering::Relaxed) {
                    let both = get(asked, &mut dice).and_then(|_| statement(asked, &mut dice));
                    if both.is_err() {
                        return;
                    }
                    answers.fetch_add(2, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(READING);
        stops.store(true, Ordering::Relaxed);
    });
    Ok(answers.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64())
}

/// How long readers read in a round.
const READING: Duration = Duration::from_millis(1_500);
