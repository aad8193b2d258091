//! The conditions of a filter in a request.
//!
//! Fields that are marked as rare are taken over MCP too, and not listed there: each listed one costs
//! every conversation its tokens, once for each tool with a filter.

use grainstore::grain::Verification;
use grainstore::{ContentAddress, Filter, Type};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Invalid, Moment};

// Without a description: each tool that takes it would repeat it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(crate) struct FilterBody {
    /// belief, event, goal, …
    pub(crate) r#type: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) subject: Option<String>,
    pub(crate) relation: Option<String>,
    pub(crate) object: Option<String>,
    pub(crate) session: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) run: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) observer_type: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) observer: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) author: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) subject_did: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) entity: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) source_type: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) epistemic_status: Option<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) recall_priority: Option<String>,
    pub(crate) tags: Vec<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) without_tags: Vec<String>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) derived_from: Option<String>,
    /// 2026-01-15, yesterday.
    pub(crate) since: Option<Moment>,
    pub(crate) until: Option<Moment>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) valid_at: Option<Moment>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) known_at: Option<Moment>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) confidence: Option<Bounds>,
    #[schemars(extend("x-rare" = true))]
    pub(crate) importance: Option<Bounds>,
    /// unverified, verified, contested or retracted.
    #[schemars(extend("x-rare" = true))]
    pub(crate) verification: Option<String>,
    /// Only grains of a signer that is trusted to write them.
    #[schemars(extend("x-rare" = true))]
    pub(crate) signed: bool,
    pub(crate) superseded: bool,
    pub(crate) expired: bool,
}

/// Both bounds are included.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Bounds {
    #[serde(default)]
    from: Option<f64>,
    #[serde(default)]
    to: Option<f64>,
}

impl FilterBody {
    /// Returns the filter of the library.
    ///
    /// # Errors
    /// `ERR_FILTER` for a value without a meaning; those of `address`, which reads an address.
    pub(crate) fn filter<E: From<Invalid>>(
        &self,
        address: impl FnOnce(&str) -> Result<ContentAddress, E>,
    ) -> Result<Filter, E> {
        type Set = fn(Filter, String) -> Filter;
        let texts: [(&Option<String>, Set); 15] = [
            (&self.namespace, Filter::namespace),
            (&self.user, Filter::user),
            (&self.subject, Filter::subject),
            (&self.relation, Filter::relation),
            (&self.object, Filter::object),
            (&self.session, Filter::session),
            (&self.run, Filter::run),
            (&self.observer_type, Filter::observer_type),
            (&self.observer, Filter::observer),
            (&self.author, Filter::author),
            (&self.subject_did, Filter::subject_did),
            (&self.entity, Filter::entity),
            (&self.source_type, Filter::source_type),
            (&self.epistemic_status, Filter::epistemic_status),
            (&self.recall_priority, Filter::recall_priority),
        ];
        let given = texts
            .into_iter()
            .filter_map(|(text, set)| Some((text.clone()?, set)));
        let mut filter = given.fold(Filter::new(), |filter, (text, set)| set(filter, text));
        filter = self.tags.iter().fold(filter, Filter::tag);
        filter = self.without_tags.iter().fold(filter, Filter::without_tag);
        if let Some(name) = &self.r#type {
            let of = Type::named(name).or_else(|| Type::of_later(name));
            let of = of.ok_or_else(|| Invalid::filter(format!("{name} is no type")))?;
            filter = filter.of_type(of);
        }
        if let Some(name) = &self.verification {
            let status = Verification::named(name);
            filter = filter.verification(
                status.ok_or_else(|| Invalid::filter(format!("{name} is no verification")))?,
            );
        }
        if let Some(text) = &self.derived_from {
            filter = filter.derived_from(address(text)?);
        }
        if let Some(since) = &self.since {
            filter = filter.since(since.first()?);
        }
        if let Some(until) = &self.until {
            filter = filter.until(until.last()?);
        }
        if let Some(moment) = &self.valid_at {
            filter = filter.valid_at(moment.first()?);
        }
        if let Some(moment) = &self.known_at {
            filter = filter.known_at(moment.last()?);
        }
        if let Some(Bounds { from, to }) = self.confidence {
            filter = filter.confidence(from, to);
        }
        if let Some(Bounds { from, to }) = self.importance {
            filter = filter.importance(from, to);
        }
        if self.signed {
            filter = filter.verified();
        }
        if self.superseded {
            filter = filter.with_superseded();
        }
        if self.expired {
            filter = filter.with_expired();
        }
        Ok(filter)
    }
}
