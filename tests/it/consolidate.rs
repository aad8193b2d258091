//! Consolidation with programs that are functions here: what they are given, what is stored, what is refused.

use grainstore::codec::Value;
use grainstore::query::{CONSOLIDATION_TAG, Consolidated, Consolidation};
use grainstore::render::tokens;
use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Filter, Grain, Options, Store, Time, Type};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn say(store: &Store, user: &str, text: &str) -> ContentAddress {
    let turn = Draft::event(text).user(user).set("role", "user");
    store.put(turn.session("s1").namespace("app")).unwrap()
}

fn asked() -> Consolidation {
    Consolidation::by("facts")
}

/// Runs a program that answers these lines to every call; returns what it was given too.
fn run(store: &Store, asked: &Consolidation, answer: &str) -> (Consolidated, Vec<String>) {
    let mut given = Vec::new();
    let mut program = |lines: &str| {
        given.push(lines.to_owned());
        Ok(answer.to_owned())
    };
    let done = store.admin().unwrap().consolidate(asked, &mut program);
    (done.unwrap(), given)
}

fn beliefs(store: &Store) -> Vec<String> {
    let found = store
        .query(&Filter::new().of_type(Type::Belief), 99, None)
        .unwrap();
    let statement = |grain: &Grain| {
        ["subject", "relation", "object"]
            .map(|name| grain.text(name).unwrap_or_default().to_owned())
    };
    let mut all: Vec<_> = found
        .results
        .iter()
        .map(|it| statement(&it.grain).join(" "))
        .collect();
    all.sort();
    all
}

fn believe(store: &Store, object: &str) -> ContentAddress {
    let old = Draft::belief("ana", "uses", object).confidence(1.0);
    store.put(old.user("ana").namespace("app")).unwrap()
}

const PNPM: &str =
    r#"{"subject":"ana","relation":"uses","object":"pnpm","confidence":0.9,"derived_from":["t2"]}"#;
const INSTEAD: &str = r#"{"subject":"ana","relation":"uses","object":"pnpm","derived_from":["t1"],"supersedes":"b1"}"#;
const OFFICE: Authorization<'static> = Authorization {
    reason: "read",
    authority: "mira",
};

#[test]
fn a_belief_has_its_turns_its_person_and_its_method() {
    let store = memory();
    say(&store, "ana", "hello");
    let turn = say(&store, "ana", "use pnpm, never npm");
    let (done, given) = run(&store, &asked(), PNPM);
    assert_eq!((done.turns, done.calls, done.left), (2, 1, 0));
    assert!(given[0].starts_with("{\"kind\":\"about\",\"namespace\":\"app\",\"user\":\"ana\"}\n"));
    assert!(given[0].contains("\"id\":\"t2\"") && given[0].contains("use pnpm, never npm"));
    let belief = store.get(&done.stored[0]).unwrap().unwrap();
    assert_eq!(belief.derived_from().collect::<Vec<_>>(), [turn]);
    assert_eq!(
        (belief.text("user_id"), belief.text("namespace")),
        (Some("ana"), Some("app"))
    );
    assert_eq!(belief.text("source_type"), Some("consolidated"));
    let chain = belief
        .field("provenance_chain")
        .and_then(Value::as_array)
        .unwrap();
    let link = chain[0].as_map().unwrap();
    assert_eq!(link.get("method").and_then(Value::as_text), Some("facts"));
    assert_eq!(
        link.get("source_hash").and_then(Value::as_text),
        Some(&*turn.to_string())
    );
}

#[test]
fn no_turn_is_handed_over_twice_and_the_record_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path().join("m"), Options::default()).unwrap();
    let store = open();
    say(&store, "ana", "one");
    assert_eq!(run(&store, &asked(), "").0.turns, 1);
    drop(store);
    let store = open();
    say(&store, "ana", "two");
    let (done, given) = run(&store, &asked(), "");
    assert_eq!((done.turns, done.left), (1, 0));
    assert!(
        given[0].contains("two") && !given[0].contains("one"),
        "{given:?}"
    );
    assert_eq!(run(&store, &asked(), "").0.calls, 0);
    assert_eq!(store.query(&Filter::new(), 9, None).unwrap().total, 2);
    let records = Filter::new().with_envelopes().tag(CONSOLIDATION_TAG);
    assert_eq!(store.query(&records, 9, None).unwrap().total, 2);
}

#[test]
fn a_merged_store_knows_what_was_handed_over_elsewhere() {
    use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};

    let (one, other) = (memory(), memory());
    say(&one, "ana", "one");
    run(&one, &asked(), "");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.jsonl");
    let everything = Filter::new().with_envelopes();
    let (admin, options) = (one.admin().unwrap(), WriteOptions::default());
    admin
        .export_file(Format::Jsonl, &everything, &options, &path)
        .unwrap();
    other
        .import(ImportFile::open(&path, None, &ReadOptions::default()).unwrap())
        .unwrap();
    assert_eq!(run(&other, &asked(), "").0.calls, 0);
}

#[test]
fn turns_and_beliefs_of_each_person_are_handed_over_apart() {
    let store = memory();
    believe(&store, "npm");
    for (user, text) in [("ana", "one"), ("ben", "two"), ("ana", "three")] {
        say(&store, user, text);
    }
    let (done, given) = run(&store, &asked(), "");
    assert_eq!((done.turns, given.len()), (3, 2));
    assert!(given[0].contains("one") && given[0].contains("three") && given[0].contains("npm"));
    assert!(
        given[1].contains("two") && !given[1].contains("npm"),
        "{}",
        given[1]
    );
    let ben = Consolidation {
        turns: Filter::new().user("ben"),
        ..asked()
    };
    say(&store, "ana", "four");
    assert_eq!(run(&store, &ben, "").0.turns, 0);
}

#[test]
fn an_answer_replaces_a_belief_as_far_as_policy_permits() {
    let store = memory();
    let old = believe(&store, "npm");
    say(&store, "ana", "use pnpm");
    let (done, _) = run(&store, &asked(), INSTEAD);
    assert_eq!((done.stored.len(), done.replaced), (1, 1));
    assert_eq!(
        store.status(&old).unwrap().superseded_by,
        Some(done.stored[0])
    );

    let store = memory();
    let locked = r#"{"type":"belief","subject":"ana","relation":"uses","object":"npm","confidence":1,
        "created_at":1,"user_id":"ana","namespace":"app","invalidation_policy":{"mode":"locked"}}"#;
    let old = store.put(Draft::from_json(locked).unwrap()).unwrap();
    say(&store, "ana", "use pnpm");
    let also = r#"{"subject":"ana","relation":"likes","object":"tea"}"#;
    let (done, _) = run(&store, &asked(), &format!("{INSTEAD}\n{also}\n"));
    assert_eq!((done.stored.len(), done.replaced, done.turns), (1, 0, 1));
    assert_eq!(done.refused[0].code(), "ERR_INVALIDATION_DENIED");
    assert!(store.status(&old).unwrap().is_current());
    assert_eq!(beliefs(&store), ["ana likes tea", "ana uses npm"]);
}

#[test]
fn what_is_believed_or_said_already_is_not_stored_again() {
    let store = memory();
    believe(&store, "pnpm");
    say(&store, "ana", "use pnpm");
    let also = r#"{"subject":"ana","relation":"likes","object":"tea"}"#;
    let answer = format!("{}\n{also}\n{also}\n", PNPM.replace("t2", "t1"));
    let (done, _) = run(&store, &asked(), &answer);
    assert_eq!((done.stored.len(), done.known), (1, 2));
}

#[test]
fn a_held_belief_replaces_another_once_a_person_has_cleared_it() {
    let store = memory();
    let old = believe(&store, "npm");
    say(&store, "ana", "use pnpm");
    let held = Consolidation {
        awaits_review: true,
        ..asked()
    };
    let (done, _) = run(&store, &held, INSTEAD);
    assert_eq!((done.stored.len(), done.replaced), (1, 0));
    assert_eq!(beliefs(&store), ["ana uses npm"]);
    assert_eq!(run(&store, &held, "").0.replaced, 0);
    let admin = store.admin().unwrap();
    let review = admin.reviews().unwrap().pop().unwrap();
    assert_eq!(review.address, done.stored[0]);
    admin.clear_review(review.id, OFFICE).unwrap();
    assert_eq!(run(&store, &held, "").0.replaced, 1);
    assert_eq!(beliefs(&store), ["ana uses pnpm"]);
    assert_eq!(
        store.status(&old).unwrap().superseded_by,
        Some(done.stored[0])
    );
    assert_eq!(run(&store, &held, "").0.replaced, 0);
}

#[test]
fn a_run_is_taken_back_as_one_and_its_turns_are_new() {
    let store = memory();
    believe(&store, "npm");
    for n in 0..6 {
        say(&store, "ana", &format!("turn {n} {}", "word ".repeat(60)));
    }
    let small = Consolidation {
        per_call: 500,
        ..asked()
    };
    // Each call replaces the belief of the one before.
    let mut n = 0;
    let mut program = |_: &str| {
        n += 1;
        let answer = INSTEAD.replace("pnpm", &format!("pnpm {n}"));
        Ok(format!(
            "{answer}\n{{\"subject\":\"ana\",\"relation\":\"said\",\"object\":\"{n}\"}}\n"
        ))
    };
    let admin = store.admin().unwrap();
    let done = admin.consolidate(&small, &mut program).unwrap();
    assert!(done.calls > 1 && done.turns == 6, "{done:?}");
    let ended = admin.undo_consolidation(None, "no").unwrap();
    assert!(ended.len() > 1, "{ended:?}");
    assert_eq!(beliefs(&store), ["ana uses npm"]);
    assert!(admin.undo_consolidation(None, "no").unwrap().is_empty());
    assert_eq!(run(&store, &asked(), "").0.turns, 6);
}

#[test]
fn what_a_person_changed_since_stays_when_a_run_is_taken_back() {
    let store = memory();
    say(&store, "ana", "use pnpm");
    let (done, _) = run(&store, &asked(), &PNPM.replace("t2", "t1"));
    let by = Draft::belief("ana", "uses", "yarn")
        .confidence(1.0)
        .user("ana")
        .namespace("app");
    store
        .supersede(&done.stored[0], by.derived_from(done.stored[0]), None)
        .unwrap();
    assert!(
        store
            .admin()
            .unwrap()
            .undo_consolidation(None, "no")
            .unwrap()
            .is_empty()
    );
    assert_eq!(beliefs(&store), ["ana uses yarn"]);
}

#[test]
fn a_program_is_given_no_more_tokens_than_the_budget() {
    let store = memory();
    for n in 0..40 {
        say(
            &store,
            "ana",
            &format!("turn {n} {}", "word ".repeat(n * 8)),
        );
        believe(&store, &format!("tool {n} {}", "name ".repeat(10)));
    }
    say(&store, "ana", &"long ".repeat(20_000));
    let bounded = Consolidation {
        budget: 3_000,
        per_call: 1_000,
        ..asked()
    };
    let (mut turns, mut runs) = (0, 0);
    loop {
        let (done, given) = run(&store, &bounded, "");
        // The head of a request and the estimate of a whole are a few tokens.
        let sizes: Vec<_> = given.iter().map(|lines| tokens(lines)).collect();
        assert!(sizes.iter().all(|size| *size <= 1_050), "{sizes:?}");
        assert!(sizes.iter().sum::<usize>() <= 3_100, "{sizes:?}");
        turns += done.turns;
        runs += 1;
        if done.left == 0 {
            break;
        }
        assert!(done.turns > 0);
    }
    assert_eq!(turns, 41);
    assert!(runs > 2, "{runs}");
    assert_eq!(run(&store, &bounded, "").0.calls, 0);
}

#[test]
fn hostile_answers_are_errors_or_counted_refusals() {
    let store = memory();
    let other = store
        .put(
            Draft::belief("ben", "uses", "bun")
                .confidence(1.0)
                .user("ben"),
        )
        .unwrap();
    say(&store, "ana", "use pnpm");
    let fails = |answer: String| {
        let mut program = |_: &str| Ok(answer.clone());
        let done = store.admin().unwrap().consolidate(&asked(), &mut program);
        done.unwrap_err().code()
    };
    let line = |members: &str| {
        format!("{{\"subject\":\"a\",\"relation\":\"b\",\"object\":\"c\",{members}}}")
    };
    for answer in [
        "I am sorry, I cannot do that.".to_owned(),
        "[".repeat(1 << 20),
        line(&format!("\"supersedes\":\"{other}\"")),
        line(&format!("\"derived_from\":[\"{other}\"]")),
        line("\"user_id\":\"ben\""),
        line("\"author_did\":\"did:web:owner\""),
        line("\"invalidation_policy\":{\"mode\":\"locked\"}"),
        line("\"verification_status\":\"verified\""),
        "{}\n".repeat(2_000),
    ] {
        assert_eq!(fails(answer), "ERR_PROGRAM");
    }
    let mut failing = |_: &str| Err("exit status: 1".into());
    let failed = store.admin().unwrap().consolidate(&asked(), &mut failing);
    assert_eq!(failed.unwrap_err().code(), "ERR_PROGRAM");
    assert_eq!(beliefs(&store), ["ben uses bun"]);
    // The turn was not used up; a good line beside bad ones is stored, and they are counted.
    let mixed = format!(
        "Facts:\n{}\n{}\n",
        line("\"user_id\":\"ben\""),
        line("\"confidence\":1")
    );
    let (done, _) = run(&store, &asked(), &mixed);
    assert_eq!(
        (done.turns, done.stored.len(), done.refused.len()),
        (1, 1, 2)
    );
    assert!(store.status(&other).unwrap().is_current());
}

#[test]
fn a_run_beside_another_stores_nothing_of_its_turns() {
    let store = memory();
    say(&store, "ana", "use pnpm");
    let beside = store.clone();
    let mut program = |_: &str| {
        let (done, _) = run(
            &beside,
            &Consolidation::by("first"),
            &PNPM.replace("t2", "t1"),
        );
        assert_eq!(done.stored.len(), 1);
        Ok(r#"{"subject":"ana","relation":"likes","object":"tea"}"#.to_owned())
    };
    let done = store
        .admin()
        .unwrap()
        .consolidate(&asked(), &mut program)
        .unwrap();
    assert_eq!((done.turns, done.stored.len(), done.left), (0, 0, 0));
    assert_eq!(beliefs(&store), ["ana uses pnpm"]);
}

#[test]
fn on_behalf_of_a_person_a_program_is_given_what_they_see() {
    let store = memory();
    say(&store, "ana", "one");
    say(&store, "ben", "two");
    let ben = store.of_user("ben");
    let mut given = String::new();
    let mut program = |lines: &str| {
        given.push_str(lines);
        Ok(r#"{"subject":"ben","relation":"likes","object":"tea"}"#.to_owned())
    };
    let admin = store.admin().unwrap().on_behalf_of(&ben);
    let done = admin.consolidate(&asked(), &mut program).unwrap();
    assert_eq!((done.turns, done.stored.len()), (1, 1));
    assert!(given.contains("two") && !given.contains("one"), "{given}");
}

#[test]
fn a_belief_has_the_times_that_an_answer_states() {
    let store = memory();
    say(&store, "ana", "from October on I use pnpm");
    let line = PNPM.replace(
        "[\"t2\"]",
        "[\"t1\"],\"valid_from\":\"2026-10-01T00:00:00Z\"",
    );
    let (done, _) = run(&store, &asked(), &line);
    let belief = store.get(&done.stored[0]).unwrap().unwrap();
    let from = Time::parse("2026-10-01T00:00:00Z").unwrap();
    assert_eq!(
        belief.field("valid_from").and_then(Value::as_i64),
        Some(from.ms())
    );
}
