//! The options by which a command acts as an agent: its author, namespace, role and clearance.

use clap::{Args, ValueEnum};
use grainstore::codec::Profile;
use grainstore::crypto::Did;
use grainstore::policy::{Capability, Role};
use grainstore::store::{Clock as _, SystemClock};
use grainstore::{Draft, Grain, Store};

use crate::error::CliError;

/// The actor and the scope of a command; by default the owner, with access to all namespaces
#[derive(Debug, Args)]
#[command(next_help_heading = "Restricted access")]
pub(crate) struct As {
    /// Act as this author, with the rights delegated to it
    #[arg(long = "as", value_name = "DID", display_order = 90)]
    author: Option<String>,
    /// Restrict access to this namespace and those inside it
    #[arg(long = "in", value_name = "NAMESPACE", display_order = 91)]
    inside: Option<String>,
    /// Role of the actor; an agent does not see grains that await review
    #[arg(long, value_enum, value_name = "ROLE", display_order = 92)]
    role: Option<RoleArg>,
    /// Allow access to grains with tags of this group, such as phi; may be repeated
    #[arg(long, value_name = "GROUP", display_order = 93)]
    cleared: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleArg {
    /// Program that reads and writes; grains that await review are hidden
    Agent,
    /// Like agent, without write access
    Reader,
    /// Person; sees grains that await review too
    Reviewer,
    /// Unattended background work (decay, consolidation, eviction); protected grains are read-only
    Job,
}

impl As {
    /// Returns the rights that the arguments state; `None` for the owner.
    ///
    /// # Errors
    /// `ERR_DID`.
    pub(crate) fn capability(&self) -> Result<Option<Capability>, CliError> {
        let is_owner = self.author.is_none()
            && self.inside.is_none()
            && self.role.is_none()
            && self.cleared.is_empty();
        if is_owner {
            return Ok(None);
        }
        let mut capability = Capability::default().role(match self.role {
            None | Some(RoleArg::Agent) => Role::Agent,
            Some(RoleArg::Reader) => Role::Reader,
            Some(RoleArg::Reviewer) => Role::Reviewer,
            Some(RoleArg::Job) => Role::Job,
        });
        if let Some(author) = &self.author {
            let did: Did = author
                .parse()
                .map_err(|error: grainstore::crypto::Error| no_author(&error))?;
            capability = capability.author(&did);
        }
        if let Some(namespace) = &self.inside {
            capability = capability.inside(namespace);
        }
        for group in &self.cleared {
            capability = capability.cleared_for(group);
        }
        Ok(Some(capability))
    }

    /// Returns the author that the command acts as; `None` for the owner.
    pub(crate) fn author(&self) -> Option<&str> {
        self.author.as_deref()
    }

    /// Returns the grain of a draft, with the time and what it lacks of the caller's author and namespace.
    ///
    /// # Errors
    /// `ERR_DID`; the codes of grains.
    pub(crate) fn finish(&self, draft: Draft) -> Result<Grain, CliError> {
        let draft = match self.capability()? {
            Some(capability) => capability.fill(draft),
            None => draft,
        };
        let draft = draft.created_at_or(SystemClock.now());
        let finished = draft.finish(Profile::Extended);
        finished.map_err(|error| CliError::of(&error))
    }

    /// Returns the handle that the arguments narrow a store to.
    ///
    /// # Errors
    /// `ERR_DID`.
    pub(crate) fn narrow(&self, store: &Store) -> Result<Store, anyhow::Error> {
        Ok(match self.capability()? {
            Some(capability) => store.with_capability(capability)?,
            None => store.clone(),
        })
    }
}

/// Returns the error of an `--as` that is no DID.
pub(crate) fn no_author(error: &grainstore::crypto::Error) -> CliError {
    CliError::of(error)
        .at("--as")
        .advising("a DID names an agent: did:web:bot.example.com, or the did:key of its public key")
}
