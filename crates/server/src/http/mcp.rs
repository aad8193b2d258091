//! MCP over streamable HTTP, at `/mcp`.
//!
//! Each token has a server and sessions of its own, so that no token goes on with a session of
//! another. A token that is revoked is let in nowhere, and its sessions end with the next new token.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, Response, header};
use grainstore::ErrorCode;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::answer;
use super::app::App;
use super::failure::Failure;
use super::load::Caller;
use super::oauth;
use super::telemetry;
use super::token::{Holder, Operation};
use super::token_scope::TokenScope;
use crate::Scope;
use crate::mcp::{Server, SharedThreads};

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";

/// The servers of the tokens that speak MCP.
#[derive(Default)]
pub(crate) struct Agents {
    served: Mutex<HashMap<String, Served>>,
    end: CancellationToken,
}

#[derive(Clone)]
struct Served {
    holder: Arc<Holder>,
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    end: CancellationToken,
}

impl Agents {
    /// Ends every session.
    pub(crate) fn end(&self) {
        self.end.cancel();
    }
}

impl App {
    /// Answers a request to the endpoint, counts it and logs it.
    pub(super) async fn agent(self: Arc<Self>, request: Request) -> Response<Body> {
        let began = Instant::now();
        let method = match *request.method() {
            Method::GET => "GET",
            Method::DELETE => "DELETE",
            _ => "POST",
        };
        let context = self.context(request.headers());
        let mut id = None;
        let answered = Arc::clone(&self).agent_admitted(request, &mut id).await;
        let (response, code) = match answered {
            Ok(response) => (response, None),
            Err(failure) => {
                let response = oauth::challenge(&self, answer::failed(&failure));
                (response, Some(failure.code))
            }
        };
        let answered = telemetry::Request {
            method,
            route: PATH,
            status: response.status().as_u16(),
            code,
            token: id,
            took: began.elapsed(),
        };
        self.note(answered, context);
        response
    }

    async fn agent_admitted(
        self: Arc<Self>,
        request: Request,
        id: &mut Option<String>,
    ) -> Result<Response<Body>, Failure> {
        if self.is_closing() {
            let message = "the server is shutting down";
            return Err(Failure::busy(503, "ERR_CLOSING", message));
        }
        // The protocol: servers validate the origin, so that no page of another host speaks through a
        // browser, and the host, which a name that was bound anew does not change.
        self.sites.admit(request.headers())?;
        let holder = self.authenticate(&request)?;
        *id = Some(holder.id.clone());
        // Resources and the answers of the tools that write show grains.
        if !holder.grant.operations.contains(&Operation::Read) {
            let message = "the token does not permit the operation read";
            return Err(Failure::of(ErrorCode::AccessDenied, message));
        }
        // A stream stays open while nothing happens; a request is under way until it is answered.
        let is_stream = request.method() == Method::GET;
        let places = if is_stream {
            &self.feeds
        } else {
            &self.requests
        };
        let place = places.try_take(&Caller::of(&holder))?;
        let served = Self::served(&self, &holder)?;
        let begins = !is_stream && !request.headers().contains_key("mcp-session-id");
        if begins && served.sessions.sessions.read().await.len() >= SESSIONS_OF_TOKEN_MAX {
            return Err(Failure::busy(429, "ERR_BUSY", "too many sessions"));
        }
        let answered = tokio::time::timeout(self.limits.time, served.service.handle(request));
        let late = |_| Failure::busy(408, "ERR_TIMEOUT", "the request took too long");
        let (mut parts, body) = answered.await.map_err(late)?.into_parts();
        let headers = &mut parts.headers;
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let nosniff = HeaderName::from_static("x-content-type-options");
        headers.insert(nosniff, HeaderValue::from_static("nosniff"));
        let body = Body::new(body);
        // The request counts until its answer has ended.
        Ok(Response::from_parts(parts, answer::held(body, place)))
    }

    /// Returns the server of a token.
    fn served(app: &Arc<Self>, holder: &Arc<Holder>) -> Result<Served, Failure> {
        let agents = app.agents();
        let mut served = agents.served.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = served.get(&holder.id)
            && Arc::ptr_eq(&known.holder, holder)
        {
            return Ok(known.clone());
        }
        // The file of the tokens was read again: some are revoked, some are what they were.
        served.retain(|_, known| {
            let is_in_force = app.is_in_force(&known.holder);
            if !is_in_force {
                known.end.cancel();
            }
            is_in_force
        });
        if let Some(known) = served.get_mut(&holder.id) {
            known.holder = Arc::clone(holder);
            return Ok(known.clone());
        }
        let scope = TokenScope::new(app.store(), Arc::clone(holder), app.position_key()?)?;
        let threads = SharedThreads {
            places: app.threads.clone(),
            caller: Caller::of(holder),
            patience: app.limits.waiting_time,
        };
        let server = Server::new(Scope::of_token(scope, app.cal().cloned())?).sharing(threads);
        let sessions = Arc::new(LocalSessionManager::default());
        let end = agents.end.child_token();
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(end.clone())
            .with_max_request_body_bytes(app.limits.body_bytes)
            // Host and origin were looked at.
            .disable_allowed_hosts();
        let service =
            StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
        let new = Served {
            holder: Arc::clone(holder),
            service,
            sessions,
            end,
        };
        served.insert(holder.id.clone(), new.clone());
        tokio::spawn(patrol(
            Arc::downgrade(app),
            Arc::clone(holder),
            new.end.clone(),
        ));
        Ok(new)
    }
}

/// Ends the sessions of a token, and the streams that are open, once it is revoked.
async fn patrol(app: Weak<App>, holder: Arc<Holder>, end: CancellationToken) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(PATROL) => {}
            () = end.cancelled() => return,
        }
        let Some(app) = app.upgrade() else { return };
        if !app.is_in_force(&holder) {
            end.cancel();
            let mut served = app
                .agents()
                .served
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            served.retain(|_, known| !known.end.is_cancelled());
            return;
        }
    }
}

const PATROL: Duration = Duration::from_secs(1);

/// A session that is idle for five minutes has ended.
const SESSIONS_OF_TOKEN_MAX: usize = 64;
