//! A store of grains: opening it, and narrowing a handle on it.

use std::path::Path;
use std::sync::Arc;

use super::{Admin, Maintenance};
use crate::crypto::Did;
use crate::ledger::Disk;
use crate::policy::{Capability, Role};
use crate::store::{Access, Error, Options, opening};

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
pub struct Store(pub(crate) Access);

/// A handle goes from thread to thread, and so does every error.
const _: () = {
    const fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Store>();
    is_shared::<Error>();
    is_shared::<Options>();
};

impl Store {
    /// Opens the store in a directory, as [`Options::create`] says: by default it is created if there
    /// is none. Other processes may have it open, too: each answer holds what any of them has
    /// acknowledged when the question is asked, and each change is decided on that.
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE`, `ERR_STORE_EXISTS`, `ERR_STORE_VERSION`, `ERR_STORE_LOCKED` if another
    /// process writes for longer than [`Options::lock_wait`], `ERR_STORAGE_DAMAGED`,
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`; `ERR_UNSUPPORTED` on a network file system whose locks
    /// cannot be trusted.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        opening::open(path, options).map(Self)
    }

    /// Opens the store on a disk of the caller's, as [`Options::create`] says.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use grainstore::ledger::MemoryDisk;
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let disk = MemoryDisk::default();
    /// let open = || Store::open_on(Arc::new(disk.clone()), Options::default());
    /// let address = open()?.put(Draft::event("hello"))?;
    /// assert!(open()?.exists(&address)?);
    /// # Ok::<(), grainstore::store::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::open`].
    #[doc(hidden)]
    pub fn open_on(disk: Arc<dyn Disk>, options: Options) -> Result<Self, Error> {
        opening::open_on(disk, options).map(Self)
    }

    /// Creates a store in memory, or in the files of [`Options::scratch`], which is gone when its
    /// last handle is.
    ///
    /// # Errors
    /// `ERR_NO_RANDOMNESS`; `ERR_STORAGE_IO`.
    pub fn in_memory(options: Options) -> Result<Self, Error> {
        opening::in_memory(options).map(Self)
    }

    /// Returns a handle narrowed to an author (OMS 12.1). If this handle has another author, the
    /// new one reaches nothing.
    #[must_use]
    pub fn as_actor(&self, did: &Did) -> Self {
        self.narrowed(self.0.own_capability().author(did))
    }

    /// Returns a handle narrowed to a namespace and those inside it (OMS 28.2).
    #[must_use]
    pub fn in_namespace(&self, namespace: impl AsRef<str>) -> Self {
        self.narrowed(self.0.own_capability().inside(namespace.as_ref()))
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
        self.narrowed(self.0.own_capability().of_user(user_id.as_ref()))
    }

    /// Returns a handle in the role of a reader.
    #[must_use]
    pub fn read_only(&self) -> Self {
        self.narrowed(self.0.own_capability().role(Role::Reader))
    }

    /// Returns a handle narrowed to a capability.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a handle that is narrowed already, since it could widen itself.
    pub fn with_capability(&self, capability: Capability) -> Result<Self, Error> {
        self.0.owner()?;
        Ok(self.narrowed(capability))
    }

    /// Returns the capability that the handle is narrowed to; `None` for the owner's.
    pub fn capability(&self) -> Option<&Capability> {
        self.0.capability()
    }

    /// Returns the owner-only operations on policy, trust, consent, holds, deletion, import and
    /// export.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a narrowed handle.
    pub fn admin(&self) -> Result<Admin<'_>, Error> {
        Ok(Admin(self.0.owner()?))
    }

    /// Returns the owner-only operations on the files of the store.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a narrowed handle.
    pub fn maintenance(&self) -> Result<Maintenance<'_>, Error> {
        self.0.owner().map(|owner| Maintenance(owner.store()))
    }

    fn narrowed(&self, capability: Capability) -> Self {
        Self(self.0.narrowed(capability))
    }
}
