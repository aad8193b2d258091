//! The handle on an open store: the owner's, or one narrowed to an author, a namespace, a role.

use std::sync::Arc;
use std::time::Duration;

use crate::crypto::Did;
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::policy::{Capability, DelegatedOperation, Role, Rule};
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
    /// The entry that names on whose behalf it acts; `None` for the owner.
    actor: Option<EntryId>,
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
            actor: None,
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

    /// Returns whether the handle sees a grain: by its capability, and for a delegated author also
    /// by its delegations (OMS 6.11: "may read and write").
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn sees(&self, snapshot: &Snapshot, grain: &Grain) -> Result<bool, Error> {
        let Some(capability) = self.capability() else {
            return Ok(true);
        };
        if !capability.sees(grain) {
            return Ok(false);
        }
        let Some(author) = capability.acts_as() else {
            return Ok(true);
        };
        let operation = DelegatedOperation::touch(grain);
        let now = self.engine.now();
        let judged = self
            .engine
            .as_of(snapshot)
            .authority(author.as_str(), &operation, now)?;
        Ok(judged.is_ok())
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
    /// Acts on behalf of a narrowed handle: the ledger names its actor in each entry. It may do
    /// as much as the owner.
    ///
    /// ```
    /// use grainstore::store::{AuditFilter, Authorization};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("hello"))?;
    /// let clerk = store.as_actor(&"did:web:clerk.example".parse()?);
    /// let asked = Authorization { reason: "request 9", authority: "the clerk" };
    /// store.admin()?.on_behalf_of(&clerk)?.delete(&address, asked)?;
    /// let by = AuditFilter { by: Some("did:web:clerk.example".into()), ..AuditFilter::default() };
    /// let log = store.maintenance()?.audit().log(&by, None, 9)?;
    /// assert_eq!(log[0].operation, "erase");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Storage errors.
    pub fn on_behalf_of(self, handle: &Store) -> Result<Self, Error> {
        let actor = actor(&self.store.engine, handle.capability())?;
        Ok(Self { actor, ..self })
    }

    pub(crate) const fn store(self) -> &'a Store {
        self.store
    }

    /// Begins a change of the owner. The entry names the actor that [`Admin::on_behalf_of`] was given.
    ///
    /// # Errors
    /// As [`Transaction::begin`].
    pub(in crate::store) fn begin(&self) -> Result<Transaction<'_>, Error> {
        Transaction::begin(self.engine(), self.caller())
    }

    /// Returns the entry that names on whose behalf it acts.
    pub(crate) const fn actor(self) -> Option<EntryId> {
        self.actor
    }

    /// Returns the owner as the caller of an operation, with the actor that its entries name.
    pub(in crate::store) const fn caller(self) -> Caller<'static> {
        Caller::owner(self.actor)
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
