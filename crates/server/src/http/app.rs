//! A store, its tokens and its limits, as HTTP sees them; and the router over the table of routes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::routing::{MethodFilter, on};
use grainstore::Store;
use grainstore::crypto::SigningKey;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::TokenError;
use super::answer;
use super::failure::Failure;
use super::idempotency::Answered;
use super::mcp::{self, Agents};
use super::route::ROUTES;
use super::telemetry::{Metrics, Traces};
use super::token::{Holder, TokenFile, Tokens};
use super::ui;

/// How much a server takes at a time.
///
/// ```
/// use grainstore_server::http::Limits;
///
/// assert!(Limits::default().body_bytes < Limits::default().file_bytes);
/// ```
#[derive(Debug, Clone)]
pub struct Limits {
    /// The longest JSON body, in bytes.
    pub body_bytes: usize,
    /// The longest file that is imported, in bytes.
    pub file_bytes: usize,
    /// The longest time from the head of a request to the head of its answer.
    pub time: Duration,
    /// The longest time that a client may take for the head of a request.
    pub head_time: Duration,
    /// How long open requests may go on after a signal to end.
    pub closing_time: Duration,
    /// Requests that are under way at a time.
    pub requests: usize,
    /// Those of one token.
    pub requests_of_token: usize,
    /// Imports and exports at a time.
    pub bulk: usize,
    /// Followers of changes at a time.
    pub feeds: usize,
    /// Calls of the library at a time.
    pub threads: usize,
    /// Open connections.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 2 << 20,
            file_bytes: 64 << 20,
            time: Duration::from_secs(30),
            head_time: Duration::from_secs(10),
            closing_time: Duration::from_secs(10),
            requests: 256,
            requests_of_token: 64,
            bulk: 4,
            feeds: 256,
            threads: 16,
            connections: 16_384,
        }
    }
}

/// A store with its tokens, as HTTP sees it.
///
/// ```no_run
/// use grainstore::{Options, Store};
/// use grainstore_server::http::{App, Limits, Serving, TokenFile, serve};
///
/// let store = Store::open("memory.grains", Options::default())?;
/// let tokens = TokenFile::beside("memory.grains".as_ref());
/// let app = App::new(store, tokens, Limits::default(), |line| eprintln!("{line}"));
/// serve(app, Serving::on("127.0.0.1:7471".parse()?, false)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct App {
    store: Store,
    tokens: Tokens,
    signing_key: Option<SigningKey>,
    pub(super) limits: Limits,
    pub(super) log: Box<dyn Fn(&str) + Send + Sync>,
    pub(super) metrics: Metrics,
    pub(super) traces: Option<Traces>,
    pub(super) answered: Answered,
    pub(super) requests: Arc<Semaphore>,
    pub(super) bulk: Arc<Semaphore>,
    pub(super) feeds: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    /// The requests of each token that are under way.
    pub(super) of_token: Mutex<HashMap<String, usize>>,
    is_closing: watch::Sender<bool>,
    agents: Agents,
    with_ui: bool,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Joins a store, which is its owner's handle, and a token file. `log` takes one line of JSON for
    /// each request, without content.
    pub fn new(
        store: Store,
        tokens: TokenFile,
        limits: Limits,
        log: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        Self {
            store,
            answered: Answered::beside(tokens.path()),
            tokens: Tokens::of(tokens),
            signing_key: None,
            requests: semaphore(limits.requests),
            bulk: semaphore(limits.bulk),
            feeds: semaphore(limits.feeds),
            threads: semaphore(limits.threads),
            limits,
            log: Box::new(log),
            metrics: Metrics::default(),
            traces: None,
            of_token: Mutex::default(),
            is_closing: watch::Sender::new(false),
            agents: Agents::default(),
            with_ui: false,
        }
    }

    /// Signs AIMEM bundles with a key.
    #[must_use]
    pub fn signing_with(mut self, key: SigningKey) -> Self {
        self.signing_key = Some(key);
        self
    }

    /// Sends a span of each request to a collector.
    #[must_use]
    pub fn with_traces(mut self, traces: Traces) -> Self {
        self.traces = Some(traces);
        self
    }

    /// Serves the inspector at `/ui/`: a page to look at the store, for those who have a token.
    #[must_use]
    pub const fn with_inspector(mut self) -> Self {
        self.with_ui = true;
        self
    }

    /// Returns the routes as a service.
    pub fn router(self: &Arc<Self>) -> Router {
        let mut router = Router::new();
        for route in ROUTES {
            let method = match route.method {
                "GET" => MethodFilter::GET,
                _ => MethodFilter::POST,
            };
            let handle = move |State(app): State<Arc<Self>>, params, request: Request| async move {
                app.respond(route, params, request).await
            };
            router = router.route(route.path, on(method, handle));
        }
        let agent = |State(app): State<Arc<Self>>, request: Request| async move {
            app.agent(request).await
        };
        let methods = MethodFilter::GET
            .or(MethodFilter::POST)
            .or(MethodFilter::DELETE);
        router = router.route(mcp::PATH, on(methods, agent));
        if self.with_ui {
            router = router.merge(ui::router());
        }
        let missing = || async {
            answer::failed(&Failure::new(
                404,
                "ERR_NO_ROUTE",
                "there is nothing at this path",
            ))
        };
        let wrong = || async {
            let message = "the path does not take this method";
            answer::failed(&Failure::new(405, "ERR_METHOD", message))
        };
        router
            .fallback(missing)
            .method_not_allowed_fallback(wrong)
            .with_state(Arc::clone(self))
    }

    pub(super) const fn store(&self) -> &Store {
        &self.store
    }

    pub(super) const fn signing_key(&self) -> Option<&SigningKey> {
        self.signing_key.as_ref()
    }

    pub(super) fn is_closing(&self) -> bool {
        *self.is_closing.borrow()
    }

    /// Lets no more work begin; streams and sessions end.
    pub(super) fn close(&self) {
        self.is_closing.send_replace(true);
        self.agents.end();
    }

    pub(super) const fn agents(&self) -> &Agents {
        &self.agents
    }

    pub(super) fn shared_threads(&self) -> Arc<Semaphore> {
        Arc::clone(&self.threads)
    }

    pub(super) fn closing(&self) -> watch::Receiver<bool> {
        self.is_closing.subscribe()
    }

    pub(super) fn is_in_force(&self, holder: &Holder) -> bool {
        self.tokens.is_in_force(holder)
    }

    pub(super) fn render_metrics(&self) -> String {
        let free = self.requests.available_permits();
        self.metrics
            .render(self.limits.requests.saturating_sub(free))
    }

    /// Waits for the right to call the library.
    pub(super) async fn thread(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let permit = Arc::clone(&self.threads).acquire_owned().await;
        permit.map_err(|_| Failure::busy(503, "ERR_CLOSING", "the server is shutting down"))
    }

    /// Returns the holder of the token that a request brings.
    ///
    /// # Errors
    /// Status 401; 503 while the tokens cannot be read.
    pub(super) fn authenticate(&self, request: &Request) -> Result<Arc<Holder>, Failure> {
        let unknown = || Failure::new(401, "ERR_UNAUTHENTICATED", "a bearer token is needed");
        let mut headers = request.headers().get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (headers.next(), headers.next()) else {
            return Err(unknown());
        };
        let text = value.to_str().map_err(|_| unknown())?;
        let (scheme, token) = text.split_once(' ').ok_or_else(unknown)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(unknown());
        }
        let holder = self
            .tokens
            .holder(token.trim())
            .map_err(|error| self.unreadable(&error))?;
        holder.ok_or_else(unknown)
    }

    pub(super) fn position_key(&self) -> Result<[u8; 32], Failure> {
        self.tokens
            .position_key()
            .map_err(|error| self.unreadable(&error))
    }

    /// Tokens that cannot be read let no caller in; the operator reads why.
    fn unreadable(&self, error: &TokenError) -> Failure {
        (self.log)(&json!({ "level": "error", "tokens": error.to_string() }).to_string());
        Failure::busy(503, "ERR_TOKENS", "the tokens cannot be read")
    }
}
