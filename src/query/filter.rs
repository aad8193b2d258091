//! `Filter`: the conditions that grains of a result must meet, a plain value, validated when used.

use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{ENVELOPE_TAG, Namespace, Time, Type, Verification};
use crate::index::Family;

use super::{Error, Sort, condition::Condition};

/// Selects grains. All conditions must hold; without any it selects every grain that is current and
/// not [expired](Self::with_expired).
///
/// ```
/// use grainstore::{Filter, Type};
///
/// let filter = Filter::new()
///     .of_type(Type::Belief)
///     .namespace("work")
///     .subject("user")
///     .relation("prefers");
/// assert_ne!(filter, Filter::new());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    conditions: Vec<Condition>,
    statement: [Option<String>; 3],
    state: VersionScope,
    known_at: Option<Time>,
    with_unreviewed: bool,
    with_expired: bool,
    with_envelopes: bool,
    answer_len_max: Option<usize>,
    pub(super) order: Option<Sort>,
}

/// Which versions of a lineage are selected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum VersionScope {
    /// Current versions.
    #[default]
    Current,
    /// All versions.
    Any,
    /// Versions that are no longer current.
    Ended,
}

impl Filter {
    /// Returns a filter that every current grain passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a query in this order. A search and a recall have their own: the best first.
    #[must_use]
    pub const fn sorted(mut self, order: Sort) -> Self {
        self.order = Some(order);
        self
    }

    /// Ends an answer with the grain by which its grains have so many bytes, whatever its limit is; a
    /// page goes on from its cursor. An answer is in memory as a whole, and a grain has up to 1 MiB.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// for n in 0..3 {
    ///     store.put(Draft::event(format!("{n} {}", "x".repeat(1_000))))?;
    /// }
    /// let filter = Filter::new().up_to_bytes(1_500);
    /// let page = store.query(&filter, 100, None)?;
    /// assert_eq!(page.results.len(), 2);
    /// assert_eq!(store.query(&filter, 100, page.next_cursor)?.results.len(), 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub const fn up_to_bytes(mut self, bytes: usize) -> Self {
        self.answer_len_max = Some(bytes);
        self
    }

    pub(super) fn answer_len_max(&self) -> usize {
        self.answer_len_max.unwrap_or(usize::MAX)
    }

    /// Keeps grains of a type.
    #[must_use]
    pub fn of_type(self, of: Type) -> Self {
        self.and(Condition::Type(of))
    }

    /// Keeps grains of a namespace and those below it: `acme` includes `acme:chatbot` (OMS 28.2).
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        self.and(Condition::Namespace(Namespace::new(namespace)))
    }

    /// Keeps grains with this subject.
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.statement[0] = Some(subject.into());
        self
    }

    /// Keeps grains with this relation.
    #[must_use]
    pub fn relation(mut self, relation: impl Into<String>) -> Self {
        self.statement[1] = Some(relation.into());
        self
    }

    /// Keeps grains with this object; for an object that is a map, its JSON.
    #[must_use]
    pub fn object(mut self, object: impl Into<String>) -> Self {
        self.statement[2] = Some(object.into());
        self
    }

    /// Keeps grains about this user.
    #[must_use]
    pub fn user(self, user_id: impl Into<String>) -> Self {
        self.text(Family::User, "user_id", user_id)
    }

    /// Keeps grains of this session.
    #[must_use]
    pub fn session(self, session_id: impl Into<String>) -> Self {
        self.text(Family::Session, "session_id", session_id)
    }

    /// Keeps grains of this run.
    #[must_use]
    pub fn run(self, run_id: impl Into<String>) -> Self {
        self.text(Family::Run, "run_id", run_id)
    }

    /// Keeps grains with this tag; may be called several times.
    #[must_use]
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.text(Family::Tag, "structural_tags", tag)
    }

    /// Keeps grains without this tag; may be called several times.
    #[must_use]
    pub fn without_tag(self, tag: impl Into<String>) -> Self {
        self.and(Condition::NoTag(tag.into()))
    }

    /// Keeps grains signed by a signer who is trusted to write them (OMS 20.1).
    ///
    /// Reads every signed grain that passes the other conditions.
    #[must_use]
    pub fn verified(self) -> Self {
        self.and(Condition::Verified)
    }

    /// Keeps grains derived from this grain.
    #[must_use]
    pub fn derived_from(self, address: ContentAddress) -> Self {
        self.and(Condition::DerivedFrom(address))
    }

    /// Keeps these grains, such as those of a [`PersonReport`](crate::store::PersonReport).
    #[must_use]
    pub fn among(self, addresses: impl IntoIterator<Item = ContentAddress>) -> Self {
        self.and(Condition::Among(Arc::new(addresses.into_iter().collect())))
    }

    /// Keeps grains of events at or after this time: `timestamp_ms`, else `created_at` (ruling P5).
    #[must_use]
    pub fn since(mut self, time: Time) -> Self {
        for condition in &mut self.conditions {
            if let Condition::Happened { from, .. } = condition {
                *from = (*from).max(Some(time));
                return self;
            }
        }
        let (from, to) = (Some(time), None);
        self.and(Condition::Happened { from, to })
    }

    /// Keeps grains of events at or before this time: `timestamp_ms`, else `created_at` (ruling P5).
    #[must_use]
    pub fn until(mut self, time: Time) -> Self {
        for condition in &mut self.conditions {
            if let Condition::Happened { to, .. } = condition {
                *to = Some(to.map_or(time, |to| to.min(time)));
                return self;
            }
        }
        let (from, to) = (None, Some(time));
        self.and(Condition::Happened { from, to })
    }

    /// Keeps grains whose `confidence` is in this inclusive range. Grains without one do not pass.
    #[must_use]
    pub fn confidence(self, from: impl Into<Option<f64>>, to: impl Into<Option<f64>>) -> Self {
        self.number(Family::Confidence, "confidence", from.into(), to.into())
    }

    /// Keeps grains whose `importance` is in this inclusive range. Grains without one do not pass.
    #[must_use]
    pub fn importance(self, from: impl Into<Option<f64>>, to: impl Into<Option<f64>>) -> Self {
        self.number(Family::Importance, "importance", from.into(), to.into())
    }

    /// Keeps grains with this `source_type`.
    #[must_use]
    pub fn source_type(self, source_type: impl Into<String>) -> Self {
        self.facet("source_type", source_type)
    }

    /// Keeps grains with this `epistemic_status`.
    #[must_use]
    pub fn epistemic_status(self, status: impl Into<String>) -> Self {
        self.facet("epistemic_status", status)
    }

    /// Keeps grains with this `recall_priority`: `hot`, `warm` or `cold`. A grain without one is
    /// `warm` to readers, and is not found by its absence.
    ///
    /// Searches, recalls and vector searches leave out cold grains unless the filter asks for them
    /// with this method; queries return them (OMS 22.8).
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("the old lease").set("recall_priority", "cold"))?;
    /// assert_eq!(store.query(&Filter::new(), 9, None)?.total, 1);
    /// # #[cfg(feature = "text")]
    /// assert_eq!(store.search("lease", &Filter::new(), 9)?.total, 0);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub fn recall_priority(self, priority: impl Into<String>) -> Self {
        self.facet("recall_priority", priority)
    }

    /// Keeps grains of observers of this type, such as `lidar` or `llm` (OMS 24).
    #[must_use]
    pub fn observer_type(self, observer_type: impl Into<String>) -> Self {
        self.facet("observer_type", observer_type)
    }

    /// Keeps grains of this observer (`observer_id`).
    #[must_use]
    pub fn observer(self, observer_id: impl Into<String>) -> Self {
        self.facet("observer_id", observer_id)
    }

    /// Keeps grains of this author (`author_did`).
    #[must_use]
    pub fn author(self, author_did: impl Into<String>) -> Self {
        self.facet("author_did", author_did)
    }

    /// Keeps grains about this person (`subject_did`).
    #[must_use]
    pub fn subject_did(self, subject_did: impl Into<String>) -> Self {
        self.facet("subject_did", subject_did)
    }

    /// Keeps grains about this entity (`entity_id`).
    #[must_use]
    pub fn entity(self, entity_id: impl Into<String>) -> Self {
        self.facet("entity_id", entity_id)
    }

    /// Keeps grains whose current verification status is this one. To ask for retracted grains is to
    /// ask for grains that are no longer current (ruling P18).
    #[must_use]
    pub fn verification(self, status: Verification) -> Self {
        self.and(Condition::Verification(status))
    }

    /// Keeps grains that were true at a time: `valid_from` ≤ time ≤ `valid_to`, where an absent
    /// bound is open (OMS 15.2). Grains that have expired since then pass.
    #[must_use]
    pub fn valid_at(self, time: Time) -> Self {
        self.and(Condition::TrueBy(time))
            .and(Condition::TrueUntil(time))
    }

    /// Keeps grains that were known at a time: stored by then and current then, regardless of later
    /// changes (OMS 15.2, ruling I20). Grains erased since then are not shown.
    ///
    /// With [`valid_at`](Self::valid_at) it selects what was known at one time about another time.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store, Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let oslo = Draft::belief("user", "lives in", "Oslo").confidence(0.9);
    /// let oslo = store.put(oslo.set("system_valid_from", 1_000))?;
    /// let bergen = Draft::belief("user", "lives in", "Bergen").confidence(0.9);
    /// store.supersede(&oslo, bergen.derived_from(oslo), None)?;
    /// let known = store.query(&Filter::new().known_at(Time::from_ms(2_000)), 10, None)?;
    /// assert_eq!((known.total, known.results[0].address), (1, oslo));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub const fn known_at(mut self, time: Time) -> Self {
        self.known_at = Some(time);
        self
    }

    /// Also keeps grains that are no longer current; with [`known_at`](Self::known_at), that were
    /// no longer current then.
    #[must_use]
    pub const fn with_superseded(mut self) -> Self {
        self.state = VersionScope::Any;
        self
    }

    /// Keeps only grains that are no longer current; with [`known_at`](Self::known_at), that were
    /// no longer current then.
    #[must_use]
    pub const fn only_superseded(mut self) -> Self {
        self.state = VersionScope::Ended;
        self
    }

    /// Also keeps grains that require human review before they may drive a decision. Programs act
    /// on results, so these are excluded by default (OMS 6.1).
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let draft = Draft::reasoning("deny the loan").set("requires_human_review", true);
    /// store.put(draft)?;
    /// assert_eq!(store.query(&Filter::new(), 10, None)?.total, 0);
    /// assert_eq!(store.query(&Filter::new().with_unreviewed(), 10, None)?.total, 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub const fn with_unreviewed(mut self) -> Self {
        self.with_unreviewed = true;
        self
    }

    pub(super) const fn shows_unreviewed(&self) -> bool {
        self.with_unreviewed
    }

    /// Also keeps expired grains: those with a `valid_to` in the past, except Observations and
    /// Consents, and goals with an `expiry_policy` and a `deadline` in the past (ruling I23).
    ///
    /// [`valid_at`](Self::valid_at), [`known_at`](Self::known_at) and filters for grains that are
    /// no longer current include expired grains as well.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store, Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let lent = Draft::belief("user", "has lent", "a drill").confidence(0.9);
    /// store.put(lent.valid_to(Time::from_ms(1_768_471_200_000)))?;
    /// assert_eq!(store.query(&Filter::new(), 10, None)?.total, 0);
    /// assert_eq!(store.query(&Filter::new().with_expired(), 10, None)?.total, 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub const fn with_expired(mut self) -> Self {
        self.with_expired = true;
        self
    }

    /// Also keeps the envelopes of imported files. They say who wrote a file and when, so that it can
    /// be written again as it came; nothing else needs them, and they are excluded by default.
    #[must_use]
    pub const fn with_envelopes(mut self) -> Self {
        self.with_envelopes = true;
        self
    }

    /// Returns whether the envelopes of files pass.
    pub(super) fn shows_envelopes(&self) -> bool {
        self.with_envelopes || self.conditions.contains(&envelope())
    }

    /// Returns whether expired grains pass.
    pub(super) fn shows_expired(&self) -> bool {
        let is_at_a_time = |condition: &Condition| matches!(condition, Condition::TrueUntil(_));
        self.with_expired
            || self.known_at.is_some()
            || self.state != VersionScope::Current
            || self.conditions.iter().any(is_at_a_time)
    }

    /// Restricts the filter to a namespace; `None` if it selects a disjoint one.
    pub(super) fn within(self, namespace: &str) -> Option<Self> {
        let own = Namespace::new(namespace);
        let mut conditions = self.conditions.iter();
        let misses = conditions.any(|condition| match condition {
            Condition::Namespace(asked) => {
                !own.contains(asked.as_str()) && !asked.contains(own.as_str())
            }
            _ => false,
        });
        (!misses).then(|| self.namespace(namespace))
    }

    fn and(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    fn text(self, family: Family, field: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        self.and(Condition::Text {
            family,
            field,
            text,
        })
    }

    fn facet(self, field: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        self.and(Condition::Facet { field, text })
    }

    fn number(
        self,
        family: Family,
        field: &'static str,
        from: Option<f64>,
        to: Option<f64>,
    ) -> Self {
        self.and(Condition::Number {
            family,
            field,
            from,
            to,
        })
    }

    /// Returns whether a ranking shows cold grains: the filter names a priority.
    pub(super) fn shows_cold(&self) -> bool {
        let names_it = |condition: &Condition| matches!(condition, Condition::Facet { field, .. } if *field == "recall_priority");
        self.conditions.iter().any(names_it)
    }

    /// Returns whether it selects the grains of one session.
    pub(super) fn is_of_session(&self) -> bool {
        let of_session = |condition: &Condition| matches!(condition, Condition::Text { family, .. } if *family == Family::Session);
        self.conditions.iter().any(of_session)
    }

    /// Returns whether it selects by user.
    pub(super) fn names_user(&self) -> bool {
        self.fields().contains(&"user_id")
    }

    /// Returns the full names of the fields that the filter tests.
    pub(super) fn fields(&self) -> Vec<&'static str> {
        let conditions = self.conditions();
        let mut fields: Vec<_> = conditions.iter().flat_map(Condition::fields).collect();
        fields.dedup();
        fields
    }

    /// Returns the conditions on single grains.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let mut conditions = self.conditions.clone();
        if self.statement.iter().any(Option::is_some) {
            conditions.push(Condition::Statement(self.statement.clone()));
        }
        conditions.extend(self.known_at.map(Condition::KnownBy));
        conditions
    }

    pub(super) fn state(&self) -> VersionScope {
        let retracted = Condition::Verification(Verification::Retracted);
        match self.state {
            VersionScope::Current if self.conditions.contains(&retracted) => VersionScope::Any,
            state => state,
        }
    }

    /// Returns the time at which grains must be current; `None` for now.
    pub(super) const fn known_at_time(&self) -> Option<Time> {
        self.known_at
    }

    pub(super) fn validate(&self) -> Result<(), Error> {
        self.conditions.iter().try_for_each(Condition::validate)
    }
}

/// A filter by the tag itself asks for envelopes.
fn envelope() -> Condition {
    Condition::Text {
        family: Family::Tag,
        field: "structural_tags",
        text: ENVELOPE_TAG.to_owned(),
    }
}
