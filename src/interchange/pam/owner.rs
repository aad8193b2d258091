use crate::grain::{Draft, Time};
use crate::interchange::Error;

use super::code;
use super::object::Object;
use crate::interchange::spelling::carried;

/// Whose memories these are (PAM 17).
#[derive(Clone, Copy, Default)]
pub(super) struct Owner<'a> {
    pub(super) id: &'a str,
    did: Option<&'a str>,
    pub(super) created_at: Option<Time>,
}

impl<'a> Owner<'a> {
    pub(super) fn read(root: &Object<'a>) -> Result<Self, Error> {
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

    /// Returns who the memories are about.
    pub(super) fn subject(&self) -> String {
        match self.did {
            Some(did) => carried(did),
            None => format!("pam:owner:{}", carried(self.id)),
        }
    }

    /// Says in a grain whose it is.
    pub(super) fn mark(&self, draft: Draft) -> Draft {
        let draft = draft.user(carried(self.id));
        match self.did {
            Some(did) => draft.set("subject_did", carried(did)),
            None => draft,
        }
    }
}
