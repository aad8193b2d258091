use std::collections::{BTreeMap, HashMap};

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{Draft, Time};
use crate::interchange::{Error, ForeignId, Place, Record};

use super::chunk::Chunk;
use super::envelope::{Envelope, Scope};
use super::graph::{Edge, Entity, Mention};
use super::member::{Object, Urn};
use super::{Import, code};

/// Where the records of the four arrays stand: the lines of a stream, or the pointers of a bundle.
pub(super) type Places = BTreeMap<(&'static str, usize), u64>;

/// Makes the grains of a bundle whose checksum is right; one bad record refuses all of them.
pub(super) fn import(
    bundle: &Map,
    places: &Places,
    profile: Profile,
) -> Result<Import, Vec<Error>> {
    let envelope = Envelope::read(bundle).map_err(|error| vec![error])?;
    let mut importer = Importer {
        bundle,
        places,
        profile,
        import: Import::default(),
        faults: Vec::new(),
        chunks: HashMap::new(),
        entities: HashMap::new(),
        links: HashMap::new(),
    };
    importer.add(envelope.draft(), Place::File, None);
    importer.chunks(&envelope);
    importer.entities(&envelope);
    // References are only judged where every record could be read: an unreadable one would make
    // each reference to it a second fault.
    if importer.faults.is_empty() {
        importer.edges(&envelope);
        importer.mentions(&envelope);
    }
    if importer.faults.is_empty() {
        Ok(importer.import)
    } else {
        Err(importer.faults)
    }
}

struct Importer<'a> {
    bundle: &'a Map,
    places: &'a Places,
    profile: Profile,
    import: Import,
    faults: Vec<Error>,
    /// The grain and the time of a memory; no grain of one that is refused.
    chunks: HashMap<&'a str, (Option<ContentAddress>, Time)>,
    entities: HashMap<&'a str, ()>,
    /// How often each name of an edge or of a mention came.
    links: HashMap<(&'static str, String), usize>,
}

impl<'a> Importer<'a> {
    fn chunks(&mut self, envelope: &Envelope<'_>) {
        for (value, place) in self.records("chunks") {
            let read = Object::new(value, place).and_then(|object| Chunk::read(object, envelope));
            let Some(chunk) = self.keep(read) else {
                continue;
            };
            let urn = chunk.urn;
            if self.chunks.contains_key(urn.whole) {
                let twice = chunk
                    .object
                    .fault(code::DUPLICATE_CHUNK_ID, "id", "comes twice");
                self.faults.push(twice);
                continue;
            }
            let misplaced = match envelope.scope {
                Scope::DnaOnly if !chunk.is_dna() => Some("is neither DNA-class nor pinned"),
                Scope::Since(since) if chunk.created_at < since => Some("is older than since"),
                _ => None,
            };
            let place = &chunk.object.at;
            if let Some(message) = misplaced {
                self.import.findings.push((place.clone(), message.into()));
            }
            if urn.producer != envelope.producer {
                let message = "the URN is of another producer";
                self.import.findings.push((place.clone(), message.into()));
            }
            let id = foreign_id("aimem", urn);
            let address = self.add(chunk.draft(envelope), place.clone(), Some(id));
            self.chunks.insert(urn.whole, (address, chunk.created_at));
        }
    }

    fn edges(&mut self, envelope: &Envelope<'_>) {
        for (value, place) in self.records("edges") {
            let Some(edge) = self.keep(Object::new(value, place).and_then(Edge::read)) else {
                continue;
            };
            let end = |urn: Urn<'_>| self.chunks.get(urn.whole).copied();
            let (source, target) = (end(edge.source), end(edge.target));
            let unknown = "names no chunk of this bundle";
            if source.is_none() {
                let code = code::EDGE_SOURCE_UNKNOWN;
                self.faults
                    .push(edge.object.fault(code, "source_id", unknown));
            }
            if target.is_none() {
                let code = code::EDGE_TARGET_UNKNOWN;
                self.faults
                    .push(edge.object.fault(code, "target_id", unknown));
            }
            if let (Some((Some(source), _)), Some((Some(target), _))) = (source, target) {
                let draft = edge.draft(envelope, [source, target]);
                let id = edge.foreign_id(self.count("edge", &edge.name()));
                self.add(draft, edge.object.at.clone(), Some(id));
            }
        }
    }

    fn entities(&mut self, envelope: &Envelope<'_>) {
        for (value, place) in self.records("entities") {
            let read = Object::new(value, place).and_then(Entity::read);
            let Some(entity) = self.keep(read) else {
                continue;
            };
            if self.entities.insert(entity.urn.whole, ()).is_some() {
                let code = code::DUPLICATE_ENTITY_ID;
                self.faults
                    .push(entity.object.fault(code, "id", "comes twice"));
                continue;
            }
            let id = foreign_id("aimem:entity", entity.urn);
            self.add(entity.draft(envelope), entity.object.at.clone(), Some(id));
        }
    }

    fn mentions(&mut self, envelope: &Envelope<'_>) {
        for (value, place) in self.records("chunk_entities") {
            let read = Object::new(value, place).and_then(Mention::read);
            let Some(mention) = self.keep(read) else {
                continue;
            };
            let chunk = self.chunks.get(mention.chunk.whole).copied();
            let is_known = self.entities.contains_key(mention.entity.whole);
            if chunk.is_none() {
                let message = "names no chunk of this bundle";
                let code = code::CE_CHUNK_UNKNOWN;
                self.faults
                    .push(mention.object.fault(code, "chunk_id", message));
            }
            if !is_known {
                let message = "names no entity of this bundle";
                let code = code::CE_ENTITY_UNKNOWN;
                self.faults
                    .push(mention.object.fault(code, "entity_id", message));
            }
            if let (Some((_, created_at)), true) = (chunk, is_known) {
                let draft = mention.draft(envelope, created_at);
                let id = mention.foreign_id(self.count("mention", &mention.name()));
                self.add(draft, mention.object.at.clone(), Some(id));
            }
        }
    }

    fn records(&self, name: &'static str) -> Vec<(&'a Value, Place)> {
        let items = self.bundle.get(name).and_then(Value::as_array);
        let items = items.unwrap_or_default().iter().enumerate();
        let place = |index| match self.places.get(&(name, index)) {
            Some(line) => Place::Line(*line),
            None => Place::Pointer(format!("/{name}/{index}")),
        };
        items.map(|(index, item)| (item, place(index))).collect()
    }

    /// Counts how often a link came before: links have no ids, so several may have one name.
    fn count(&mut self, kind: &'static str, name: &str) -> usize {
        let count = self.links.entry((kind, name.to_owned())).or_default();
        let before = *count;
        *count = count.saturating_add(1);
        before
    }

    fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.faults.push(error)).ok()
    }

    fn add(&mut self, draft: Draft, place: Place, id: Option<ForeignId>) -> Option<ContentAddress> {
        match Record::finish(draft, self.profile, place) {
            Ok(mut record) => {
                record.foreign_id = id;
                let address = record.grain.address();
                self.import.records.push(record);
                Some(address)
            }
            Err(error) => {
                self.faults.push(error);
                None
            }
        }
    }
}

fn foreign_id(format: &'static str, urn: Urn<'_>) -> ForeignId {
    ForeignId {
        format,
        scope: urn.producer.to_owned(),
        id: urn.local.to_owned(),
    }
}
