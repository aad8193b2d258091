//! One process of a schedule: it opens the store, changes it, asks it, is killed and starts again.
//! Each answer is held to the history between the beginning of the question and its end.

use std::sync::Arc;
use std::time::Duration;

use grainstore::ledger::Disk;
use grainstore::query::{Changes, Recall};
use grainstore::store::{Authorization, Create, Error, Options};
use grainstore::{ContentAddress, Draft, ErrorCode, Filter, Maintenance, Store, Time};
use parking_lot::Mutex;

use super::history::{History, Model, told};
use crate::disk::machine::{Life, Machine, MachineClock};
use crate::disk::process_disk::{ProcessDisk, SharedFault};
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::options::options;
use crate::workload::oracle::Verdict;

/// All processes of a schedule have this in common.
#[derive(Debug)]
pub(super) struct World {
    pub(super) seed: u64,
    pub(super) disk: SimDisk,
    pub(super) machine: Arc<Machine>,
    pub(super) history: Mutex<History>,
    pub(super) fault: Option<SharedFault>,
    pub(super) has_text: bool,
    pub(super) counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) answers: u64,
    pub(super) deaths: u64,
    pub(super) refused: u64,
}

/// A process.
#[derive(Debug)]
pub(super) struct Program<'a> {
    world: &'a World,
    process: usize,
    only_reads: bool,
    random: Random,
    life: Life,
    store: Option<Store>,
    feed: Option<Changes>,
    /// The grains that it was shown, for a cache that is stale.
    cached: Vec<ContentAddress>,
    serial: i64,
}

/// The end of a step that is no failure of the store.
enum Interrupted {
    Died,
    Failed(String),
}

type Step<T = ()> = Result<T, Interrupted>;

impl World {
    pub(super) fn options(&self, nth: u64) -> Options {
        let mut options = options(self.seed, nth);
        if !self.has_text {
            options.text = None;
        }
        options
    }

    fn look(&self) -> Step<usize> {
        self.history.lock().look().map_err(Interrupted::Failed)
    }

    /// Says that the first `len` entries were shown or acknowledged.
    fn show(&self, len: usize) {
        let operations = self.disk.operations();
        self.history.lock().shown.push((operations, len));
    }
}

impl<'a> Program<'a> {
    pub(super) fn new(world: &'a World, process: usize, only_reads: bool) -> Self {
        let mut random = Random::of(&[world.seed, 12, process as u64]);
        let life = world.machine.start(process, &mut random);
        Self {
            world,
            process,
            only_reads,
            random,
            life,
            store: None,
            feed: None,
            cached: Vec::new(),
            serial: 0,
        }
    }

    /// Does so many steps, across deaths.
    pub(super) fn run(mut self, steps: usize) -> Verdict {
        for _ in 0..steps {
            match self.step() {
                Ok(()) => {}
                Err(Interrupted::Died) => self.start_again(),
                Err(Interrupted::Failed(what)) => {
                    return Err(format!("process {}: {what}", self.process));
                }
            }
        }
        Ok(())
    }

    fn start_again(&mut self) {
        self.feed = None;
        self.store = None;
        self.cached.clear();
        self.world.counts.lock().deaths += 1;
        self.life = self.world.machine.start(self.process, &mut self.random);
    }

    fn step(&mut self) -> Step {
        let Some(store) = self.store.clone() else {
            return self.open();
        };
        let drawn = self.random.below(100);
        // As the thread does that an open store has in earnest.
        if drawn.is_multiple_of(3) {
            self.allowed(store.maintenance().and_then(Maintenance::tend), &[])?;
        }
        let (name, outcome) = match drawn {
            0..=54 if self.only_reads => ("query", self.query(&store)),
            0..=24 => ("put", self.put(&store)),
            25..=36 => ("supersede", self.supersede(&store)),
            37..=44 => ("delete", self.delete(&store)),
            45..=49 => ("maintenance", self.maintain(&store)),
            50..=54 => ("close", self.close()),
            55..=69 => ("query", self.query(&store)),
            70..=79 => ("get", self.get(&store)),
            80..=89 => ("feed", self.follow(&store)),
            _ => ("search", self.search(&store)),
        };
        outcome.map_err(|interrupted| match interrupted {
            Interrupted::Failed(what) => failed(format!("{name}: {what}")),
            Interrupted::Died => Interrupted::Died,
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is a step like the others")]
    fn close(&mut self) -> Step {
        self.feed = None;
        self.store = None;
        Ok(())
    }

    fn open(&mut self) -> Step {
        let nth = 1_000 * (self.process as u64 + 1) + self.random.next() % 1_000;
        let options = Options {
            clock: Arc::new(MachineClock(Arc::clone(&self.world.machine), self.life)),
            create: Create::Never,
            lock_wait: LOCK_WAIT,
            ..self.world.options(nth)
        };
        let disk: Arc<dyn Disk> = Arc::new(ProcessDisk {
            below: self.world.disk.clone(),
            machine: Arc::clone(&self.world.machine),
            life: self.life,
            fault: self.world.fault,
            known: Arc::default(),
        });
        let opened = match self.only_reads {
            true => Store::open_on(disk, options.read_only()),
            false => Store::open_on(disk, options),
        };
        self.store = self.allowed(opened, &[])?;
        if let Some(store) = &self.store {
            let maintenance = store.maintenance();
            let found = maintenance
                .map_err(|error| failed(error.to_string()))?
                .recovery_report();
            let mut rebuilt = found.index_rebuilt.iter().chain(&found.text_rebuilt);
            if let Some(reason) = rebuilt.next() {
                return Err(failed(format!("a view was built anew: {reason}")));
            }
        }
        Ok(())
    }

    /// Returns the outcome of a change; `None` if it gave up waiting or was refused with one of these
    /// codes.
    fn allowed<T>(&self, outcome: Result<T, Error>, codes: &[ErrorCode]) -> Step<Option<T>> {
        if self.world.machine.is_dead(self.life) {
            return Err(Interrupted::Died);
        }
        match outcome {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.code() == ErrorCode::StoreLocked => {
                self.world.counts.lock().refused += 1;
                Ok(None)
            }
            Err(error) if codes.contains(&error.code()) => Ok(None),
            Err(error) => Err(failed(format!("{}: {error}", error.code()))),
        }
    }

    fn draft(&mut self) -> Draft {
        self.serial += 1;
        let text = format!("common {} {}", self.process, self.serial);
        let draft = Draft::belief(format!("s{}", self.serial % 3), "says", text);
        draft.confidence(0.5).created_at(Time::from_ms(self.serial))
    }

    fn put(&mut self, store: &Store) -> Step {
        let draft = self.draft();
        let stored = self.allowed(store.put(draft), &[])?;
        stored.map_or(Ok(()), |address| self.acknowledged(&address))
    }

    /// Holds an acknowledged grain to the history.
    fn acknowledged(&self, address: &ContentAddress) -> Step {
        self.world.look()?;
        let entry = self.world.history.lock().entry_of(address);
        let entry = entry.ok_or_else(|| failed("an acknowledged grain is not published".into()))?;
        self.world.show(entry + 1);
        Ok(())
    }

    fn supersede(&mut self, store: &Store) -> Step {
        self.world.look()?;
        let model = self.world.history.lock().now();
        let Some(old) = self.random.pick(&model.current).copied() else {
            return Ok(());
        };
        let draft = self.draft().derived_from(old);
        let refusals = [ErrorCode::Conflict, ErrorCode::NotFound];
        let outcome = self.allowed(store.supersede(&old, draft, None), &refusals);
        self.world.look()?;
        if let Some(new) = outcome? {
            return self.acknowledged(&new);
        }
        Ok(())
    }

    fn delete(&mut self, store: &Store) -> Step {
        self.world.look()?;
        let model = self.world.history.lock().now();
        let Some(address) = self.random.pick(&model.all).copied() else {
            return Ok(());
        };
        let office = Authorization {
            reason: "a request",
            authority: "the office",
        };
        let deleted = store
            .admin()
            .and_then(|admin| admin.delete(&address, office));
        let deleted = self.allowed(deleted, &[ErrorCode::NotFound])?;
        let len = self.world.look()?;
        if deleted.is_some() {
            if self.world.history.lock().now().all.contains(&address) {
                return Err(failed("a deletion that is done is not published".into()));
            }
            self.world.show(len);
        }
        Ok(())
    }

    fn maintain(&mut self, store: &Store) -> Step {
        if self.random.percent(50) {
            let compacted = store.maintenance().and_then(Maintenance::compact);
            return self.allowed(compacted, &[]).map(drop);
        }
        let checked = store.maintenance().and_then(Maintenance::check);
        let Some(report) = self.allowed(checked, &[])? else {
            return Ok(());
        };
        let mut findings = report.findings.iter();
        match findings.find(|finding| !["torn-tail", "erasure-waits"].contains(&finding.id)) {
            Some(finding) => Err(failed(format!(
                "check finds {}: {}",
                finding.id, finding.message
            ))),
            None => Ok(()),
        }
    }

    fn query(&mut self, store: &Store) -> Step {
        let with_ended = self.random.percent(50);
        let mut filter = Filter::new();
        if with_ended {
            filter = filter.with_superseded();
        }
        self.answer(|program| {
            let found = program.allowed(store.query(&filter, usize::MAX, None), &[])?;
            let found = found.map(|found| found.results.iter().map(|it| it.address).collect());
            let found: Vec<ContentAddress> = found.unwrap_or_default();
            Ok(move |model: &Model, _: &[_]| match with_ended {
                true => model.all == found,
                false => model.current == found,
            })
        })
    }

    fn search(&mut self, store: &Store) -> Step {
        if !self.world.has_text {
            return self.query(store);
        }
        self.answer(|program| {
            let found = match program.random.percent(30) {
                true => recalled(store),
                false => searched(store),
            };
            let found = program.allowed(found, &[])?.unwrap_or_default();
            // Words that are erased meanwhile are gone from the moment that the question saw, too.
            Ok(move |model: &Model, erased: &[ContentAddress]| {
                let must_be_there = model.current.iter().filter(|it| !erased.contains(it));
                let mut must_be_there = must_be_there.copied();
                found.iter().all(|it| model.current.contains(it))
                    && must_be_there.all(|it| found.contains(&it))
            })
        })
    }

    fn get(&mut self, store: &Store) -> Step {
        let stored = self.world.history.lock().model(usize::MAX).all;
        let asked = match self.random.percent(50) {
            true => self.random.pick(&self.cached).copied(),
            false => self.random.pick(&stored).copied(),
        };
        let Some(address) = asked else {
            return Ok(());
        };
        let is_stale = self.world.fault == Some(SharedFault::StaleCache);
        let is_cached = is_stale && self.cached.contains(&address);
        self.answer(|program| {
            let is_there = match is_cached {
                true => true,
                false => program
                    .allowed(store.get(&address), &[])?
                    .flatten()
                    .is_some(),
            };
            if is_there && !program.cached.contains(&address) {
                program.cached.push(address);
            }
            Ok(move |model: &Model, _: &[_]| model.all.contains(&address) == is_there)
        })
    }

    /// Asks, and holds the answer to a moment that is not before the question nor after the answer, and
    /// to what was erased until then.
    fn answer<F: Fn(&Model, &[ContentAddress]) -> bool>(
        &mut self,
        ask: impl FnOnce(&mut Self) -> Step<F>,
    ) -> Step {
        let from = self.world.look()?;
        let fits = ask(self)?;
        let to = self.world.look()?;
        self.world.counts.lock().answers += 1;
        let moment = {
            let history = self.world.history.lock();
            let erased = history.erased(to);
            (from..=to).find(|len| fits(&history.model(*len), &erased))
        };
        let Some(moment) = moment else {
            return Err(failed(format!(
                "the answer is of no moment in {from}..={to}"
            )));
        };
        self.world.show(moment);
        Ok(())
    }

    /// Reads on in the change feed.
    fn follow(&mut self, store: &Store) -> Step {
        let first = grainstore::ledger::EntryId::FIRST;
        let mut feed = self.feed.take().unwrap_or_else(|| store.changes(first));
        let begins = usize::try_from(feed.position().get()).unwrap_or(usize::MAX);
        let from = self.world.look()?;
        let news = self.allowed(told(&mut feed), &[])?.unwrap_or_default();
        let to = self.world.look()?;
        self.world.counts.lock().answers += 1;
        let ends = begins + news.len();
        if !(from..=to).contains(&ends) {
            return Err(failed(format!(
                "the feed ends at {ends}, not in {from}..={to}"
            )));
        }
        self.world
            .history
            .lock()
            .compare(begins, &news, news.len())
            .map_err(failed)?;
        self.world.show(ends);
        self.feed = Some(feed);
        Ok(())
    }
}

/// Returns the grains that have the word of all.
fn searched(store: &Store) -> Result<Vec<ContentAddress>, Error> {
    let found = store.search("common", &Filter::new(), usize::MAX)?;
    Ok(found.results.iter().map(|it| it.address).collect())
}

fn recalled(store: &Store) -> Result<Vec<ContentAddress>, Error> {
    let recall = Recall {
        budget: usize::MAX,
        ..Recall::default()
    };
    let found = store.recall("common", &Filter::new(), &recall)?;
    let lines = found.passages.iter().flat_map(|passage| &passage.lines);
    Ok(lines.map(|line| line.address).collect())
}

const fn failed(what: String) -> Interrupted {
    Interrupted::Failed(what)
}

/// By the time of the machine.
const LOCK_WAIT: Duration = Duration::from_millis(20);
