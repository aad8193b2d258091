//! A time in a request.

use std::ops::RangeInclusive;

use grainstore::Time;
use grainstore::query::period;
use grainstore::store::{Clock as _, SystemClock};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::Invalid;

/// A time, a date or the words for one, or milliseconds since 1970.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Moment {
    Ms(i64),
    Text(String),
}

impl Moment {
    /// Returns its first millisecond.
    ///
    /// # Errors
    /// `ERR_FILTER` for a text that names no time.
    pub(crate) fn first(&self) -> Result<Time, Invalid> {
        Ok(*self.period()?.start())
    }

    /// Returns its last millisecond.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub(crate) fn last(&self) -> Result<Time, Invalid> {
        Ok(*self.period()?.end())
    }

    fn period(&self) -> Result<RangeInclusive<Time>, Invalid> {
        match self {
            Self::Ms(ms) => {
                let time = Time::from_ms(*ms);
                Ok(time..=time)
            }
            Self::Text(text) => period(text, SystemClock.now()).map_err(Invalid::filter),
        }
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}
