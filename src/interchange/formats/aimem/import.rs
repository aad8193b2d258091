//! Validating a bundle, and reading its records again.

use crate::code::ErrorCode;
use std::io::{BufRead, Seek};

use crate::codec::{ContentAddress, Profile};
use crate::grain::Time;
use crate::interchange::json::JsonRecords;
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::record_set::RecordSource;
use crate::interchange::{DIAGNOSTICS_MAX, Diagnostics, Error, Finding, ForeignId, Place, Record};

use super::build::{Memory, Named, RecordBuilder};
use super::canonical::{Checksum, canonical};
use super::code;
use super::envelope::{Envelope, check_checksum};
use super::member::fault;
use super::source::{Source, untagged};

/// A valid bundle; its records are built when they are asked for.
pub(crate) struct Bundle<R> {
    source: Source<R>,
    profile: Profile,
    /// The grain and the time of a memory.
    chunks: CompactTable<(ContentAddress, Time)>,
    entities: CompactTable<()>,
    /// The number of edges or mentions of each name.
    links: CompactTable<u32>,
}

/// The result of validating a bundle.
pub(crate) struct Validation {
    pub(crate) findings: Diagnostics<Finding>,
    pub(crate) records: u64,
}

impl<R: BufRead + Seek + Send> Bundle<R> {
    /// Validates a bundle in the order of the reference: the envelope, the checksum, the records.
    ///
    /// # Errors
    /// All errors; one invalid record refuses the bundle.
    pub(super) fn validate(
        mut source: Source<R>,
        profile: Profile,
    ) -> Result<(Self, Validation), Vec<Error>> {
        // The envelope is held while the records beside it are read.
        let map = source.envelope.clone();
        let envelope = Envelope::read(&map).map_err(|error| vec![error])?;
        let (mut chunks, mut entities) = (CompactTable::new(), CompactTable::new());
        let mut ignore = |_| true;
        let mut pass = Pass::new(&mut ignore);
        pass.add(Record::finish(envelope.draft(), profile, Place::File).map(Some));
        let mut checksum = Checksum::default();
        let shared = envelope.len();
        // The checksum covers all records, so that one reading does both; an error of the checksum
        // is reported first all the same.
        let wide = canonical(
            &mut source,
            &mut checksum,
            |written| {
                let len = written.len.saturating_add(shared);
                let makes = profile != Profile::Extended || len > SURELY_FITS;
                let builder = RecordBuilder {
                    envelope: &envelope,
                    profile,
                    makes,
                };
                let value = written.value;
                match written.array {
                    CHUNKS => ValidatedRecord::Chunk(builder.chunk(value, written.place)),
                    ENTITIES => ValidatedRecord::Entity(builder.entity(value, written.place)),
                    _ => ValidatedRecord::Link,
                }
            },
            |validating| {
                if pass.goes_on() {
                    match validating {
                        ValidatedRecord::Chunk(built) => pass.chunk(built, &mut chunks),
                        ValidatedRecord::Entity(built) => pass.entity(built, &mut entities),
                        // Links are validated once every record is known.
                        ValidatedRecord::Link => true,
                    };
                }
            },
        );
        let wide = wide.map_err(|error| vec![error])?;
        if !wide.is_empty() {
            return Err(wide);
        }
        check_checksum(&map, &checksum.text()).map_err(|error| vec![error])?;
        let mut links = CompactTable::new();
        let builder = RecordBuilder {
            envelope: &envelope,
            profile,
            makes: true,
        };
        let known = (&chunks, &entities);
        pass.links(&mut source.records, &builder, known, &mut links);
        let Pass {
            findings,
            faults,
            records,
            ..
        } = pass;
        let bundle = Self {
            source,
            profile,
            chunks,
            entities,
            links,
        };
        if faults.is_empty() {
            Ok((bundle, Validation { findings, records }))
        } else {
            Err(faults)
        }
    }

    fn pass(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Vec<Error> {
        self.chunks.clear();
        self.entities.clear();
        self.links.clear();
        let Source { envelope, records } = &mut self.source;
        let (profile, is_stream) = (self.profile, records.is_lines());
        // The tag of a line is no part of the record.
        let own = |value| if is_stream { untagged(value) } else { value };
        let mut pass = Pass::new(take);
        let envelope = match Envelope::read(envelope) {
            Ok(envelope) => envelope,
            Err(error) => return vec![error],
        };
        let builder = RecordBuilder {
            envelope: &envelope,
            profile,
            makes: true,
        };
        pass.add(Record::finish(envelope.draft(), profile, Place::File).map(Some));
        let chunks = &mut self.chunks;
        let read = records.each(
            CHUNKS,
            |value, place| builder.chunk(&own(value), place),
            |built| pass.chunk(built, chunks),
        );
        pass.keep(read);
        let entities = &mut self.entities;
        let read = records.each(
            ENTITIES,
            |value, place| builder.entity(&own(value), place),
            |built| pass.entity(built, entities),
        );
        pass.keep(read);
        pass.links(
            records,
            &builder,
            (&self.chunks, &self.entities),
            &mut self.links,
        );
        pass.faults
    }
}

impl<R: BufRead + Seek + Send + Sync> RecordSource for Bundle<R> {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        self.pass(take).pop().map_or(Ok(()), Err)
    }
}

/// A record while it is validated.
enum ValidatedRecord {
    Chunk(Result<Memory, Error>),
    Entity(Result<Named, Error>),
    Link,
}

/// One pass over the records of a bundle.
struct Pass<'a> {
    take: &'a mut dyn FnMut(Record) -> bool,
    is_wanted: bool,
    findings: Diagnostics<Finding>,
    faults: Vec<Error>,
    records: u64,
}

impl<'a> Pass<'a> {
    fn new(take: &'a mut dyn FnMut(Record) -> bool) -> Self {
        Self {
            take,
            is_wanted: true,
            findings: Diagnostics::default(),
            faults: Vec::new(),
            records: 0,
        }
    }

    fn chunk(
        &mut self,
        built: Result<Memory, Error>,
        chunks: &mut CompactTable<(ContentAddress, Time)>,
    ) -> bool {
        let Some(memory) = self.keep(built) else {
            return self.goes_on();
        };
        let key = chunks.key(&memory.urn);
        if chunks.get(key).is_some() {
            self.faults
                .push(duplicate(code::DUPLICATE_CHUNK_ID, &memory.place));
            return self.goes_on();
        }
        for message in memory.findings {
            self.findings.note(memory.place.clone(), message);
        }
        let address = self.add(memory.record);
        // A chunk that is no grain still has its name; nothing is linked to it.
        let address = address.unwrap_or_else(|| ContentAddress::of(b""));
        chunks.insert(key, (address, memory.created_at));
        self.goes_on()
    }

    fn entity(&mut self, built: Result<Named, Error>, entities: &mut CompactTable<()>) -> bool {
        if let Some(entity) = self.keep(built) {
            if entities.add(entities.key(&entity.urn)) {
                self.add(entity.record);
            } else {
                self.faults
                    .push(duplicate(code::DUPLICATE_ENTITY_ID, &entity.place));
            }
        }
        self.goes_on()
    }

    /// Reads edges and mentions.
    fn links<R: BufRead + Seek + Send>(
        &mut self,
        records: &mut JsonRecords<R>,
        builder: &RecordBuilder<'_>,
        (chunks, entities): (&CompactTable<(ContentAddress, Time)>, &CompactTable<()>),
        links: &mut CompactTable<u32>,
    ) {
        // References are validated only if every record is valid: an invalid one would make each
        // reference to it a second error.
        if !self.faults.is_empty() {
            return;
        }
        let is_stream = records.is_lines();
        let own = |value| if is_stream { untagged(value) } else { value };
        let read = records.each(
            EDGES,
            |value, place| builder.edge(&own(value), place, chunks),
            |built| self.link(built, links),
        );
        self.keep(read);
        let read = records.each(
            MENTIONS,
            |value, place| builder.mention(&own(value), place, chunks, entities),
            |built| self.link(built, links),
        );
        self.keep(read);
    }

    /// Adds an edge or a mention: they have no ids, so several may have one name.
    fn link(&mut self, built: Result<Record, Vec<Error>>, links: &mut CompactTable<u32>) -> bool {
        let mut record = match built {
            Ok(record) => record,
            Err(faults) => {
                self.faults.extend(faults);
                return self.goes_on();
            }
        };
        if let Some(id) = &mut record.foreign_id {
            let key = links.key((id.format(), id.id()));
            if let Some(before) = links.get_mut(key) {
                // No name begins with a digit.
                let numbered = format!("{before} {}", id.id());
                *id = ForeignId::new(id.format().to_owned(), id.scope(), numbered);
                *before = before.saturating_add(1);
            } else {
                links.insert(key, 1);
            }
        }
        self.add(Ok(Some(record)));
        self.goes_on()
    }

    /// Passes a record on, if it was built; returns the address of its grain.
    fn add(&mut self, built: Result<Option<Record>, Error>) -> Option<ContentAddress> {
        let built = self.keep(built)?;
        self.records = self.records.saturating_add(1);
        let record = built?;
        let address = record.grain.address();
        // A bundle that is refused as a whole is not passed on in part.
        if self.faults.is_empty() && self.is_wanted {
            self.is_wanted = (self.take)(record);
        }
        Some(address)
    }

    fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.faults.push(error)).ok()
    }

    fn goes_on(&self) -> bool {
        self.is_wanted && self.faults.len() < DIAGNOSTICS_MAX
    }
}

fn duplicate(code: ErrorCode, place: &Place) -> Error {
    fault(place, code, "id", "comes twice")
}

/// Canonical JSON of this length certainly fits a grain: escaped as ASCII it triples, NFC text adds
/// as much again, and a grain of the Extended profile may have 1 MiB.
const SURELY_FITS: usize = 64 * 1024;

/// The numbers of the arrays in [`super::source::ARRAYS`].
const CHUNKS: usize = 0;
const EDGES: usize = 1;
const ENTITIES: usize = 2;
const MENTIONS: usize = 3;
