//! Registrations, codes, and the tokens that they are changed for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use data_encoding::BASE64URL_NOPAD;
use grainstore::Time;
use grainstore::crypto::{OsRandom, Random};
use grainstore::store::{Clock, SystemClock};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::authorize::{BODY_LEN_MAX, Params, params};
use super::client::Client;
use crate::http::answer;
use crate::http::app::App;
use crate::http::token::{ACCESS_MS, Delegate, Grant, Operation, Pair};

/// What a code stands for, for a minute.
pub(in crate::http) struct Code {
    pub(super) parent: String,
    pub(super) grant: Grant,
    pub(super) client_id: String,
    pub(super) client_name: String,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) issued: Time,
}

/// The codes that were issued and not used.
#[derive(Default)]
pub(in crate::http) struct Codes(Mutex<HashMap<String, Code>>);

impl Codes {
    /// Returns the text of a new code; `None` where too many wait: a person answered each.
    pub(super) fn issue(&self, code: Code) -> Option<String> {
        let mut bytes = [0; 32];
        OsRandom.fill(&mut bytes).ok()?;
        let text = BASE64URL_NOPAD.encode(&bytes);
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = code.issued;
        codes.retain(|_, known| is_good(known, now));
        if codes.len() >= CODES_MAX {
            return None;
        }
        codes.insert(text.clone(), code);
        Some(text)
    }

    /// Returns what a code stands for, once.
    fn take(&self, text: &str, now: Time) -> Option<Code> {
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.remove(text).filter(|code| is_good(code, now))
    }
}

const fn is_good(code: &Code, now: Time) -> bool {
    now.ms().saturating_sub(code.issued.ms()) < CODE_MS
}

/// Registers a client (RFC 7591).
pub(super) async fn register(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let body = to_bytes(request.into_body(), BODY_LEN_MAX).await;
    let body = body
        .ok()
        .and_then(|body| serde_json::from_slice::<Value>(&body).ok());
    let registered = match body.as_ref().map(Client::register) {
        Some(Ok(client)) => client,
        Some(Err(code)) => return refused(code),
        None => return refused("invalid_client_metadata"),
    };
    let key = app.position_key().ok();
    match key.and_then(|key| registered.registered(&key)) {
        Some(told) => answer::json(201, &told),
        None => answer::json(503, &json!({ "error": "temporarily_unavailable" })),
    }
}

/// Changes a code, or a refresh token, for tokens (OAuth 2.1, 4.1.3 and 4.3).
pub(super) async fn token(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let body = to_bytes(request.into_body(), BODY_LEN_MAX).await;
    let text = body
        .ok()
        .and_then(|body| String::from_utf8(body.to_vec()).ok());
    let Some(form) = text.as_deref().and_then(params) else {
        return refused("invalid_request");
    };
    // The file of the tokens is written and synced.
    let changed = tokio::task::spawn_blocking(move || exchanged(&app, &form));
    match changed.await {
        Ok(Ok(pair)) => answer::json(200, &pair_json(&pair)),
        Ok(Err(code)) => refused(code),
        Err(_) => answer::json(500, &json!({ "error": "server_error" })),
    }
}

fn exchanged(app: &App, form: &Params) -> Result<Pair, &'static str> {
    let field = |name: &str| form.get(name).map_or("", String::as_str);
    let now = SystemClock.now();
    let codes = app.codes.as_ref().ok_or("invalid_request")?;
    match field("grant_type") {
        "authorization_code" => {
            let code = codes.take(field("code"), now).ok_or("invalid_grant")?;
            let hash = Sha256::digest(field("code_verifier").as_bytes());
            let is_proven = BASE64URL_NOPAD.encode(&hash) == code.challenge;
            let is_same =
                code.client_id == field("client_id") && code.redirect_uri == field("redirect_uri");
            if !is_proven || !is_same || !app.has_token(&code.parent) {
                return Err("invalid_grant");
            }
            let client = Delegate {
                id: &code.client_id,
                name: &code.client_name,
            };
            let of = (&*code.parent, code.grant);
            let pair = app.token_file().delegate(of, &client, now, &OsRandom);
            pair.map_err(|_| "server_error")
        }
        "refresh_token" => {
            let (text, client) = (field("refresh_token"), field("client_id"));
            let pair = app.token_file().refresh(text, client, now, &OsRandom);
            pair.map_err(|_| "server_error")?.ok_or("invalid_grant")
        }
        _ => Err("unsupported_grant_type"),
    }
}

fn pair_json(pair: &Pair) -> Value {
    let operations = pair.grant.operations.iter();
    let scope: Vec<_> = operations.map(|it| Operation::name(*it)).collect();
    json!({
        "access_token": pair.access,
        "token_type": "Bearer",
        "expires_in": ACCESS_MS / 1_000,
        "refresh_token": pair.refresh,
        "scope": scope.join(" "),
    })
}

fn refused(code: &str) -> Response<Body> {
    answer::json(400, &json!({ "error": code }))
}

const CODES_MAX: usize = 1_024;

const CODE_MS: i64 = 60_000;
