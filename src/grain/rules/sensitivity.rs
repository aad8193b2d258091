//! Sensitivity from tags (OMS 13.2, 13.4, 27.4).

use crate::codec::{Map, Sensitivity, Value};

/// Returns the lowest header sensitivity the tags allow.
pub(in crate::grain) fn required_by_tags(fields: &Map) -> Sensitivity {
    let tags = fields.get("structural_tags");
    let levels = tags.into_iter().flat_map(Value::texts).map(of_tag);
    levels.max().unwrap_or_default()
}

fn of_tag(tag: &str) -> Sensitivity {
    match tag.split_once(':') {
        // OMS 27.4: any phi: tag counts, not only the eighteen listed.
        Some(("phi", _)) => Sensitivity::Phi,
        Some(("pii" | "sec" | "legal", _)) => Sensitivity::Pii,
        Some(("reg", _)) => Sensitivity::Internal,
        _ => Sensitivity::Public,
    }
}
