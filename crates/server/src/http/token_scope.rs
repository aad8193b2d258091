//! The part of a store that a token reaches. Every route goes through it: a grain outside is as one
//! that is not stored.
//!
//! The library narrows a handle to an author, to namespaces and a person, confines what the owner does
//! on behalf of that handle, and names the token in the ledger. Here stand the rights that are the
//! token's and not the store's: its operations, the records of its files, and its cursors.

use std::sync::Arc;

use grainstore::codec::{Map, Value};
use grainstore::grain::{Namespace, Status};
use grainstore::policy::{Capability, Role, Rule};
use grainstore::query::Cursor;
use grainstore::store::Admin;
use grainstore::text::Ranking;
use grainstore::{ContentAddress, ErrorCode, Grain, Store};

use super::failure::Failure;
use super::position;
use super::token::{Holder, Operation};

/// A store as the holder of a token sees it.
#[derive(Clone)]
pub(crate) struct TokenScope {
    owner: Store,
    /// All that the token reaches, in the name of its actor.
    handle: Store,
    views: Vec<View>,
    pub(crate) holder: Arc<Holder>,
    position_key: [u8; 32],
}

#[derive(Debug, Clone)]
struct View {
    namespace: Option<Namespace>,
    store: Store,
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
        let all = capability(&holder).author(&holder.actor).role(role);
        let mut views = Vec::new();
        for name in &holder.grant.namespaces {
            views.push(View {
                namespace: Some(Namespace::new(name)),
                store: owner.with_capability(all.clone().inside(name))?,
            });
        }
        let names = holder.grant.namespaces.iter().map(String::as_str);
        let all = match views.is_empty() {
            true => all,
            false => all.inside_any(names),
        };
        let handle = owner.with_capability(all)?;
        if views.is_empty() {
            views.push(View {
                namespace: None,
                store: handle.clone(),
            });
        }
        Ok(Self {
            owner: owner.clone(),
            handle,
            views,
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
        let capability = capability(&self.holder).author(&self.holder.actor);
        Ok(self
            .owner
            .with_capability(capability.bringing_unauthored())?)
    }

    /// Judges whether a record of a file gives away no more than one of the namespaces of the token: the
    /// importer spans them all, and judges the rest.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`.
    pub(crate) fn admit_record(&self, grain: &Grain) -> Result<(), Failure> {
        let mut names = self.holder.grant.namespaces.iter();
        let gives_more = |name: &String| {
            let inside = capability(&self.holder).inside(name);
            inside.authorize_put(grain) == Err(Rule::Namespace)
        };
        match !self.holder.grant.namespaces.is_empty() && names.all(gives_more) {
            true => Err(outside()),
            false => Ok(()),
        }
    }

    /// Returns the handle without limits, for what only an owner may do. The caller must confine it.
    pub(crate) const fn owner(&self) -> &Store {
        &self.owner
    }

    /// Returns the handle for a namespace; a token of several needs its name.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for one outside the scope, `ERR_USAGE` where none is named.
    pub(crate) fn view(&self, namespace: Option<&str>) -> Result<&Store, Failure> {
        let named = namespace.filter(|name| !name.is_empty());
        let mut views = self.views.iter();
        match named {
            None if self.views.len() > 1 => {
                let names = self.holder.grant.namespaces.join(", ");
                Err(Failure::usage(format!(
                    "name one of the namespaces {names}"
                )))
            }
            None => views.next().map(|view| &view.store).ok_or_else(outside),
            Some(name) => {
                let view = views.find(|view| {
                    let own = view.namespace.as_ref();
                    own.is_none_or(|own| own.contains(name))
                });
                view.map(|view| &view.store).ok_or_else(outside)
            }
        }
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
        match status.superseded_by {
            Some(by) if self.sees(&by)? => Ok(Some(by)),
            _ => Ok(None),
        }
    }

    /// Judges whether a program may replace a grain by another: what waits for a person's review waits
    /// on in its next version (OMS 6.1).
    ///
    /// # Errors
    /// `ERR_REVIEW_REQUIRED`; storage errors.
    pub(crate) fn admit_successor(&self, old: &ContentAddress, new: &Map) -> Result<(), Failure> {
        let waits_on = new.get("requires_human_review").and_then(Value::as_bool) == Some(true);
        match !waits_on && self.admin()?.awaits_review(old)? {
            true => Err(Failure::of(
                ErrorCode::ReviewRequired,
                "the grain waits for the review of a person, which no new version ends",
            )),
            false => Ok(()),
        }
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

    /// Returns how a search ranks: for a token that does not reach every grain, by words of what it
    /// reaches alone, since a score tells how many grains have a word.
    pub(crate) fn ranking(&self) -> Ranking {
        Ranking {
            own_statistics: self.holder.grant.is_confined(),
            ..Ranking::default()
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

/// Returns what every handle of a token has: its name, its person and its clearance.
fn capability(holder: &Holder) -> Capability {
    let cleared = holder.grant.cleared.iter().map(String::as_str);
    let capability = cleared.fold(Capability::default(), Capability::cleared_for);
    let capability = capability.by_token(&holder.id);
    match &holder.grant.user {
        Some(user) => capability.of_user(user),
        None => capability,
    }
}

/// The refusal of what lies outside the scope of a token.
pub(crate) fn outside() -> Failure {
    Failure::of(
        ErrorCode::AccessDenied,
        "outside the namespaces or the user of the token",
    )
}
