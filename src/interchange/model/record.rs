//! A record: one grain of a file, with the statements of the file beside its blob.

use crate::codec::{ContentAddress, Profile, Value};
use crate::grain::{self, Draft, ForeignId, Grain, StatusChange, Warning};
use crate::policy::RecordedAuthorization;

use crate::interchange::{Error, Place};

use super::compact_table::CompactTable;

/// One grain of a file, with the statements of the file beside its blob.
#[derive(Debug, Clone)]
pub struct Record {
    /// The grain, validated and encoded.
    pub grain: Grain,
    /// The id of the record in its own format.
    pub foreign_id: Option<ForeignId>,
    /// The status in the file: advice, where the store knows better (ruling I18).
    pub status: StatusChange,
    /// The legal holds on it in the file, which a copy of the owner's own places (ruling I28).
    pub holds: Vec<RecordedAuthorization>,
    /// The record that replaces it, where only the store may know that one (PAM 16).
    pub replaced_by: Option<ForeignId>,
    /// Whether its owner allows it to be exported; `None` means yes.
    pub exportable: Option<bool>,
    /// Where in the file it stands.
    pub place: Place,
    /// The warnings of its grain.
    pub warnings: Vec<Warning>,
}

impl Record {
    /// Wraps a grain without further statements.
    pub fn new(grain: Grain, place: Place) -> Self {
        Self {
            grain,
            foreign_id: None,
            status: StatusChange::default(),
            holds: Vec::new(),
            replaced_by: None,
            exportable: None,
            place,
            warnings: Vec::new(),
        }
    }

    /// Finishes the draft that a reader has put together.
    pub(crate) fn finish(draft: Draft, profile: Profile, place: Place) -> Result<Self, Error> {
        match draft.finish_with_warnings(profile) {
            Ok((grain, warnings)) => Ok(Self {
                warnings,
                ..Self::new(grain, place)
            }),
            Err(source) => Err(Error::Grain { place, source }),
        }
    }
}

/// From the addresses of grains to others: those that they are stored under, or those of their successors.
#[derive(Default)]
pub(crate) struct AddressMap(CompactTable<ContentAddress>);

impl AddressMap {
    pub(crate) fn get(&self, of: &ContentAddress) -> Option<ContentAddress> {
        self.0.get(self.0.key(of)).copied()
    }

    pub(crate) fn insert(&mut self, of: ContentAddress, to: ContentAddress) {
        let key = self.0.key(of);
        match self.0.get_mut(key) {
            Some(known) => *known = to,
            None => self.0.insert(key, to),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the grain of a record with the addresses it names replaced by the new ones, and the name
/// of the version it replaces; `None` if nothing changes.
///
/// # Errors
/// Those of grains, for one that exceeds its profile.
pub(crate) fn rewrite_links(
    grain: &Grain,
    renamed: &AddressMap,
    replaces: Option<ContentAddress>,
    profile: Profile,
) -> Result<Option<Grain>, grain::Error> {
    if grain.is_signed() {
        // A signed grain must not change.
        return Ok(None);
    }
    if renamed.is_empty() && replaces.is_none() {
        // Most records of most files need no copy.
        return Ok(None);
    }
    let mut changed = replaces.is_some();
    let mut draft = Draft::new(grain.type_()).encoding(grain.encoding());
    for (name, value) in grain.fields().iter() {
        let mut value = value.clone();
        if LINKS.contains(&name) && !renamed.is_empty() {
            changed |= rename(&mut value, renamed);
        }
        draft = draft.set(name, value);
    }
    if !changed {
        return Ok(None);
    }
    let draft = replaces.into_iter().fold(draft, Draft::replacing);
    draft.finish(profile).map(Some)
}

fn rename(value: &mut Value, renamed: &AddressMap) -> bool {
    match value {
        Value::Text(text) => {
            let address = ContentAddress::from_reference(text).ok();
            let new = address.and_then(|address| renamed.get(&address));
            if let Some(new) = new {
                *text = new.to_string();
            }
            new.is_some()
        }
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| {
            let now = rename(item, renamed);
            changed || now
        }),
        Value::Map(map) => map.iter_mut().fold(false, |changed, (_, item)| {
            let now = rename(item, renamed);
            changed || now
        }),
        _ => false,
    }
}

/// The fields of imported grains that name others; a context names the last message.
const LINKS: [&str; 4] = ["context", "derived_from", "parent_message_id", "related_to"];
