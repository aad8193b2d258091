//! What the rogue calls: every call that a confined handle has, with generated content.

use grainstore::crypto::{Algorithm, OsRandom, SigningKey, Statement, sign};
use grainstore::grain::Verification;
use grainstore::store::{Embedding, Handoff, Justification};
use grainstore::{ContentAddress, Draft, Filter, Time};

use crate::random::Random;

use super::world::{DESK, PERSON, ROGUE, Twins, VICTIM, consent, did, event};

const DIDS: [&str; 7] = [
    VICTIM,
    ROGUE,
    DESK,
    PERSON,
    "did:web:victim.example#key-1",
    "did:web:rogue.example#key-1",
    "did:web:VICTIM.example",
];

const NAMESPACES: [&str; 9] = [
    "rogue",
    "rogue:room",
    "victim",
    "victim:room",
    "guarded",
    "*",
    "",
    "rogue:",
    "agent:identity",
];

const JUDGEMENTS: [Verification; 4] = [
    Verification::Unverified,
    Verification::Verified,
    Verification::Contested,
    Verification::Retracted,
];

/// Does one step of the rogue; a refusal is a step too.
pub(super) fn step(twins: &mut Twins, random: &mut Random) {
    let target = target(twins, random);
    let handle = match random.below(4) {
        0 => twins.with.nameless.clone(),
        _ => twins.with.rogue.clone(),
    };
    let n = random.below(1_000_000);
    let kind = random.below(14);
    twins.log.push(format!(
        "the rogue calls {kind} of {target}, as {:?}",
        handle.capability().and_then(|it| it.acts_as().cloned())
    ));
    let put = match kind {
        0 | 1 => Some(withdrawal(twins, random)),
        2 | 3 => Some(delegation(random, n)),
        4 => Some(hand_back(random, target, n)),
        5 => Some(claim(random, target, n)),
        _ => None,
    };
    if let Some(draft) = put {
        twins.log.push(format!("    {draft:?}"));
        let stored = match random.below(4) {
            0 => handle.put_batch([draft]).map(|all| all[0].address),
            1 => handle.supersede(&target, draft, Some("newer")),
            _ => handle.put(draft),
        };
        twins.own.extend(stored.ok());
        return;
    }
    match kind {
        6 => {
            let to = random.pick(&JUDGEMENTS);
            let signatures = signatures(twins, target, to);
            let justification = Justification {
                justification: Some("a reason"),
                signatures: &signatures,
            };
            drop(handle.set_verification(&target, to, justification));
        }
        7 => drop(handle.contradict(&target, Some("a reason"))),
        8 => {
            let handoff = Handoff::of("a task").session("s").context(target);
            let to = did(random.pick(&DIDS[..4]));
            twins
                .own
                .extend(handle.hand_off(&to, &handoff).map(|it| it.delegation).ok());
        }
        9 => {
            drop(handle.take_over(&target));
            drop(handle.hand_back(&target, "done"));
        }
        10 => {
            let vector = [Embedding::new(target, "rogue's model", &[0.5, 0.25])];
            drop(handle.put_embeddings(&vector));
        }
        11 => {
            drop(handle.get(&target));
            drop(handle.history(&target));
            drop(handle.thread(&target));
            drop(handle.agent_card(VICTIM));
            drop(handle.search("note", &Filter::new(), 10));
        }
        12 => twins
            .own
            .extend(signed(random, n).and_then(|grain| handle.put(grain).ok())),
        _ => twins.own.extend(handle.put(event(n)).ok()),
    }
}

/// A grain of another, or one of the rogue's own.
fn target(twins: &Twins, random: &mut Random) -> ContentAddress {
    let lists = [
        &twins.known,
        &twins.consents,
        &twins.delegations,
        &twins.own,
    ];
    let list = lists[random.below(4)];
    match list.len() {
        0 => twins.known[0],
        _ => random.pick(list),
    }
}

/// An address as a reference, in one of its spellings.
fn spelled(random: &mut Random, address: ContentAddress) -> String {
    let text = address.to_string();
    match random.below(6) {
        0 => text.to_uppercase(),
        1 => format!("sha256:{text}"),
        2 => text[..16].to_owned(),
        _ => text,
    }
}

pub(super) fn withdrawal(twins: &Twins, random: &mut Random) -> Draft {
    let prior = match random.below(4) {
        0 => ContentAddress::of(&random.number().to_be_bytes()),
        _ => random.pick(&twins.consents),
    };
    let prior = spelled(random, prior);
    let more = format!(r#","is_withdrawal":true,"prior_consent":"{prior}""#);
    let draft = consent(random.pick(&[PERSON, PERSON, VICTIM, ROGUE]), &more);
    named(random, draft)
}

pub(super) fn delegation(random: &mut Random, n: usize) -> Draft {
    let from = random.pick(&[ROGUE, ROGUE, DESK, VICTIM, PERSON]);
    let to = random.pick(&[VICTIM, VICTIM, ROGUE, DESK, DIDS[4]]);
    let kind = random.pick(&["goal", "goal", "belief"]);
    let json = match kind {
        "goal" => format!(r#"{{"type":"goal","description":"task {n}","goal_state":"active"}}"#),
        _ => r#"{"type":"belief","confidence":0.5}"#.to_owned(),
    };
    let mut draft = Draft::from_json(&json).unwrap();
    draft = draft
        .set("subject", from)
        .set("relation", "mg:delegates_to")
        .set("object", to)
        .created_at(Time::from_ms(1));
    if random.flag() {
        draft = draft.author(from);
    }
    for _ in 0..random.below(3) {
        draft = draft.push("authorized_namespaces", random.pick(&NAMESPACES));
    }
    if random.below(3) == 0 {
        draft = draft.set("delegation_depth", 0);
    }
    if random.below(4) == 0 {
        draft = draft.set("delegation_expiry", 5);
    }
    named(random, draft)
}

/// A goal that says that the task of a delegation is done.
pub(super) fn hand_back(random: &mut Random, target: ContentAddress, n: usize) -> Draft {
    let state = random.pick(&["satisfied", "failed"]);
    let json = format!(
        r#"{{"type":"goal","description":"done {n}","goal_state":"{state}","created_at":1}}"#
    );
    let draft = Draft::from_json(&json).unwrap().derived_from(target);
    named(random, draft)
}

/// A grain that claims to replace, to protect, to own or to depend on another.
pub(super) fn claim(random: &mut Random, target: ContentAddress, n: usize) -> Draft {
    let mut draft = event(n).derived_from(target);
    if random.flag() {
        draft = draft.set("supersession_justification", "newer");
    }
    if random.below(3) == 0 {
        let mode = random.pick(&["locked", "hold", "quorum", "unheard of"]);
        let scope = random.pick(&["grain", "subtree", "lineage"]);
        let policy = grainstore::codec::Map::from_iter([("mode", mode), ("scope", scope)]);
        draft = draft.set("invalidation_policy", policy);
    }
    if random.below(3) == 0 {
        draft = draft.set("processing_basis", spelled(random, target));
    }
    named(random, draft)
}

/// Sets, or leaves out, an author and a namespace.
pub(super) fn named(random: &mut Random, draft: Draft) -> Draft {
    let draft = match random.below(3) {
        0 => draft.author(random.pick(&DIDS)),
        _ => draft,
    };
    match random.below(4) {
        0 => draft.namespace(random.pick(&NAMESPACES)),
        _ => draft,
    }
}

fn signed(random: &mut Random, n: usize) -> Option<grainstore::Grain> {
    let key = key();
    let draft = named(random, event(n).namespace("rogue")).to_be_signed();
    let grain = draft.finish(Default::default()).ok()?;
    sign(grain, &key, &key.did(), None).ok()
}

pub(super) fn key() -> SigningKey {
    SigningKey::generate(Algorithm::Ed25519, &OsRandom).unwrap()
}

fn signatures(twins: &Twins, of: ContentAddress, to: Verification) -> Vec<Vec<u8>> {
    let id = twins
        .with
        .owner
        .maintenance()
        .unwrap()
        .stats()
        .unwrap()
        .store_id;
    let key = key();
    let statement = Statement::verify(of, to, *id.as_bytes()).unwrap();
    vec![statement.sign(&key, &key.did(), None).unwrap()]
}
