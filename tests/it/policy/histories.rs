//! Random histories against a reference that knows nothing of the store's code: which protections
//! reach a grain follows from what was put and replaced, and what each of them says to whom stands
//! in `matrix.txt`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use grainstore::codec::Value;
use grainstore::crypto::{Algorithm, SigningKey, Statement};
use grainstore::grain::{Status, Verification};
use grainstore::store::{Authorization, Error};
use grainstore::{ContentAddress, Draft, Options, Store, Time};

use crate::random::{Random, cases, seeds};
use crate::signing::key;
use crate::store::{SetClock, at};

/// Which histories: a campaign of them, or from the first to the one after the last that
/// `GRAINSTORE_HISTORIES` says (`20000..30000`) when this is run.
#[expect(
    clippy::disallowed_methods,
    reason = "a million histories are run in pieces, and a build for each would take longer"
)]
fn asked() -> Range<u64> {
    let Ok(asked) = std::env::var("GRAINSTORE_HISTORIES") else {
        return seeds(cases(500).into());
    };
    let (first, end) = asked.split_once("..").unwrap();
    first.parse().unwrap()..end.parse().unwrap()
}

const DAY: i64 = 86_400_000;
const START: i64 = 1_768_471_200_000;
const SOMEBODY: Authorization<'static> = Authorization {
    reason: "asked",
    authority: "the office",
};

/// Who tries, as the columns of the matrix have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    None,
    Unsigned,
    Author,
    Authorized,
    Wrong,
    Short,
    Met,
}

const ALL: [Who; 7] = [
    Who::None,
    Who::Unsigned,
    Who::Author,
    Who::Authorized,
    Who::Wrong,
    Who::Short,
    Who::Met,
];

/// The table: mode, scope, operation → what it says to each.
struct Table(HashMap<[&'static str; 3], [&'static str; 7]>);

impl Table {
    fn read() -> Self {
        let lines = include_str!("matrix.txt").lines();
        let rows = lines.filter_map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let [mode, scope, operation, cells @ .., _] = words.as_slice() else {
                return None;
            };
            let cells = <[&str; 7]>::try_from(cells).ok()?;
            (*mode != "#").then_some(([*mode, *scope, *operation], cells))
        });
        Self(rows.collect())
    }

    fn says(&self, protection: &Policy, operation: &'static str, who: Who) -> &'static str {
        let place = ALL.iter().position(|one| *one == who).unwrap();
        self.0[&[protection.mode, protection.scope, operation]][place]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Policy {
    mode: &'static str,
    scope: &'static str,
}

/// What the reference knows of a grain.
#[derive(Debug, Clone)]
struct Known {
    address: ContentAddress,
    policy: Policy,
    /// For `timed`: from when on it is open.
    until_ms: i64,
    parents: Vec<usize>,
    replaces: Option<usize>,
    /// The grain that replaced it, deleted since or not.
    replaced_by: Option<usize>,
    status: Status,
    is_held: bool,
    was_lifted: bool,
    is_gone: bool,
}

struct World<'a> {
    table: &'a Table,
    keys: &'a [SigningKey; 4],
    store: &'a Store,
    clock: &'a SetClock,
    store_id: [u8; 16],
    /// What the clock says, and how far it is believed, by the rule as it is written.
    now: i64,
    floor: i64,
    has_leapt: bool,
    name: String,
    grains: Vec<Known>,
    trail: Vec<String>,
    denied: u64,
}

impl World<'_> {
    /// Ruling I21, from its words: steps of a day are followed, a leap is not until the clock goes
    /// back.
    fn follow(&mut self) {
        if self.now - self.floor > DAY {
            self.has_leapt = true;
        } else if self.now > self.floor {
            (self.floor, self.has_leapt) = (self.now, false);
        }
    }

    /// What holds of a policy now: a timed one opens when its time has come by a clock that is
    /// believed, and a hold that was lifted is none.
    fn effective(&self, grain: &Known) -> Policy {
        let is_open = match grain.policy.mode {
            "timed" => {
                let is_believed = self.now - self.floor <= DAY;
                is_believed && self.now.max(self.floor) >= grain.until_ms
            }
            "hold" => grain.was_lifted,
            _ => false,
        };
        let mode = if is_open { "open" } else { grain.policy.mode };
        Policy {
            mode,
            ..grain.policy
        }
    }

    /// Returns whose protections reach a grain that a successor with these parents would replace:
    /// those of deleted grains too (ruling I27).
    fn reaching(&self, target: usize, parents: &[usize]) -> Vec<usize> {
        let mut reaching = vec![target];
        let mut earlier = self.grains[target].replaces;
        while let Some(at) = earlier {
            reaching.push(at);
            earlier = self.grains[at].replaces;
        }
        let mut later = self.grains[target].replaced_by;
        while let Some(at) = later {
            if self.grains[at].policy.scope == "lineage" {
                reaching.push(at);
            }
            later = self.grains[at].replaced_by;
        }
        let mut pending: Vec<_> = self.grains[target].parents.clone();
        pending.extend(parents);
        let mut seen = BTreeSet::from([target]);
        while let Some(at) = pending.pop() {
            if !seen.insert(at) {
                continue;
            }
            pending.extend(&self.grains[at].parents);
            if self.grains[at].policy.scope == "subtree" {
                reaching.push(at);
            }
        }
        reaching
    }

    /// Returns whether the table lets somebody do something to a grain.
    fn allows(&self, target: usize, parents: &[usize], what: &'static str, who: Who) -> bool {
        if self.grains[target].is_held {
            return false;
        }
        self.reaching(target, parents).into_iter().all(|at| {
            let policy = self.effective(&self.grains[at]);
            // A timed lock that has passed, or an open grain, reaches nobody.
            let says = self.table.says(&policy, what, who);
            matches!(says, "allow" | "review")
        })
    }

    fn draft(&self, random: &mut Random, policy: Policy, until_ms: i64) -> Draft {
        let [alice, bob, author, _] = self.keys;
        let third = if policy.mode == "quorum" { author } else { bob };
        let json = format!(
            r#"{{"type":"event","content":"{} {}","created_at":1,"author_did":"{}",
                "invalidation_policy":{{"mode":"{}","scope":"{}","authorized":["{}","{}","{}"],
                "threshold":2,"locked_until":{},"fallback_mode":"open"}}}}"#,
            self.name,
            random.number(),
            author.did(),
            policy.mode,
            policy.scope,
            alice.did(),
            bob.did(),
            third.did(),
            until_ms / 1000,
        );
        Draft::from_json(&json).unwrap()
    }

    fn any_draft(&self, random: &mut Random) -> (Draft, Policy, i64) {
        let modes = [
            "open",
            "open",
            "soft_locked",
            "locked",
            "quorum",
            "delegated",
            "timed",
            "hold",
            "consent_cascade",
        ];
        let policy = Policy {
            mode: random.pick(&modes),
            scope: random.pick(&["grain", "subtree", "lineage"]),
        };
        let days = i64::try_from(random.below(4)).unwrap();
        let until_ms = (self.now + days * DAY) / 1000 * 1000;
        (self.draft(random, policy, until_ms), policy, until_ms)
    }

    fn add(&mut self, address: ContentAddress, policy: Policy, until_ms: i64, parents: &[usize]) {
        self.grains.push(Known {
            address,
            policy,
            until_ms,
            parents: parents.to_vec(),
            replaces: None,
            replaced_by: None,
            status: Status::default(),
            is_held: false,
            was_lifted: false,
            is_gone: false,
        });
    }

    fn put(&mut self, random: &mut Random) {
        let (mut draft, policy, until_ms) = self.any_draft(random);
        let here: Vec<_> = (0..self.grains.len())
            .filter(|at| !self.grains[*at].is_gone)
            .collect();
        let mut parents = Vec::new();
        if !here.is_empty() && random.below(3) > 0 {
            let parent = random.pick(&here);
            draft = draft.derived_from(self.grains[parent].address);
            parents.push(parent);
        }
        let address = self.store.put(draft).unwrap();
        self.trail.push(format!("put {policy:?} from {parents:?}"));
        self.add(address, policy, until_ms, &parents);
    }

    /// Returns a draft with the signatures that somebody has for replacing `old` by it.
    fn signed(&self, draft: Draft, old: ContentAddress, who: Who) -> Draft {
        let [alice, bob, author, mallory] = self.keys;
        let keys: &[&SigningKey] = match who {
            Who::None | Who::Unsigned => return draft,
            Who::Author => &[author],
            Who::Authorized => &[alice],
            Who::Wrong => &[mallory],
            Who::Short => &[alice, alice, author],
            Who::Met => &[alice, bob],
        };
        let bare = draft.clone().finish(Default::default()).unwrap();
        let statement = Statement::supersede(&bare, old, self.store_id).unwrap();
        keys.iter().fold(draft, |draft, key| {
            let signature = statement.sign(key, &key.did(), None).unwrap();
            draft.push("supersession_auth", Value::Bytes(signature))
        })
    }

    fn supersede(&mut self, random: &mut Random, target: usize, who: Who) {
        let (draft, policy, until_ms) = self.any_draft(random);
        let old = self.grains[target].address;
        let mut draft = draft.derived_from(old);
        let mut parents = vec![target];
        let more = random.below(self.grains.len());
        if random.below(4) == 0 && more != target && !self.grains[more].is_gone {
            draft = draft.derived_from(self.grains[more].address);
            parents.push(more);
        }
        let draft = self.signed(draft, old, who);
        let reason = (who != Who::None).then_some("asked by the user");
        let known = &self.grains[target];
        let expected = if known.is_gone {
            "ERR_NOT_FOUND"
        } else if !known.status.is_current() {
            "ERR_CONFLICT"
        } else if !self.allows(target, &parents, "supersede", who) {
            "ERR_INVALIDATION_DENIED"
        } else {
            ""
        };
        self.trail
            .push(format!("supersede {target} by {who:?} from {parents:?}"));
        match self.store.supersede(&old, draft, reason) {
            Ok(address) => {
                assert_eq!(expected, "", "allowed\n{self:?}");
                let new = self.grains.len();
                self.add(address, policy, until_ms, &parents);
                self.grains[new].replaces = Some(target);
                let known = &mut self.grains[target];
                known.replaced_by = Some(new);
                known.status.superseded_by = Some(address);
            }
            Err(error) => {
                assert_eq!(error.code(), expected, "{error}\n{self:?}");
                self.denied += u64::from(expected == "ERR_INVALIDATION_DENIED");
            }
        }
    }

    fn contradict(&mut self, target: usize, who: Who) {
        let reason = (who != Who::None).then_some("asked by the user");
        let known = &self.grains[target];
        let is_done = known.status.contradicted;
        let may = known.is_gone || is_done || self.allows(target, &[], "contradict", who);
        self.trail.push(format!("contradict {target} by {who:?}"));
        let outcome = self.store.contradict(&known.address, reason);
        self.is_as_expected(&outcome, target, may);
        if may && !self.grains[target].is_gone {
            let status = &mut self.grains[target].status;
            status.contradicted = true;
            status.system_valid_to.get_or_insert(Time::from_ms(0));
            if !is_done {
                status.verification = Verification::Contested;
            }
        }
    }

    fn verify(&mut self, random: &mut Random, target: usize, who: Who) {
        let to = random.pick(&[
            Verification::Unverified,
            Verification::Verified,
            Verification::Contested,
            Verification::Retracted,
        ]);
        let reason = (who != Who::None).then_some("asked by the user");
        let known = &self.grains[target];
        let from = known.status.verification;
        // Saying the same again changes nothing, and to confirm takes nothing away.
        let is_free =
            from == to || (from == Verification::Unverified && to == Verification::Verified);
        let may = known.is_gone || is_free || self.allows(target, &[], "verify", who);
        self.trail
            .push(format!("verify {target} {to:?} by {who:?}"));
        let outcome = self.store.set_verification(&known.address, to, reason);
        self.is_as_expected(&outcome, target, may);
        if may && !self.grains[target].is_gone {
            let status = &mut self.grains[target].status;
            status.verification = to;
            // Ruling P18: what is withdrawn from use has ended.
            if to == Verification::Retracted {
                status.system_valid_to.get_or_insert(Time::from_ms(0));
            }
        }
    }

    fn delete(&mut self, target: usize, who: Who) {
        let deletion = Authorization {
            reason: "asked",
            authority: if who == Who::None { "" } else { "the office" },
        };
        let known = &self.grains[target];
        let may = known.is_gone || self.allows(target, &[], "delete", who);
        self.trail.push(format!("delete {target} by {who:?}"));
        let outcome = self.store.admin().unwrap().delete(&known.address, deletion);
        self.is_as_expected(&outcome, target, may);
        if may && !self.grains[target].is_gone {
            self.grains[target].is_gone = true;
            // What it replaced stays replaced, by what nobody can name.
            if let Some(earlier) = self.grains[target].replaces {
                self.grains[earlier].status.superseded_by = None;
                self.grains[earlier].status.system_valid_to = Some(Time::from_ms(0));
            }
        }
    }

    fn is_as_expected(&mut self, outcome: &Result<(), Error>, target: usize, may: bool) {
        let is_gone = self.grains[target].is_gone;
        self.denied += u64::from(!is_gone && !may);
        let expected = match (is_gone, may) {
            (true, _) => Some("ERR_NOT_FOUND"),
            (false, true) => None,
            (false, false) => Some("ERR_INVALIDATION_DENIED"),
        };
        let found = outcome.as_ref().err().map(|error| error.code().as_str());
        assert_eq!(found, expected, "{outcome:?}\n{self:?}");
    }

    fn hold(&mut self, random: &mut Random, target: usize) {
        let known = &mut self.grains[target];
        if known.is_gone {
            return;
        }
        if random.flag() {
            self.store
                .admin()
                .unwrap()
                .place_hold(&known.address, SOMEBODY)
                .unwrap();
            known.is_held = true;
            self.trail.push(format!("hold {target}"));
        } else {
            let is_lifted = self
                .store
                .admin()
                .unwrap()
                .lift_hold(&known.address, SOMEBODY)
                .unwrap();
            if is_lifted {
                known.is_held = false;
                known.was_lifted = true;
            }
            self.trail.push(format!("lift {target}: {is_lifted}"));
        }
    }

    fn tick(&mut self, random: &mut Random) {
        // Mostly a step, now and then a leap, ahead or back.
        let hours = random.pick(&[1, 6, 23, 24, 24, 25, 80, -30]);
        self.now += hours * 3_600_000;
        self.clock.set(self.now);
        self.trail.push(format!("clock {hours} h"));
        if self.has_leapt && random.below(3) == 0 {
            self.store.admin().unwrap().accept_clock(SOMEBODY).unwrap();
            (self.floor, self.has_leapt) = (self.now, false);
            self.trail.push("accepted".into());
        } else {
            // Whatever is written next shows the store what time it is.
            let name = format!("{} {}", self.name, random.number());
            self.store.put(Draft::event(name)).unwrap();
            self.follow();
        }
    }

    fn step(&mut self, random: &mut Random) {
        if self.grains.len() < 2 {
            return self.put(random);
        }
        let target = random.below(self.grains.len());
        let who = random.pick(&ALL);
        // Signatures over anything but a supersession are not what this draws.
        let unsigned = random.pick(&[Who::None, Who::Unsigned]);
        match random.below(32) {
            0..=7 => self.put(random),
            8..=15 if random.below(4) == 0 => self.supersede(random, target, who),
            8..=15 => self.supersede(random, target, unsigned),
            16..=20 => self.contradict(target, unsigned),
            21..=25 => self.verify(random, target, unsigned),
            26..=28 => self.hold(random, target),
            29 if random.below(4) == 0 => self.delete(target, unsigned),
            _ => self.tick(random),
        }
    }

    /// The store and the reference say the same of every grain.
    fn agrees(&self) {
        for (at, known) in self.grains.iter().enumerate() {
            let found = self.store.status(&known.address);
            if known.is_gone {
                assert!(found.is_err(), "{at} is gone\n{self:?}");
                continue;
            }
            let (found, known) = (found.unwrap(), &known.status);
            let as_known = found.superseded_by == known.superseded_by
                && found.contradicted == known.contradicted
                && found.verification == known.verification
                && found.is_current() == known.is_current();
            assert!(as_known, "{at}: {found:?} is not {known:?}\n{self:?}");
        }
    }
}

impl std::fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.name)?;
        self.trail
            .iter()
            .try_for_each(|step| writeln!(f, "  {step}"))
    }
}

#[test]
fn no_history_changes_a_grain_against_what_protects_it() {
    let table = Table::read();
    assert_eq!(table.0.len() * ALL.len(), 1_008);
    let keys = [1, 2, 3, 4].map(|seed| key(Algorithm::Ed25519, seed));
    let mut stores: BTreeMap<u64, (Store, Arc<SetClock>, i64)> = BTreeMap::new();
    let (asked, mut done) = (asked(), Done::default());
    for seed in asked.clone() {
        // A store for many histories, each with grains of its own: what others did must not show.
        let part = seed / PER_STORE;
        if !stores.contains_key(&part) {
            stores.clear();
            let (options, clock) = at(START);
            let options = Options {
                text: None,
                ..options
            };
            stores.insert(part, (Store::in_memory(options).unwrap(), clock, START));
        }
        let (store, clock, now) = stores.get_mut(&part).unwrap();
        // The last history may have left the clock in doubt.
        store.admin().unwrap().accept_clock(SOMEBODY).unwrap();
        let mut world = World {
            table: &table,
            keys: &keys,
            store,
            clock,
            store_id: *store
                .maintenance()
                .unwrap()
                .stats()
                .unwrap()
                .store_id
                .as_bytes(),
            now: *now,
            floor: *now,
            has_leapt: false,
            name: format!("history {seed}"),
            grains: Vec::new(),
            trail: Vec::new(),
            denied: 0,
        };
        let mut random = Random::new(seed);
        for _ in 0..random.within(4..20) {
            world.step(&mut random);
            done.steps += 1;
        }
        world.agrees();
        *now = world.now;
        done.histories += 1;
        done.grains += world.grains.len();
        done.denied += world.denied;
        if (seed + 1).is_multiple_of(TOLD_EVERY) {
            println!("policy: up to history {}: {done:?}", seed + 1);
        }
    }
    println!("policy: histories {asked:?}: {done:?}");
}

/// What a run came to; every change that was not denied was as the table has it, too.
#[derive(Debug, Default)]
struct Done {
    histories: u64,
    steps: u64,
    grains: usize,
    denied: u64,
}

/// A run that is stopped has told how far it came.
const TOLD_EVERY: u64 = 10_000;

/// Enough that making stores costs nothing, few enough that one stays small.
const PER_STORE: u64 = 200;
