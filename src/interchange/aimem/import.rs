use std::io::{BufRead, Seek};

use crate::codec::{ContentAddress, Profile, Value};
use crate::grain::Time;
use crate::interchange::table::Table;
use crate::interchange::{Error, FAULTS_MAX, Findings, ForeignId, Place, Record};

use super::chunk::Chunk;
use super::code;
use super::envelope::{Envelope, Scope, check_checksum};
use super::graph::{Edge, Entity, Mention};
use super::member::{Object, Urn};
use super::source::{Source, untagged};

/// A bundle that was judged and found right; its records are made when they are asked for.
pub(in crate::interchange) struct Bundle<R> {
    source: Source<R>,
    profile: Profile,
    /// The grain and the time of a memory.
    chunks: Table<(ContentAddress, Time)>,
    entities: Table<()>,
    /// How often each name of an edge or of a mention came.
    links: Table<u32>,
}

/// What a bundle comes to beside its records.
pub(in crate::interchange) struct Judged {
    pub(in crate::interchange) findings: Findings,
    pub(in crate::interchange) records: u64,
}

impl<R: BufRead + Seek> Bundle<R> {
    /// Judges a bundle in the order of the reference: the envelope, the checksum, the records,
    /// which `take` is shown.
    ///
    /// # Errors
    /// Everything that is wrong; one bad record refuses all of them.
    pub(super) fn judge(
        mut source: Source<R>,
        profile: Profile,
        mut take: impl FnMut(Record),
    ) -> Result<(Self, Judged), Vec<Error>> {
        Envelope::read(&source.envelope).map_err(|error| vec![error])?;
        let actual = source.checksum()?;
        check_checksum(&source.envelope, &actual).map_err(|error| vec![error])?;
        let mut bundle = Self {
            source,
            profile,
            chunks: Table::new(),
            entities: Table::new(),
            links: Table::new(),
        };
        let mut records = 0_u64;
        let (findings, faults) = bundle.pass(&mut |record| {
            records = records.saturating_add(1);
            take(record);
            true
        });
        if faults.is_empty() {
            Ok((bundle, Judged { findings, records }))
        } else {
            Err(faults)
        }
    }

    /// Hands the records over, in an order in which they can be stored, while they are wanted.
    ///
    /// # Errors
    /// `ERR_IO`, also if the file is not what it was.
    pub(in crate::interchange) fn each(
        &mut self,
        take: &mut dyn FnMut(Record) -> bool,
    ) -> Result<(), Error> {
        let (_, mut faults) = self.pass(take);
        faults.pop().map_or(Ok(()), Err)
    }

    fn pass(&mut self, take: &mut dyn FnMut(Record) -> bool) -> (Findings, Vec<Error>) {
        self.chunks.clear();
        self.entities.clear();
        self.links.clear();
        let Source { envelope, pieces } = &mut self.source;
        let (profile, is_stream) = (self.profile, pieces.is_lines());
        // A line of a stream has a tag that is no part of the record.
        let own = |value| if is_stream { untagged(value) } else { value };
        let mut pass = Pass {
            take,
            is_wanted: true,
            findings: Findings::default(),
            faults: Vec::new(),
        };
        let envelope = match Envelope::read(envelope) {
            Ok(envelope) => envelope,
            Err(error) => return (pass.findings, vec![error]),
        };
        let whole = Record::finish(envelope.draft(), profile, Place::File);
        pass.add(whole);
        let chunks = &mut self.chunks;
        let read = pieces.each(
            CHUNKS,
            |value, place| chunk(&own(value), place, &envelope, profile),
            |made| pass.chunk(made, chunks),
        );
        pass.keep(read);
        let entities = &mut self.entities;
        let read = pieces.each(
            ENTITIES,
            |value, place| entity(&own(value), place, &envelope, profile),
            |made| pass.entity(made, entities),
        );
        pass.keep(read);
        // References are only judged where every record could be read: an unreadable one would make
        // each reference to it a second fault.
        if !pass.faults.is_empty() {
            return (pass.findings, pass.faults);
        }
        let (chunks, entities, links) = (&self.chunks, &self.entities, &mut self.links);
        let read = pieces.each(
            EDGES,
            |value, place| edge(&own(value), place, &envelope, chunks, profile),
            |made| pass.link(made, links),
        );
        pass.keep(read);
        let ends = (chunks, entities);
        let read = pieces.each(
            MENTIONS,
            |value, place| mention(&own(value), place, &envelope, ends, profile),
            |made| pass.link(made, links),
        );
        pass.keep(read);
        (pass.findings, pass.faults)
    }
}

/// One way through the records of a bundle.
struct Pass<'a> {
    take: &'a mut dyn FnMut(Record) -> bool,
    is_wanted: bool,
    findings: Findings,
    faults: Vec<Error>,
}

/// A memory, the name it has in its bundle, and what is odd about it.
struct Memory {
    record: Result<Record, Error>,
    urn: String,
    created_at: Time,
    twice: Error,
    odd: Vec<&'static str>,
    place: Place,
}

impl Pass<'_> {
    fn chunk(
        &mut self,
        made: Result<Memory, Error>,
        chunks: &mut Table<(ContentAddress, Time)>,
    ) -> bool {
        let Some(memory) = self.keep(made) else {
            return self.goes_on();
        };
        let key = chunks.key(&memory.urn);
        if chunks.get(key).is_some() {
            self.faults.push(memory.twice);
            return self.goes_on();
        }
        for message in memory.odd {
            self.findings.push(memory.place.clone(), message);
        }
        let address = self.add(memory.record);
        // One that is no grain still has its name; nothing is linked to it.
        let address = address.unwrap_or_else(|| ContentAddress::of(b""));
        chunks.insert(key, (address, memory.created_at));
        self.goes_on()
    }

    fn entity(
        &mut self,
        made: Result<(Result<Record, Error>, String, Error), Error>,
        entities: &mut Table<()>,
    ) -> bool {
        if let Some((record, urn, twice)) = self.keep(made) {
            let key = entities.key(&urn);
            if entities.get(key).is_some() {
                self.faults.push(twice);
            } else {
                entities.insert(key, ());
                self.add(record);
            }
        }
        self.goes_on()
    }

    /// Adds an edge or a mention: they have no ids, so several may have one name.
    fn link(&mut self, made: Result<Record, Vec<Error>>, links: &mut Table<u32>) -> bool {
        let mut record = match made {
            Ok(record) => record,
            Err(faults) => {
                self.faults.extend(faults);
                return self.goes_on();
            }
        };
        if let Some(id) = &mut record.foreign_id {
            let key = links.key((id.format, &id.id));
            if let Some(before) = links.get_mut(key) {
                // No name begins with a digit.
                id.id = format!("{before} {}", id.id);
                *before = before.saturating_add(1);
            } else {
                links.insert(key, 1);
            }
        }
        self.add(Ok(record));
        self.goes_on()
    }

    fn add(&mut self, made: Result<Record, Error>) -> Option<ContentAddress> {
        let record = self.keep(made)?;
        let address = record.grain.address();
        // What is refused as a whole is not handed on in part.
        if self.faults.is_empty() && self.is_wanted {
            self.is_wanted = (self.take)(record);
        }
        Some(address)
    }

    fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.faults.push(error)).ok()
    }

    fn goes_on(&self) -> bool {
        self.is_wanted && self.faults.len() < FAULTS_MAX
    }
}

fn chunk(
    value: &Value,
    place: Place,
    envelope: &Envelope<'_>,
    profile: Profile,
) -> Result<Memory, Error> {
    let chunk = Chunk::read(Object::new(value, place.clone())?, envelope)?;
    let misplaced = match envelope.scope {
        Scope::DnaOnly if !chunk.is_dna() => Some("is neither DNA-class nor pinned"),
        Scope::Since(since) if chunk.created_at < since => Some("is older than since"),
        _ => None,
    };
    let stranger = chunk.urn.producer != envelope.producer;
    let stranger = stranger.then_some("the URN is of another producer");
    let record = Record::finish(chunk.draft(envelope), profile, place.clone());
    Ok(Memory {
        record: record.map(|record| named(record, "aimem", chunk.urn)),
        urn: chunk.urn.whole.to_owned(),
        created_at: chunk.created_at,
        twice: chunk
            .object
            .fault(code::DUPLICATE_CHUNK_ID, "id", "comes twice"),
        odd: misplaced.into_iter().chain(stranger).collect(),
        place,
    })
}

fn entity(
    value: &Value,
    place: Place,
    envelope: &Envelope<'_>,
    profile: Profile,
) -> Result<(Result<Record, Error>, String, Error), Error> {
    let entity = Entity::read(Object::new(value, place.clone())?)?;
    let record = Record::finish(entity.draft(envelope), profile, place);
    let record = record.map(|record| named(record, "aimem:entity", entity.urn));
    let code = code::DUPLICATE_ENTITY_ID;
    let twice = entity.object.fault(code, "id", "comes twice");
    Ok((record, entity.urn.whole.to_owned(), twice))
}

fn edge(
    value: &Value,
    place: Place,
    envelope: &Envelope<'_>,
    chunks: &Table<(ContentAddress, Time)>,
    profile: Profile,
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
            let draft = edge.draft(envelope, [source, target]);
            let mut record = Record::finish(draft, profile, place).map_err(|error| vec![error])?;
            record.foreign_id = Some(edge.foreign_id());
            Ok(record)
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

fn mention(
    value: &Value,
    place: Place,
    envelope: &Envelope<'_>,
    (chunks, entities): (&Table<(ContentAddress, Time)>, &Table<()>),
    profile: Profile,
) -> Result<Record, Vec<Error>> {
    let read = Object::new(value, place.clone()).and_then(Mention::read);
    let mention = read.map_err(|error| vec![error])?;
    let chunk = chunks.get(chunks.key(mention.chunk.whole)).copied();
    let is_known = entities.get(entities.key(mention.entity.whole)).is_some();
    if let (Some((_, created_at)), true) = (chunk, is_known) {
        let draft = mention.draft(envelope, created_at);
        let mut record = Record::finish(draft, profile, place).map_err(|error| vec![error])?;
        record.foreign_id = Some(mention.foreign_id());
        return Ok(record);
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

fn named(mut record: Record, format: &'static str, urn: Urn<'_>) -> Record {
    record.foreign_id = Some(ForeignId {
        format,
        scope: urn.producer.to_owned(),
        id: urn.local.to_owned(),
    });
    record
}

/// The numbers of the arrays in [`super::ARRAYS`].
const CHUNKS: usize = 0;
const EDGES: usize = 1;
const ENTITIES: usize = 2;
const MENTIONS: usize = 3;
