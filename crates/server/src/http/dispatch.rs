//! From a request to its answer: limits, the token, the body, a thread, the log.
//!
//! The library blocks, so that each call runs on a thread of a bounded number; a request waits for one
//! without holding another. How many requests are let in at all is bounded first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, header};
use grainstore::ErrorCode;
use grainstore::store::{Clock, SystemClock};
use serde_json::json;

use super::answer::{self, Answer};
use super::api::feed;
use super::app::App;
use super::call::{Call, Upload};
use super::failure::Failure;
use super::idempotency::{Turn, digest};
use super::load::{Caller, Limits, Place};
use super::route::{CAL_MEDIA, Route, Takes};
use super::telemetry::{self, TraceContext};
use super::token_scope::TokenScope;
use super::upload;

impl App {
    /// Answers a request, counts it and logs it.
    pub(super) async fn respond(
        self: Arc<Self>,
        route: &'static Route,
        params: RawPathParams,
        request: Request,
    ) -> Response<Body> {
        let began = Instant::now();
        let context = self.context(request.headers());
        let mut id = None;
        let working = Arc::clone(&self).admitted(route, &params, request, &mut id);
        let answered = tokio::time::timeout(self.limits.time, working).await;
        let late = || {
            Err(Failure::busy(
                408,
                "ERR_TIMEOUT",
                "the request took too long",
            ))
        };
        let (response, code) = match answered.unwrap_or_else(|_| late()) {
            Ok(response) => (response, None),
            Err(failure) => {
                let failure = if route.is_aimem() {
                    failure.into_problem()
                } else {
                    failure
                };
                (answer::failed(&failure), Some(failure.code))
            }
        };
        let answered = telemetry::Request {
            method: route.method,
            route: route.path,
            status: response.status().as_u16(),
            code,
            token: id,
            took: began.elapsed(),
        };
        self.note(answered, context);
        response
    }

    /// Returns the trace of a request, where traces are kept.
    pub(super) fn context(&self, headers: &HeaderMap) -> Option<TraceContext> {
        self.traces.as_ref().and_then(|_| TraceContext::of(headers))
    }

    /// Counts, logs and traces a request that was answered, without content.
    pub(super) fn note(&self, request: telemetry::Request, context: Option<TraceContext>) {
        let (of, status) = ((request.method, request.route), request.status);
        self.metrics.count(of, status, request.took);
        let line = json!({
            "method": request.method,
            "route": request.route,
            "status": status,
            "code": request.code,
            "token": request.token,
            "ms": u64::try_from(request.took.as_millis()).unwrap_or(u64::MAX),
        });
        (self.log)(&line.to_string());
        if let (Some(traces), Some(context)) = (&self.traces, context) {
            traces.record(context, request);
        }
    }

    async fn admitted(
        self: Arc<Self>,
        route: &'static Route,
        params: &RawPathParams,
        request: Request,
        id: &mut Option<String>,
    ) -> Result<Response<Body>, Failure> {
        let address = params.iter().find(|(name, _)| *name == "address");
        let address = address.map(|(_, text)| text.to_owned());
        let query = query(route, &request)?;
        let Some(needs) = route.needs else {
            let call = Call {
                app: &self,
                scope: None,
                address,
                query,
                headers: request.headers().clone(),
                body: Bytes::new(),
                upload: None,
                now: SystemClock.now(),
            };
            return Ok(finished((route.run)(&call)?));
        };
        // Without a token, a request takes no place from those who have one.
        let holder = self.authenticate(&request)?;
        *id = Some(holder.id.clone());
        if !holder.grant.operations.contains(&needs) {
            let message = format!("the token does not permit the operation {}", needs.name());
            return Err(Failure::of(ErrorCode::AccessDenied, message));
        }
        let caller = Caller::of(&holder);
        let flight = match route.is_feed() {
            true => self.feeds.try_take(&caller)?,
            false => self.requests.try_take(&caller)?,
        };
        let (parts, body) = request.into_parts();
        let limit = accepts(route, &parts.headers, &self.limits)?;
        let patience = self.limits.waiting_time;
        let room = match (route.takes, body.size_hint().upper()) {
            (Takes::Nothing, _) => None,
            (Takes::File(_), _) => Some(self.files.take(&caller, patience).await?),
            (Takes::Json(_) | Takes::Cal(_), Some(len)) if len <= BODY_LEN_SHORT => None,
            (Takes::Json(_) | Takes::Cal(_), _) => Some(self.bodies.take(&caller, patience).await?),
        };
        let (body, upload) = match route.takes {
            Takes::File(_) => (Bytes::new(), Some(upload::received(body, limit).await?)),
            _ => {
                let body = to_bytes(body, limit).await;
                (body.map_err(|_| too_large(limit))?, None)
            }
        };
        // A body that does not come takes no place from those that are there.
        let bulk = match route.is_bulk() {
            true => Some(self.bulk.take(&caller, patience).await?),
            false => None,
        };
        let asked = Asked {
            scope: TokenScope::new(self.store(), holder, self.position_key()?)?,
            address,
            query,
            parts,
            body,
            upload,
        };
        let answered = self.work(route, asked, caller, (flight, bulk)).await;
        drop(room);
        answered
    }

    /// Runs a route on a thread that may block.
    async fn work(
        self: Arc<Self>,
        route: &'static Route,
        asked: Asked,
        caller: Caller,
        held: (Place, Option<Place>),
    ) -> Result<Response<Body>, Failure> {
        let thread = self.thread(&caller).await?;
        let app = Arc::clone(&self);
        let worked = tokio::task::spawn_blocking(move || {
            let _held = thread;
            let uri = asked.parts.uri.to_string();
            let call = Call {
                app: &app,
                scope: Some(asked.scope),
                address: asked.address,
                query: asked.query,
                headers: asked.parts.headers,
                body: asked.body,
                upload: asked.upload,
                now: SystemClock.now(),
            };
            let (answer, scope) = app.once(route, call, &uri);
            (answer.map(Answer::written), scope, held)
        });
        let broken = |_| Failure::new(500, "ERR_INTERNAL", "the server failed");
        let (answer, scope, (flight, bulk)) = worked.await.map_err(broken)?;
        let answer = answer?;
        // Long answers wait for their readers in memory: a caller who takes none makes no more, and waits
        // with no thread and no answer. A change has happened, and its answer says so.
        let room = match answer.len() <= ANSWER_LEN_SHORT || route.is_change() {
            true => None,
            false => Some(self.answers.try_take(&caller)?),
        };
        Ok(match (answer, scope) {
            (Answer::Feed(changes), Some(scope)) => {
                feed::stream(Arc::clone(&self), scope, changes, flight)
            }
            // The work goes on behind the answer, and counts until it is done.
            (Answer::Job(job), _) => answer::job(Box::new(move |tell| {
                let done = job(tell);
                drop((flight, bulk));
                done
            })),
            (Answer::Events(events), _) => answer::events(Box::new(move |tell| {
                events(tell);
                drop((flight, bulk));
            })),
            // An answer that no one takes is in memory: it counts until it was taken.
            (answer, _) => finished(answer).map(|body| answer::held(body, (flight, bulk, room))),
        })
    }

    /// Runs a route, once for each idempotency key.
    fn once(
        &self,
        route: &Route,
        mut call: Call<'_>,
        uri: &str,
    ) -> (Result<Answer, Failure>, Option<TokenScope>) {
        let key = call.header("idempotency-key");
        // A question changes nothing, and its answer has content, which no memory but the store keeps.
        let (Some(key), true, Some(scope)) = (key, route.is_change(), &call.scope) else {
            return ((route.run)(&call), call.scope);
        };
        // The token is in no file, so that nothing on disk confirms what another guesses of a request.
        let token = call.header("authorization").unwrap_or_default().as_bytes();
        let key = digest(&[token, key.as_bytes()]);
        let request = digest(&[token, uri.as_bytes(), call.content()]);
        let id = scope.holder.id.clone();
        let answer = match self.answered.begin(&id, key, request, call.now) {
            Err(failure) => Err(failure),
            Ok(Turn::Again(status, value)) => Ok(Answer::Json(status, value)),
            Ok(Turn::Run(time)) => {
                call.now = time;
                let answer = (route.run)(&call);
                let kept = match &answer {
                    Ok(Answer::Json(status, value)) => Some((*status, value.clone())),
                    _ => None,
                };
                match &answer {
                    // Nothing has changed: another request may have the key.
                    Err(failure) if failure.status < 500 => self.answered.forget(key),
                    _ => self.answered.end(key, kept),
                }
                answer
            }
        };
        (answer, call.scope)
    }
}

/// A request that was let in, with its body.
struct Asked {
    scope: TokenScope,
    address: Option<String>,
    query: BTreeMap<String, String>,
    parts: Parts,
    body: Bytes,
    upload: Option<Upload>,
}

fn finished(answer: Answer) -> Response<Body> {
    match answer {
        Answer::Json(status, value) => answer::json(status, &value),
        Answer::Written(response) => response,
        Answer::Text(media, text, headers) => answer::text(media, text, headers),
        Answer::Spool(media, file, headers) => answer::spool(media, file, headers),
        Answer::Job(job) => answer::job(job),
        Answer::Events(events) => answer::events(events),
        // Only a token follows a store.
        Answer::Feed(_) => answer::failed(&Failure::new(500, "ERR_INTERNAL", "no scope")),
    }
}

/// Returns the parameters of a query, each of which the route knows.
fn query(route: &Route, request: &Request) -> Result<BTreeMap<String, String>, Failure> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    let Query(pairs) = pairs.map_err(|_| Failure::usage("the query is malformed"))?;
    let mut query = BTreeMap::new();
    for (name, value) in pairs {
        if !route.params.iter().any(|(known, _)| *known == name) {
            return Err(Failure::usage("a parameter that the route does not know"));
        }
        if query.insert(name, value).is_some() {
            return Err(Failure::usage("a parameter that occurs twice"));
        }
    }
    Ok(query)
}

/// Returns the longest body that a route takes, if it takes one of this type.
fn accepts(route: &Route, headers: &HeaderMap, limits: &Limits) -> Result<usize, Failure> {
    let (known, limit): (&[&str], usize) = match route.takes {
        Takes::Nothing => return Ok(0),
        Takes::Json(_) => (&["application/json"], limits.body_bytes),
        Takes::Cal(_) => (CAL_MEDIA, limits.body_bytes),
        Takes::File(media) => (media, limits.file_bytes),
    };
    let media = headers
        .get(header::CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or_default());
    let media = media.map(|text| text.split(';').next().unwrap_or_default().trim());
    if media.is_some_and(|media| !known.iter().any(|it| it.eq_ignore_ascii_case(media))) {
        let message = format!("a body is {}", known.join(" or "));
        return Err(Failure::new(415, "ERR_MEDIA_TYPE", message));
    }
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|it| it.to_str().ok());
    let length = length.and_then(|text| text.parse::<usize>().ok());
    if length.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    Ok(limit)
}

pub(super) fn too_large(limit: usize) -> Failure {
    Failure::new(
        413,
        "ERR_TOO_LARGE",
        format!("a body has up to {limit} bytes"),
    )
}

/// A shorter body waits for no place.
const BODY_LEN_SHORT: u64 = 64 << 10;

/// A shorter answer waits for no place.
const ANSWER_LEN_SHORT: u64 = 256 << 10;
