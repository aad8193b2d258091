//! Spans of requests for an OpenTelemetry collector: OTLP 1 over HTTP, as JSON.
//!
//! A span says what a line of the log says, and has no address, no query and no content. A thread sends
//! spans in batches: no request waits for a collector, and spans that it does not take are dropped.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use data_encoding::HEXLOWER;
use grainstore::crypto::{OsRandom, Random};
use grainstore::store::{Clock, SystemClock};
use serde_json::{Value, json};

/// A collector of spans, and the thread that sends them. Dropping it sends what is left.
///
/// ```
/// use grainstore_server::http::Traces;
///
/// assert!(Traces::to("http://127.0.0.1:4318").is_ok());
/// assert!(Traces::to("https://collector.example").is_err());
/// ```
#[derive(Debug)]
pub struct Traces {
    spans: Option<SyncSender<Span>>,
    worker: Option<JoinHandle<()>>,
    is_ending: Arc<AtomicBool>,
}

/// A collector that cannot be sent to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TracesError {
    /// Not the URL of a collector that takes OTLP over plain HTTP.
    #[error(
        "\"{url}\" is not a collector: it is http://HOST:PORT, and a collector beside this \
             server ends TLS"
    )]
    Url {
        /// The URL.
        url: String,
    },
    /// The system refused the thread.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The trace of which a request is a part (W3C Trace Context), or a new one.
#[derive(Debug)]
pub(crate) struct TraceContext {
    trace: [u8; 16],
    parent: Option<[u8; 8]>,
}

/// A request as a span tells it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) route: &'static str,
    pub(crate) status: u16,
    pub(crate) code: Option<String>,
    /// The name of the token.
    pub(crate) token: Option<String>,
    pub(crate) took: Duration,
}

#[derive(Debug)]
struct Span {
    context: TraceContext,
    id: [u8; 8],
    request: Request,
    end_ns: u128,
}

struct Collector {
    host: String,
    port: u16,
    path: String,
}

impl Traces {
    /// Sends spans to a collector: `http://HOST[:4318][/PATH]`, to whose path `/v1/traces` is added.
    ///
    /// # Errors
    /// [`TracesError::Url`]; errors of the system.
    pub fn to(url: &str) -> Result<Self, TracesError> {
        let not_one = || TracesError::Url {
            url: url.to_owned(),
        };
        let collector = Collector::parse(url).ok_or_else(not_one)?;
        let (spans, received) = mpsc::sync_channel(QUEUE_LEN);
        let is_ending = Arc::new(AtomicBool::new(false));
        let ending = Arc::clone(&is_ending);
        let worker = thread::Builder::new()
            .name("traces".to_owned())
            .spawn(move || collector.take(&received, &ending))?;
        Ok(Self {
            spans: Some(spans),
            worker: Some(worker),
            is_ending,
        })
    }

    /// Sends a span, or drops it where the collector is behind.
    pub(crate) fn record(&self, context: TraceContext, request: Request) {
        let mut id = [0; 8];
        if OsRandom.fill(&mut id).is_err() {
            return;
        }
        let now_ms = u128::try_from(SystemClock.now().ms()).unwrap_or(0);
        let span = Span {
            context,
            id,
            request,
            end_ns: now_ms.saturating_mul(1_000_000),
        };
        if let Some(spans) = &self.spans {
            drop(spans.try_send(span));
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        self.spans = None;
        if let Some(worker) = self.worker.take() {
            drop(worker.join());
        }
    }
}

impl TraceContext {
    /// Reads `traceparent`; `None` where the caller does not want the trace to be kept.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get("traceparent").and_then(|it| it.to_str().ok());
        if let Some((context, is_kept)) = text.and_then(Self::parse) {
            return is_kept.then_some(context);
        }
        let mut trace = [0; 16];
        OsRandom.fill(&mut trace).ok()?;
        Some(Self {
            trace,
            parent: None,
        })
    }

    fn parse(text: &str) -> Option<(Self, bool)> {
        let mut parts = text.split('-');
        let version = parts.next()?;
        let (trace, parent) = (parts.next()?, parts.next()?);
        let flags = HEXLOWER.decode(parts.next()?.as_bytes()).ok()?;
        let is_known = version.len() == 2 && version != "ff";
        let trace = <[u8; 16]>::try_from(HEXLOWER.decode(trace.as_bytes()).ok()?).ok()?;
        let parent = <[u8; 8]>::try_from(HEXLOWER.decode(parent.as_bytes()).ok()?).ok()?;
        let is_whole = is_known && trace != [0; 16] && parent != [0; 8] && flags.len() == 1;
        let parent = Some(parent);
        is_whole.then_some((Self { trace, parent }, flags.first()? & 1 == 1))
    }
}

impl Span {
    fn to_json(&self) -> Value {
        let request = &self.request;
        let text =
            |name: &str, text: &str| json!({ "key": name, "value": { "stringValue": text } });
        let mut attributes = vec![
            text("http.request.method", request.method),
            text("http.route", request.route),
            json!({
                "key": "http.response.status_code",
                "value": { "intValue": request.status.to_string() },
            }),
        ];
        attributes.extend(request.code.as_deref().map(|code| text("error.type", code)));
        attributes.extend(request.token.as_deref().map(|id| text("enduser.id", id)));
        let start_ns = self.end_ns.saturating_sub(request.took.as_nanos());
        let mut span = json!({
            "traceId": HEXLOWER.encode(&self.context.trace),
            "spanId": HEXLOWER.encode(&self.id),
            "name": format!("{} {}", request.method, request.route),
            "kind": 2,
            "startTimeUnixNano": start_ns.to_string(),
            "endTimeUnixNano": self.end_ns.to_string(),
            "attributes": attributes,
            "status": if request.status >= 500 { json!({ "code": 2 }) } else { json!({}) },
        });
        if let Some(parent) = &self.context.parent {
            span["parentSpanId"] = json!(HEXLOWER.encode(parent));
        }
        span
    }
}

impl Collector {
    fn parse(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        // It becomes part of a request.
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) || rest.contains(['@', '?', '#']) {
            return None;
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if is_port(port) => (host, port.parse().ok()?),
            _ => (authority, 4318),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let base = match path.trim_end_matches('/') {
            "" => String::new(),
            path => format!("/{path}"),
        };
        (!host.is_empty()).then(|| Self {
            host: host.to_owned(),
            port,
            path: format!("{base}/v1/traces"),
        })
    }

    /// Sends batches until the senders are gone.
    fn take(&self, spans: &Receiver<Span>, is_ending: &AtomicBool) {
        while let Ok(first) = spans.recv() {
            let mut batch = vec![first];
            let until = Instant::now() + BATCH_TIME;
            while batch.len() < BATCH_LEN {
                let left = until.saturating_duration_since(Instant::now());
                match spans.recv_timeout(left) {
                    Ok(span) => batch.push(span),
                    Err(_) => break,
                }
            }
            // A collector that is not there costs its spans, and no time at the end.
            if self.send(&batch).is_err() && is_ending.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    fn send(&self, batch: &[Span]) -> io::Result<()> {
        let name = json!({ "key": "service.name", "value": { "stringValue": "grainstore" } });
        let version = env!("CARGO_PKG_VERSION");
        let spans: Vec<_> = batch.iter().map(Span::to_json).collect();
        let body = json!({ "resourceSpans": [{
            "resource": { "attributes": [name] },
            "scopeSpans": [{ "scope": { "name": "grainstore", "version": version }, "spans": spans }],
        }] });
        let body = body.to_string();
        let mut addresses = (&*self.host, self.port).to_socket_addrs()?;
        let address = addresses.next().ok_or(io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, COLLECTOR_WAITS)?;
        stream.set_write_timeout(Some(COLLECTOR_WAITS))?;
        stream.set_read_timeout(Some(COLLECTOR_WAITS))?;
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {}:{}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            self.path,
            self.host,
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut status = [0; STATUS_LEN];
        stream.read_exact(&mut status)?;
        match status.starts_with(b"HTTP/1.1 2") {
            true => Ok(()),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Spans that wait at a time; more are dropped.
const QUEUE_LEN: usize = 4_096;

const BATCH_LEN: usize = 512;

/// How long the first span of a batch waits for others.
const BATCH_TIME: Duration = Duration::from_secs(2);

const COLLECTOR_WAITS: Duration = Duration::from_secs(2);

const STATUS_LEN: usize = "HTTP/1.1 200".len();
