//! `Changes`: the entries of the ledger as a feed.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use grainstore::ledger::EntryId;
use grainstore::query;
use grainstore::store::{self, Changed};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};
use napi_derive::napi;

use crate::ask::{Abort, Ask, Promised};
use crate::failure;
use crate::grain::Grain;
use crate::held::Held;

/// The acknowledged entries of a store from one on.
#[napi]
pub struct Changes(Held<query::Changes>);

impl Changes {
    pub(crate) const fn of(feed: Held<query::Changes>) -> Self {
        Self(feed)
    }
}

/// One entry of the ledger.
#[napi(object, object_from_js = false)]
pub struct Change {
    /// Its number: a feed from `entry + 1` on goes on behind it.
    pub entry: f64,
    /// Its time, in milliseconds since 1970.
    pub at: i64,
    #[napi(ts_type = "'stored' | 'status' | 'erased' | 'erasing' | 'other'")]
    pub kind: String,
    /// The grain that was stored.
    pub grain: Option<Grain>,
    /// The address of the grain that was stored, or whose status changed.
    pub address: Option<String>,
    /// The entries that are erased from here on.
    pub entries: Vec<f64>,
}

/// So many entries are read at once at most: their grains are in memory until the program takes them.
const AT_ONCE: usize = 64;

/// Looks this often whether the caller has given up or the store is closed.
const LOOK: Duration = Duration::from_millis(100);

#[napi]
impl Changes {
    /// Returns the next changes, a few at once; none where the store ends.
    #[napi(ts_return_type = "Promise<Change[]>")]
    pub fn next(&self) -> Promised<Vec<Change>> {
        let feed = self.0.clone();
        Ask::promise(None, move || {
            feed.with_mut(|feed| {
                let mut changes = Vec::new();
                while changes.len() < AT_ONCE
                    && let Some(change) = feed.next()
                {
                    changes.push(told(change.map_err(|error| failure::of(&error))?));
                }
                Ok(changes)
            })
        })
    }

    /// Returns the number of the next entry.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn position(&self) -> Promised<f64> {
        let feed = self.0.clone();
        Ask::promise(None, move || feed.with(|feed| Ok(number(feed.position()))))
    }

    /// Waits up to so many seconds until there is another entry, on a thread of its own: those of the pool
    /// are for work.
    #[napi(
        ts_args_type = "seconds: number, abort?: Abort | undefined",
        ts_return_type = "Promise<boolean>"
    )]
    pub fn wait<'env>(
        &self,
        env: &'env Env,
        seconds: f64,
        abort: Option<&Abort>,
    ) -> Result<Object<'env>> {
        let feed = self.0.clone();
        let sign = abort.map(Abort::sign);
        let (deferred, promise) = env.create_deferred()?;
        let timeout = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let end = Instant::now().checked_add(timeout);
        let waiting = thread::Builder::new().spawn(move || {
            let outcome = loop {
                let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
                let is_given_up = sign.as_ref().is_some_and(|it| it.load(Ordering::Acquire));
                match feed.with_mut(|feed| Ok(feed.wait(left.min(LOOK)))) {
                    Ok(false) if !is_given_up && left > LOOK => {}
                    outcome => break outcome,
                }
            };
            match outcome {
                Ok(is_there) => deferred.resolve(move |_| Ok(is_there)),
                Err(error) => deferred.reject(error),
            }
        });
        waiting.map_err(|error| failure::usage(&error.to_string()))?;
        Ok(promise)
    }
}

fn told(change: store::Change) -> Change {
    let told = |kind: &str, grain, address, entries| Change {
        entry: number(change.entry),
        at: change.at.ms(),
        kind: kind.to_owned(),
        grain,
        address,
        entries,
    };
    match change.what {
        Changed::Stored(version) => {
            let address = version.grain.address().to_string();
            told(
                "stored",
                Some(Grain::of(version.grain)),
                Some(address),
                Vec::new(),
            )
        }
        Changed::Status(address) => told("status", None, Some(address.to_string()), Vec::new()),
        Changed::Erasing(entries) => {
            let entries = entries.into_iter().map(number).collect();
            told("erasing", None, None, entries)
        }
        Changed::Erased => told("erased", None, None, Vec::new()),
        _ => told("other", None, None, Vec::new()),
    }
}

fn number(entry: EntryId) -> f64 {
    entry.get() as f64
}
