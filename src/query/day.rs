//! Days, months and years of the calendar, and times as they are written in digits.

use std::ops::{Range, RangeInclusive};

use crate::grain::Time;

/// A day, as the number of days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

/// Days, from one to before another.
pub(super) type Days = Range<Day>;

/// Reads a time that is written in digits, from its first millisecond to its last, in UTC: a date, a month
/// (`2026-01`) or a year; a time (RFC 3339) or milliseconds since 1970, which are one moment.
pub(super) fn written(text: &str) -> Option<RangeInclusive<Time>> {
    let Some(days) = days_of(text) else {
        return Time::parse(text).ok().map(|moment| moment..=moment);
    };
    let [start, end] = [days.start, days.end].map(|day| day.0.saturating_mul(DAY_MS));
    Some(Time::from_ms(start)..=Time::from_ms(end.saturating_sub(1)))
}

/// Reads a date, a month or a year in digits.
fn days_of(text: &str) -> Option<Days> {
    let number = |digits: &str, len: usize| {
        let is_number = digits.len() == len && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| digits.parse::<i64>().ok()).flatten()
    };
    let mut parts = text.split('-');
    let named = number(parts.next()?, 4)?;
    let of_year = parts.next().map(|month| number(month, 2));
    let of_month = parts.next().map(|day| number(day, 2));
    match (of_year, of_month, parts.next()) {
        // Other numbers are milliseconds.
        (None, None, None) => (1900..2200).contains(&named).then(|| year(named)),
        (Some(number), None, None) => {
            let number = number.filter(|number| (1..=12).contains(number))?;
            Some(month(named, number))
        }
        (Some(number), Some(day), None) => {
            let (number, day) = (number?, day?);
            let found = Day::of(named, number, day)?;
            (found.month_and_day() == (number, day)).then(|| found.alone())
        }
        _ => None,
    }
}

impl Day {
    pub(super) const fn plus(self, days: i64) -> Self {
        Self(self.0.saturating_add(days))
    }

    pub(super) const fn alone(self) -> Days {
        self..self.plus(1)
    }

    /// Returns the weekday; 0 is Monday.
    #[cfg(feature = "text")]
    pub(super) const fn weekday(self) -> i64 {
        // 1970-01-01 was a Thursday.
        self.0.saturating_add(3).rem_euclid(7)
    }

    /// Returns the last such weekday before a day.
    #[cfg(feature = "text")]
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
