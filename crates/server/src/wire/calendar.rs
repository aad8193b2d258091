//! The clock and the calendar of the one who asks.

use grainstore::ErrorCode;
use grainstore::text::{Ranking, utc_offset};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Invalid, Moment};

// Without a description: a tool that takes it would repeat it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(crate) struct CalendarBody {
    /// Default now.
    pub(crate) now: Option<Moment>,
    /// As +02:00.
    pub(crate) utc_offset: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) starts_on_sunday: bool,
}

impl CalendarBody {
    /// Returns a ranking in this calendar.
    ///
    /// # Errors
    /// `ERR_FILTER`, `ERR_USAGE`.
    pub(crate) fn applied(&self, ranking: Ranking) -> Result<Ranking, Invalid> {
        let offset = self.utc_offset.as_deref().map(utc_offset).transpose();
        let offset = offset.map_err(|message| Invalid {
            code: ErrorCode::Usage,
            message,
        })?;
        Ok(Ranking {
            now: self.now.as_ref().map(Moment::first).transpose()?,
            utc_offset_minutes: offset.unwrap_or(0),
            weeks_from_sunday: self.starts_on_sunday,
            ..ranking
        })
    }
}
