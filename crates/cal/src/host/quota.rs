//! How many changes an actor makes in a minute (CAL 1.9).

use std::collections::VecDeque;

use grainstore::Time;

use crate::code::Code;
use crate::error::Error;
use crate::place::At;
use crate::run::Operation;

/// The changes of the last minute.
#[derive(Debug, Default)]
pub(super) struct Quotas(VecDeque<(Time, String, Operation)>);

impl Quotas {
    /// Returns how many changes of a kind an actor has left.
    pub(super) fn left(&mut self, actor: &str, operation: Operation, now: Time) -> usize {
        let is_past = |time: Time| now.ms().saturating_sub(time.ms()) >= MINUTE_MS;
        while self.0.front().is_some_and(|(time, ..)| is_past(*time)) {
            self.0.pop_front();
        }
        let made = self
            .0
            .iter()
            .filter(|(_, of, it)| of == actor && *it == operation);
        limit(operation).saturating_sub(made.count())
    }

    /// Counts a change.
    ///
    /// # Errors
    /// CAL-E043 and CAL-E052 for one more than there are.
    pub(super) fn take(
        &mut self,
        actor: &str,
        operation: Operation,
        now: Time,
    ) -> Result<(), Error> {
        if self.left(actor, operation, now) == 0 {
            let code = match operation {
                Operation::Add => Code::AddQuota,
                Operation::Supersede | Operation::Revert => Code::ChangeQuota,
            };
            let message = format!(
                "there are at most {} of {} in a minute",
                limit(operation),
                operation.keyword()
            );
            return Err(Error::new(code, At::default(), message).suggest("wait a minute"));
        }
        self.0.push_back((now, actor.to_owned(), operation));
        Ok(())
    }
}

const fn limit(operation: Operation) -> usize {
    match operation {
        Operation::Add => 20,
        Operation::Supersede => 10,
        Operation::Revert => 5,
    }
}

const MINUTE_MS: i64 = 60_000;
