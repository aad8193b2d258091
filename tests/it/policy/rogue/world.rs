//! Two stores with the same owner and victim, of which one has a rogue.

use grainstore::crypto::{Algorithm, Did, OsRandom, SigningKey};
use grainstore::grain::{Grain, Verification};
use grainstore::ledger::MemoryDisk;
use grainstore::policy::{Actor, Operation, TrustRule};
use grainstore::store::{Asked, Authorization, ConsentFilter, Embedding, Error};
use grainstore::{ContentAddress, Draft, Filter, Store, Time, crypto};

use crate::policy::opened_at;
use crate::random::Random;

pub(super) const VICTIM: &str = "did:web:victim.example";
pub(super) const ROGUE: &str = "did:web:rogue.example";
pub(super) const DESK: &str = "did:web:desk.example";
pub(super) const PERSON: &str = "did:web:alice.example";

pub(super) const OFFICE: Authorization<'static> = Authorization {
    reason: "a test",
    authority: "the office",
};

/// The handles on one store.
pub(super) struct World {
    pub(super) owner: Store,
    pub(super) victim: Store,
    pub(super) rogue: Store,
    /// A handle in the rogue's namespace that has no author.
    pub(super) nameless: Store,
}

impl World {
    fn new() -> Self {
        let (owner, _) = opened_at(&MemoryDisk::default(), 1_800_000_000_000);
        let handle = |name: &str| owner.as_actor(&did(name));
        Self {
            victim: handle(VICTIM).in_namespace("victim"),
            rogue: handle(ROGUE).in_namespace("rogue"),
            nameless: owner.in_namespace("rogue"),
            owner,
        }
    }
}

pub(super) struct Twins {
    pub(super) with: World,
    without: World,
    /// The grains of the owner and the victim.
    pub(super) known: Vec<ContentAddress>,
    pub(super) consents: Vec<ContentAddress>,
    pub(super) delegations: Vec<ContentAddress>,
    /// Signed grains that the owner has and will store.
    pub(super) signed: Vec<Grain>,
    pub(super) operator: SigningKey,
    /// What the rogue wrote.
    pub(super) own: Vec<ContentAddress>,
    pub(super) log: Vec<String>,
    steps: usize,
    /// Whether the rogue wrote files that were imported.
    pub(super) has_files: bool,
}

impl Twins {
    pub(super) fn new() -> Self {
        let operator = SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap();
        let (with, without) = (World::new(), World::new());
        let mut rule = TrustRule::new(operator.did());
        rule.namespaces = vec!["guarded".into()];
        rule.is_exclusive = true;
        let mut also = TrustRule::new(operator.did());
        also.namespaces = vec!["shown".into()];
        for world in [&with, &without] {
            let admin = world.owner.admin().unwrap();
            admin.trust(rule.clone(), "the operator alone").unwrap();
            admin.trust(also.clone(), "the operator too").unwrap();
        }
        let mut twins = Self {
            with,
            without,
            known: Vec::new(),
            consents: Vec::new(),
            delegations: Vec::new(),
            signed: Vec::new(),
            operator,
            own: Vec::new(),
            log: Vec::new(),
            steps: 0,
            has_files: false,
        };
        for n in 0..4 {
            twins.put_as_victim(&event(n));
        }
        for n in 0..2 {
            twins.grant(n);
        }
        twins.rest();
        twins
    }

    /// Does the same in both stores, which must come to the same.
    fn both(
        &mut self,
        what: &str,
        act: impl Fn(&World) -> Result<ContentAddress, Error>,
    ) -> Option<ContentAddress> {
        self.steps += 1;
        self.log.push(what.to_owned());
        let shown = |outcome: &Result<ContentAddress, Error>| match outcome {
            Ok(address) => address.to_string(),
            Err(error) => format!("{} {error}", error.code()),
        };
        let [with, without] = [act(&self.with), act(&self.without)];
        assert_eq!(shown(&with), shown(&without), "{}", self.log.join("\n"));
        let address = with.ok()?;
        if !self.known.contains(&address) {
            self.known.push(address);
        }
        Some(address)
    }

    fn put_as_victim(&mut self, draft: &Draft) -> Option<ContentAddress> {
        self.both("the victim puts", |world| world.victim.put(draft.clone()))
    }

    fn grant(&mut self, n: usize) {
        let grant = consent(
            PERSON,
            &format!(r#","is_withdrawal":false,"purpose":"p{n}""#),
        );
        let put = self.put_as_victim(&grant);
        self.consents.extend(put);
    }

    /// The victim writes something that rests on each consent.
    fn rest(&mut self) {
        for consent in self.consents.clone() {
            let draft = event(100 + self.steps).set("processing_basis", consent.to_string());
            self.put_as_victim(&draft);
        }
    }

    fn any(&self, random: &mut Random) -> ContentAddress {
        random.pick(&self.known)
    }

    /// Does a step of the owner or the victim.
    pub(super) fn step(&mut self, random: &mut Random) {
        let n = 1_000 + self.steps;
        let any = self.any(random);
        match random.below(12) {
            0 => drop(self.put_as_victim(&event(n))),
            1 => {
                let new = event(n).derived_from(any);
                self.both("the victim supersedes", |world| {
                    world.victim.supersede(&any, new.clone(), Some("newer"))
                });
            }
            2 => {
                let mode = random.pick(&["locked", "soft_locked", "open"]);
                let scope = random.pick(&["grain", "subtree", "lineage"]);
                let json = format!(
                    r#"{{"type":"event","content":"note {n}","created_at":1,
                        "invalidation_policy":{{"mode":"{mode}","scope":"{scope}"}}}}"#
                );
                self.put_as_victim(&Draft::from_json(&json).unwrap());
            }
            3 => drop(self.put_as_victim(&event(n).derived_from(any))),
            4 => drop(self.both("the victim contradicts", |world| {
                world.victim.contradict(&any, Some("wrong"))?;
                Ok(any)
            })),
            5 => self.grant(n),
            6 => self.delegate(n, random),
            7 => self.sign(n),
            // Ruling I8: a file may withdraw a consent that is not stored.
            8 if self.consents.contains(&any) => {}
            8 => drop(self.both("the owner deletes", |world| {
                world.owner.admin()?.delete(&any, OFFICE)?;
                Ok(any)
            })),
            9 => drop(self.both("the victim verifies", |world| {
                let to = Verification::Verified;
                world.victim.set_verification(&any, to, None)?;
                Ok(any)
            })),
            10 => drop(self.both("the victim embeds", |world| {
                let vector = Embedding::new(any, "victim's model", &[0.5, 0.25, 1.0]);
                world.victim.put_embeddings(&[vector])?;
                Ok(any)
            })),
            _ => self.rest(),
        }
    }

    /// The desk, of which the owner knows, delegates to the victim.
    fn delegate(&mut self, n: usize, random: &mut Random) {
        let depth = random.below(2);
        let json = format!(
            r#"{{"type":"goal","description":"task {n}","goal_state":"active",
                "subject":"{DESK}","author_did":"{DESK}","relation":"mg:delegates_to",
                "object":"{VICTIM}","authorized_namespaces":["victim"],"namespace":"victim",
                "delegation_depth":{depth},"created_at":1}}"#
        );
        let draft = Draft::from_json(&json).unwrap();
        let put = self.both("the owner delegates", |world| {
            world.owner.put(draft.clone())
        });
        self.delegations.extend(put);
    }

    /// The operator stores a signed grain that it showed before, and shows the next one.
    fn sign(&mut self, n: usize) {
        if let Some(grain) = self.signed.pop() {
            self.both("the operator puts", |world| world.owner.put(grain.clone()));
        }
        let namespace = ["guarded", "shown"][n % 2];
        let draft = Draft::event(format!("note {n}")).namespace(namespace);
        let grain = draft.created_at(Time::from_ms(1)).to_be_signed();
        let grain = grain.finish(Default::default()).unwrap();
        let key = &self.operator;
        self.signed
            .push(crypto::sign(grain, key, &key.did(), None).unwrap());
    }

    /// Compares what the two stores answer.
    pub(super) fn compare(&self) {
        let [with, without] = [&self.with, &self.without].map(|world| self.answers(world));
        assert_eq!(with.len(), without.len());
        for (with, without) in with.iter().zip(&without) {
            assert_eq!(with, without, "{}", self.log.join("\n"));
        }
    }

    /// Files bring grains into the victim's namespace, which are not compared.
    fn known_of(&self, addresses: impl IntoIterator<Item = ContentAddress>) -> Vec<String> {
        let mut known: Vec<_> = addresses.into_iter().collect();
        known.retain(|address| self.known.contains(address));
        known.sort_unstable();
        known.iter().map(ToString::to_string).collect()
    }

    fn answers(&self, world: &World) -> Vec<String> {
        let (victim, admin) = (&world.victim, world.owner.admin().unwrap());
        let mut answers = Vec::new();
        for filter in [Filter::new(), Filter::new().with_superseded()] {
            let found = victim.query(&filter, 1_000, None).unwrap().results;
            let found = found.into_iter().map(|found| found.address);
            answers.push(format!("query {:?}", self.known_of(found)));
            let found = victim.search("note", &filter, 1_000).unwrap().results;
            let found = found.into_iter().map(|found| found.address);
            answers.push(format!("search {:?}", self.known_of(found)));
        }
        let listed = victim.list(None, 1_000).unwrap().addresses;
        answers.push(format!("list {:?}", self.known_of(listed)));
        let consents = admin.consents(&ConsentFilter::default()).unwrap();
        for consent in consents {
            let address = consent.grain.address();
            if self.known.contains(&address) {
                answers.push(format!(
                    "consent {address} {:?} {:?}",
                    consent.withdrawn, consent.ended_at
                ));
            }
        }
        for address in &self.known {
            self.about(world, address, &mut answers);
        }
        answers
    }

    fn about(&self, world: &World, address: &ContentAddress, answers: &mut Vec<String>) {
        let (victim, admin) = (&world.victim, world.owner.admin().unwrap());
        let shown = |outcome: Result<String, Error>| match outcome {
            Ok(text) => text,
            Err(error) => error.code().to_string(),
        };
        let mut say = |what: &str, outcome: Result<String, Error>| {
            answers.push(format!("{address} {what} {}", shown(outcome)));
        };
        say(
            "get",
            victim.get(address).map(|it| it.is_some().to_string()),
        );
        say("status", victim.status(address).map(|it| format!("{it:?}")));
        let history = victim.history(address).map(|versions| {
            let versions = versions.into_iter().map(|version| version.grain.address());
            format!("{:?}", self.known_of(versions))
        });
        say("history", history);
        let status = world.owner.status(address);
        say("owner's status", status.map(|it| format!("{it:?}")));
        let signature = world.owner.signature(address);
        say("signature", signature.map(|it| format!("{it:?}")));
        let heads = admin.heads(address).map(|heads| {
            let others = heads.others.into_iter().map(|fork| fork.address);
            format!("{} {:?}", heads.winner, self.known_of(others))
        });
        // Ruling I17: the forks that a file brings are shown.
        if !self.has_files {
            say("heads", heads);
        }
        for operation in [Operation::Supersede, Operation::Verify, Operation::Delete] {
            let actor = Actor {
                justification: Some("a reason"),
                authority: Some("an office"),
                ..Actor::default()
            };
            let asked = Asked::Change(operation);
            let explained = admin.explain_policy(address, asked, &actor);
            let explained = explained.map(|it| format!("{} {:?}", it.is_allowed, it.rule));
            say(operation.name(), explained);
        }
    }
}

pub(super) fn did(text: &str) -> Did {
    text.parse().unwrap()
}

pub(super) fn event(n: usize) -> Draft {
    Draft::event(format!("note {n}")).created_at(Time::from_ms(1))
}

pub(super) fn consent(subject: &str, more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"consent","subject_did":"{subject}","grantee_did":"{VICTIM}",
            "scope":["store","retrieve"],"created_at":1{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}
