//! The right to write within a process: one thread at a time, in the order of the queue.

use std::ops::{Deref, DerefMut};

use crate::process::{Mutex, MutexGuard};
use crate::store::Error;
use crate::store::records::PendingPut;

use super::processes::Turn;
use super::queue::{CommitQueue, LeaderGuard};

/// The places of the grains of a request that were there before, or why none of them is stored.
pub(crate) type PutAnswer = Result<Vec<usize>, Error>;

/// The queue of writers: puts, which share frames, and operations that write alone.
pub(crate) type PutQueue = CommitQueue<Vec<PendingPut>, PutAnswer>;

/// The waiting threads, and the leader.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    pub(crate) queue: PutQueue,
    /// Taken only by the leader of the queue, so it is free.
    pub(crate) writer: Mutex<Writer>,
}

/// Held from a decision to its acknowledgement.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// Whether the ledger may hold entries that the index lacks: then the store refuses writes.
    pub(crate) is_halted: bool,
}

/// The right to write alone.
pub(crate) struct Exclusive<'a> {
    // Dropped before the lead: the next leader finds both free.
    _turn: Option<Turn<'a>>,
    writer: MutexGuard<'a, Writer>,
    /// `None` for a leader that keeps its own.
    _lead: Option<LeaderGuard<'a, Vec<PendingPut>, PutAnswer>>,
}

impl<'a> Exclusive<'a> {
    pub(super) fn new(
        turn: Option<Turn<'a>>,
        writer: MutexGuard<'a, Writer>,
        lead: Option<LeaderGuard<'a, Vec<PendingPut>, PutAnswer>>,
    ) -> Self {
        Self {
            _turn: turn,
            writer,
            _lead: lead,
        }
    }
}

impl Deref for Exclusive<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for Exclusive<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}
