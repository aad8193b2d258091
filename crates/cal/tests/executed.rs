//! Random recalls against a plain scan of the same grains.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;

use grainstore::{ContentAddress, Draft, Filter, Options as StoreOptions, Store, Time};
use grainstore_cal::{Body, Cal, Options, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % sides
    }

    fn day(&mut self, days: i64) -> i64 {
        let sides = usize::try_from(days).unwrap();
        i64::try_from(self.roll(sides)).unwrap()
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
}

const NAMES: &[&str] = &["alice", "bob", "carol"];
const RELATIONS: &[&str] = &["mg:prefers", "mg:knows", "mg:avoids"];
const SHARES: &[f64] = &[0.1, 0.5, 0.9];
const NAMESPACES: &[&str] = &["shared", "acme", "acme:bot"];
const TAGS: &[&str] = &["work", "home", "old"];
const SOURCES: &[&str] = &["user_explicit", "imported"];
const START: i64 = 1_768_471_200_000;
const DAY: i64 = 86_400_000;

fn draft(dice: &mut Dice, n: i64) -> Draft {
    let name = dice.one(NAMES);
    let mut draft = match dice.roll(5) {
        0..=1 => {
            Draft::belief(name, dice.one(RELATIONS), dice.one(NAMES)).confidence(dice.one(SHARES))
        }
        2 => Draft::event(format!("{name} said {n}"))
            .set("role", dice.one(&["user", "assistant"]))
            .session(dice.one(&["s1", "s2"])),
        3 => Draft::goal(format!("goal {n}"))
            .set("subject", name)
            .set("goal_state", dice.one(&["active", "satisfied", "failed"]))
            .set("deadline", START + DAY * dice.day(4)),
        _ => Draft::action(
            dice.one(&["ls", "cat"]),
            grainstore::codec::Map::new(),
            "done",
            dice.roll(2) == 0,
        )
        .set("subject", name),
    };
    if dice.roll(2) == 0 {
        draft = draft.importance(dice.one(SHARES));
    }
    for tag in TAGS {
        if dice.roll(3) == 0 {
            draft = draft.tag(*tag);
        }
    }
    if dice.roll(2) == 0 {
        draft = draft.user(dice.one(NAMES));
    }
    if dice.roll(2) == 0 {
        draft = draft.source(dice.one(SOURCES));
    }
    let draft = draft.namespace(dice.one(NAMESPACES)).set("x_n", n);
    draft.created_at(Time::from_ms(START + DAY * dice.day(5)))
}

/// A condition as text, and whether a grain passes it: `None` for a field that it does not have.
type Condition = (String, Box<dyn Fn(&Row) -> bool>);

/// A grain, as the scan sees it.
struct Row {
    address: ContentAddress,
    fields: Value,
    contradicted: bool,
}

impl Row {
    fn text(&self, field: &str) -> Option<&str> {
        self.fields[field].as_str()
    }

    fn number(&self, field: &str) -> Option<f64> {
        self.fields[field].as_f64()
    }

    fn tags(&self) -> BTreeSet<&str> {
        let tags = self.fields["structural_tags"].as_array();
        tags.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    fn time(&self) -> i64 {
        self.fields["created_at"].as_i64().unwrap()
    }
}

/// Rolls a condition on a field that every type can have.
fn common(dice: &mut Dice) -> Condition {
    match dice.roll(11) {
        0..=2 => {
            let field = dice.one(&["subject", "relation", "object", "user_id", "source_type"]);
            let pool = match field {
                "relation" => RELATIONS,
                "source_type" => SOURCES,
                _ => NAMES,
            };
            let value = dice.one(pool);
            let is_not = field != "source_type" && dice.roll(3) == 0;
            let op = if is_not { "!=" } else { "=" };
            let test = move |row: &Row| row.text(field).is_some_and(|it| (it == value) != is_not);
            (format!("{field} {op} \"{value}\""), Box::new(test))
        }
        3 => {
            let [a, b] = [dice.one(NAMES), dice.one(NAMES)];
            let field = dice.one(&["subject", "object"]);
            let test = move |row: &Row| row.text(field).is_some_and(|it| it == a || it == b);
            (format!("{field} IN (\"{a}\", \"{b}\")"), Box::new(test))
        }
        4..=5 => number(dice),
        6 => tags(dice),
        7 => {
            let days = [dice.day(5), dice.day(5)];
            let [from, to] = [days[0].min(days[1]), days[0].max(days[1])];
            let [first, last] = [from, to].map(|day| Time::from_ms(START + DAY * day).to_string());
            let test = move |row: &Row| {
                (START + DAY * from..=START + DAY * to + 999).contains(&row.time())
            };
            let text = format!(
                "time BETWEEN \"{}Z\" AND \"{}Z\"",
                &first[..19],
                &last[..19]
            );
            (text, Box::new(test))
        }
        8 => {
            let of = dice.one(NAMESPACES);
            let test = move |row: &Row| row.text("namespace") == Some(of);
            (format!("namespace = \"{of}\""), Box::new(test))
        }
        9 => {
            let is = dice.roll(2) == 0;
            let test = move |row: &Row| row.contradicted == is;
            (format!("contradicted = {is}"), Box::new(test))
        }
        _ => {
            let all = ["mg:prefers", "mg:avoids", "mg:requires"];
            let test = move |row: &Row| row.text("relation").is_some_and(|it| all.contains(&it));
            ("relation IS PREFERENCE".to_owned(), Box::new(test))
        }
    }
}

fn number(dice: &mut Dice) -> Condition {
    let field = dice.one(&["confidence", "importance"]);
    let of = dice.one(SHARES);
    let op = dice.one(&["=", "!=", ">=", "<=", ">", "<"]);
    let test = move |row: &Row| {
        row.number(field).is_some_and(|it| match op {
            "=" => it == of,
            "!=" => it != of,
            ">=" => it >= of,
            "<=" => it <= of,
            ">" => it > of,
            _ => it < of,
        })
    };
    (format!("{field} {op} {of:?}"), Box::new(test))
}

fn tags(dice: &mut Dice) -> Condition {
    let [a, b] = [dice.one(TAGS), dice.one(TAGS)];
    if dice.roll(2) == 0 {
        let test = move |row: &Row| row.tags().contains(a) && row.tags().contains(b);
        (format!("tags INCLUDE [\"{a}\", \"{b}\"]"), Box::new(test))
    } else {
        let test = move |row: &Row| !row.tags().contains(a) && !row.tags().contains(b);
        (format!("tags EXCLUDE [\"{a}\", \"{b}\"]"), Box::new(test))
    }
}

/// Rolls a condition on a field of a type.
fn of_type(dice: &mut Dice, kind: &str) -> Condition {
    let (field, of): (&str, &str) = match kind {
        "events" if dice.roll(2) == 0 => ("role", dice.one(&["user", "assistant"])),
        "events" => ("session_id", dice.one(&["s1", "s2"])),
        "goals" => ("goal_state", dice.one(&["active", "satisfied", "failed"])),
        "actions" => ("tool_name", dice.one(&["ls", "cat"])),
        _ => return common(dice),
    };
    let is_not = field != "session_id" && dice.roll(3) == 0;
    let op = if is_not { "!=" } else { "=" };
    let test = move |row: &Row| row.text(field).is_some_and(|it| (it == of) != is_not);
    (format!("{field} {op} \"{of}\""), Box::new(test))
}

/// A sort: its text, and the value that it compares.
fn order(dice: &mut Dice) -> (&'static str, bool) {
    let field = dice.one(&["time", "confidence", "importance", "subject", "source_type"]);
    (field, dice.roll(2) == 0)
}

/// Compares two values of a field; none comes last in either direction.
fn compare(field: &str, descends: bool, a: &Row, b: &Row) -> std::cmp::Ordering {
    let key = |row: &Row| match field {
        "time" => Some((row.time() as f64, String::new())),
        "confidence" | "importance" => row.number(field).map(|n| (n, String::new())),
        field => row.text(field).map(|text| (0.0, text.to_owned())),
    };
    let by_address = a.address.as_bytes().cmp(b.address.as_bytes());
    let order = match (key(a), key(b)) {
        (Some(a), Some(b)) => {
            let order = a.partial_cmp(&b).unwrap();
            if descends { order.reverse() } else { order }
        }
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => std::cmp::Ordering::Equal,
    };
    order.then(by_address)
}

fn filled(dice: &mut Dice) -> Store {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let count = 20 + dice.day(60);
    let drafts: Vec<Draft> = (0..count).map(|n| draft(dice, n)).collect();
    let stored = store.put_batch(drafts).unwrap();
    for (n, put) in stored.iter().enumerate() {
        let address = &put.address;
        match dice.roll(8) {
            0 => {
                let new = Draft::belief("alice", "mg:knows", format!("new {n}")).confidence(0.5);
                let new = new.created_at(Time::from_ms(START)).derived_from(*address);
                store.supersede(address, new, None).unwrap();
            }
            1 => store.contradict(address, Some("no")).unwrap(),
            _ => {}
        }
    }
    store
}

fn scan(store: &Store) -> Vec<Row> {
    let page = store.list(None, 10_000).unwrap();
    let rows = page.addresses.into_iter().filter_map(|address| {
        let status = store.status(&address).unwrap();
        let grain = store.get(&address).unwrap()?;
        status.is_current().then(|| Row {
            address,
            fields: serde_json::from_str(&grain.to_json()).unwrap(),
            contradicted: status.contradicted,
        })
    });
    rows.collect()
}

const KINDS: &[(&str, &str)] = &[
    ("beliefs", "belief"),
    ("events", "event"),
    ("goals", "goal"),
    ("actions", "action"),
];

/// Rolls a recall; returns its text and the addresses that a scan finds.
fn rolled(dice: &mut Dice, rows: &[Row]) -> (String, Vec<ContentAddress>, usize) {
    let kind = (dice.roll(3) > 0).then(|| dice.one(KINDS));
    let mut conditions = Vec::new();
    for _ in 0..dice.roll(4) {
        conditions.push(match kind {
            Some((plural, _)) if dice.roll(2) == 0 => of_type(dice, plural),
            _ => common(dice),
        });
    }
    let mut text = "RECALL".to_owned();
    if let Some((plural, _)) = kind {
        text = format!("{text} {plural}");
    }
    let written: Vec<&str> = conditions.iter().map(|(text, _)| text.as_str()).collect();
    if !written.is_empty() {
        text = format!("{text} WHERE {}", written.join(" AND "));
    }
    let mut passing: Vec<&Row> = rows
        .iter()
        .filter(|row| kind.is_none_or(|(_, one)| row.text("type") == Some(one)))
        .filter(|row| conditions.iter().all(|(_, test)| test(row)))
        .collect();
    passing.sort_by_key(|row| *row.address.as_bytes());
    if dice.roll(2) == 0 {
        let (field, descends) = order(dice);
        passing.sort_by(|a, b| compare(field, descends, a, b));
        let dir = if descends { "DESC" } else { "ASC" };
        text = format!("{text} | ORDER BY {field} {dir}");
    }
    let skipped = dice.roll(3);
    if skipped > 0 {
        text = format!("{text} | OFFSET {skipped}");
    }
    let mut limit = 20;
    if dice.roll(2) == 0 {
        limit = dice.roll(30);
        text = format!("{text} | LIMIT {limit}");
    }
    let total = passing.len();
    let found = passing
        .iter()
        .skip(skipped)
        .take(limit)
        .map(|row| row.address);
    (text, found.collect(), total)
}

fn asked(store: &Store, text: &str) -> Body {
    let options = Options::at(Time::from_ms(START + 5 * DAY));
    match store.cal(text, &options) {
        Ok(answer) => answer.body,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn addresses(body: &Body) -> Vec<ContentAddress> {
    match body {
        Body::Grains(grains) => grains.found.iter().map(|found| found.address).collect(),
        other => panic!("no grains: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_recall_finds_what_a_plain_scan_finds_in_the_same_order(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let store = filled(&mut dice);
        let rows = scan(&store);
        for _ in 0..24 {
            let (text, expected, total) = rolled(&mut dice, &rows);
            let body = asked(&store, &text);
            prop_assert_eq!(addresses(&body), expected, "{}", text);
            if let Body::Grains(grains) = &body {
                let is_total = grains.total == total as u64;
                prop_assert!(is_total || grains.total_is_lower_bound, "{}: {}", text, grains.total);
            }
            let plain = text.split(" | ").next().unwrap_or_default();
            let count = asked(&store, &format!("{plain} | COUNT"));
            prop_assert!(matches!(count, Body::Count(n) if n == total as u64), "{}: {:?}", plain, count);
        }
    }

    #[test]
    fn set_operations_are_those_of_sets(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let store = filled(&mut dice);
        let rows = scan(&store);
        for _ in 0..8 {
            let mut operand = || {
                let (text, _, _) = rolled(&mut dice, &rows);
                let plain = text.split(" | ").next().unwrap_or_default().to_owned();
                let all = asked(&store, &format!("{plain} | LIMIT 1000"));
                let set: BTreeSet<_> = addresses(&all).into_iter().collect();
                (plain, set)
            };
            let ((a, left), (b, right), (c, third)) = (operand(), operand(), operand());
            for (op, expected) in [
                ("UNION", &(&left | &right) - &third),
                ("INTERSECT", &(&left & &right) - &third),
                ("EXCEPT", &(&left - &right) - &third),
            ] {
                let text = format!("(({a}) {op} ({b})) EXCEPT ({c})");
                let found: BTreeSet<_> = addresses(&asked(&store, &text)).into_iter().collect();
                prop_assert_eq!(found, expected, "{}", text);
            }
        }
    }

    #[test]
    fn a_subquery_and_a_let_select_the_same_as_their_values(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let store = filled(&mut dice);
        let rows = scan(&store);
        for _ in 0..8 {
            let (text, _, _) = rolled(&mut dice, &rows);
            let inner = text.split(" | ").next().unwrap_or_default().to_owned();
            let kind = inner.split(' ').nth(1);
            if matches!(kind, Some("events" | "goals" | "actions")) {
                continue;
            }
            let all = asked(&store, &format!("{inner} | LIMIT 1000"));
            let own: BTreeSet<_> = addresses(&all).into_iter().collect();
            let is_own = |row: &&Row| own.contains(&row.address) && row.text("type") == Some("belief");
            let objects: BTreeSet<&str> = rows.iter().filter(is_own).filter_map(|row| row.text("object")).collect();
            let matches = |row: &&Row| row.text("subject").is_some_and(|it| objects.contains(it));
            let expected: BTreeSet<_> = rows.iter().filter(matches).map(|row| row.address).collect();
            for text in [
                format!("RECALL WHERE subject IN ({inner} | OBJECTS) | LIMIT 1000"),
                format!("LET $x = {inner} | OBJECTS; RECALL WHERE subject IN ($x) | LIMIT 1000"),
            ] {
                let found: BTreeSet<_> = addresses(&asked(&store, &text)).into_iter().collect();
                prop_assert_eq!(&found, &expected, "{}", text);
            }
        }
    }
}

#[test]
fn a_handle_on_a_namespace_is_not_widened_by_a_statement() {
    let store = filled(&mut Dice(7));
    let bot = store.in_namespace("acme:bot");
    let own = bot
        .query(&Filter::new(), 1_000, None)
        .unwrap()
        .results
        .len();
    assert!(own > 0);
    for text in [
        "RECALL | LIMIT 1000",
        "RECALL IN SCOPE \"acme\" | LIMIT 1000",
    ] {
        assert_eq!(addresses(&asked(&bot, text)).len(), own, "{text}");
    }
    for text in ["RECALL IN \"shared\"", "RECALL WHERE namespace = \"acme\""] {
        assert!(addresses(&asked(&bot, text)).is_empty(), "{text}");
    }
    assert!(matches!(asked(&bot, "RECALL | COUNT"), Body::Count(n) if n == own as u64));
}

#[test]
fn bound_texts_are_never_read_as_a_statement() {
    let store = filled(&mut Dice(3));
    let query = parse("RECALL WHERE subject = $who AND object IN ($what) | COUNT").unwrap();
    let mut options = Options::at(Time::from_ms(START));
    for who in ["alice\" OR \"1", "alice\" | LIMIT 1000", "x) UNION (RECALL"] {
        options = options
            .parameter("who", who)
            .parameter("what", json!(["alice", who]));
        let body = query.run(&store, &options).unwrap().body;
        assert!(matches!(body, Body::Count(0)), "{who}: {body:?}");
    }
    options = options
        .parameter("what", json!([]))
        .parameter("who", "alice");
    let body = query.run(&store, &options).unwrap().body;
    assert!(
        matches!(body, Body::Count(0)),
        "an empty IN selects nothing: {body:?}"
    );
}

#[test]
fn a_parameter_is_refused_at_its_place_and_counted_where_it_is_named() {
    let text = "RECALL WHERE subject = $who";
    let bound = |values: Value| parse(text).unwrap().bound(values.as_object().unwrap());
    let unbound = bound(json!({})).unwrap_err();
    assert_eq!(
        (unbound.code.as_str(), unbound.at.start, unbound.at.end),
        ("CAL-E008", 23, 27)
    );
    let odd = bound(json!({"who": {"a": 1}})).unwrap_err();
    assert_eq!((odd.code.as_str(), odd.at.start), ("CAL-E020", 23));
    let spare: serde_json::Map<_, _> = (0..30).map(|n| (format!("p{n}"), json!(1))).collect();
    let mut values = Value::Object(spare.clone());
    values["who"] = json!("alice");
    assert!(
        bound(values).is_ok(),
        "a value that no parameter names is not counted"
    );
    let names: Vec<String> = (0..21).map(|n| format!("$p{n}")).collect();
    let many = parse(&format!("RECALL WHERE subject IN ({})", names.join(", "))).unwrap();
    assert_eq!(many.bound(&spare).unwrap_err().code.as_str(), "CAL-E030");
}

#[test]
fn an_address_is_bound_as_text_where_one_is_asked_for() {
    let address = format!("sha256:{}", "ab".repeat(32));
    let values = json!({"x": address, "all": [address]});
    let bound = |text: &str| {
        let bound = parse(text).unwrap().bound(values.as_object().unwrap());
        bound
            .map(|query| query.to_string())
            .map_err(|error| error.code.as_str())
    };
    for (text, expected) in [
        ("EXISTS $x", format!("EXISTS {address}")),
        (
            "RECALL WHERE hash = $x",
            format!("RECALL WHERE hash = {address}"),
        ),
        (
            "RECALL WHERE subject = $x",
            format!("RECALL WHERE subject = \"{address}\""),
        ),
        (
            "RECALL goals WHERE depends_on IN ($all)",
            format!("RECALL goals WHERE depends_on IN ({address})"),
        ),
    ] {
        assert_eq!(bound(text), Ok(expected), "{text}");
    }
    let short = json!({"x": "sha256:abc"});
    let refused = parse("EXISTS $x")
        .unwrap()
        .bound(short.as_object().unwrap());
    assert_eq!(refused.unwrap_err().code.as_str(), "CAL-E015");
}

#[test]
fn addresses_versions_and_threads_are_found_by_their_first_digits() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let tea = Draft::belief("alice", "mg:likes", "tea").confidence(0.5);
    let tea = store.put(tea.created_at(Time::from_ms(START))).unwrap();
    let milk = Draft::belief("alice", "mg:likes", "milk")
        .confidence(0.9)
        .derived_from(tea);
    let milk = store
        .supersede(&tea, milk.created_at(Time::from_ms(START + DAY)), None)
        .unwrap();
    let hello = Draft::event("hello")
        .session("s")
        .created_at(Time::from_ms(START));
    let hello = store.put(hello).unwrap();
    let reply = Draft::event("and to you")
        .session("s")
        .created_at(Time::from_ms(START + 1));
    let reply = store.put(reply).unwrap();
    let short = |address: &ContentAddress| format!("sha256:{}", &address.to_string()[..12]);

    assert!(matches!(
        asked(&store, &format!("EXISTS {}", short(&tea))),
        Body::Exists(true)
    ));
    assert!(matches!(
        asked(&store, "EXISTS sha256:00000000"),
        Body::Exists(false)
    ));
    let thread = asked(
        &store,
        &format!("RECALL events THREAD FROM {}", short(&reply)),
    );
    assert_eq!(addresses(&thread), [hello, reply]);
    let one = asked(
        &store,
        &format!("RECALL WITH superseded WHERE hash = {}", short(&tea)),
    );
    assert_eq!(addresses(&one), [tea]);
    match asked(&store, &format!("HISTORY {}", short(&tea))) {
        Body::History { versions, more } => {
            let all: Vec<_> = versions
                .iter()
                .map(|version| version.grain.address())
                .collect();
            assert_eq!((all, more), (vec![milk, tea], 0));
        }
        other => panic!("{other:?}"),
    }
    match asked(
        &store,
        &format!("HISTORY {} DIFF {}", short(&tea), short(&milk)),
    ) {
        Body::Diff(changes) => {
            let changed = changes
                .iter()
                .find(|(field, ..)| field == "object")
                .unwrap();
            assert_eq!(*changed, ("object".to_owned(), json!("tea"), json!("milk")));
        }
        other => panic!("{other:?}"),
    }
    let pair = "HISTORY WHERE subject = \"alice\" AND relation = \"mg:likes\"";
    assert_eq!(addresses(&asked(&store, pair)), [milk, tea]);
}

#[test]
fn about_searches_where_the_text_is_no_subject() {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let tea = store
        .put(Draft::belief("alice", "mg:prefers", "green tea").confidence(0.9))
        .unwrap();
    store.put(Draft::event("it rains")).unwrap();
    for text in [
        "RECALL ABOUT \"alice\"",
        "RECALL ABOUT \"green tea\"",
        "RECALL LIKE \"tea\"",
    ] {
        assert_eq!(addresses(&asked(&store, text)), [tea], "{text}");
    }
    let body = asked(&store, "COALESCE (RECALL ABOUT \"nobody\", RECALL beliefs)");
    assert_eq!(addresses(&body), [tea]);
}

#[test]
fn every_statement_of_the_corpus_is_answered_or_refused_with_a_code() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../../test-vectors/cal/statements.json");
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let store = filled(&mut Dice(11));
    let mut answered = 0;
    for case in &cases {
        let text = case["cal"].as_str().unwrap();
        let outcome = store.cal(text, &Options::at(Time::from_ms(START)));
        match outcome {
            Ok(answer) => {
                answered += 1;
                assert!(case["code"].is_null(), "{text}");
                assert!(answer.to_json()["_cal"]["query_hash"].is_string(), "{text}");
            }
            Err(failure) => {
                assert!(failure.code().starts_with("CAL-E"), "{text}: {failure:?}");
                if !case["code"].is_null() {
                    assert_eq!(failure.code(), case["code"], "{text}");
                }
            }
        }
    }
    assert!(
        answered >= 150,
        "{answered} of {} are answered",
        cases.len()
    );
}

#[test]
fn a_store_that_is_opened_again_gives_the_same_answers_in_the_same_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(5);
    let options = || StoreOptions::default();
    let store = Store::open(folder.path(), options()).unwrap();
    let drafts: Vec<Draft> = (0..60).map(|n| draft(&mut dice, n)).collect();
    store.put_batch(drafts).unwrap();
    let rows = scan(&store);
    let asked_for: Vec<String> = (0..40).map(|_| rolled(&mut dice, &rows).0).collect();
    let answers = |store: &Store| -> Vec<Vec<ContentAddress>> {
        let answers = asked_for.iter().map(|text| addresses(&asked(store, text)));
        let searched = [
            "RECALL LIKE \"alice said\"",
            "RECALL events LIKE \"bob\" | OFFSET 2",
        ];
        answers
            .chain(searched.iter().map(|text| addresses(&asked(store, text))))
            .collect()
    };
    let before = answers(&store);
    drop(store);
    let store = Store::open(folder.path(), options()).unwrap();
    assert_eq!(answers(&store), before);
    assert!(before.iter().any(|found| found.len() > 3));
}
