//! Days, weeks, months and years, in the calendar of a caller.

use std::ops::Range;

use crate::grain::Time;
use crate::text::Calendar;

/// A day, as the number of days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

/// Days, from one to before another.
pub(super) type Days = Range<Day>;

/// Returns the day of a moment.
pub(super) fn day_of(calendar: &Calendar, time: Time) -> Day {
    let local = time.ms().saturating_add(offset_ms(calendar));
    Day(local.div_euclid(DAY_MS))
}

/// Returns the milliseconds since 1970 of days.
pub(super) fn times(calendar: &Calendar, days: &Days) -> Range<i64> {
    let start_of = |day: Day| {
        let local = day.0.saturating_mul(DAY_MS);
        local.saturating_sub(offset_ms(calendar))
    };
    start_of(days.start)..start_of(days.end)
}

fn offset_ms(calendar: &Calendar) -> i64 {
    i64::from(calendar.offset_minutes) * 60_000
}

/// Returns the week of a day.
pub(super) const fn week(calendar: &Calendar, day: Day) -> Days {
    let behind = match calendar.starts_on_sunday {
        true => (day.weekday() + 1) % 7,
        false => day.weekday(),
    };
    let start = day.plus(-behind);
    start..start.plus(7)
}

impl Day {
    pub(super) const fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    pub(super) const fn alone(self) -> Days {
        self..self.plus(1)
    }

    /// Returns the weekday; 0 is Monday.
    pub(super) const fn weekday(self) -> i64 {
        // 1970-01-01 was a Thursday.
        self.0.saturating_add(3).rem_euclid(7)
    }

    /// Returns the last such weekday before a day.
    pub(super) const fn last(self, weekday: i64) -> Self {
        self.plus(-((self.weekday() - weekday - 1).rem_euclid(7) + 1))
    }

    /// Returns a day of the calendar; `None` if the calendar does not have it.
    pub(super) fn of(year: i64, month: i64, day: i64) -> Option<Self> {
        let start = month_start(year, month);
        let it = start.plus(day.checked_sub(1)?);
        (day >= 1 && it < month_start(year, month + 1)).then_some(it)
    }

    /// Returns the year, and the month from 1 to 12.
    pub(super) const fn year_and_month(self) -> (i64, i64) {
        // Days since 0000-03-01: years that begin in March, in which the lengths of months repeat every
        // five, and the leap day is the last.
        let days = self.0.saturating_add(719_468);
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = (from_march + 2) % 12 + 1;
        let next_year = if month <= 2 { 1 } else { 0 };
        (year + era * 400 + next_year, month)
    }

    /// Returns the month from 1 to 12, and the day of it.
    pub(super) const fn month_and_day(self) -> (i64, i64) {
        let (year, month) = self.year_and_month();
        (month, self.0 - month_start(year, month).0 + 1)
    }
}

/// Returns a month; months are counted on beyond 12 and before 1.
pub(super) const fn month(year: i64, month: i64) -> Days {
    month_start(year, month)..month_start(year, month + 1)
}

pub(super) const fn year(year: i64) -> Days {
    month_start(year, 1)..month_start(year + 1, 1)
}

const fn month_start(year: i64, month: i64) -> Day {
    let (year, month) = (
        year + (month - 1).div_euclid(12),
        (month - 1).rem_euclid(12) + 1,
    );
    let (year, from_march) = match month > 2 {
        true => (year, month - 3),
        false => (year - 1, month + 9),
    };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * from_march + 2) / 5;
    let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Day(era * 146_097 + days - 719_468)
}

pub(super) const DAY_MS: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_has_the_days_that_it_has() {
        let time = |text: &str| Time::parse(&format!("{text}T12:00:00Z")).unwrap();
        let calendar = Calendar::default();
        let mut day = Day::of(1899, 12, 31).unwrap();
        for _ in 0..100_000 {
            let (year, month) = day.year_and_month();
            let of_month = day.0 - month_start(year, month).0 + 1;
            assert_eq!(Day::of(year, month, of_month), Some(day));
            assert_eq!(
                day_of(&calendar, time(&format!("{year}-{month:02}-{of_month:02}"))),
                day
            );
            day = day.plus(1);
        }
        assert_eq!(Day::of(2025, 2, 29), None);
        assert_eq!(Day::of(2025, 4, 0), None);
        assert_eq!(day_of(&calendar, time("2026-03-18")).weekday(), 2);
    }

    #[test]
    fn a_day_begins_where_the_caller_is() {
        let late = Time::parse("2026-03-18T23:30:00Z").unwrap();
        let berlin = Calendar {
            offset_minutes: 60,
            ..Calendar::default()
        };
        let day = day_of(&berlin, late);
        assert_eq!(day, day_of(&Calendar::default(), late).plus(1));
        assert!(times(&berlin, &day.alone()).contains(&late.ms()));
        let sunday = Calendar {
            starts_on_sunday: true,
            ..berlin
        };
        assert_eq!(week(&sunday, day).start.weekday(), 6);
        assert_eq!(week(&berlin, day).start.weekday(), 0);
    }
}
