//! The times that a statement names: dates, moments, and a closed set of words (CAL, ruling C14).

use grainstore::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use crate::condition::Value;

/// From one moment to another, both included, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// Returns the window of `time = value`: a day is that day, and "last week" the seven days until
/// now (ruling A2). `None` for what is no time.
pub(crate) fn within(value: &Value, now: Time) -> Option<Window> {
    match value {
        Value::Int(n) => Some(of_number(*n as f64)),
        Value::Float(n) => Some(of_number(*n)),
        Value::Text(text) => of_text(&text.trim().to_ascii_lowercase(), now),
        _ => None,
    }
}

/// Returns the window of `SINCE value`: from its beginning until now.
pub(crate) fn since(value: &Value, now: Time) -> Option<Window> {
    let from = within(value, now)?.from;
    Some(Window { from, to: now.ms() })
}

/// Returns the window of `BETWEEN a AND b`: from the beginning of one to the end of the other.
pub(crate) fn between(values: &[Value], now: Time) -> Option<Window> {
    let [a, b] = values else { return None };
    let (from, to) = (within(a, now)?.from, within(b, now)?.to);
    Some(Window { from, to })
}

/// A moment at which words are read only to see whether they are a time.
pub(crate) const ANY_DAY: Time = Time::from_ms(1_768_471_200_000);

/// Examples of what is read.
pub(crate) const EXAMPLES: &[&str] = &[
    "\"2026-01-15\"",
    "\"2026-01-15T10:00:00Z\"",
    "\"yesterday\"",
    "\"last 7 days\"",
    "\"last month\"",
    "\"3 weeks ago\"",
];

/// Seconds of this century are far below this number, and its milliseconds above (ruling C13).
fn of_number(n: f64) -> Window {
    match n.abs() < 1e11 {
        true => second(whole(n * 1_000.0)),
        false => moment(whole(n)),
    }
}

/// Returns the whole part of a number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest number is taken"
)]
pub(crate) const fn whole(n: f64) -> i64 {
    n as i64
}

const fn moment(ms: i64) -> Window {
    Window { from: ms, to: ms }
}

const fn second(ms: i64) -> Window {
    Window {
        from: ms,
        to: ms.saturating_add(999),
    }
}

fn of_text(text: &str, now: Time) -> Option<Window> {
    let zoned = Timestamp::from_millisecond(now.ms())
        .ok()?
        .to_zoned(TimeZone::UTC);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    match words.as_slice() {
        ["now"] => Some(moment(now.ms())),
        ["today"] => days(&zoned, 1),
        ["yesterday"] => days(&zoned.yesterday().ok()?, 1),
        ["last" | "past", count, unit] => back(&zoned, now, count.parse().ok()?, unit),
        ["last" | "past", unit] if !unit.ends_with('s') => back(&zoned, now, 1, unit),
        [count, unit, "ago"] => {
            let count = count.parse().ok()?;
            let then = zoned.checked_sub(unit_span(count, unit)?).ok()?;
            match unit.trim_end_matches('s') {
                "minute" | "hour" => back(&zoned, now, count, unit),
                _ => days(&then, 1),
            }
        }
        [date] => of_date(date),
        _ => None,
    }
}

/// Returns the window of so many units until now.
fn back(zoned: &Zoned, now: Time, count: i64, unit: &str) -> Option<Window> {
    let then = zoned.checked_sub(unit_span(count, unit)?).ok()?;
    let from = then.timestamp().as_millisecond();
    Some(Window { from, to: now.ms() })
}

fn unit_span(count: i64, unit: &str) -> Option<Span> {
    let span = Span::new();
    let count = Some(count).filter(|count| *count >= 0)?;
    match unit.strip_suffix('s').unwrap_or(unit) {
        "minute" => span.try_minutes(count),
        "hour" => span.try_hours(count),
        "day" => span.try_days(count),
        "week" => span.try_weeks(count),
        "month" => span.try_months(count),
        "year" => span.try_years(count),
        _ => return None,
    }
    .ok()
}

/// Returns the window of days that begin with the day of a moment.
fn days(of: &Zoned, count: i64) -> Option<Window> {
    let start = of.start_of_day().ok()?;
    let end = start.checked_add(Span::new().try_days(count).ok()?).ok()?;
    Some(until(&start, &end))
}

fn until(start: &Zoned, end: &Zoned) -> Window {
    let from = start.timestamp().as_millisecond();
    let to = end.timestamp().as_millisecond().saturating_sub(1);
    Window { from, to }
}

/// Reads a date of ISO 8601, a date and a time, or digits since 1970. A time without an offset is of
/// UTC.
fn of_date(text: &str) -> Option<Window> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let long = Some(text).filter(|text| text.len() > 8);
        return long?.parse().ok().map(of_number);
    }
    if let Ok(date) = text.parse::<jiff::civil::Date>()
        && !text.contains('t')
    {
        return days(&date.to_zoned(TimeZone::UTC).ok()?, 1);
    }
    let time = Time::parse(&text.to_ascii_uppercase()).ok();
    let time = time.map(Time::ms).or_else(|| {
        let local = text.parse::<jiff::civil::DateTime>().ok()?;
        let zoned = local.to_zoned(TimeZone::UTC).ok()?;
        Some(zoned.timestamp().as_millisecond())
    })?;
    // Of a moment without a fraction the whole second is meant.
    let has_fraction = text.contains('.');
    Some(match has_fraction {
        true => moment(time),
        false => second(time),
    })
}

/// Returns how long ago something was, for formatted output (CAL 10.2).
pub(crate) fn ago(time: Time, now: Time) -> String {
    let passed = SignedDuration::from_millis(now.ms().saturating_sub(time.ms()));
    let Ok(then) = Timestamp::from_millisecond(time.ms()) else {
        return String::new();
    };
    let then = then.to_zoned(TimeZone::UTC);
    let (minutes, hours) = (passed.as_mins(), passed.as_hours());
    let days = hours.div_euclid(24);
    match () {
        () if minutes < 0 => then.strftime("%b %-d, %Y").to_string(),
        () if minutes < 60 => format!("{minutes}m ago"),
        () if hours < 24 => format!("{hours}h ago"),
        () if days == 1 => "yesterday".to_owned(),
        () if days < 7 => format!("{days}d ago"),
        () if days < 30 => format!("{}w ago", days / 7),
        () if days < 365 => then.strftime("%b %-d").to_string(),
        () => then.strftime("%b %Y").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-26T12:30:00Z";

    fn read(text: &str) -> Option<[i64; 2]> {
        let now = Time::parse(NOW).unwrap();
        let window = within(&Value::Text(text.into()), now)?;
        Some([window.from, window.to])
    }

    /// A text, and the first and the last moment that it names.
    const READ: &str = "
        2026-01-15 | 2026-01-15T00:00:00Z | 2026-01-15T23:59:59.999Z
        2026-01-15T10:00:00Z | 2026-01-15T10:00:00Z | 2026-01-15T10:00:00.999Z
        2026-01-15T10:00:00+02:00 | 2026-01-15T08:00:00Z | 2026-01-15T08:00:00.999Z
        2026-01-15T10:00 | 2026-01-15T10:00:00Z | 2026-01-15T10:00:00.999Z
        1768471200 | 2026-01-15T10:00:00Z | 2026-01-15T10:00:00.999Z
        now | 2026-11-26T12:30:00Z | 2026-11-26T12:30:00Z
        Today | 2026-11-26T00:00:00Z | 2026-11-26T23:59:59.999Z
        yesterday | 2026-11-25T00:00:00Z | 2026-11-25T23:59:59.999Z
        last 7 days | 2026-11-19T12:30:00Z | 2026-11-26T12:30:00Z
        last week | 2026-11-19T12:30:00Z | 2026-11-26T12:30:00Z
        past 2 months | 2026-09-26T12:30:00Z | 2026-11-26T12:30:00Z
        3 weeks ago | 2026-11-05T00:00:00Z | 2026-11-05T23:59:59.999Z
        2 hours ago | 2026-11-26T10:30:00Z | 2026-11-26T12:30:00Z
    ";

    #[test]
    fn words_and_dates_are_read_at_one_moment_and_other_words_are_no_time() {
        for line in READ.trim().lines() {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let ms = |at: usize| Time::parse(parts[at]).unwrap().ms();
            assert_eq!(read(parts[0]), Some([ms(1), ms(2)]), "{line}");
        }
        let far = format!("last {} years", i64::MAX);
        for text in [
            "",
            "soon",
            "last",
            "last days",
            "last -1 days",
            "2026-13-01",
            "5",
            &far,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_is_told_by_how_long_ago_it_was() {
        let now = Time::parse(NOW).unwrap();
        for (time, told) in [
            ("2026-11-26T12:20:00Z", "10m ago"),
            ("2026-11-26T09:00:00Z", "3h ago"),
            ("2026-11-25T09:00:00Z", "yesterday"),
            ("2026-11-23T09:00:00Z", "3d ago"),
            ("2026-11-10T09:00:00Z", "2w ago"),
            ("2026-03-01T09:00:00Z", "Mar 1"),
            ("2025-03-01T09:00:00Z", "Mar 2025"),
            ("2027-03-01T09:00:00Z", "Mar 1, 2027"),
        ] {
            assert_eq!(ago(Time::parse(time).unwrap(), now), told);
        }
    }
}
