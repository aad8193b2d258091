//! Writing a store, and the files beside it, from grains that are read as they are needed.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::codec::{Map, Value};
use crate::grain::Grain;
use crate::interchange::entries::each;
use crate::interchange::export::Files;
use crate::interchange::formats::aimem::Scope;
use crate::interchange::{Diagnostics, Entries, Entry, Error, Loss, WriteOptions, Written};

use super::super::checksum::{Ids, Sum};
use super::super::names::STORE;
use super::super::schema::{tables, validate};
use super::super::signature;
use super::super::types::embeddings;
use super::envelope::{delta, envelope};
use super::plan::{Plan, id_of};
use super::record::{Answers, settled};
use super::uuid;

/// A single file, which holds the store without its conversations and vectors.
struct Single<W>(W);

impl<E, W: Write> Files<E> for Single<W> {
    fn write(
        &mut self,
        _path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        write(&mut self.0)
    }

    fn may_be_many(&self) -> bool {
        false
    }
}

/// Writes a memory store in one file, without its conversations and vectors.
///
/// # Errors
/// `PAM_MIXED_OWNERS`: a store has one owner (PAM 17). `PAM_SIGNATURE_FORM` for a key that cannot
/// sign. `ERR_IO`; those of reading the grains.
pub fn write<E: Entries + ?Sized>(
    out: &mut impl Write,
    entries: &E,
    options: &WriteOptions,
) -> Result<Written, E::Error> {
    write_files(&mut Single(out), entries, options)
}

/// Writes a memory store in the form that both validators of the format accept, and the files
/// beside it. The store is written last, so that an interrupted export has none.
///
/// Records that came from PAM are written as they came, without nulls, with times of six or no
/// digits of fraction, and with the status that the store has for them now. Grains of any other
/// origin become memories whose metadata embeds the whole grain. A relation whose ends are not
/// among the grains is left out.
///
/// # Errors
/// `PAM_MIXED_OWNERS`: a store has one owner (PAM 17). `PAM_SIGNATURE_FORM` for a key that cannot
/// sign. Those of reading the grains and of the files.
pub(crate) fn write_files<E: Entries + ?Sized>(
    files: &mut impl Files<E::Error>,
    entries: &E,
    options: &WriteOptions,
) -> Result<Written, E::Error> {
    let mut plan = Plan::of(entries, options, files.may_be_many())?;
    let mut head = plan.head(options)?;
    let mut count = plan.write_vectors(files, entries, &head)?;
    plan.write_conversations(files, entries)?;
    let mut loss = std::mem::take(&mut plan.loss);
    files.write(STORE, &mut |out| {
        count =
            count.saturating_add(plan.write_store(out, entries, &mut head, options, &mut loss)?);
        Ok(())
    })?;
    Ok(Written {
        records: count,
        loss,
    })
}

impl Plan {
    /// Returns the members of the store that are no records.
    fn head(&mut self, options: &WriteOptions) -> Result<Map, Error> {
        let now = self.newest.or(options.now);
        let owner = self.owner()?;
        let envelopes = std::mem::take(&mut self.envelopes);
        let mut head = match options.scope {
            Scope::Since(since) => delta(owner.as_deref(), now, since, options.base.as_deref()),
            _ => envelope(envelopes, owner.as_deref(), now),
        };
        head.insert("memories", Vec::<Value>::new());
        if self.is_later {
            return Ok(head);
        }
        let rules: fn(&Value, &str, &mut Diagnostics) = |value, _, faults| {
            if let Some(map) = value.as_map() {
                validate::conditions(map, faults);
            }
        };
        let settled = settled(&tables::STORE, head, "store", rules, &mut self.loss);
        Ok(settled.unwrap_or_default())
    }

    /// Writes the file of the vectors; returns how many there are.
    fn write_vectors<E: Entries + ?Sized>(
        &mut self,
        files: &mut impl Files<E::Error>,
        entries: &E,
        head: &Map,
    ) -> Result<u64, E::Error> {
        if self.vectors.is_empty() {
            return Ok(0);
        }
        let version = head.get("schema_version").unwrap_or(&Value::Nil);
        let mut count = 0;
        files.write(EMBEDDINGS, &mut |out| {
            count = write_vectors(out, entries, version, &self.vectors, id_of)?;
            Ok(())
        })?;
        Ok(count)
    }

    fn write_store<E: Entries + ?Sized>(
        &mut self,
        out: &mut dyn Write,
        entries: &E,
        head: &mut Map,
        options: &WriteOptions,
        loss: &mut Loss,
    ) -> Result<u64, E::Error> {
        // An array that the envelope has is written although it is empty.
        let arrays = ["relations", "conversations_index"];
        let stated = arrays.map(|name| head.remove(name).is_some());
        head.remove("memories");
        // The members that depend on the checksum come last.
        let mut tail = Map::new();
        for name in ["integrity", "signature", "export_id", "export_date"] {
            if let Some(value) = head.remove(name) {
                tail.insert(name, value);
            }
        }
        let text = Value::Map(head.clone()).to_json();
        put(
            out,
            &[
                text.strip_suffix('}').unwrap_or_default(),
                ",\"memories\":[",
            ],
        )?;
        let (memories, checksum) = self.write_memories(out, entries, loss)?;
        put(out, &["]"])?;
        let relations = self.write_relations(out, entries, stated[0], loss)?;
        let index = self.write_index(out, entries, stated[1], loss)?;
        for (name, value) in std::mem::take(&mut tail).iter() {
            head.insert(name, value.clone());
        }
        let sealed = head.get("integrity").and_then(Value::as_map);
        let sealed = sealed.and_then(|integrity| integrity.get("checksum")?.as_text());
        // A signature covers the checksum: of other memories it proves nothing.
        if sealed != Some(checksum.as_str()) && head.remove("signature").is_some() {
            loss.count("signature");
        }
        let mut integrity = Map::new();
        integrity.insert("canonicalization", "RFC8785");
        integrity.insert("checksum", checksum);
        integrity.insert("total_memories", memories);
        head.insert("integrity", integrity);
        uuid::name(head);
        if let Some(key) = &options.sign {
            signature::sign(head, key.key(), self.newest.or(options.now))?;
        }
        for name in ["export_date", "export_id", "integrity", "signature"] {
            if let Some(value) = head.get(name) {
                put(out, &[",\"", name, "\":", &value.to_json()])?;
            }
        }
        put(out, &["}\n"])?;
        Ok(memories.saturating_add(relations).saturating_add(index))
    }

    /// Writes the memories; returns how many there are, and their checksum.
    fn write_memories<E: Entries + ?Sized>(
        &self,
        out: &mut dyn Write,
        entries: &E,
        loss: &mut Loss,
    ) -> Result<(u64, String), E::Error> {
        let mut separator = "";
        // The canonical texts by id, as long as they are few.
        let mut kept = Some(Vec::new());
        let mut kept_len = 0_usize;
        let are_few = AtomicBool::new(true);
        let (mut ids, mut numbers) = (Ids::default(), Vec::new());
        let make = |number: u32, entry: Entry| {
            let mut loss = Loss::default();
            let Some(map) = self.memory(entries, number, entry, &mut loss)? else {
                return Ok((None, loss));
            };
            let id = map.get("id").and_then(Value::as_text).unwrap_or_default();
            let id = id.to_owned();
            let value = Value::Map(map);
            // `None` where the text itself is canonical, or nothing more is kept.
            let is_kept = are_few.load(Ordering::Relaxed);
            let canonical = (is_kept && !value.is_canonical()).then(|| value.to_jcs());
            Ok((Some((number, id, value.to_json(), canonical)), loss))
        };
        each(
            entries,
            self.memories.iter().copied(),
            make,
            |(made, lost)| {
                loss.merge(&lost);
                let Some((number, id, text, canonical)) = made else {
                    return Ok(());
                };
                put(out, &[separator, &text])?;
                separator = ",";
                ids.push(&id);
                numbers.push(number);
                let canonical = canonical.unwrap_or_else(|| text.into_bytes());
                kept_len = kept_len.saturating_add(canonical.len());
                if kept_len > KEPT_LEN_MAX {
                    kept = None;
                    are_few.store(false, Ordering::Relaxed);
                }
                if let Some(kept) = &mut kept {
                    kept.push(canonical);
                }
                Ok(())
            },
        )?;
        let count = u64::try_from(numbers.len()).unwrap_or(u64::MAX);
        let order = ids.sorted();
        drop(ids);
        let mut sum = Sum::new();
        if let Some(kept) = kept {
            let sorted = order.iter().filter_map(|at| kept.get(*at));
            sorted.for_each(|canonical| sum.add(canonical));
            return Ok((count, sum.finish()));
        }
        let sorted = order.into_iter().filter_map(|at| numbers.get(at).copied());
        let make = |number: u32, entry: Entry| {
            let map = self.memory(entries, number, entry, &mut Loss::default())?;
            Ok(map.map(|map| Value::Map(map).to_jcs()))
        };
        each(entries, sorted, make, |canonical| {
            canonical.iter().for_each(|canonical| sum.add(canonical));
            Ok(())
        })?;
        Ok((count, sum.finish()))
    }

    fn write_relations<E: Entries + ?Sized>(
        &self,
        out: &mut dyn Write,
        entries: &E,
        is_stated: bool,
        loss: &mut Loss,
    ) -> Result<u64, E::Error> {
        let make = |_, entry: Entry| {
            let mut loss = Loss::default();
            let map = self.relation(entries, entry, &mut loss)?;
            Ok((map.map(|map| Value::Map(map).to_json()), loss))
        };
        let numbers = self.relations.iter().chain(&self.links).copied();
        let read = |take: &mut Take<'_, E::Error>| each(entries, numbers, make, take);
        write_array(out, ("relations", is_stated), read, loss)
    }

    fn write_index<E: Entries + ?Sized>(
        &self,
        out: &mut dyn Write,
        entries: &E,
        is_stated: bool,
        loss: &mut Loss,
    ) -> Result<u64, E::Error> {
        let make = |number: u32, (grain, _): Entry| {
            let mut loss = Loss::default();
            let map = self.index_entry(number, &grain, &mut loss);
            Ok((map.map(|map| Value::Map(map).to_json()), loss))
        };
        let numbers = self.index.iter().copied();
        let read = |take: &mut Take<'_, E::Error>| {
            each(entries, numbers, make, &mut *take)?;
            self.own.iter().try_for_each(|own| {
                let mut loss = Loss::default();
                let entry = Value::Map(own.entry(&mut loss)).to_json();
                take((Some(entry), loss))
            })
        };
        write_array(out, ("conversations_index", is_stated), read, loss)
    }

    /// Writes the documents of conversations, each a file beside the store.
    fn write_conversations<E: Entries + ?Sized>(
        &mut self,
        files: &mut impl Files<E::Error>,
        entries: &E,
    ) -> Result<(), E::Error> {
        let mut used: HashSet<String> = [STORE, EMBEDDINGS].map(str::to_owned).into();
        let (mut paths, mut loss) = (HashMap::new(), Loss::default());
        let mut left: u64 = u64::try_from(self.messages.len()).unwrap_or(u64::MAX);
        for number in &self.index {
            let Some((grain, _)) = entries.read(*number)? else {
                continue;
            };
            let messages = self.messages_of(grain.text("session_id").unwrap_or_default());
            left = left.saturating_sub(u64::try_from(messages.len()).unwrap_or_default());
            let head = self
                .with_files
                .then(|| self.conversation(&grain, &mut loss));
            let Some(head) = head.flatten() else { continue };
            let path = Self::path_of(&grain, &mut used);
            self.write_conversation((&mut *files, &path), entries, head, messages, &mut loss)?;
            paths.insert(*number, path);
        }
        for own in &self.own {
            let messages = self.messages_of(&own.id);
            left = left.saturating_sub(own.message_count);
            let (path, head) = (own.path(), own.document(&mut loss));
            self.write_conversation((&mut *files, &path), entries, head, messages, &mut loss)?;
        }
        (0..left).for_each(|_| loss.count("message"));
        self.paths = paths;
        self.loss.merge(&loss);
        Ok(())
    }
}

impl Plan {
    /// Writes the document of a conversation.
    fn write_conversation<E: Entries + ?Sized>(
        &self,
        (files, path): (&mut impl Files<E::Error>, &str),
        entries: &E,
        head: Map,
        messages: &[(u64, u32)],
        loss: &mut Loss,
    ) -> Result<(), E::Error> {
        let text = Value::Map(head).to_json();
        let answers = Answers::of(entries, messages)?;
        files.write(path, &mut |out| {
            let head = text.strip_suffix('}').unwrap_or_default();
            put(out, &[head, ",\"messages\":["])?;
            let mut separator = "";
            let make = |_, entry: Entry| {
                let mut loss = Loss::default();
                let map = self.message(entries, messages, entry, &answers, &mut loss)?;
                Ok((map.map(|map| Value::Map(map).to_json()), loss))
            };
            let numbers = messages.iter().map(|(_, number)| *number);
            each(entries, numbers, make, |(text, lost)| {
                loss.merge(&lost);
                let Some(text) = text else { return Ok(()) };
                put(out, &[separator, &text])?;
                separator = ",";
                Ok(())
            })?;
            Ok(put(out, &["]}\n"])?)
        })
    }
}

/// Writes an embeddings file that names grains by their addresses: it stands beside an archive, which
/// has no place for vectors. Returns how many there are.
///
/// # Errors
/// `ERR_IO`; those of reading the grains.
pub(crate) fn write_embeddings<E: Entries + ?Sized>(
    out: &mut dyn Write,
    entries: &E,
) -> Result<u64, E::Error> {
    let mut vectors = Vec::new();
    for number in 0..entries.count() {
        let Some(vector) = entries.vector(number)? else {
            continue;
        };
        if let Some((grain, _)) = entries.read(number)? {
            let address = grain.address();
            let name = [address.as_bytes(), vector.model.as_bytes()].concat();
            vectors.push((number, uuid::uuid_of(&name)));
        }
    }
    let memory = |grain: &Grain| grain.address().to_string();
    write_vectors(out, entries, &Value::from("1.0"), &vectors, memory)
}

/// Writes the file of the vectors of these grains, with their ids; `memory` returns the id of the
/// memory of a grain.
fn write_vectors<E: Entries + ?Sized>(
    out: &mut dyn Write,
    entries: &E,
    version: &Value,
    vectors: &[(u32, String)],
    memory: impl Fn(&Grain) -> String + Sync,
) -> Result<u64, E::Error> {
    let file = embeddings::file(version, Vec::new()).to_json();
    let array = "\"embeddings\":[";
    let (open, close) = file.split_once(array).unwrap_or((&file, ""));
    put(out, &[open, array])?;
    let (mut separator, mut count) = ("", 0_u64);
    let make = |number: u32, (grain, _): Entry| {
        let at = vectors.binary_search_by_key(&number, |(number, _)| *number);
        let named = at.ok().and_then(|at| vectors.get(at));
        let (Some((_, id)), Some(vector)) = (named, entries.vector(number)?) else {
            return Ok(None);
        };
        Ok(Some(
            embeddings::entry(id, &memory(&grain), &vector).to_json(),
        ))
    };
    let numbers = vectors.iter().map(|(number, _)| *number);
    each(entries, numbers, make, |text| {
        let Some(text) = text else { return Ok(()) };
        put(out, &[separator, &text])?;
        separator = ",";
        count = count.saturating_add(1);
        Ok(())
    })?;
    put(out, &[close, "\n"])?;
    Ok(count)
}

/// Takes a record, if it can be written, and what it has lost.
type Take<'a, E> = dyn FnMut((Option<String>, Loss)) -> Result<(), E> + 'a;

/// Writes an array, unless it is empty and the envelope has none.
fn write_array<E: From<Error>>(
    out: &mut dyn Write,
    (name, is_stated): (&str, bool),
    read: impl FnOnce(&mut Take<'_, E>) -> Result<(), E>,
    loss: &mut Loss,
) -> Result<u64, E> {
    let mut count = 0_u64;
    let open = [",\"", name, "\":["];
    read(&mut |(text, lost)| {
        loss.merge(&lost);
        let Some(text) = text else { return Ok(()) };
        put(out, if count == 0 { &open } else { &[","] })?;
        count = count.saturating_add(1);
        Ok(put(out, &[&text])?)
    })?;
    if count == 0 && is_stated {
        put(out, &open)?;
    }
    if count > 0 || is_stated {
        put(out, &["]"])?;
    }
    Ok(count)
}

fn put(out: &mut dyn Write, texts: &[&str]) -> Result<(), Error> {
    let mut texts = texts.iter();
    texts.try_for_each(|text| Ok(out.write_all(text.as_bytes())?))
}

/// The name of the embeddings file beside a store (PAM 2).
pub const EMBEDDINGS: &str = embeddings::FILE;

/// The most canonical text that is kept to be sorted; of more, the grains are read once more in the
/// order of the ids.
const KEPT_LEN_MAX: usize = 16 * 1024 * 1024;
