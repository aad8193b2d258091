//! OAuth for the MCP endpoint: what is announced, how a person lets a client in, and what a client gets.

use std::sync::Arc;

use axum::body::Body;
use data_encoding::BASE64URL_NOPAD;
use grainstore_server::http::{App, Grant, Limits, Operation};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{ACTOR, Server, Told, event};

const SITE: &str = "https://memory.acme.example";
const BACK: &str = "https://agent.example/back";
const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more";

struct Oauth {
    server: Server,
    app: Arc<App>,
    /// The token of the person.
    token: String,
    client: String,
}

impl Oauth {
    fn new() -> Self {
        let server = Server::new();
        let token = server.token(Grant::new(ACTOR, [Operation::Read, Operation::Write]));
        let (store, tokens) = (server.store.clone(), server.tokens.clone());
        let app = App::new(store, tokens, Limits::default(), |_| {});
        let app = app.at(SITE.parse().unwrap()).with_oauth();
        let app = Arc::new(app.for_pages_of("https://app.example".parse().unwrap()));
        let registration = json!({ "client_name": "<b>An agent", "redirect_uris": [BACK] });
        let ask = server.ask("POST", "/oauth/register");
        let told = ask.send_to(&app, registration.to_string()).expect(201);
        let client = told.json()["client_id"].as_str().unwrap().to_owned();
        Self {
            server,
            app,
            token,
            client,
        }
    }

    fn get(&self, path: &str) -> Told {
        self.server
            .ask("GET", path)
            .send_to(&self.app, Body::empty())
    }

    fn form(&self, path: &str, origin: &str, fields: &[(&str, &str)]) -> Told {
        let ask = self.server.ask("POST", path).header("origin", origin);
        let ask = ask.header("host", "memory.acme.example");
        ask.send_to(&self.app, form(fields))
    }

    fn request<'a>(&'a self, challenge: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", BACK),
            ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
            ("state", "a state"),
            ("resource", "https://memory.acme.example/mcp"),
        ]
    }

    /// Lets the client in, and returns the code.
    fn code(&self) -> String {
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(VERIFIER));
        let mut fields = self.request(&challenge);
        fields.extend([("answer", "allow"), ("token", &self.token)]);
        let told = self.form("/oauth/authorize", SITE, &fields).expect(303);
        let at = told.headers["location"].to_str().unwrap().to_owned();
        let query = at.strip_prefix(&format!("{BACK}?")).unwrap().to_owned();
        assert!(query.contains("state=a%20state"), "{query}");
        assert!(
            query.contains("iss=https%3A%2F%2Fmemory.acme.example"),
            "{query}"
        );
        let code = query.split('&').find_map(|pair| pair.strip_prefix("code="));
        code.unwrap().to_owned()
    }

    fn exchange(&self, code: &str, verifier: &str) -> Told {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &self.client),
            ("redirect_uri", BACK),
            ("code_verifier", verifier),
        ];
        self.form("/oauth/token", SITE, &fields)
    }

    fn renew(&self, refresh: &str) -> Told {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh),
            ("client_id", &self.client),
        ];
        self.form("/oauth/token", SITE, &fields)
    }

    fn put(&self, token: &str) -> u16 {
        let ask = self.server.ask("POST", "/v1/grains").bearer(token);
        ask.send_to(&self.app, event("hello").to_string()).status
    }
}

fn form(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        let bytes = text.bytes().map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        });
        bytes.collect()
    };
    let pairs = fields.iter();
    let pairs: Vec<_> = pairs
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    pairs.join("&")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn a_client_without_a_token_finds_where_one_is_to_be_had() {
    let oauth = Oauth::new();
    let ask = oauth.server.ask("POST", "/mcp");
    let told = ask.send_to(&oauth.app, "{}").expect(401);
    let challenge = told.headers["www-authenticate"].to_str().unwrap();
    let at = "/.well-known/oauth-protected-resource/mcp";
    assert_eq!(
        challenge,
        format!("Bearer resource_metadata=\"{SITE}{at}\"")
    );
    let resource = oauth.get(at).expect(200).json();
    assert_eq!(resource["resource"], format!("{SITE}/mcp"));
    assert_eq!(resource["authorization_servers"], json!([SITE]));
    let server = oauth
        .get("/.well-known/oauth-authorization-server")
        .expect(200)
        .json();
    assert_eq!(server["issuer"], SITE);
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    // Without it nothing of the kind is there.
    let told = oauth.server.ask("GET", at).send(Body::empty());
    told.expect(404);
}

#[test]
fn a_client_that_a_person_lets_in_gets_a_token_of_its_own_that_ends_with_theirs() {
    let oauth = Oauth::new();
    let told = oauth.exchange(&oauth.code(), VERIFIER).expect(200).json();
    let (access, refresh) = (text(&told["access_token"]), text(&told["refresh_token"]));
    assert_eq!(told["scope"], "read write");
    assert_ne!(access, oauth.token);
    assert_eq!(oauth.put(&access), 200);
    let renewed = oauth.renew(&refresh).expect(200).json();
    assert_eq!(oauth.put(&text(&renewed["access_token"])), 200);
    // The one before is none any more.
    assert_eq!(oauth.put(&access), 401);
    let id = oauth.server.tokens.list().unwrap()[0].id.clone();
    assert!(oauth.server.tokens.revoke(&id).unwrap());
    assert_eq!(oauth.put(&text(&renewed["access_token"])), 401);
    oauth.renew(&text(&renewed["refresh_token"])).expect(400);
}

#[test]
fn a_code_is_good_once_for_who_proves_that_it_asked() {
    let oauth = Oauth::new();
    let code = oauth.code();
    oauth
        .exchange(&code, "another-verifier-of-forty-three-characters-")
        .expect(400);
    oauth.exchange(&code, VERIFIER).expect(400);
    let code = oauth.code();
    oauth.exchange(&code, VERIFIER).expect(200);
    oauth.exchange(&code, VERIFIER).expect(400);
}

#[test]
fn a_refresh_token_that_was_spent_ends_the_token() {
    let oauth = Oauth::new();
    let told = oauth.exchange(&oauth.code(), VERIFIER).expect(200).json();
    let first = text(&told["refresh_token"]);
    let renewed = oauth.renew(&first).expect(200).json();
    oauth.renew(&first).expect(400);
    assert_eq!(oauth.put(&text(&renewed["access_token"])), 401);
    oauth.renew(&text(&renewed["refresh_token"])).expect(400);
}

#[test]
fn nobody_but_the_person_on_the_page_of_the_server_lets_a_client_in() {
    let oauth = Oauth::new();
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(VERIFIER));
    let allow = |origin: &str, token: &str| {
        let mut fields = oauth.request(&challenge);
        fields.extend([("answer", "allow"), ("token", token)]);
        oauth.form("/oauth/authorize", origin, &fields)
    };
    for origin in ["https://evil.example", "null", ""] {
        allow(origin, &oauth.token).expect(400);
    }
    let told = allow(SITE, "gst_000000000000_x").expect(200);
    assert!(told.headers.get("location").is_none());
    // A client lets no other client in.
    let given = oauth.exchange(&oauth.code(), VERIFIER).expect(200).json();
    allow(SITE, &text(&given["access_token"])).expect(200);
    let mut denied = oauth.request(&challenge);
    denied.push(("answer", "deny"));
    let told = oauth.form("/oauth/authorize", SITE, &denied).expect(303);
    assert!(
        told.headers["location"]
            .to_str()
            .unwrap()
            .contains("error=access_denied")
    );
}

#[test]
fn a_request_that_names_another_address_or_no_challenge_is_sent_nowhere_with_a_code() {
    let oauth = Oauth::new();
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(VERIFIER));
    let ask = |name: &str, value: &str| {
        let mut fields = oauth.request(&challenge);
        fields.retain(|(known, _)| *known != name);
        fields.push((name, value));
        oauth.get(&format!("/oauth/authorize?{}", form(&fields)))
    };
    let page = ask("state", "x").expect(200);
    let shown = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(
        shown.contains("&lt;b&gt;An agent") && !shown.contains("<b>An agent"),
        "{shown}"
    );
    assert!(!shown.contains("<script"), "{shown}");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    for (name, value) in [
        ("redirect_uri", "https://evil.example/back"),
        ("client_id", "made up"),
    ] {
        let told = ask(name, value).expect(400);
        assert!(told.headers.get("location").is_none());
    }
    for (name, value, code) in [
        ("code_challenge", "", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"),
        ("resource", "https://other.example/mcp", "invalid_target"),
    ] {
        let told = ask(name, value).expect(303);
        let at = told.headers["location"].to_str().unwrap();
        assert!(
            at.starts_with(BACK) && at.contains(code) && !at.contains("code="),
            "{at}"
        );
    }
}

#[test]
fn pages_that_the_operator_names_ask_from_a_browser_and_others_do_not() {
    let oauth = Oauth::new();
    let preflight = |origin: &str| {
        let ask = oauth.server.ask("OPTIONS", "/mcp").header("origin", origin);
        let ask = ask.header("access-control-request-method", "POST");
        ask.send_to(&oauth.app, Body::empty())
    };
    let told = preflight("https://app.example").expect(204);
    assert_eq!(
        told.headers["access-control-allow-origin"],
        "https://app.example"
    );
    preflight("https://evil.example").expect(403);
}
