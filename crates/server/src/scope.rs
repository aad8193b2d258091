//! The reach of a server: a handle of the store, which enforces author, namespace, person and role. A
//! server that a token reaches over HTTP has the rights of the token besides.

use std::sync::Arc;

use grainstore::codec::Profile;
use grainstore::crypto::Did;
use grainstore::grain::Status;
use grainstore::ledger::EntryId;
use grainstore::policy::{Capability, Role};
use grainstore::query::Cursor;
use grainstore::{Admin, ContentAddress, Draft, Error, Store, Time};
use grainstore_cal::Host;

use crate::http::{Operation, TokenScope};

/// The part of a store that a server reads and writes, and in whose name.
///
/// ```
/// use grainstore::{Draft, Options, Store};
/// use grainstore_server::Scope;
///
/// let store = Store::in_memory(Options::default())?;
/// let of_mira = Scope::owner(store.clone()).of_user("mira");
/// let address = store.put(Draft::event("likes tea").user("bob"))?;
/// assert!(of_mira.store().get(&address)?.is_none());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scope {
    store: Store,
    /// The owner's handle, where another one stands for a part of it.
    owner: Option<Store>,
    token: Option<TokenScope>,
    /// The host of CAL; `None` where the operator has switched it off.
    cal: Option<Arc<Host>>,
}

impl Scope {
    /// Takes a handle as it is: for [`Store::open`], all that the owner may do.
    pub fn owner(store: Store) -> Self {
        Self {
            store,
            owner: None,
            token: None,
            cal: Some(Arc::default()),
        }
    }

    /// Takes the reach of a token, which has one namespace or none.
    ///
    /// # Errors
    /// `ERR_USAGE` for a token of several namespaces.
    pub(crate) fn of_token(
        token: TokenScope,
        cal: Option<Arc<Host>>,
    ) -> Result<Self, crate::http::Failure> {
        Ok(Self {
            cal,
            store: token.one(None)?,
            owner: Some(token.owner().clone()),
            token: Some(token),
        })
    }

    /// Takes the host of CAL: by default one without changes; with `None` no statement is answered.
    ///
    /// ```
    /// use grainstore::{Options, Store};
    /// use grainstore_cal::Host;
    /// use grainstore_server::Scope;
    ///
    /// let scope = Scope::owner(Store::in_memory(Options::default())?);
    /// let scope = scope.with_cal(Some(Host::with_changes()?));
    /// # drop(scope);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub fn with_cal(self, host: Option<Host>) -> Self {
        Self {
            cal: host.map(Arc::new),
            ..self
        }
    }

    /// Returns the host of CAL.
    ///
    /// # Errors
    /// `ERR_CAL_OFF` where the operator has switched it off.
    pub(crate) fn cal(&self) -> Result<&Arc<Host>, crate::mcp::Failure> {
        self.cal.as_ref().ok_or_else(crate::mcp::Failure::cal_off)
    }

    /// Returns whether the token permits an operation; without a token, the handle decides.
    pub(crate) fn permits(&self, operation: Operation) -> bool {
        let token = self.token.as_ref();
        token.is_none_or(|token| token.holder.grant.operations.contains(&operation))
    }

    /// Returns the operations of the owner, within what the handle reaches.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for an agent.
    pub(crate) fn admin(&self) -> Result<Admin<'_>, Error> {
        match &self.owner {
            Some(owner) => Ok(owner.admin()?.on_behalf_of(&self.store)),
            None => self.store.admin(),
        }
    }

    /// Returns the handle that brings in the file of another tool, whose records name their own authors:
    /// the owner's, where the scope is the whole store.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`.
    pub(crate) fn importer(&self) -> Result<&Store, Error> {
        let is_whole =
            self.token.is_none() && !self.store.capability().is_some_and(Capability::is_confined);
        let store = match &self.owner {
            Some(owner) if is_whole => owner,
            _ => &self.store,
        };
        store.admin().map(|_| store)
    }

    /// Returns who decides about a deletion, as the ledger records it: the token by its name.
    pub(crate) fn authority(&self) -> String {
        match &self.token {
            Some(token) => {
                let (actor, id) = (&token.holder.actor, &token.holder.id);
                format!("{actor} by the token {id}, through an MCP client")
            }
            None => match self.store.capability().and_then(Capability::acts_as) {
                Some(agent) => format!("owner, through {agent}"),
                None => "owner, through an MCP client".to_owned(),
            },
        }
    }

    /// Returns a place as its reader may see it: one of a token does not tell how many entries the
    /// store has.
    pub(crate) fn shown(&self, place: &impl ToString) -> Option<String> {
        match &self.token {
            Some(token) => token.seal(&place.to_string()).ok(),
            None => Some(place.to_string()),
        }
    }

    /// Reads a cursor that was shown.
    ///
    /// # Errors
    /// `ERR_CURSOR`.
    pub(crate) fn cursor(&self, text: &str) -> Result<Cursor, Error> {
        self.place(text).parse()
    }

    /// Reads the place of a feed that was shown.
    ///
    /// # Errors
    /// `ERR_CURSOR`.
    pub(crate) fn entry(&self, text: &str) -> Result<EntryId, Error> {
        let place = self.place(text).parse().map(EntryId::new);
        place.map_err(|_| Error::Cursor {
            text: text.to_owned(),
        })
    }

    /// Returns the text of a place that was shown; the empty text, which is no place, for one that was not.
    fn place(&self, text: &str) -> String {
        match &self.token {
            Some(token) => token.open(text).unwrap_or_default(),
            None => text.to_owned(),
        }
    }

    /// Narrows an owner's store to an author, a namespace, or both, in the role of an agent.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a handle that is narrowed already.
    pub fn agent(
        store: &Store,
        author: Option<&Did>,
        namespace: Option<&str>,
    ) -> Result<Self, Error> {
        let capability = author
            .into_iter()
            .fold(Capability::default(), Capability::author);
        let capability = namespace.into_iter().fold(capability, Capability::inside);
        Ok(Self::owner(store.with_capability(capability)?))
    }

    /// Names the agent behind it: what it writes has this author, in the grains and in the ledger. It
    /// reaches and may do what it did before, but write as another author.
    ///
    /// The one who starts a server names the agent. The name that a client gives itself proves nothing,
    /// and is not taken.
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    /// use grainstore_server::Scope;
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let scope = Scope::owner(store).named(&"did:web:localhost:claude-code".parse()?);
    /// let address = scope.store().put(Draft::event("likes tea"))?;
    /// let grain = scope.store().get(&address)?.expect("it was just put");
    /// assert_eq!(grain.text("author_did"), Some("did:web:localhost:claude-code"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub fn named(self, agent: &Did) -> Self {
        self.narrowed(Capability::default().author(agent), |store| {
            store.as_actor(agent)
        })
    }

    /// Narrows it to one person: what it writes is about them, and it sees nothing else.
    #[must_use]
    pub fn of_user(self, user: impl AsRef<str>) -> Self {
        let user = user.as_ref();
        self.narrowed(Capability::default().of_user(user), |store| {
            store.of_user(user)
        })
    }

    /// Keeps the owner's role in the part of a store; a handle that is narrowed already is narrowed
    /// further.
    fn narrowed(self, part: Capability, further: impl FnOnce(&Store) -> Store) -> Self {
        match self.store.with_capability(part.role(Role::Owner)) {
            Ok(store) => Self {
                store,
                owner: Some(self.store),
                ..self
            },
            Err(_) => Self {
                store: further(&self.store),
                ..self
            },
        }
    }

    /// Returns the handle.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the person it is narrowed to.
    pub fn user(&self) -> Option<&str> {
        self.store.capability().and_then(Capability::user)
    }

    /// Returns the warnings about a grain that is to be stored (ruling P17).
    pub(crate) fn warnings(&self, draft: &Draft) -> Vec<String> {
        let draft = match self.store.capability() {
            Some(capability) => capability.fill(draft.clone()),
            None => draft.clone(),
        };
        // The store gives a draft without a time its own, of which no warning tells.
        let draft = match draft.fields().contains("created_at") {
            true => draft,
            false => draft.created_at(Time::from_ms(1)),
        };
        // A draft that cannot be stored is refused by the store, and needs no warning.
        let grain = draft.finish(Profile::Extended).ok();
        let warnings = grain.and_then(|grain| self.store.warnings(&grain).ok());
        let warnings = warnings.unwrap_or_default();
        warnings.iter().map(ToString::to_string).collect()
    }

    /// Returns what replaced a grain, if that is in the scope too.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn successor(&self, status: &Status) -> Result<Option<ContentAddress>, Error> {
        successor(&self.store, status)
    }
}

/// Returns what replaced a grain, if a handle reaches that too.
///
/// # Errors
/// Storage errors.
pub(crate) fn successor(store: &Store, status: &Status) -> Result<Option<ContentAddress>, Error> {
    match status.superseded_by {
        Some(by) if store.exists(&by)? => Ok(Some(by)),
        _ => Ok(None),
    }
}
