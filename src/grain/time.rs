//! Times: milliseconds since 1970, and their text in RFC 3339.
//!
//! Nothing here reads a clock.

use jiff::civil::{DateTime, date};
use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, Timestamp};

use crate::codec::Value;

use super::Error;

/// A moment: milliseconds since 1970-01-01T00:00:00Z (OMS 4.8).
///
/// ```
/// use grainstore::grain::Time;
///
/// let time = Time::parse("2026-01-15T10:00:00.999999Z")?;
/// assert_eq!(time.ms(), 1_768_471_200_999);
/// assert_eq!(time.to_string(), "2026-01-15T10:00:00.999Z");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// Wraps milliseconds since 1970.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Returns the milliseconds since 1970.
    pub const fn ms(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 time of the years -9999 to 9999, or milliseconds since 1970 in decimal digits.
    ///
    /// # Errors
    /// The problem of the text. A time without an offset is refused: it does not name an instant.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(ms) = text.parse::<i64>() {
            return Ok(Self(ms));
        }
        let nanoseconds = match text.parse::<Timestamp>() {
            Ok(timestamp) => timestamp.as_nanosecond(),
            Err(error) => since_1970(text).ok_or_else(|| error.to_string())?,
        };
        // OMS 4.8: the floor, also before 1970, where truncation would round up.
        let ms = nanoseconds.div_euclid(1_000_000);
        i64::try_from(ms)
            .map(Self)
            .map_err(|_| "time is out of range".into())
    }
}

/// Returns the nanoseconds since 1970 of a time in the last or first day of the calendar, of which
/// a `Timestamp` lacks some hours: `9999-12-31T23:59:59Z` is how many files say "for ever".
fn since_1970(text: &str) -> Option<i128> {
    let pieces = Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset()?;
    let moment = DateTime::from_parts(pieces.date(), pieces.time()?);
    let local = moment.duration_since(EPOCH).as_nanos();
    let offset = i128::from(offset.seconds()).checked_mul(1_000_000_000)?;
    local.checked_sub(offset)
}

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

impl std::fmt::Display for Time {
    /// Writes RFC 3339 with milliseconds, or bare milliseconds outside the years -9999 to 9999.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match EPOCH.checked_add(SignedDuration::from_millis(self.0)) {
            Ok(moment) => write!(f, "{moment:.3}Z"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

/// Turns the text of a time field into milliseconds, in place.
pub(super) fn resolve(field: &str, value: &mut Value) -> Result<(), Error> {
    if let Value::Text(text) = value {
        let time = Time::parse(text).map_err(|message| Error::Time {
            field: field.to_owned(),
            message,
        })?;
        *value = Value::from(time.ms());
    }
    Ok(())
}
