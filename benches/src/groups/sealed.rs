//! Persons under keys of their own, beside the same grains in the clear, and the erasure of persons
//! of both kinds.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use grainstore::crypto::{
    Algorithm, Context, KeySource, OsRandom, Purpose, SealingKey, Secret, SigningKey,
};
use grainstore::store::{Authorization, ErasureScope, Person, PersonErasure};
use grainstore::{Draft, Filter, Options, Store};

use crate::Result;
use crate::data::{Generator, word};
use crate::ours;
use crate::report::{Bound, Report, Table};
use crate::setup::{Settings, rotated};

/// Runs the group.
pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    envelope(settings, report)?;
    for has_text in [false, true] {
        ingest(settings, report, has_text)?;
    }
    unlock(settings, report)?;
    among_many(settings, report)?;
    in_the_clear(settings, report)
}

/// A value of the length of a larger grain, sealed and opened again.
fn envelope(settings: &Settings, report: &mut Report) -> Result<()> {
    let key = SealingKey::new(&[1; 16], &Secret::draw(&OsRandom)?);
    let context = Context {
        store: [1; 16],
        purpose: Purpose::Grain,
        uid: [2; 16],
        generation: 1,
        row: &[],
    };
    let (mut rounds, mut first) = (Vec::new(), true);
    let grain = [7; 500];
    while rounds.len() < settings.rounds {
        let start = Instant::now();
        for _ in 0..SEALINGS {
            let envelope = key.seal(&OsRandom, &context, &grain)?;
            let opened = key.open(&context, &envelope)?;
            assert_eq!(
                opened.as_slice(),
                grain,
                "what is opened is what was sealed"
            );
        }
        let us = start.elapsed().as_secs_f64() * 1e6 / f64::from(SEALINGS);
        // The first round warms the caches.
        if !std::mem::take(&mut first) {
            rounds.push(us);
        }
    }
    let mut table = Table::new("A value of 500 bytes, sealed and opened", "µs");
    table.row("store", rounds, Some(Bound::AtMost(10.0)));
    report.table(&table);
    Ok(())
}

/// The same grains of one person, sealed and in the clear, until all is durable and every word is
/// found.
fn ingest(settings: &Settings, report: &mut Report, has_text: bool) -> Result<()> {
    let drafts = of_person(&person(0), settings.sizes.ingest, 1)?;
    let mut measured = [Vec::new(), Vec::new()];
    for round in 0..settings.rounds {
        for place in rotated(2, round) {
            eprintln!(
                "sealed ingest: round {}, {}",
                round + 1,
                ["sealed", "plain"][place]
            );
            let folder = settings.temporary()?;
            let store = open(folder.path(), has_text)?;
            if place == 0 {
                store.admin()?.vault().add(&[&person(0)])?;
                store.admin()?.unlock(&person(0))?;
            }
            let batches: Vec<Vec<Draft>> = drafts.chunks(BATCH).map(<[Draft]>::to_vec).collect();
            let start = Instant::now();
            for batch in batches {
                store.put_batch(batch)?;
            }
            if has_text {
                store.maintenance()?.flush_text()?;
                // The words of a sealed person are indexed by the first search.
                store.search(&word(0), &Filter::new(), 1)?;
            }
            measured[place].push(drafts.len() as f64 / start.elapsed().as_secs_f64());
        }
    }
    let with = if has_text { "with text" } else { "no text" };
    let mut table = Table::new(
        format!("Ingest of a person, batch 1000, {with}"),
        "grains/s",
    );
    let [sealed, plain] = measured;
    table.row("store, sealed", sealed, None);
    table.row("store, plain", plain, Some(Bound::AtLeast(0.5)));
    report.table(&table);
    Ok(())
}

/// The time until the grains of a person are in every answer.
fn unlock(settings: &Settings, report: &mut Report) -> Result<()> {
    let grains = settings.sizes.unlocked;
    let folder = settings.temporary()?;
    let store = open(folder.path(), true)?;
    store.admin()?.vault().add(&[&person(0)])?;
    store.admin()?.unlock(&person(0))?;
    for batch in of_person(&person(0), grains, 2)?.chunks(BATCH) {
        store.put_batch(batch.to_vec())?;
    }
    let (mut unlocked, mut searched) = (Vec::new(), Vec::new());
    for round in 0..=settings.rounds {
        store.admin()?.lock(&person(0))?;
        let start = Instant::now();
        store.admin()?.unlock(&person(0))?;
        let unlock = start.elapsed();
        let found = store.search(&word(0), &Filter::new(), 10)?;
        assert_eq!(found.results.len(), 10, "the words of the person are found");
        if round > 0 {
            unlocked.push(unlock.as_secs_f64() * 1e3);
            searched.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let bound = Some(Bound::AtMost(250.0));
    let title = format!("Unlocking a person with {grains} grains, with text");
    let mut table = Table::new(title, "ms");
    table.row("store", unlocked, bound);
    report.table(&table);
    let mut table = Table::new("… until the first search has found its words", "ms");
    table.row("store", searched, bound);
    report.table(&table);
    Ok(())
}

/// Erasures of sealed persons among many: one with few grains, one with many.
fn among_many(settings: &Settings, report: &mut Report) -> Result<()> {
    let users = settings.sizes.users;
    let folder = settings.temporary()?;
    let store = open(folder.path(), true)?;
    let names: Vec<String> = (0..users).map(person).collect();
    eprintln!("adding {users} persons");
    for names in names.chunks(ADDED) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        store.admin()?.vault().add(&names)?;
    }
    let (few, many) = (FEW_GRAINS, settings.sizes.unlocked);
    let (mut erased_few, mut erased_many) = (Vec::new(), Vec::new());
    let mut next = names.iter();
    for round in 0..settings.rounds {
        for (grains, seconds) in [(few, &mut erased_few), (many, &mut erased_many)] {
            let name = next.next().ok_or("more rounds than persons")?;
            eprintln!(
                "erasing a sealed person: round {}, {grains} grains",
                round + 1
            );
            store.admin()?.unlock(name)?;
            for batch in of_person(name, grains, 3)?.chunks(BATCH) {
                store.put_batch(batch.to_vec())?;
            }
            let start = Instant::now();
            let done = erase(&store, name)?;
            sign(&store, &done)?;
            seconds.push(start.elapsed().as_secs_f64());
            assert_eq!(
                done.erased.len() as u64,
                grains,
                "all grains of the person are erased"
            );
        }
    }
    let bound = Some(Bound::AtMost(1.0));
    for (grains, seconds) in [(few, erased_few), (many, erased_many)] {
        let title =
            format!("Receipt of a sealed person with {grains} grains, among {users} persons");
        let mut table = Table::new(title, "s");
        table.row("store", seconds, bound);
        report.table(&table);
    }
    Ok(())
}

/// Erasures of persons in the clear, each a tenth of a large store.
fn in_the_clear(settings: &Settings, report: &mut Report) -> Result<()> {
    let grains = settings.sizes.large;
    let folder = settings.temporary()?;
    let store = open(folder.path(), true)?;
    let mut generator = Generator::new(9, grains);
    let mut left = grains;
    while left > 0 {
        let chunk = generator.chunk(usize::try_from(left.min(1_000))?)?;
        let drafts = (left..).zip(chunk.drafts);
        let drafts = drafts.map(|(number, draft)| draft.user(person(number % PERSONS)));
        let drafts: Vec<Draft> = drafts.collect();
        left -= drafts.len() as u64;
        store.put_batch(drafts)?;
    }
    store.maintenance()?.flush_text()?;
    store.maintenance()?.compact()?;
    let mut seconds = Vec::new();
    for number in 0..PERSONS.min(settings.rounds as u64) {
        eprintln!("erasing a person in the clear: round {}", number + 1);
        let start = Instant::now();
        let done = erase(&store, &person(number))?;
        seconds.push(start.elapsed().as_secs_f64());
        assert_eq!(
            done.erased.len() as u64,
            grains / PERSONS,
            "a tenth of the store"
        );
    }
    let of = grains / PERSONS;
    let title = format!("Erasure of a person in the clear with {of} grains among {grains}");
    let mut table = Table::new(title, "s");
    table.row("store", seconds, Some(Bound::AtMost(10.0)));
    report.table(&table);
    Ok(())
}

fn open(folder: &Path, has_text: bool) -> Result<Store> {
    let key = KeySource::Callback(Box::new(|| Ok(vec![3; 32].into())));
    let options = Options {
        master_key: Some(Arc::new(key)),
        ..ours::options(has_text)
    };
    Ok(Store::open(folder, options)?)
}

/// Makes grains of one person.
fn of_person(name: &str, grains: u64, seed: u64) -> Result<Vec<Draft>> {
    let chunk = Generator::new(seed, grains).chunk(usize::try_from(grains)?)?;
    let drafts = chunk.drafts.into_iter();
    Ok(drafts.map(|draft| draft.user(name)).collect())
}

fn person(number: u64) -> String {
    format!("person-{number:06}")
}

fn erase(store: &Store, user: &str) -> Result<PersonErasure> {
    let asked = Authorization {
        reason: "measured",
        authority: "the bench",
    };
    let scope = ErasureScope::default();
    let done = store
        .admin()?
        .erase_person(&Person::new(user), scope, asked);
    Ok(done?)
}

fn sign(store: &Store, done: &PersonErasure) -> Result<Vec<u8>> {
    let key = SigningKey::generate(Algorithm::Ed25519, &OsRandom)?;
    Ok(store.admin()?.erasure_receipt(done, &key, &key.did())?)
}

/// Sealings in a round.
const SEALINGS: u32 = 20_000;

const BATCH: usize = 1_000;

/// Persons that are added in one commit.
const ADDED: usize = 1_000;

/// The grains of a person with few.
const FEW_GRAINS: u64 = 10;

/// The persons of the store in the clear.
const PERSONS: u64 = 10;
