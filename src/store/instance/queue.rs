use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Who writes next. Whoever comes first leads; requests that come meanwhile wait, and the next
/// leader, the first of them, answers as many as go into one frame. Nobody waits for a lock that
/// another follower holds: each has a slot of its own, in which it finds an answer or the lead.
pub(crate) struct Turns<R, A> {
    queue: Mutex<Queue<R, A>>,
    arrival: Condvar,
}

struct Queue<R, A> {
    /// Whether somebody leads; if nobody does, nobody waits.
    leading: bool,
    waiting: VecDeque<Waiting<R, A>>,
    /// The weight of all requests that wait.
    weight: usize,
}

struct Waiting<R, A> {
    /// What is asked for, and its weight; none asks to lead alone.
    request: Option<(R, usize)>,
    slot: Arc<Slot<A>>,
}

/// Where one thread waits.
struct Slot<A> {
    word: Mutex<Word<A>>,
    wake: Condvar,
}

enum Word<A> {
    Wait,
    Lead,
    /// None if the leader was lost before it knew.
    Answer(Option<A>),
}

/// What became of a request.
pub(crate) enum Asked<'a, R, A> {
    /// A leader has answered; none if it was lost before it knew.
    Answered(Option<A>),
    /// This thread leads; its own request is the first of those it takes.
    Lead(Turn<'a, R, A>),
}

/// The lead, handed on when dropped.
pub(crate) struct Turn<'a, R, A> {
    turns: &'a Turns<R, A>,
    slot: Arc<Slot<A>>,
}

/// The promise of an answer; if it is dropped, the asker learns that nobody knows.
pub(crate) struct Answer<A> {
    slot: Option<Arc<Slot<A>>>,
}

impl<R, A> Turns<R, A> {
    /// Waits until a leader has answered, or this thread leads.
    pub(crate) fn ask(&self, request: R, weight: usize) -> Asked<'_, R, A> {
        let slot = self.enter(Some((request, weight)));
        match slot.wait() {
            None => Asked::Lead(Turn { turns: self, slot }),
            Some(answer) => Asked::Answered(answer),
        }
    }

    /// Waits until this thread leads, and answers nobody: what it writes is its own affair.
    pub(crate) fn alone(&self) -> Turn<'_, R, A> {
        let slot = self.enter(None);
        // Nobody answers what is not a request.
        slot.wait();
        // Whoever is handed the lead stands first.
        self.queue.lock().waiting.pop_front();
        Turn { turns: self, slot }
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.queue.lock().waiting.len()
    }

    fn enter(&self, request: Option<(R, usize)>) -> Arc<Slot<A>> {
        let mut queue = self.queue.lock();
        let leads = !mem::replace(&mut queue.leading, true);
        let slot = Arc::new(Slot {
            word: Mutex::new(if leads { Word::Lead } else { Word::Wait }),
            wake: Condvar::new(),
        });
        queue.weight += request.as_ref().map_or(0, |(_, weight)| *weight);
        queue.waiting.push_back(Waiting {
            request,
            slot: Arc::clone(&slot),
        });
        drop(queue);
        self.arrival.notify_one();
        slot
    }
}

impl<R, A> Turn<'_, R, A> {
    /// Takes requests from the head of the queue: one, and more while they weigh no more than
    /// `weight_max` together. Waits up to `patience` for that many to come.
    pub(crate) fn take(&mut self, weight_max: usize, patience: Duration) -> Vec<(R, Answer<A>)> {
        let mut queue = self.turns.queue.lock();
        if !patience.is_zero() {
            let is_less = |queue: &mut Queue<R, A>| queue.weight < weight_max;
            self.turns
                .arrival
                .wait_while_for(&mut queue, is_less, patience);
        }
        let mut taken = Vec::new();
        let mut sum = 0_usize;
        while let Some(Waiting { request, slot }) = queue.waiting.pop_front() {
            let fits = |weight| taken.is_empty() || sum.saturating_add(weight) <= weight_max;
            match request {
                Some((request, weight)) if fits(weight) => {
                    sum = sum.saturating_add(weight);
                    queue.weight -= weight;
                    taken.push((request, Answer { slot: Some(slot) }));
                }
                // The next leader's.
                request => {
                    queue.waiting.push_front(Waiting { request, slot });
                    break;
                }
            }
        }
        taken
    }

    /// Returns the answer to this thread's own request.
    pub(crate) fn own(&self) -> Option<A> {
        match mem::replace(&mut *self.slot.word.lock(), Word::Wait) {
            Word::Answer(answer) => answer,
            Word::Wait | Word::Lead => None,
        }
    }
}

impl<R, A> Drop for Turn<'_, R, A> {
    fn drop(&mut self) {
        let mut queue = self.turns.queue.lock();
        match queue.waiting.front() {
            Some(next) => next.slot.say(Word::Lead),
            None => queue.leading = false,
        }
    }
}

impl<A> Answer<A> {
    pub(crate) fn give(mut self, answer: A) {
        if let Some(slot) = self.slot.take() {
            slot.say(Word::Answer(Some(answer)));
        }
    }
}

impl<A> Drop for Answer<A> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            slot.say(Word::Answer(None));
        }
    }
}

impl<A> Slot<A> {
    fn say(&self, word: Word<A>) {
        *self.word.lock() = word;
        self.wake.notify_one();
    }

    /// Waits for an answer; none is the lead.
    fn wait(&self) -> Option<Option<A>> {
        let mut word = self.word.lock();
        loop {
            match mem::replace(&mut *word, Word::Wait) {
                Word::Wait => self.wake.wait(&mut word),
                Word::Lead => return None,
                Word::Answer(answer) => return Some(answer),
            }
        }
    }
}

impl<R, A> Default for Turns<R, A> {
    fn default() -> Self {
        Self {
            queue: Mutex::new(Queue {
                leading: false,
                waiting: VecDeque::new(),
                weight: 0,
            }),
            arrival: Condvar::new(),
        }
    }
}

impl<R, A> fmt::Debug for Turns<R, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turns")
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    type Line = Turns<u32, u32>;

    /// Answers all that it takes with their sum.
    fn lead(turn: &mut Turn<'_, u32, u32>) -> usize {
        let taken = turn.take(100, Duration::ZERO);
        let sum = taken.iter().map(|(request, _)| request).sum();
        let count = taken.len();
        taken.into_iter().for_each(|(_, answer)| answer.give(sum));
        count
    }

    /// Asks with weight 1 and leads if told to; returns the answer, and how many it answered.
    fn ask(line: &Line, request: u32) -> (Option<u32>, usize) {
        match line.ask(request, 1) {
            Asked::Answered(answer) => (answer, 0),
            Asked::Lead(mut turn) => {
                let count = lead(&mut turn);
                (turn.own(), count)
            }
        }
    }

    fn until_waiting(line: &Line, count: usize) {
        while line.queue.lock().waiting.len() < count {
            thread::yield_now();
        }
    }

    #[test]
    fn what_comes_while_somebody_leads_is_answered_together_by_the_next() {
        let line = Line::default();
        thread::scope(|scope| {
            let turn = line.alone();
            let asks: Vec<_> = (0..40).map(|_| scope.spawn(|| ask(&line, 1))).collect();
            until_waiting(&line, 40);
            drop(turn);
            let answers = asks.into_iter().map(|ask| ask.join().unwrap());
            let mut leads: Vec<_> = answers.map(|(sum, count)| (sum.unwrap(), count)).collect();
            leads.sort_unstable();
            assert!(leads.iter().all(|(sum, _)| *sum == 40), "{leads:?}");
            assert_eq!(leads[39].1, 40, "one led for all");
        });
        assert!(!line.queue.lock().leading);
        assert_eq!(ask(&line, 7), (Some(7), 1));
    }

    #[test]
    fn a_leader_takes_no_more_than_it_may_and_nothing_from_behind_who_leads_alone() {
        let line = Line::default();
        let enter = |weight| drop(line.enter(Some((1, weight))));
        let mut turn = line.alone();
        [60, 40, 1, 500].into_iter().for_each(enter);
        drop(line.enter(None));
        enter(1);
        let mut take = || turn.take(100, Duration::ZERO).len();
        assert_eq!([take(), take(), take(), take()], [2, 1, 1, 0]);
        assert_eq!(line.queue.lock().weight, 1);
    }

    #[test]
    fn a_patient_leader_goes_on_as_soon_as_there_is_enough() {
        let line = Line::default();
        thread::scope(|scope| {
            let mut turn = line.alone();
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
            let turn = line.alone();
            let asks: Vec<_> = (0..3).map(|_| scope.spawn(|| ask(&line, 1))).collect();
            until_waiting(&line, 3);
            // The next leader panics with their requests in its hands, and so does one that
            // leads alone.
            let panics = scope.spawn(|| {
                let panic = || {
                    let _turn = line.alone();
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
                            drop(line.alone());
                        } else {
                            assert!(ask(line, 1).0.is_some_and(|sum| (1..=8).contains(&sum)));
                        }
                    }
                });
            }
        });
        assert!(!line.queue.lock().leading);
    }
}
