//! The store that is attacked: what its owner protected in it, and the handle of the agent.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use grainstore::codec::Value;
use grainstore::crypto::{Algorithm, Did, Error, Resolver, SigningKey, Statement, VerifyingKey};
use grainstore::grain::{Type, Verification};
use grainstore::ledger::MemoryDisk;
use grainstore::store::{Authorization, RequiredConsent};
use grainstore::{ContentAddress, Draft, Filter, Grain, Options, Store};
use serde_json::{Value as Json, json};

use crate::random::Random;
use crate::signing::key;
use crate::store::SetClock;

use super::mutation;

pub(super) const OFFICE: Authorization<'static> = Authorization {
    reason: "a test",
    authority: "the office",
};
pub(super) const ADA: &str = "did:web:ada.example";
pub(super) const BOB: &str = "did:web:bob.example";
const DOCTOR: &str = "did:web:doctor.example";
pub(super) const ALICE_WEB: &str = "did:web:alice.example";
pub(super) const AGENT_WEB: &str = "did:web:agent.example";

/// Knows the keys of the `did:web` names that two of the parties have besides their `did:key`.
#[derive(Debug)]
struct Aliases(Vec<(Did, VerifyingKey)>);

impl Resolver for Aliases {
    fn resolve(&self, did: &Did) -> Result<Vec<VerifyingKey>, Error> {
        let found = self.0.iter().find(|(known, _)| known == did);
        let reason = "not known".into();
        let (_, key) = found.ok_or(Error::Unresolved {
            did: did.clone(),
            reason,
        })?;
        Ok(vec![key.clone()])
    }
}

/// A grain whose words stay, and the states that its goal may reach without authority.
#[derive(Debug, Clone)]
pub(super) struct Guarded {
    pub(super) first: ContentAddress,
    pub(super) grain: Json,
    pub(super) states: &'static [&'static str],
    pub(super) evidence: usize,
    pub(super) is_quorum: bool,
    /// Whether it came in a file of a foreign format.
    pub(super) is_foreign: bool,
}

/// What the last step did, for the invariants that concern it.
#[derive(Debug)]
pub(super) enum Done {
    Nothing,
    Put(ContentAddress, Json),
    Retracted(ContentAddress),
}

pub(super) struct World {
    pub(super) store: Store,
    pub(super) handle: Store,
    pub(super) agent_did: String,
    alice: SigningKey,
    agent: SigningKey,
    store_id: [u8; 16],
    clock: Arc<SetClock>,
    now: i64,
    pub(super) guarded: Vec<Guarded>,
    /// Goals that wait for one that is never satisfied.
    pub(super) waiting: Vec<ContentAddress>,
    /// The consents that the owner put, with the person and the grantee of each.
    pub(super) consents: Vec<(ContentAddress, &'static str, String)>,
    pub(super) withdrawn: Vec<ContentAddress>,
    /// Grains of others, as the agent may know them.
    pub(super) known: Vec<ContentAddress>,
    /// Grains of the agent.
    pub(super) own: Vec<ContentAddress>,
    pub(super) retracted: Vec<ContentAddress>,
    pub(super) retained: Vec<ContentAddress>,
    pub(super) last: Done,
    pub(super) accepted: usize,
    pub(super) number: usize,
    /// How many files of each format brought a grain into the store.
    pub(super) taken: BTreeMap<String, usize>,
    pub(super) conflicts: usize,
    /// Whether the last step may have touched any grain.
    pub(super) look_everywhere: bool,
}

impl World {
    pub(super) fn new() -> Self {
        let (alice, bob, agent) = (1, 2, 3).map_keys();
        let clock = Arc::new(SetClock::default());
        clock.set(START);
        let store = opened(&MemoryDisk::default(), &clock, &alice, &agent);
        let stats = store.maintenance().unwrap().stats().unwrap();
        let mut world = Self {
            handle: store.as_actor(&agent.did()),
            agent_did: agent.did().to_string(),
            agent,
            store_id: *stats.store_id.as_bytes(),
            store,
            alice,
            clock,
            now: START,
            guarded: Vec::new(),
            waiting: Vec::new(),
            consents: Vec::new(),
            withdrawn: Vec::new(),
            known: Vec::new(),
            own: Vec::new(),
            retracted: Vec::new(),
            retained: Vec::new(),
            last: Done::Nothing,
            accepted: 0,
            number: 0,
            taken: BTreeMap::new(),
            conflicts: 0,
            look_everywhere: false,
        };
        world.protect(&bob);
        world.demand_consent();
        world.restrict();
        world.hold_foreign_records();
        world
    }

    /// The owner goes on with a store opened from its backup: what held before holds there.
    fn go_back_to_a_backup(&mut self) {
        let disk = MemoryDisk::default();
        let maintenance = self.store.maintenance().unwrap();
        maintenance.backup_to(&disk, Path::new("backup")).unwrap();
        self.store = opened(&disk, &self.clock, &self.alice, &self.agent);
        self.handle = self.store.as_actor(&self.agent.did());
    }

    pub(super) fn office(&mut self, json: &Json) -> ContentAddress {
        let draft = Draft::from_json(&json.to_string()).unwrap();
        let address = self.store.put(draft).unwrap();
        self.known.push(address);
        address
    }

    pub(super) fn guard(&mut self, grain: Json, states: &'static [&'static str], evidence: usize) {
        let is_quorum = grain["invalidation_policy"]["mode"] == "quorum";
        let first = self.office(&grain);
        self.guarded.push(Guarded {
            first,
            grain,
            states,
            evidence,
            is_quorum,
            is_foreign: false,
        });
    }

    /// Guards a grain that came in a file: nothing replaces it.
    pub(super) fn guard_stored(&mut self, first: ContentAddress, grain: Json) {
        self.known.push(first);
        self.guarded.push(Guarded {
            first,
            grain,
            states: &[],
            evidence: 0,
            is_quorum: false,
            is_foreign: true,
        });
    }

    fn protect(&mut self, bob: &SigningKey) {
        let locked = json!({"mode": "locked"});
        let goal = |text: &str, state: &str, policy: &Json| {
            json!({"type": "goal", "description": text, "goal_state": state, "created_at": 1,
                "criteria": ["at most 100 a day"], "priority": 1, "author_did": ADA,
                "invalidation_policy": policy})
        };
        let free = goal("spend little", "active", &locked);
        let free = with(
            free,
            "allowed_transitions",
            json!(["active", "satisfied", "suspended"]),
        );
        self.guard(free, &["active", "satisfied", "suspended"], 0);
        let proven = goal("paint the house", "active", &locked);
        let proven = with(proven, "allowed_transitions", json!(["satisfied"]));
        self.guard(
            with(proven, "evidence_required", json!(2)),
            &["satisfied"],
            2,
        );
        let never = goal("never reached", "active", &locked);
        self.guard(never, &[], 0);
        let never = self.guarded.last().unwrap().first;
        for policy in [json!({"mode": "open"}), locked.clone()] {
            let waits = goal(&format!("wait {}", policy["mode"]), "suspended", &policy);
            let waits = with(waits, "depends_on", json!([never.to_string()]));
            let waits = with(waits, "allowed_transitions", json!(["active"]));
            let waits = self.office(&waits);
            self.waiting.push(waits);
        }
        self.protect_beliefs(bob, &locked);
    }

    fn protect_beliefs(&mut self, bob: &SigningKey, locked: &Json) {
        let belief = |object: &str, policy: Json| {
            json!({"type": "belief", "subject": object, "relation": "is", "object": object,
                "confidence": 0.9, "created_at": 1, "author_did": self.alice.did().to_string(),
                "invalidation_policy": policy})
        };
        let (alice, bob) = (self.alice.did().to_string(), bob.did().to_string());
        let beliefs = [
            belief("locked", locked.clone()),
            belief("held", json!({"mode": "hold"})),
            belief(
                "timed",
                json!({"mode": "timed", "locked_until": 4_000_000_000_u64}),
            ),
            belief("strange", json!({"mode": "unlocked"})),
            // Two names of one key are one voice, and the author has none under any name.
            with(
                belief(
                    "quorum",
                    json!({"mode": "quorum", "threshold": 2,
                    "authorized": [alice, ALICE_WEB, bob]}),
                ),
                "author_did",
                json!(DOCTOR),
            ),
            belief(
                "vote",
                json!({"mode": "quorum", "threshold": 1,
                "authorized": [ALICE_WEB, bob]}),
            ),
        ];
        for grain in beliefs {
            self.guard(grain, &[], 0);
        }
        let plain = json!({"type": "belief", "subject": "case", "relation": "is", "object": "open",
            "confidence": 0.9, "created_at": 1});
        self.guard(plain, &[], 0);
        let held = self.guarded.last().unwrap().first;
        self.store
            .admin()
            .unwrap()
            .place_hold(&held, OFFICE)
            .unwrap();
    }

    fn demand_consent(&mut self) {
        let admin = self.store.admin().unwrap();
        let both = RequiredConsent {
            read: true,
            write: true,
        };
        admin.require_consent("clinic", both, OFFICE).unwrap();
        admin.require_consent("cafe\u{301}", both, OFFICE).unwrap();
        let grants = [
            (ADA, self.agent_did.clone()),
            (ADA, DOCTOR.to_owned()),
            (BOB, self.agent_did.clone()),
        ];
        for (n, (person, grantee)) in grants.into_iter().enumerate() {
            let consent = self.office(&json!({"type": "consent", "subject_did": person,
                "grantee_did": grantee, "scope": ["store", "retrieve"], "is_withdrawal": false,
                "created_at": n}));
            self.office(&json!({"type": "event", "content": format!("clinical {n}"),
                "namespace": "clinic", "subject_did": person, "created_at": 1,
                "processing_basis": consent.to_string()}));
            self.consents.push((consent, person, grantee));
        }
    }

    /// Grains that must not leave, or not be sold, or be kept for years; each says a word of its own.
    fn restrict(&mut self) {
        for (n, (top, inner)) in PROFILES.into_iter().enumerate() {
            let grain = mutation::restricted(n, top, inner, n);
            if let Ok(address) = self
                .store
                .put(Draft::from_json(&grain.to_string()).unwrap())
            {
                self.note_restricted(address, &grain);
            }
        }
    }

    pub(super) fn note_restricted(&mut self, address: ContentAddress, grain: &Json) {
        self.known.push(address);
        if grain["content"]
            .as_str()
            .is_some_and(|text| text.contains("zretained"))
        {
            self.retained.push(address);
        }
    }

    /// Makes one step of the agent.
    pub(super) fn attack(&mut self, random: &mut Random) {
        self.last = Done::Nothing;
        self.number += 1;
        self.now += 1_000;
        self.clock.set(self.now);
        match random.below(16) {
            0..=5 => self.replace(random),
            6 => self.dispute(random),
            7 | 8 => self.put_under_consent(random),
            9 => self.withdraw(random),
            10 => self.put_restricted(random),
            11 => self.retract(random),
            12 => self.write_consent(random),
            13 => self.put_opaque(random),
            14 => self.sign(random),
            _ => match random.below(32) {
                0 => self.go_back_to_a_backup(),
                1..=4 => self.reach_for_the_owners_operations(random),
                5..=7 => self.settle_a_conflict(random),
                _ => self.hand_over_a_file(random),
            },
        }
    }

    fn accept(&mut self, put: Option<ContentAddress>, json: Json) {
        if let Some(address) = put {
            self.accepted += 1;
            self.last = Done::Put(address, json);
        }
    }

    /// Returns the newest of a protected lineage, or of a goal that waits.
    pub(super) fn target(&self, random: &mut Random) -> (ContentAddress, Json) {
        let guarded = self.guarded.iter().map(|guarded| guarded.first);
        let all: Vec<_> = guarded.chain(self.waiting.iter().copied()).collect();
        let mut at = random.pick(&all);
        while let Some(next) = self.store.status(&at).unwrap().superseded_by {
            at = next;
        }
        (at, parsed(&self.store.get(&at).unwrap().unwrap()))
    }

    fn replace(&mut self, random: &mut Random) {
        let (old, mut grain) = self.target(random);
        mutation::successor(random, &mut grain, &old, &self.known, self.number);
        let draft = Draft::from_json(&grain.to_string());
        let Ok(draft) = draft else { return };
        let reason = random.flag().then_some("the agent says so");
        let put = match random.below(4) {
            0 => self.handle.put(draft),
            _ => self.handle.supersede(&old, draft, reason),
        };
        self.accept(put.ok(), grain);
    }

    fn dispute(&mut self, random: &mut Random) {
        let (old, _) = self.target(random);
        let done = match random.below(3) {
            0 => self.handle.contradict(&old, Some("no")),
            1 => self
                .handle
                .set_verification(&old, Verification::Contested, Some("no")),
            _ => self
                .handle
                .set_verification(&old, Verification::Retracted, Some("no")),
        };
        self.accepted += usize::from(done.is_ok());
    }

    fn put_under_consent(&mut self, random: &mut Random) {
        let basis = random.pick(&self.known).to_string();
        let consents: Vec<_> = self.consents.iter().map(|(address, ..)| *address).collect();
        let consent = random.pick(&consents).to_string();
        let basis = if random.below(4) == 0 { basis } else { consent };
        let mut grain = json!({"type": "event", "content": format!("clinical note {}", self.number),
            "namespace": random.pick(&["clinic", "clinic:notes", "caf\u{e9}", "cafe\u{301}"]),
            "created_at": 1, "processing_basis": mutation::misspelt(random, &basis)});
        let field = random.pick(&["subject_did", "user_id", "author_did", "nothing"]);
        grain[field] = json!(random.pick(&[ADA, BOB, DOCTOR]));
        let Ok(draft) = Draft::from_json(&grain.to_string()) else {
            return;
        };
        let put = self.handle.put(draft);
        self.accept(put.ok(), grain);
    }

    fn withdraw(&mut self, random: &mut Random) {
        // The first consent is not withdrawn, so that there is something to act under.
        let (consent, person, grantee) = self.consents[random.within(1..3)].clone();
        let prior = mutation::misspelt(random, &consent.to_string());
        let grain = json!({"type": "consent", "subject_did": person, "grantee_did": grantee,
            "scope": ["store"], "is_withdrawal": true, "created_at": self.number,
            "prior_consent": prior});
        let Ok(draft) = Draft::from_json(&grain.to_string()) else {
            return;
        };
        let put = self.store.put(draft);
        self.accept(put.ok(), grain);
    }

    fn put_restricted(&mut self, random: &mut Random) {
        let grain = self.restricted(random);
        let Ok(draft) = Draft::from_json(&grain.to_string()) else {
            return;
        };
        let put = self.handle.put(draft);
        if let Ok(address) = put {
            self.note_restricted(address, &grain);
        }
        self.accept(put.ok(), grain);
    }

    /// A grain that a profile keeps in the store, or allows to leave.
    pub(super) fn restricted(&self, random: &mut Random) -> Json {
        if random.below(5) == 0 {
            let missing = ContentAddress::of(b"missing");
            let basis = random.pick(&[missing, self.guarded[0].first, self.consents[2].0]);
            return mutation::undocumented(basis, ADA, self.number);
        }
        let (top, inner) = random.pick(&PROFILES);
        let n = random.below(PROFILES.len());
        mutation::restricted(n, top, inner, self.number + 100)
    }

    /// What only the owner may do, the agent's handle does not have: deletion, holds, imports,
    /// conflicts, backups and what is restored from them.
    fn reach_for_the_owners_operations(&self, random: &mut Random) {
        let handle = match random.below(3) {
            0 => self.handle.clone(),
            1 => self.handle.in_namespace("clinic"),
            _ => self.handle.as_actor(&ADA.parse().unwrap()),
        };
        let codes = [handle.admin().err(), handle.maintenance().err()];
        for error in codes {
            assert_eq!(error.unwrap().code(), "ERR_ACCESS_DENIED");
        }
        let acts_as = handle.capability().and_then(|it| it.acts_as());
        if acts_as.is_none_or(|actor| actor.as_str() != self.agent_did) {
            let shown = handle.query(&Filter::new().with_superseded(), 1, None);
            assert_eq!(shown.unwrap().total, 0, "{acts_as:?}");
            let stolen = Draft::event(format!("in the name of another {}", self.number));
            assert!(handle.put(stolen).is_err());
        }
    }

    fn retract(&mut self, random: &mut Random) {
        let draft = Draft::event(format!("retractable {}", self.number));
        let address = self.handle.put(draft).unwrap();
        self.own.push(address);
        let address = random.pick(&self.own);
        let done = self
            .handle
            .set_verification(&address, Verification::Retracted, Some("wrong"));
        if done.is_ok() {
            self.accepted += 1;
            self.retracted.push(address);
            self.last = Done::Retracted(address);
        }
    }

    /// A consent for the agent itself, new or in place of one that stands.
    fn write_consent(&mut self, random: &mut Random) {
        let (prior, ..) = self.consents[random.below(3)].clone();
        let mut grain = json!({"type": "consent", "subject_did": random.pick(&[ADA, BOB]),
            "grantee_did": self.agent_did, "scope": ["store", "retrieve"], "is_withdrawal": false,
            "created_at": self.number});
        let put = if random.flag() {
            let Ok(draft) = Draft::from_json(&grain.to_string()) else {
                return;
            };
            self.handle.put(draft)
        } else {
            grain["prior_consent"] = json!(prior.to_string());
            grain["supersession_justification"] = json!("renewed");
            let Ok(draft) = Draft::from_json(&grain.to_string()) else {
                return;
            };
            self.handle.supersede(&prior, draft, Some("renewed"))
        };
        if let Ok(address) = put {
            self.known.push(address);
        }
        self.accept(put.ok(), grain);
    }

    /// A grain of a later type that says of itself what only the store says.
    fn put_opaque(&mut self, random: &mut Random) {
        let names = [
            "superseded_by",
            "verification_status",
            "system_valid_to",
            "contradicted",
        ];
        let draft = Draft::new(Type::Opaque(0x0b))
            .set("type", "recommendation")
            .set("note", format!("opaque {}", self.number))
            .set(random.pick(&names), "verified")
            .created_at(grainstore::Time::from_ms(1));
        let put = self.handle.put(draft);
        self.accept(put.ok(), Json::Null);
    }

    /// The agent has the key of one of the authorized, who signs under both names.
    fn sign(&mut self, random: &mut Random) {
        let quorums: Vec<_> = self
            .guarded
            .iter()
            .filter(|one| one.is_quorum)
            .cloned()
            .collect();
        let target = &quorums[random.below(quorums.len())];
        let draft = Draft::belief("signed", "is", format!("other {}", self.number))
            .confidence(0.9)
            .created_at(grainstore::Time::from_ms(2))
            .author(&self.agent_did)
            .derived_from(target.first);
        let bare = draft.clone().finish(Default::default()).unwrap();
        let statement = Statement::supersede(&bare, target.first, self.store_id).unwrap();
        let web: Did = ALICE_WEB.parse().unwrap();
        let draft = [self.alice.did(), web].iter().fold(draft, |draft, did| {
            let signature = statement.sign(&self.alice, did, None).unwrap();
            draft.push("supersession_auth", Value::Bytes(signature))
        });
        let put = self.handle.supersede(&target.first, draft, Some("agreed"));
        self.accept(put.ok(), Json::Null);
    }
}

fn opened(
    disk: &MemoryDisk,
    clock: &Arc<SetClock>,
    alice: &SigningKey,
    agent: &SigningKey,
) -> Store {
    let named = |did: &str, key: &SigningKey| (did.parse().unwrap(), key.verifying_key());
    let options = Options {
        clock: clock.clone(),
        resolver: Arc::new(Aliases(vec![
            named(ALICE_WEB, alice),
            named(AGENT_WEB, agent),
        ])),
        // No rule is asked of the words.
        text: None,
        ballast_bytes: 0,
        ..Options::default()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

fn with(mut grain: Json, name: &str, value: Json) -> Json {
    grain[name] = value;
    grain
}

trait MapKeys {
    fn map_keys(self) -> (SigningKey, SigningKey, SigningKey);
}

impl MapKeys for (u8, u8, u8) {
    fn map_keys(self) -> (SigningKey, SigningKey, SigningKey) {
        let key = |seed| key(Algorithm::Ed25519, seed);
        (key(self.0), key(self.1), key(self.2))
    }
}

pub(super) fn parsed(grain: &Grain) -> Json {
    serde_json::from_str(&grain.to_json()).unwrap()
}

/// What a profile says at the top level, and what it says in `context`.
const PROFILES: [(bool, bool); 4] = [(true, false), (false, true), (true, true), (false, false)];

const START: i64 = 1_800_000_000_000;
