//! The part of a store that a token reaches. Every route goes through it: a grain outside is as one
//! that is not stored.
//!
//! The library narrows a handle to an author, to namespaces and a person, confines what the owner does
//! on behalf of that handle, and names the token in the ledger. Here stand the rights that are the
//! token's and not the store's: its operations, the records of its files, and its cursors.

use std::sync::Arc;

use grainstore::grain::{Namespace, Status};
use grainstore::policy::{Capability, Role};
use grainstore::query::Cursor;
use grainstore::{Admin, ContentAddress, ErrorCode, Grain, Store};

use super::failure::Failure;
use super::position;
use super::token::{Holder, Operation};
use crate::scope::successor;

/// A store as the holder of a token sees it.
#[derive(Clone)]
pub(crate) struct TokenScope {
    owner: Store,
    /// All that the token reaches, in the name of its actor.
    handle: Store,
    pub(crate) holder: Arc<Holder>,
    position_key: [u8; 32],
}

impl std::fmt::Debug for TokenScope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenScope")
            .field("holder", &self.holder.id)
            .finish_non_exhaustive()
    }
}

impl TokenScope {
    pub(crate) fn new(
        owner: &Store,
        holder: Arc<Holder>,
        position_key: [u8; 32],
    ) -> Result<Self, Failure> {
        let writes = holder.grant.operations.contains(&Operation::Write);
        let role = if writes { Role::Agent } else { Role::Reader };
        Ok(Self {
            handle: owner.with_capability(capability(&holder).role(role))?,
            owner: owner.clone(),
            holder,
            position_key,
        })
    }

    /// Returns all that the token reaches.
    pub(crate) const fn handle(&self) -> &Store {
        &self.handle
    }

    /// Returns the operations of the owner, in the name of the token and within what it reaches.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn admin(&self) -> Result<Admin<'_>, Failure> {
        Ok(self.owner.admin()?.on_behalf_of(&self.handle))
    }

    /// Returns the handle that imports files: each record passes the rules of a put by the actor, also
    /// where its format names no author.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn importer(&self) -> Result<Store, Failure> {
        Ok(self.owner.with_capability(self.importing())?)
    }

    /// Returns the capability of the handle that imports files.
    pub(crate) fn importing(&self) -> Capability {
        capability(&self.holder).bringing_unauthored()
    }

    /// Returns the handle without limits, for what only an owner may do. The caller must confine it.
    pub(crate) const fn owner(&self) -> &Store {
        &self.owner
    }

    /// Returns the namespace of the token in which another one lies; `None` for a token of all.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for one outside the scope; `ERR_USAGE` where none is named and the token has
    /// several.
    pub(crate) fn named(&self, namespace: Option<&str>) -> Result<Option<&str>, Failure> {
        let own = &self.holder.grant.namespaces;
        match (own.as_slice(), namespace.filter(|name| !name.is_empty())) {
            ([], _) => Ok(None),
            ([only], None) => Ok(Some(only)),
            (names, None) => {
                let names = names.join(", ");
                Err(Failure::usage(format!(
                    "name one of the namespaces {names}"
                )))
            }
            (names, Some(name)) => {
                let mut names = names.iter();
                let found = names.find(|own| Namespace::new(own.as_str()).contains(name));
                Ok(Some(found.ok_or_else(outside)?))
            }
        }
    }

    /// Returns the handle for a question, about a namespace or about all that the token reaches.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a namespace outside the scope.
    pub(crate) fn asked(&self, namespace: Option<&str>) -> Result<&Store, Failure> {
        if namespace.is_some_and(|name| !name.is_empty()) {
            self.named(namespace)?;
        }
        Ok(&self.handle)
    }

    /// Returns a handle on one namespace of the token.
    ///
    /// # Errors
    /// As [`TokenScope::named`].
    pub(crate) fn one(&self, namespace: Option<&str>) -> Result<Store, Failure> {
        Ok(match self.named(namespace)? {
            Some(own) => self.handle.in_namespace(own),
            None => self.handle.clone(),
        })
    }

    /// Returns a grain.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, also for a grain out of reach; as [`Store::get`].
    pub(crate) fn get(&self, address: &ContentAddress) -> Result<Grain, Failure> {
        let found = self.handle.get(address)?;
        found.ok_or_else(|| Failure::unseen(address))
    }

    /// Returns whether a grain is stored and in reach.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn sees(&self, address: &ContentAddress) -> Result<bool, Failure> {
        Ok(self.handle.exists(address)?)
    }

    /// Returns what replaced a grain, if that is in reach too.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn successor(&self, status: &Status) -> Result<Option<ContentAddress>, Failure> {
        Ok(successor(&self.handle, status)?)
    }

    /// Returns the owner's handle to a token that reaches every grain.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`.
    pub(crate) fn whole(&self) -> Result<&Store, Failure> {
        match self.holder.grant.is_confined() {
            true => Err(outside()),
            false => Ok(&self.owner),
        }
    }

    /// Returns a place in the store as its holder may see it.
    pub(crate) fn seal(&self, place: &str) -> Result<String, Failure> {
        let sealed = position::seal(&self.position_key, &self.sealed_for(), place);
        sealed.ok_or_else(|| Failure::of(ErrorCode::NoRandomness, "no randomness"))
    }

    /// Returns a place that was sealed for the same scope.
    ///
    /// # Errors
    /// `ERR_CURSOR`.
    pub(crate) fn open(&self, text: &str) -> Result<String, Failure> {
        let place = position::open(&self.position_key, &self.sealed_for(), text);
        place.ok_or_else(|| Failure::of(ErrorCode::Cursor, "not a cursor of this token"))
    }

    /// Returns the cursor that was sealed as a text.
    ///
    /// # Errors
    /// `ERR_CURSOR`.
    pub(crate) fn cursor(&self, text: &str) -> Result<Cursor, Failure> {
        Ok(self.open(text)?.parse::<Cursor>()?)
    }

    /// Another token of the same actor and reach goes on where this one was.
    fn sealed_for(&self) -> String {
        let grant = &self.holder.grant;
        format!("{:?} {:?} {:?}", grant.actor, grant.user, grant.namespaces)
    }
}

/// Returns what every handle of a token has: its actor and name, its person, its namespaces and its
/// clearance.
fn capability(holder: &Holder) -> Capability {
    let grant = &holder.grant;
    let cleared = grant.cleared.iter().map(String::as_str);
    let capability = cleared.fold(Capability::default(), Capability::cleared_for);
    let capability = capability.author(&holder.actor).by_token(&holder.id);
    let capability = match &grant.user {
        Some(user) => capability.of_user(user),
        None => capability,
    };
    match grant.namespaces.is_empty() {
        true => capability,
        false => capability.inside_any(grant.namespaces.iter().map(String::as_str)),
    }
}

/// The refusal of what lies outside the scope of a token.
pub(crate) fn outside() -> Failure {
    Failure::of(
        ErrorCode::AccessDenied,
        "outside the namespaces or the user of the token",
    )
}
