//! Building records of the chunks, entities and links of one bundle.

use crate::codec::{ContentAddress, Profile, Value};
use crate::grain::{Draft, Time};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::{Error, ForeignId, Place, Record};

use super::chunk::Chunk;
use super::code;
use super::envelope::{Envelope, Scope};
use super::graph::{Edge, Entity, Mention};
use super::member::{Object, Urn};

/// Builds the records of one bundle.
pub(super) struct RecordBuilder<'a> {
    pub(super) envelope: &'a Envelope<'a>,
    pub(super) profile: Profile,
    /// Whether grains are built, or certainly could be.
    pub(super) makes: bool,
}

/// A memory, its name in the bundle, and its findings.
pub(super) struct Memory {
    pub(super) record: Result<Option<Record>, Error>,
    pub(super) urn: String,
    pub(super) created_at: Time,
    pub(super) findings: Vec<&'static str>,
    pub(super) place: Place,
}

/// An entity and the name it has in its bundle.
pub(super) struct Named {
    pub(super) record: Result<Option<Record>, Error>,
    pub(super) urn: String,
    pub(super) place: Place,
}

impl RecordBuilder<'_> {
    pub(super) fn chunk(&self, value: &Value, place: Place) -> Result<Memory, Error> {
        let envelope = self.envelope;
        let chunk = Chunk::read(Object::new(value, place.clone())?, envelope)?;
        let misplaced = match envelope.scope {
            Scope::DnaOnly if !chunk.is_dna() => Some("is neither DNA-class nor pinned"),
            Scope::Since(since) if chunk.created_at < since => Some("is older than since"),
            _ => None,
        };
        let foreign = chunk.urn.producer != envelope.producer;
        let foreign = foreign.then_some("the URN is of another producer");
        let record = self.record(|| chunk.draft(envelope), place.clone());
        let name = |record| named(record, "aimem", chunk.urn);
        Ok(Memory {
            record: record.map(|record| record.map(name)),
            urn: chunk.urn.whole.to_owned(),
            created_at: chunk.created_at,
            findings: misplaced.into_iter().chain(foreign).collect(),
            place,
        })
    }

    pub(super) fn entity(&self, value: &Value, place: Place) -> Result<Named, Error> {
        let entity = Entity::read(Object::new(value, place.clone())?)?;
        let record = self.record(|| entity.draft(self.envelope), place.clone());
        let name = |record| named(record, "aimem:entity", entity.urn);
        Ok(Named {
            record: record.map(|record| record.map(name)),
            urn: entity.urn.whole.to_owned(),
            place,
        })
    }

    pub(super) fn edge(
        &self,
        value: &Value,
        place: Place,
        chunks: &CompactTable<(ContentAddress, Time)>,
    ) -> Result<Record, Vec<Error>> {
        let read = Object::new(value, place.clone()).and_then(Edge::read);
        let edge = read.map_err(|error| vec![error])?;
        let end = |urn: Urn<'_>| chunks.get(chunks.key(urn.whole)).copied();
        let unknown = |code, name| {
            edge.object
                .fault(code, name, "names no chunk of this bundle")
        };
        match (end(edge.source), end(edge.target)) {
            (Some((source, _)), Some((target, _))) => {
                let draft = edge.draft(self.envelope, [source, target]);
                self.link(draft, edge.foreign_id(), place)
            }
            (source, target) => {
                let source = source.is_none();
                let source = source.then(|| unknown(code::EDGE_SOURCE_UNKNOWN, "source_id"));
                let target = target.is_none();
                let target = target.then(|| unknown(code::EDGE_TARGET_UNKNOWN, "target_id"));
                Err(source.into_iter().chain(target).collect())
            }
        }
    }

    pub(super) fn mention(
        &self,
        value: &Value,
        place: Place,
        chunks: &CompactTable<(ContentAddress, Time)>,
        entities: &CompactTable<()>,
    ) -> Result<Record, Vec<Error>> {
        let read = Object::new(value, place.clone()).and_then(Mention::read);
        let mention = read.map_err(|error| vec![error])?;
        let chunk = chunks.get(chunks.key(mention.chunk.whole)).copied();
        let is_known = entities.get(entities.key(mention.entity.whole)).is_some();
        if let (Some((_, created_at)), true) = (chunk, is_known) {
            let draft = mention.draft(self.envelope, created_at);
            return self.link(draft, mention.foreign_id(), place);
        }
        let unknown = |code, name, message: &str| mention.object.fault(code, name, message);
        let chunk = chunk.is_none().then(|| {
            let message = "names no chunk of this bundle";
            unknown(code::CE_CHUNK_UNKNOWN, "chunk_id", message)
        });
        let entity = (!is_known).then(|| {
            let message = "names no entity of this bundle";
            unknown(code::CE_ENTITY_UNKNOWN, "entity_id", message)
        });
        Err(chunk.into_iter().chain(entity).collect())
    }

    fn record(&self, draft: impl FnOnce() -> Draft, place: Place) -> Result<Option<Record>, Error> {
        if !self.makes {
            return Ok(None);
        }
        Record::finish(draft(), self.profile, place).map(Some)
    }

    fn link(&self, draft: Draft, id: ForeignId, place: Place) -> Result<Record, Vec<Error>> {
        let mut record = Record::finish(draft, self.profile, place).map_err(|error| vec![error])?;
        record.foreign_id = Some(id);
        Ok(record)
    }
}

fn named(mut record: Record, format: &'static str, urn: Urn<'_>) -> Record {
    record.foreign_id = Some(ForeignId::new(format, urn.producer, urn.local));
    record
}
