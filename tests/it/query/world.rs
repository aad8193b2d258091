//! A store with a history, and beside it what a plain list says of the same history.

use std::sync::Arc;

use grainstore::codec::Value;
use grainstore::grain::{Draft, Grain, Type, Verification};
use grainstore::index;
use grainstore::ledger::MemoryDisk;
use grainstore::store::{Authorization, Options};
use grainstore::{ContentAddress, Store, Time};
use proptest::prelude::*;

use crate::store::{SetClock, at};

/// What happens to the store.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Put(Box<Made>),
    Supersede(prop::sample::Index, Box<Made>),
    Contradict(prop::sample::Index),
    Verify(prop::sample::Index, Verification),
    Delete(prop::sample::Index),
    Wait(i64),
    Reopen,
    Compact,
}

/// What a grain is made of.
#[derive(Debug, Clone)]
pub(super) struct Made {
    nonce: u32,
    parts: [u8; 3],
    namespace: usize,
    user: u8,
    session: u8,
    run: u8,
    tags: Vec<u8>,
    created_at: i64,
    valid: (Option<i64>, Option<i64>),
    deadline: Option<i64>,
    active_from: Option<i64>,
    confidence: Option<u8>,
    importance: Option<u8>,
    source: Option<u8>,
    epistemic: Option<u8>,
    recall: Option<u8>,
}

pub(super) const NAMESPACES: [&str; 5] = ["a", "a:b", "a:b:c", "ab", "d"];
pub(super) const SOURCES: [&str; 3] = ["user_explicit", "sensor", "llm_generated"];
pub(super) const EPISTEMIC: [&str; 2] = ["certain", "hypothetical"];
/// The fields that partition grains by observer, with values of each.
pub(super) const OBSERVERS: [(&str, [&str; 2]); 5] = [
    ("observer_type", ["camera", "lidar"]),
    ("observer_id", ["cam", "cam-2"]),
    ("author_did", ["did:web:a", "did:web:b"]),
    ("subject_did", ["did:web:a", "did:web:c"]),
    ("entity_id", ["e0", "did:web:a"]),
];
pub(super) const RECALL: [&str; 3] = ["hot", "warm", "cold"];
/// When the clock of a world begins: shortly before an hour is full.
pub(super) const START: i64 = 3_600_000 - 40;

/// A time that the clock of a world passes sooner or later, or has passed.
pub(super) fn soon() -> impl Strategy<Value = i64> {
    START - 20..START + 120
}

pub(super) fn made() -> impl Strategy<Value = Box<Made>> {
    let who = (0..5_usize, 0..4_u8, 0..4_u8, 0..4_u8);
    let times = (
        0..40_i64,
        (
            prop::option::of(0..40_i64),
            prop::option::of(prop_oneof![20..60_i64, soon()]),
            prop::option::of(soon()),
        ),
        prop::option::weighted(0.2, START - 10..START + 60),
    );
    let marks = (
        prop::option::of(0..5_u8),
        prop::option::of(0..5_u8),
        prop::option::of(0..3_u8),
        prop::option::of(0..2_u8),
        prop::option::of(0..3_u8),
    );
    let tags = prop::collection::vec(0..4_u8, 0..3);
    (any::<u32>(), [0..4_u8, 0..3, 0..4], who, tags, times, marks).prop_map(
        |(nonce, parts, (namespace, user, session, run), tags, times, marks)| {
            let (created_at, (valid_from, valid_to, deadline), active_from) = times;
            let (confidence, importance, source, epistemic, recall) = marks;
            Box::new(Made {
                nonce,
                parts,
                namespace,
                user,
                session,
                run,
                tags,
                created_at,
                valid: (valid_from, valid_to),
                deadline,
                active_from,
                confidence,
                importance,
                source,
                epistemic,
                recall,
            })
        },
    )
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let any_grain = any::<prop::sample::Index>;
    let verification = prop_oneof![
        Just(Verification::Unverified),
        Just(Verification::Verified),
        Just(Verification::Contested),
        Just(Verification::Retracted),
    ];
    prop_oneof![
        8 => made().prop_map(Step::Put),
        3 => (any_grain(), made()).prop_map(|(at, made)| Step::Supersede(at, made)),
        1 => any_grain().prop_map(Step::Contradict),
        2 => (any_grain(), verification).prop_map(|(at, status)| Step::Verify(at, status)),
        1 => any_grain().prop_map(Step::Delete),
        3 => (0..9_i64).prop_map(Step::Wait),
        1 => Just(Step::Reopen),
        1 => Just(Step::Compact),
    ]
}

impl Made {
    pub(super) fn draft(&self) -> Draft {
        let [s, p, o] = self.parts;
        let mut draft = match self.nonce % 6 {
            0 => Draft::event("said something").set("subject", format!("s{s}")),
            1 => Draft::observation("cam", "camera").set("subject", format!("s{s}")),
            2 => Draft::goal("do something"),
            _ => {
                let sure = f64::from(self.confidence.unwrap_or(2)) / 4.0;
                Draft::belief(format!("s{s}"), format!("p{p}"), format!("o{o}")).confidence(sure)
            }
        };
        if (self.nonce / 6).is_multiple_of(2) {
            draft = draft.set("expiry_policy", "drop it");
        }
        for (n, (name, values)) in OBSERVERS.into_iter().enumerate() {
            let part = (self.nonce >> (4 + 2 * n)) % 4;
            if let Some(value) = values.get(part as usize) {
                draft = draft.set(name, *value);
            }
        }
        // Some events have another time than the writing of the grain.
        if (self.nonce >> 14).is_multiple_of(3) {
            draft = draft.set("timestamp_ms", i64::from((self.nonce >> 16) % 40));
        }
        draft = draft
            .namespace(NAMESPACES[self.namespace])
            .created_at(Time::from_ms(self.created_at))
            .set("nonce", i64::from(self.nonce))
            .set("run_id", format!("r{}", self.run));
        if self.user > 0 {
            draft = draft.user(format!("u{}", self.user));
        }
        if self.session > 0 {
            draft = draft.session(format!("t{}", self.session));
        }
        for tag in &self.tags {
            draft = draft.tag(format!("tag{tag}"));
        }
        let times = [
            ("valid_from", self.valid.0),
            ("valid_to", self.valid.1),
            ("deadline", self.deadline),
            ("system_valid_from", self.active_from),
        ];
        for (name, time) in times {
            if let Some(ms) = time {
                draft = draft.set(name, ms);
            }
        }
        if let Some(importance) = self.importance {
            draft = draft.importance(f64::from(importance) / 4.0);
        }
        let words: [(&str, Option<u8>, &[&str]); 3] = [
            ("source_type", self.source, &SOURCES),
            ("epistemic_status", self.epistemic, &EPISTEMIC),
            ("recall_priority", self.recall, &RECALL),
        ];
        for (name, n, all) in words {
            if let Some(n) = n {
                draft = draft.set(name, all[usize::from(n)]);
            }
        }
        draft
    }
}

/// What the list says of one grain.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) grain: Grain,
    pub(super) stored_at: i64,
    /// When it ceased to be current.
    pub(super) ended: Option<i64>,
    pub(super) verification: Verification,
}

impl Kept {
    pub(super) fn time(&self, name: &str) -> Option<i64> {
        self.grain.field(name).and_then(Value::as_i64)
    }

    /// Whether it is no longer true, or no longer pursued, at a time (ruling I23).
    pub(super) fn has_expired_by(&self, now: i64) -> bool {
        let is_past = |name| self.time(name).is_some_and(|time| time < now);
        match self.grain.type_() {
            Type::Observation => false,
            Type::Goal if self.grain.text("expiry_policy").is_some() && is_past("deadline") => true,
            _ => is_past("valid_to"),
        }
    }

    /// When it became active here (ruling I20).
    pub(super) fn active_from(&self) -> i64 {
        self.time("system_valid_from").unwrap_or(self.stored_at)
    }
}

/// A store and the list, in the order in which grains were stored.
#[derive(Debug)]
pub(super) struct World {
    disk: MemoryDisk,
    options: Options,
    clock: Arc<SetClock>,
    pub(super) now: i64,
    pub(super) store: Store,
    pub(super) kept: Vec<Kept>,
}

impl World {
    pub(super) fn new(index: index::IndexOptions) -> Self {
        let (options, clock) = at(START);
        let options = Options {
            index,
            text: None,
            ballast_bytes: 0,
            ..options
        };
        let disk = MemoryDisk::default();
        Self {
            store: Store::open_on(Arc::new(disk.clone()), options.clone()).unwrap(),
            disk,
            options,
            clock,
            now: START,
            kept: Vec::new(),
        }
    }

    pub(super) fn run(&mut self, steps: Vec<Step>) {
        steps.into_iter().for_each(|step| self.step(step));
    }

    pub(super) fn step(&mut self, step: Step) {
        match step {
            Step::Put(made) => {
                let address = self.store.put(made.draft()).unwrap();
                self.keep(address);
            }
            Step::Supersede(at, made) => {
                let Some(n) = self.pick(&at).filter(|n| self.kept[*n].ended.is_none()) else {
                    return;
                };
                let old = self.kept[n].grain.address();
                let new = made.draft().derived_from(old);
                let new = self.store.supersede(&old, new, None).unwrap();
                self.kept[n].ended = Some(self.now);
                self.keep(new);
            }
            Step::Contradict(at) => {
                let Some(n) = self.pick(&at) else { return };
                let address = self.kept[n].grain.address();
                if self.store.status(&address).unwrap().contradicted {
                    return;
                }
                self.store.contradict(&address, None).unwrap();
                self.kept[n].ended = self.kept[n].ended.or(Some(self.now));
                self.kept[n].verification = Verification::Contested;
            }
            Step::Verify(at, status) => {
                let Some(n) = self.pick(&at) else { return };
                let address = self.kept[n].grain.address();
                self.store.set_verification(&address, status, None).unwrap();
                self.kept[n].verification = status;
                // Ruling P18: what is withdrawn from use has ended.
                if status == Verification::Retracted {
                    self.kept[n].ended = self.kept[n].ended.or(Some(self.now));
                }
            }
            Step::Delete(at) => {
                let Some(n) = self.pick(&at) else { return };
                let deletion = Authorization {
                    reason: "asked",
                    authority: "the owner",
                };
                let address = self.kept.remove(n).grain.address();
                self.store
                    .admin()
                    .unwrap()
                    .delete(&address, deletion)
                    .unwrap();
            }
            Step::Wait(ms) => {
                self.now += ms;
                self.clock.set(self.now);
            }
            Step::Reopen => {
                let disk = Arc::new(self.disk.clone());
                let other = Store::in_memory(Options::default()).unwrap();
                drop(std::mem::replace(&mut self.store, other));
                self.store = Store::open_on(disk, self.options.clone()).unwrap();
            }
            Step::Compact => drop(self.store.maintenance().unwrap().compact().unwrap()),
        }
    }

    fn pick(&self, at: &prop::sample::Index) -> Option<usize> {
        (!self.kept.is_empty()).then(|| at.index(self.kept.len()))
    }

    fn keep(&mut self, address: ContentAddress) {
        if self.kept.iter().any(|kept| kept.grain.address() == address) {
            return;
        }
        self.kept.push(Kept {
            grain: self.store.get(&address).unwrap().unwrap(),
            stored_at: self.now,
            ended: None,
            verification: Verification::Unverified,
        });
    }
}

pub(super) fn index_options() -> impl Strategy<Value = index::IndexOptions> {
    (1..40_u64, any::<bool>(), any::<bool>()).prop_map(|(flush_rows, background, remembers)| {
        index::IndexOptions {
            flush_rows,
            background,
            result_cache_bytes: if remembers { 1 << 20 } else { 0 },
            ..index::IndexOptions::default()
        }
    })
}
