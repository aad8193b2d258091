//! What the server announces to clients, its routes, and which pages of other origins may ask.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::{authorize, tokens};
use crate::http::answer;
use crate::http::app::App;
use crate::http::failure::Failure;
use crate::http::token::Operation;

/// Returns the routes of the authorization server.
pub(in crate::http) fn router() -> Router<Arc<App>> {
    let resource = |State(app): State<Arc<App>>| async move { answer::json(200, &resource(&app)) };
    let server = |State(app): State<Arc<App>>| async move { answer::json(200, &server(&app)) };
    Router::new()
        .route("/.well-known/oauth-protected-resource", get(resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server", get(server))
        .route("/oauth/register", post(tokens::register))
        .route(
            "/oauth/authorize",
            get(authorize::ask).post(authorize::answer),
        )
        .route("/oauth/token", post(tokens::token))
}

/// RFC 9728, 2.
fn resource(app: &App) -> Value {
    let site = app.sites.named();
    json!({
        "resource": format!("{site}/mcp"),
        "authorization_servers": [site],
        "scopes_supported": Operation::ALL.map(Operation::name),
        "bearer_methods_supported": ["header"],
        "resource_name": "grainstore",
    })
}

/// RFC 8414, 2.
fn server(app: &App) -> Value {
    let site = app.sites.named();
    json!({
        "issuer": site,
        "authorization_endpoint": format!("{site}/oauth/authorize"),
        "token_endpoint": format!("{site}/oauth/token"),
        "registration_endpoint": format!("{site}/oauth/register"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": Operation::ALL.map(Operation::name),
        "authorization_response_iss_parameter_supported": true,
    })
}

/// Tells a caller without a token where one is to be had (RFC 9728, 5.1).
pub(in crate::http) fn challenge(app: &App, mut response: Response<Body>) -> Response<Body> {
    if app.codes.is_some() && response.status() == StatusCode::UNAUTHORIZED {
        let site = app.sites.named();
        let at = format!("{site}/.well-known/oauth-protected-resource/mcp");
        if let Ok(value) = HeaderValue::from_str(&format!("Bearer resource_metadata=\"{at}\"")) {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, value);
        }
    }
    response
}

/// Lets the pages that the operator names ask from another origin; the others get what a program gets,
/// which a browser keeps from them.
pub(in crate::http) async fn with_cors(
    State(app): State<Arc<App>>,
    request: Request,
    next: axum::middleware::Next,
) -> Response<Body> {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let origin = origin.filter(|origin| app.sites.admit_page(origin));
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match (&origin, is_preflight) {
        (Some(_), true) => {
            let mut response = answer::plain(204, "text/plain", String::new());
            preflight(response.headers_mut());
            response
        }
        (None, true) => {
            let message = "pages of this origin may not ask: --allow-origin";
            answer::failed(&Failure::new(403, "ERR_ORIGIN", message))
        }
        (_, false) => next.run(request).await,
    };
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let shown = HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
    }
    response
}

fn preflight(headers: &mut HeaderMap) {
    let told: [(HeaderName, &'static str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, last-event-id, mcp-method, mcp-name, \
             mcp-protocol-version, mcp-session-id",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in told {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
