//! The pace of a long operation: the rate of its last seconds, and the time that is left at that
//! rate.
//!
//! The average since the beginning would promise too much to an operation that slows down as the
//! store grows.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use indicatif::style::ProgressTracker;
use indicatif::{HumanDuration, ProgressState};

/// The positions of an operation in its last seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    began: Option<Instant>,
    /// Times since the beginning, with the position at each; the oldest is the last one before the
    /// window.
    seen: VecDeque<(Duration, u64)>,
}

impl Pace {
    /// Notes the position at a time since the beginning, which does not go back.
    fn note(&mut self, at: Duration, position: u64) {
        self.seen.push_back((at, position));
        let is_old = |it: Option<&(Duration, u64)>| it.is_some_and(|(time, _)| at - *time > WINDOW);
        while is_old(self.seen.get(1)) || self.seen.len() > SEEN_MAX {
            self.seen.pop_front();
        }
    }

    /// Returns the positions a second, over the last seconds; `None` before anything has moved.
    fn rate(&self) -> Option<f64> {
        let ((from, first), (to, last)) = (self.seen.front()?, self.seen.back()?);
        let seconds = to.saturating_sub(*from).as_secs_f64();
        let moved = last.saturating_sub(*first);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        (moved > 0 && seconds > 0.0).then(|| moved as f64 / seconds)
    }

    /// Returns the time until `total` is reached at the rate of the last seconds.
    fn left(&self, total: u64) -> Option<Duration> {
        let (_, position) = self.seen.back()?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate for people")]
        let left = total.saturating_sub(*position) as f64;
        Duration::try_from_secs_f64(left / self.rate()?).ok()
    }
}

impl ProgressTracker for Pace {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, state: &ProgressState, now: Instant) {
        let began = *self.began.get_or_insert(now);
        self.note(now.saturating_duration_since(began), state.pos());
    }

    fn reset(&mut self, _: &ProgressState, _: Instant) {
        *self = Self::default();
    }

    fn write(&self, state: &ProgressState, text: &mut dyn fmt::Write) {
        let (Some(rate), Some(total)) = (self.rate(), state.len()) else {
            return;
        };
        // A bar that cannot be drawn does not fail the command.
        let _ = write!(text, "{rate:.0}/s");
        if let Some(left) = self.left(total).filter(|left| *left >= SHOWN_FROM) {
            let _ = write!(text, ", {} left", HumanDuration(left));
        }
    }
}

/// The seconds of which the rate is.
const WINDOW: Duration = Duration::from_secs(5);

/// Enough for the redraws of the window; more would be noise.
const SEEN_MAX: usize = 256;

/// A shorter time is over before it is read.
const SHOWN_FROM: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a pace ten times a second with the position that `at` returns for each second, until
    /// `until`.
    fn run(until: f64, at: impl Fn(f64) -> f64) -> Pace {
        let mut pace = Pace::default();
        for tenth in 0..=1000_u32 {
            let second = f64::from(tenth) / 10.0;
            if second > until {
                break;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positions of the tests are small"
            )]
            pace.note(Duration::from_secs_f64(second), at(second) as u64);
        }
        pace
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        // Fast for ten seconds, then slow.
        let pace = run(20.0, |second| second.min(10.0) * 9_000.0 + second * 1_000.0);
        let rate = pace.rate().unwrap();
        assert!((900.0..1_100.0).contains(&rate), "{rate}");
        // Halted: nothing is promised.
        let halted = run(30.0, |second| second.min(10.0) * 1_000.0);
        assert_eq!((halted.rate(), halted.left(20_000)), (None, None));
        assert_eq!(Pace::default().left(1), None);
    }

    /// An import of 300,000 grains that takes 20 s at a rate which falls by a third to its end.
    #[test]
    fn the_estimate_is_right_within_a_third() {
        let position = |second: f64| 18_000.0 * second - 150.0 * second * second;
        for second in [1.0, 2.0, 5.0, 10.0, 15.0, 19.0] {
            let pace = run(second, position);
            let left = pace.left(300_000).unwrap().as_secs_f64();
            let truth = 20.0 - second;
            assert!(
                (left - truth).abs() <= truth / 3.0,
                "at {second} s: {left} of {truth}"
            );
        }
    }
}
