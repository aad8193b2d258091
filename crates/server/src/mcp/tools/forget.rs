//! `forget`: deletion of a memory, after a person has confirmed it (`confirm.rs`).

use grainstore::ContentAddress;
use grainstore::store::Authorization;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::short;
use super::{Answer, Effect, Tool, resolve};
use crate::Scope;
use crate::mcp::budget::shortened;
use crate::mcp::failure::Failure;
use crate::mcp::shown::quoted;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Forget {
    address: String,
    /// Why; recorded for good, so without the content.
    reason: Option<String>,
    /// True in a second call, after the user has agreed.
    #[serde(default)]
    pub(in crate::mcp) confirm: bool,
}

#[derive(Debug, Serialize)]
pub(in crate::mcp) struct Deleted {
    address: String,
    /// Whether it is gone.
    deleted: bool,
    /// The text that a deletion would remove, while it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
    /// Whether a second call with `confirm: true` deletes it.
    needs_confirmation: bool,
}

impl Tool for Forget {
    const NAME: &'static str = "forget";
    const TITLE: &'static str = "Delete a memory for good";
    const ABOUT: &'static str = "Deletes one grain for good. The user is asked first. To change a \
        belief, use correct.";
    const EFFECT: Effect = Effect::Destroys;
    type Output = Deleted;

    /// Deletes, which the caller has confirmed.
    fn run(self, scope: &Scope) -> Result<Answer<Deleted>, Failure> {
        let address = self.target(scope)?.0;
        let reason = self.reason.as_deref().unwrap_or("asked to forget it");
        let authority = scope.authority();
        let authorization = Authorization {
            reason,
            authority: &authority,
        };
        scope.admin()?.delete(&address, authorization)?;
        Ok(Answer {
            text: format!("Deleted {}.\n", short(&address)),
            output: Deleted {
                address: address.to_string(),
                deleted: true,
                preview: None,
                needs_confirmation: false,
            },
        })
    }
}

impl Forget {
    /// Returns the grain to delete, with what it says.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_ACCESS_DENIED` for a server that acts for an agent: what is denied is
    /// not asked about.
    pub(in crate::mcp) fn target(
        &self,
        scope: &Scope,
    ) -> Result<(ContentAddress, String), Failure> {
        let admin = scope.admin()?;
        let address = resolve(scope, &self.address)?;
        let grain = scope.store().get(&address)?;
        let grain = grain.ok_or_else(|| Failure::not_found(address))?;
        let resting = admin.resting_on(&address)?.len();
        let summary = grain.summary();
        let (text, _) = shortened(&summary, PREVIEW);
        let text = quoted(&text);
        let others = match resting {
            0 => String::new(),
            count => format!(" ({count} other memories rest on it)"),
        };
        Ok((address, format!("{text}{others}")))
    }
}

impl Deleted {
    /// Returns the answer of a call that deleted nothing.
    pub(in crate::mcp) fn not_yet(
        address: ContentAddress,
        preview: String,
        needs_confirmation: bool,
    ) -> Answer<Self> {
        let short = short(&address);
        let text = match needs_confirmation {
            true => format!(
                "Nothing is deleted yet. Ask the user whether {preview} shall be deleted for good; \
                 if they agree, call forget again with the address {short} and confirm: true.\n"
            ),
            false => format!("The user did not agree: {preview} is kept ({short}).\n"),
        };
        Answer {
            text,
            output: Self {
                address: address.to_string(),
                deleted: false,
                preview: Some(preview),
                needs_confirmation,
            },
        }
    }
}

/// The tokens of a text that a person reads before they agree.
const PREVIEW: usize = 100;
