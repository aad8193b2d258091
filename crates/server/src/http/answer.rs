//! Answers, and how they become HTTP responses.
//!
//! A stream is fed by a task that holds no thread while its reader is slow, and ends with its
//! connection, which is given up when the reader takes nothing for a while.

use std::convert::Infallible;
use std::fs::File;
use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use grainstore::Filter;
use grainstore::query::Changes;
use hyper::body::{Frame, SizeHint};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::wrappers::{ReceiverStream, UnboundedReceiverStream};

use super::failure::Failure;

/// The answer of a route.
pub(crate) enum Answer {
    Json(u16, Value),
    /// One that is written already.
    Written(Response<Body>),
    /// A text of a media type, with further headers.
    Text(&'static str, String, Headers),
    /// A file that was written before the answer begins.
    Spool(&'static str, File, Headers),
    /// Lines of JSON that are written while the answer is under way.
    Job(Job),
    /// Events that are sent while the answer is made.
    Events(Events),
    /// The entries of a store from one on.
    Feed(Changes),
}

/// Work that tells its progress; the last line is its result.
pub(crate) type Job = Box<dyn FnOnce(&mut dyn FnMut(Value)) -> Result<Value, Failure> + Send>;

/// Work that sends events by name; whether its reader is still there.
pub(crate) type Events = Box<dyn FnOnce(&mut dyn FnMut(&str, &Value) -> bool) + Send>;

pub(crate) fn json(status: u16, value: &Value) -> Response<Body> {
    plain(status, "application/json", value.to_string())
}

pub(crate) fn plain(status: u16, media: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    // Memory of a person belongs in no cache, and in no page.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    response
}

pub(crate) fn failed(failure: &Failure) -> Response<Body> {
    let media = match failure.is_problem {
        true => "application/problem+json",
        false => "application/json",
    };
    let mut response = plain(failure.status, media, failure.to_json().to_string());
    let headers = response.headers_mut();
    if let Some(after) = failure.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(after));
    }
    if failure.status == 401 {
        let scheme = HeaderValue::from_static("Bearer");
        headers.insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}

/// Returns a text with further headers; a value that no header can have is left out.
pub(crate) fn text(media: &'static str, text: String, more: Headers) -> Response<Body> {
    with_headers(plain(200, media, text), more)
}

/// Further headers, by their names in small letters.
pub(crate) type Headers = Vec<(&'static str, String)>;

fn with_headers(mut response: Response<Body>, more: Headers) -> Response<Body> {
    for (name, value) in more {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response
                .headers_mut()
                .insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// Streams a file in pieces.
pub(crate) fn spool(media: &'static str, mut file: File, more: Headers) -> Response<Body> {
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::io::Error>>(2);
    tokio::spawn(async move {
        loop {
            let read = tokio::task::spawn_blocking(move || {
                let mut piece = vec![0; PIECE_LEN];
                let read = file.read(&mut piece).map(|len| {
                    piece.truncate(len);
                    Bytes::from(piece)
                });
                (file, read)
            });
            let Ok((same, read)) = read.await else { return };
            file = same;
            if matches!(&read, Ok(piece) if piece.is_empty()) {
                return;
            }
            let is_end = read.is_err();
            if sender.send(read).await.is_err() || is_end {
                return;
            }
        }
    });
    let body = Body::from_stream(ReceiverStream::new(receiver));
    with_headers(streamed(media, body), more)
}

/// Streams the lines of a job. They are few, so that the job waits for no reader.
pub(crate) fn job(job: Job) -> Response<Body> {
    let (sender, receiver) = mpsc::unbounded_channel::<Result<Bytes, Infallible>>();
    tokio::task::spawn_blocking(move || {
        let mut tell = |value: Value| {
            // A reader who left does not end an import half way.
            drop(sender.send(Ok(Bytes::from(format!("{value}\n")))));
        };
        let last = match job(&mut tell) {
            Ok(done) => done,
            Err(failure) => serde_json::json!({ "error": failure.to_json() }),
        };
        tell(last);
    });
    let lines = UnboundedReceiverStream::new(receiver);
    streamed("application/x-ndjson", Body::from_stream(lines))
}

/// Streams events, each with its number. A whole context is small, so that no event waits for a
/// reader.
pub(crate) fn events(work: Events) -> Response<Body> {
    let (sender, receiver) = mpsc::unbounded_channel::<Result<Bytes, Infallible>>();
    tokio::task::spawn_blocking(move || {
        let mut number = 0_u64;
        work(&mut |name, data| {
            number += 1;
            let event = format!("id: {number}\nevent: {name}\ndata: {data}\n\n");
            sender.send(Ok(Bytes::from(event))).is_ok()
        });
    });
    let events = UnboundedReceiverStream::new(receiver);
    streamed("text/event-stream", Body::from_stream(events))
}

impl Answer {
    /// Writes an answer that is one text. A long one takes its time, so that this is no work for a
    /// thread that serves connections.
    pub(crate) fn written(self) -> Self {
        match self {
            Self::Json(status, value) => Self::Written(json(status, &value)),
            other => other,
        }
    }

    /// Returns the number of bytes that it holds in memory.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Written(response) => response.body().size_hint().lower(),
            Self::Text(_, text, _) => text.len() as u64,
            Self::Json(..) | Self::Spool(..) | Self::Job(_) | Self::Events(_) | Self::Feed(_) => 0,
        }
    }
}

/// Keeps something until an answer was taken, or its reader is given up.
pub(crate) fn held<T: Send + Unpin + 'static>(body: Body, kept: T) -> Body {
    match body.is_end_stream() {
        true => body,
        false => Body::new(Held { body, _kept: kept }),
    }
}

struct Held<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(crate) fn streamed(media: &'static str, body: Body) -> Response<Body> {
    plain(200, media, String::new()).map(|_| body)
}

/// An answer ends with the grain by which the grains in it have so many bytes.
pub(crate) const ANSWER_LEN_MAX: usize = 8 << 20;

/// Bounds the grains of an answer, which is in memory as a whole.
pub(crate) fn bounded(filter: Filter) -> Filter {
    filter.up_to_bytes(ANSWER_LEN_MAX)
}

const PIECE_LEN: usize = 64 << 10;
