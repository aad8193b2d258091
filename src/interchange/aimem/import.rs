use std::io::{BufRead, Seek};

use crate::code::ErrorCode;
use crate::codec::{ContentAddress, Profile};
use crate::grain::Time;
use crate::interchange::pieces::Pieces;
use crate::interchange::table::Table;
use crate::interchange::{Error, FAULTS_MAX, Findings, Place, Record};

use super::canonical::{Checksum, canonical};
use super::code;
use super::envelope::{Envelope, check_checksum};
use super::make::{Maker, Memory, Named};
use super::member::fault;
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

impl<R: BufRead + Seek + Send> Bundle<R> {
    /// Judges a bundle in the order of the reference: the envelope, the checksum, the records.
    ///
    /// # Errors
    /// Everything that is wrong; one bad record refuses all of them.
    pub(super) fn judge(
        mut source: Source<R>,
        profile: Profile,
    ) -> Result<(Self, Judged), Vec<Error>> {
        // The envelope is held while the records beside it are read.
        let map = source.envelope.clone();
        let envelope = Envelope::read(&map).map_err(|error| vec![error])?;
        let (mut chunks, mut entities) = (Table::new(), Table::new());
        let mut nobody = |_| true;
        let mut pass = Pass::new(&mut nobody);
        pass.add(Record::finish(envelope.draft(), profile, Place::File).map(Some));
        let mut checksum = Checksum::default();
        let shared = envelope.len();
        // The checksum is over all that is judged, so that both are done in one reading; what is
        // wrong with the checksum is told first all the same.
        let wide = canonical(
            &mut source,
            &mut checksum,
            |written| {
                let len = written.len.saturating_add(shared);
                let makes = profile != Profile::Extended || len > SURELY_FITS;
                let maker = Maker {
                    envelope: &envelope,
                    profile,
                    makes,
                };
                let value = written.value;
                match written.array {
                    CHUNKS => Judging::Chunk(maker.chunk(value, written.place)),
                    ENTITIES => Judging::Entity(maker.entity(value, written.place)),
                    _ => Judging::Link,
                }
            },
            |judging| {
                if pass.goes_on() {
                    match judging {
                        Judging::Chunk(made) => pass.chunk(made, &mut chunks),
                        Judging::Entity(made) => pass.entity(made, &mut entities),
                        // Links are judged when every record is known.
                        Judging::Link => true,
                    };
                }
            },
        );
        let wide = wide.map_err(|error| vec![error])?;
        if !wide.is_empty() {
            return Err(wide);
        }
        check_checksum(&map, &checksum.text()).map_err(|error| vec![error])?;
        let mut links = Table::new();
        let maker = Maker {
            envelope: &envelope,
            profile,
            makes: true,
        };
        pass.links(&mut source.pieces, &maker, (&chunks, &entities), &mut links);
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
        self.pass(take).pop().map_or(Ok(()), Err)
    }

    fn pass(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Vec<Error> {
        self.chunks.clear();
        self.entities.clear();
        self.links.clear();
        let Source { envelope, pieces } = &mut self.source;
        let (profile, is_stream) = (self.profile, pieces.is_lines());
        // A line of a stream has a tag that is no part of the record.
        let own = |value| if is_stream { untagged(value) } else { value };
        let mut pass = Pass::new(take);
        let envelope = match Envelope::read(envelope) {
            Ok(envelope) => envelope,
            Err(error) => return vec![error],
        };
        let maker = Maker {
            envelope: &envelope,
            profile,
            makes: true,
        };
        pass.add(Record::finish(envelope.draft(), profile, Place::File).map(Some));
        let chunks = &mut self.chunks;
        let read = pieces.each(
            CHUNKS,
            |value, place| maker.chunk(&own(value), place),
            |made| pass.chunk(made, chunks),
        );
        pass.keep(read);
        let entities = &mut self.entities;
        let read = pieces.each(
            ENTITIES,
            |value, place| maker.entity(&own(value), place),
            |made| pass.entity(made, entities),
        );
        pass.keep(read);
        pass.links(
            pieces,
            &maker,
            (&self.chunks, &self.entities),
            &mut self.links,
        );
        pass.faults
    }
}

/// What a record comes to as it is judged.
enum Judging {
    Chunk(Result<Memory, Error>),
    Entity(Result<Named, Error>),
    Link,
}

/// One way through the records of a bundle.
struct Pass<'a> {
    take: &'a mut dyn FnMut(Record) -> bool,
    is_wanted: bool,
    findings: Findings,
    faults: Vec<Error>,
    records: u64,
}

impl<'a> Pass<'a> {
    fn new(take: &'a mut dyn FnMut(Record) -> bool) -> Self {
        Self {
            take,
            is_wanted: true,
            findings: Findings::default(),
            faults: Vec::new(),
            records: 0,
        }
    }

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
            self.faults
                .push(twice(code::DUPLICATE_CHUNK_ID, &memory.place));
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

    fn entity(&mut self, made: Result<Named, Error>, entities: &mut Table<()>) -> bool {
        if let Some(entity) = self.keep(made) {
            if entities.add(entities.key(&entity.urn)) {
                self.add(entity.record);
            } else {
                self.faults
                    .push(twice(code::DUPLICATE_ENTITY_ID, &entity.place));
            }
        }
        self.goes_on()
    }

    /// Goes through edges and mentions.
    fn links<R: BufRead + Seek + Send>(
        &mut self,
        pieces: &mut Pieces<R>,
        maker: &Maker<'_>,
        (chunks, entities): (&Table<(ContentAddress, Time)>, &Table<()>),
        links: &mut Table<u32>,
    ) {
        // References are only judged where every record could be read: an unreadable one would make
        // each reference to it a second fault.
        if !self.faults.is_empty() {
            return;
        }
        let is_stream = pieces.is_lines();
        let own = |value| if is_stream { untagged(value) } else { value };
        let read = pieces.each(
            EDGES,
            |value, place| maker.edge(&own(value), place, chunks),
            |made| self.link(made, links),
        );
        self.keep(read);
        let read = pieces.each(
            MENTIONS,
            |value, place| maker.mention(&own(value), place, chunks, entities),
            |made| self.link(made, links),
        );
        self.keep(read);
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
        self.add(Ok(Some(record)));
        self.goes_on()
    }

    /// Hands a record on, if it was made; returns the address of its grain.
    fn add(&mut self, made: Result<Option<Record>, Error>) -> Option<ContentAddress> {
        let made = self.keep(made)?;
        self.records = self.records.saturating_add(1);
        let record = made?;
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

fn twice(code: ErrorCode, place: &Place) -> Error {
    fault(place, code, "id", "comes twice")
}

/// Of so many bytes of canonical JSON every grain is surely made: as ASCII they are three times as
/// many, as text in NFC once more, and a grain of the Extended profile may have 1 MiB.
const SURELY_FITS: usize = 64 * 1024;

/// The numbers of the arrays in [`super::ARRAYS`].
const CHUNKS: usize = 0;
const EDGES: usize = 1;
const ENTITIES: usize = 2;
const MENTIONS: usize = 3;
