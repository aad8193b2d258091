//! Group commit: the first thread to find no leader becomes the leader. It drains the queue,
//! evaluates the requests in order, writes them as one frame and wakes each waiter.
//!
//! The queue does not define requests and their answers: its user does.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, mem};

use crate::process::{Condvar, Mutex};

/// The queue of threads that write. A follower waits for no lock that another follower holds: each
/// has a waiter of its own, which receives an answer or the lead.
pub(crate) struct CommitQueue<R, A> {
    state: Mutex<Queue<R, A>>,
    arrival: Condvar,
}

struct Queue<R, A> {
    /// Whether a thread leads; without a leader the queue is empty.
    leading: bool,
    waiting: VecDeque<Queued<R, A>>,
    /// The weight of all waiting requests.
    weight: usize,
}

struct Queued<R, A> {
    /// The request and its weight; `None` for a thread that leads alone.
    request: Option<(R, usize)>,
    waiter: Arc<Waiter<A>>,
}

/// The place where one thread waits.
struct Waiter<A> {
    state: Mutex<SlotState<A>>,
    wake: Condvar,
}

enum SlotState<A> {
    Wait,
    Lead,
    /// `None` if the leader panicked before it had an answer.
    Answer(Option<A>),
}

/// The outcome of a request.
pub(crate) enum Enqueued<'a, R, A> {
    /// A leader has answered; `None` if it panicked before it had an answer.
    Answered(Option<A>),
    /// This thread leads; its own request is the first of those it takes.
    Lead(LeaderGuard<'a, R, A>),
}

/// The lead, handed on when dropped.
pub(crate) struct LeaderGuard<'a, R, A> {
    queue: &'a CommitQueue<R, A>,
    waiter: Arc<Waiter<A>>,
}

/// The promise of an answer; if it is dropped, the outcome is unknown.
pub(crate) struct Reply<A> {
    waiter: Option<Arc<Waiter<A>>>,
}

impl<R, A> CommitQueue<R, A> {
    /// Waits until a leader has answered, or this thread leads.
    pub(crate) fn enqueue(&self, request: R, weight: usize) -> Enqueued<'_, R, A> {
        let waiter = self.enter(Some((request, weight)));
        match waiter.wait() {
            None => Enqueued::Lead(LeaderGuard {
                queue: self,
                waiter,
            }),
            Some(answer) => Enqueued::Answered(answer),
        }
    }

    /// Waits until this thread leads, without a request of its own.
    pub(crate) fn lead_alone(&self) -> LeaderGuard<'_, R, A> {
        let waiter = self.enter(None);
        // A waiter without a request has no answer.
        waiter.wait();
        // The new leader is the first in the queue.
        self.state.lock().waiting.pop_front();
        LeaderGuard {
            queue: self,
            waiter,
        }
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }

    fn enter(&self, request: Option<(R, usize)>) -> Arc<Waiter<A>> {
        let mut queue = self.state.lock();
        let leads = !mem::replace(&mut queue.leading, true);
        let waiter = Arc::new(Waiter {
            state: Mutex::new(if leads {
                SlotState::Lead
            } else {
                SlotState::Wait
            }),
            wake: Condvar::new(),
        });
        queue.weight += request.as_ref().map_or(0, |(_, weight)| *weight);
        queue.waiting.push_back(Queued {
            request,
            waiter: Arc::clone(&waiter),
        });
        drop(queue);
        self.arrival.notify_one();
        waiter
    }
}

impl<R, A> LeaderGuard<'_, R, A> {
    /// Takes requests from the head of the queue: one, and more while they weigh no more than
    /// `weight_max` together. Waits up to `patience` for more to arrive.
    pub(crate) fn take(&mut self, weight_max: usize, patience: Duration) -> Vec<(R, Reply<A>)> {
        let mut queue = self.queue.state.lock();
        if !patience.is_zero() {
            let is_less = |queue: &mut Queue<R, A>| queue.weight < weight_max;
            let arrival = &self.queue.arrival;
            queue = arrival.wait_while_for(queue, is_less, patience);
        }
        let mut taken = Vec::new();
        let mut sum = 0_usize;
        while let Some(Queued { request, waiter }) = queue.waiting.pop_front() {
            let fits = |weight| taken.is_empty() || sum.saturating_add(weight) <= weight_max;
            match request {
                Some((request, weight)) if fits(weight) => {
                    sum = sum.saturating_add(weight);
                    queue.weight -= weight;
                    taken.push((
                        request,
                        Reply {
                            waiter: Some(waiter),
                        },
                    ));
                }
                // For the next leader.
                request => {
                    queue.waiting.push_front(Queued { request, waiter });
                    break;
                }
            }
        }
        taken
    }

    /// Returns the answer to this thread's own request.
    pub(crate) fn own(&self) -> Option<A> {
        match mem::replace(&mut *self.waiter.state.lock(), SlotState::Wait) {
            SlotState::Answer(answer) => answer,
            SlotState::Wait | SlotState::Lead => None,
        }
    }
}

impl<R, A> Drop for LeaderGuard<'_, R, A> {
    fn drop(&mut self) {
        let mut queue = self.queue.state.lock();
        match queue.waiting.front() {
            Some(next) => next.waiter.set(SlotState::Lead),
            None => queue.leading = false,
        }
    }
}

impl<A> Reply<A> {
    pub(crate) fn give(mut self, answer: A) {
        if let Some(waiter) = self.waiter.take() {
            waiter.set(SlotState::Answer(Some(answer)));
        }
    }
}

impl<A> Drop for Reply<A> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            waiter.set(SlotState::Answer(None));
        }
    }
}

impl<A> Waiter<A> {
    fn set(&self, state: SlotState<A>) {
        *self.state.lock() = state;
        self.wake.notify_one();
    }

    /// Waits for an answer; `None` is the lead.
    fn wait(&self) -> Option<Option<A>> {
        let mut state = self.state.lock();
        loop {
            match mem::replace(&mut *state, SlotState::Wait) {
                SlotState::Wait => state = self.wake.wait(state),
                SlotState::Lead => return None,
                SlotState::Answer(answer) => return Some(answer),
            }
        }
    }
}

impl<R, A> Default for CommitQueue<R, A> {
    fn default() -> Self {
        Self {
            state: Mutex::new(Queue {
                leading: false,
                waiting: VecDeque::new(),
                weight: 0,
            }),
            arrival: Condvar::new(),
        }
    }
}

impl<R, A> fmt::Debug for CommitQueue<R, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommitQueue")
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    type Line = CommitQueue<u32, u32>;

    /// Answers all that it takes with their sum.
    fn lead(turn: &mut LeaderGuard<'_, u32, u32>) -> usize {
        let taken = turn.take(100, Duration::ZERO);
        let sum = taken.iter().map(|(request, _)| request).sum();
        let count = taken.len();
        taken.into_iter().for_each(|(_, answer)| answer.give(sum));
        count
    }

    /// Asks with weight 1 and leads if told to; returns the answer, and how many it answered.
    fn ask(line: &Line, request: u32) -> (Option<u32>, usize) {
        match line.enqueue(request, 1) {
            Enqueued::Answered(answer) => (answer, 0),
            Enqueued::Lead(mut turn) => {
                let count = lead(&mut turn);
                (turn.own(), count)
            }
        }
    }

    fn until_waiting(line: &Line, count: usize) {
        while line.state.lock().waiting.len() < count {
            thread::yield_now();
        }
    }

    #[test]
    fn what_comes_while_somebody_leads_is_answered_together_by_the_next() {
        let line = Line::default();
        thread::scope(|scope| {
            let turn = line.lead_alone();
            let asks: Vec<_> = (0..40).map(|_| scope.spawn(|| ask(&line, 1))).collect();
            until_waiting(&line, 40);
            drop(turn);
            let answers = asks.into_iter().map(|ask| ask.join().unwrap());
            let mut leads: Vec<_> = answers.map(|(sum, count)| (sum.unwrap(), count)).collect();
            leads.sort_unstable();
            assert!(leads.iter().all(|(sum, _)| *sum == 40), "{leads:?}");
            assert_eq!(leads[39].1, 40, "one led for all");
        });
        assert!(!line.state.lock().leading);
        assert_eq!(ask(&line, 7), (Some(7), 1));
    }

    #[test]
    fn a_leader_takes_no_more_than_it_may_and_nothing_from_behind_who_leads_alone() {
        let line = Line::default();
        let enter = |weight| drop(line.enter(Some((1, weight))));
        let mut turn = line.lead_alone();
        [60, 40, 1, 500].into_iter().for_each(enter);
        drop(line.enter(None));
        enter(1);
        let mut take = || turn.take(100, Duration::ZERO).len();
        assert_eq!([take(), take(), take(), take()], [2, 1, 1, 0]);
        assert_eq!(line.state.lock().weight, 1);
    }

    #[test]
    fn a_patient_leader_goes_on_as_soon_as_there_is_enough() {
        let line = Line::default();
        thread::scope(|scope| {
            let mut turn = line.lead_alone();
            let asks: Vec<_> = (0..5).map(|_| scope.spawn(|| ask(&line, 1))).collect();
            // It would take an hour.
            let taken = turn.take(5, Duration::from_secs(3600));
            assert_eq!(taken.len(), 5);
            taken.into_iter().for_each(|(_, answer)| answer.give(9));
            for ask in asks {
                assert_eq!(ask.join().unwrap(), (Some(9), 0));
            }
        });
    }

    #[test]
    fn a_leader_that_panics_leaves_nobody_waiting() {
        let line = Line::default();
        thread::scope(|scope| {
            let turn = line.lead_alone();
            let asks: Vec<_> = (0..3).map(|_| scope.spawn(|| ask(&line, 1))).collect();
            until_waiting(&line, 3);
            // The next leader panics with their requests in its hands, and so does one that
            // leads alone.
            let panics = scope.spawn(|| {
                let panic = || {
                    let _turn = line.lead_alone();
                    panic!("a leader of this test");
                };
                catch_unwind(AssertUnwindSafe(panic)).is_err()
            });
            until_waiting(&line, 4);
            let panic = || {
                let mut turn = turn;
                let _taken = turn.take(100, Duration::ZERO);
                panic!("another leader of this test");
            };
            assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
            for ask in asks {
                assert_eq!(ask.join().unwrap(), (None, 0));
            }
            assert!(panics.join().unwrap());
        });
        assert_eq!(ask(&line, 7), (Some(7), 1));
    }

    #[test]
    fn threads_that_ask_and_lead_in_any_order_are_all_answered() {
        let line = Line::default();
        thread::scope(|scope| {
            for n in 0..8 {
                let line = &line;
                scope.spawn(move || {
                    for round in 0..500 {
                        if (n + round) % 7 == 0 {
                            drop(line.lead_alone());
                        } else {
                            assert!(ask(line, 1).0.is_some_and(|sum| (1..=8).contains(&sum)));
                        }
                    }
                });
            }
        });
        assert!(!line.state.lock().leading);
    }
}
