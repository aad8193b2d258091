use crate::codec::Profile;
use crate::grain::{Draft, Grain, StatusChange, Warning};

use super::{Error, Place};

/// One grain out of a file, with what the file says about it beside its blob.
#[derive(Debug, Clone)]
pub struct Record {
    /// The grain, judged and encoded.
    pub grain: Grain,
    /// The name the record has where it comes from.
    pub foreign_id: Option<ForeignId>,
    /// The status the file gives it; advice, not law, where the store knows better (ruling I18).
    pub status: StatusChange,
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
            exportable: None,
            place,
            warnings: Vec::new(),
        }
    }

    /// Makes the grain of a draft that a reader has put together.
    pub(super) fn finish(draft: Draft, profile: Profile, place: Place) -> Result<Self, Error> {
        match draft.finish_with_warnings(profile) {
            Ok((grain, warnings)) => Ok(Self {
                warnings,
                ..Self::new(grain, place)
            }),
            Err(source) => Err(Error::Grain { place, source }),
        }
    }
}

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
