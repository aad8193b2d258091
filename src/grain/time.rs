//! Times: milliseconds since 1970, and their text in RFC 3339.
//!
//! Nothing here reads a clock.

use jiff::Timestamp;

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

    /// Reads an RFC 3339 time, or milliseconds since 1970 in decimal digits.
    ///
    /// # Errors
    /// The problem of the text. A time without an offset is refused: it does not name an instant.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(ms) = text.parse::<i64>() {
            return Ok(Self(ms));
        }
        let timestamp: Timestamp = text
            .parse()
            .map_err(|error: jiff::Error| error.to_string())?;
        // OMS 4.8: the floor, also before 1970, where truncation would round up.
        let ms = timestamp.as_nanosecond().div_euclid(1_000_000);
        i64::try_from(ms)
            .map(Self)
            .map_err(|_| "time is out of range".into())
    }
}

impl std::fmt::Display for Time {
    /// Writes RFC 3339 with milliseconds, or bare milliseconds outside the years -9999 to 9999.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => write!(f, "{timestamp:.3}"),
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
