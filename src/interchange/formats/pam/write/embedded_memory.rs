//! Grains of other origins as memories that embed the whole grain.

use crate::codec::{Map, Value};
use crate::grain::{Grain, Status, Time, Type};
use crate::interchange::export::event_time;
use crate::interchange::model::embedded_grain;
use crate::interchange::model::rfc3339::{insert_optional, insert_required};
use crate::interchange::{Loss, aimem, omi};

use super::super::schema::tables::{TYPES, is_tag};
use super::super::types::content_hash::content_hash;
use super::uuid::uuid;

/// The member of a memory's metadata that embeds the grain.
pub(crate) const EXTENSION: &str = "x_oms";

/// Returns the memory of a grain of another origin.
///
/// An Event becomes a memory too, of its own custom type: a conversation document needs a file
/// beside the store, and a memory embeds the whole grain in one.
pub(crate) fn memory(grain: &Grain, status: &Status, loss: &mut Loss) -> Map {
    let content = embedded_grain::summary_text(grain);
    let (kind, custom) = kind(grain);
    let mut map = Map::new();
    map.insert("id", uuid(grain.address()));
    map.insert("type", kind);
    if let Some(custom) = custom {
        map.insert("custom_type", custom);
    }
    map.insert("content_hash", content_hash(&content));
    map.insert("content", content);
    map.insert("temporal", temporal(grain, loss));
    let platform: Map = [("platform", "grainstore")].into_iter().collect();
    map.insert("provenance", platform);
    map.insert("tags", tags(grain));
    if let Some(confidence) = grain
        .field("confidence")
        .filter(|_| states_confidence(grain))
    {
        let current: Map = [("current", confidence.clone())].into_iter().collect();
        map.insert("confidence", current);
    }
    let packed = embedded_grain::pack(grain, status);
    let metadata: Map = [(EXTENSION, packed)].into_iter().collect();
    map.insert("metadata", metadata);
    map
}

fn temporal(grain: &Grain, loss: &mut Loss) -> Map {
    let time = |name: &str| grain.field(name).and_then(Value::as_i64).map(Time::from_ms);
    let mut temporal = Map::new();
    insert_required(&mut temporal, "created_at", grain.created_at(), loss);
    // An event is so from its time on; `created_at` is when it was recorded (PAM 6).
    let from = time("valid_from").or_else(|| event_time(grain));
    let until = time("valid_to");
    // PAM refuses an end before its beginning; grains do not.
    if from.is_none() || until.is_none() || from <= until {
        for (name, time) in [("valid_from", from), ("valid_until", until)] {
            if let Some(time) = time {
                insert_optional(&mut temporal, name, time, loss);
            }
        }
    }
    let members = temporal.iter();
    let six_digits = members.map(|(name, text)| (name, six_digits(text.as_text())));
    six_digits.collect()
}

/// PAM writes a fraction of a second in six digits.
pub(super) fn six_digits(text: Option<&str>) -> String {
    let text = text.unwrap_or_default();
    match text.strip_suffix('Z') {
        Some(moment) if moment.contains('.') => format!("{moment}000Z"),
        _ => text.to_owned(),
    }
}

/// Returns the nearest type of PAM 5, and the name of one that PAM does not have.
fn kind(grain: &Grain) -> (&'static str, Option<String>) {
    let record = aimem::residual(grain).or_else(|| omi::residual(grain));
    let record = record.as_ref().and_then(Value::as_map);
    let custom = |name: &str| ("custom", Some(name.to_owned()));
    let tags = record.and_then(|record| record.get("tags"));
    let tagged = tags.into_iter().flat_map(Value::texts);
    let tagged = tagged.filter_map(|tag| tag.strip_prefix("x-type:")).next();
    let said = |name: &str| record.and_then(|record| record.get(name)?.as_text());
    let named = said("memory_type")
        .or(said("type"))
        .filter(|name| !name.is_empty());
    let mut types = TYPES.into_iter().filter(|known| *known != "custom");
    if let Some(known) = types.find(|known| tagged.or(named) == Some(known)) {
        return (known, None);
    }
    match (grain.type_(), grain.text("relation")) {
        (Type::Goal, _) => ("goal", None),
        (Type::Observation, _) => ("context", None),
        (Type::Belief, Some("mg:prefers")) => ("preference", None),
        (Type::Belief, Some("mg:requires")) => ("instruction", None),
        (Type::Belief, Some("mg:knows")) => ("fact", None),
        (Type::Belief, _) if named.is_some() => custom(named.unwrap_or_default()),
        (Type::Belief, Some(relation)) => custom(relation),
        (other, _) => custom(other.name().unwrap_or("opaque")),
    }
}

/// A record without a confidence has none: what OMS requires of its grain is no statement of the
/// source.
fn states_confidence(grain: &Grain) -> bool {
    if !grain.is_record() {
        return true;
    }
    let record = omi::residual(grain);
    record.is_some_and(|record| {
        record
            .as_map()
            .is_some_and(|map| map.contains("confidence"))
    })
}

/// PAM takes a narrower alphabet; the grain in the metadata has the rest.
fn tags(grain: &Grain) -> Vec<String> {
    let tags = grain
        .field("structural_tags")
        .into_iter()
        .flat_map(Value::texts);
    let mut known = std::collections::BTreeSet::new();
    tags.filter(|tag| is_tag(tag) && known.insert(*tag))
        .map(str::to_owned)
        .collect()
}
