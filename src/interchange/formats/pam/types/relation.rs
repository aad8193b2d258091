//! A relation between two memories.

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Draft, Time};
use crate::interchange::Error;

use super::super::code;
use super::super::types::owner::Owner;
use super::object::Object;
use super::residual::{RESIDUAL, residual_without};
use crate::interchange::model::normalize::{self, normalize_text};

/// A relation between two memories (PAM 13).
pub(crate) struct Relation<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) id: &'a str,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    kind: &'a str,
    link: &'static str,
    confidence: f64,
    created_at: Time,
}

impl<'a> Relation<'a> {
    pub(crate) fn read(object: Object<'a>) -> Result<Self, Error> {
        let kind = object.required_text("type")?;
        let Some(link) = link(kind) else {
            let message = format!("\"{kind}\" is none of the types of PAM 13");
            return Err(object.member_fault("type", code::SCHEMA, message));
        };
        Ok(Self {
            id: object.required_text("id")?,
            from: object.required_text("from")?,
            to: object.required_text("to")?,
            kind,
            link,
            confidence: object.unit("confidence")?.unwrap_or(1.0),
            created_at: object.required_time("created_at")?,
            object,
        })
    }

    /// Returns the grain of this relation.
    ///
    /// It is a grain of its own, because addresses allow neither cycles nor forward references, and
    /// it changes no status: even `replaces` is advice (OMS 14.3).
    pub(crate) fn draft(&self, owner: &Owner<'_>, ends: [Option<ContentAddress>; 2]) -> Draft {
        let relation = format!("pam:rel:{}", self.kind);
        let residual = residual_without(self.object.map, &[]);
        let context: Map = [(RESIDUAL, residual)].into_iter().collect();
        let links = ends.into_iter().flatten();
        let links = links.map(|address| normalize::link(address, self.link));
        let links: Vec<Value> = links.collect();
        let draft = Draft::belief(normalize_text(self.from), relation, normalize_text(self.to));
        owner
            .mark(draft)
            .confidence(self.confidence)
            .created_at(self.created_at)
            .source("imported")
            .set("context", context)
            .set("related_to", links)
    }
}

/// Returns the relation type of OMS 14.3.
fn link(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "supports" => "supports",
        "contradicts" => "contradicts",
        "extends" => "elaborates",
        "supersedes" => "replaces",
        "related_to" => "similar",
        "derived_from" => "depends_on",
        _ => return None,
    })
}
