//! Batches one after another: the next ones are prepared while a thread commits the one before.
//!
//! Each is a put of its own, as if callers had put them in turn: nothing is decided before its
//! place in the order, but for what no other grain can change.

use std::iter::FusedIterator;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::ledger;
use crate::process::ProcessId;
use crate::store::records::PendingPut;
use crate::store::{Access, Error};

use super::put::{NewGrain, Put, commit_all, finish_all};

/// See [`Store::put_batches`](crate::Store::put_batches).
pub(crate) fn put_batches<B, G>(
    store: &Access,
    batches: impl IntoIterator<Item = B>,
) -> impl FusedIterator<Item = Result<Vec<Put>, Error>>
where
    B: IntoIterator<Item = G>,
    G: Into<NewGrain>,
{
    let batches = batches.into_iter();
    let batches = batches.map(|batch| batch.into_iter().map(Into::into).collect());
    Pipeline {
        store: store.clone(),
        by: ProcessId::current(),
        batches,
        committer: None,
        waiting: 0,
        is_over: false,
    }
}

/// Batches of which some are on their way.
struct Pipeline<I> {
    store: Access,
    /// The process that has the thread.
    by: ProcessId,
    batches: I,
    /// Absent until the first batch.
    committer: Option<Committer>,
    /// How many batches it has not answered.
    waiting: usize,
    /// Whether no batch is taken any more.
    is_over: bool,
}

/// The thread that commits, the way to it, and the way back.
struct Committer {
    prepared: SyncSender<Prepared>,
    stored: Receiver<Result<Vec<Put>, Error>>,
    thread: JoinHandle<()>,
}

type Prepared = Result<Vec<PendingPut>, Error>;

impl<I: Iterator<Item = Vec<NewGrain>>> Iterator for Pipeline<I> {
    type Item = Result<Vec<Put>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.committer.is_none() && !self.is_over {
            self.committer = Committer::start(self.store.clone(), self.by);
        }
        let stored = match self.committer {
            Some(_) => self.next_stored()?,
            None if self.is_over => return None,
            // The system gives no thread: one after another.
            None => {
                let batch = self.batches.next()?;
                let prepared = self.prepare(batch);
                commit(&self.store, prepared, self.by)
            }
        };
        if stored.is_err() {
            self.end();
        }
        Some(stored)
    }
}

impl<I: Iterator<Item = Vec<NewGrain>>> FusedIterator for Pipeline<I> {}

impl<I: Iterator<Item = Vec<NewGrain>>> Pipeline<I> {
    /// Prepares batches until so many are on their way, and waits for the first of them.
    fn next_stored(&mut self) -> Option<Result<Vec<Put>, Error>> {
        // A child that was forked lacks the thread, and would wait for it without end.
        if ProcessId::current() != self.by {
            return Some(Err(ledger::Error::Halted.into()));
        }
        while !self.is_over && self.waiting < AHEAD_MAX {
            let Some(batch) = self.batches.next() else {
                self.is_over = true;
                break;
            };
            // One that cannot be prepared is refused in its turn, behind those before it.
            let prepared = self.prepare(batch);
            // A thread that has ended has left its error behind what it answered.
            drop(self.committer.as_ref()?.prepared.send(prepared));
            self.waiting += 1;
        }
        self.waiting = self.waiting.checked_sub(1)?;
        let stored = self.committer.as_ref()?.stored.recv();
        // It panicked: the outcome is unknown.
        Some(stored.unwrap_or(Err(ledger::Error::Halted.into())))
    }
}

impl<I> Pipeline<I> {
    fn prepare(&self, batch: Vec<NewGrain>) -> Prepared {
        finish_all(&self.store.engine, batch, self.store.caller()?, self.by)
    }

    /// Takes no batch any more, and waits for the thread.
    fn end(&mut self) {
        self.is_over = true;
        let Some(committer) = self.committer.take() else {
            return;
        };
        drop((committer.prepared, committer.stored));
        // A forked child has no thread to wait for.
        if ProcessId::current() == self.by {
            drop(committer.thread.join());
        }
    }
}

/// The thread has ended before the store may be closed.
impl<I> Drop for Pipeline<I> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Committer {
    fn start(store: Access, by: ProcessId) -> Option<Self> {
        let (prepared, batches) = sync_channel(AHEAD_MAX);
        let (answers, stored) = sync_channel(AHEAD_MAX);
        let commit_each = move || {
            for prepared in batches {
                let committed = commit(&store, prepared, by);
                // Nothing is stored behind an error, nor once the answers are not waited for.
                let is_last = committed.is_err();
                if answers.send(committed).is_err() || is_last {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name("grainstore-puts".into());
        Some(Self {
            prepared,
            stored,
            thread: thread.spawn(commit_each).ok()?,
        })
    }
}

fn commit(store: &Access, prepared: Prepared, by: ProcessId) -> Result<Vec<Put>, Error> {
    commit_all(&store.engine, prepared?, store.caller()?, by)
}

/// How many batches are on their way: one is committed, one is ready, one is being prepared.
const AHEAD_MAX: usize = 3;
