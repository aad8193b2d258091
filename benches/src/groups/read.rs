//! Reading by address, asking for statements and times, searching.

use std::time::Instant;

use grainstore::ContentAddress;
use tempfile::TempDir;

use crate::Result;
use crate::data::{Corpus, Dice, Generator};
use crate::floor::Floor;
use crate::machine;
use crate::peer::Peer;
use crate::report::{Bound, Report, Table};
use crate::setup::{Engine, Settings, rotated};
use crate::sqlite::Sqlite;

use super::questions::{self, BEST, Kind, Loaded, sample};

/// Engines that hold the same grains. The folders go last.
struct Stage {
    engines: Vec<(Engine, Box<dyn Peer>)>,
    floor: Floor,
    corpus: Corpus,
    addresses: Vec<ContentAddress>,
    blob_bytes: u64,
    /// That of the floor, then those of the engines.
    folders: Vec<TempDir>,
}

/// All engines, and text.
pub fn with_all(settings: &Settings, report: &mut Report) -> Result<()> {
    let grains = settings.sizes.read;
    let engines = [Engine::KEEPING, &[Engine::Tantivy]].concat();
    let mut stage = Stage::load(settings, &engines, grains, true)?;
    stage.check(report)?;
    stage.gets(settings, report, "")?;
    stage.ask(settings, report, 1.0)?;
    stage.search(settings, report)?;
    stage.compress()?;
    stage.disk(report)?;
    stage.gets(settings, report, ", compressed")
}

/// A million grains, in the store and SQLite.
pub fn at_a_million(settings: &Settings, report: &mut Report) -> Result<()> {
    let engines = [Engine::Ours, Engine::Sqlite];
    let mut stage = Stage::load(settings, &engines, settings.sizes.large, false)?;
    stage.check(report)?;
    stage.gets(settings, report, "")?;
    stage.ask(settings, report, 1.5)?;
    stage.compress()?;
    stage.gets(settings, report, ", compressed")
}

impl Stage {
    fn load(settings: &Settings, engines: &[Engine], grains: u64, text: bool) -> Result<Self> {
        let mut folders = Vec::new();
        let mut folder = || -> Result<_> {
            let folder = settings.temporary()?;
            let path = folder.path().to_owned();
            folders.push(folder);
            Ok(path)
        };
        let mut floor = Floor::create(&folder()?)?;
        let (mut addresses, mut blob_bytes) = (Vec::new(), 0);
        let mut loaded = Vec::new();
        let mut corpus = None;
        for engine in engines {
            eprintln!("loading {grains} grains into {}", engine.name());
            let mut generator = Generator::new(3, grains);
            let mut fill = |peer: &mut dyn Peer| -> Result<()> {
                let mut left = grains;
                while left > 0 {
                    let len = left.min(BATCH_LEN);
                    let chunk = generator.chunk(usize::try_from(len)?)?;
                    if corpus.is_none() {
                        floor.add(&chunk.addresses, &chunk.blobs)?;
                        addresses.extend_from_slice(&chunk.addresses);
                        blob_bytes += chunk.blob_bytes();
                    }
                    peer.put_batch(chunk.drafts)?;
                    left -= len;
                }
                peer.index_text()
            };
            let mut peer: Box<dyn Peer> = if *engine == Engine::Sqlite {
                let mut sqlite = Sqlite::open(&folder()?, text)?;
                // It is only read afterwards: loading it need not wait for the disk.
                sqlite.set_durable(false)?;
                fill(&mut sqlite)?;
                sqlite.optimise()?;
                Box::new(sqlite)
            } else {
                let mut peer = engine.open(&folder()?, text)?;
                fill(&mut *peer)?;
                peer
            };
            peer.settle()?;
            corpus = Some(generator.corpus());
            loaded.push((*engine, peer));
        }
        Ok(Self {
            engines: loaded,
            floor,
            corpus: corpus.ok_or("no engine to load")?,
            addresses,
            blob_bytes,
            folders,
        })
    }

    fn compress(&mut self) -> Result<()> {
        for (_, peer) in &mut self.engines {
            peer.compress()?;
        }
        Ok(())
    }

    /// Prints the room that a store with text takes, and SQLite.
    fn disk(&self, report: &mut Report) -> Result<()> {
        let title = format!(
            "Disk of {} grains, ours compressed, with text",
            self.grains()
        );
        let mut table = Table::new(title, "bytes per blob byte");
        for ((engine, _), folder) in self.engines.iter().zip(self.folders.iter().skip(1)) {
            let bound = match engine {
                Engine::Ours => Some(Bound::AtMost(1.4)),
                Engine::Sqlite => None,
                // They have no text, or nothing else.
                _ => continue,
            };
            let bytes = machine::disk_bytes(folder.path())? as f64;
            table.row(engine.name(), vec![bytes / self.blob_bytes as f64], bound);
        }
        report.table(&table);
        Ok(())
    }

    fn grains(&self) -> u64 {
        self.addresses.len() as u64
    }

    fn size(&self) -> String {
        match self.grains() {
            grains if grains % 1_000_000 == 0 => format!("{} M grains", grains / 1_000_000),
            grains => format!("{} k grains", grains / 1_000),
        }
    }

    /// Returns those of the loaded engines that are among these.
    fn loaded(&self, among: &[Engine]) -> Vec<Loaded<'_>> {
        let loaded = self.engines.iter();
        let loaded = loaded.filter(|(engine, _)| among.contains(engine));
        loaded
            .map(|(engine, peer)| (engine.name(), &**peer))
            .collect()
    }

    fn check(&self, report: &Report) -> Result<()> {
        eprintln!("comparing answers");
        let compared =
            questions::check(&self.loaded(Engine::KEEPING), &self.corpus, self.grains())?;
        let mut dice = Dice::new(1);
        for _ in 0..1_000 {
            let address = self.pick(&mut dice);
            let expected = self.floor.get(&address)?;
            for (name, peer) in self.loaded(Engine::KEEPING) {
                if expected.is_none() || peer.get(&address)? != expected {
                    return Err(format!("{name} has another blob").into());
                }
            }
        }
        report.say(&format!(
            "{}: all engines found the same {compared} grains and hold the same 1000 blobs.",
            self.size()
        ));
        Ok(())
    }

    fn pick(&self, dice: &mut Dice) -> ContentAddress {
        let place = dice.below(self.grains());
        self.addresses[usize::try_from(place).unwrap_or(0)]
    }

    /// Reads by address, each blob verified, beside what cannot be avoided.
    fn gets(&self, settings: &Settings, report: &mut Report, state: &str) -> Result<()> {
        let title = format!("Get by address, warm, verified{state}");
        eprintln!("{title}");
        let engines = self.loaded(Engine::KEEPING);
        let floor = engines.len();
        let mut us = vec![Vec::new(); floor + 1];
        for round in 0..=settings.rounds {
            let mut dice = Dice::new(round as u64);
            let count = settings.sizes.questions * 10;
            let asked: Vec<_> = (0..count).map(|_| self.pick(&mut dice)).collect();
            for place in rotated(floor + 1, round) {
                let mut bytes = 0;
                let start = Instant::now();
                for address in &asked {
                    let blob = match engines.get(place) {
                        Some((_, peer)) => peer.get(address)?,
                        None => self.floor.get(address)?,
                    };
                    bytes += blob.ok_or("a grain is missing")?.len();
                }
                let spent = start.elapsed().as_secs_f64() * 1e6 / asked.len() as f64;
                std::hint::black_box(bytes);
                if round > 0 {
                    us[place].push(spent);
                }
            }
        }
        let mut table = Table::new(title, "µs per get");
        let floor = us.pop().unwrap_or_default();
        for (place, ((name, _), us)) in engines.iter().zip(us).enumerate() {
            table.row(*name, us, None);
            if place == 0 {
                let name = "map lookup, pread, SHA-256";
                let bound = Bound::AtMost(if state.is_empty() { 1.5 } else { 3.0 });
                table.row(name, floor.clone(), Some(bound));
            }
        }
        report.table(&table);
        Ok(())
    }

    fn ask(&self, settings: &Settings, report: &mut Report, bound: f64) -> Result<()> {
        let statements = [
            ("sp?", [true, true, false]),
            ("?po", [false, true, true]),
            ("s?o", [true, false, true]),
        ];
        let count = settings.sizes.questions;
        for (name, parts) in statements {
            let kind = Kind::Statement(parts);
            let questions = sample(&self.corpus, self.grains(), kind, count, 10);
            let title = format!("{name}, up to 100 rows");
            let how = (settings.rounds, 100);
            let bound = Bound::AtMost(bound);
            questions::measure(
                report,
                title,
                &self.loaded(Engine::KEEPING),
                &questions,
                how,
                bound,
            )?;
        }
        let questions = sample(&self.corpus, self.grains(), Kind::Time, count / 4, 11);
        let title = "Time range of 1000".to_owned();
        let how = (settings.rounds, usize::MAX);
        let bound = Bound::AtMost(0.5);
        questions::measure(
            report,
            title,
            &self.loaded(Engine::KEEPING),
            &questions,
            how,
            bound,
        )
    }

    fn search(&self, settings: &Settings, report: &mut Report) -> Result<()> {
        let loaded = self.loaded(Engine::SEARCHING);
        let shared = questions::check_words(&loaded, &self.corpus, self.grains())?;
        report.say(&format!(
            "Searches count the same grains; of the best ten {:.0} % are the same.",
            shared * 100.0
        ));
        let kinds = [
            ("term", Kind::Term, 0.2),
            ("AND", Kind::And, 0.4),
            ("phrase", Kind::Phrase, 0.4),
        ];
        for (name, kind, bound) in kinds {
            let count = settings.sizes.questions / 4;
            let questions = sample(&self.corpus, self.grains(), kind, count, 12);
            let title = format!("BM25 top 10, {name}");
            let bound = Bound::AtMost(bound);
            let how = (settings.rounds, BEST);
            questions::measure(report, title, &loaded, &questions, how, bound)?;
        }
        Ok(())
    }
}

/// Large, as loading is not what is measured here.
const BATCH_LEN: u64 = 10_000;
