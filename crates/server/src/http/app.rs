//! A store, its tokens and its limits, as HTTP sees them; and the router over the table of routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::routing::{MethodFilter, on};
use grainstore::Store;
use grainstore::crypto::SigningKey;
use grainstore_cal as cal;
use serde_json::json;
use tokio::sync::watch;

use super::TokenError;
use super::answer;
use super::api::feed::News;
use super::failure::Failure;
use super::idempotency::Answered;
use super::load::{Caller, Limits, Place, Places, Streams};
use super::mcp::{self, Agents};
use super::oauth::{self, Codes};
use super::route::ROUTES;
use super::site::{Site, Sites};
use super::telemetry::{Metrics, Traces};
use super::token::{Holder, TokenFile, Tokens};
use super::ui;

/// A store with its tokens, as HTTP sees it.
///
/// ```no_run
/// use grainstore::{Options, Store};
/// use grainstore_server::http::{App, Limits, Serving, TokenFile, serve};
///
/// let store = Store::open("memory.grains", Options::default())?;
/// let tokens = TokenFile::in_store("memory.grains".as_ref());
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
    pub(super) requests: Places,
    pub(super) bulk: Places,
    pub(super) feeds: Places,
    /// Bodies of files, and long ones of documents, which are in memory until they are read.
    pub(super) files: Places,
    pub(super) bodies: Places,
    /// Long answers, which are in memory until they are taken.
    pub(super) answers: Places,
    pub(super) threads: Places,
    is_closing: watch::Sender<bool>,
    agents: Agents,
    news: News,
    with_ui: bool,
    pub(super) sites: Sites,
    /// Assemblies that are being streamed.
    pub(super) streams: Streams,
    /// The host of CAL; `None` where the operator has switched it off.
    cal: Option<Arc<cal::Host>>,
    /// Where clients are let in by OAuth.
    pub(super) codes: Option<Codes>,
    /// Measures the free room on the disk of the store, in bytes.
    disk_free: Option<DiskFree>,
}

type DiskFree = Box<dyn Fn() -> Option<u64> + Send + Sync>;

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
        let of_token = limits.requests_of_token;
        Self {
            store,
            answered: Answered::beside(&tokens),
            tokens: Tokens::of(tokens),
            signing_key: None,
            requests: Places::with_share("requests", limits.requests, of_token),
            bulk: Places::new("files", limits.bulk),
            feeds: Places::new("followers", limits.feeds),
            files: Places::with_share("files", FILES_MAX, FILES_MAX / 4),
            bodies: Places::with_share("long bodies", BODIES_MAX, BODIES_MAX / 4),
            answers: Places::with_share("long answers", ANSWERS_MAX, ANSWERS_MAX / 4),
            threads: Places::new("calls", limits.threads),
            limits,
            log: Box::new(log),
            metrics: Metrics::default(),
            traces: None,
            is_closing: watch::Sender::new(false),
            agents: Agents::default(),
            news: News::default(),
            with_ui: false,
            sites: Sites::default(),
            streams: Streams::default(),
            cal: Some(Arc::default()),
            codes: None,
            disk_free: None,
        }
    }

    /// Takes the way to measure the free room on the disk of the store, in bytes, for `/metrics`.
    #[must_use]
    pub fn measuring_disk(
        mut self,
        free: impl Fn() -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        self.disk_free = Some(Box::new(free));
        self
    }

    /// Returns the free room on the disk of the store, where it is known.
    pub(super) fn disk_free(&self) -> Option<u64> {
        self.disk_free.as_ref()?()
    }

    /// Lets OAuth clients in at the MCP endpoint, once a person has shown a token.
    #[must_use]
    pub fn with_oauth(mut self) -> Self {
        self.codes = Some(Codes::default());
        self
    }

    /// Lets the pages of another origin ask, from a browser.
    #[must_use]
    pub fn for_pages_of(mut self, origin: Site) -> Self {
        self.sites = self.sites.and_page(origin);
        self
    }

    /// Names the address by which clients reach the server, as behind a proxy: `https://HOST`.
    #[must_use]
    pub fn at(mut self, site: Site) -> Self {
        self.sites = Sites::at(site);
        self
    }

    /// Takes any host: for a proxy that passes on requests for its own hosts alone.
    #[must_use]
    pub fn behind_proxy(mut self) -> Self {
        self.sites = self.sites.of_any_host();
        self
    }

    /// Takes the host of CAL: by default one without changes; with `None` no statement is answered.
    #[must_use]
    pub fn with_cal(mut self, host: Option<cal::Host>) -> Self {
        self.cal = host.map(Arc::new);
        self
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
        if self.codes.is_some() {
            router = router.merge(oauth::router());
        }
        let cors = axum::middleware::from_fn_with_state(Arc::clone(self), oauth::with_cors);
        router
            .fallback(missing)
            .method_not_allowed_fallback(wrong)
            .layer(cors)
            .with_state(Arc::clone(self))
    }

    pub(super) const fn store(&self) -> &Store {
        &self.store
    }

    pub(super) const fn cal(&self) -> Option<&Arc<cal::Host>> {
        self.cal.as_ref()
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

    pub(super) const fn news(&self) -> &News {
        &self.news
    }

    pub(super) const fn agents(&self) -> &Agents {
        &self.agents
    }

    pub(super) fn closing(&self) -> watch::Receiver<bool> {
        self.is_closing.subscribe()
    }

    pub(super) fn holder(&self, token: &str) -> Option<Arc<Holder>> {
        self.tokens.holder(token).ok().flatten()
    }

    pub(super) fn has_token(&self, id: &str) -> bool {
        self.tokens.has(id)
    }

    pub(super) const fn token_file(&self) -> &TokenFile {
        self.tokens.file()
    }

    pub(super) fn is_in_force(&self, holder: &Holder) -> bool {
        self.tokens.is_in_force(holder)
    }

    pub(super) fn render_metrics(&self) -> String {
        self.metrics.render(self.requests.taken())
    }

    /// Waits for the right to call the library.
    ///
    /// # Errors
    /// As [`Places::take`].
    pub(super) async fn thread(&self, caller: &Caller) -> Result<Place, Failure> {
        self.threads.take(caller, self.limits.waiting_time).await
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

/// Each has up to 64 MiB.
const FILES_MAX: usize = 8;

/// Each has up to 2 MiB.
const BODIES_MAX: usize = 32;

/// Long answers that wait for their readers at a time.
const ANSWERS_MAX: usize = 32;
