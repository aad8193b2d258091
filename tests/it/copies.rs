//! What a store says is current, its copy says is current: by every own format, by increments, by
//! backups, and by stores that are merged both ways, after corrections, contradictions, withdrawals,
//! judgements, holds, deletions and erasures on both sides (ruling I28).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use grainstore::grain::{Status, Verification};
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::query::ExportReport;
use grainstore::store::{
    Authorization, ErasureScope, Person, RecordedAuthorization, Summary, Until,
};
use grainstore::{ContentAddress, Draft, Filter, Options, Store, Time, Type};
use proptest::prelude::*;

const OFFICE: Authorization<'_> = Authorization {
    reason: "asked",
    authority: "the office",
};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

/// The statuses of all grains of a store.
fn statuses(store: &Store) -> Statuses {
    let filter = Filter::new()
        .with_superseded()
        .with_expired()
        .with_unreviewed()
        .with_envelopes();
    let found = store.query(&filter, 10_000, None).unwrap().results;
    found
        .into_iter()
        .map(|it| (it.address, it.status))
        .collect()
}

/// The statuses as far as a format carries them: an archive says that a grain is contested and ended, and
/// counts that it was contradicted.
fn carried(store: &Store, format: Format) -> Statuses {
    let mut statuses = statuses(store);
    if format == Format::Mg {
        statuses
            .values_mut()
            .for_each(|status| status.contradicted = false);
    }
    statuses
}

fn written(store: &Store, format: Format, from: Option<u64>, path: &Path) -> ExportReport {
    let options = WriteOptions {
        history: true,
        changed_from: from,
        now: Some(Time::from_ms(1_790_000_000_000)),
        ..WriteOptions::default()
    };
    let filter = Filter::new().with_superseded();
    let admin = store.admin().unwrap();
    admin.export_file(format, &filter, &options, path).unwrap()
}

/// The holds that operators placed, each reason and authority once.
fn holds(store: &Store) -> BTreeSet<(ContentAddress, RecordedAuthorization)> {
    let holds = store.admin().unwrap().holds().into_iter();
    holds
        .map(|hold| (hold.address, hold.authorization))
        .collect()
}

fn lost_holds(report: &ExportReport) -> u64 {
    let mut loss = report.loss.iter();
    loss.find(|(name, _)| *name == "hold").map_or(0, |it| it.1)
}

fn read(store: &Store, path: &Path, format: Format, is_own: bool) -> Summary {
    // Lines without any are no format by themselves.
    let mut reading = ImportFile::open(path, Some(format), &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    reading.is_own = is_own;
    store.import(reading).unwrap()
}

fn copy(from: &Store, to: &Store, format: Format, is_own: bool) -> Summary {
    copy_and_tell(from, to, format, is_own).0
}

fn copy_and_tell(
    from: &Store,
    to: &Store,
    format: Format,
    is_own: bool,
) -> (Summary, ExportReport) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    let report = written(from, format, None, &path);
    (read(to, &path, format, is_own), report)
}

/// A change of a store, by the place of a grain among its grains.
#[derive(Debug, Clone)]
enum Step {
    Put(u8),
    Replace(usize, u8),
    Contradict(usize),
    Verify(usize),
    Retract(usize),
    Delete(usize),
    Hold(usize),
    /// Erases one of the two persons.
    Erase(bool),
    /// A consent, and what rests on it.
    Consent(u8),
    Rest(usize, u8),
    Withdraw(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u8..40).prop_map(Step::Put),
        3 => (0_usize..40, 0_u8..200).prop_map(|(at, to)| Step::Replace(at, to)),
        2 => (0_usize..40).prop_map(Step::Contradict),
        1 => (0_usize..40).prop_map(Step::Verify),
        1 => (0_usize..40).prop_map(Step::Retract),
        1 => (0_usize..40).prop_map(Step::Delete),
        1 => (0_usize..40).prop_map(Step::Hold),
        1 => any::<bool>().prop_map(Step::Erase),
        2 => (0_u8..5).prop_map(Step::Consent),
        3 => (0_usize..5, 0_u8..40).prop_map(|(on, n)| Step::Rest(on, n)),
        1 => (0_usize..5).prop_map(Step::Withdraw),
    ]
}

const PERSONS: [&str; 2] = ["mira", "noor"];

/// Makes a change; a refusal by policy is one outcome of it.
fn make(store: &Store, step: &Step) {
    // No file has the reason that changes a locked consent, and only the owner verifies one (P10):
    // consents are withdrawn.
    let is_consent = |of: &ContentAddress| store.get(of).unwrap().unwrap().type_() == Type::Consent;
    let known = statuses(store).into_keys().filter(|of| !is_consent(of));
    let known: Vec<_> = known.collect();
    let at = |at: usize| known.get(at % known.len().max(1)).copied();
    let time = |n: u8| Time::from_ms(1_780_000_000_000 + i64::from(n));
    let belief = |n: u8| {
        let person = PERSONS[usize::from(n % 2)];
        let belief = Draft::belief(person, format!("knows_{}", n % 7), format!("fact {n}"));
        let belief = belief.confidence(0.9).created_at(time(n));
        // A file of PAM has one owner: the other person is the subject of grains without a user.
        match n % 2 {
            0 => belief.user(person),
            _ => belief,
        }
    };
    let consented = |at: usize| {
        let filter = Filter::new().of_type(Type::Consent);
        let found = store.query(&filter, 100, None).unwrap().results;
        found.get(at % found.len().max(1)).map(|it| it.address)
    };
    match *step {
        Step::Put(n) => drop(store.put(belief(n))),
        Step::Replace(of, n) => {
            if let Some(of) = at(of) {
                drop(store.supersede(&of, belief(n).derived_from(of), Some("she says so")));
            }
        }
        Step::Contradict(of) => drop(at(of).map(|of| store.contradict(&of, Some("it is not so")))),
        Step::Verify(of) => {
            drop(
                at(of).map(|of| store.set_verification(&of, Verification::Verified, Some("seen"))),
            );
        }
        Step::Retract(of) => drop(
            at(of)
                .map(|of| store.set_verification(&of, Verification::Retracted, Some("withdrawn"))),
        ),
        Step::Delete(of) => drop(at(of).map(|of| store.admin().unwrap().delete(&of, OFFICE))),
        Step::Hold(of) => drop(at(of).map(|of| store.admin().unwrap().place_hold(&of, OFFICE))),
        Step::Erase(which) => {
            let person = Person::new(PERSONS[usize::from(which)]);
            let scope = ErasureScope::default();
            drop(store.admin().unwrap().erase_person(&person, scope, OFFICE));
        }
        Step::Consent(n) => {
            let given = Draft::consent(format!("did:web:{n}"), "did:web:acme.example", ["store"]);
            drop(store.put(given.created_at(time(n))));
        }
        Step::Rest(on, n) => {
            drop(consented(on).map(|on| store.put(belief(n).set("processing_basis", on))));
        }
        Step::Withdraw(of) => drop(consented(of).map(|of| {
            let given = store.get(&of).unwrap().unwrap();
            let subject = given.text("subject_did").unwrap();
            let withdrawal = Draft::consent(subject, "did:web:acme.example", ["store"])
                .set("is_withdrawal", true)
                .set("prior_consent", of);
            store.put(withdrawal.created_at(time(200)))
        })),
    }
}

fn make_all(store: &Store, steps: &[Step]) {
    steps.iter().for_each(|step| make(store, step));
}

type Statuses = BTreeMap<ContentAddress, Status>;

/// Compares what a store says of its grains with what its copy says.
fn agree(said: &Statuses, copied: &Statuses, format: Format) -> Result<(), TestCaseError> {
    for (address, status) in said {
        let mut copy = copied.get(address).copied();
        if let Some(copy) = &mut copy {
            // What was deleted there is still here, and the end of what it replaced names it.
            if copy.superseded_by.is_some_and(|by| !said.contains_key(&by)) {
                copy.superseded_by = None;
            }
            // No file says when a grain was judged: of two judgements the graver stays.
            if matches!(
                copy.verification,
                Verification::Contested | Verification::Retracted
            ) {
                copy.verification = status.verification;
            }
        }
        prop_assert_eq!(copy.as_ref(), Some(status), "{} {}", format, address);
    }
    Ok(())
}

/// A hold of the source is a hold in the copy, or a counted loss of a format without a place for it.
fn holds_too(source: &Store, target: &Store, lost: u64) -> Result<(), TestCaseError> {
    let copied = statuses(target);
    let (there, here) = (holds(source), holds(target));
    let missing = there.difference(&here);
    let missing = missing.filter(|(of, _)| copied.contains_key(of)).count();
    prop_assert_eq!(missing as u64, lost, "{:?} {:?}", there, here);
    Ok(())
}

/// A copy shows nothing whose consent is withdrawn where it comes from.
fn withholds(source: &Store, copied: &Statuses) -> Result<(), TestCaseError> {
    for address in copied.keys() {
        let read = source.get(address).map_err(|error| error.code().to_owned());
        prop_assert!(read.is_ok(), "{address}: {read:?}");
    }
    Ok(())
}

const OWN: [Format; 4] = [Format::Mg, Format::Jsonl, Format::Omi, Format::Pam];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_a_store_says_is_current_its_copy_says_is_current(
        before in prop::collection::vec(step(), 0..14),
        after in prop::collection::vec(step(), 0..14),
    ) {
        for format in OWN {
            let (source, target) = (memory(), memory());
            make_all(&source, &before);
            copy(&source, &target, format, true);
            make_all(&source, &after);
            let (summary, report) = copy_and_tell(&source, &target, format, true);
            prop_assert!(summary.denied.is_empty(), "{format}: {summary:?}");
            prop_assert!(format == Format::Mg || lost_holds(&report) == 0, "{format}: {report:?}");
            let (said, copied) = (carried(&source, format), carried(&target, format));
            agree(&said, &copied, format)?;
            withholds(&source, &copied)?;
            holds_too(&source, &target, lost_holds(&report))?;
            // Again is nothing new.
            let again = copy(&source, &target, format, true);
            prop_assert!(
                again.is_complete() && again.corrected == 0 && again.held == 0,
                "{format}: {again:?}"
            );
        }
    }

    #[test]
    fn a_change_here_is_kept_or_named_when_the_owners_copy_says_otherwise(
        before in prop::collection::vec(step(), 0..14),
        there in prop::collection::vec(step(), 0..10),
        here in prop::collection::vec(step(), 0..10),
    ) {
        let is_kept = |step: &&Step| {
            matches!(step, Step::Delete(_) | Step::Erase(_) | Step::Hold(_) | Step::Withdraw(_))
        };
        let here: Vec<_> = here.iter().filter(is_kept).cloned().collect();
        for format in OWN {
            let (source, target) = (memory(), memory());
            make_all(&source, &before);
            copy(&source, &target, format, true);
            let all = statuses(&target);
            make_all(&target, &here);
            let kept = statuses(&target);
            make_all(&source, &there);
            let summary = copy(&source, &target, format, true);
            let (said, copied) = (statuses(&source), statuses(&target));
            // Neither erased nor withheld grains come back.
            for gone in all.keys().filter(|it| !kept.contains_key(it)) {
                prop_assert!(!copied.contains_key(gone), "{format}: {gone}");
            }
            withholds(&source, &copied)?;
            for (address, status) in &copied {
                let Some(said) = said.get(address) else { continue };
                let is_denied = summary.denied.iter().any(|(_, existing, _)| existing == address);
                let ended_here = kept.get(address).is_some_and(|it| !it.is_current());
                let is_told = ended_here || is_denied || summary.unapplied.iter().any(|it| it.1 == *address);
                prop_assert!(
                    is_told || said.is_current() == status.is_current(),
                    "{format}: {address}: {said:?}, {status:?}: {summary:?}"
                );
            }
            // A grain that did not arrive was erased here, or rests on what was.
            let is_missing = said.keys().any(|it| !copied.contains_key(it));
            prop_assert!(!is_missing || !summary.is_complete() || !here.is_empty(), "{summary:?}");
        }
    }

    #[test]
    fn a_restored_backup_is_the_store(
        before in prop::collection::vec(step(), 0..14),
        after in prop::collection::vec(step(), 0..14),
    ) {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        let source = Store::open(path("store"), Options::default()).unwrap();
        for steps in [before, after] {
            make_all(&source, &steps);
            // The second is an increment.
            source.maintenance().unwrap().backup(path("copy")).unwrap();
        }
        let restored = grainstore::recovery::restore(path("copy"), path("new"), Until::End, Options::default());
        let (restored, told) = restored.unwrap();
        prop_assert_eq!(told.left, 0);
        prop_assert_eq!(statuses(&restored), statuses(&source));
        withholds(&source, &statuses(&restored))?;
    }

    #[test]
    fn a_chain_of_increments_is_a_full_export(
        rounds in prop::collection::vec(prop::collection::vec(step(), 0..8), 1..5),
    ) {
        for format in OWN {
            let (source, target) = (memory(), memory());
            let folder = tempfile::tempdir().unwrap();
            let mut next = 0;
            for (number, steps) in rounds.iter().enumerate() {
                make_all(&source, steps);
                let path = folder.path().join(number.to_string());
                let report = written(&source, format, Some(next), &path);
                next = report.next;
                read(&target, &path, format, true);
            }
            if format != Format::Mg {
                holds_too(&source, &target, 0)?;
            }
            let (said, copied) = (carried(&source, format), carried(&target, format));
            agree(&said, &copied, format)?;
        }
    }

    #[test]
    fn two_stores_that_are_merged_both_ways_end_equal(
        shared in prop::collection::vec(step(), 0..8),
        here in prop::collection::vec(step(), 0..10),
        there in prop::collection::vec(step(), 0..10),
    ) {
        // A hold, a deletion and an erasure here are no statement about the other store.
        let is_shared = |step: &&Step| !matches!(step, Step::Hold(_) | Step::Delete(_) | Step::Erase(_));
        let keep = |steps: &[Step]| steps.iter().filter(is_shared).cloned().collect::<Vec<_>>();
        let (one, other) = (memory(), memory());
        make_all(&one, &keep(&shared));
        copy(&one, &other, Format::Jsonl, true);
        make_all(&one, &keep(&here));
        make_all(&other, &keep(&there));
        copy(&one, &other, Format::Jsonl, true);
        copy(&other, &one, Format::Jsonl, true);
        prop_assert_eq!(statuses(&one), statuses(&other));
        for (from, to) in [(&one, &other), (&other, &one)] {
            let again = copy(from, to, Format::Jsonl, true);
            prop_assert!(again.is_complete() && again.inserted == 0, "{again:?}");
        }
    }
}

/// A belief that was replaced after it was copied, and one that was refuted.
fn corrected() -> (Store, Store, [ContentAddress; 3]) {
    let (source, target) = (memory(), memory());
    let belief = |relation: &str, object: &str| {
        let belief = Draft::belief("mira", relation, object).confidence(0.9);
        belief.created_at(Time::from_ms(1_780_000_000_000))
    };
    let porto = source.put(belief("lives_in", "Porto")).unwrap();
    let allergy = source.put(belief("is_allergic_to", "peanuts")).unwrap();
    copy(&source, &target, Format::Mg, true);
    let lisbon = belief("lives_in", "Lisbon").derived_from(porto);
    let lisbon = source.supersede(&porto, lisbon, Some("she moved")).unwrap();
    source.contradict(&allergy, Some("tested")).unwrap();
    (source, target, [porto, allergy, lisbon])
}

#[test]
fn a_file_that_nobody_vouches_for_ends_nothing_and_is_told_so() {
    let (source, target, [porto, allergy, lisbon]) = corrected();
    let summary = copy(&source, &target, Format::Mg, false);
    assert!(!summary.is_complete());
    let told: Vec<_> = summary.unapplied.iter().map(|(_, of)| *of).collect();
    assert!(told.len() == 2 && told.contains(&porto) && told.contains(&allergy));
    let current = |of: &ContentAddress| target.status(of).unwrap().is_current();
    assert!([porto, allergy, lisbon].iter().all(current));
    let summary = copy(&source, &target, Format::Mg, true);
    assert_eq!(
        (summary.corrected, summary.is_complete()),
        (2, true),
        "{summary:?}"
    );
    assert_eq!(
        [porto, allergy, lisbon].map(|of| current(&of)),
        [false, false, true]
    );
}

#[test]
fn a_grain_that_is_withdrawn_again_after_it_was_verified_is_withdrawn_in_the_copy() {
    for format in OWN {
        let (source, target) = (memory(), memory());
        let of = Draft::belief("mira", "likes", "tea").confidence(0.9);
        let of = source.put(of.created_at(Time::from_ms(1))).unwrap();
        let judge = |to| source.set_verification(&of, to, Some("seen")).unwrap();
        judge(Verification::Retracted);
        judge(Verification::Verified);
        copy(&source, &target, format, true);
        judge(Verification::Retracted);
        copy(&source, &target, format, true);
        let judged = target.status(&of).unwrap().verification;
        assert_eq!(judged, Verification::Retracted, "{format}");
    }
}

#[test]
fn a_hold_here_keeps_a_grain_that_ended_in_the_owners_copy() {
    let (source, target, [porto, ..]) = corrected();
    target.admin().unwrap().place_hold(&porto, OFFICE).unwrap();
    let summary = copy(&source, &target, Format::Jsonl, true);
    assert_eq!(summary.denied.len(), 1, "{summary:?}");
    assert_eq!((summary.corrected, summary.is_complete()), (1, false));
    assert!(target.status(&porto).unwrap().is_current());
}

/// A store with a belief, a turn of a conversation and a record of another format, each on hold.
fn held() -> Store {
    let store = memory();
    let time = Time::from_ms(1_780_000_000_000);
    let belief = Draft::belief("ines", "likes", "tea").confidence(0.9);
    let turn = Draft::event("we ship on Friday")
        .session("s1")
        .set("role", "user");
    for draft in [belief, turn] {
        store.put(draft.user("ines").created_at(time)).unwrap();
    }
    let file = br#"{"format":"open-memory-interchange","version":"0.1","generator":"garden/1",
        "generated_at":"2026-04-01T06:00:00Z","subject":{"id":"ines","type":"person"},
        "id_namespace":"urn:garden:","memories":[{"id":"1","content":"Waters in the evening.",
        "type":"semantic","created":"2026-03-02T07:15:00Z"}]}"#;
    let file = ImportFile::of_bytes(file, Some(Format::Omi), &ReadOptions::default()).unwrap();
    let summary = store.import(file).unwrap();
    assert!(summary.refused.is_empty(), "{summary:?}");
    let found = store.query(&Filter::new(), 10, None).unwrap().results;
    assert_eq!(found.len(), 3);
    for it in found {
        store
            .admin()
            .unwrap()
            .place_hold(&it.address, OFFICE)
            .unwrap();
    }
    store
}

#[test]
fn each_format_carries_a_hold_or_counts_it() {
    let source = held();
    let carried = [
        (Format::Jsonl, 3),
        (Format::Omi, 3),
        (Format::OmiJsonl, 3),
        (Format::Pam, 3),
        (Format::Mg, 0),
        (Format::Aimem, 0),
    ];
    for (format, carried) in carried {
        let target = memory();
        let (summary, report) = copy_and_tell(&source, &target, format, true);
        let held = holds(&target).len() as u64;
        let counts = (summary.held, held, lost_holds(&report));
        let told = format!("{format}: {counts:?} {summary:?}");
        assert_eq!(counts, (carried, carried, 3 - carried), "{told}");
    }
}

#[test]
fn a_file_that_nobody_vouches_for_holds_nothing_and_is_told_so() {
    let source = held();
    for format in [Format::Jsonl, Format::Omi, Format::Pam] {
        let target = memory();
        let summary = copy(&source, &target, format, false);
        let lost = summary.loss.iter().find(|(name, _)| *name == "hold");
        assert_eq!((summary.held, lost), (0, Some(("hold", 3))), "{format}");
        let told = summary.findings.iter();
        let told = told
            .filter(|(_, it)| it == "is under a legal hold in the file, which places none here");
        assert_eq!((told.count(), holds(&target).len()), (3, 0), "{format}");
    }
}

#[test]
fn a_hold_that_was_lifted_here_is_not_placed_again_by_a_copy() {
    let (source, target) = (held(), memory());
    copy(&source, &target, Format::Jsonl, true);
    for (of, _) in holds(&target) {
        assert!(target.admin().unwrap().lift_hold(&of, OFFICE).unwrap());
    }
    let summary = copy(&source, &target, Format::Jsonl, true);
    let told = summary.findings.iter();
    let told = told
        .filter(|(_, it)| it.ends_with("which was lifted here"))
        .count();
    assert_eq!((summary.held, holds(&target).len(), told), (0, 0, 3));
    // One with another reason is another hold.
    let other = Authorization {
        reason: "Doe v. Acme",
        ..OFFICE
    };
    for (of, _) in holds(&source) {
        source.admin().unwrap().place_hold(&of, other).unwrap();
    }
    assert_eq!(copy(&source, &target, Format::Jsonl, true).held, 3);
}

#[test]
fn a_file_for_others_does_not_say_why_a_grain_is_held() {
    let source = held();
    let clerk = source.as_actor(&"did:web:clerk.example".parse().unwrap());
    let admin = source.admin().unwrap();
    let shareable = WriteOptions {
        shareable: true,
        ..WriteOptions::default()
    };
    let by_clerk = admin.on_behalf_of(&clerk);
    for format in [Format::Jsonl, Format::Omi, Format::Pam] {
        for (admin, options) in [(admin, &shareable), (by_clerk, &WriteOptions::default())] {
            let mut out = Vec::new();
            let report = admin
                .export(format, &Filter::new(), options, &mut out)
                .unwrap();
            let said = String::from_utf8(out).unwrap();
            assert!(!said.contains("the office"), "{format}: {said}");
            assert_eq!(lost_holds(&report), 3, "{format}");
        }
    }
}

#[test]
fn an_increment_since_a_time_has_what_ended_since_although_it_was_created_before() {
    let (source, target, [porto, allergy, lisbon]) = corrected();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    let last = source.maintenance().unwrap().stats().unwrap().entries - 3;
    written(&source, Format::Jsonl, Some(last), &path);
    read(&target, &path, Format::Jsonl, true);
    for of in [porto, allergy, lisbon] {
        assert_eq!(target.status(&of).unwrap(), source.status(&of).unwrap());
    }
}
