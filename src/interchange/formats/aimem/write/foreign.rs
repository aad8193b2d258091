//! Grains of other origins as chunks.

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Time, Type};
use crate::interchange::export::count_lost;
use crate::interchange::model::embedded_grain;
use crate::interchange::model::link::{Link, link_of};
use crate::interchange::model::normalize::sha256;
use crate::interchange::model::rfc3339::insert_required;
use crate::interchange::{Loss, omi, pam};

/// A relation of another format, which becomes an edge between two chunks.
pub(super) struct Relation {
    link: Link,
    weight: f64,
    created_at: Time,
}

/// Returns the relation that a grain of another format is.
pub(super) fn relation(grain: &Grain) -> Option<Relation> {
    Some(Relation {
        link: link_of(grain)?,
        // A relation of OMI has no weight; that of PAM is its confidence.
        weight: grain
            .field("confidence")
            .and_then(Value::as_f64)
            .unwrap_or(1.0),
        created_at: grain.created_at(),
    })
}

impl Relation {
    /// Returns the edge; `None` if one of its ends is not among the chunks. `id` returns the id of
    /// one that is.
    pub(super) fn edge<E>(
        &self,
        id: impl Fn(&ContentAddress) -> Result<Option<String>, E>,
        loss: &mut Loss,
    ) -> Result<Option<Map>, E> {
        let mut ends = self.link.ends.iter();
        let mut end = || ends.next().map_or(Ok(None), &id);
        let (Some(source), Some(target)) = (end()?, end()?) else {
            return Ok(None);
        };
        let kind = match self.link.kind.as_str() {
            "" => "semantic".to_owned(),
            kind @ ("hebbian" | "semantic" | "temporal" | "causal") => kind.to_owned(),
            kind => format!("x-{kind}"),
        };
        let mut edge = Map::new();
        edge.insert("source_id", source);
        edge.insert("target_id", target);
        edge.insert("edge_type", kind);
        edge.insert("weight", self.weight);
        insert_required(&mut edge, "created_at", self.created_at, loss);
        Ok(Some(edge))
    }
}

/// Returns the id of the chunk of a grain of another origin.
pub(super) fn chunk_id(grain: &Grain, producer: &str) -> String {
    format!("urn:aimem:{producer}:{}", grain.address())
}

/// Returns whether a grain of another origin becomes a chunk.
pub(super) fn is_chunk(grain: &Grain, loss: &mut Loss) -> bool {
    if embedded_grain::is_side(grain) {
        // An envelope says nothing that a new one does not.
        if embedded_grain::says_nothing(grain) {
            loss.count("message without a text");
        } else if grain.text("session_id").is_some() {
            loss.count("conversation");
        }
        return false;
    }
    let count = embedded_grain::summary_text(grain).chars().count();
    let fits = count <= super::super::chunk::CONTENT_LEN_MAX;
    if !fits {
        loss.count("content longer than 65,536 code points");
    }
    fits
}

/// Returns the type of the chunk of a grain of another origin.
pub(super) fn memory_type(grain: &Grain) -> &'static str {
    let record = pam::residual(grain).or_else(|| omi::residual(grain));
    type_and_tag(grain, record_kind(record.as_ref())).0
}

fn record_kind(record: Option<&Value>) -> Option<&str> {
    let text = |name: &str| record?.as_map()?.get(name)?.as_text();
    text("custom_type").or_else(|| text("type"))
}

/// Returns a grain of another origin as a chunk; `None` for a grain that is no memory. AIMEM has no
/// place for extensions, so the rest is counted.
pub(super) fn chunk(grain: &Grain, producer: &str, loss: &mut Loss) -> Option<Map> {
    if !is_chunk(grain, &mut Loss::default()) {
        return None;
    }
    let record = pam::residual(grain).or_else(|| omi::residual(grain));
    let content = embedded_grain::summary_text(grain);
    let (memory_type, tag) = type_and_tag(grain, record_kind(record.as_ref()));
    let mut tags: Vec<String> = grain
        .field("structural_tags")
        .into_iter()
        .flat_map(Value::texts)
        .map(|tag| tag.strip_prefix("t:").unwrap_or(tag).to_owned())
        .chain(tag)
        .collect();
    tags.retain(|tag| {
        let fits = (1..=64).contains(&tag.chars().count());
        if !fits {
            loss.count("structural_tags");
        }
        fits
    });
    let said = [
        "object",
        "content",
        "description",
        "structural_tags",
        "user_id",
        "context",
    ];
    count_lost(grain, &said, loss);
    let members = record.as_ref().and_then(Value::as_map).into_iter();
    for (name, value) in members.flat_map(Map::iter) {
        if !SAID.contains(&name) && !grain.fields().contains(name) && *value != Value::Nil {
            loss.count(name);
        }
    }
    let mut chunk = Map::new();
    chunk.insert("id", chunk_id(grain, producer));
    chunk.insert("content_hash", sha256(content.as_bytes()));
    chunk.insert("content", content);
    chunk.insert("memory_type", memory_type);
    chunk.insert("is_pinned", false);
    insert_required(&mut chunk, "created_at", grain.created_at(), loss);
    chunk.insert("tags", tags);
    Some(chunk)
}

/// Returns whether a chunk of a bundle is the chunk that an export writes of a grain.
pub(in crate::interchange) fn is_export_of(chunk: &Grain, grain: &Grain) -> bool {
    let without_name = |mut map: Map| {
        map.remove("id");
        map.remove("embedding");
        map
    };
    let Some(Value::Map(said)) = super::super::residual(chunk) else {
        return false;
    };
    let written = self::chunk(grain, "", &mut Loss::default());
    written.map(without_name) == Some(without_name(said))
}

/// The members of records that a chunk says in its own way, or that the loss has under the name of a
/// field.
const SAID: [&str; 14] = [
    "id",
    "content",
    "content_hash",
    "type",
    "custom_type",
    "tags",
    "created",
    "created_at",
    "temporal",
    "role",
    "status",
    "valid_from",
    "valid_to",
    "subject",
];

/// Returns the nearest of the eight types, and the tag that keeps the original one.
fn type_and_tag(grain: &Grain, kind: Option<&str>) -> (&'static str, Option<String>) {
    let tagged = |name: &str| Some(format!("x-type:{name}"));
    match (grain.type_(), kind) {
        (_, Some("identity")) => ("identity", None),
        (_, Some("fact")) => ("fact", None),
        (_, Some("preference")) => ("preference", None),
        (_, Some("instruction")) => ("preference", tagged("instruction")),
        (Type::Goal, _) => ("goal", None),
        (Type::Event, _) => ("episodic", None),
        (Type::Workflow, _) => ("procedure", tagged("workflow")),
        (Type::Belief, kind) => match (grain.text("relation"), kind) {
            (Some("mg:prefers"), _) => ("preference", None),
            (Some("mg:avoids"), _) => ("pitfall", None),
            (Some("mg:requires_steps"), _) => ("procedure", None),
            (_, Some(kind)) => ("fact", tagged(kind)),
            _ => ("fact", None),
        },
        (other, _) => ("fact", other.name().and_then(tagged)),
    }
}
