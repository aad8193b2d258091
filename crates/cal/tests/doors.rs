//! CAL as a way to a store: what the rules refuse is refused to a statement, and no answer tells a grain
//! that the handle cannot get.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "a statement has no file")]
#[path = "../../../tests/attempts/mod.rs"]
mod attempts;
#[path = "../../../tests/attempts/statements.rs"]
mod statements;

use std::sync::Arc;

use grainstore::store::Clock;
use grainstore::{Filter, Options as StoreOptions, Store, Time};
use grainstore_cal::{Answer, Failure, Host, Options, parse};
use serde_json::Value;

use attempts::{Door, Scene, Silence, Told, every_refusal};
use statements::{
    OWN_CODES, Reach, Secret, WORDLESS, changes, no_answer_tells_more, questioned, reaches,
};

const NOW: i64 = 1_768_471_200_000;

/// The library.
struct Library;

impl Door for Library {
    const SILENT: &'static [Silence] = &[];
    const WORDLESS: &'static [Silence] = WORDLESS;
    const OTHERWISE: &'static [(&'static str, &'static str)] = OWN_CODES;

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        let capability = Reach::of(column, scene).capability().by_token("kitchen");
        let handle = store.with_capability(capability).unwrap();
        let before = store.list(None, 100).unwrap().addresses;
        let change =
            |text: String| changed(&handle, &text).map_or_else(|it| it.code(), |_| "stored");
        let told: Told = changes(column, scene)
            .into_iter()
            .map(change)
            .map(str::to_owned)
            .collect();
        assert_eq!(store.list(None, 100).unwrap().addresses, before, "{told:?}");
        (told, store)
    }
}

fn changed(handle: &Store, text: &str) -> Result<Answer, Failure> {
    let host = Host::with_changes().map_err(Failure::from)?;
    let query = parse(text)?;
    let prepared = host.prepare(handle, &query, &Options::at(Time::from_ms(NOW)))?;
    host.redeem(handle, &prepared.token)?.apply(handle)
}

#[test]
fn every_cell_that_refuses_refuses_every_statement_of_its_way() {
    for seed in 0..4 {
        every_refusal(&mut Library, seed << 32);
    }
}

/// Returns the answer to a statement as its reader sees it, with the events of a stream.
fn answered(handle: &Store, text: &str) -> String {
    let options = Options {
        host: Some(Arc::default()),
        ..Options::at(Time::from_ms(NOW))
    };
    let query = parse(text).unwrap();
    let mut told = String::new();
    let mut tell = |event: grainstore_cal::Event| {
        told.push_str(&event.data.to_string());
        true
    };
    let answer = match query.stream(handle, &options, &mut tell) {
        Ok(answer) => {
            let mut json = answer.to_json();
            without_times(&mut json);
            format!("{json}\n{}", answer.text().unwrap_or_default())
        }
        Err(failure) => failure.to_json(text).to_string(),
    };
    told + &answer
}

/// Removes how long an answer took.
fn without_times(json: &mut Value) {
    match json {
        Value::Object(members) => {
            members.remove("duration_ms");
            members.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

#[test]
fn no_answer_tells_a_grain_that_its_handle_cannot_get() {
    let store = Store::in_memory(statements::options()).unwrap();
    let secrets = questioned(&store);
    for is_open in [false, true] {
        if is_open {
            store.admin().unwrap().unlock("mira").unwrap();
        }
        for reach in reaches() {
            let handle = reach.narrow(&store);
            no_answer_tells_more(&store, &secrets, &reach, |statements| {
                statements.iter().map(|it| answered(&handle, it)).collect()
            });
        }
    }
}

/// A clock that stands: a history tells when a version was stored.
#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Time {
        Time::from_ms(NOW)
    }
}

fn stopped() -> Store {
    let options = StoreOptions {
        clock: Arc::new(Stopped),
        ..statements::options()
    };
    Store::in_memory(options).unwrap()
}

#[test]
fn an_answer_is_that_of_a_store_of_what_the_handle_can_get() {
    let whole = stopped();
    let secrets = questioned(&whole);
    for reach in reaches() {
        let handle = reach.narrow(&whole);
        let found = handle
            .query(&Filter::new().with_superseded(), 500, None)
            .unwrap();
        let part = stopped();
        for found in found.results {
            part.put(found.grain).unwrap();
        }
        let alone = reach.narrow(&part);
        let hidden = |secret: &&Secret| !matches!(handle.get(&secret.address), Ok(Some(_)));
        let hidden: Vec<_> = secrets.iter().filter(hidden).step_by(17).collect();
        for secret in secrets.iter().take(1).chain(hidden) {
            // A search ranks by the words of more grains than those in reach.
            let ranks = |text: &String| text.contains("LIKE") || text.contains("ABOUT");
            let questions = statements::questions(secret).into_iter();
            for text in questions.filter(|text| !ranks(text)) {
                assert_eq!(
                    answered(&handle, &text),
                    answered(&alone, &text),
                    "{reach:?}: {text}"
                );
            }
        }
    }
}
