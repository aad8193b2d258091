//! The filters of `query`, `search`, `recall`, `similar` and `export`, as arguments.
//!
//! The parsers of their values are in `values`; the meaning of each filter is the library's.

use clap::{Args, ValueEnum};
use grainstore::grain::Verification;
use grainstore::store::Person;
use grainstore::{Filter, Store, Time, Type};

use super::address;
use super::values::{Range, grain_type, range, time_from, time_to, verification};

/// Conditions on grains; a grain must satisfy all that are given.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filters {
    /// Grain type: belief, event, state, workflow, action, observation, goal, reasoning, …
    #[arg(long = "type", value_name = "TYPE", value_parser = grain_type)]
    of: Option<Type>,
    /// Namespace, with the namespaces inside it
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// User (user_id)
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Person: the grains about them, as `user report` finds them
    #[arg(long, value_name = "ID")]
    person: Option<String>,
    /// Subject of the triple
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// Relation of the triple, such as mg:prefers
    #[arg(long, value_name = "TEXT")]
    relation: Option<String>,
    /// Object of the triple; JSON for an object that is a map
    #[arg(long, value_name = "TEXT")]
    object: Option<String>,
    /// Session (session_id)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Run (run_id)
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Require this structural tag; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Exclude this structural tag; may be repeated
    #[arg(long, value_name = "TAG")]
    no_tag: Vec<String>,
    /// Derived from this grain
    #[arg(long, value_name = "ADDRESS")]
    derived_from: Option<String>,
    /// Observer type (observer_type), such as camera or llm
    #[arg(long, value_name = "TEXT")]
    observer_type: Option<String>,
    /// Observer (observer_id)
    #[arg(long, value_name = "ID")]
    observer: Option<String>,
    /// Author (author_did)
    #[arg(long = "author", value_name = "DID")]
    written_by: Option<String>,
    /// Person that the grain is about (subject_did)
    #[arg(long, value_name = "DID")]
    subject_did: Option<String>,
    /// Entity that the grain is about (entity_id)
    #[arg(long, value_name = "ID")]
    entity_id: Option<String>,
    /// Time of the event, timestamp_ms or else created_at, at or after this: 2026-01-15, 2026-01-15T10:00:00Z, yesterday, 2 hours ago
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    since: Option<Time>,
    /// Time of the event at or before this; a date means its end (UTC)
    #[arg(long, value_name = "TIME", value_parser = time_to)]
    until: Option<Time>,
    /// Valid at this time: valid_from <= TIME <= valid_to
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    valid_at: Option<Time>,
    /// Stored and current at this time, whatever its status is now; a date means its end
    #[arg(long, value_name = "TIME", value_parser = time_to)]
    known_at: Option<Time>,
    /// Confidence: 0.8.. or ..0.5 or 0.5..0.8, both bounds included
    #[arg(long, value_name = "RANGE", value_parser = range)]
    confidence: Option<Range>,
    /// Importance, as a range like that of --confidence
    #[arg(long, value_name = "RANGE", value_parser = range)]
    importance: Option<Range>,
    /// Source type (source_type), such as user_explicit
    #[arg(long, value_name = "TEXT")]
    source_type: Option<String>,
    /// Epistemic status (epistemic_status)
    #[arg(long, value_name = "TEXT")]
    epistemic_status: Option<String>,
    /// Recall priority (recall_priority): hot, warm or cold; search, recall and similar leave out
    /// cold grains unless this names them
    #[arg(long, value_name = "TEXT")]
    recall_priority: Option<String>,
    /// Verification status: unverified, verified, contested or retracted
    #[arg(long, value_name = "STATUS", value_parser = verification)]
    verification: Option<Verification>,
    /// Signed by a signer that is trusted to write the grain (see `grainstore trust`)
    #[arg(long, value_name = "STATE", value_enum)]
    trust: Option<TrustArg>,
}

/// The trust states that can be required.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TrustArg {
    Verified,
}

impl Filters {
    /// Returns the user or the person that is named.
    pub(crate) fn named_person(&self) -> Option<String> {
        self.user.clone().or_else(|| self.person.clone())
    }

    /// Returns the value of `--since`.
    pub(crate) const fn since(&self) -> Option<Time> {
        self.since
    }

    /// Removes `--since`.
    pub(crate) fn at_any_time(self) -> Self {
        Self {
            since: None,
            ..self
        }
    }

    /// Takes `--since` and `--until` out, which mean the time of storing to a command that lists changes.
    pub(crate) const fn take_span(&mut self) -> (Option<Time>, Option<Time>) {
        (self.since.take(), self.until.take())
    }

    /// Returns the filter of the library, which selects current grains only.
    pub(crate) fn filter(self, store: &Store) -> anyhow::Result<Filter> {
        let mut filter = Filter::new();
        if let Some(of) = self.of {
            filter = filter.of_type(of);
        }
        type Set = fn(Filter, String) -> Filter;
        let texts: [(Option<String>, Set); 15] = [
            (self.namespace, Filter::namespace),
            (self.user, Filter::user),
            (self.subject, Filter::subject),
            (self.relation, Filter::relation),
            (self.object, Filter::object),
            (self.session, Filter::session),
            (self.run, Filter::run),
            (self.observer_type, Filter::observer_type),
            (self.observer, Filter::observer),
            (self.written_by, Filter::author),
            (self.subject_did, Filter::subject_did),
            (self.entity_id, Filter::entity),
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
        if let Some(id) = &self.person {
            let found = store.admin()?.person_report(&Person::new(id))?;
            filter = filter.among(found.about.iter().map(|grain| grain.address));
        }
        if let Some(text) = &self.derived_from {
            filter = filter.derived_from(address::resolve(store, text)?);
        }
        type SetTime = fn(Filter, Time) -> Filter;
        let times: [(Option<Time>, SetTime); 4] = [
            (self.since, Filter::since),
            (self.until, Filter::until),
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
