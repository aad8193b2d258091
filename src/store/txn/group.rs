//! Group commit of puts: the leader of the queue stores the waiting requests in one frame.

use std::sync::Arc;
use std::time::Duration;

use crate::ledger;
use crate::process::ProcessId;
use crate::store::engine::{Caller, Engine, Enqueued, LeaderGuard, PutAnswer, Reach, Reply};
use crate::store::records::PendingPut;
use crate::store::{Durability, Error};

use super::admission::Admission;
use super::transaction::Transaction;

/// Stores the grains of one request, all or none, in a frame with those of others. Returns the places
/// of those that were there before; `by` is this process.
///
/// # Errors
/// As [`Store::put`](crate::Store::put), with the place of the grain in the request.
pub(crate) fn put_all(engine: &Engine, grains: Vec<PendingPut>, by: ProcessId) -> PutAnswer {
    let weight = grains.iter().map(PendingPut::weight).sum();
    let answer = match engine.commits().queue.enqueue(grains, weight) {
        Enqueued::Answered(answer) => answer,
        Enqueued::Lead(mut lead) => {
            lead_group(engine, &mut lead, by);
            lead.own()
        }
    };
    // A leader that panicked: the outcome is unknown.
    answer.unwrap_or(Err(Error::Ledger(ledger::Error::Halted)))
}

/// Decides the waiting requests in their order, and stores their new grains in one frame.
fn lead_group(
    engine: &Engine,
    lead: &mut LeaderGuard<'_, Vec<PendingPut>, PutAnswer>,
    by: ProcessId,
) {
    let patience = match engine.options().durability {
        Durability::Group(patience) => patience,
        Durability::Sync | Durability::Relaxed => Duration::ZERO,
    };
    // More requests arrive while other processes write.
    let turn = engine.take_turn(Reach::Turn, by);
    let requests = lead.take(FRAME_BYTES, patience);
    let right = match turn {
        Ok(turn) => engine.exclusive_of_leader(turn),
        Err(error) => {
            let waiting = requests.into_iter().map(|(_, reply)| reply);
            return refuse_all(waiting, error);
        }
    };
    let txn = Transaction::with(engine, right, Caller::default());
    let mut admission = Admission::new(txn);
    let mut waiting = Vec::with_capacity(requests.len());
    for (grains, reply) in requests {
        match admission.admit(grains) {
            Ok(admitted) if admitted.waits => waiting.push((reply, admitted.known)),
            Ok(admitted) => reply.give(Ok(admitted.known)),
            Err(error) => reply.give(Err(error)),
        }
    }
    match admission.commit() {
        Ok(()) => { waiting.into_iter() }.for_each(|(reply, known)| reply.give(Ok(known))),
        Err(error) => refuse_all(waiting.into_iter().map(|(reply, _)| reply), error),
    }
}

/// Answers all that wait with one error.
fn refuse_all(mut waiting: impl ExactSizeIterator<Item = Reply<PutAnswer>>, error: Error) {
    if waiting.len() > 1 {
        let error = Arc::new(error);
        waiting.for_each(|reply| reply.give(Err(Error::Shared(Arc::clone(&error)))));
    } else if let Some(only) = waiting.next() {
        only.give(Err(error));
    }
}

/// The most bytes of requests in one frame: many enough that a sync is cheap for each request, and
/// few enough that the last one does not wait for megabytes of the others.
const FRAME_BYTES: usize = 1 << 20;
