//! The owner of a store (PAM 17).

use crate::grain::{Draft, Time};
use crate::interchange::Error;

use super::super::code;
use super::object::Object;
use crate::interchange::model::normalize::normalize_text;

/// The owner of the memories.
#[derive(Clone, Copy, Default)]
pub(crate) struct Owner<'a> {
    pub(crate) id: &'a str,
    did: Option<&'a str>,
    pub(crate) created_at: Option<Time>,
}

impl<'a> Owner<'a> {
    pub(crate) fn read(root: &Object<'a>) -> Result<Self, Error> {
        let owner = root.required_object("owner")?;
        let did = owner.text("did")?;
        if did.is_some_and(|did| !did.starts_with("did:")) {
            return Err(owner.member_fault("did", code::SCHEMA, "must be a DID"));
        }
        Ok(Self {
            id: owner.required_text("id")?,
            did,
            created_at: owner.time("created_at")?,
        })
    }

    /// Returns the subject of the memories.
    pub(crate) fn subject(&self) -> String {
        match self.did {
            Some(did) => normalize_text(did),
            None => format!("pam:owner:{}", normalize_text(self.id)),
        }
    }

    /// Sets the owner of a grain.
    pub(crate) fn mark(&self, draft: Draft) -> Draft {
        let draft = draft.user(normalize_text(self.id));
        match self.did {
            Some(did) => draft.set("subject_did", normalize_text(did)),
            None => draft,
        }
    }
}
