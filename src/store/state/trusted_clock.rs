//! The trusted clock: the time by which decisions are made (ruling I21).
//!
//! The system clock is trusted up to a day beyond the trusted time, which follows it step by step.
//! A longer step is a leap: it is recorded, and the trusted time stays where it is until an
//! operator accepts the clock, however often the store is written to meanwhile.

use crate::grain::Time;
use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::policy::TrustedNow;
use crate::store::Error;
use crate::store::records::{PolicyRecord, Record};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TrustedClock {
    /// `None` in a store without entries.
    trusted: Option<Time>,
    has_leapt: bool,
    /// The time of the last entry: ledger time never goes back, even if the clock does.
    last: Option<Time>,
}

impl TrustedClock {
    /// Returns the time up to which the clock was last trusted.
    pub(crate) const fn trusted(self) -> Option<Time> {
        self.trusted
    }

    /// Returns the time of the next entry, when the clock shows `told`.
    pub(crate) fn entry_time(self, told: Time) -> Time {
        self.last.map_or(told, |last| last.max(told))
    }

    /// Returns the trusted time for a decision, when the clock shows `told`.
    pub(crate) fn moment(self, told: Time) -> TrustedNow {
        let Some(trusted) = self.trusted else {
            return TrustedNow {
                now: told,
                jumped: false,
            };
        };
        let believed = Time::from_ms(trusted.ms().saturating_add(STEP_MAX_MS));
        TrustedNow {
            now: told.min(believed).max(trusted),
            jumped: told > believed,
        }
    }

    /// Returns the record about the clock that must be written before the next entry.
    pub(crate) fn observe(self, told: Time) -> Option<PolicyRecord> {
        let trusted = self.trusted?;
        if self.has_leapt {
            return None;
        }
        if self.moment(told).jumped {
            return Some(PolicyRecord::ClockLeapt(trusted));
        }
        // The times of entries do not show how far the clock was followed while they are ahead of
        // it.
        let is_behind = self.last.is_some_and(|last| told < last);
        let step = told.ms().saturating_sub(trusted.ms());
        (is_behind && step >= FOLLOWED_MS).then_some(PolicyRecord::ClockFollowed(told))
    }
}

impl Fold for TrustedClock {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        let mut rows = of_kinds(snapshot, &[Kind::Policy])?;
        // Ledger time does not go back, so the last entry has the latest time.
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
            }
            // Its own time is that of the entry before it where the clock went back, and recovery
            // may not have seen that entry.
            Body::Record(Record::Policy(PolicyRecord::ClockAccepted { told, .. })) => {
                self.trusted = Some(*told);
                self.has_leapt = false;
            }
            Body::Grain(_) | Body::Record(_)
                if !self.has_leapt && self.last.is_none_or(|last| entry.time > last) =>
            {
                self.trusted = self.trusted.max(Some(entry.time));
            }
            Body::Grain(_) | Body::Record(_) => {}
        }
        self.last = self.last.max(Some(entry.time));
        Ok(())
    }
}

/// Ruling I21: a clock further ahead than this is not trusted.
const STEP_MAX_MS: i64 = 24 * 60 * 60 * 1000;

/// The step of the clock that is recorded by an entry.
const FOLLOWED_MS: i64 = 60 * 60 * 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::records::RecordedAuthorization;

    impl TrustedClock {
        fn write(&mut self, record: PolicyRecord, told: Time) {
            let (time, record) = (self.entry_time(told), Record::Policy(record));
            let body = Body::Record(&record);
            self.apply(&Entry {
                row: EntryId::FIRST,
                time,
                body,
            })
            .unwrap();
        }

        /// Writes an entry as a commit does; returns what was recorded about the clock.
        fn commit(&mut self, told: Time) -> Option<PolicyRecord> {
            let observed = self.observe(told);
            if let Some(record) = observed.clone() {
                self.write(record, told);
            }
            // A record that does not concern the clock.
            self.write(regimes(), told);
            observed
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
            let moment = clock.moment(leapt);
            assert!(moment.jumped && moment.now == Time::from_ms(2 * day));
        }
        // After the clock is corrected it is trusted as before, and an accepted clock is trusted
        // from its time on.
        assert!(!clock.moment(Time::from_ms(day + 1)).jumped);
        let accepted = PolicyRecord::ClockAccepted {
            told: leapt,
            authorization: authorization(),
        };
        clock.write(accepted, leapt);
        assert_eq!(clock.moment(leapt).now, leapt);
        assert_eq!(clock.commit(Time::from_ms(leapt.ms() + day)), None);
    }

    #[test]
    fn a_clock_set_right_is_followed_although_the_time_of_the_ledger_stays_ahead_of_it() {
        let mut clock = TrustedClock::default();
        let (day, ahead) = (STEP_MAX_MS, Time::from_ms(400 * STEP_MAX_MS));
        clock.commit(Time::from_ms(0));
        clock.commit(ahead);
        let accepted = PolicyRecord::ClockAccepted {
            told: Time::from_ms(day),
            authorization: authorization(),
        };
        clock.write(accepted, Time::from_ms(day));
        for hour in 25..240 {
            let told = Time::from_ms(hour * 60 * 60 * 1000);
            assert_eq!(clock.commit(told), Some(PolicyRecord::ClockFollowed(told)));
            assert!(!clock.moment(told).jumped);
        }
    }
}
