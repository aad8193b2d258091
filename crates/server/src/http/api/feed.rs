//! The route that follows a store: grains as they are stored, as server-sent events.
//!
//! The id of an event is the place to go on from, sealed. A follower takes a thread for a bounded
//! step, however little of the store it sees, and none while it waits: one watcher tells all of them
//! that there is more. It is dropped when its token is revoked or it reads nothing for a while.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Response;
use grainstore::Filter;
use grainstore::ledger::EntryId;
use grainstore::query::Changes;
use grainstore::store::Changed;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use super::grains::version_json;
use crate::http::answer::{Answer, streamed};
use crate::http::app::App;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::load::{Caller, Place};
use crate::http::token_scope::TokenScope;
use crate::wire::Moment;

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
        (None, None | Some("now")) => scope.handle().changes(EntryId::FIRST).end(),
        (None, Some(time)) => {
            let since = Moment::Text(time.to_owned()).first()?;
            let changes = scope.handle().changes(EntryId::FIRST);
            changes.since(since)?.position()
        }
    };
    let filter = Filter::new().with_superseded().with_expired();
    let filter = match namespace {
        Some(name) => filter.namespace(name),
        None => filter,
    };
    let changes = scope.asked(namespace)?.changes(from);
    Ok(Answer::Feed(changes.matching(filter)))
}

/// Streams the entries of a feed, as they come, until the server ends or the token does.
pub(crate) fn stream(
    app: Arc<App>,
    scope: TokenScope,
    changes: Changes,
    place: Place,
) -> Response<Body> {
    let (sender, receiver) = mpsc::channel::<Result<Bytes, Infallible>>(1);
    tokio::spawn(async move {
        let _place = place;
        let text = Bytes::from_static(b": following\n\n");
        // A reader learns at once that it is let in.
        if sender.send(Ok(text)).await.is_ok() {
            follow(app, scope, changes, sender).await;
        }
    });
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
) {
    let (mut closing, mut news) = (app.closing(), app.news().subscribe(&app));
    let mut silent = Duration::ZERO;
    let caller = Caller::of(&scope.holder);
    while !sender.is_closed() && !app.is_closing() && app.is_in_force(&scope.holder) {
        // From here on all is news.
        news.mark_unchanged();
        let Ok(thread) = app.thread(&caller).await else {
            // Others have the threads: a follower comes later.
            continue;
        };
        let of = scope.clone();
        let read = tokio::task::spawn_blocking(move || {
            let _thread = thread;
            let text = step(&of, &mut changes);
            let is_at_end = changes.position() >= changes.end();
            (changes, text, is_at_end)
        });
        let Ok((same, Some(mut text), is_at_end)) = read.await else {
            return;
        };
        changes = same;
        if text.is_empty() && silent >= HEARTBEAT {
            text.push_str(": still here\n\n");
        }
        if !text.is_empty() {
            silent = Duration::ZERO;
            if sender.send(Ok(Bytes::from(text))).await.is_err() {
                return;
            }
        }
        if !is_at_end {
            continue;
        }
        tokio::select! {
            // The token is looked at again even where nothing happens.
            () = tokio::time::sleep(PATROL) => silent = silent.saturating_add(PATROL),
            _ = news.changed() => {}
            _ = closing.wait_for(|is_closing| *is_closing) => return,
            () = sender.closed() => return,
        }
    }
}

/// Returns the events among the next entries as text; `None` if they cannot be read.
fn step(scope: &TokenScope, changes: &mut Changes) -> Option<String> {
    let mut text = String::new();
    // One entry at a time: the id of an event is the place behind it.
    for _ in 0..ENTRIES_OF_STEP {
        if Changes::position(changes) >= changes.end() || text.len() >= STEP_LEN {
            break;
        }
        let Some(change) = changes.step(1).next() else {
            continue;
        };
        let Changed::Stored(version) = change.ok()?.what else {
            continue;
        };
        let data = version_json(scope, &version).ok()?;
        let id = scope
            .seal(&Changes::position(changes).get().to_string())
            .ok()?;
        text.push_str(&format!("event: stored\nid: {id}\ndata: {data}\n\n"));
    }
    Some(text)
}

/// Tells followers that the store has more entries: one look for all of them.
#[derive(Debug)]
pub(crate) struct News {
    end: watch::Sender<EntryId>,
    is_watched: AtomicBool,
}

impl Default for News {
    fn default() -> Self {
        Self {
            end: watch::Sender::new(EntryId::FIRST),
            is_watched: AtomicBool::new(false),
        }
    }
}

impl News {
    /// Returns the news from now on; the first follower starts the watcher.
    fn subscribe(&self, app: &Arc<App>) -> watch::Receiver<EntryId> {
        let receiver = self.end.subscribe();
        if !self.is_watched.swap(true, Ordering::AcqRel) {
            tokio::spawn(watch_store(Arc::downgrade(app)));
        }
        receiver
    }
}

/// Looks whether the store has grown, as long as anyone follows it.
async fn watch_store(app: Weak<App>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        let Some(app) = app.upgrade() else { return };
        let news = app.news();
        if news.end.receiver_count() == 0 {
            news.is_watched.store(false, Ordering::Release);
            // One who came in between found the watcher still there.
            if news.end.receiver_count() == 0 || news.is_watched.swap(true, Ordering::AcqRel) {
                return;
            }
        }
        let store = app.store().clone();
        let look = move || store.changes(EntryId::FIRST).end();
        let Ok(end) = tokio::task::spawn_blocking(look).await else {
            continue;
        };
        news.end.send_if_modified(|known| {
            let is_new = *known != end;
            *known = end;
            is_new
        });
    }
}

/// How many entries a step looks at, seen or not: some milliseconds.
const ENTRIES_OF_STEP: usize = 128;

/// A step ends with the event that makes its text this long.
const STEP_LEN: usize = 256 << 10;

const PAUSE: Duration = Duration::from_millis(100);

/// A follower of a revoked token is let go within this time.
const PATROL: Duration = Duration::from_secs(1);

const HEARTBEAT: Duration = Duration::from_secs(15);
