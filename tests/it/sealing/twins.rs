//! Two stores of one history, one with its persons sealed and unlocked, one with all in the clear: they
//! answer alike; and nothing of a person who is locked is in any answer.

use grainstore::grain::Verification;
use grainstore::store::{Embedding, Person};
use grainstore::{Search, Type};
use proptest::prelude::*;

use super::*;

const USERS: [Option<&str>; 4] = [Some("alice"), Some("bob"), Some("carol"), None];
const SEALED: [&str; 2] = ["alice", "bob"];

#[derive(Debug, Clone, Copy)]
enum Step {
    Event(u8),
    Belief(u8),
    Batch(u8),
    Reasoning(u8),
    Protected(u8),
    Goal(u8),
    Supersede(u8),
    Contradict(u8),
    Verify(u8),
    Vector(u8),
    Hold(u8),
    Lift(u8),
    ClearReviews,
    Delete(u8),
    Reopen,
    Compact,
    Relock(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let any = any::<u8>;
    prop_oneof![
        4 => any().prop_map(Step::Event),
        4 => any().prop_map(Step::Belief),
        1 => any().prop_map(Step::Batch),
        1 => any().prop_map(Step::Reasoning),
        2 => any().prop_map(Step::Protected),
        1 => any().prop_map(Step::Goal),
        4 => any().prop_map(Step::Supersede),
        1 => any().prop_map(Step::Contradict),
        1 => any().prop_map(Step::Verify),
        1 => any().prop_map(Step::Vector),
        1 => any().prop_map(Step::Hold),
        1 => any().prop_map(Step::Lift),
        1 => Just(Step::ClearReviews),
        1 => any().prop_map(Step::Delete),
        1 => Just(Step::Reopen),
        1 => Just(Step::Compact),
        2 => any().prop_map(Step::Relock),
    ]
}

/// One of the two stores.
struct Twin {
    disk: MemoryDisk,
    store: Store,
    persons: [&'static str; 2],
    sealed: &'static [&'static str],
}

impl Twin {
    fn new(is_sealed: bool) -> Self {
        let disk = MemoryDisk::default();
        // As many entries in both, so that entries have the same numbers.
        let persons = match is_sealed {
            true => SEALED,
            false => ["dave", "eve"],
        };
        Self {
            store: with_persons(&disk, &persons),
            disk,
            persons,
            sealed: match is_sealed {
                true => &SEALED,
                false => &[],
            },
        }
    }

    fn reopen(&mut self) {
        self.store = Store::in_memory(Options::default()).unwrap();
        self.store = open(&self.disk);
        self.unlock();
    }

    fn unlock(&self) {
        let users = self.sealed.iter();
        users.for_each(|user| self.store.admin().unwrap().unlock(user).unwrap());
    }

    fn lock(&self) {
        let users = self.sealed.iter();
        users.for_each(|user| self.store.admin().unwrap().lock(user).unwrap());
    }

    /// Does a step; the answer, a refusal too, is the same in both.
    #[expect(clippy::too_many_lines, reason = "one arm a step")]
    fn step(&mut self, step: Step) -> String {
        let store = self.store.clone();
        let admin = store.admin().unwrap();
        let all = addresses(&store);
        let pick = |n: u8| all.get(usize::from(n) % all.len().max(1)).copied();
        let told = |result: &dyn std::fmt::Debug| format!("{result:?}");
        match step {
            Step::Event(n) => {
                let draft = draft(Draft::event(format!("note {n}")), n);
                told(&store.put(draft.set("session_id", format!("s{}", n % 3))))
            }
            Step::Belief(n) => {
                let relation = ["knows", "likes"][usize::from(n % 2)];
                let belief = Draft::belief(format!("s{}", n % 5), relation, format!("o{}", n % 3));
                let belief = belief.confidence(f64::from(n) / 256.0);
                told(&store.put(draft(belief, n).namespace(["a", "a:b", "c"][usize::from(n % 3)])))
            }
            Step::Batch(n) => {
                let drafts = (0..9_u8).map(|k| {
                    let n = n.wrapping_add(k);
                    draft(Draft::event(format!("batch {n}")), n)
                });
                told(&store.put_batch(drafts))
            }
            Step::Reasoning(n) => told(&store.put(draft(
                json(&format!(
                    r#"{{"type":"reasoning","conclusion":"so {n}","requires_human_review":true}}"#
                )),
                n,
            ))),
            Step::Protected(n) => {
                let mode = ["hold", "soft_locked", "locked"][usize::from(n % 3)];
                told(&store.put(draft(
                    json(&format!(
                        r#"{{"type":"event","content":"deed {n}",
                            "invalidation_policy":{{"mode":"{mode}","scope":"subtree"}}}}"#
                    )),
                    n,
                )))
            }
            Step::Goal(n) => told(&store.put(draft(Draft::goal(format!("goal {n}")), n))),
            Step::Supersede(n) => {
                let Some(old) = pick(n) else {
                    return String::new();
                };
                let user = store.get(&old).ok().flatten();
                let user = user.and_then(|grain| grain.text("user_id").map(str::to_owned));
                let new =
                    Draft::event(format!("instead of {old} {n}")).created_at(Time::from_ms(9));
                let new = match user {
                    Some(user) => new.user(user),
                    None => draft(new, n),
                };
                told(&store.supersede(&old, new.derived_from(old), Some("newer")))
            }
            Step::Contradict(n) => told(&pick(n).map(|one| store.contradict(&one, Some("no")))),
            Step::Verify(n) => {
                let to = [Verification::Verified, Verification::Retracted];
                let to = to[usize::from(n % 2)];
                told(&pick(n).map(|one| store.set_verification(&one, to, None)))
            }
            Step::Vector(n) => {
                let vector = [f32::from(n) + 1.0, 2.0];
                let of = pick(n).map(|one| Embedding::new(one, "m", &vector));
                told(&of.map(|of| store.put_embeddings(&[of])))
            }
            Step::Hold(n) => told(&pick(n).map(|one| admin.place_hold(&one, ASKED))),
            Step::Lift(n) => told(&pick(n).map(|one| admin.lift_hold(&one, ASKED))),
            Step::ClearReviews => {
                let reviews = admin.reviews().unwrap();
                let cleared = reviews.iter().take(2);
                let cleared = cleared.map(|review| admin.clear_review(review.id, ASKED));
                told(&cleared.collect::<Vec<_>>())
            }
            Step::Delete(n) => told(&pick(n).map(|one| admin.delete(&one, ASKED))),
            Step::Reopen => {
                drop(store);
                self.reopen();
                String::new()
            }
            Step::Compact => {
                // A compaction renews the keys that are due, which are entries: of none in both.
                for user in self.persons {
                    admin.vault().rekey(user).unwrap();
                }
                store.maintenance().unwrap().compact().unwrap();
                String::new()
            }
            Step::Relock(n) => {
                if let Some(user) = self.sealed.get(usize::from(n % 2)) {
                    store.admin().unwrap().lock(user).unwrap();
                    sound(&store);
                    store.admin().unwrap().unlock(user).unwrap();
                }
                String::new()
            }
        }
    }
}

fn json(text: &str) -> Draft {
    Draft::from_json(text).unwrap()
}

fn draft(draft: Draft, n: u8) -> Draft {
    let draft = draft.created_at(Time::from_ms(i64::from(n) * 1_000));
    match USERS[usize::from(n / 3) % USERS.len()] {
        Some(user) => draft.user(user),
        None => draft,
    }
}

/// Every answer of a store, as text.
#[expect(clippy::too_many_lines, reason = "one statement a question")]
fn answers(store: &Store) -> Vec<String> {
    let admin = store.admin().unwrap();
    let mut told = Vec::new();
    let mut tell =
        |what: &str, answer: &dyn std::fmt::Debug| told.push(format!("{what}: {answer:?}"));
    tell("list", &store.list(None, 1_000).unwrap());
    tell("page", &store.list(None, 3).unwrap());
    for address in addresses(store) {
        let grain = store
            .get(&address)
            .map(|grain| grain.map(|grain| grain.blob().to_vec()));
        tell("get", &grain);
        tell("status", &store.status(&address));
        tell(
            "history",
            &store.history(&address).map(|all| {
                let all = all.into_iter();
                all.map(|one| (one.grain.address(), one.status, one.stored_by))
                    .collect::<Vec<_>>()
            }),
        );
        tell("heads", &admin.heads(&address));
        tell("rests", &admin.resting_on(&address));
        tell("vector", &store.embedding(&address, "m"));
    }
    let filters = [
        Filter::new(),
        Filter::new().user("alice"),
        Filter::new().user("bob"),
        Filter::new().session("s1"),
        Filter::new().namespace("a"),
        Filter::new().subject("s1"),
        Filter::new().relation("likes"),
        Filter::new().object("o1").relation("knows"),
        Filter::new().of_type(Type::Belief),
        Filter::new().confidence(0.25, 0.75),
        Filter::new()
            .since(Time::from_ms(40_000))
            .until(Time::from_ms(160_000)),
        Filter::new().verification(Verification::Verified),
        Filter::new().with_superseded(),
        Filter::new().with_superseded().user("alice"),
    ];
    for filter in filters {
        let found = store.query(&filter, 1_000, None).unwrap();
        let grains = found.results.iter().map(|one| (one.address, one.status));
        tell("query", &(grains.collect::<Vec<_>>(), found.total));
        let few = store.query(&filter, 2, None).unwrap();
        let grains = few.results.iter().map(|one| one.address);
        tell("few", &grains.collect::<Vec<_>>());
    }
    tell("reviews", &admin.reviews());
    tell("holds", &admin.holds());
    for words in ["note", "instead", "deed 7", "note -3", "\"batch 4\""] {
        let found = store.search(words, &Filter::new(), 20);
        let found = found.map(|found| {
            let scored = found.results.iter();
            let scored = scored.map(|one| (one.address, one.score.to_bits()));
            (scored.collect::<Vec<_>>(), found.total)
        });
        tell("search", &found);
    }
    let near = store.find(&Search::near("m", &[1.0, 2.0]).limit(5));
    tell(
        "near",
        &near.map(|near| {
            near.results
                .iter()
                .map(|one| one.address)
                .collect::<Vec<_>>()
        }),
    );
    for user in ["alice", "carol"] {
        tell("person", &admin.person_report(&Person::new(user)));
    }
    told
}

#[test]
fn a_store_whose_persons_are_sealed_answers_as_one_in_the_clear() {
    let config = ProptestConfig::with_cases(crate::random::cases(40));
    proptest!(config, |(steps in prop::collection::vec(step(), 1..40))| {
        let (mut sealed, mut plain) = (Twin::new(true), Twin::new(false));
        for step in steps {
            let told = sealed.step(step);
            prop_assert_eq!(told, plain.step(step), "{:?}", step);
        }
        sound(&sealed.store);
        let open = answers(&sealed.store);
        prop_assert_eq!(&open, &answers(&plain.store));
        // Locked, nothing is left of them; the others are there.
        let own = |store: &Store, user: Option<&str>| {
            let of = |address: &ContentAddress| {
                let grain = store.get(address).ok().flatten();
                grain.is_some_and(|grain| grain.text("user_id") == user)
            };
            addresses(store).into_iter().filter(of).collect::<Vec<_>>()
        };
        let rest = USERS.map(|user| own(&sealed.store, user));
        sealed.lock();
        sound(&sealed.store);
        for (user, before) in USERS.into_iter().zip(rest) {
            let now = own(&sealed.store, user);
            let is_locked = user.is_some_and(|user| SEALED.contains(&user));
            prop_assert_eq!(now, if is_locked { Vec::new() } else { before });
        }
        let locked = answers(&sealed.store).concat();
        for word in ["\"alice\"", "\"bob\""] {
            prop_assert!(!locked.contains(word), "{}", word);
        }
        sealed.unlock();
        prop_assert_eq!(&open, &answers(&sealed.store));
        sealed.reopen();
        prop_assert_eq!(&open, &answers(&sealed.store));
        sound(&sealed.store);
    });
}
