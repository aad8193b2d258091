//! The state that a store keeps live is the state that it would have if it were opened afresh on the
//! same files: `check` compares the two field by field.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use grainstore::crypto::KeySource;
use grainstore::grain::{Namespace, Verification};
use grainstore::ledger::MemoryDisk;
use grainstore::policy::{Regime, TrustRule};
use grainstore::store::{Authorization, Clock, ErasureScope, Person, RequiredConsent};
use grainstore::{ContentAddress, Draft, Options, Store, Time};
use parking_lot::Mutex;
use proptest::prelude::*;

mod several;

const OFFICE: Authorization<'static> = Authorization {
    reason: "a test",
    authority: "the office",
};

/// The same name, composed and decomposed, and one inside it.
const NAMES: [&str; 3] = ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}:bar"];

#[derive(Debug, Clone, Copy)]
enum Step {
    Put(u8),
    Protected(u8),
    Reasoning(u8),
    Supersede(u8),
    Contradict(u8),
    Retract(u8),
    Consent(u8),
    Withdraw(u8),
    Delegate(u8),
    Act(u8),
    Hold(u8),
    Lift(u8),
    ClearReviews,
    Trust(u8),
    Distrust(u8),
    Regimes(u8),
    Require(u8),
    Deadline(u8),
    Delete(u8),
    Advance(u8),
    AcceptClock,
    RepairClock,
    Reopen,
    /// Gives a person a key, who may have grains in the clear.
    Seal(u8),
    Unlock(u8),
    Lock(u8),
    PutOf(u8),
    Rekey(u8),
    Rotate,
    Erase(u8),
}

impl Step {
    /// Whether it waits for the process that keeps the derived files.
    const fn erases(self) -> bool {
        matches!(self, Self::Delete(_) | Self::Erase(_))
    }
}

fn step() -> impl Strategy<Value = Step> {
    let pick = 0_u8..12;
    prop_oneof![
        4 => any::<u8>().prop_map(Step::Put),
        2 => any::<u8>().prop_map(Step::Protected),
        2 => any::<u8>().prop_map(Step::Reasoning),
        2 => pick.clone().prop_map(Step::Supersede),
        1 => pick.clone().prop_map(Step::Contradict),
        1 => pick.clone().prop_map(Step::Retract),
        2 => any::<u8>().prop_map(Step::Consent),
        2 => pick.clone().prop_map(Step::Withdraw),
        1 => any::<u8>().prop_map(Step::Delegate),
        2 => (0_u8..3).prop_map(Step::Act),
        2 => pick.clone().prop_map(Step::Hold),
        1 => pick.clone().prop_map(Step::Lift),
        1 => Just(Step::ClearReviews),
        2 => (0_u8..6).prop_map(Step::Trust),
        1 => (0_u8..2).prop_map(Step::Distrust),
        1 => (0_u8..3).prop_map(Step::Regimes),
        1 => (0_u8..6).prop_map(Step::Require),
        1 => any::<u8>().prop_map(Step::Deadline),
        3 => pick.prop_map(Step::Delete),
        2 => (0_u8..4).prop_map(Step::Advance),
        1 => Just(Step::AcceptClock),
        1 => Just(Step::RepairClock),
        1 => Just(Step::Reopen),
        2 => (0_u8..3).prop_map(Step::Seal),
        3 => (0_u8..3).prop_map(Step::Unlock),
        1 => (0_u8..3).prop_map(Step::Lock),
        5 => any::<u8>().prop_map(Step::PutOf),
        1 => (0_u8..3).prop_map(Step::Rekey),
        1 => Just(Step::Rotate),
        2 => (0_u8..3).prop_map(Step::Erase),
    ]
}

#[derive(Debug)]
struct TestClock(Mutex<Time>);

impl Clock for TestClock {
    fn now(&self) -> Time {
        *self.0.lock()
    }

    /// One start of the machine, so that the clock is measured over openings.
    fn boot(&self) -> Option<[u8; 16]> {
        Some([7; 16])
    }

    fn monotonic(&self) -> Duration {
        // It goes right, but for steps that are leaps each.
        Duration::from_millis(self.now().ms().try_into().unwrap())
    }
}

struct World {
    disk: MemoryDisk,
    clock: Arc<TestClock>,
    store: Store,
    /// Opened once for reading, and follows.
    follower: Store,
    stored: Vec<ContentAddress>,
    consents: Vec<ContentAddress>,
    /// The persons who are to be unlocked in every process.
    unlocked: BTreeSet<u8>,
}

/// The persons of whom some have a key.
fn person(n: u8) -> String {
    format!("person {}", n % 3)
}

impl World {
    fn new() -> Self {
        let disk = MemoryDisk::default();
        let clock = Arc::new(TestClock(Mutex::new(Time::from_ms(1_800_000_000_000))));
        let store = open(&disk, &clock);
        let follower = follow(&disk, &clock);
        Self {
            disk,
            clock,
            store,
            follower,
            stored: Vec::new(),
            consents: Vec::new(),
            unlocked: BTreeSet::new(),
        }
    }

    /// Unlocks and locks persons in a process as in the others.
    fn attend(&self, store: &Store) {
        for n in 0..3 {
            let user = person(n);
            if !self.unlocked.contains(&n) {
                store.admin().unwrap().lock(&user).unwrap();
            } else if !store.admin().unwrap().is_unlocked(&user) {
                store.admin().unwrap().unlock(&user).unwrap();
            }
        }
    }

    fn any(&self, nth: u8) -> Option<ContentAddress> {
        let len = self.stored.len().max(1);
        self.stored.get(usize::from(nth) % len).copied()
    }

    fn put(&mut self, draft: Draft) -> Option<ContentAddress> {
        let put = self.store.put(draft).ok()?;
        self.stored.push(put);
        Some(put)
    }

    fn json(&mut self, json: &str) -> Option<ContentAddress> {
        self.put(Draft::from_json(json).unwrap())
    }

    fn reopen(&mut self) {
        // The last handle closes the store, and another takes its lock.
        self.store = Store::in_memory(Options::default()).unwrap();
        self.store = open(&self.disk, &self.clock);
        self.attend(&self.store);
    }

    /// Returns what rests on the state, and what is stored.
    fn answers(&self, store: &Store) -> String {
        let admin = store.admin().unwrap();
        let clock = admin.clock_state();
        let status = |of: &ContentAddress| format!("{:?}", store.status(of).ok());
        // A regime may want reads to be recorded, which a store opened for reading cannot do.
        let grain = |of: &ContentAddress| store.exists(of).unwrap();
        let keys = admin.vault().status().unwrap();
        let is_open = |n: u8| store.admin().unwrap().is_unlocked(&person(n));
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            store.list(None, 1_000).unwrap(),
            self.stored.iter().map(status).collect::<Vec<_>>(),
            self.stored.iter().map(grain).collect::<Vec<_>>(),
            admin.holds(),
            admin.trusted(),
            admin.regimes(),
            admin.required_consent(),
            (clock.trusted, clock.dated, clock.is_doubted),
            admin.reviews().unwrap(),
            (keys.persons, keys.epoch, keys.fault.is_none()),
            [0, 1, 2].map(is_open)
        )
    }

    /// Does a step; a refusal is a step too.
    #[expect(clippy::too_many_lines, reason = "one arm a step")]
    fn step(&mut self, step: Step) {
        let store = self.store.clone();
        let admin = store.admin().unwrap();
        match step {
            Step::Put(n) => {
                let basis = self.consents.get(usize::from(n) % 4).copied();
                let draft = Draft::event(format!("note {n}")).namespace(NAMES[usize::from(n) % 3]);
                self.put(match basis {
                    Some(basis) => draft.set("processing_basis", basis.to_string()),
                    None => draft,
                });
            }
            Step::Protected(n) => {
                let mode = ["hold", "soft_locked", "locked"][usize::from(n) % 3];
                self.json(&format!(
                    r#"{{"type":"event","content":"deed {n}","created_at":1,
                        "invalidation_policy":{{"mode":"{mode}","scope":"subtree"}}}}"#
                ));
            }
            Step::Reasoning(n) => {
                self.json(&format!(
                    r#"{{"type":"reasoning","conclusion":"conclusion {n}","created_at":1,
                        "requires_human_review":true}}"#
                ));
            }
            Step::Supersede(n) => {
                if let Some(old) = self.any(n) {
                    let new = Draft::event(format!("instead of {old}")).derived_from(old);
                    let new = self.store.supersede(&old, new, Some("newer"));
                    self.stored.extend(new.ok());
                }
            }
            Step::Contradict(n) => {
                self.any(n)
                    .map(|one| self.store.contradict(&one, Some("wrong")));
            }
            Step::Retract(n) => {
                let retracted = Verification::Retracted;
                self.any(n)
                    .map(|one| self.store.set_verification(&one, retracted, None));
            }
            Step::Consent(n) => {
                let put = self.json(&consent(n, ""));
                self.consents.extend(put);
            }
            Step::Withdraw(n) => {
                if let Some(grant) = self.consents.get(usize::from(n)).copied() {
                    let prior = format!(r#","prior_consent":"{grant}""#);
                    self.json(&consent(n, &prior));
                }
            }
            Step::Delegate(n) => {
                let to = format!("did:web:{n}.example");
                let goal = Draft::goal(format!("task {n}"))
                    .set("subject", "did:web:desk.example")
                    .set("author_did", "did:web:desk.example")
                    .set("relation", "mg:delegates_to")
                    .set("object", to);
                self.put(goal);
            }
            Step::Act(n) => {
                let actor = format!("did:web:{n}.example").parse().unwrap();
                let put = self.store.as_actor(&actor).put(Draft::event("acted"));
                self.stored.extend(put.ok());
            }
            Step::Hold(n) => drop(self.any(n).map(|one| admin.place_hold(&one, OFFICE))),
            Step::Lift(n) => drop(self.any(n).map(|one| admin.lift_hold(&one, OFFICE))),
            Step::ClearReviews => {
                for review in admin.reviews().unwrap().iter().take(2) {
                    admin.clear_review(review.id, OFFICE).unwrap();
                }
            }
            Step::Trust(n) => {
                let mut rule = TrustRule::new(signer(n % 2));
                rule.namespaces = vec![Namespace::new(NAMES[usize::from(n) % 3])];
                rule.is_exclusive = n == 5;
                admin.trust(rule, "a reason").unwrap();
            }
            Step::Distrust(n) => drop(admin.distrust(&signer(n), "a reason").unwrap()),
            Step::Regimes(n) => {
                let regimes = (0..n).map(|n| regime(NAMES[usize::from(n)])).collect();
                admin.set_regimes(regimes, OFFICE).unwrap();
            }
            Step::Require(n) => {
                let required = RequiredConsent {
                    read: n % 2 == 0,
                    write: n == 5,
                };
                let namespace = NAMES[usize::from(n) % 3];
                admin.require_consent(namespace, required, OFFICE).unwrap();
            }
            Step::Deadline(n) => admin.set_consent_deadline(n.into(), OFFICE).unwrap(),
            Step::Delete(n) => drop(self.any(n).map(|one| admin.delete(&one, OFFICE))),
            Step::Advance(n) => {
                let step = [1, 3_600_000, 200_000_000, -150_000_000][usize::from(n)];
                let mut now = self.clock.0.lock();
                *now = Time::from_ms(now.ms() + step);
            }
            Step::AcceptClock => admin.accept_clock(OFFICE).unwrap(),
            Step::RepairClock => admin.repair_clock(OFFICE).unwrap(),
            Step::Reopen => {
                drop(store);
                self.reopen();
            }
            Step::Seal(n) => drop(admin.vault().add(&[&person(n)])),
            Step::Unlock(n) => {
                if store.admin().unwrap().unlock(&person(n)).is_ok() {
                    self.unlocked.insert(n);
                    self.attend(&self.follower);
                }
            }
            Step::Lock(n) => {
                self.unlocked.remove(&n);
                self.attend(&self.store);
                self.attend(&self.follower);
            }
            Step::PutOf(n) => {
                let draft = Draft::event(format!("deed {n}")).user(person(n));
                self.put(draft.set("session_id", format!("session {}", n % 2)));
            }
            Step::Rekey(n) => drop(admin.vault().rekey(&person(n))),
            Step::Rotate => drop(admin.vault().rotate()),
            Step::Erase(n) => {
                let scope = ErasureScope::default();
                let erased = admin.erase_person(&Person::new(person(n)), scope, OFFICE);
                if erased.is_ok() {
                    self.unlocked.remove(&n);
                }
                // One that is refused has looked at the person's grains.
                self.attend(&self.store);
            }
        }
    }
}

fn options(clock: &Arc<TestClock>) -> Options {
    Options {
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        ballast_bytes: 0,
        // A busy machine is no reason to give up.
        lock_wait: Duration::from_secs(120),
        text: None,
        master_key: Some(Arc::new(KeySource::Callback(Box::new(|| {
            Ok(vec![7; 32].into())
        })))),
        // The store that is opened to be compared with would renew a key that is overdue.
        rekey_within: Duration::MAX,
        ..Options::default()
    }
}

fn open(disk: &MemoryDisk, clock: &Arc<TestClock>) -> Store {
    Store::open_on(Arc::new(disk.clone()), options(clock)).unwrap()
}

fn follow(disk: &MemoryDisk, clock: &Arc<TestClock>) -> Store {
    let disk: Arc<dyn grainstore::ledger::Disk> = Arc::new(disk.clone());
    Store::open_on(disk, options(clock).read_only()).unwrap()
}

fn consent(n: u8, prior: &str) -> String {
    let withdraws = !prior.is_empty();
    format!(
        r#"{{"type":"consent","subject_did":"did:web:ada.example","grantee_did":"did:web:{n}.example",
            "scope":["store","retrieve"],"is_withdrawal":{withdraws},"created_at":1{prior}}}"#
    )
}

fn signer(n: u8) -> grainstore::crypto::Did {
    format!("did:web:signer-{n}.example").parse().unwrap()
}

fn regime(namespace: &str) -> Regime {
    Regime::parse(&format!(
        "name = \"ours\"\ntitle = \"our own\"\n[[clause]]\nid = \"reads\"\ncites = \"a contract\"\n\
         says = \"reads are known\"\nwhen = {{ namespaces = [\"{namespace}\"] }}\n\
         requires = {{ read_audit = true }}\n"
    ))
    .unwrap()
}

#[test]
fn after_any_workload_the_live_state_is_that_of_a_store_opened_afresh() {
    let config = ProptestConfig::with_cases(crate::random::cases(40));
    proptest!(config, |(steps in prop::collection::vec(step(), 1..60))| {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            let report = world.store.maintenance().unwrap().check().unwrap();
            prop_assert_eq!(&report.findings, &[], "after {:?}", step);
        }
        let live = world.answers(&world.store);
        world.reopen();
        prop_assert_eq!(live, world.answers(&world.store));
    });
}

#[test]
fn a_store_that_follows_answers_after_each_step_as_the_one_that_writes() {
    let config = ProptestConfig::with_cases(crate::random::cases(40));
    proptest!(config, |(steps in prop::collection::vec(step(), 1..60))| {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            let written = world.answers(&world.store);
            prop_assert_eq!(world.answers(&world.follower), written, "after {:?}", step);
        }
        let report = world.follower.maintenance().unwrap().check().unwrap();
        prop_assert_eq!(&report.findings, &[]);
        let afresh = follow(&world.disk, &world.clock);
        world.attend(&afresh);
        prop_assert_eq!(world.answers(&afresh), world.answers(&world.store));
    });
}
