//! The handle on an open store: the owner's, or one narrowed to an author, a namespace, a role.

use std::sync::Arc;
use std::time::Duration;

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::policy::{Capability, Role, Rule};
use crate::store::Error;
#[cfg(feature = "text")]
use crate::store::engine::text_view;
use crate::store::engine::{Background, Caller, EmbedWorker, Engine, RecoveryReport};
use crate::store::txn::{Transaction, actor};

/// A store of grains. Cheap to clone, and usable from any thread.
///
/// ```
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
/// let grain = store.get(&address)?.expect("it was just put");
/// assert_eq!(grain.text("object"), Some("dark mode"));
/// # Ok::<(), grainstore::store::Error>(())
/// ```
///
/// The handle that [`Store::open`] returns is the owner's. An agent gets a narrowed one: it reads
/// and changes only grains in its namespace and those inside it, and writes as its author. A draft
/// gets both, a finished grain must have them. Other grains appear as not stored. Owner-only
/// operations are behind [`Store::admin`] and [`Store::maintenance`].
///
/// ```
/// use grainstore::{Draft, Filter, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let bot = store.as_actor(&"did:web:bot.acme.example".parse()?).in_namespace("acme:chatbot");
/// let address = bot.put(Draft::event("the customer likes tea"))?;
/// let grain = store.get(&address)?.expect("it was just put");
/// assert_eq!(grain.text("namespace"), Some("acme:chatbot"));
/// assert_eq!(grain.text("author_did"), Some("did:web:bot.acme.example"));
///
/// store.put(Draft::event("a secret of another team").namespace("acme:payroll"))?;
/// assert_eq!(bot.query(&Filter::new(), 10, None)?.total, 1);
/// let refused = bot.put(Draft::event("a note").namespace("acme:payroll")).unwrap_err();
/// assert_eq!(refused.code(), "ERR_ACCESS_DENIED");
/// assert_eq!(bot.admin().unwrap_err().code(), "ERR_ACCESS_DENIED");
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    /// Before `engine`: its thread must not be the last to hold that.
    embed_worker: Option<Arc<EmbedWorker>>,
    pub(in crate::store) engine: Arc<Engine>,
    /// `None` for the owner.
    capability: Option<Arc<Capability>>,
}

/// Owner-only operations on policy, trust, consent, holds, deletion, import and export: see
/// [`Store::admin`].
#[derive(Clone, Copy, Debug)]
pub struct Admin<'a> {
    store: &'a Store,
    /// The handle on whose behalf it acts; `None` for the owner.
    within: Option<&'a Store>,
}

/// Owner-only operations on the files of the store: see [`Store::maintenance`].
#[derive(Clone, Copy, Debug)]
pub struct Maintenance<'a>(&'a Store);

impl Store {
    /// Makes the owner's handle, and starts the threads behind the store.
    pub(in crate::store) fn owner(engine: Engine, background: Background) -> Self {
        let engine = Arc::new(engine);
        Self {
            embed_worker: background.start(&engine),
            engine,
            capability: None,
        }
    }

    /// Returns a handle narrowed to an author (OMS 12.1). If this handle has another author, the
    /// new one reaches nothing.
    #[must_use]
    pub fn as_actor(&self, did: &Did) -> Self {
        self.narrowed(self.own_capability().author(did))
    }

    /// Returns a handle narrowed to a namespace and those inside it (OMS 28.2).
    #[must_use]
    pub fn in_namespace(&self, namespace: impl AsRef<str>) -> Self {
        self.narrowed(self.own_capability().inside(namespace.as_ref()))
    }

    /// Returns a handle narrowed to the grains of one person, by `user_id` (OMS 12.3). A draft gets
    /// the person; grains of others and of none appear as not stored.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::event("likes tea").user("noah"))?;
    /// let mira = store.of_user("mira");
    /// mira.put(Draft::event("likes coffee"))?;
    /// assert_eq!(mira.query(&Filter::new(), 10, None)?.total, 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub fn of_user(&self, user_id: impl AsRef<str>) -> Self {
        self.narrowed(self.own_capability().of_user(user_id.as_ref()))
    }

    /// Returns a handle in the role of a reader.
    #[must_use]
    pub fn read_only(&self) -> Self {
        self.narrowed(self.own_capability().role(Role::Reader))
    }

    /// Returns a handle narrowed to a capability.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a handle that is narrowed already, since it could widen itself.
    pub fn with_capability(&self, capability: Capability) -> Result<Self, Error> {
        self.authorize_owner()?;
        Ok(self.narrowed(capability))
    }

    /// Returns the capability that the handle is narrowed to; `None` for the owner's.
    pub fn capability(&self) -> Option<&Capability> {
        self.capability.as_deref()
    }

    /// Returns the owner-only operations on policy, trust, consent, holds, deletion, import and
    /// export.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a narrowed handle.
    pub fn admin(&self) -> Result<Admin<'_>, Error> {
        self.authorize_owner()?;
        Ok(Admin {
            store: self,
            within: None,
        })
    }

    /// Returns the owner-only operations on the files of the store.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a narrowed handle.
    pub fn maintenance(&self) -> Result<Maintenance<'_>, Error> {
        self.authorize_owner()?;
        Ok(Maintenance(self))
    }

    fn authorize_owner(&self) -> Result<(), Error> {
        let rule = Rule::Owner;
        match self.capability {
            None => Ok(()),
            Some(_) => Err(Error::Refused { rule }),
        }
    }

    pub(in crate::store) fn own_capability(&self) -> Capability {
        self.capability().cloned().unwrap_or_default()
    }

    fn narrowed(&self, capability: Capability) -> Self {
        Self {
            embed_worker: self.embed_worker.clone(),
            engine: Arc::clone(&self.engine),
            capability: Some(Arc::new(capability)),
        }
    }

    /// Returns the findings when the store was opened.
    pub fn recovery_report(&self) -> &RecoveryReport {
        self.engine.recovery()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.engine.snapshot()
    }

    /// Waits for another process, by the store's clock.
    pub(crate) fn pause(&self, duration: Duration) {
        self.engine.options().clock.pause(duration);
    }

    /// Returns the text view, and builds it anew if it was set aside.
    ///
    /// # Errors
    /// `ERR_TEXT` of a store opened without it, and while it cannot be built; storage errors.
    #[cfg(feature = "text")]
    pub(crate) fn text_view(&self) -> Result<Arc<crate::text::Text>, Error> {
        text_view(&self.engine)
    }

    /// Returns whether the time of a search that begins now is over, whenever it is asked.
    #[cfg(feature = "text")]
    pub(crate) fn search_deadline(&self) -> impl Fn() -> bool + Sync + '_ {
        let options = self.engine.options();
        let end = options.clock.monotonic();
        let end = end.saturating_add(options.search_deadline);
        move || options.clock.monotonic() >= end
    }

    /// Returns the caller of a change.
    ///
    /// # Errors
    /// Storage errors.
    pub(in crate::store) fn caller(&self) -> Result<Caller<'_>, Error> {
        Ok(Caller {
            capability: self.capability.as_ref(),
            actor: actor(&self.engine, self.capability())?,
        })
    }

    /// Returns whether the handle sees a grain.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn sees(&self, snapshot: &Snapshot, grain: &Grain) -> Result<bool, Error> {
        match self.capability() {
            Some(capability) => self.engine.as_of(snapshot).sees(capability, grain),
            None => Ok(true),
        }
    }

    /// Returns whether its reader may act on a grain (OMS 6.1): a program waits until a person has
    /// cleared it.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn may_rely_on(&self, grain: &Grain) -> Result<bool, Error> {
        let is_person = self.capability().is_none_or(Capability::reviews);
        Ok(is_person || !self.grain_awaits_review(grain)?)
    }
}

impl<'a> Admin<'a> {
    /// Acts on behalf of a narrowed handle, and within it: the ledger names its actor in each entry,
    /// and a grain that the handle does not see is as one that is not stored. For a handle of a person
    /// or of namespaces, what concerns the whole store is refused with `ERR_ACCESS_DENIED`, and so are
    /// the report and the erasure of another person.
    ///
    /// ```
    /// use grainstore::store::{AuditFilter, Authorization};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("hello"))?;
    /// let clerk = store.as_actor(&"did:web:clerk.example".parse()?);
    /// let asked = Authorization { reason: "request 9", authority: "the clerk" };
    /// store.admin()?.on_behalf_of(&clerk).delete(&address, asked)?;
    /// let by = AuditFilter { by: Some("did:web:clerk.example".into()), ..AuditFilter::default() };
    /// let log = store.maintenance()?.audit().log(&by, None, 9)?;
    /// assert_eq!(log[0].operation, "erase");
    ///
    /// let bobs = store.put(Draft::event("hello").user("bob"))?;
    /// let mira = store.of_user("mira");
    /// let refused = store.admin()?.on_behalf_of(&mira).delete(&bobs, asked).unwrap_err();
    /// assert_eq!(refused.code(), "ERR_NOT_FOUND");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub const fn on_behalf_of(self, handle: &'a Store) -> Self {
        Self {
            within: Some(handle),
            ..self
        }
    }

    /// Returns the handle that an answer is confined to.
    pub(crate) const fn within(self) -> Option<&'a Store> {
        self.within
    }

    /// Returns whether it reaches the whole store, but for grains that a clearance or a delegation
    /// keeps from its handle.
    pub(crate) fn is_whole(self) -> bool {
        let capability = self.within.and_then(Store::capability);
        !capability.is_some_and(Capability::is_confined)
    }

    /// Refuses what concerns the whole store to a handle of a part.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED`.
    pub(crate) fn authorize_whole(self) -> Result<(), Error> {
        let rule = Rule::Owner;
        match self.is_whole() {
            true => Ok(()),
            false => Err(Error::Refused { rule }),
        }
    }

    /// Returns whether it reaches a grain.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn reaches(self, address: &ContentAddress) -> Result<bool, Error> {
        self.within
            .map_or(Ok(true), |handle| handle.exists(address))
    }

    /// Returns those of some things whose grains it reaches.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn reached<T>(
        self,
        all: impl IntoIterator<Item = T>,
        address: impl Fn(&T) -> ContentAddress,
    ) -> Result<Vec<T>, Error> {
        let mut reached = Vec::new();
        for one in all {
            if self.reaches(&address(&one))? {
                reached.push(one);
            }
        }
        Ok(reached)
    }

    /// Refuses a grain out of reach, as one that is not stored.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub(crate) fn authorize_reach(self, address: &ContentAddress) -> Result<(), Error> {
        match self.reaches(address)? {
            true => Ok(()),
            false => Err(Error::NotFound { address: *address }),
        }
    }

    pub(crate) const fn store(self) -> &'a Store {
        self.store
    }

    /// Returns the owner as the caller of a change, with the actor that its entries name. Asked before
    /// the right to write is taken: the first change of an actor writes their name.
    ///
    /// # Errors
    /// Storage errors.
    pub(in crate::store) fn caller(self) -> Result<Caller<'static>, Error> {
        let capability = self.within.and_then(Store::capability);
        Ok(Caller::owner(actor(&self.store.engine, capability)?))
    }

    /// Begins a change of the owner that concerns the whole store. Its entries name the actor of the handle
    /// that [`Admin::on_behalf_of`] was given.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a handle of a part; as [`Transaction::begin`].
    pub(in crate::store) fn begin(&self) -> Result<Transaction<'_>, Error> {
        self.authorize_whole()?;
        Transaction::begin(self.engine(), self.caller()?)
    }

    /// Begins a change of the owner about one grain.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND` for a grain out of reach; as [`Transaction::begin`].
    pub(in crate::store) fn begin_about(
        &self,
        address: &ContentAddress,
    ) -> Result<Transaction<'_>, Error> {
        self.authorize_reach(address)?;
        Transaction::begin(self.engine(), self.caller()?)
    }

    pub(in crate::store) fn engine(self) -> &'a Engine {
        &self.store.engine
    }
}

impl<'a> Maintenance<'a> {
    pub(crate) const fn store(self) -> &'a Store {
        self.0
    }

    pub(in crate::store) fn engine(self) -> &'a Engine {
        &self.0.engine
    }
}
