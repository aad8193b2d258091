//! The store as the arguments open it: the whole of it for its owner, a part for an agent.
//!
//! Commands call it as they would call the store; the rights themselves are checked by the library.

use clap::{Args, ValueEnum};
use grainstore::crypto::Did;
use grainstore::grain::{self, Verification};
use grainstore::policy::{Capability, Role};
use grainstore::query::{self, Cursor, Sort};
use grainstore::render::Recollection;
use grainstore::store::{self, Justification, NewGrain, Page, Version};
use grainstore::{Access, ContentAddress, Envelope, Filter, Grain, Store};

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
    role: Option<Word>,
    /// Allow access to grains with tags of this group, such as phi; may be repeated
    #[arg(long, value_name = "GROUP", display_order = 93)]
    cleared: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Word {
    /// Program that reads and writes; grains that await review are hidden
    Agent,
    /// Like agent, without write access
    Reader,
    /// Person; sees grains that await review too
    Reviewer,
    /// Unattended background work (decay, consolidation, eviction); protected grains are read-only
    Job,
}

/// The store, or a handle with restricted access to it.
pub(crate) enum Door {
    Owner(Store),
    Agent(Access),
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
            None | Some(Word::Agent) => Role::Agent,
            Some(Word::Reader) => Role::Reader,
            Some(Word::Reviewer) => Role::Reviewer,
            Some(Word::Job) => Role::Job,
        });
        if let Some(author) = &self.author {
            let did: Did = author
                .parse()
                .map_err(|error: grainstore::crypto::Error| CliError::of(&error).at("--as"))?;
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

    /// Returns the store with the access that the arguments state.
    ///
    /// # Errors
    /// `ERR_DID`.
    pub(crate) fn door(&self, store: &Store) -> Result<Door, CliError> {
        Ok(match self.capability()? {
            Some(capability) => Door::Agent(store.access(capability)),
            None => Door::Owner(store.clone()),
        })
    }
}

impl Door {
    pub(crate) fn put_batch(
        &self,
        grains: Vec<NewGrain>,
    ) -> Result<Vec<ContentAddress>, store::Error> {
        match self {
            Self::Owner(store) => store.put_batch(grains),
            Self::Agent(access) => access.put_batch(grains),
        }
    }

    pub(crate) fn supersede(
        &self,
        old: &ContentAddress,
        new: NewGrain,
        justification: Option<&str>,
    ) -> Result<ContentAddress, store::Error> {
        match self {
            Self::Owner(store) => store.supersede(old, new, justification),
            Self::Agent(access) => access.supersede(old, new, justification),
        }
    }

    pub(crate) fn contradict(
        &self,
        address: &ContentAddress,
        grounds: Justification<'_>,
    ) -> Result<(), store::Error> {
        match self {
            Self::Owner(store) => store.contradict(address, grounds),
            Self::Agent(access) => access.contradict(address, grounds),
        }
    }

    pub(crate) fn set_verification(
        &self,
        address: &ContentAddress,
        verification: Verification,
        grounds: Justification<'_>,
    ) -> Result<(), store::Error> {
        match self {
            Self::Owner(store) => store.set_verification(address, verification, grounds),
            Self::Agent(access) => access.set_verification(address, verification, grounds),
        }
    }

    pub(crate) fn get(&self, address: &ContentAddress) -> Result<Option<Grain>, store::Error> {
        match self {
            Self::Owner(store) => store.get(address),
            Self::Agent(access) => access.get(address),
        }
    }

    pub(crate) fn exists(&self, address: &ContentAddress) -> Result<bool, store::Error> {
        match self {
            Self::Owner(store) => store.exists(address),
            Self::Agent(access) => access.exists(address),
        }
    }

    pub(crate) fn status(&self, address: &ContentAddress) -> Result<grain::Status, store::Error> {
        match self {
            Self::Owner(store) => store.status(address),
            Self::Agent(access) => access.status(address),
        }
    }

    pub(crate) fn history(&self, address: &ContentAddress) -> Result<Vec<Version>, store::Error> {
        match self {
            Self::Owner(store) => store.history(address),
            Self::Agent(access) => access.history(address),
        }
    }

    pub(crate) fn list(&self, after: Option<u64>, limit: usize) -> Result<Page, store::Error> {
        match self {
            Self::Owner(store) => store.list(after, limit),
            Self::Agent(access) => access.list(after, limit),
        }
    }

    pub(crate) fn query_sorted(
        &self,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Envelope, query::Error> {
        match self {
            Self::Owner(store) => store.query_sorted(filter, sort, limit, after),
            Self::Agent(access) => access.query_sorted(filter, sort, limit, after),
        }
    }

    pub(crate) fn nearest(
        &self,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, query::Error> {
        match self {
            Self::Owner(store) => store.nearest(model, vector, filter, limit),
            Self::Agent(access) => access.nearest(model, vector, filter, limit),
        }
    }

    pub(crate) fn similar(
        &self,
        address: &ContentAddress,
        model: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, query::Error> {
        match self {
            Self::Owner(store) => store.similar(address, model, filter, limit),
            Self::Agent(access) => access.similar(address, model, filter, limit),
        }
    }

    pub(crate) fn search_hybrid(
        &self,
        text: &str,
        model: &str,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, query::Error> {
        match self {
            Self::Owner(store) => store.search_hybrid(text, model, vector, filter, limit),
            Self::Agent(access) => access.search_hybrid(text, model, vector, filter, limit),
        }
    }

    pub(crate) fn search(
        &self,
        text: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Envelope, query::Error> {
        match self {
            Self::Owner(store) => store.search(text, filter, limit),
            Self::Agent(access) => access.search(text, filter, limit),
        }
    }

    pub(crate) fn recall(
        &self,
        question: &str,
        filter: &Filter,
        recall: &query::Recall,
    ) -> Result<Recollection, query::Error> {
        match self {
            Self::Owner(store) => store.recall(question, filter, recall),
            Self::Agent(access) => access.recall(question, filter, recall),
        }
    }
}
