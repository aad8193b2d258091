//! The campaign: crash states of vaults at work, attacked before and after recovery.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use grainstore::vault::Vault;

use crate::campaign::crash::{Crash, Story};
use crate::campaign::crash_states::{each_crash, story};
use crate::disk::image::Image;
use crate::disk::op::Op;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::oracle::Verdict;

use super::attacker::{Target, recovered};
use super::workload::{Persons, Run, STORE, files, master, run};

/// A campaign against the erasure of keys.
///
/// ```
/// let campaign = grainstore_crash::KeyErasure { states_max: 5, steps: 2, ..Default::default() };
/// let report = campaign.run();
/// assert!(report.failures.is_empty() && report.states > 0, "{report}");
/// ```
#[derive(Debug, Clone)]
pub struct KeyErasure {
    /// The first workload.
    pub seed: u64,
    /// How many things a workload does.
    pub steps: usize,
    /// No further crash after so many.
    pub states_max: u64,
    /// Of how many crash states of a workload one is visited.
    pub every: usize,
    /// Whether the root is never destroyed: the campaign must find that.
    pub planted: bool,
}

/// The result of a campaign.
#[derive(Debug, Clone, Default)]
pub struct KeyErasureReport {
    /// Crash states.
    pub states: u64,
    /// Of these, how many were crashed again while they recovered.
    pub doubles: u64,
    /// Files that were attacked.
    pub attacks: u64,
    /// Persons whose key was recovered after its destruction was acknowledged.
    pub leaks: u64,
    /// The failures, leaks among them.
    pub failures: Vec<String>,
}

impl Default for KeyErasure {
    fn default() -> Self {
        Self {
            seed: 1,
            steps: 12,
            states_max: 300,
            every: 7,
            planted: false,
        }
    }
}

impl KeyErasure {
    /// Runs workloads and crashes them until there were enough states.
    pub fn run(&self) -> KeyErasureReport {
        let mut report = KeyErasureReport::default();
        let mut seed = self.seed;
        while report.states < self.states_max && report.failures.len() < FAILURES_MAX {
            match run(seed, self.steps, self.planted) {
                Ok(run) => self.crash(seed, &run, &mut report),
                Err(what) => report.failures.push(format!("seed={seed}: {what}")),
            }
            seed += 1;
        }
        report
    }

    fn crash(&self, seed: u64, run: &Run, report: &mut KeyErasureReport) {
        let start = Image::default();
        let story = story(seed, &start, &run.log, &[]);
        let mut nth = 0_usize;
        each_crash(&story, &mut |crash, disk_state| {
            nth += 1;
            let of_seed = usize::try_from(seed).unwrap_or(0);
            // The modes repeat every twelve states: the stride must not.
            if !(nth + of_seed).is_multiple_of(self.every) || is_killed(crash) {
                return true;
            }
            let image = story.image(crash, disk_state);
            report.states += 1;
            let visit = || self.visit(&story, run, crash, &image, report);
            let verdict = catch_unwind(AssertUnwindSafe(visit));
            let verdict = verdict.unwrap_or_else(|_| Err("panic".into()));
            if let Err(what) = verdict {
                report.failures.push(format!("seed={seed} {crash}: {what}"));
            }
            report.states < self.states_max && report.failures.len() < FAILURES_MAX
        });
    }

    fn visit(
        &self,
        story: &Story<'_>,
        run: &Run,
        crash: Crash,
        image: &Image,
        report: &mut KeyErasureReport,
    ) -> Verdict {
        let before = run.log.get(..crash.at).unwrap_or(&run.log);
        let allowed = allowed(before);
        let acknowledged = *allowed.first().unwrap_or(&0);
        // Before recovery: what was acknowledged is destroyed already.
        self.attack(run, acknowledged, image, report)?;
        let mut disk = SimDisk::new(image);
        let mut random = Random::of(&[story.seed, 9, crash.at as u64]);
        if random.percent(30) {
            report.doubles += 1;
            drop(Vault::open(files(&disk, story.seed, self.planted)));
            let log = disk.log();
            let again = Crash {
                at: random.below(log.len() + 1),
                ..crash
            };
            let second = Story {
                start: image,
                log: &log,
                ..*story
            };
            let image = second.image(again, &second.disk_state(again.at));
            self.attack(run, acknowledged, &image, report)?;
            disk = SimDisk::new(&image);
        }
        let state = self.recover(story.seed, run, &allowed, &disk)?;
        self.attack(run, state, &disk.image(), report)
    }

    /// Opens the vault; returns the state that it is in.
    fn recover(&self, seed: u64, run: &Run, allowed: &[usize], disk: &SimDisk) -> Verdict<usize> {
        let failed = |error: grainstore::vault::Error| format!("does not open: {error}");
        let vault = Vault::open(files(disk, seed, self.planted)).map_err(failed)?;
        let Some(vault) = vault else {
            return match allowed.contains(&0) {
                true => Ok(0),
                false => Err("the vault is gone".into()),
            };
        };
        let master = master();
        let users = vault.list(&master).map_err(failed)?;
        let found: Vec<_> = users.iter().map(|user| (&user.user, user.uid)).collect();
        let is_state = |persons: &Persons| {
            let expected = persons.values().map(|target| (&target.user, target.uid));
            expected.eq(found.iter().copied())
        };
        let mut states = allowed.iter().copied();
        let state = states.find(|state| run.states.get(*state).is_some_and(is_state));
        let state = state
            .ok_or_else(|| format!("{} persons, of none of the states {allowed:?}", found.len()))?;
        let persons = run.states.get(state).into_iter().flat_map(Persons::values);
        // Listing has opened every slot; a few are asked what they hold.
        for target in persons.step_by(11) {
            let keys = vault.unlock(&master, &target.user).map_err(failed)?;
            let keys = keys.keys().ok_or("locked")?;
            let probe = target.probe.as_deref().unwrap_or_default();
            let opened = keys.open(grainstore::crypto::Purpose::Grain, &[], probe);
            opened.map_err(|_| format!("{} is lost", target.user))?;
        }
        Ok(state)
    }

    /// Looks for the keys of all who are not there any more in a state.
    fn attack(
        &self,
        run: &Run,
        state: usize,
        image: &Image,
        report: &mut KeyErasureReport,
    ) -> Verdict {
        let present = run.states.get(state).ok_or("no such state")?;
        let mut erased: Vec<&Target> = Vec::new();
        for persons in run.states.iter().take(state) {
            let gone = persons.values();
            erased.extend(gone.filter(|target| !present.contains_key(&target.user)));
        }
        erased.sort_by(|a, b| a.user.cmp(&b.user));
        erased.dedup_by(|a, b| a.user == b.user);
        report.attacks += 1;
        match recovered(&image.bytes(), STORE, &master(), &erased).as_slice() {
            [] => Ok(()),
            leaked => {
                report.leaks += leaked.len() as u64;
                Err(format!("the keys of {leaked:?} can be recovered"))
            }
        }
    }
}

/// Returns the states that may be there, first the one that is acknowledged.
fn allowed(log: &[Op]) -> Vec<usize> {
    let mut allowed = vec![0];
    for op in log.iter().filter(|op| op.is_word()) {
        match op {
            Op::Ack(state) => allowed = vec![*state],
            Op::Try(state) => allowed.push(*state),
            _ => {}
        }
    }
    allowed
}

const fn is_killed(crash: Crash) -> bool {
    matches!(crash.mode, crate::disk::disk_state::Mode::Killed)
}

impl fmt::Display for KeyErasureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} crash states, {} crashed again, {} attacks: {} keys recovered after erasure",
            self.states, self.doubles, self.attacks, self.leaks
        )?;
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} failures", self.failures.len())
    }
}

const FAILURES_MAX: usize = 10;
