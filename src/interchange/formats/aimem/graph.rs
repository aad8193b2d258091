//! Edges, entities and mentions of a bundle, and their grains (AIMEM 2.4–2.6).

use crate::codec::{ContentAddress, Value};
use crate::grain::{Draft, Time};
use crate::interchange::model::normalize::{self, context_of, object_of, relation_name};
use crate::interchange::{Error, ForeignId};

use super::code;
use super::envelope::Envelope;
use super::member::{Object, Urn};
use super::residual::RESIDUAL;

/// A weighted link between two memories (AIMEM 2.4).
pub(super) struct Edge<'a> {
    pub(super) object: Object<'a>,
    pub(super) source: Urn<'a>,
    pub(super) target: Urn<'a>,
    kind: &'a str,
    weight: f64,
    created_at: Time,
}

/// A thing that memories mention (AIMEM 2.5).
pub(super) struct Entity<'a> {
    pub(super) object: Object<'a>,
    pub(super) urn: Urn<'a>,
    name: &'a str,
    kind: &'a str,
    created_at: Time,
}

/// The mention of an entity in a memory (AIMEM 2.6).
pub(super) struct Mention<'a> {
    pub(super) object: Object<'a>,
    pub(super) chunk: Urn<'a>,
    pub(super) entity: Urn<'a>,
}

impl<'a> Edge<'a> {
    pub(super) fn read(object: Object<'a>) -> Result<Self, Error> {
        let kind = object.text("edge_type")?;
        if !["hebbian", "semantic", "temporal", "causal"].contains(&kind) && !is_own(kind) {
            let message = format!("\"{kind}\" is none of the types, nor starts with x-");
            return Err(object.fault(code::INVALID_EDGE_TYPE, "edge_type", message));
        }
        let weight = match object.required("weight")? {
            Value::Float(float) => *float,
            Value::Int(int) => int.to_f64(),
            _ => return Err(object.fault(code::INVALID_FIELD, "weight", "must be a number")),
        };
        if !(0.0..=1.0).contains(&weight) {
            return Err(object.fault(code::EDGE_WEIGHT, "weight", "must be from 0 to 1"));
        }
        Ok(Self {
            source: object.urn("source_id")?,
            target: object.urn("target_id")?,
            kind,
            weight,
            created_at: object.time("created_at")?,
            object,
        })
    }

    /// Returns the identity of the edge, which has no id: its ends and its type.
    fn name(&self) -> String {
        format!("{} {} {}", self.source.whole, self.target.whole, self.kind)
    }

    pub(super) fn foreign_id(&self) -> ForeignId {
        link_id("aimem:edge", self.source, self.name())
    }

    /// An edge is a grain of its own: addresses allow no cycle, and edges do.
    pub(super) fn draft(&self, envelope: &Envelope<'_>, ends: [ContentAddress; 2]) -> Draft {
        let relation = relation_name("aimem:edge", self.kind);
        let kind = match self.kind {
            "temporal" => "temporal_next",
            "causal" => "causal",
            _ => "similar",
        };
        let links = ends.map(|address| normalize::link(address, kind));
        let draft = Draft::belief(self.source.whole, relation, self.target.whole);
        envelope
            .mark(draft)
            .confidence(self.weight)
            .importance(self.weight)
            .created_at(self.created_at)
            .set("origin_namespace", envelope.producer)
            .set("context", context_of(RESIDUAL, self.object.map))
            .set("related_to", Vec::from(links))
    }
}

impl<'a> Entity<'a> {
    pub(super) fn read(object: Object<'a>) -> Result<Self, Error> {
        let name = object.text("name")?;
        if name.is_empty() {
            return Err(object.fault(code::EMPTY_ENTITY_NAME, "name", "is empty"));
        }
        let kind = object.text("kind")?;
        let known = ["person", "organization", "place", "technology", "concept"];
        if !known.contains(&kind) && !is_own(kind) {
            let message = format!("\"{kind}\" is none of the kinds, nor starts with x-");
            return Err(object.fault(code::INVALID_ENTITY_KIND, "kind", message));
        }
        Ok(Self {
            urn: object.urn("id")?,
            name,
            kind,
            created_at: object.time("created_at")?,
            object,
        })
    }

    pub(super) fn draft(&self, envelope: &Envelope<'_>) -> Draft {
        let relation = relation_name("aimem:entity", self.kind);
        let draft = Draft::belief(self.urn.whole, relation, object_of(self.name));
        envelope
            .mark(draft)
            .confidence(1.0)
            .created_at(self.created_at)
            .set("origin_namespace", self.urn.producer)
            .set("context", context_of(RESIDUAL, self.object.map))
    }
}

impl<'a> Mention<'a> {
    pub(super) fn read(object: Object<'a>) -> Result<Self, Error> {
        Ok(Self {
            chunk: object.urn("chunk_id")?,
            entity: object.urn("entity_id")?,
            object,
        })
    }

    /// Returns the identity of the mention: its ends.
    fn name(&self) -> String {
        format!("{} {}", self.chunk.whole, self.entity.whole)
    }

    pub(super) fn foreign_id(&self) -> ForeignId {
        link_id("aimem:mention", self.chunk, self.name())
    }

    /// A mention has no time of its own: it gets that of its chunk.
    pub(super) fn draft(&self, envelope: &Envelope<'_>, created_at: Time) -> Draft {
        let draft = Draft::belief(self.chunk.whole, "aimem:mentions", self.entity.whole);
        envelope
            .mark(draft)
            .confidence(1.0)
            .created_at(created_at)
            .set("origin_namespace", envelope.producer)
            .set("context", context_of(RESIDUAL, self.object.map))
    }
}

/// Returns the identity of a link; of several with one name, the first has it.
fn link_id(format: &'static str, source: Urn<'_>, name: String) -> ForeignId {
    ForeignId::new(format, source.producer, name)
}

/// Returns whether a name is one of the extensions.
fn is_own(name: &str) -> bool {
    name.strip_prefix("x-").is_some_and(|rest| !rest.is_empty())
}
