//! The trusted clock: the time by which decisions are made (ruling I21).
//!
//! The system clock is trusted up to a day beyond the trusted time, which follows it step by step,
//! and the steps together up to a day beyond the steady clock: since the store was opened, and
//! since an earlier opening under the same start of the machine. A clock further ahead has leapt:
//! that is recorded, and the trusted time stays where it is until the clock goes back or an
//! operator accepts it, however often the store is written to or opened meanwhile.

use crate::grain::Time;
use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::policy::TrustedNow;
use crate::store::Error;
use crate::store::records::{PolicyRecord, Reading, Record};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TrustedClock {
    /// `None` in a store without entries.
    trusted: Option<Time>,
    has_leapt: bool,
    /// The time of the last entry: ledger time never goes back, even if the clock does, unless an
    /// operator repairs it.
    last: Option<Time>,
    /// The recorded reading of the steady clock.
    measured: Option<Reading>,
}

impl TrustedClock {
    /// Returns the time up to which the clock was last trusted.
    pub(crate) const fn trusted(self) -> Option<Time> {
        self.trusted
    }

    /// Returns the time of the last entry.
    pub(crate) const fn last(self) -> Option<Time> {
        self.last
    }

    /// Returns the time of the next entry, when the clock shows `told`.
    pub(crate) fn entry_time(self, told: Time) -> Time {
        self.last.map_or(told, |last| last.max(told))
    }

    /// Returns the reading from which an opening measures, when the clocks show `now`: the step
    /// from the trusted time is taken from what the clock may be ahead, but for an hour, by which a
    /// clock that is right may still be corrected.
    pub(crate) fn measure_from(self, now: Reading) -> Reading {
        let Some(trusted) = self.trusted else {
            return now;
        };
        let told = now.told.min(after(trusted, STEP_MAX_MS));
        let told = after(told, HOUR_MS - STEP_MAX_MS).max(trusted);
        Reading { told, ..now }
    }

    /// Returns the time by the steady clock, of an opening that measures from `opened`.
    pub(crate) fn measured(self, now: Reading, opened: Reading) -> Time {
        let since = |from: Reading| {
            let passed = now.steady_ms.saturating_sub(from.steady_ms);
            after(from.told, passed.max(0))
        };
        let of_boot = self.measured.filter(|_| self.is_measured(now)).map(since);
        of_boot.map_or(since(opened), |time| time.min(since(opened)))
    }

    /// Returns the trusted time for a decision.
    pub(crate) fn moment(self, now: Reading, opened: Reading) -> TrustedNow {
        let told = now.told;
        let Some(trusted) = self.trusted else {
            return TrustedNow {
                now: told,
                jumped: false,
            };
        };
        let believed = after(self.measured(now, opened).min(trusted), STEP_MAX_MS);
        TrustedNow {
            now: told.min(believed).max(trusted),
            jumped: told > believed,
        }
    }

    /// Returns the next record about the clock that must be written before an entry.
    pub(crate) fn observe(
        self,
        now: Reading,
        opened: Reading,
        created: Time,
    ) -> Option<PolicyRecord> {
        let trusted = self.trusted?;
        if self.moment(now, opened).jumped {
            return (!self.has_leapt).then_some(PolicyRecord::ClockLeapt(trusted));
        }
        // A store in its first hour needs no reading: an hour is within what a clock may be ahead.
        let known = self.measured.map_or(created, |reading| reading.told);
        let is_due = now.told.ms().abs_diff(known.ms()) >= HOUR_MS.unsigned_abs();
        if is_due && now.boot.is_some() && !self.is_measured(now) {
            let from = self.measure_from(now);
            return Some(PolicyRecord::ClockMeasured(Reading {
                told: from.told.min(self.measured(now, opened)),
                ..from
            }));
        }
        // The times of entries do not show how far the clock was followed while they are ahead of
        // it or equal to it, nor that it went back after a leap.
        let is_behind = self.last.is_some_and(|last| now.told <= last);
        let step = now.told.ms().saturating_sub(trusted.ms());
        let follows = (is_behind || self.has_leapt) && step >= HOUR_MS;
        follows.then_some(PolicyRecord::ClockFollowed(now.told))
    }

    /// Returns whether the recorded reading counts from the same start of the machine.
    fn is_measured(self, now: Reading) -> bool {
        let is_of =
            |reading: Reading| reading.boot == now.boot && reading.steady_ms <= now.steady_ms;
        now.boot.is_some() && self.measured.is_some_and(is_of)
    }
}

impl Fold for TrustedClock {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        let mut rows = of_kinds(snapshot, &[Kind::Policy])?;
        // Ledger time goes back at a repair only, which is a source: the last entry has the latest
        // time since.
        snapshot
            .watermark()
            .checked_sub(1)
            .into_iter()
            .for_each(|last| rows.insert(EntryId::new(last)));
        Ok(rows)
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        match entry.body {
            Body::Record(Record::Policy(PolicyRecord::ClockLeapt(trusted))) => {
                self.trusted = Some(*trusted);
                self.has_leapt = true;
            }
            Body::Record(Record::Policy(PolicyRecord::ClockFollowed(told))) => {
                self.trusted = self.trusted.max(Some(*told));
                self.has_leapt = false;
            }
            // The time of its entry is that of the entry before it where the clock went back, and
            // recovery may not have seen that entry.
            Body::Record(Record::Policy(PolicyRecord::ClockAccepted { reading, .. })) => {
                self.accept(*reading);
            }
            Body::Record(Record::Policy(PolicyRecord::ClockRepaired { reading, .. })) => {
                self.accept(*reading);
                self.last = None;
            }
            body => {
                if let Body::Record(Record::Policy(PolicyRecord::ClockMeasured(reading))) = body {
                    self.measured = Some(*reading);
                }
                if !self.has_leapt && self.last.is_none_or(|last| entry.time > last) {
                    self.trusted = self.trusted.max(Some(entry.time));
                }
            }
        }
        self.last = self.last.max(Some(entry.time));
        Ok(())
    }
}

impl TrustedClock {
    fn accept(&mut self, reading: Reading) {
        self.trusted = Some(reading.told);
        self.has_leapt = false;
        self.measured = reading.boot.is_some().then_some(reading);
    }
}

const fn after(time: Time, ms: i64) -> Time {
    Time::from_ms(time.ms().saturating_add(ms))
}

/// Ruling I21: a clock further ahead than this is not trusted.
const STEP_MAX_MS: i64 = 24 * HOUR_MS;

/// The step of the clock that is recorded by an entry.
const HOUR_MS: i64 = 60 * 60 * 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RecordedAuthorization;

    impl TrustedClock {
        fn moment_at(self, told: Time) -> TrustedNow {
            self.moment(steady(told), steady(told))
        }

        fn write(&mut self, record: PolicyRecord, told: Time) {
            let (time, record) = (self.entry_time(told), Record::Policy(record));
            let body = Body::Record(&record);
            self.apply(&Entry {
                row: EntryId::FIRST,
                time,
                body,
                card: None,
                ciphertext: None,
            })
            .unwrap();
        }

        /// Writes an entry as a commit does; returns what was recorded about the clock.
        fn commit(&mut self, told: Time) -> Option<PolicyRecord> {
            let observed = self.observe(steady(told), steady(told), told);
            if let Some(record) = observed.clone() {
                self.write(record, told);
            }
            // A record that does not concern the clock.
            self.write(regimes(), told);
            observed
        }
    }

    /// A steady clock that is not shared agrees with any time of day.
    fn steady(told: Time) -> Reading {
        Reading {
            told,
            steady_ms: told.ms(),
            boot: None,
        }
    }

    fn authorization() -> RecordedAuthorization {
        RecordedAuthorization {
            reason: "checked".into(),
            authority: "the operator".into(),
        }
    }

    fn regimes() -> PolicyRecord {
        PolicyRecord::Regimes {
            documents: Vec::new(),
            authorization: authorization(),
        }
    }

    #[test]
    fn a_clock_is_believed_for_a_day_and_not_sooner_for_being_asked_again() {
        let mut clock = TrustedClock::default();
        let day = STEP_MAX_MS;
        assert_eq!(clock.commit(Time::from_ms(0)), None);
        assert_eq!(clock.commit(Time::from_ms(day)), None);
        let leapt = Time::from_ms(2 * day + 1);
        let trusted = Time::from_ms(day);
        assert_eq!(clock.commit(leapt), Some(PolicyRecord::ClockLeapt(trusted)));
        for _ in 0..3 {
            assert_eq!(clock.commit(leapt), None);
            let moment = clock.moment_at(leapt);
            assert!(moment.jumped && moment.now == Time::from_ms(2 * day));
        }
        // After the clock is corrected it is trusted as before, and an accepted clock is trusted
        // from its time on.
        assert!(!clock.moment_at(Time::from_ms(day + 1)).jumped);
        let accepted = PolicyRecord::ClockAccepted {
            reading: steady(leapt),
            authorization: authorization(),
        };
        clock.write(accepted, leapt);
        assert_eq!(clock.moment_at(leapt).now, leapt);
        assert_eq!(clock.commit(Time::from_ms(leapt.ms() + day)), None);
    }

    #[test]
    fn a_clock_set_right_is_followed_although_the_time_of_the_ledger_stays_ahead_of_it() {
        let mut clock = TrustedClock::default();
        let (day, ahead) = (STEP_MAX_MS, Time::from_ms(400 * STEP_MAX_MS));
        clock.commit(Time::from_ms(0));
        clock.commit(ahead);
        let accepted = PolicyRecord::ClockAccepted {
            reading: steady(Time::from_ms(day)),
            authorization: authorization(),
        };
        clock.write(accepted, Time::from_ms(day));
        for hour in 25..240 {
            let told = Time::from_ms(hour * 60 * 60 * 1000);
            assert_eq!(clock.commit(told), Some(PolicyRecord::ClockFollowed(told)));
            assert!(!clock.moment_at(told).jumped);
        }
    }
    #[test]
    fn a_clock_set_right_is_followed_to_the_very_time_of_the_last_entry() {
        let mut clock = TrustedClock::default();
        let (begin, end) = (Time::from_ms(0), Time::from_ms(STEP_MAX_MS));
        clock.commit(begin);
        clock.commit(end);
        let accepted = PolicyRecord::ClockAccepted {
            reading: steady(begin),
            authorization: authorization(),
        };
        clock.write(accepted, begin);
        assert_eq!(clock.commit(end), Some(PolicyRecord::ClockFollowed(end)));
        // A lock that was open then stays open when the clock goes back.
        assert_eq!(clock.moment_at(begin).now, end);
        assert_eq!(clock.commit(end), None);
    }
}
