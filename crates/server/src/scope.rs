//! The reach of a server: a handle of the store, and at most one person.
//!
//! The handle enforces author, namespace and role; the person is enforced here.

use grainstore::crypto::Did;
use grainstore::policy::Capability;
use grainstore::{ContentAddress, Draft, Error, Filter, Grain, Store};

/// The part of a store that a server reads and writes, and in whose name.
///
/// ```
/// use grainstore::{Draft, Options, Store};
/// use grainstore_server::Scope;
///
/// let store = Store::in_memory(Options::default())?;
/// let of_mira = Scope::owner(store.clone()).of_user("mira");
/// let address = store.put(Draft::event("likes tea").user("bob"))?;
/// assert!(of_mira.get(&address)?.is_none());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scope {
    store: Store,
    user: Option<String>,
}

impl Scope {
    /// Takes a handle as it is: for [`Store::open`], all that the owner may do.
    pub const fn owner(store: Store) -> Self {
        Self { store, user: None }
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

    /// Narrows it to one person: what it writes is about them, and it sees nothing else.
    #[must_use]
    pub fn of_user(self, user: impl Into<String>) -> Self {
        Self {
            user: Some(user.into()),
            ..self
        }
    }

    /// Returns the handle.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the person it is narrowed to.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Adds the person to a filter.
    #[must_use]
    pub fn filter(&self, filter: Filter) -> Filter {
        self.user.iter().fold(filter, Filter::user)
    }

    /// Returns whether a grain is about the person, or about any if there is none.
    pub fn includes(&self, grain: &Grain) -> bool {
        let user = self.user.as_deref();
        user.is_none_or(|user| grain.text("user_id") == Some(user))
    }

    /// Returns a grain; `None` also for one outside the scope.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn get(&self, address: &ContentAddress) -> Result<Option<Grain>, Error> {
        let found = self.store.get(address)?;
        Ok(found.filter(|grain| self.includes(grain)))
    }

    /// Gives a draft the person, unless it names one.
    #[must_use]
    pub fn fill(&self, draft: Draft) -> Draft {
        match &self.user {
            Some(user) if !draft.fields().contains("user_id") => draft.user(user),
            _ => draft,
        }
    }
}
