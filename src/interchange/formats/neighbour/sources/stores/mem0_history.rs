//! The history of Mem0: what was added, updated and deleted, as versions that replace each other.

use crate::codec::Map;
use crate::grain::StatusChange;
use crate::interchange::Record;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;

/// The versions of one memory, the oldest first.
#[derive(Default)]
pub(super) struct History {
    memory: String,
    /// How many versions of it were built.
    len: u64,
    /// The version before the newest, which waits for the address of that one.
    before: Option<Record>,
    newest: Option<Item>,
}

impl History {
    /// Reads a row; returns whether it is one.
    pub(super) fn row(&mut self, map: &Map, builder: &mut Builder<'_>) -> bool {
        let (Some(memory), Some(event)) = (text(map, "memory_id"), text(map, "event")) else {
            return false;
        };
        if memory != self.memory {
            self.end(builder);
            memory.clone_into(&mut self.memory);
        }
        let at = |name: &str| map.get(name).and_then(moment);
        let (old, new) = (text(map, "old_memory"), text(map, "new_memory"));
        // The row of an update has the time of the memory beside its own.
        let time = at("updated_at").or_else(|| at("created_at"));
        if let (None, Some(old)) = (&self.newest, old) {
            // The history begins behind its first version.
            let mut item = Item::note(String::new(), old);
            item.created = at("created_at").or(time);
            self.newest = Some(item);
        }
        match (event, new) {
            ("ADD" | "UPDATE", Some(new)) => {
                let mut item = Item::note(String::new(), new);
                item.created = time;
                item.record = rest(map, PLACED);
                self.next(item, builder);
            }
            ("DELETE", _) => {
                let Some(newest) = &mut self.newest else {
                    return false;
                };
                newest.ended = time;
                // So that an import of a later history tells this version from the one before its end.
                newest.updated = time;
            }
            ("NONE", _) => builder.lose("NONE"),
            _ => return false,
        }
        true
    }

    fn next(&mut self, mut item: Item, builder: &mut Builder<'_>) {
        if let Some(mut replaced) = self.newest.take() {
            self.len = self.len.saturating_add(1);
            replaced.id = format!("{}#{}", self.memory, self.len);
            let until = item.created;
            if let Some(mut record) = builder.build(replaced) {
                item.derived.push(record.grain.address());
                record.status.system_valid_to = record.status.system_valid_to.or(until);
                self.hold(record, builder);
            }
        }
        self.newest = Some(item);
    }

    /// Keeps a record back until its successor is known, and completes the one before it.
    fn hold(&mut self, record: Record, builder: &mut Builder<'_>) {
        let address = record.grain.address();
        if let Some(mut before) = self.before.replace(record) {
            before.status = StatusChange {
                superseded_by: Some(address),
                ..before.status
            };
            builder.sink.push(before);
        }
    }

    /// Builds the newest version of the memory: the id stands for it.
    pub(super) fn end(&mut self, builder: &mut Builder<'_>) {
        self.len = 0;
        if let Some(mut item) = self.newest.take() {
            item.id.clone_from(&self.memory);
            if let Some(record) = builder.build(item) {
                self.hold(record, builder);
            }
        }
        if let Some(record) = self.before.take() {
            builder.sink.push(record);
        }
    }
}

const PLACED: &[&str] = &[
    "id",
    "memory_id",
    "old_memory",
    "new_memory",
    "event",
    "created_at",
    "updated_at",
    "is_deleted",
];
