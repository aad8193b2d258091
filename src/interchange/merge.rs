//! Merging: what an import does with a record whose id was imported before.
//!
//! Only the records are compared, and the rule of their format decides. The store carries it out.

use std::cmp::Ordering;

use crate::codec::{Map, Value};
use crate::grain::{Grain, Status};

use super::merge_rule::{Merge, MergeRule};
use super::model::rfc3339::parse_rfc3339;
use super::registry::READERS;
use super::{ForeignId, Format};

/// Chooses the merge of a record from its stored versions, the newest last.
///
/// Versions are compared by their residuals alone: a new address of a grain that they name does not
/// make another record. A record that equals any version is unchanged, never an update.
pub(crate) fn choose_merge(id: &ForeignId, grain: &Grain, versions: &[(Grain, Status)]) -> Merge {
    let said = said(grain);
    let has_record = said.first().is_some_and(Option::is_some);
    // Without a record there is only the grain.
    let is_same = |version: &Grain| {
        if has_record {
            self::said(version) == said
        } else {
            version.address() == grain.address()
        }
    };
    let (family, _) = id.format().split_once(':').unwrap_or((id.format(), ""));
    let reader = Format::named(family).map(Format::reader);
    // Of a conversation that has grown the messages differ, and nothing else.
    let is_written = |version: &Grain, status: &Status| {
        let reader = reader.filter(|_| has_record && tail(version) == tail(grain));
        reader.is_some_and(|reader| reader.is_export_of(grain, version, status))
    };
    let same = versions
        .iter()
        .rposition(|(version, _)| is_same(version))
        .or_else(|| {
            versions
                .iter()
                .rposition(|(version, status)| is_written(version, status))
        });
    let Some((newest, status)) = versions.last() else {
        return Merge::Beside;
    };
    if let Some(at) = same {
        return Merge::Unchanged(at);
    }
    if !has_record {
        return Merge::Reject;
    }
    let rule = reader.map(|reader| reader.merge_rule(id.format()));
    match rule.unwrap_or_default() {
        MergeRule::Conflict => Merge::Conflict,
        MergeRule::Beside => Merge::Beside,
        MergeRule::Newest { if_ended, if_equal } => match order(&said, &self::said(newest)) {
            Ordering::Less => Merge::Older,
            // Ended here by an operator while the source went on: both may be right.
            _ if !status.is_current() && !is_ended(newest) => if_ended,
            Ordering::Equal => if_equal,
            Ordering::Greater => Merge::Update,
        },
    }
}

fn is_ended(grain: &Grain) -> bool {
    READERS.iter().any(|reader| reader.is_ended(grain))
}

/// Returns the content of a record, without the addresses that its grain names.
fn said(grain: &Grain) -> [Option<Value>; 3] {
    [
        READERS.iter().find_map(|reader| reader.residual(grain)),
        READERS.iter().find_map(|reader| reader.inherited(grain)),
        // A conversation that has grown says so nowhere else.
        tail(grain),
    ]
}

fn tail(grain: &Grain) -> Option<Value> {
    let context = grain.field("context")?.as_map()?;
    context.get("messages_tail").cloned()
}

/// Compares the times of two versions, to the last digit they have.
fn order(a: &[Option<Value>], b: &[Option<Value>]) -> Ordering {
    let stamp = |said: &[Option<Value>]| said.first().and_then(Option::as_ref).and_then(stamp);
    match (stamp(a), stamp(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // Without times to compare, the later import is newer.
        _ => Ordering::Greater,
    }
}

/// Returns the whole second in which a record was last written, and the digits after it.
fn stamp(record: &Value) -> Option<(i64, String)> {
    let record = record.as_map()?;
    let temporal = record.get("temporal").and_then(Value::as_map);
    let text = |map: &Map, name: &str| map.get(name)?.as_text().map(str::to_owned);
    let text = temporal
        .and_then(|temporal| text(temporal, "updated_at").or_else(|| text(temporal, "created_at")))
        .or_else(|| text(record, "created_at"))?;
    let second = parse_rfc3339(&text).ok()?.ms().div_euclid(1000);
    let fraction = text.split_once('.').map_or("", |(_, rest)| rest);
    let digits = fraction.trim_end_matches(|c: char| !c.is_ascii_digit());
    let digits = digits.split(['+', '-']).next().unwrap_or_default();
    Some((second, digits.trim_end_matches('0').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_to_the_last_digit() {
        let at = |text: &str| stamp(&Value::Map([("created_at", text)].into_iter().collect()));
        let ordered = [
            "1969-12-31T23:59:59.9999999Z",
            "1970-01-01T00:00:00Z",
            "1970-01-01T00:00:00.000000001Z",
            "1970-01-01T00:00:00.45Z",
            "1970-01-01T00:00:00.5+00:00",
            "1970-01-01T03:00:01+03:00",
        ];
        for (before, after) in ordered.iter().zip(ordered.iter().skip(1)) {
            assert!(at(before) < at(after), "{before} {after}");
        }
        assert_eq!(
            at("1970-01-01T00:00:00.500Z"),
            at("1970-01-01T02:00:00.5+02:00")
        );
        assert_eq!(at("tomorrow"), None);
    }
}
