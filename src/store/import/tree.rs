//! The import of a tree of notes that was imported before: what is there no more ends.

use std::collections::{BTreeSet, HashMap, HashSet};

use data_encoding::HEXLOWER;

use crate::codec::ContentAddress;
use crate::grain::{ForeignId, Type};
use crate::index::{Family, RowSet};
use crate::interchange::markdown::{self, Earlier, tree_tag};
use crate::interchange::{
    Error as FileError, Format, Place, Record, RecordSet, Step, says_the_same,
};
use crate::ledger::EntryId;
use crate::store::engine::Engine;
use crate::store::import::batch::{Importer, Items};
use crate::store::{Access, Error};

impl Importer<'_> {
    /// Gives the records of a tree the ids that they had when it was imported last; returns the ids of
    /// what is gone since.
    pub(super) fn continue_tree(&mut self, records: &RecordSet) -> Result<Vec<ForeignId>, Error> {
        let Some(tree) = records.tree() else {
            return Ok(Vec::new());
        };
        let earlier = match tree.is_lasting {
            true => self.earlier_notes(&tree.scope)?,
            false => Vec::new(),
        };
        let mut earlier = earlier;
        // A note that cannot be read is not gone.
        earlier.retain(|note| !tree.unread.contains(&note.path));
        let before: BTreeSet<String> = earlier.iter().flat_map(Earlier::ids).collect();
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
        let Some(step) = tree.step else {
            return Ok(ended.iter().map(|id| id_in(&tree.scope, id)).collect());
        };
        let mut taken = HashSet::new();
        for id in tree.ids.given().iter().filter(|id| before.contains(*id)) {
            taken.extend(self.addresses_of(&id_in(&tree.scope, id))?.pop());
        }
        let texts = tree
            .ids
            .texts()
            .into_iter()
            .map(|(id, text)| (id, text + TEXT));
        self.step = Some(Items {
            taken,
            said: None,
            texts: texts.collect(),
        });
        let ended = match step {
            Step::Read => ended,
            Step::Settled => Vec::new(),
        };
        Ok(ended.iter().map(|id| id_in(&tree.scope, id)).collect())
    }

    /// Gives the grain of an item of a tree in step its id, so that the next edit of the item finds it.
    pub(super) fn name_item(&mut self, of: ContentAddress, record: &Record) -> Result<(), Error> {
        let Some(step) = &mut self.step else {
            return Ok(());
        };
        step.taken.insert(of);
        let id = record.foreign_id.as_ref();
        let newest = id.map(|id| self.addresses_of(id)).transpose()?;
        let newest = newest.and_then(|mut all| all.pop());
        self.name(of, record.foreign_id.clone(), newest)
    }

    /// Returns the ids under which a record may have been erased. An item of a tree may be another one of
    /// the same text, or one that was edited to it; an edit is asked for its text alone, as what the item
    /// was before may be erased and the item not.
    pub(super) fn erased_ids(&self, id: &ForeignId, is_edit: bool) -> Vec<ForeignId> {
        if id.format() != Format::Markdown.name() {
            return vec![id.clone()];
        }
        let texts = self.step.as_ref().map(|step| &step.texts);
        let text = texts.and_then(|texts| texts.get(id.id()));
        let text = text
            .filter(|_| is_edit)
            .map(|text| text.trim_end_matches(TEXT));
        let first = id.id().rsplit_once('-');
        let first = first.filter(|(_, number)| number.bytes().all(|it| it.is_ascii_digit()));
        let first = text.unwrap_or_else(|| first.map_or(id.id(), |(first, _)| first));
        let own = Some(id.clone()).filter(|_| text.is_none());
        let of_text = [first.to_owned(), format!("{first}{TEXT}")];
        let of_text = of_text.iter().map(|it| id_in(id.scope(), it));
        own.into_iter().chain(of_text).collect()
    }

    /// Gives the grain of an item that was edited the id that its text would have in a copy of the tree:
    /// an erasure of the grain is then known to keep that out too.
    pub(super) fn name_text(
        &mut self,
        of: ContentAddress,
        id: Option<&ForeignId>,
    ) -> Result<(), Error> {
        let texts = self.step.as_ref().map(|step| &step.texts);
        let Some((id, text)) = id.and_then(|id| Some((id, texts?.get(id.id())?))) else {
            return Ok(());
        };
        let id = id_in(id.scope(), text);
        let newest = self.addresses_of(&id)?.pop();
        self.name(of, Some(id), newest)
    }

    /// Returns the current grain that says what an item of a tree in step says, if no other item is that
    /// grain: the store wrote the item, and the step was interrupted, or two stores believe the same.
    pub(super) fn same_item(&mut self, record: &Record) -> Result<Option<ContentAddress>, Error> {
        let (engine, caller) = (self.engine, self.caller);
        let Some(step) = &mut self.step else {
            return Ok(None);
        };
        let Some(wanted) = markdown::said_hash(&record.grain) else {
            return Ok(None);
        };
        let snapshot = engine.snapshot();
        let view = engine.as_of(&snapshot);
        if step.said.is_none() {
            let mut said = HashMap::<u64, Vec<EntryId>>::new();
            let types = [Type::Belief, Type::Event].map(|it| snapshot.of_type(it).set());
            let types: Vec<_> = types.into_iter().collect::<Result<_, _>>()?;
            for row in types.iter().flat_map(RowSet::iter) {
                let Some(version) = view.sound_version_at(row)? else {
                    continue;
                };
                let is_seen =
                    version.status.is_current() && caller.authorize_sight(&version.grain).is_ok();
                if let Some(hash) = markdown::said_hash(&version.grain).filter(|_| is_seen) {
                    said.entry(hash).or_default().push(row);
                }
            }
            step.said = Some(said);
        }
        let rows = step
            .said
            .iter()
            .filter_map(|said| said.get(&wanted))
            .flatten();
        for row in rows {
            let version = view.version_at(*row)?;
            let address = version.grain.address();
            if !step.taken.contains(&address)
                && version.status.is_current()
                && says_the_same(&record.grain, &version.grain)
            {
                return Ok(Some(address));
            }
        }
        Ok(None)
    }

    /// Returns the grain in whose place an edit of a tree in step would stand: the one that replaced the
    /// one that the tree had.
    pub(super) fn standing(
        &self,
        newest: Option<ContentAddress>,
    ) -> Result<Option<ContentAddress>, Error> {
        let Some(address) = newest.filter(|_| self.step.is_some()) else {
            return Ok(newest);
        };
        Ok(head_of(self.engine, address)?.or(newest))
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
        let (mut records, mut over) = (Vec::new(), Vec::new());
        for id in ids {
            let newest = self.addresses_of(&id)?.into_iter().next_back();
            let version = match newest {
                Some(address) => self.version(&address)?,
                None => None,
            };
            let Some((_, version)) = version.filter(|(_, it)| it.status.is_current()) else {
                continue;
            };
            over.push((id.clone(), version.grain.address()));
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
        self.add_all(records)?;
        for (id, before) in over {
            let newest = self.addresses_of(&id)?.pop();
            self.summary.ended.extend(newest.filter(|it| *it != before));
        }
        Ok(())
    }
}

/// Returns the current grain of an item of a tree, whatever replaced it since; `None` if there is none.
///
/// # Errors
/// Storage errors.
pub(crate) fn current_item(
    store: &Access,
    scope: &str,
    id: &str,
) -> Result<Option<ContentAddress>, Error> {
    let id = id_in(scope, id);
    let snapshot = store.engine.snapshot();
    let newest = store.engine.as_of(&snapshot).named(&id)?.pop();
    let newest = newest.or_else(|| markdown::address_in(&id));
    newest.map_or(Ok(None), |address| head_of(&store.engine, address))
}

/// Returns the current grain that a grain was replaced by, or itself.
fn head_of(engine: &Engine, address: ContentAddress) -> Result<Option<ContentAddress>, Error> {
    let snapshot = engine.snapshot();
    let view = engine.as_of(&snapshot);
    let (mut at, mut seen) = (address, HashSet::new());
    // An import may have brought a circle.
    while seen.insert(at) {
        let Some(row) = view.locate(&at)? else {
            return Ok(None);
        };
        let status = view.status_at(row)?;
        match status.superseded_by {
            Some(by) => at = by,
            None => return Ok(Some(at).filter(|_| status.is_current())),
        }
    }
    Ok(None)
}

/// Whether an identifier is that of a text alone, for what erases it: no record of a file has it.
pub(super) fn is_of_text(id: &ForeignId) -> bool {
    id.format() == Format::Markdown.name() && id.id().ends_with(TEXT)
}

/// Behind an id of a text that an item was edited to.
const TEXT: &str = ".";

fn id_in(scope: &str, id: &str) -> ForeignId {
    ForeignId::new(Format::Markdown.name(), scope, id)
}

/// The hexadecimal digits of a mark.
const MARK_LEN: usize = 16;

/// Endings that are stored together.
const BATCH_LEN: usize = 1_000;
