//! The first reading of the grains of a store: which are records of it, and of which kind.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Time, Type};
use crate::interchange::entries::{Newest, Numbers, each, surveyed};
use crate::interchange::formats::aimem::{self, Scope};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::embedded_grain::{is_side, says_nothing};
use crate::interchange::model::link::link_of;
use crate::interchange::model::normalize::residual_json;
use crate::interchange::{Entries, Entry, Error, Loss, WriteOptions};

use super::super::code;
use super::super::types::embeddings::EMBEDDING;
use super::super::types::object::fault;
use super::super::types::residual::{DOCUMENT_RESIDUAL, is_relation, residual};
use super::checksum_form::has_no_word;
use super::record::{index_entry, of_memory};
use super::selection::{Superfluous, identity, is_changed_since};
use super::turn::{self, OwnConversation, Turns};
use super::uuid::{uuid, uuid_of};

/// The records of a store before they are written: numbers of grains, since there may be millions.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) newest: Newest,
    pub(super) loss: Loss,
    pub(super) envelopes: Vec<Map>,
    /// In the order of the file.
    pub(super) memories: Vec<u32>,
    pub(super) relations: Vec<u32>,
    pub(super) index: Vec<u32>,
    /// Messages by the hash of their session.
    pub(super) messages: Vec<(u64, u32)>,
    /// Relations of other formats.
    pub(super) links: Vec<u32>,
    /// The memories that embed a whole grain, and the grains that stand beside it there.
    pub(super) beside: Vec<(u32, u32)>,
    /// The memories that have a vector, and its id.
    pub(super) vectors: Vec<(u32, String)>,
    /// The conversations of turns that no file brought.
    pub(super) own: Vec<OwnConversation>,
    /// The paths of conversations.
    pub(super) paths: HashMap<u32, String>,
    /// Whether the store has a later version, with members that this writer does not know.
    pub(super) is_later: bool,
    /// Whether files can go beside the store.
    pub(super) with_files: bool,
    /// Whether it may refer to records of its base (PAM 16).
    pub(super) is_delta: bool,
    /// Whether the ids of other platforms are left out (PAM 21).
    pub(super) is_redacted: bool,
    /// The hashes of the ids of memories and of index entries.
    pub(super) memory_ids: CompactTable<()>,
    pub(super) entry_ids: CompactTable<()>,
    sessions: CompactTable<()>,
    owners: BTreeSet<String>,
}

/// The facts about a grain that the first reading finds.
struct Found {
    number: u32,
    created_at: Time,
    owner: Option<String>,
    kind: Kind,
    /// The hash of its id among those of its kind, if it came from PAM, and its earlier versions.
    identity: Option<(u64, Vec<ContentAddress>)>,
    is_in_scope: bool,
}

enum Kind {
    Envelope(Map),
    /// With its id, the hash of its session, and whether its document can be written.
    Entry(String, u64, bool),
    Message(u64),
    Turn(Turn),
    Relation,
    Memory(String, Option<VectorNames>),
    /// One that embeds a whole grain, with the hash of the id that its record had in a bundle.
    Embedding(String, Option<VectorNames>, Option<ContentAddress>),
    Side,
    /// A record that cannot be written at all.
    Unwritable,
    /// A memory whose ending the format cannot say.
    Contradicted,
}

/// A turn that no file brought.
struct Turn {
    key: u64,
    session: String,
    at: Time,
    has_vector: bool,
}

/// The ids that a vector may have: as its record refers to it, as it said itself, and a new one.
struct VectorNames([Option<String>; 3]);

/// The numbers of grains whose place is known when all of them have been read.
#[derive(Default)]
struct Seen {
    superfluous: Superfluous,
    sides: Vec<u32>,
    names: Numbers,
    embedding: Vec<u32>,
    vectors: Vec<(u32, VectorNames)>,
    turns: Turns,
    /// Whether the document of a session can be written, by the hash of the session.
    documents: HashMap<u64, bool>,
}

impl Plan {
    /// Reads the grains once; twice if they are of a store of a later version.
    pub(super) fn of<E: Entries + ?Sized>(
        entries: &E,
        options: &WriteOptions,
        with_files: bool,
    ) -> Result<Self, E::Error> {
        let survey = |is_later| Self::survey(entries, options, with_files, is_later);
        let plan = surveyed(entries, || survey(false))?;
        if plan.is_later {
            return survey(true);
        }
        Ok(plan)
    }

    fn survey<E: Entries + ?Sized>(
        entries: &E,
        options: &WriteOptions,
        with_files: bool,
        is_later: bool,
    ) -> Result<Self, E::Error> {
        let mut plan = Self {
            with_files,
            is_later,
            is_delta: matches!(options.scope, Scope::Since(_)),
            is_redacted: options.redact,
            ..Self::default()
        };
        // An increment may hold only some turns of a session, which make no whole conversation.
        let are_turns_messages =
            with_files && !is_later && !plan.is_delta && options.changed_from.is_none();
        let sessions = std::mem::take(&mut plan.sessions);
        let identities = CompactTable::<()>::new();
        let make = |number: u32, (grain, status): Entry| {
            let record = residual(&grain);
            let said = record.as_ref();
            let is_in_scope = match options.scope {
                Scope::Since(since) if options.changed_from.is_none() => {
                    is_changed_since(&grain, said, &status, since)
                }
                _ => true,
            };
            let identity = identity(&grain, said).map(|id| {
                let key = identities.key(id);
                (key, grain.derived_from().collect())
            });
            let (created_at, owner) = (grain.created_at(), grain.text("user_id"));
            let owner = owner.map(str::to_owned);
            let session = |name: &str| sessions.key(name);
            let turn =
                (are_turns_messages && record.is_none()).then(|| turn::session_of(&grain, &status));
            let mut kind = match turn.flatten() {
                Some(name) => Kind::Turn(Turn {
                    key: session(name),
                    session: name.to_owned(),
                    at: turn::time_of(&grain),
                    has_vector: entries.vector(number)?.is_some(),
                }),
                None => kind_of(entries, (number, &grain), record, (is_later, session))?,
            };
            if !options.history
                && has_no_word(&status)
                && matches!(kind, Kind::Memory(..) | Kind::Embedding(..))
            {
                kind = Kind::Contradicted;
            }
            Ok(Found {
                number,
                created_at,
                owner,
                kind,
                identity,
                is_in_scope,
            })
        };
        let mut seen = Seen::default();
        each(entries, 0..entries.count(), make, |found| {
            plan.add(found, &mut seen);
            Ok(())
        })?;
        plan.sessions = sessions;
        plan.place_turns(&mut seen);
        plan.unite_owners(entries)?;
        let superfluous = seen.superfluous.find(entries)?;
        plan.leave_out(&superfluous);
        let mut vectors = seen.vectors;
        vectors.retain(|(number, _)| plan.memories.binary_search(number).is_ok());
        plan.name_vectors(vectors);
        seen.names.sort();
        plan.place(entries, &seen.sides, &seen.embedding, &seen.names)?;
        plan.messages.sort_unstable();
        Ok(plan)
    }

    /// Adds the grain of one number.
    fn add(&mut self, found: Found, seen: &mut Seen) {
        let number = found.number;
        self.newest.add(found.created_at);
        if let Some(owner) = found.owner
            && !self.owners.contains(&owner)
        {
            self.owners.insert(owner);
        }
        seen.superfluous.add(number, found.identity);
        if !found.is_in_scope {
            return;
        }
        match found.kind {
            Kind::Envelope(map) => {
                let version = map.get("schema_version").and_then(Value::as_text);
                self.is_later |= version.is_some_and(|version| version != "1.0");
                self.envelopes.push(map);
            }
            Kind::Entry(id, session, has_document) => {
                seen.documents.insert(session, has_document);
                let key = self.entry_ids.key(id.as_str());
                self.entry_ids.add(key);
                self.index.push(number);
            }
            Kind::Message(session) => self.messages.push((session, number)),
            Kind::Turn(turn) => {
                if turn.has_vector {
                    self.loss.count(EMBEDDING);
                }
                seen.turns.add(number, turn.key, turn.session, turn.at);
            }
            Kind::Relation => self.relations.push(number),
            Kind::Side => seen.sides.push(number),
            Kind::Memory(id, vector) => {
                seen.vectors.extend(vector.map(|vector| (number, vector)));
                self.add_memory(number, &id);
            }
            Kind::Embedding(id, vector, name) => {
                seen.vectors.extend(vector.map(|vector| (number, vector)));
                if let Some(name) = name {
                    seen.names.add(name, number);
                }
                seen.embedding.push(number);
                self.add_memory(number, &id);
            }
            Kind::Unwritable => {}
            Kind::Contradicted => self.loss.count("contradicted"),
        }
    }

    fn add_memory(&mut self, number: u32, id: &str) {
        let key = self.memory_ids.key(id);
        self.memory_ids.add(key);
        self.memories.push(number);
    }

    fn place_turns(&mut self, seen: &mut Seen) {
        let turns = std::mem::take(&mut seen.turns);
        let (own, messages) = turns.placed(&self.sessions, &seen.documents);
        self.own = own;
        self.messages.extend(messages);
    }

    /// Names each person once, whose user ids are several.
    fn unite_owners<E: Entries + ?Sized>(&mut self, entries: &E) -> Result<(), E::Error> {
        if self.owners.len() > 1 {
            let owners = self.owners.iter();
            let owners = owners.map(|owner| entries.person(owner));
            self.owners = owners.collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    /// Leaves out all versions of a record but one, and counts them.
    fn leave_out(&mut self, superfluous: &[(u32, &'static str)]) {
        if superfluous.is_empty() {
            return;
        }
        let loss = &mut self.loss;
        let mut stays = |number: u32| {
            let at = superfluous.binary_search_by_key(&number, |(number, _)| *number);
            let why = at.ok().and_then(|at| superfluous.get(at));
            if let Some((_, why)) = why {
                loss.count(why);
            }
            why.is_none()
        };
        self.memories.retain(|number| stays(*number));
        self.relations.retain(|number| stays(*number));
        self.index.retain(|number| stays(*number));
        self.messages.retain(|(_, number)| stays(*number));
    }

    /// Gives each vector an id that no other has.
    fn name_vectors(&mut self, vectors: Vec<(u32, VectorNames)>) {
        if !self.with_files {
            return;
        }
        let mut taken = HashSet::new();
        for (number, VectorNames(names)) in vectors {
            let mut names = names.into_iter().flatten();
            if let Some(id) = names.find(|id| taken.insert(id.clone())) {
                self.vectors.push((number, id));
            }
        }
    }

    /// Finds the memory beside which each grain stands that is none: of a relation the one it starts
    /// from, of a mention the one that mentions, of an entity the first that mentions it, of the
    /// rest the first. A grain without any memory to stand beside is counted.
    fn place<E: Entries + ?Sized>(
        &mut self,
        entries: &E,
        sides: &[u32],
        embedding: &[u32],
        names: &Numbers,
    ) -> Result<(), E::Error> {
        let find = |address: &ContentAddress| entries.find(address);
        let make = |number: u32, (grain, _): Entry| {
            if says_nothing(&grain) {
                return Ok((number, None, None, None, true));
            }
            let is_of_graph = aimem::residual(&grain).is_some();
            let name = |name: &str| grain.text(name).filter(|_| is_of_graph);
            let hash = |name: &str| ContentAddress::of(name.as_bytes());
            let own = name("subject").map(hash);
            let link = match link_of(&grain) {
                None => None,
                Some(link) => {
                    let mut ends = link.ends.iter();
                    let from = ends.next().map_or(Ok(None), find)?;
                    let to = ends.next().map_or(Ok(None), find)?;
                    let host = from.filter(|host| embedding.binary_search(host).is_ok());
                    Some(host.filter(|_| to.is_some()))
                }
            };
            Ok((number, link, own, name("object").map(hash), false))
        };
        let mut found = Vec::new();
        each(entries, sides.iter().copied(), make, |side| {
            found.push(side);
            Ok(())
        })?;
        let mut mentioned = Numbers::default();
        for (_, link, chunk, entity, _) in &found {
            if let (None, Some(chunk), Some(entity)) = (link, chunk, entity)
                && let Some(host) = names.get(chunk)
            {
                mentioned.add(*entity, host);
            }
        }
        mentioned.sort();
        for (number, link, own, _, is_message) in found {
            let host = match &link {
                Some(host) => *host,
                None => own
                    .and_then(|name| names.get(&name).or_else(|| mentioned.get(&name)))
                    .or(embedding.first().copied()),
            };
            match host {
                Some(host) => {
                    self.beside.push((host, number));
                    if link.is_some() {
                        self.links.push(number);
                    }
                }
                None => self.loss.count(match (link, own) {
                    (Some(_), _) => "relation",
                    (None, Some(_)) => "entity",
                    (None, None) if is_message => "message without a text",
                    (None, None) => "envelope",
                }),
            }
        }
        self.beside.sort_by_key(|(host, _)| *host);
        Ok(())
    }

    /// Returns the owner of the memories, if they have one.
    pub(super) fn owner(&self) -> Result<Option<String>, Error> {
        if self.owners.len() > 1 {
            let names: Vec<_> = self.owners.iter().map(String::as_str).collect();
            let message = format!("a store is of one owner; there are {}", names.join(", "));
            return Err(fault(code::MIXED_OWNERS, String::new(), message));
        }
        Ok(self.owners.first().cloned())
    }

    /// Returns the messages of a session.
    pub(super) fn messages_of(&self, session: &str) -> &[(u64, u32)] {
        let key = self.sessions.key(session);
        let from = self.messages.partition_point(|(of, _)| *of < key);
        let to = self.messages.partition_point(|(of, _)| *of <= key);
        self.messages.get(from..to).unwrap_or_default()
    }
}

fn kind_of<E: Entries + ?Sized>(
    entries: &E,
    (number, grain): (u32, &Grain),
    record: Option<Value>,
    (is_later, session): (bool, impl Fn(&str) -> u64),
) -> Result<Kind, E::Error> {
    let mut loss = Loss::default();
    Ok(match (record, grain.type_()) {
        (Some(Value::Map(map)), Type::State) if map.contains("schema") => Kind::Envelope(map),
        (Some(Value::Map(map)), Type::State) => {
            let entry = index_entry(map, is_later, &mut loss);
            let id = entry.as_ref().map(id_in);
            let key = session(grain.text("session_id").unwrap_or_default());
            let has_document = residual_json(grain, DOCUMENT_RESIDUAL).is_some();
            id.map_or(Kind::Unwritable, |id| Kind::Entry(id, key, has_document))
        }
        (Some(_), Type::Event) => {
            Kind::Message(session(grain.text("session_id").unwrap_or_default()))
        }
        (Some(_), _) if is_relation(grain) => Kind::Relation,
        (Some(Value::Map(map)), _) => {
            let reference = map.get("embedding_ref").and_then(Value::as_text);
            let reference = reference.map(str::to_owned);
            let memory = of_memory(map, is_later, &mut loss);
            let id = memory.as_ref().map(id_in);
            let vector = vector_names(entries, number, grain, reference)?;
            id.map_or(Kind::Unwritable, |id| Kind::Memory(id, vector))
        }
        _ if is_side(grain) => Kind::Side,
        _ => {
            let bundled = aimem::residual(grain);
            let bundled = bundled
                .as_ref()
                .and_then(|record| record.as_map()?.get("id")?.as_text());
            let name = bundled.map(|id| ContentAddress::of(id.as_bytes()));
            let vector = vector_names(entries, number, grain, None)?;
            Kind::Embedding(uuid(grain.address()), vector, name)
        }
    })
}

fn vector_names<E: Entries + ?Sized>(
    entries: &E,
    number: u32,
    grain: &Grain,
    reference: Option<String>,
) -> Result<Option<VectorNames>, E::Error> {
    let Some(vector) = entries.vector(number)? else {
        return Ok(None);
    };
    let said = vector.record.as_deref().and_then(|record| {
        let record = Value::from_json(record).ok()?;
        Some(record.as_map()?.get("id")?.as_text()?.to_owned())
    });
    let address = grain.address();
    let derived = uuid_of(&[address.as_bytes(), vector.model.as_bytes()].concat());
    Ok(Some(VectorNames([reference, said, Some(derived)])))
}

/// Returns the id of the record of a grain.
pub(super) fn id_of(grain: &Grain) -> String {
    match residual(grain) {
        Some(Value::Map(map)) => id_in(&map),
        _ => uuid(grain.address()),
    }
}

fn id_in(map: &Map) -> String {
    let id = map.get("id").and_then(Value::as_text);
    id.unwrap_or_default().to_owned()
}
