//! A vault at work on the simulated disk, and the persons that it must hold after each step.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use grainstore::crypto::{KeySource, MasterKey, Purpose, Secret};
use grainstore::grain::Time;
use grainstore::ledger::{Ballast, Disk};
use grainstore::vault::{Error, FileShredRoot, Root, ShredRoot, Vault, VaultFiles};

use crate::disk::image::Image;
use crate::disk::op::Op;
use crate::disk::sim_disk::SimDisk;
use crate::random::Random;
use crate::workload::options::Seeded;
use crate::workload::oracle::Verdict;

use super::attacker::Target;

pub(super) const STORE: [u8; 16] = [0x5a; 16];

/// The persons that are there, each as a target of the attacker.
pub(super) type Persons = BTreeMap<String, Target>;

/// A run: its log, and the persons after each step. State 0 is no vault.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) log: Vec<Op>,
    pub(super) states: Vec<Persons>,
}

/// Returns the key that the attacker has, too.
pub(in crate::campaign) fn master() -> MasterKey {
    MasterKey::new(Secret::copied(&[0x4d; 32]).expect("32 bytes"))
}

pub(in crate::campaign) fn source() -> KeySource {
    KeySource::Callback(Box::new(|| Ok(vec![0x4d; 32].into())))
}

/// Returns the files of a vault whose root is never overwritten, if `planted`: then an erasure
/// deletes rows and nothing more.
pub(super) fn files(disk: &SimDisk, seed: u64, planted: bool) -> VaultFiles {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let random = Arc::new(Seeded::of(&[seed, 7]));
    let root = FileShredRoot::new(
        Arc::clone(&disk),
        "vault/root",
        STORE,
        Arc::<Seeded>::clone(&random),
    );
    VaultFiles {
        disk,
        store: STORE,
        root: match planted {
            true => Arc::new(NeverShredded(root)),
            false => Arc::new(root),
        },
        random,
        ballast: Ballast::new("ballast", 0),
        is_writer: true,
        lock_wait: Duration::ZERO,
    }
}

/// Runs a workload on a sound disk.
pub(super) fn run(seed: u64, steps: usize, planted: bool) -> Verdict<Run> {
    let disk = SimDisk::new(&Image::default());
    let mut random = Random::of(&[seed, 8]);
    let mut states = vec![Persons::new()];
    let failed = |error: Error| error.to_string();
    disk.say(Op::Ack(0));
    let (vault, master) = Vault::create(files(&disk, seed, planted), &source()).map_err(failed)?;
    let mut persons = Persons::new();
    let mut next = 0;
    for step in 0..=steps {
        let is_erasure = step > 0 && !persons.is_empty() && random.percent(60);
        let mut after = persons.clone();
        if is_erasure {
            let count = random.below(3) + 1;
            let names: Vec<String> = (0..count)
                .filter_map(|_| {
                    let names: Vec<_> = after.keys().cloned().collect();
                    let name = random.pick(&names)?.clone();
                    after.remove(&name).map(|_| name)
                })
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            states.push(after.clone());
            disk.say(Op::Try(states.len() - 1));
            vault.erase(&master, &names).map_err(failed)?;
        } else if step > 0 && random.percent(25) {
            states.push(after.clone());
            disk.say(Op::Try(states.len() - 1));
            vault.rotate_root(&master).map_err(failed)?;
        } else {
            let count = if step == 0 { 40 } else { random.below(4) + 1 };
            let names: Vec<String> = (next..next + count)
                .map(|n| format!("person {n}"))
                .collect();
            next += count;
            // The state is known only afterwards: pseudonyms are drawn.
            states.push(Persons::new());
            disk.say(Op::Try(states.len() - 1));
            let added = add(&vault, &master, &names)?;
            after.extend(
                added
                    .into_iter()
                    .map(|target| (target.user.clone(), target)),
            );
            states.pop();
            states.push(after.clone());
        }
        disk.say(Op::Ack(states.len() - 1));
        persons = after;
    }
    drop(vault);
    Ok(Run {
        log: disk.log(),
        states,
    })
}

/// Adds persons, and lets each seal a value.
pub(super) fn add(vault: &Vault, master: &MasterKey, names: &[String]) -> Verdict<Vec<Target>> {
    let failed = |error: Error| error.to_string();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let random = Seeded::of(&[10]);
    let added = vault
        .add(master, &names, Time::from_ms(1))
        .map_err(failed)?;
    let targets = added.into_iter().map(|user| {
        let keys = vault.unlock(master, &user.user).map_err(failed)?;
        let keys = keys.keys().ok_or("locked")?;
        let probe = keys.seal(&random, Purpose::Grain, &[], b"a grain of this person");
        Ok(Target {
            user: user.user,
            uid: user.uid,
            probe: Some(probe.map_err(|error| error.to_string())?),
        })
    });
    targets.collect()
}

/// The planted fault: a root that is never destroyed, so that deleted rows stay readable.
#[derive(Debug)]
struct NeverShredded(FileShredRoot);

impl ShredRoot for NeverShredded {
    fn read(&self) -> Result<Vec<Root>, Error> {
        self.0.read()
    }

    fn stage(&self, next: &Root) -> Result<(), Error> {
        self.0.stage(next)
    }

    fn keep_only(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
}
