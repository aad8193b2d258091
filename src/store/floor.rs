use crate::codec::{self, Map, Value};
use crate::grain::Time;
use crate::ledger::Kind;
use crate::policy::TrustedNow;

use super::commit::Frame;
use super::entry::{decode, encode};
use super::mandate::Mandate;
use super::open::Inner;
use super::{Error, Store};

/// How far the clock is believed (ruling I21): up to a day beyond the floor, which follows the
/// clock step by step. A longer step is a leap: it goes on record, and the floor stays where it is
/// until an operator accepts the clock, however often somebody writes meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Floor {
    at: Option<Time>,
    has_leapt: bool,
}

/// What a store makes of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockState {
    /// What the clock says.
    pub now: Time,
    /// Up to when it is believed; none of a store without entries.
    pub floor: Option<Time>,
    /// Whether it leapt ahead and nobody has accepted that: `timed` grains stay locked.
    pub is_doubted: bool,
}

impl Floor {
    /// Returns the moment that a decision may go by.
    pub(super) fn moment(self, told: Time) -> TrustedNow {
        let Some(floor) = self.at else {
            return TrustedNow {
                now: told,
                jumped: false,
            };
        };
        let believed = Time::from_ms(floor.ms().saturating_add(STEP_MAX_MS));
        TrustedNow {
            now: told.min(believed).max(floor),
            jumped: told > believed,
        }
    }

    /// Follows the clock; returns the floor if it leaps now, which belongs on record.
    pub(super) fn follow(&mut self, told: Time) -> Option<Time> {
        if self.has_leapt {
            return None;
        }
        if self.moment(told).jumped {
            self.has_leapt = true;
            return self.at;
        }
        self.at = Some(self.at.map_or(told, |floor| floor.max(told)));
        None
    }

    fn accept(&mut self, told: Time) {
        *self = Self {
            at: Some(told),
            has_leapt: false,
        };
    }
}

/// What an entry says about the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClockEntry {
    /// It leapt, and is believed no further than this.
    Leapt(Time),
    /// An operator accepted it, as it said this.
    Accepted(Time),
}

impl ClockEntry {
    fn encode(self, mandate: Option<Mandate<'_>>) -> Result<Vec<u8>, codec::Error> {
        let (op, time) = match self {
            Self::Leapt(floor) => (LEAPT, floor),
            Self::Accepted(told) => (ACCEPTED, told),
        };
        let mut map = Map::from_iter([("op", Value::from(op)), ("t", time.ms().into())]);
        if let Some(mandate) = mandate {
            mandate.write(&mut map);
        }
        encode(map)
    }

    fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        let time = Time::from_ms(map.get("t")?.as_i64()?);
        match map.get("op")?.as_text()? {
            LEAPT => Some(Self::Leapt(time)),
            ACCEPTED => Some(Self::Accepted(time)),
            _ => None,
        }
    }
}

impl Store {
    /// Returns what the store makes of its clock.
    pub fn clock_state(&self) -> ClockState {
        let floor = self.inner.writer.lock().floor;
        let now = self.inner.options.clock.now();
        ClockState {
            now,
            floor: floor.at,
            is_doubted: floor.moment(now).jumped,
        }
    }

    /// Accepts what the clock says after it leapt ahead, so that `timed` grains go by it again
    /// (ruling I21). The entry in the ledger says who did and why.
    ///
    /// # Errors
    /// `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn accept_clock(&self, mandate: Mandate<'_>) -> Result<(), Error> {
        let inner = &*self.inner;
        let mandate = mandate.check()?;
        let mut writer = inner.lead_alone();
        let told = inner.options.clock.now();
        let mut frame = Frame::default();
        let entry = ClockEntry::Accepted(told).encode(Some(mandate))?;
        frame.record(Kind::Policy, entry);
        inner.commit(&mut writer, &frame)?;
        writer.floor.accept(told);
        Ok(())
    }
}

impl Inner {
    /// Returns the entry that says that the clock leapt.
    pub(super) fn leap(floor: Time) -> Result<Frame, Error> {
        let mut frame = Frame::default();
        frame.record(Kind::Policy, ClockEntry::Leapt(floor).encode(None)?);
        Ok(frame)
    }

    /// Returns the floor that the ledger leaves: what is on record holds over every reopening.
    pub(super) fn floor(&self, last: Time) -> Result<Floor, Error> {
        let snapshot = self.index.snapshot();
        for row in snapshot.of_kind(Kind::Policy).rows()?.iter().rev() {
            let entry = self.ledger.read(row)?;
            let (at, has_leapt) = match ClockEntry::decode(&entry.body) {
                Some(ClockEntry::Leapt(floor)) => (floor, true),
                // The ledger's time does not go back with a clock that was set right: it says how
                // far the clock was followed only once it has gone on.
                Some(ClockEntry::Accepted(told)) if entry.header.time_ms == last.ms() => {
                    (told, false)
                }
                Some(ClockEntry::Accepted(_)) => (last, false),
                None => continue,
            };
            return Ok(Floor {
                at: Some(at),
                has_leapt,
            });
        }
        Ok(Floor {
            at: Some(last),
            has_leapt: false,
        })
    }
}

/// Ruling I21: a clock further ahead than this is not believed by `timed` grains.
const STEP_MAX_MS: i64 = 24 * 60 * 60 * 1000;

const LEAPT: &str = "clock leapt";
const ACCEPTED: &str = "clock accepted";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_believed_for_a_day_and_not_sooner_for_being_asked_again() {
        let mut floor = Floor::default();
        let day = STEP_MAX_MS;
        assert_eq!(floor.follow(Time::from_ms(0)), None);
        assert_eq!(floor.follow(Time::from_ms(day)), None);
        let leapt = Time::from_ms(2 * day + 1);
        assert_eq!(floor.follow(leapt), Some(Time::from_ms(day)));
        for _ in 0..3 {
            assert_eq!(floor.follow(leapt), None);
            let moment = floor.moment(leapt);
            assert!(moment.jumped && moment.now == Time::from_ms(2 * day));
        }
        // Set right again, it is believed as before, and an accepted one from there.
        assert!(!floor.moment(Time::from_ms(day + 1)).jumped);
        floor.accept(leapt);
        assert_eq!(floor.moment(leapt).now, leapt);
        assert_eq!(floor.follow(Time::from_ms(leapt.ms() + day)), None);
    }
}
