use std::fmt;

use crate::codec::{ContentAddress, Value, nfc};
use crate::grain::{Namespace, Time, Type, Verification};
use crate::index::{Column, Error, Estimate, Family, Pattern, RowSet, Scan, Snapshot};
use crate::ledger::Kind;
use crate::policy::Trust;
use crate::store::Version;

/// One thing that must hold of a grain. To add one is to add a variant and its arms here, and a
/// method that sets it to [`Filter`](super::Filter).
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    Type(Type),
    /// In the namespace or inside it (OMS 28.2).
    Namespace(Namespace),
    /// Subject, relation, object, as far as they are given.
    Statement([Option<String>; 3]),
    /// A text of a family.
    Text {
        family: Family,
        field: &'static str,
        text: String,
    },
    /// A text of a field of [`Family::FACETS`].
    Facet {
        field: &'static str,
        text: String,
    },
    /// Without this tag.
    NoTag(String),
    DerivedFrom(ContentAddress),
    Created {
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
    /// Not true only later: without a `valid_from`, or with one no later (OMS 15.2).
    TrueBy(Time),
    /// Not over before: without a `valid_to`, or with one no earlier (OMS 15.2).
    TrueUntil(Time),
    /// Here by then (OMS 15.2, ruling I20).
    KnownBy(Time),
    /// Signed by somebody who is trusted to write it (OMS 20.1).
    Verified,
}

/// What the index says of a condition.
pub(super) struct Part<'a> {
    /// Whether the rows are those that fail.
    pub(super) excludes: bool,
    pub(super) estimate: Estimate,
    rows: Source<'a>,
}

enum Source<'a> {
    Scans(Vec<Scan<'a>>),
    Set(RowSet),
}

impl<'a> Part<'a> {
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
            rows: Source::Scans(scans),
        })
    }

    fn given(excludes: bool, rows: RowSet) -> Self {
        Self {
            excludes,
            estimate: Estimate {
                rows: rows.len(),
                keys: 0,
            },
            rows: Source::Set(rows),
        }
    }

    /// Returns the rows.
    pub(super) fn rows(self) -> Result<RowSet, Error> {
        let mut all = RowSet::default();
        match self.rows {
            Source::Set(rows) => return Ok(rows),
            Source::Scans(scans) => {
                for scan in scans {
                    all.unite(&scan.set()?);
                }
            }
        }
        Ok(all)
    }
}

impl Condition {
    /// Returns the field it looks at, by its full name.
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
            Self::NoTag(_) => vec!["structural_tags"],
            Self::DerivedFrom(_) => vec!["derived_from"],
            Self::Created { .. } => vec!["created_at"],
            Self::Verification(_) => vec!["verification_status"],
            Self::TrueBy(_) => vec!["valid_from"],
            Self::TrueUntil(_) => vec!["valid_to"],
            Self::KnownBy(_) => vec!["system_valid_from"],
            Self::Verified => Vec::new(),
        }
    }

    /// Returns whether the index knows all of it; else every grain that it names is looked at.
    pub(super) const fn is_indexed(&self) -> bool {
        !matches!(self, Self::Verified)
    }

    /// Asks the index.
    pub(super) fn part<'a>(&self, snapshot: &'a Snapshot) -> Result<Part<'a>, Error> {
        let one = |scan| Part::of(false, vec![scan]);
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
            Self::Facet { field, text } => one(snapshot.with_facet(field, text)),
            Self::NoTag(tag) => Part::of(true, vec![snapshot.with_text(Family::Tag, tag)]),
            Self::DerivedFrom(address) => one(snapshot.pointing_at(Family::DerivedFrom, address)),
            Self::Created { from, to } => one_window(snapshot, Family::CreatedAt, *from, *to),
            Self::Number {
                family, from, to, ..
            } => one(snapshot.in_numbers(*family, *from, *to)),
            Self::Verification(Verification::Unverified) => {
                let mut others = snapshot.verified_as(Verification::Verified)?;
                for other in [Verification::Contested, Verification::Retracted] {
                    others.unite(&snapshot.verified_as(other)?);
                }
                Ok(Part::given(true, others))
            }
            Self::Verification(status) => Ok(Part::given(false, snapshot.verified_as(*status)?)),
            Self::TrueBy(time) => later(snapshot, Family::ValidTime, *time),
            Self::TrueUntil(time) => {
                let over = match before(*time) {
                    Some(last) => vec![snapshot.in_time(Family::ValidTo, None, Some(last))],
                    None => Vec::new(),
                };
                Part::of(true, over)
            }
            Self::KnownBy(time) => one_window(snapshot, Family::SystemTime, None, Some(*time)),
            Self::Verified => Ok(Part::given(false, signed(snapshot)?)),
        }
    }

    /// Returns whether it holds of a grain: what the index said of hashes is true of the strings.
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
            Self::NoTag(tag) => !has_tag(version, tag),
            Self::DerivedFrom(address) => grain.derived_from().any(|of| of == *address),
            Self::Created { .. } => self.holds_at(time("created_at")),
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

    /// Returns the family of the one value that decides it, if one does.
    pub(super) const fn column(&self) -> Option<Family> {
        match self {
            Self::Created { .. } => Some(Family::CreatedAt),
            Self::Number { family, .. } => Some(*family),
            Self::TrueBy(_) => Some(Family::ValidTime),
            Self::TrueUntil(_) => Some(Family::ValidTo),
            Self::KnownBy(_) => Some(Family::SystemTime),
            _ => None,
        }
    }

    /// Returns whether it holds of a row, by its [`column`](Self::column).
    pub(super) fn holds_in(&self, column: &Column, row: u64) -> bool {
        match self {
            Self::Number { .. } => self.holds_of(column.number(row)),
            _ => self.holds_at(column.time(row)),
        }
    }

    fn holds_at(&self, time: Option<Time>) -> bool {
        match self {
            Self::Created { from, to } => {
                let created = time.unwrap_or(Time::from_ms(0));
                from.is_none_or(|from| from <= created) && to.is_none_or(|to| created <= to)
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

/// Returns the grains that are signed: the signature of each is the entry behind it.
fn signed(snapshot: &Snapshot) -> Result<RowSet, Error> {
    let mut rows = RowSet::default();
    for row in snapshot.of_kind(Kind::Signature).rows()?.iter() {
        rows.insert(row.saturating_sub(1));
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

/// Returns the rows within a time of a family that every grain has, or those without: whichever
/// are fewer.
fn one_window(
    snapshot: &Snapshot,
    family: Family,
    from: Option<Time>,
    to: Option<Time>,
) -> Result<Part<'_>, Error> {
    let inside = Part::of(false, vec![snapshot.in_time(family, from, to)])?;
    let earlier = from.and_then(before);
    let earlier = earlier.map(|last| snapshot.in_time(family, None, Some(last)));
    let later = to.and_then(after);
    let later = later.map(|first| snapshot.in_time(family, Some(first), None));
    let outside = Part::of(true, earlier.into_iter().chain(later).collect())?;
    Ok(if outside.estimate.rows < inside.estimate.rows {
        outside
    } else {
        inside
    })
}

/// Excludes the rows with a time behind `time`.
fn later(snapshot: &Snapshot, family: Family, time: Time) -> Result<Part<'_>, Error> {
    let first = after(time);
    let later = first.map(|first| snapshot.in_time(family, Some(first), None));
    Part::of(true, later.into_iter().collect())
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
            Self::NoTag(tag) => write!(f, "structural_tags without {tag:?}"),
            Self::DerivedFrom(address) => write!(f, "derived_from = {address}"),
            Self::Created { from, to } => {
                write!(f, "created_at ")?;
                window(f, from.as_ref(), to.as_ref())
            }
            Self::Number {
                field, from, to, ..
            } => {
                write!(f, "{field} ")?;
                window(f, from.as_ref(), to.as_ref())
            }
            Self::Verification(status) => write!(f, "verification_status = {}", status.name()),
            Self::TrueBy(time) => write!(f, "valid_from absent or up to {time}"),
            Self::TrueUntil(time) => write!(f, "valid_to absent or from {time}"),
            Self::KnownBy(time) => write!(f, "system_valid_from up to {time}"),
            Self::Verified => f.write_str("trust = verified"),
        }
    }
}

fn window<T: fmt::Display>(
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
