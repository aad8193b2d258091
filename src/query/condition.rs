//! `Condition`: one predicate of a filter, with its index lookup and its check on a grain.
//!
//! The plan in `plan.rs` decides which of the two is used.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value, nfc};
use crate::grain::{Namespace, Time, Type, Verification};
use crate::index::{Column, Error, Estimate, Family, Pattern, RowSet, Scan, Snapshot};
use crate::ledger::Kind;
use crate::policy::Trust;
use crate::store::Version;

/// A predicate on grains. A new one needs a variant, an arm in each `match` here, and a method of
/// [`Filter`](super::Filter).
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    Type(Type),
    /// In the namespace or a namespace below it (OMS 28.2).
    Namespace(Namespace),
    /// Subject, relation and object, each if given.
    Statement([Option<String>; 3]),
    /// The text of a field that has an index family.
    Text {
        family: Family,
        field: &'static str,
        text: String,
    },
    /// One of the user ids of a person.
    Users(Vec<String>),
    /// A text of a field of [`Family::FACETS`].
    Facet {
        field: &'static str,
        text: String,
    },
    /// Without this tag.
    NoTag(String),
    DerivedFrom(ContentAddress),
    /// One of these grains.
    Among(Arc<BTreeSet<ContentAddress>>),
    /// The time of the event (ruling P5).
    Happened {
        from: Option<Time>,
        to: Option<Time>,
    },
    Number {
        family: Family,
        field: &'static str,
        from: Option<f64>,
        to: Option<f64>,
    },
    Verification(Verification),
    /// `valid_from` is absent or not after the time (OMS 15.2).
    TrueBy(Time),
    /// `valid_to` is absent or not before the time (OMS 15.2).
    TrueUntil(Time),
    /// Active at the time (OMS 15.2, ruling I20).
    KnownBy(Time),
    /// Signed by a signer who is trusted for this grain (OMS 20.1).
    Verified,
}

/// The rows that the index returns for a condition.
pub(super) struct IndexSource<'a> {
    /// Whether these rows fail the condition instead of meeting it.
    pub(super) excludes: bool,
    pub(super) estimate: Estimate,
    rows: SourceRows<'a>,
}

enum SourceRows<'a> {
    Scans(Vec<Scan<'a>>),
    Set(RowSet),
}

impl<'a> IndexSource<'a> {
    fn of(excludes: bool, scans: Vec<Scan<'a>>) -> Result<Self, Error> {
        let mut estimate = Estimate::default();
        for scan in &scans {
            let one = scan.estimate()?;
            estimate.rows += one.rows;
            estimate.keys += one.keys;
        }
        Ok(Self {
            excludes,
            estimate,
            rows: SourceRows::Scans(scans),
        })
    }

    fn given(excludes: bool, rows: RowSet) -> Self {
        Self {
            excludes,
            estimate: Estimate {
                rows: rows.len(),
                keys: 0,
            },
            rows: SourceRows::Set(rows),
        }
    }

    /// Returns the rows.
    pub(super) fn rows(self) -> Result<RowSet, Error> {
        let mut all = RowSet::default();
        match self.rows {
            SourceRows::Set(rows) => return Ok(rows),
            SourceRows::Scans(scans) => {
                for scan in scans {
                    all.unite(&scan.set()?);
                }
            }
        }
        Ok(all)
    }

    /// Returns those of the rows that are among `given`.
    pub(super) fn among(self, given: &RowSet) -> Result<RowSet, Error> {
        let mut all = RowSet::default();
        match self.rows {
            SourceRows::Set(rows) => {
                all = rows;
                all.intersect(given);
            }
            SourceRows::Scans(scans) => {
                for scan in scans {
                    all.unite(&scan.among(given)?);
                }
            }
        }
        Ok(all)
    }
}

impl Condition {
    /// Returns the full names of the fields that it tests.
    pub(super) fn fields(&self) -> Vec<&'static str> {
        match self {
            Self::Type(_) => vec!["type"],
            Self::Namespace(_) => vec!["namespace"],
            Self::Statement(parts) => {
                let named = PARTS.into_iter().zip(parts);
                named
                    .filter_map(|(name, part)| part.is_some().then_some(name))
                    .collect()
            }
            Self::Text { field, .. } | Self::Facet { field, .. } | Self::Number { field, .. } => {
                vec![field]
            }
            Self::Users(_) => vec!["user_id"],
            Self::NoTag(_) => vec!["structural_tags"],
            Self::DerivedFrom(_) => vec!["derived_from"],
            Self::Happened { .. } => vec!["timestamp_ms", "created_at"],
            Self::Verification(_) => vec!["verification_status"],
            Self::TrueBy(_) => vec!["valid_from"],
            Self::TrueUntil(_) => vec!["valid_to"],
            Self::KnownBy(_) => vec!["system_valid_from"],
            Self::Among(_) | Self::Verified => Vec::new(),
        }
    }

    /// Returns whether the index alone decides it. Otherwise each candidate grain must be checked.
    pub(super) const fn is_indexed(&self) -> bool {
        !matches!(self, Self::Verified)
    }

    /// Looks the condition up in the index.
    pub(super) fn source<'a>(&self, snapshot: &'a Snapshot) -> Result<IndexSource<'a>, Error> {
        let one = |scan| IndexSource::of(false, vec![scan]);
        match self {
            Self::Type(of) => one(snapshot.of_type(*of)),
            Self::Namespace(namespace) => {
                one(snapshot.with_text(Family::Namespace, namespace.as_str()))
            }
            Self::Statement([subject, relation, object]) => one(snapshot.triples(&Pattern {
                subject: subject.as_deref(),
                relation: relation.as_deref(),
                object: object.as_deref(),
            })),
            Self::Text { family, text, .. } => one(snapshot.with_text(*family, text)),
            Self::Users(users) => {
                let users = users.iter();
                let scans = users.map(|user| snapshot.with_text(Family::User, user));
                IndexSource::of(false, scans.collect())
            }
            Self::Facet { field, text } => one(snapshot.with_facet(field, text)),
            Self::NoTag(tag) => IndexSource::of(true, vec![snapshot.with_text(Family::Tag, tag)]),
            Self::DerivedFrom(address) => one(snapshot.pointing_at(Family::DerivedFrom, address)),
            Self::Among(addresses) => {
                let mut rows = RowSet::default();
                for address in &**addresses {
                    let found = snapshot.candidates(address)?;
                    found.iter().for_each(|row| rows.insert(row));
                }
                Ok(IndexSource::given(false, rows))
            }
            Self::Happened { from, to } => time_range(snapshot, Family::EventTime, *from, *to),
            Self::Number {
                family, from, to, ..
            } => one(snapshot.in_numbers(*family, *from, *to)),
            Self::Verification(Verification::Unverified) => {
                let mut others = snapshot.verified_as(Verification::Verified)?;
                for other in [Verification::Contested, Verification::Retracted] {
                    others.unite(&snapshot.verified_as(other)?);
                }
                Ok(IndexSource::given(true, others))
            }
            Self::Verification(status) => {
                Ok(IndexSource::given(false, snapshot.verified_as(*status)?))
            }
            Self::TrueBy(time) => excluding_later(snapshot, Family::ValidTime, *time),
            Self::TrueUntil(time) => {
                let over = match before(*time) {
                    Some(last) => vec![snapshot.in_time(Family::ValidTo, None, Some(last))],
                    None => Vec::new(),
                };
                IndexSource::of(true, over)
            }
            Self::KnownBy(time) => time_range(snapshot, Family::SystemTime, None, Some(*time)),
            Self::Verified => Ok(IndexSource::given(false, signed(snapshot)?)),
        }
    }

    /// Refuses a condition that no grain could meet.
    pub(super) fn validate(&self) -> Result<(), super::Error> {
        let refuse = |filter, reason| Err(super::Error::Filter { filter, reason });
        match self {
            Self::Namespace(namespace) if namespace.as_str().is_empty() => {
                refuse("namespace", "is empty")
            }
            // Only whole `:` components are indexed, so a partial one cannot be answered.
            Self::Namespace(namespace) if namespace.as_str().ends_with([':', '*']) => refuse(
                "namespace",
                "must be whole; those inside it are found with it",
            ),
            Self::Happened {
                from: Some(from),
                to: Some(to),
            } if from > to => refuse("time", "range ends before it begins"),
            Self::Number {
                field, from, to, ..
            } => match (from, to) {
                (Some(number), _) | (_, Some(number)) if !number.is_finite() => {
                    refuse(field, "range needs finite numbers")
                }
                (Some(from), Some(to)) if !to.is_finite() || from > to => {
                    refuse(field, "range ends before it begins")
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Returns whether it holds for a grain. The index compares hashes; this compares the strings.
    pub(super) fn holds(&self, version: &Version) -> bool {
        let grain = &version.grain;
        let says = |field: &str, text: &str| grain.text(field) == Some(&*nfc(text));
        let time = |field: &str| {
            grain
                .field(field)
                .and_then(Value::as_i64)
                .map(Time::from_ms)
        };
        match self {
            Self::Type(of) => grain.type_() == *of,
            Self::Namespace(namespace) => {
                let inner = grain.text("namespace");
                inner.is_some_and(|inner| namespace.contains(inner))
            }
            Self::Statement(parts) => {
                let Some(triple) = grain.triple() else {
                    return false;
                };
                let said = [triple.subject, triple.relation, triple.object];
                let mut pairs = parts.iter().zip(&said);
                pairs.all(|(wanted, said)| {
                    let wanted = wanted.as_deref().map(nfc);
                    wanted.is_none_or(|wanted| said.as_deref() == Some(&*wanted))
                })
            }
            Self::Text { field, text, .. } if *field == "structural_tags" => has_tag(version, text),
            Self::Text { field, text, .. } | Self::Facet { field, text } => says(field, text),
            Self::Users(users) => users.iter().any(|user| says("user_id", user)),
            Self::NoTag(tag) => !has_tag(version, tag),
            Self::DerivedFrom(address) => grain.derived_from().any(|of| of == *address),
            Self::Among(addresses) => addresses.contains(&grain.address()),
            Self::Happened { .. } => self.holds_at(Some(grain.event_time())),
            Self::Number { field, .. } => self.holds_of(grain.field(field).and_then(Value::as_f64)),
            Self::Verification(wanted) => version.status.verification == *wanted,
            Self::TrueBy(_) => self.holds_at(time("valid_from")),
            Self::TrueUntil(_) => self.holds_at(time("valid_to")),
            Self::KnownBy(_) => {
                let active = time("system_valid_from").unwrap_or(version.stored_at);
                self.holds_at(Some(active))
            }
            Self::Verified => {
                let signature = version.signature.as_ref();
                signature.is_some_and(|signature| signature.trust == Trust::Verified)
            }
        }
    }

    /// Returns the family of the single value that decides it, if there is one.
    pub(super) const fn column(&self) -> Option<Family> {
        match self {
            Self::Happened { .. } => Some(Family::EventTime),
            Self::Number { family, .. } => Some(*family),
            Self::TrueBy(_) => Some(Family::ValidTime),
            Self::TrueUntil(_) => Some(Family::ValidTo),
            Self::KnownBy(_) => Some(Family::SystemTime),
            _ => None,
        }
    }

    /// Returns those of the rows for which it holds, by the values in its [`column`](Self::column).
    pub(super) fn among_values(&self, column: &Column, rows: &RowSet) -> RowSet {
        let is_without = self.holds_at(None);
        match self {
            Self::Number { from, to, .. } => column.with_numbers(rows, *from, *to),
            Self::Happened { from, to } => column.with_times(rows, *from, *to, is_without),
            Self::TrueBy(at) | Self::KnownBy(at) => {
                column.with_times(rows, None, Some(*at), is_without)
            }
            Self::TrueUntil(at) => column.with_times(rows, Some(*at), None, is_without),
            _ => RowSet::default(),
        }
    }

    fn holds_at(&self, time: Option<Time>) -> bool {
        match self {
            Self::Happened { from, to } => {
                let at = time.unwrap_or(Time::from_ms(0));
                from.is_none_or(|from| from <= at) && to.is_none_or(|to| at <= to)
            }
            Self::TrueBy(at) => time.is_none_or(|from| from <= *at),
            Self::TrueUntil(at) => time.is_none_or(|to| *at <= to),
            Self::KnownBy(at) => time.is_some_and(|active| active <= *at),
            _ => false,
        }
    }

    fn holds_of(&self, number: Option<f64>) -> bool {
        match (self, number) {
            (Self::Number { from, to, .. }, Some(number)) => {
                from.is_none_or(|from| from <= number) && to.is_none_or(|to| number <= to)
            }
            _ => false,
        }
    }
}

/// Returns the signed grains. The signature of a grain is the entry that follows it.
fn signed(snapshot: &Snapshot) -> Result<RowSet, Error> {
    let mut rows = RowSet::default();
    for row in snapshot.of_kind(Kind::Signature).rows()?.iter() {
        row.before().into_iter().for_each(|row| rows.insert(row));
    }
    Ok(rows)
}

fn has_tag(version: &Version, tag: &str) -> bool {
    let tags = version.grain.field("structural_tags");
    let wanted = nfc(tag);
    tags.into_iter()
        .flat_map(Value::texts)
        .any(|tag| tag == wanted)
}

/// Returns the rows inside a time range, or those outside it, whichever are fewer. Every grain has
/// a time in the family.
fn time_range(
    snapshot: &Snapshot,
    family: Family,
    from: Option<Time>,
    to: Option<Time>,
) -> Result<IndexSource<'_>, Error> {
    let inside = IndexSource::of(false, vec![snapshot.in_time(family, from, to)])?;
    let earlier = from.and_then(before);
    let earlier = earlier.map(|last| snapshot.in_time(family, None, Some(last)));
    let later = to.and_then(after);
    let later = later.map(|first| snapshot.in_time(family, Some(first), None));
    let outside = IndexSource::of(true, earlier.into_iter().chain(later).collect())?;
    Ok(if outside.estimate.rows < inside.estimate.rows {
        outside
    } else {
        inside
    })
}

/// Returns the rows with a time after `time`, to be excluded.
fn excluding_later(
    snapshot: &Snapshot,
    family: Family,
    time: Time,
) -> Result<IndexSource<'_>, Error> {
    let first = after(time);
    let later = first.map(|first| snapshot.in_time(family, Some(first), None));
    IndexSource::of(true, later.into_iter().collect())
}

fn before(time: Time) -> Option<Time> {
    time.ms().checked_sub(1).map(Time::from_ms)
}

fn after(time: Time) -> Option<Time> {
    time.ms().checked_add(1).map(Time::from_ms)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(of) => write!(f, "type = {of}"),
            Self::Namespace(namespace) => write!(f, "namespace in {:?}", namespace.as_str()),
            Self::Statement(parts) => {
                let named = PARTS.into_iter().zip(parts);
                let said = named.filter_map(|(name, part)| Some((name, part.as_ref()?)));
                for (n, (name, text)) in said.enumerate() {
                    write!(f, "{}{name} = {text:?}", if n == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::Text { field, text, .. } | Self::Facet { field, text } => {
                write!(f, "{field} = {text:?}")
            }
            Self::Users(users) => write!(f, "user_id one of {users:?}"),
            Self::NoTag(tag) => write!(f, "structural_tags without {tag:?}"),
            Self::DerivedFrom(address) => write!(f, "derived_from = {address}"),
            Self::Among(addresses) => write!(f, "one of {} grains", addresses.len()),
            Self::Happened { from, to } => {
                write!(f, "time ")?;
                write_range(f, from.as_ref(), to.as_ref())
            }
            Self::Number {
                field, from, to, ..
            } => {
                write!(f, "{field} ")?;
                write_range(f, from.as_ref(), to.as_ref())
            }
            Self::Verification(status) => write!(f, "verification_status = {}", status.name()),
            Self::TrueBy(time) => write!(f, "valid_from absent or up to {time}"),
            Self::TrueUntil(time) => write!(f, "valid_to absent or from {time}"),
            Self::KnownBy(time) => write!(f, "system_valid_from up to {time}"),
            Self::Verified => f.write_str("trust = verified"),
        }
    }
}

fn write_range<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    from: Option<&T>,
    to: Option<&T>,
) -> fmt::Result {
    match (from, to) {
        (Some(from), Some(to)) => write!(f, "from {from} to {to}"),
        (Some(from), None) => write!(f, "from {from}"),
        (None, Some(to)) => write!(f, "up to {to}"),
        (None, None) => write!(f, "any"),
    }
}

pub(super) const PARTS: [&str; 3] = ["subject", "relation", "object"];
