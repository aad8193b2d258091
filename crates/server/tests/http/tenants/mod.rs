//! Several tenants in one store: whatever they ask, each is answered as if the store held nothing else.
//!
//! `just tenants CASES` runs three programs of about ten requests for each case.

mod program;
mod tenant;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use grainstore::ledger::EntryId;
use grainstore::store::{AuditFilter, Clock};
use grainstore::{Options, Time};
use grainstore_server::http::Limits;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Server, Told};
use program::{Request, request};

pub(crate) use tenant::Tenant;

/// Returns what an answer says, without what depends on the time or on a random number.
fn said(told: &Told) -> (u16, Value) {
    let Ok(mut value) = serde_json::from_slice::<Value>(&told.body) else {
        let lines = told.body.split(|byte| *byte == b'\n');
        let lines = lines.map(|line| match serde_json::from_slice::<Value>(line) {
            Ok(mut value) => {
                blank(&mut value);
                value.to_string().into_bytes()
            }
            Err(_) => line.to_vec(),
        });
        let mut lines: Vec<_> = lines.collect();
        lines.sort_unstable();
        return (told.status, json!(lines));
    };
    blank(&mut value);
    (told.status, value)
}

fn blank(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in [
                "stored_at",
                "system_valid_to",
                "exported_at",
                "checksum",
                "duration_ms",
            ] {
                members.remove(name);
            }
            if let Some(cursor) = members.get_mut("next_cursor") {
                *cursor = json!(cursor.is_null());
            }
            members.values_mut().for_each(blank);
        }
        Value::Array(items) => items.iter_mut().for_each(blank),
        _ => {}
    }
}

/// A clock that stands while a request is answered.
#[derive(Debug, Default)]
struct StepClock(AtomicI64);

impl Clock for StepClock {
    fn now(&self) -> Time {
        Time::from_ms(1_795_536_000_000 + 1_000 * self.0.load(Ordering::Relaxed))
    }
}

/// The stores of one program, and their tenants.
struct Stores {
    all: Server,
    /// One for each tenant, who is alone there.
    own: Vec<Server>,
    /// The same, where a record is put that is imported in the others.
    putting: Vec<Server>,
    clock: Arc<StepClock>,
}

impl Stores {
    fn new(tenants: usize) -> Self {
        // What a store dates is dated alike in all of them.
        let clock = Arc::new(StepClock::default());
        let server = || {
            let options = Options {
                clock: Arc::<StepClock>::clone(&clock),
                ..Options::default()
            };
            Server::over(options, Limits::default(), None)
        };
        let several = || std::iter::repeat_with(server).take(tenants).collect();
        Self {
            all: server(),
            own: several(),
            putting: several(),
            clock: Arc::clone(&clock),
        }
    }
}

/// A tenant in the store of all, in one of its own, and in one of its own where imports are puts.
struct Three<'a> {
    shared: Tenant<'a>,
    alone: Tenant<'a>,
    putting: Tenant<'a>,
}

/// Sends the requests to a store of all tenants, and those of each to one of its own.
fn assert_alone(requests: &[(usize, Request)], kinds: &[bool]) {
    let stores = Stores::new(kinds.len());
    let tenants = kinds.iter().enumerate().map(|(n, is_namespace)| Three {
        shared: Tenant::of(&stores.all, n, *is_namespace),
        alone: Tenant::of(&stores.own[n], n, *is_namespace),
        putting: Tenant::of(&stores.putting[n], n, *is_namespace),
    });
    let tenants: Vec<_> = tenants.collect();
    let mut known: Vec<String> = Vec::new();
    let mut seen = None;
    for (at, (who, request)) in requests.iter().enumerate() {
        let tenant = &tenants[who % tenants.len()];
        let step = i64::try_from(at).unwrap();
        stores.clock.0.store(step, Ordering::Relaxed);
        let told = match request {
            Request::Follow => {
                assert_follows_alone(tenant);
                Vec::new()
            }
            Request::Copy { format } => vec![assert_copies_alone(tenant, *format)],
            request => {
                let told = tenant.shared.send(at, request, &known);
                let expected = tenant.alone.send(at, request, &known);
                for (told, expected) in told.iter().zip(&expected) {
                    assert_eq!(said(told), said(expected), "{at}: {request:?}");
                }
                assert_no_wider_than_a_put(tenant, (at, request), &told, &known);
                told
            }
        };
        seen = assert_is_of(&tenant.shared, seen, &format!("{at}: {request:?}"));
        for told in &told {
            let Ok(value) = serde_json::from_slice::<Value>(&told.body) else {
                continue;
            };
            known.extend(value["address"].as_str().map(str::to_owned));
            let several = value["addresses"].as_array().into_iter().flatten();
            known.extend(several.filter_map(|it| Some(it.as_str()?.to_owned())));
        }
    }
    tenants.iter().for_each(assert_follows_alone);
    let before = STEPS.fetch_add(requests.len(), Ordering::Relaxed);
    let after = before + requests.len();
    if before / STEPS_TOLD != after / STEPS_TOLD {
        tell(after);
    }
}

#[expect(clippy::print_stdout, reason = "the figure of a campaign")]
fn tell(steps: usize) {
    println!("{steps} steps");
}

/// The requests that were answered alike.
static STEPS: AtomicUsize = AtomicUsize::new(0);

/// A campaign tells how far it is.
const STEPS_TOLD: usize = 10_000;

/// The feed from its start has what the tenant sees, and nothing of another.
fn assert_follows_alone(tenant: &Three<'_>) {
    let total = |tenant: &Tenant<'_>| {
        let body = json!({ "limit": 1_000, "filter": { "superseded": true } });
        let told = tenant.server.post(&tenant.token, "/v1/query", &body).json();
        usize::try_from(told["total"].as_u64().unwrap()).unwrap()
    };
    let events = |tenant: &Tenant<'_>, count| {
        let path = "/v1/changes?from=start";
        let told = crate::protocol::follow(tenant.server, &tenant.token, path, None, count);
        let told = told.into_iter().map(|(_, mut data)| {
            blank(&mut data);
            data
        });
        told.collect::<Vec<_>>()
    };
    let count = total(&tenant.shared);
    assert_eq!(count, total(&tenant.alone));
    if count > 0 {
        assert_eq!(events(&tenant.shared, count), events(&tenant.alone, count));
    }
}

/// Imports what the tenant exported, the same bytes in both stores.
fn assert_copies_alone(tenant: &Three<'_>, format: u8) -> Told {
    let format = ["jsonl", "mg", "omi", "pam", "aimem"][usize::from(format)];
    let export = |tenant: &Tenant<'_>| {
        let body = json!({ "format": format });
        tenant.server.post(&tenant.token, "/v1/export", &body)
    };
    let (shared, alone) = (export(&tenant.shared), export(&tenant.alone));
    assert_eq!(shared.status, alone.status, "{format}");
    let told = tenant.shared.import(format, alone.body.clone());
    let expected = tenant.alone.import(format, alone.body);
    assert_eq!(said(&told), said(&expected), "{format}");
    told
}

/// What an import stored could have been put by the same actor.
fn assert_no_wider_than_a_put(
    tenant: &Three<'_>,
    (at, request): (usize, &Request),
    told: &[Told],
    known: &[String],
) {
    let putting = &tenant.putting;
    let Request::Import { text, what } = request else {
        if request.changes() {
            putting.send(at, request, known);
        }
        return;
    };
    let last = told[0].lines().pop().unwrap_or_default();
    if told[0].status == 200 && last["summary"]["inserted"] == 1 {
        let record = putting.record(at, *text, *what);
        let put = putting.server.post(&putting.token, "/v1/grains", &record);
        assert_eq!(put.status, 200, "{at}: {request:?}: {put:?}");
    }
}

/// Every entry that a step wrote names the token, and its actor; returns the last entry.
fn assert_is_of(tenant: &Tenant<'_>, after: Option<EntryId>, step: &str) -> Option<EntryId> {
    let audit = tenant.server.store.maintenance().unwrap();
    let entries = audit
        .audit()
        .log(&AuditFilter::default(), after, usize::MAX);
    let entries = entries.unwrap();
    for entry in &entries {
        // One names an actor, and the other says that what an actor began is done.
        if ["actor", "erased"].contains(&entry.operation) {
            continue;
        }
        let names = (entry.by.as_deref(), entry.token.as_deref());
        let actor = tenant.actor();
        assert_eq!(
            names,
            (Some(&*actor), Some(tenant.id())),
            "{step}: {entry:?}"
        );
        assert_eq!(entry.user.as_deref(), tenant.user(), "{step}: {entry:?}");
    }
    entries.last().map(|entry| entry.entry).or(after)
}

#[expect(
    clippy::disallowed_methods,
    reason = "another length of a campaign is no reason to build it again"
)]
fn cases() -> u32 {
    let times = std::env::var("GRAINSTORE_TIMES");
    times.map_or(12, |times| times.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_user_is_answered_as_if_the_store_held_no_other(
        requests in prop::collection::vec((0..60_usize, request()), 1..20), tenants in 2..=5_usize,
    ) {
        assert_alone(&requests, &vec![false; tenants]);
    }

    #[test]
    fn a_namespace_is_answered_as_if_the_store_held_no_other(
        requests in prop::collection::vec((0..60_usize, request()), 1..20), tenants in 2..=5_usize,
    ) {
        assert_alone(&requests, &vec![true; tenants]);
    }

    #[test]
    fn users_beside_namespaces_are_answered_as_if_the_store_held_no_other(
        requests in prop::collection::vec((0..60_usize, request()), 1..20),
        kinds in prop::collection::vec(any::<bool>(), 2..=5),
    ) {
        assert_alone(&requests, &kinds);
    }
}

#[test]
fn equal_foreign_ids_of_two_tenants_are_two_records() {
    let server = Server::new();
    let totals = [0, 1, 2].map(|n| {
        let tenant = Tenant::of(&server, n, false);
        let text = u8::from(n == 1);
        let request = Request::Bundle { urn: 0, text };
        let told = tenant.send(0, &request, &[]).remove(0).expect(200).json();
        assert_eq!(told["chunks_inserted"], 1, "{told}");
        let told = server.post(&tenant.token, "/v1/query", &json!({})).json();
        told["total"].clone()
    });
    assert_eq!(totals, [1, 1, 1]);
}

/// A route that is added is asked by the tenants above, or needs no token.
#[test]
fn every_route_that_shows_grains_is_asked_by_the_tenants() {
    let asked = [include_str!("tenant.rs"), include_str!("mod.rs")].concat();
    let told = Server::new().ask("GET", "/v1/openapi.json").send("").json();
    for (path, methods) in told["paths"].as_object().unwrap() {
        let needs_token = methods.as_object().unwrap().values();
        let needs_token = { needs_token }.any(|method| method.get("security").is_some());
        let last = path.rsplit('/').next().unwrap();
        let is_asked = last.starts_with('{') || asked.contains(&format!("/{last}"));
        assert!(!needs_token || is_asked, "{path}");
    }
}
