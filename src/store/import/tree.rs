//! The import of a tree of notes that was imported before: what is there no more ends.

use std::collections::BTreeSet;

use data_encoding::HEXLOWER;

use crate::grain::ForeignId;
use crate::index::Family;
use crate::interchange::markdown::{self, Earlier, tree_tag};
use crate::interchange::{Error as FileError, Format, Place, RecordSet};
use crate::store::Error;
use crate::store::import::batch::Importer;

impl Importer<'_> {
    /// Gives the records of a tree the ids that they had when it was imported last; returns the ids of
    /// what is gone since.
    pub(super) fn continue_tree(&self, records: &RecordSet) -> Result<Vec<ForeignId>, Error> {
        let Some(tree) = records.tree() else {
            return Ok(Vec::new());
        };
        let earlier = match tree.is_lasting {
            true => self.earlier_notes(&tree.scope)?,
            false => Vec::new(),
        };
        let mut foreign = BTreeSet::new();
        for id in tree.ids.claims() {
            let address = markdown::address_in(&id_in(&tree.scope, &id));
            let version = address.map(|address| self.version(&address)).transpose()?;
            // The address of a grain that the importer does not see must tell nothing.
            if version.flatten().is_none() {
                foreign.insert(id);
            }
        }
        let key = self.engine.manifest().tombstone_key();
        let mark = |of: &str| {
            let mut mark = HEXLOWER.encode(&key.of_note(&tree.scope, of));
            mark.truncate(MARK_LEN);
            mark
        };
        let ended = tree.ids.continued(earlier, self.is_own, &mark, &foreign);
        Ok(ended.iter().map(|id| id_in(&tree.scope, id)).collect())
    }

    /// Returns the notes of a tree as they were imported last.
    fn earlier_notes(&self, scope: &str) -> Result<Vec<Earlier>, Error> {
        let snapshot = self.engine.snapshot();
        let rows = snapshot.with_text(Family::Tag, &tree_tag(scope)).set()?;
        let mut earlier = Vec::new();
        for row in rows.iter() {
            let version = self.engine.as_of(&snapshot).version_at(row)?;
            let is_seen = self.caller.authorize_sight(&version.grain).is_ok();
            let Some(note) = markdown::earlier(&version.grain).filter(|_| is_seen) else {
                continue;
            };
            // A file of grains may have the tag; only an import of the tree gives the name.
            let named = self.addresses_of(&id_in(scope, &note.id))?;
            if version.status.is_current() && named.last() == Some(&version.grain.address()) {
                earlier.push(note);
            }
        }
        Ok(earlier)
    }

    /// Ends what is gone from a tree, as far as policy permits: its next version says when it ended.
    pub(super) fn end(&mut self, ids: Vec<ForeignId>) -> Result<(), Error> {
        let now = self.engine.now();
        let profile = self.engine.options().profile;
        let mut records = Vec::new();
        for id in ids {
            let newest = self.addresses_of(&id)?.into_iter().next_back();
            let version = match newest {
                Some(address) => self.version(&address)?,
                None => None,
            };
            let Some((_, version)) = version.filter(|(_, it)| it.status.is_current()) else {
                continue;
            };
            let ended = markdown::ended(&version.grain, id, now, profile);
            let ended = ended.map_err(|source| FileError::Grain {
                place: Place::File,
                source,
            });
            records.push(ended?);
            if records.len() >= BATCH_LEN {
                self.add_all(std::mem::take(&mut records))?;
            }
        }
        self.add_all(records)
    }
}

fn id_in(scope: &str, id: &str) -> ForeignId {
    ForeignId::new(Format::Markdown.name(), scope, id)
}

/// The hexadecimal digits of a mark.
const MARK_LEN: usize = 16;

/// Endings that are stored together.
const BATCH_LEN: usize = 1_000;
