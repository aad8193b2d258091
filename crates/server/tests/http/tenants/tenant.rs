//! A tenant, and how it sends a request to each of the doors.

use grainstore_server::http::{Grant, Operation};
use serde_json::{Value, json};

use super::program::{QUERIES, Request, WORDS, grain, statement};
use crate::{Server, Told};

const USERS: [&str; 5] = [
    "11111111-1111-1111-1111-111111111111",
    "22222222-2222-2222-2222-222222222222",
    "33333333-3333-3333-3333-333333333333",
    "44444444-4444-4444-4444-444444444444",
    "55555555-5555-5555-5555-555555555555",
];

const NAMESPACES: [&str; 5] = ["acme:a", "acme:b", "acme:c", "acme:d", "acme:e"];

/// A tenant at a server, and the token it has there.
pub(crate) struct Tenant<'a> {
    pub(super) server: &'a Server,
    pub(crate) token: String,
    /// Whose tenant it is, among [`USERS`].
    n: usize,
    user: &'static str,
    namespace: Option<&'static str>,
}

impl<'a> Tenant<'a> {
    /// Makes the token of a tenant, who is a user or a namespace; its actor acts for no other.
    pub(crate) fn of(server: &'a Server, n: usize, is_namespace: bool) -> Self {
        let operations = Operation::ALL
            .into_iter()
            .filter(|it| *it != Operation::Admin);
        let grant = Grant::new(actor(n), operations);
        let (user, namespace) = (USERS[n], is_namespace.then_some(NAMESPACES[n]));
        let grant = match namespace {
            Some(name) => grant.inside(name),
            None => grant.for_user(user),
        };
        Self {
            server,
            token: server.token(grant),
            n,
            user,
            namespace,
        }
    }

    pub(super) fn actor(&self) -> String {
        actor(self.n)
    }

    /// Returns the user that it is, if it is one.
    pub(super) fn user(&self) -> Option<&str> {
        self.namespace.is_none().then_some(self.user)
    }

    /// Returns the name of the token.
    pub(super) fn id(&self) -> &str {
        self.token.split('_').nth(1).unwrap()
    }

    /// Sends a request; `known` are the addresses that any tenant was told so far.
    pub(super) fn send(&self, at: usize, request: &Request, known: &[String]) -> Vec<Told> {
        let address = |of: u8| {
            let zero = "0".repeat(64);
            let found = known.get(usize::from(of) % (known.len() + 1));
            found.cloned().unwrap_or(zero)
        };
        let grain = |text: u8| grain(at, text);
        let post = |path: &str, body: Value| self.server.post(&self.token, path, &body);
        vec![match request {
            Request::Put { text, link, key } => {
                let mut grain = grain(*text);
                if let Some(link) = link {
                    grain["related_to"] =
                        json!([{ "hash": address(*link), "relation_type": "supports" }]);
                }
                let ask = self.server.ask("POST", "/v1/grains").bearer(&self.token);
                let ask = match key {
                    Some(key) => ask.header("idempotency-key", &format!("k{key}")),
                    None => ask,
                };
                ask.send(grain.to_string())
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
            Request::Query { limit, is_paged } => return self.query(&json!(limit), *is_paged),
            Request::Tool { what, of, text } => self.call(at, *what, &address(*of), *text),
            Request::Growth | Request::Report { .. } | Request::Erase { .. } => {
                self.send_of_person(request)
            }
            Request::File { what, text } => self.file(*what, *text),
            Request::Cal {
                what,
                of,
                text,
                is_tool,
            } => {
                let asked = json!({ "cal": statement(*what, &address(*of), *text) });
                match is_tool {
                    true => self.tool("cal", &asked),
                    false => post("/v1/cal", asked),
                }
            }
            Request::Whole { what } => self.send_of_whole(*what, &address(0)),
            Request::Search { .. }
            | Request::Recall { .. }
            | Request::Export { .. }
            | Request::Import { .. }
            | Request::Bundle { .. } => self.send_file(at, request),
            _ => self.send_special(at, request, &address),
        }]
    }

    /// Asks for a page, and for the one behind it.
    fn query(&self, limit: &Value, is_paged: bool) -> Vec<Told> {
        let post = |body: Value| self.server.post(&self.token, "/v1/query", &body);
        let first = post(json!({ "limit": limit }));
        let cursor = first.json()["next_cursor"].clone();
        if !is_paged || cursor.is_null() {
            return vec![first];
        }
        let next = post(json!({ "limit": limit, "cursor": cursor }));
        vec![first, next]
    }

    /// Stores what the rules of others, or of consents and delegations, may refuse.
    fn send_special(&self, at: usize, request: &Request, address: &dyn Fn(u8) -> String) -> Told {
        let grain = |text: u8| grain(at, text);
        let post = |path: &str, body: Value| self.server.post(&self.token, path, &body);
        match request {
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
            Request::Consent { withdraws } => {
                post("/v1/grains", self.consent(withdraws.map(address)))
            }
            Request::Rest { on, text } => {
                let mut grain = grain(*text);
                grain["processing_basis"] = json!(address(*on));
                post("/v1/grains", grain)
            }
            Request::Delegate { to, is_wide } => {
                let to = usize::from(*to) % USERS.len();
                post("/v1/grains", self.delegation(&actor(to), *is_wide))
            }
            _ => post("/v1/query", json!({})),
        }
    }

    /// Asks for what only a token of the whole store sees, and for the token itself.
    fn send_of_whole(&self, what: u8, address: &str) -> Told {
        let post = |path: &str, body: Value| self.server.post(&self.token, path, &body);
        match what {
            0 => post("/v1/audit", json!({})),
            1 => self.server.get(&self.token, "/v1/conflicts"),
            2 => post("/v1/conflicts/settle", json!({ "keep": address })),
            3 => self.server.get(&self.token, "/metrics"),
            4 => post(
                "/v1/persons/alias",
                json!({ "user": self.user, "other": USERS[0] }),
            ),
            5 => {
                let change = format!("SUPERSEDE sha256:{address} SET object = \"x\" REASON \"y\"");
                let mut told = post("/v1/cal/prepare", json!({ "cal": change }));
                // A token is new each time.
                if told.status == 200 {
                    told.body = told.json()["plan"].to_string().into();
                }
                told
            }
            6 => post("/v1/cal/execute", json!({ "token": address })),
            7 => post("/v1/cal/cancel", json!({ "assembly_id": address })),
            8 => post("/v1/groups", json!({ "by": "session_id" })),
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
                json!({ "question": QUERIES[usize::from(text)], "limit": 100, "max_tokens": 20_000 }),
            ),
            3 => ("query", json!({ "limit": 2, "max_tokens": 20_000 })),
            4 => ("remember", json!({ "grain": linked })),
            5 => ("remember", json!({ "grain": foreign })),
            6 => ("report", json!({ "user": other })),
            7 => ("report", json!({ "user": self.user, "max_tokens": 20_000 })),
            8 => ("recall", json!({ "question": QUERIES[usize::from(text)] })),
            9 => ("history", json!({ "address": address })),
            10 => (
                "correct",
                json!({ "address": address, "text": WORDS[usize::from(text)] }),
            ),
            11 => {
                let time = "2026-01-15T10:00:00Z";
                let said =
                    json!({ "role": "user", "content": WORDS[usize::from(text)], "time": time });
                (
                    "import_conversation",
                    json!({ "messages": [said], "session": "s2" }),
                )
            }
            12 => return self.resource(address),
            _ => ("forget", json!({ "address": address, "confirm": true })),
        };
        self.tool(name, &arguments)
    }

    /// Calls a tool; the answer is its structured content, or its error.
    fn tool(&self, name: &str, arguments: &Value) -> Told {
        let result = self.server.tool(&self.token, name, arguments);
        let mut told = self.server.ask("GET", "/healthz").send("").expect(200);
        let answer = match result["isError"] == true {
            true => &result["_meta"],
            false => &result["structuredContent"],
        };
        told.body = answer.to_string().into();
        told
    }

    /// Reads a grain as a resource of MCP.
    fn resource(&self, address: &str) -> Told {
        let uri = json!({ "uri": format!("grain://{address}") });
        let told = self.server.mcp(&self.token, "resources/read", uri);
        let mut told = Told {
            status: 200,
            ..told
        };
        let message = crate::mcp::message(&told);
        told.body = json!([message["result"]["contents"], message["error"]["code"]])
            .to_string()
            .into();
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
            4 => {
                json!({ "command": "str_replace", "path": path, "old_str": "tea", "new_str": text })
            }
            5 => {
                json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": text })
            }
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
                    "question": text, "limit": 1_000, "with_snippets": true, "with_explanation": true,
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
            Request::Import { text, what } => {
                let body = self.record(at, *text, *what).to_string();
                self.import("jsonl", body)
            }
            Request::Bundle { urn, text } => {
                let bundle = crate::aimem::bundle(self.user, *urn, WORDS[usize::from(*text)]);
                let ask = self.server.ask("POST", "/v1/brain/import");
                ask.bearer(&self.token).send(bundle)
            }
            _ => post("/v1/query", json!({})),
        }
    }

    pub(super) fn import(&self, format: &str, body: impl Into<axum::body::Body>) -> Told {
        let path = format!("/v1/import?format={format}");
        let ask = self.server.ask("POST", &path);
        ask.bearer(&self.token).send(body)
    }

    /// A record of a file: without an author, of the actor, of another, or of a kind that is not for all.
    pub(super) fn record(&self, at: usize, text: u8, what: u8) -> Value {
        let mut grain = match what {
            3 => self.consent(None),
            4 => self.delegation(&actor((self.n + 1) % USERS.len()), true),
            _ => grain(at, text),
        };
        match what {
            1 => grain["author_did"] = json!(actor(self.n)),
            2 => grain["author_did"] = json!(actor((self.n + 1) % USERS.len())),
            5 => grain["structural_tags"] = json!(["phi:rx"]),
            _ => {}
        }
        grain["user_id"] = json!(self.user);
        grain["namespace"] = json!(self.namespace.unwrap_or("people"));
        grain
    }

    /// A consent of the actor as a person, or its withdrawal.
    fn consent(&self, withdraws: Option<String>) -> Value {
        let mut consent = json!({
            "type": "consent", "subject_did": actor(self.n), "grantee_did": actor(self.n),
            "author_did": actor(self.n), "scope": ["store", "retrieve"], "is_withdrawal": false,
            "created_at": 1_768_471_200_000_i64,
        });
        if let Some(consented) = withdraws {
            consent["is_withdrawal"] = json!(true);
            consent["prior_consent"] = json!(consented);
        }
        consent
    }

    /// A delegation to another actor, inside the namespace or wherever the actor itself may write.
    fn delegation(&self, to: &str, is_wide: bool) -> Value {
        let mut delegation = json!({
            "type": "goal", "description": "work together", "goal_state": "active",
            "subject": actor(self.n), "relation": "mg:delegates_to", "object": to,
            "author_did": actor(self.n), "delegation_depth": 0,
            "created_at": 1_768_471_200_000_i64,
        });
        if !is_wide {
            delegation["authorized_namespaces"] = json!([self.namespace.unwrap_or("people")]);
        }
        delegation
    }
}

pub(super) fn actor(n: usize) -> String {
    format!("did:web:bot{n}.acme.example")
}
