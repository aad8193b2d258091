//! Arguments that several tools share: which grains, and times.

use grainstore::text::{Ranking, utc_offset};
use grainstore::{Filter, Time, Type};
use schemars::JsonSchema;
use serde::Deserialize;

use super::resolve;
use crate::Scope;
use crate::http::bounded;
use crate::mcp::failure::Failure;

/// Which grains: all conditions that are given must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Selection {
    /// Type: belief, event, state, workflow, action, observation, goal, reasoning, consensus, consent.
    #[serde(rename = "type")]
    of: Option<String>,
    /// Namespace, with those inside it.
    namespace: Option<String>,
    /// The person it is about (user_id).
    user: Option<String>,
    /// Subject of a belief.
    subject: Option<String>,
    /// Relation of a belief, such as prefers.
    relation: Option<String>,
    /// Object of a belief.
    object: Option<String>,
    /// Conversation (session_id).
    session: Option<String>,
    /// Tag.
    tag: Option<String>,
    /// Derived from the grain with this address.
    derived_from: Option<String>,
    /// Not before this time: 2026-01-15T10:00:00Z or 2026-01-15.
    since: Option<String>,
    /// Not after this time: 2026-01-15T10:00:00Z or 2026-01-15.
    until: Option<String>,
    /// Include versions that were superseded.
    #[serde(default)]
    include_superseded: bool,
    /// Include what has expired.
    #[serde(default)]
    include_expired: bool,
}

/// The clock and the calendar by which a question is read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// When the question is asked, if not now: 2026-01-15T10:00:00Z or 2026-01-15.
    now: Option<String>,
    /// Offset of the local time from UTC, such as +02:00.
    utc_offset: Option<String>,
    /// Whether weeks begin on Sunday, not on Monday.
    #[serde(default)]
    starts_on_sunday: bool,
}

impl Asked {
    /// Returns a ranking in this calendar.
    ///
    /// # Errors
    /// `ERR_USAGE`.
    pub(super) fn applied(&self, ranking: Ranking) -> Result<Ranking, Failure> {
        let now = self.now.as_deref().map(|now| time(now, "T00:00:00Z"));
        let offset = self.utc_offset.as_deref().map(utc_offset);
        Ok(Ranking {
            now: now.transpose()?,
            utc_offset_minutes: offset.transpose().map_err(Failure::usage)?.unwrap_or(0),
            weeks_from_sunday: self.starts_on_sunday,
            ..ranking
        })
    }
}

impl Selection {
    /// Returns the filter, within the scope.
    ///
    /// # Errors
    /// `ERR_USAGE`; those of an address.
    pub(super) fn filter(self, scope: &Scope) -> Result<Filter, Failure> {
        let mut filter = Filter::new();
        if let Some(name) = &self.of {
            let of = Type::named(name);
            let of = of.ok_or_else(|| Failure::usage(format!("there is no type \"{name}\"")))?;
            filter = filter.of_type(of);
        }
        let conditions: [(Option<String>, Condition); 7] = [
            (self.namespace, Filter::namespace),
            (self.user, Filter::user),
            (self.subject, Filter::subject),
            (self.relation, Filter::relation),
            (self.object, Filter::object),
            (self.session, Filter::session),
            (self.tag, Filter::tag),
        ];
        for (value, add) in conditions {
            filter = value.into_iter().fold(filter, add);
        }
        if let Some(address) = &self.derived_from {
            filter = filter.derived_from(resolve(scope, address)?);
        }
        if let Some(since) = &self.since {
            filter = filter.since(time(since, "T00:00:00Z")?);
        }
        if let Some(until) = &self.until {
            filter = filter.until(time(until, "T23:59:59.999Z")?);
        }
        if self.include_superseded {
            filter = filter.with_superseded();
        }
        if self.include_expired {
            filter = filter.with_expired();
        }
        Ok(bounded(filter))
    }
}

/// Adds a condition with a value to a filter.
type Condition = fn(Filter, String) -> Filter;

/// Parses a time; a date is completed with `of_day`.
///
/// # Errors
/// `ERR_USAGE`.
pub(super) fn time(text: &str, of_day: &str) -> Result<Time, Failure> {
    let is_date = text.len() == "2026-01-15".len();
    let whole = if is_date {
        format!("{text}{of_day}")
    } else {
        text.to_owned()
    };
    Time::parse(&whole).map_err(|error| Failure::usage(format!("\"{text}\" is no time: {error}")))
}
