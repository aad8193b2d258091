//! Protection (OMS 23): the pure decision against a table, and the store that asks it.

use std::sync::Arc;

use grainstore::grain::{Draft, Time};
use grainstore::ledger::MemoryDisk;
use grainstore::policy::{
    Actor, Facts, Mode, Operation, Protection, Rule, TrustedNow, Verdict, decide, is_transition,
};
use grainstore::{Options, Store};

use crate::store::SetClock;

mod attacker;
mod cascade;
mod clock;
mod consent;
mod consents;
mod demanded;
mod forks;
mod goals;
mod histories;
mod hold;
mod hostile;
mod implied;
mod lasting;
mod laundering;
mod outlives;
mod review;
mod rogue;
mod signed;
mod steady;
mod store;
mod withdrawn;

const AUTHOR: &str = "did:web:author.example";
const ALICE: &str = "did:web:alice.example";
const BOB: &str = "did:web:bob.example";
const MALLORY: &str = "did:web:mallory.example";

/// A grain whose policy has these members.
fn protected(policy: &str) -> Protection {
    let json = format!(
        r#"{{"type":"event","content":"x","created_at":1,"author_did":"{AUTHOR}","invalidation_policy":{policy}}}"#
    );
    let draft = Draft::from_json(&json).unwrap();
    Protection::of(&draft.finish(Default::default()).unwrap())
}

fn open() -> Protection {
    protected(r#"{"mode":"open"}"#)
}

/// A store on a disk of the caller's, whose clock shows a time in milliseconds.
fn opened_at(disk: &MemoryDisk, now: i64) -> (Store, Arc<SetClock>) {
    let (options, clock) = crate::store::at(now);
    let options = Options {
        ballast_bytes: 0,
        ..options
    };
    let store = Store::open_on(Arc::new(disk.clone()), options).unwrap();
    (store, clock)
}

fn facts(protections: &[Protection]) -> Facts<'_> {
    Facts {
        protections,
        successor: None,
        is_transition: false,
        evidence: 0,
        may_amend_locked: false,
        retained_until: None,
        deletion_requires: None,
        legal_hold: false,
        is_evidence: false,
        is_lasting: false,
    }
}

fn at(seconds: i64) -> TrustedNow {
    TrustedNow {
        now: Time::from_ms(seconds * 1000),
        jumped: false,
    }
}

/// Each signer with a key of its own, which lives as long as the tests.
fn signed(signers: &[&str]) -> Actor<'static> {
    let voices: Vec<_> = signers.iter().map(|did| vec![(*did).to_owned()]).collect();
    Actor {
        signers: voices.leak(),
        justification: Some("asked by the user"),
        authority: Some("the data protection officer"),
        is_job: false,
    }
}

#[test]
fn every_cell_of_the_matrix_is_decided_as_the_table_says() {
    let actors = [
        Actor::default(),
        signed(&[]),
        signed(&[AUTHOR]),
        signed(&[ALICE]),
        signed(&[MALLORY]),
        signed(&[ALICE, ALICE, AUTHOR]),
        signed(&[ALICE, BOB]),
    ];
    let mut cells = 0;
    for line in include_str!("policy/matrix.txt").lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let [mode, scope, operation, rest @ ..] = words.as_slice() else {
            continue;
        };
        if *mode == "#" {
            continue;
        }
        // The author is on the list of the quorum, and does not count.
        let author = if *mode == "quorum" { AUTHOR } else { BOB };
        let policy = protected(&format!(
            r#"{{"mode":"{mode}","scope":"{scope}","authorized":["{ALICE}","{BOB}","{author}"],
                "threshold":2,"locked_until":1000,"fallback_mode":"open"}}"#
        ));
        let reached = match *scope {
            "grain" => vec![policy],
            // It is another grain that protects this one.
            _ => vec![open(), policy],
        };
        let operation = operation_named(operation);
        assert_eq!(rest.len(), actors.len() + 1, "{line}");
        for (actor, expected) in actors.iter().zip(rest) {
            let verdict = decide(operation, &facts(&reached), actor, at(999));
            let found = match verdict {
                Verdict::Allow => "allow",
                Verdict::Review => "review",
                Verdict::Deny(rule) => rule.name(),
            };
            assert_eq!(found, *expected, "{line}\n{actor:?}");
            cells += 1;
        }
    }
    assert_eq!(cells, 1_008);
    println!("policy: {cells} cells");
}

fn operation_named(name: &str) -> Operation {
    let all = [
        Operation::Supersede,
        Operation::Contradict,
        Operation::Verify,
        Operation::Delete,
        Operation::Erase,
        Operation::Import,
    ];
    let found = all.into_iter().find(|operation| operation.name() == name);
    found.unwrap()
}

#[test]
fn what_is_not_understood_is_locked() {
    for policy in [
        r#"{"mode":"unlocked"}"#,
        r#"{"mode":7}"#,
        "{}",
        r#"{"mode":"open","authorized":"did:web:x"}"#,
        r#"{"mode":"quorum","authorized":["did:web:alice.example"],"threshold":0}"#,
        r#"{"mode":"quorum","authorized":["did:web:alice.example"],"threshold":"1"}"#,
        r#"{"mode":"quorum","authorized":["did:web:alice.example"],"threshold":-1}"#,
        r#"{"mode":"delegated","authorized":[7]}"#,
        r#"{"mode":"timed","locked_until":"never"}"#,
    ] {
        let protections = [protected(policy)];
        let verdict = decide(
            Operation::Supersede,
            &facts(&protections),
            &signed(&[ALICE]),
            at(1),
        );
        assert_eq!(verdict, Verdict::Deny(Rule::Locked), "{policy}");
    }
    // A quorum without a threshold, and lists that nobody is on.
    for policy in [
        r#"{"mode":"quorum","authorized":["did:web:alice.example"]}"#,
        r#"{"mode":"quorum","threshold":1}"#,
        r#"{"mode":"delegated"}"#,
    ] {
        let protections = [protected(policy)];
        let verdict = decide(
            Operation::Supersede,
            &facts(&protections),
            &signed(&[ALICE, BOB, MALLORY]),
            at(1),
        );
        assert!(matches!(verdict, Verdict::Deny(_)), "{policy}");
    }
}

#[test]
fn a_timed_grain_falls_back_when_its_time_has_come_and_the_clock_is_believed() {
    let ask = |policy: &str, moment| {
        let protections = [protected(policy)];
        decide(
            Operation::Supersede,
            &facts(&protections),
            &signed(&[]),
            moment,
        )
    };
    let open = r#"{"mode":"timed","locked_until":1000,"fallback_mode":"open"}"#;
    assert_eq!(ask(open, at(999)), Verdict::Deny(Rule::Timed));
    assert_eq!(ask(open, at(1000)), Verdict::Allow);
    let jumped = TrustedNow {
        jumped: true,
        ..at(1000)
    };
    assert_eq!(ask(open, jumped), Verdict::Deny(Rule::Clock));
    // Ruling I9.
    for fallback in [
        "",
        r#","fallback_mode":"timed""#,
        r#","fallback_mode":"later""#,
    ] {
        let policy = format!(r#"{{"mode":"timed","locked_until":1000{fallback}}}"#);
        assert_eq!(ask(&policy, at(2000)), Verdict::Deny(Rule::Locked));
    }
    let soft = r#"{"mode":"timed","locked_until":1000,"fallback_mode":"soft_locked"}"#;
    assert_eq!(ask(soft, at(1000)), Verdict::Review);
    let never = r#"{"mode":"timed","fallback_mode":"open"}"#;
    assert_eq!(ask(never, at(i64::MAX / 1000)), Verdict::Deny(Rule::Timed));
}

#[test]
fn holds_and_retention_keep_a_grain_from_deletion() {
    let protections = [open()];
    let actor = signed(&[]);
    let ask = |facts: &Facts<'_>, seconds| decide(Operation::Delete, facts, &actor, at(seconds));
    let plain = facts(&protections);
    assert_eq!(ask(&plain, 1), Verdict::Allow);
    let held = Facts {
        legal_hold: true,
        ..plain
    };
    assert_eq!(ask(&held, 1), Verdict::Deny(Rule::LegalHold));
    let retained = Facts {
        retained_until: Some(Time::from_ms(5_000)),
        ..plain
    };
    assert_eq!(ask(&retained, 4), Verdict::Deny(Rule::Retention));
    assert_eq!(ask(&retained, 5), Verdict::Allow);
    let required = Facts {
        deletion_requires: Some("The DPO"),
        ..plain
    };
    for (authority, is_named) in [("the dpo, request 17", true), ("the office", false)] {
        let actor = Actor {
            authority: Some(authority),
            ..actor
        };
        let expected = match is_named {
            true => Verdict::Allow,
            false => Verdict::Deny(Rule::DeletionRequires),
        };
        assert_eq!(
            decide(Operation::Delete, &required, &actor, at(1)),
            expected
        );
        // No other operation asks for it.
        let contradicted = decide(Operation::Contradict, &required, &actor, at(1));
        assert_eq!(contradicted, Verdict::Allow);
    }
    for (justification, authority) in [
        (None, Some("dpo")),
        (Some(" "), Some("dpo")),
        (Some("x"), None),
    ] {
        let actor = Actor {
            justification,
            authority,
            ..signed(&[ALICE])
        };
        let verdict = decide(Operation::Delete, &plain, &actor, at(1));
        assert_eq!(verdict, Verdict::Deny(Rule::Authority));
    }
}

/// A goal with these fields besides the required ones.
fn goal(state: &str, more: &str) -> grainstore::Grain {
    let json = format!(
        r#"{{"type":"goal","description":"stay within budget","goal_state":"{state}","created_at":1{more}}}"#
    );
    Draft::from_json(&json)
        .unwrap()
        .finish(Default::default())
        .unwrap()
}

#[test]
fn a_protected_goal_moves_by_itself_only_as_listed_and_keeps_its_protection() {
    let locked = r#","invalidation_policy":{"mode":"locked","scope":"grain"}"#;
    let terms = r#","allowed_transitions":["satisfied","failed"],"evidence_required":1"#;
    let evidence = format!(r#","satisfaction_evidence":["{}"]"#, "ab".repeat(32));
    let old = goal("active", &format!("{locked}{terms}"));
    let original = Protection::of(&old);
    let ask = |operation, successor: &grainstore::Grain| {
        let protections = [original.clone()];
        let facts = Facts {
            successor: Some(successor),
            is_transition: is_transition(&old, successor),
            evidence: u64::from(successor.field("satisfaction_evidence").is_some()),
            ..facts(&protections)
        };
        decide(operation, &facts, &signed(&[]), at(1))
    };
    let full = goal("satisfied", &format!("{locked}{terms}{evidence}"));
    assert_eq!(ask(Operation::Supersede, &full), Verdict::Allow);
    // OMS 23.7: it is the transition that is allowed, not every invalidation.
    assert_eq!(
        ask(Operation::Contradict, &full),
        Verdict::Deny(Rule::Locked)
    );
    let unlisted = goal("suspended", &format!("{locked}{terms}{evidence}"));
    assert_eq!(
        ask(Operation::Supersede, &unlisted),
        Verdict::Deny(Rule::Locked)
    );
    let unproven = goal("satisfied", &format!("{locked}{terms}"));
    assert_eq!(
        ask(Operation::Supersede, &unproven),
        Verdict::Deny(Rule::Evidence)
    );
    let laundered = [
        evidence.clone(),
        format!(r#","invalidation_policy":{{"mode":"soft_locked"}}{terms}{evidence}"#),
        format!(r#","invalidation_policy":{{"mode":"locked","scope":"lineage"}}{terms}{evidence}"#),
        // One more transition would be a way out.
        format!(
            r#"{locked},"allowed_transitions":["satisfied","active"],"evidence_required":1{evidence}"#
        ),
        format!(r#"{locked},"allowed_transitions":["satisfied"]{evidence}"#),
    ];
    for more in laundered {
        assert_eq!(
            ask(Operation::Supersede, &goal("satisfied", &more)),
            Verdict::Deny(Rule::Laundering),
            "{more}"
        );
    }
    let stricter = format!(
        r#","invalidation_policy":{{"mode":"hold","scope":"subtree"}},"evidence_required":2{evidence}"#
    );
    assert_eq!(
        ask(Operation::Supersede, &goal("failed", &stricter)),
        Verdict::Allow
    );
    let held = Protection::of(&goal(
        "active",
        &format!(r#","invalidation_policy":{{"mode":"hold"}}{terms}"#),
    ));
    let protections = [held];
    let facts = Facts {
        successor: Some(&full),
        is_transition: true,
        evidence: 1,
        ..facts(&protections)
    };
    assert_eq!(
        decide(Operation::Supersede, &facts, &signed(&[]), at(1)),
        Verdict::Deny(Rule::Hold)
    );
}

#[test]
fn consent_is_soft_locked_and_a_withdrawal_needs_no_words() {
    let consent = |more: &str| {
        let json = format!(
            r#"{{"type":"consent","subject_did":"{ALICE}","grantee_did":"{BOB}","scope":["store"],"created_at":1{more}}}"#
        );
        let draft = Draft::from_json(&json).unwrap();
        draft.finish(Default::default()).unwrap()
    };
    let grant = consent(r#","is_withdrawal":false"#);
    let protections = [Protection::of(&grant)];
    assert_eq!(protections[0].mode(), Mode::SoftLocked);
    let prior = format!(r#","prior_consent":"{}""#, grant.address());
    let ask = |successor: &grainstore::Grain| {
        let facts = Facts {
            successor: Some(successor),
            ..facts(&protections)
        };
        decide(Operation::Supersede, &facts, &Actor::default(), at(1))
    };
    let withdrawal = consent(&format!(r#","is_withdrawal":true{prior}"#));
    assert_eq!(ask(&withdrawal), Verdict::Review);
    let renewal = consent(&format!(r#","is_withdrawal":false{prior}"#));
    assert_eq!(ask(&renewal), Verdict::Deny(Rule::SoftLocked));
    let said = consent(&format!(
        r#","is_withdrawal":false,"supersession_justification":"renewed"{prior}"#
    ));
    assert_eq!(ask(&said), Verdict::Review);
}

#[test]
fn two_keys_that_share_one_of_their_names_are_one_voice() {
    // OMS 23.8, ruling P8.
    let protections = [protected(&format!(
        r#"{{"mode":"quorum","threshold":2,"authorized":["{ALICE}","{BOB}"]}}"#
    ))];
    let voices = |names: [&[&str]; 2]| {
        let voices = names.map(|of| of.iter().map(|did| (*did).to_owned()).collect::<Vec<_>>());
        let actor = Actor {
            signers: &voices,
            ..Actor::default()
        };
        decide(Operation::Supersede, &facts(&protections), &actor, at(1))
    };
    let shared = "did:web:shared.example";
    assert_eq!(
        voices([&[ALICE, shared], &[shared, BOB]]),
        Verdict::Deny(Rule::Quorum)
    );
    assert_eq!(voices([&[ALICE, shared], &[MALLORY, BOB]]), Verdict::Allow);
}
