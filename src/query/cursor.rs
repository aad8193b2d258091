use std::fmt;
use std::str::FromStr;

use super::Error;

/// Where an answer left off. Opaque, and good whatever is written meanwhile.
///
/// ```
/// use grainstore::query::Cursor;
///
/// let cursor: Cursor = "after-41".parse()?;
/// assert_eq!(cursor.to_string(), "after-41");
/// assert!("41".parse::<Cursor>().is_err());
/// # Ok::<(), grainstore::query::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The last row that was seen.
    pub(super) row: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after-{}", self.row)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let row = text.strip_prefix("after-").and_then(|row| row.parse().ok());
        row.map(|row| Self { row }).ok_or_else(|| Error::Cursor {
            text: text.to_owned(),
        })
    }
}
