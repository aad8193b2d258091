//! Several tenants in one store: whatever they ask, each is answered as if the store held nothing else.
//!
//! `just tenants CASES` runs programs of about ten requests for each case.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use grainstore::store::Clock;
use grainstore::{Options, Time};
use grainstore_server::http::{Grant, Limits, Operation};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{ACTOR, Server, Told};

/// One request of a tenant. Addresses are named by the place of an earlier request, of either tenant.
#[derive(Debug, Clone)]
enum Request {
    Put { text: u8, link: Option<u8> },
    Foreign { text: u8 },
    Batch { texts: Vec<u8> },
    Supersede { of: u8, text: u8 },
    Contradict { of: u8 },
    Delete { of: u8 },
    Read { of: u8, what: u8 },
    Get { of: Vec<u8> },
    Query { limit: u8, is_paged: bool },
    Search { text: u8 },
    Recall { text: u8 },
    Export { format: u8 },
    Import { text: u8 },
    Bundle { urn: u8, text: u8 },
    Growth,
    Report { is_other: bool },
    Erase { is_other: bool, is_preview: bool },
    Whole { what: u8 },
    Tool { what: u8, of: u8, text: u8 },
    File { what: u8, text: u8 },
}

fn request() -> impl Strategy<Value = Request> {
    let text = 0..6_u8;
    prop_oneof![
        4 => (text.clone(), prop::option::of(any::<u8>()))
            .prop_map(|(text, link)| Request::Put { text, link }),
        1 => text.clone().prop_map(|text| Request::Foreign { text }),
        1 => prop::collection::vec(0..6_u8, 1..4).prop_map(|texts| Request::Batch { texts }),
        2 => (any::<u8>(), text.clone()).prop_map(|(of, text)| Request::Supersede { of, text }),
        1 => any::<u8>().prop_map(|of| Request::Contradict { of }),
        1 => any::<u8>().prop_map(|of| Request::Delete { of }),
        3 => (any::<u8>(), 0..4_u8).prop_map(|(of, what)| Request::Read { of, what }),
        1 => prop::collection::vec(any::<u8>(), 1..4).prop_map(|of| Request::Get { of }),
        2 => (1..4_u8, any::<bool>())
            .prop_map(|(limit, is_paged)| Request::Query { limit, is_paged }),
        2 => text.clone().prop_map(|text| Request::Search { text }),
        1 => text.clone().prop_map(|text| Request::Recall { text }),
        1 => (0..4_u8).prop_map(|format| Request::Export { format }),
        1 => text.clone().prop_map(|text| Request::Import { text }),
        2 => (0..2_u8, text.clone()).prop_map(|(urn, text)| Request::Bundle { urn, text }),
        1 => Just(Request::Growth),
        1 => any::<bool>().prop_map(|is_other| Request::Report { is_other }),
        1 => any::<(bool, bool)>()
            .prop_map(|(is_other, is_preview)| Request::Erase { is_other, is_preview }),
        1 => (0..5_u8).prop_map(|what| Request::Whole { what }),
        2 => (0..5_u8, text.clone()).prop_map(|(what, text)| Request::File { what, text }),
        4 => (0..9_u8, any::<u8>(), text)
            .prop_map(|(what, of, text)| Request::Tool { what, of, text }),
    ]
}

const WORDS: [&str; 6] = ["tea", "coffee", "water", "tea and milk", "porto", "rain"];

/// Queries whose words are in grains of either tenant, as written or not.
const QUERIES: [&str; 6] = [
    "tea",
    "coff*",
    "watr~",
    "\"tea and milk\"",
    "porto rain",
    "teas",
];

pub(crate) const USERS: [&str; 3] = [
    "11111111-1111-1111-1111-111111111111",
    "22222222-2222-2222-2222-222222222222",
    "33333333-3333-3333-3333-333333333333",
];

/// A tenant at a server, and the token it has there.
pub(crate) struct Tenant<'a> {
    server: &'a Server,
    pub(crate) token: String,
    user: &'static str,
}

impl<'a> Tenant<'a> {
    pub(crate) fn of(server: &'a Server, user: &'static str, namespace: Option<&str>) -> Self {
        let operations = Operation::ALL
            .into_iter()
            .filter(|it| *it != Operation::Admin);
        let grant = Grant::new(ACTOR, operations);
        let grant = match namespace {
            Some(name) => grant.inside(name),
            None => grant.for_user(user),
        };
        Self {
            server,
            token: server.token(grant),
            user,
        }
    }

    /// Sends a request; `known` are the addresses that any tenant was told so far.
    fn send(&self, at: usize, request: &Request, known: &[String]) -> Vec<Told> {
        let address = |of: u8| {
            let zero = "0".repeat(64);
            let found = known.get(usize::from(of) % (known.len() + 1));
            found.cloned().unwrap_or(zero)
        };
        let grain = |text: u8| grain(at, text);
        let post = |path: &str, body: Value| self.server.post(&self.token, path, &body);
        vec![match request {
            Request::Put { text, link } => {
                let mut grain = grain(*text);
                if let Some(link) = link {
                    grain["related_to"] =
                        json!([{ "hash": address(*link), "relation_type": "supports" }]);
                }
                post("/v1/grains", grain)
            }
            Request::Foreign { text } => {
                let mut grain = grain(*text);
                let other = USERS.into_iter().find(|user| *user != self.user);
                grain["user_id"] = json!(other);
                grain["namespace"] = json!("of:nobody");
                post("/v1/grains", grain)
            }
            Request::Batch { texts } => {
                let grains: Vec<_> = texts.iter().map(|text| grain(*text)).collect();
                post("/v1/grains/batch", json!({ "grains": grains }))
            }
            Request::Supersede { of, text } => {
                let body = json!({ "grain": grain(*text) });
                post(&format!("/v1/grains/{}/supersede", address(*of)), body)
            }
            Request::Contradict { of } => post(
                &format!("/v1/grains/{}/contradict", address(*of)),
                json!({}),
            ),
            Request::Delete { of } => {
                let why = json!({ "reason": "asked for", "authority": "the tenant" });
                post(&format!("/v1/grains/{}/delete", address(*of)), why)
            }
            Request::Read { of, what } => {
                let what = ["", "/exists", "/history", "/protection"][usize::from(*what)];
                let path = format!("/v1/grains/{}{what}", address(*of));
                self.server.get(&self.token, &path)
            }
            Request::Get { of } => {
                let addresses: Vec<_> = of.iter().map(|of| address(*of)).collect();
                post("/v1/grains/get", json!({ "addresses": addresses }))
            }
            Request::Query { limit, is_paged } => {
                let first = post("/v1/query", json!({ "limit": limit }));
                let cursor = first.json()["next_cursor"].clone();
                if !is_paged || cursor.is_null() {
                    return vec![first];
                }
                let next = post("/v1/query", json!({ "limit": limit, "cursor": cursor }));
                return vec![first, next];
            }
            Request::Tool { what, of, text } => self.call(at, *what, &address(*of), *text),
            Request::Growth | Request::Report { .. } | Request::Erase { .. } => {
                self.send_of_person(request)
            }
            Request::File { what, text } => self.file(*what, *text),
            Request::Whole { what } => self.send_of_whole(*what, &address(0)),
            _ => return vec![self.send_file(at, request)],
        }]
    }

    /// Asks for what only a token of the whole store sees, and for the token itself.
    fn send_of_whole(&self, what: u8, address: &str) -> Told {
        let post = |path: &str, body: Value| self.server.post(&self.token, path, &body);
        match what {
            0 => post("/v1/audit", json!({})),
            1 => self.server.get(&self.token, "/v1/conflicts"),
            2 => post("/v1/conflicts/settle", json!({ "keep": address })),
            3 => self.server.get(&self.token, "/metrics"),
            _ => {
                let mut told = self.server.get(&self.token, "/v1/token").expect(200);
                // The name of a token is its own.
                told.body = told.json()["user"].to_string().into();
                told
            }
        }
    }

    fn send_of_person(&self, request: &Request) -> Told {
        let post = |path: &str, body: Value| self.server.post(&self.token, path, &body);
        let user = |is_other: bool| {
            let other = USERS.into_iter().find(|user| *user != self.user);
            if is_other { other.unwrap() } else { self.user }
        };
        match request {
            Request::Report { is_other } => {
                post("/v1/persons/report", json!({ "user": user(*is_other) }))
            }
            Request::Erase {
                is_other,
                is_preview,
            } => {
                let mut body = json!({ "user": user(*is_other), "preview": is_preview });
                body["reason"] = json!("request 17");
                body["authority"] = json!("the office");
                post("/v1/persons/erase", body)
            }
            _ => post("/v1/growth", json!({})),
        }
    }

    /// Calls a tool of MCP; the answer is its structured content.
    fn call(&self, at: usize, what: u8, address: &str, text: u8) -> Told {
        let other = USERS.into_iter().find(|user| *user != self.user);
        let mut linked = grain(at, text);
        linked["derived_from"] = json!([address]);
        let mut foreign = grain(at, text);
        foreign["user_id"] = json!(other);
        foreign["namespace"] = json!("of:nobody");
        let (name, arguments) = match what {
            0 => ("get", json!({ "address": address })),
            1 => ("get", json!({ "address": &address[..12] })),
            2 => (
                "search",
                json!({ "text": QUERIES[usize::from(text)], "limit": 100, "max_tokens": 20_000 }),
            ),
            3 => ("query", json!({ "limit": 2, "max_tokens": 20_000 })),
            4 => ("remember", json!({ "grain": linked })),
            5 => ("remember", json!({ "grain": foreign })),
            6 => ("report", json!({ "user": other })),
            7 => ("report", json!({ "user": self.user, "max_tokens": 20_000 })),
            _ => ("forget", json!({ "address": address, "confirm": true })),
        };
        let result = self.server.tool(&self.token, name, &arguments);
        let mut told = self.server.ask("GET", "/healthz").send("").expect(200);
        let answer = match result["isError"] == true {
            true => &result["_meta"],
            false => &result["structuredContent"],
        };
        told.body = answer.to_string().into();
        told
    }

    /// Runs a command on the files of the memory tool, some of whose paths all tenants have.
    fn file(&self, what: u8, text: u8) -> Told {
        let path = format!("/memories/{}.md", ["a", "b", "d/a"][usize::from(text % 3)]);
        let text = WORDS[usize::from(text)];
        let arguments = match what {
            0 => json!({ "command": "create", "path": path, "file_text": text }),
            1 => json!({ "command": "view", "path": "/memories" }),
            2 => json!({ "command": "view", "path": path }),
            3 => json!({ "command": "delete", "path": path }),
            _ => json!({ "command": "rename", "old_path": path, "new_path": "/memories/c" }),
        };
        let result = self.server.tool(&self.token, "memory", &arguments);
        let mut told = self.server.ask("GET", "/healthz").send("").expect(200);
        told.body = result["content"].to_string().into();
        told
    }

    fn send_file(&self, at: usize, request: &Request) -> Told {
        let post = |path: &str, body: Value| self.server.post(&self.token, path, &body);
        match request {
            Request::Search { text } => {
                let text = QUERIES[usize::from(*text)];
                let extras = json!({
                    "text": text, "limit": 1_000, "with_snippets": true, "with_explanation": true,
                });
                post("/v1/search", extras)
            }
            Request::Recall { text } => {
                let question = WORDS[usize::from(*text)];
                post(
                    "/v1/recall",
                    json!({ "question": question, "budget": 50_000 }),
                )
            }
            Request::Export { format } => match format {
                0 => self.server.get(&self.token, "/v1/brain/export"),
                1 => post("/v1/export", json!({ "format": "jsonl" })),
                2 => self.server.get(&self.token, "/v1/brain/export/stream"),
                // Superseded grains would bring the times at which they ended.
                _ => post("/v1/export", json!({ "format": "mg" })),
            },
            Request::Import { text } => {
                let mut grain = grain(at, *text);
                grain["user_id"] = json!(self.user);
                grain["namespace"] = json!("acme:a");
                let ask = self.server.ask("POST", "/v1/import?format=jsonl");
                ask.bearer(&self.token).send(grain.to_string())
            }
            Request::Bundle { urn, text } => {
                let bundle = crate::aimem::bundle(self.user, *urn, WORDS[usize::from(*text)]);
                let ask = self.server.ask("POST", "/v1/brain/import");
                ask.bearer(&self.token).send(bundle)
            }
            _ => post("/v1/query", json!({})),
        }
    }
}

/// A grain whose address depends on its text and little else, so that tenants meet.
fn grain(at: usize, text: u8) -> Value {
    json!({
        "type": "event", "content": WORDS[usize::from(text)], "session_id": "s1",
        "created_at": 1_768_471_200_000_i64 + i64::from(at.is_multiple_of(3)),
    })
}

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
            for name in ["stored_at", "system_valid_to", "exported_at", "checksum"] {
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

/// Sends the requests to a store of all tenants, and those of each to one of its own.
fn assert_alone(requests: &[(usize, Request)], namespaces: [Option<&str>; 3]) {
    // What a store dates is dated alike in all of them.
    let clock = Arc::new(StepClock::default());
    let server = || {
        let options = Options {
            clock: Arc::<StepClock>::clone(&clock),
            ..Options::default()
        };
        Server::over(options, Limits::default(), None)
    };
    let all = server();
    let own = [(); 3].map(|()| server());
    let shared = [0, 1, 2].map(|n| Tenant::of(&all, USERS[n], namespaces[n]));
    let alone = [0, 1, 2].map(|n| Tenant::of(&own[n], USERS[n], namespaces[n]));
    let mut known: Vec<String> = Vec::new();
    for (at, (who, request)) in requests.iter().enumerate() {
        let who = *who;
        clock.0.store(i64::try_from(at).unwrap(), Ordering::Relaxed);
        let told = shared[who].send(at, request, &known);
        let expected = alone[who].send(at, request, &known);
        let pairs = told.iter().zip(&expected);
        for (told, expected) in pairs {
            assert_eq!(said(told), said(expected), "{at}: {request:?}");
        }
        for told in &told {
            let Ok(value) = serde_json::from_slice::<Value>(&told.body) else {
                continue;
            };
            known.extend(value["address"].as_str().map(str::to_owned));
            let several = value["addresses"].as_array().into_iter().flatten();
            known.extend(several.filter_map(|it| Some(it.as_str()?.to_owned())));
        }
    }
    for (n, tenant) in shared.iter().enumerate() {
        let events = |tenant: &Tenant<'_>, count| {
            let path = "/v1/changes?from=start";
            let told = crate::protocol::follow(tenant.server, &tenant.token, path, None, count);
            told.into_iter()
                .map(|(_, mut data)| {
                    blank(&mut data);
                    data
                })
                .collect::<Vec<_>>()
        };
        let total = |tenant: &Tenant<'_>| {
            let body = json!({ "limit": 1_000, "filter": { "superseded": true } });
            let told = tenant.server.post(&tenant.token, "/v1/query", &body).json();
            usize::try_from(told["total"].as_u64().unwrap()).unwrap()
        };
        assert_eq!(total(tenant), total(&alone[n]));
        let total = total(tenant);
        if total > 0 {
            assert_eq!(events(tenant, total), events(&alone[n], total));
        }
    }
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
        requests in prop::collection::vec((0..3_usize, request()), 1..20),
    ) {
        assert_alone(&requests, [None, None, None]);
    }

    #[test]
    fn a_namespace_is_answered_as_if_the_store_held_no_other(
        requests in prop::collection::vec((0..3_usize, request()), 1..20),
    ) {
        assert_alone(&requests, [Some("acme:a"), Some("acme:b"), Some("acme:c")]);
    }
}

#[test]
fn equal_foreign_ids_of_two_tenants_are_two_records() {
    let server = Server::new();
    let mut seen = BTreeMap::new();
    for user in USERS {
        let tenant = Tenant::of(&server, user, None);
        let request = Request::Bundle {
            urn: 0,
            text: u8::from(user == USERS[1]),
        };
        let told = tenant.send(0, &request, &[]).remove(0).expect(200).json();
        assert_eq!(told["chunks_inserted"], 1, "{told}");
        let told = tenant
            .server
            .post(&tenant.token, "/v1/query", &json!({}))
            .json();
        seen.insert(user, told["total"].clone());
    }
    assert_eq!(seen[USERS[0]], seen[USERS[1]]);
}

/// A route that is added is asked by the tenants above, or needs no token.
#[test]
fn every_route_that_shows_grains_is_asked_by_the_tenants() {
    let asked = include_str!("tenants.rs");
    let told = Server::new().ask("GET", "/v1/openapi.json").send("").json();
    for (path, methods) in told["paths"].as_object().unwrap() {
        let needs_token = methods.as_object().unwrap().values();
        let needs_token = { needs_token }.any(|method| method.get("security").is_some());
        let last = path.rsplit('/').next().unwrap();
        let is_asked = last.starts_with('{') || asked.contains(last);
        assert!(!needs_token || is_asked, "{path}");
    }
}
