//! The route that follows a store: grains as they are stored, as server-sent events.
//!
//! The id of an event is the place to go on from, sealed. A follower holds no thread while nothing
//! happens, and is dropped when its token is revoked or it reads nothing for a while.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Response;
use grainstore::Filter;
use grainstore::ledger::EntryId;
use grainstore::query::Changes;
use grainstore::store::Changed;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::grains::version_json;
use crate::http::answer::{Answer, READER_WAITS_MAX, streamed};
use crate::http::app::App;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::token_scope::TokenScope;

/// Follows the store from `Last-Event-ID` on, from its beginning, or from now.
pub(crate) fn changes(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let namespace = call.param("namespace");
    let from = match (call.header("last-event-id"), call.param("from")) {
        (Some(id), _) => {
            let place = scope.open(id)?;
            let place = place
                .parse()
                .map_err(|_| Failure::usage("not the id of an event"))?;
            EntryId::new(place)
        }
        (None, Some("start")) => EntryId::FIRST,
        (None, None | Some("now")) => EntryId::new(scope.owner().maintenance()?.stats()?.entries),
        (None, Some(_)) => return Err(Failure::usage("from is start or now")),
    };
    let filter = Filter::new().with_superseded().with_expired();
    let filter = match namespace {
        Some(name) => filter.namespace(name),
        None => filter,
    };
    let changes = scope.view(namespace)?.changes(from);
    Ok(Answer::Feed(changes.matching(scope.narrow(filter))))
}

/// Streams the entries of a feed, as they come, until the server ends or the token does.
pub(crate) fn stream(
    app: Arc<App>,
    scope: TokenScope,
    changes: Changes,
    permit: OwnedSemaphorePermit,
) -> Response<Body> {
    let (sender, receiver) = mpsc::channel::<Result<Bytes, Infallible>>(4);
    tokio::spawn(follow(app, scope, changes, sender, permit));
    streamed(
        "text/event-stream",
        Body::from_stream(ReceiverStream::new(receiver)),
    )
}

async fn follow(
    app: Arc<App>,
    scope: TokenScope,
    mut changes: Changes,
    sender: mpsc::Sender<Result<Bytes, Infallible>>,
    _permit: OwnedSemaphorePermit,
) {
    let mut closing = app.closing();
    let mut silent = Duration::ZERO;
    // A reader learns at once that it is let in.
    let mut text = String::from(": following\n\n");
    loop {
        if !text.is_empty() {
            silent = Duration::ZERO;
            let sent = sender.send(Ok(Bytes::from(std::mem::take(&mut text))));
            if !matches!(
                tokio::time::timeout(READER_WAITS_MAX, sent).await,
                Ok(Ok(()))
            ) {
                return;
            }
        }
        let (app, scope) = (Arc::clone(&app), scope.clone());
        let Ok(permit) = app.thread().await else {
            return;
        };
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let is_let_in = app.is_in_force(&scope.holder);
            let events = if is_let_in {
                events(&scope, &mut changes)
            } else {
                None
            };
            (changes, events)
        });
        let Ok((same, Some(events))) = read.await else {
            return;
        };
        changes = same;
        text = events;
        if !text.is_empty() {
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => silent = silent.saturating_add(PAUSE),
            _ = closing.wait_for(|is_closing| *is_closing) => return,
            () = sender.closed() => return,
        }
        if silent >= HEARTBEAT {
            text.push_str(": still here\n\n");
        }
    }
}

/// Returns the next events as text; `None` if they cannot be read.
fn events(scope: &TokenScope, changes: &mut Changes) -> Option<String> {
    let mut text = String::new();
    for _ in 0..EVENTS_AT_ONCE {
        let Some(change) = changes.next() else { break };
        let Changed::Stored(version) = change.ok()?.what else {
            continue;
        };
        let data = version_json(&version).ok()?;
        let id = scope
            .seal(&Changes::position(changes).get().to_string())
            .ok()?;
        text.push_str(&format!("event: stored\nid: {id}\ndata: {data}\n\n"));
    }
    Some(text)
}

const EVENTS_AT_ONCE: usize = 64;

const PAUSE: Duration = Duration::from_millis(100);

const HEARTBEAT: Duration = Duration::from_secs(15);
