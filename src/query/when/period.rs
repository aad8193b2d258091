//! A time as people write one beside a filter: a moment, a date, or the words of a question.

use std::convert::Infallible;
use std::ops::RangeInclusive;

use crate::grain::Time;
use crate::query::day::{self, DAY_MS};
use crate::text::Calendar;

use super::{HOUR_MS, When};

/// Returns the period that a text names at a moment, from its first millisecond to its last, in UTC: a
/// time (RFC 3339) or milliseconds since 1970, which is one moment; a date, a month (`2026-01`) or a year; `now`
/// and `2 hours ago`; or the words of a question, such as "yesterday", "last week" or "im Juni".
///
/// ```
/// use grainstore::Time;
/// use grainstore::query::period;
///
/// let now = Time::parse("2026-01-15T10:00:00Z")?;
/// let yesterday = period("yesterday", now)?;
/// assert_eq!(yesterday.start().to_string(), "2026-01-14T00:00:00.000Z");
/// assert_eq!(yesterday, period("2026-01-14", now)?);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// What is accepted, for a text that names no time.
pub fn period(text: &str, now: Time) -> Result<RangeInclusive<Time>, String> {
    let text = text.trim();
    let ago = || ago(text, now).map(|moment| moment..=moment);
    if let Some(period) = day::written(text).or_else(ago) {
        return Ok(period);
    }
    let unknown = |_: &super::Occasion| Ok::<_, Infallible>(None);
    let Ok(when) = When::of(text, now, &Calendar::default(), unknown);
    // Digits alone are a date that there is, or a mistake in one.
    let has_words = text.contains(char::is_alphabetic);
    match when.part.or_else(|| when.windows.into_iter().next()) {
        Some(window) if when.is_bare && has_words => {
            Ok(Time::from_ms(window.start)..=Time::from_ms(window.end.saturating_sub(1)))
        }
        _ => Err(format!(
            "\"{text}\" names no time; write 2026-01-15, 2026-01-15T10:00:00Z, yesterday, last week or 2 hours ago"
        )),
    }
}

/// Reads `now`, and "90 minutes ago".
fn ago(text: &str, now: Time) -> Option<Time> {
    if text.eq_ignore_ascii_case("now") {
        return Some(now);
    }
    let text = text.to_ascii_lowercase();
    let mut words = text.split_ascii_whitespace();
    let (count, unit, ago) = (words.next()?, words.next()?, words.next()?);
    let count = match count {
        "a" | "an" | "one" => 1,
        digits => digits.parse::<u32>().ok()?,
    };
    let unit = match unit.strip_suffix('s').unwrap_or(unit) {
        "second" => 1_000,
        "minute" => HOUR_MS / 60,
        "hour" => HOUR_MS,
        _ => return None,
    };
    let is_ago = ago == "ago" && words.next().is_none();
    let back = i64::from(count).checked_mul(unit)?;
    is_ago.then(|| Time::from_ms(now.ms().saturating_sub(back)))
}

const _: () = assert!(DAY_MS == 24 * HOUR_MS);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        // A Thursday.
        let now = Time::parse("2026-01-15T10:00:00Z").unwrap();
        let period = period(text, now)?;
        Ok(format!("{} {}", period.start(), period.end()))
    }

    #[test]
    fn times_dates_and_words_are_read_from_their_first_millisecond_to_their_last() {
        for row in PERIODS.trim().lines() {
            let (text, period) = row.trim().split_once(" | ").unwrap();
            let (from, to) = period.split_once(' ').unwrap();
            assert_eq!(read(text), Ok(format!("{from}Z {to}Z")), "{text}");
        }
    }

    const PERIODS: &str = "
        2026-01-15T09:30:00+01:00 | 2026-01-15T08:30:00.000 2026-01-15T08:30:00.000
        1768471200000 | 2026-01-15T10:00:00.000 2026-01-15T10:00:00.000
        now | 2026-01-15T10:00:00.000 2026-01-15T10:00:00.000
        2 hours ago | 2026-01-15T08:00:00.000 2026-01-15T08:00:00.000
        an hour ago | 2026-01-15T09:00:00.000 2026-01-15T09:00:00.000
        90 Minutes ago | 2026-01-15T08:30:00.000 2026-01-15T08:30:00.000
        2025-12-24 | 2025-12-24T00:00:00.000 2025-12-24T23:59:59.999
        1500 | 1970-01-01T00:00:01.500 1970-01-01T00:00:01.500
        2025-12 | 2025-12-01T00:00:00.000 2025-12-31T23:59:59.999
        2025 | 2025-01-01T00:00:00.000 2025-12-31T23:59:59.999
        today | 2026-01-15T00:00:00.000 2026-01-15T23:59:59.999
        yesterday | 2026-01-14T00:00:00.000 2026-01-14T23:59:59.999
        gestern | 2026-01-14T00:00:00.000 2026-01-14T23:59:59.999
        last week | 2026-01-05T00:00:00.000 2026-01-11T23:59:59.999
        3 days ago | 2026-01-12T00:00:00.000 2026-01-12T23:59:59.999
        last Friday | 2026-01-09T00:00:00.000 2026-01-09T23:59:59.999
        in June 2025 | 2025-06-01T00:00:00.000 2025-06-30T23:59:59.999
        June 2025 | 2025-06-01T00:00:00.000 2025-06-30T23:59:59.999
    ";

    #[test]
    fn a_text_that_names_no_time_is_refused_with_what_is_accepted() {
        for text in [
            "",
            "soon",
            "2026-13-01",
            "2026-02-30",
            "2026-1-5",
            "tea last week",
            "5 hours",
            "-",
        ] {
            let refused = read(text).unwrap_err();
            assert!(
                refused.contains("names no time; write 2026-01-15"),
                "{text}: {refused}"
            );
        }
    }
}
