use crate::codec::ContentAddress;
use crate::grain::{Time, Type};
use crate::index::{Family, Pattern, Rows, Snapshot};

use super::Error;

/// Which grains a question is about. Everything set must hold; nothing set means every grain that
/// is current.
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    of: Option<Type>,
    namespace: Option<String>,
    subject: Option<String>,
    relation: Option<String>,
    object: Option<String>,
    texts: Vec<(Family, &'static str, String)>,
    derived_from: Option<ContentAddress>,
    created_from: Option<Time>,
    created_to: Option<Time>,
    with_superseded: bool,
}

impl Filter {
    /// Starts a filter that every current grain passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps grains of a type.
    #[must_use]
    pub const fn of_type(mut self, of: Type) -> Self {
        self.of = Some(of);
        self
    }

    /// Keeps grains of a namespace and of those inside it: `acme` has `acme:chatbot` (OMS 28.2).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Keeps grains with this subject.
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Keeps grains with this relation.
    #[must_use]
    pub fn relation(mut self, relation: impl Into<String>) -> Self {
        self.relation = Some(relation.into());
        self
    }

    /// Keeps grains with this object; of an object that is a map, its JSON.
    #[must_use]
    pub fn object(mut self, object: impl Into<String>) -> Self {
        self.object = Some(object.into());
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

    /// Keeps grains with this tag; may be said several times.
    #[must_use]
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.text(Family::Tag, "structural_tags", tag)
    }

    /// Keeps grains derived from this one.
    #[must_use]
    pub const fn derived_from(mut self, address: ContentAddress) -> Self {
        self.derived_from = Some(address);
        self
    }

    /// Keeps grains created at this time or later.
    #[must_use]
    pub const fn created_from(mut self, time: Time) -> Self {
        self.created_from = Some(time);
        self
    }

    /// Keeps grains created at this time or earlier.
    #[must_use]
    pub const fn created_to(mut self, time: Time) -> Self {
        self.created_to = Some(time);
        self
    }

    /// Keeps also grains that are no longer current.
    #[must_use]
    pub const fn with_superseded(mut self) -> Self {
        self.with_superseded = true;
        self
    }

    /// Narrows it to a namespace; none if it asks for another one.
    pub(super) fn within(mut self, namespace: &str) -> Option<Self> {
        let lies_in = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        match &self.namespace {
            Some(asked) if lies_in(asked, namespace) => {}
            Some(asked) if !lies_in(namespace, asked) => return None,
            _ => self.namespace = Some(namespace.to_owned()),
        }
        Some(self)
    }

    fn text(mut self, family: Family, field: &'static str, text: impl Into<String>) -> Self {
        self.texts.push((family, field, text.into()));
        self
    }

    /// Returns the fields this filter looks at, by their full names.
    pub(super) fn fields(&self) -> Vec<&'static str> {
        let created = self.created_from.is_some() || self.created_to.is_some();
        let set = [
            (self.of.is_some(), "type"),
            (self.namespace.is_some(), "namespace"),
            (self.subject.is_some(), "subject"),
            (self.relation.is_some(), "relation"),
            (self.object.is_some(), "object"),
            (self.derived_from.is_some(), "derived_from"),
            (created, "created_at"),
        ];
        let set = set
            .into_iter()
            .filter_map(|(is_set, field)| is_set.then_some(field));
        let mut fields: Vec<_> = set.collect();
        fields.extend(self.texts.iter().map(|(_, field, _)| *field));
        fields.dedup();
        fields
    }

    /// Returns the rows that pass, current or not; none for a filter that every grain passes.
    pub(super) fn rows(&self, snapshot: &Snapshot) -> Result<Option<Rows>, Error> {
        self.validate()?;
        let pattern = Pattern {
            subject: self.subject.as_deref(),
            relation: self.relation.as_deref(),
            object: self.object.as_deref(),
        };
        let mut parts = Vec::new();
        if pattern != Pattern::default() {
            parts.push(snapshot.triples(&pattern).rows()?);
        }
        if let Some(address) = &self.derived_from {
            parts.push(snapshot.pointing_at(Family::DerivedFrom, address).rows()?);
        }
        for (family, _, text) in &self.texts {
            parts.push(snapshot.with_text(*family, text).rows()?);
        }
        if let Some(namespace) = &self.namespace {
            parts.push(snapshot.with_text(Family::Namespace, namespace).rows()?);
        }
        if self.created_from.is_some() || self.created_to.is_some() {
            let within = snapshot.in_time(Family::CreatedAt, self.created_from, self.created_to);
            parts.push(within.rows()?);
        }
        if let Some(of) = self.of {
            parts.push(snapshot.of_type(of).rows()?);
        }
        Ok(parts.into_iter().reduce(|mut rows, part| {
            rows.intersect(&part);
            rows
        }))
    }

    /// Returns whether a row that passed the filter may be shown.
    pub(super) fn shows(&self, snapshot: &Snapshot, row: u64) -> bool {
        self.with_superseded || snapshot.is_current(row)
    }

    fn validate(&self) -> Result<(), Error> {
        let refuse = |filter, reason| Err(Error::Filter { filter, reason });
        match &self.namespace {
            Some(namespace) if namespace.is_empty() => refuse("namespace", "is empty"),
            // Only whole `:` parts are indexed, so nothing shorter can be answered.
            Some(namespace) if namespace.ends_with([':', '*']) => refuse(
                "namespace",
                "must be whole; those inside it are found with it",
            ),
            _ => match (self.created_from, self.created_to) {
                (Some(from), Some(to)) if from > to => {
                    refuse("created_at", "range ends before it begins")
                }
                _ => Ok(()),
            },
        }
    }
}
