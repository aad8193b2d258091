use std::collections::HashMap;

use crate::codec::{ContentAddress, Profile, Value};
use crate::grain::{self, Draft, Grain, StatusChange, Warning};

use crate::interchange::{Error, Place};

/// One grain out of a file, with what the file says about it beside its blob.
#[derive(Debug, Clone)]
pub struct Record {
    /// The grain, validated and encoded.
    pub grain: Grain,
    /// The name the record has where it comes from.
    pub foreign_id: Option<ForeignId>,
    /// The status the file gives it; advice, not law, where the store knows better (ruling I18).
    pub status: StatusChange,
    /// What it is replaced by, where only the store may know that record (PAM 16).
    pub replaced_by: Option<ForeignId>,
    /// Whether its owner allows it to be exported; absent means yes.
    pub exportable: Option<bool>,
    /// Where in the file it stands.
    pub place: Place,
    /// What a reader should know about it.
    pub warnings: Vec<Warning>,
}

impl Record {
    /// Wraps a grain that a file says nothing more about.
    pub fn new(grain: Grain, place: Place) -> Self {
        Self {
            grain,
            foreign_id: None,
            status: StatusChange::default(),
            replaced_by: None,
            exportable: None,
            place,
            warnings: Vec::new(),
        }
    }

    /// Makes the grain of a draft that a reader has put together.
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

/// What grains are called here that could not be stored under the addresses they were read as.
pub(crate) type AddressMap = HashMap<ContentAddress, ContentAddress>;

/// Returns the grain of a record that names others by what they are called here, and is derived
/// from the version it replaces; none if it is that already.
///
/// # Errors
/// Those of grains, for one that outgrows its profile.
pub(crate) fn rewrite_links(
    grain: &Grain,
    renamed: &AddressMap,
    replaces: Option<ContentAddress>,
    profile: Profile,
) -> Result<Option<Grain>, grain::Error> {
    if grain.is_signed() {
        // What its author signed stays what it is.
        return Ok(None);
    }
    if renamed.is_empty() && replaces.is_none() {
        // Most records of most files: nothing is copied for them.
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
    let draft = replaces.into_iter().fold(draft, Draft::derived_from);
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

/// The fields of imported grains that name others; a context does so with the last message.
const LINKS: [&str; 4] = ["context", "derived_from", "parent_message_id", "related_to"];

/// The identity of a record in a foreign format: stable across exports, so imports can repeat.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignId {
    /// The format, such as `pam`.
    pub format: &'static str,
    /// Within what the id is unique: an owner, a producer, a namespace.
    pub scope: String,
    /// The id.
    pub id: String,
}
