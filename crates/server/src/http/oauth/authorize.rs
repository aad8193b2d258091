//! Letting a client in: the page, and what the person answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, Response, StatusCode, Uri, header};
use grainstore::store::{Clock, SystemClock};

use super::client::Client;
use super::page::{self, Question};
use super::tokens::Code;
use crate::http::answer::plain;
use crate::http::app::App;
use crate::http::token::Operation;

/// The parameters of a request (OAuth 2.1, 4.1.1).
pub(super) type Params = BTreeMap<String, String>;

/// Asks the person.
pub(super) async fn ask(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default();
    match params(query).ok_or("the query is malformed") {
        Ok(params) => match admitted(&app, &params) {
            Ok(client) => shown(&client, &params, None),
            Err(refused) => *refused,
        },
        Err(why) => page::refusal(why),
    }
}

/// Takes the answer of the person.
pub(super) async fn answer(State(app): State<Arc<App>>, request: Request) -> Response<Body> {
    // A page of another host must not answer for the person.
    if request.headers().get(header::ORIGIN).is_none()
        || app.sites.admit(request.headers()).is_err()
    {
        return page::refusal("the answer came from the page of another host");
    }
    let body = to_bytes(request.into_body(), BODY_LEN_MAX).await;
    let text = body
        .ok()
        .and_then(|body| String::from_utf8(body.to_vec()).ok());
    let Some(params) = text.as_deref().and_then(params) else {
        return page::refusal("the answer is malformed");
    };
    let client = match admitted(&app, &params) {
        Ok(client) => client,
        Err(refused) => return *refused,
    };
    if params.get("answer").is_none_or(|answer| answer != "allow") {
        return back(&app, &params, &[("error", "access_denied")]);
    }
    let token = params
        .get("token")
        .map(|token| token.trim())
        .unwrap_or_default();
    let Some(holder) = app.holder(token).filter(|holder| !holder.is_delegated()) else {
        return shown(
            &client,
            &params,
            Some("No token of `grainstore token add` is that."),
        );
    };
    let mut grant = holder.grant.clone();
    if let Some(scope) = params.get("scope").filter(|scope| !scope.trim().is_empty()) {
        let asked: Vec<_> = scope
            .split_whitespace()
            .filter_map(Operation::named)
            .collect();
        grant
            .operations
            .retain(|operation| asked.contains(operation));
    }
    if grant.operations.is_empty() {
        return back(&app, &params, &[("error", "invalid_scope")]);
    }
    let field = |name: &str| params.get(name).cloned().unwrap_or_default();
    let code = app.codes.as_ref().and_then(|codes| {
        codes.issue(Code {
            parent: holder.id.clone(),
            grant,
            client_id: field("client_id"),
            client_name: client.name,
            redirect_uri: field("redirect_uri"),
            challenge: field("code_challenge"),
            issued: SystemClock.now(),
        })
    });
    match code {
        Some(code) => back(&app, &params, &[("code", &code)]),
        None => back(&app, &params, &[("error", "temporarily_unavailable")]),
    }
}

/// Returns the client of a request. A request with an unknown client or address is answered with a page
/// and no redirection.
fn admitted(app: &App, params: &Params) -> Result<Client, Box<Response<Body>>> {
    let refused = |why: &str| Box::new(page::refusal(why));
    let key = app.position_key();
    let key = key.map_err(|_| refused("the tokens of this store cannot be read"))?;
    let id = params.get("client_id").map_or("", |id| id);
    let client = Client::of(&key, id);
    let client = client.ok_or_else(|| refused("the client has not registered here"))?;
    let uri = params.get("redirect_uri").map_or("", |uri| uri);
    if !client.redirects_to(uri) {
        return Err(refused(
            "the client did not register the address to return to",
        ));
    }
    let told = |error: &str| Err(Box::new(back(app, params, &[("error", error)])));
    let has = |name: &str, value: &str| params.get(name).is_some_and(|it| it == value);
    if !has("response_type", "code") {
        return told("unsupported_response_type");
    }
    let challenge = params.get("code_challenge").map_or("", |it| it);
    // PKCE is not an option (OAuth 2.1, 7.5.1).
    if !has("code_challenge_method", "S256") || challenge.len() != 43 {
        return told("invalid_request");
    }
    let site = app.sites.named();
    let is_ours = |resource: &String| *resource == site || *resource == format!("{site}/mcp");
    if !params.get("resource").is_none_or(is_ours) {
        return told("invalid_target");
    }
    Ok(client)
}

fn shown(client: &Client, params: &Params, error: Option<&str>) -> Response<Body> {
    let kept = ["answer", "token"];
    let fields = params
        .iter()
        .filter(|(name, _)| !kept.contains(&name.as_str()));
    let fields: Vec<_> = fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    page::question(&Question {
        client: &client.name,
        redirect_uri: params.get("redirect_uri").map_or("", |uri| uri),
        fields: &fields,
        error,
    })
}

/// Sends the person back to the client.
fn back(app: &App, params: &Params, told: &[(&str, &str)]) -> Response<Body> {
    let mut uri = params.get("redirect_uri").cloned().unwrap_or_default();
    let site = app.sites.named();
    let state = params.get("state").map(|state| ("state", state.as_str()));
    let all = told
        .iter()
        .copied()
        .chain(state)
        .chain([("iss", site.as_str())]);
    for (name, value) in all {
        uri.push(if uri.contains('?') { '&' } else { '?' });
        uri.push_str(&format!("{name}={}", encoded(value)));
    }
    let mut response = plain(200, "text/plain", String::new());
    // 303: the answer of the person is sent to no one else.
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(uri) = HeaderValue::from_str(&uri) {
        response.headers_mut().insert(header::LOCATION, uri);
    }
    response
}

fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    bytes.collect()
}

/// Reads the form of a query, each of whose names occurs once.
pub(super) fn params(form: &str) -> Option<Params> {
    let uri: Uri = format!("/?{form}").parse().ok()?;
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&uri).ok()?;
    let count = pairs.len();
    let params: Params = pairs.into_iter().collect();
    (params.len() == count).then_some(params)
}

pub(super) const BODY_LEN_MAX: usize = 16 << 10;
