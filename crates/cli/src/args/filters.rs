use clap::{Args, ValueEnum};
use grainstore::grain::Verification;
use grainstore::{Filter, Store, Time, Type};

use super::address;
use super::values::{Range, grain_type, range, time_from, time_to, verification};

/// Which grains: all that is given must hold.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filters {
    /// Of this type: belief, event, state, workflow, action, observation, goal, reasoning, …
    #[arg(long = "type", value_name = "TYPE", value_parser = grain_type)]
    of: Option<Type>,
    /// In this namespace or inside it
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// About this user (user_id)
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// With this subject
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// With this relation, such as mg:prefers
    #[arg(long, value_name = "TEXT")]
    relation: Option<String>,
    /// With this object; of one that is a map, its JSON
    #[arg(long, value_name = "TEXT")]
    object: Option<String>,
    /// Of this session (session_id)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of this run (run_id)
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// With this structural tag; may be given several times
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Without this structural tag; may be given several times
    #[arg(long, value_name = "TAG")]
    no_tag: Vec<String>,
    /// Derived from this grain
    #[arg(long, value_name = "ADDRESS")]
    derived_from: Option<String>,
    /// Created at this time or later (RFC 3339, a day, or milliseconds since 1970)
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    since: Option<Time>,
    /// Created at this time or earlier; of a day, its end (UTC)
    #[arg(long, value_name = "TIME", value_parser = time_to)]
    until: Option<Time>,
    /// True at this time: valid_from up to it, valid_to from it on
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    valid_at: Option<Time>,
    /// Known at this time: here and current then, whatever became of it since; of a day, its end
    #[arg(long, value_name = "TIME", value_parser = time_to)]
    known_at: Option<Time>,
    /// Of this confidence: 0.8.. or ..0.5 or 0.5..0.8, both included
    #[arg(long, value_name = "RANGE", value_parser = range)]
    confidence: Option<Range>,
    /// Of this importance
    #[arg(long, value_name = "RANGE", value_parser = range)]
    importance: Option<Range>,
    /// With this source_type, such as user_explicit
    #[arg(long, value_name = "TEXT")]
    source_type: Option<String>,
    /// With this epistemic_status
    #[arg(long, value_name = "TEXT")]
    epistemic_status: Option<String>,
    /// With this recall_priority: hot, warm or cold
    #[arg(long, value_name = "TEXT")]
    recall_priority: Option<String>,
    /// Judged so: unverified, verified, contested or retracted
    #[arg(long, value_name = "STATUS", value_parser = verification)]
    verification: Option<Verification>,
    /// Signed by somebody who is trusted to write it (`grainstore trust`)
    #[arg(long, value_name = "STATE", value_enum)]
    trust: Option<TrustArg>,
}

/// What may be asked of who signed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TrustArg {
    Verified,
}

impl Filters {
    /// Returns the time from which on grains are asked for.
    pub(crate) const fn since(&self) -> Option<Time> {
        self.since
    }

    /// Forgets the time from which on grains are asked for.
    pub(crate) fn at_any_time(self) -> Self {
        Self {
            since: None,
            ..self
        }
    }

    /// Returns the filter that the library knows; it shows current grains only.
    pub(crate) fn filter(self, store: &Store) -> anyhow::Result<Filter> {
        let mut filter = Filter::new();
        if let Some(of) = self.of {
            filter = filter.of_type(of);
        }
        type Set = fn(Filter, String) -> Filter;
        let texts: [(Option<String>, Set); 10] = [
            (self.namespace, Filter::namespace),
            (self.user, Filter::user),
            (self.subject, Filter::subject),
            (self.relation, Filter::relation),
            (self.object, Filter::object),
            (self.session, Filter::session),
            (self.run, Filter::run),
            (self.source_type, Filter::source_type),
            (self.epistemic_status, Filter::epistemic_status),
            (self.recall_priority, Filter::recall_priority),
        ];
        for (text, set) in texts {
            if let Some(text) = text {
                filter = set(filter, text);
            }
        }
        filter = self.tag.into_iter().fold(filter, Filter::tag);
        filter = self.no_tag.into_iter().fold(filter, Filter::without_tag);
        if let Some(text) = &self.derived_from {
            filter = filter.derived_from(address::resolve(store, text)?);
        }
        type SetTime = fn(Filter, Time) -> Filter;
        let times: [(Option<Time>, SetTime); 4] = [
            (self.since, Filter::created_from),
            (self.until, Filter::created_to),
            (self.valid_at, Filter::valid_at),
            (self.known_at, Filter::known_at),
        ];
        for (time, set) in times {
            if let Some(time) = time {
                filter = set(filter, time);
            }
        }
        if let Some(TrustArg::Verified) = self.trust {
            filter = filter.verified();
        }
        if let Some((from, to)) = self.confidence {
            filter = filter.confidence(from, to);
        }
        if let Some((from, to)) = self.importance {
            filter = filter.importance(from, to);
        }
        if let Some(status) = self.verification {
            filter = filter.verification(status);
        }
        Ok(filter)
    }
}
