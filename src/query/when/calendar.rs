//! Days and weeks in the calendar of a caller.

use std::ops::Range;

use crate::grain::Time;
use crate::query::day::{DAY_MS, Day, Days};
use crate::text::Calendar;

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
            let (_, of_month) = day.month_and_day();
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
