//! Grains of other origins as chunks.

use crate::codec::{Map, Value};
use crate::grain::{Grain, Type};
use crate::interchange::export::count_lost;
use crate::interchange::model::embedded_grain;
use crate::interchange::model::normalize::sha256;
use crate::interchange::model::rfc3339::insert_required;
use crate::interchange::{Loss, omi, pam};

/// Returns a grain of another origin as a chunk, whose id is only its local part; `None` for a
/// grain that is no memory. AIMEM has no place for extensions, so the rest is counted.
pub(super) fn chunk(grain: &Grain, loss: &mut Loss) -> Option<Map> {
    let record = pam::residual(grain).or_else(|| omi::residual(grain));
    if omi::is_relation(grain) || pam::is_relation(grain) {
        loss.count("relation");
        return None;
    }
    if record.is_some() && grain.type_() == Type::State {
        loss.count("envelope");
        return None;
    }
    let content = embedded_grain::summary_text(grain);
    if content.chars().count() > super::chunk::CONTENT_LEN_MAX {
        loss.count("content longer than 65,536 code points");
        return None;
    }
    let text = |name: &str| record.as_ref()?.as_map()?.get(name)?.as_text();
    let kind = text("custom_type").or_else(|| text("type"));
    let (memory_type, tag) = memory_type(grain, kind);
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
    let mut chunk = Map::new();
    chunk.insert("id", grain.address().to_string());
    chunk.insert("content_hash", sha256(content.as_bytes()));
    chunk.insert("content", content);
    chunk.insert("memory_type", memory_type);
    chunk.insert("is_pinned", false);
    insert_required(&mut chunk, "created_at", grain.created_at(), loss);
    chunk.insert("tags", tags);
    Some(chunk)
}

/// Returns the nearest of the eight types, and the tag that keeps the original one.
fn memory_type(grain: &Grain, kind: Option<&str>) -> (&'static str, Option<String>) {
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
