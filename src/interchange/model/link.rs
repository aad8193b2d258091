//! A grain that relates two others, whatever format it came in.

use crate::codec::ContentAddress;
use crate::grain::Grain;

/// The relation of one grain to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The grains: from the first to the second, which may be unknown.
    pub(crate) ends: Vec<ContentAddress>,
    /// The type, as its format names it; empty for free text.
    pub(crate) kind: String,
}

/// Returns the relation that a grain was made from.
pub(crate) fn link_of(grain: &Grain) -> Option<Link> {
    let relation = grain.text("relation")?;
    let kind = RELATIONS.iter().find_map(|prefix| {
        let rest = relation.strip_prefix(prefix)?;
        if rest.is_empty() {
            return Some("");
        }
        rest.strip_prefix(':')
    })?;
    Some(Link {
        ends: grain.related_to().collect(),
        // AIMEM 2.5: a type that is none of its own begins so.
        kind: kind.strip_prefix("x-").unwrap_or(kind).to_owned(),
    })
}

/// The relations of such grains, before the type.
const RELATIONS: [&str; 3] = ["aimem:edge", "omi:rel", "pam:rel"];
