//! A handle narrowed to one author, one namespace, one role.

use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::{Grain, Status, Verification};
use crate::index::Snapshot;
use crate::policy::{Capability, DelegatedOperation, Role, Rule};

use crate::store::NewGrain;
use crate::store::instance::Caller;
use crate::store::read::grains;
use crate::store::{Error, Justification, Page, Store, Version};

/// A handle on a store for one author, one namespace, one role: what an agent is given. Cheap to
/// make and to clone, and usable from any thread.
///
/// It sees and touches only what lies in its namespace and those inside it, and writes as its
/// author: a draft gets both, a finished grain must have them. What is outside it is as if it were
/// not there. It cannot delete, import, export or open itself further; that is the store's owner's.
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
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Access {
    store: Store,
    capability: Arc<Capability>,
}

impl Store {
    /// Returns a handle that writes as an author (OMS 12.1).
    pub fn as_actor(&self, did: &Did) -> Access {
        self.access(Capability::default().author(did))
    }

    /// Returns a handle on a namespace and those inside it (OMS 28.2).
    pub fn in_namespace(&self, namespace: impl AsRef<str>) -> Access {
        self.access(Capability::default().inside(namespace.as_ref()))
    }

    /// Returns a handle with a capability.
    pub fn access(&self, capability: Capability) -> Access {
        Access {
            store: self.clone(),
            capability: Arc::new(capability),
        }
    }
}

/// Narrowing.
impl Access {
    /// Narrows it to an author; one that has another author already reaches nothing then.
    #[must_use]
    pub fn as_actor(&self, did: &Did) -> Self {
        self.narrowed(|capability| capability.author(did))
    }

    /// Narrows it to a namespace inside its own.
    #[must_use]
    pub fn in_namespace(&self, namespace: impl AsRef<str>) -> Self {
        self.narrowed(|capability| capability.inside(namespace.as_ref()))
    }

    /// Returns it in the role of one who only reads.
    #[must_use]
    pub fn read_only(&self) -> Self {
        self.narrowed(|capability| capability.role(Role::Reader))
    }

    /// Returns what it may see and do.
    pub fn capability(&self) -> &Capability {
        &self.capability
    }

    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    fn narrowed(&self, narrow: impl FnOnce(Capability) -> Capability) -> Self {
        Self {
            store: self.store.clone(),
            capability: Arc::new(narrow((*self.capability).clone())),
        }
    }
}

/// ImportFile.
impl Access {
    /// Returns a grain by its address; none of one that it does not see.
    ///
    /// # Errors
    /// `ERR_REVIEW_REQUIRED` for a grain that a person must review before a program acts on it
    /// (OMS 6.1); else as [`Store::get`].
    pub fn get(&self, address: &ContentAddress) -> Result<Option<Grain>, Error> {
        let found = self.find(address)?;
        self.store
            .record_reads(self.read_recorder("get"), found.iter())?;
        Ok(found.map(|(_, grain)| grain))
    }

    /// Returns what [`Access::get`] does with its row, to be looked at before it is shown.
    pub(crate) fn find(&self, address: &ContentAddress) -> Result<Option<(u64, Grain)>, Error> {
        let Some((row, grain)) = self.store.find(address)? else {
            return Ok(None);
        };
        if !self.sees(&self.store.snapshot(), &grain)? {
            return Ok(None);
        }
        if !self.may_rely_on(&grain)? {
            let rule = Rule::Unreviewed;
            return Err(Error::Refused { rule });
        }
        Ok(Some((row, grain)))
    }

    /// Returns grains by their addresses, in the same order.
    ///
    /// # Errors
    /// As [`Access::get`].
    pub fn get_batch(&self, addresses: &[ContentAddress]) -> Result<Vec<Option<Grain>>, Error> {
        let found = addresses.iter().map(|address| self.find(address));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        self.store
            .record_reads(self.read_recorder("get"), found.iter().flatten())?;
        Ok(grains(found))
    }

    /// Returns whether a grain is here and it sees it.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn exists(&self, address: &ContentAddress) -> Result<bool, Error> {
        match self.store.peek(address)? {
            Some(grain) => self.sees(&self.store.snapshot(), &grain),
            None => Ok(false),
        }
    }

    /// Returns the status of a grain that it sees.
    ///
    /// # Errors
    /// As [`Store::status`].
    pub fn status(&self, address: &ContentAddress) -> Result<Status, Error> {
        if !self.exists(address)? {
            return Err(Error::NotFound { address: *address });
        }
        self.store.status(address)
    }

    /// Returns the addresses of up to `limit` grains that it sees, oldest first, from where
    /// `after` left off.
    ///
    /// # Errors
    /// As [`Store::list`].
    pub fn list(&self, after: Option<u64>, limit: usize) -> Result<Page, Error> {
        let snapshot = self.store.snapshot();
        let mut page = Page {
            addresses: Vec::new(),
            next: None,
        };
        let mut last = None;
        for row in snapshot.grains_from(after.map_or(0, |row| row.saturating_add(1))) {
            let version = self.store.version_at(&snapshot, row)?;
            if !self.sees(&snapshot, &version.grain)? {
                continue;
            }
            if page.addresses.len() == limit {
                page.next = last;
                break;
            }
            page.addresses.push(version.grain.address());
            last = Some(row);
        }
        Ok(page)
    }

    /// Returns the grains of a lineage that it sees.
    ///
    /// # Errors
    /// As [`Store::history`]; `ERR_NOT_FOUND` for a grain that it does not see.
    pub fn history(&self, address: &ContentAddress) -> Result<Vec<Version>, Error> {
        if !self.exists(address)? {
            return Err(Error::NotFound { address: *address });
        }
        let snapshot = self.store.snapshot();
        let mut seen = Vec::new();
        for version in self.store.lineage(address)? {
            if self.sees(&snapshot, &version.grain)? {
                seen.push(version);
            }
        }
        let grains = seen.iter().map(|version| &version.grain);
        self.read_recorder("history").all(grains)?;
        Ok(seen)
    }

    /// Returns whether it sees a grain: by its capability, and of a delegated author also by its
    /// delegations (OMS 6.11: "may read and write").
    pub(crate) fn sees(&self, snapshot: &Snapshot, grain: &Grain) -> Result<bool, Error> {
        if !self.capability.sees(grain) {
            return Ok(false);
        }
        let Some(author) = self.capability.acts_as() else {
            return Ok(true);
        };
        let inner = &*self.store.inner;
        let now = inner.now();
        let operation = DelegatedOperation::touch(grain);
        let judged = inner.authority(snapshot, author.as_str(), &operation, now)?;
        Ok(judged.is_ok())
    }

    /// Returns whether a grain may drive what its reader does (OMS 6.1): a program's reader waits
    /// until a person has cleared it.
    pub(crate) fn may_rely_on(&self, grain: &Grain) -> Result<bool, Error> {
        Ok(self.capability.reviews() || !self.store.grain_awaits_review(grain)?)
    }
}

/// Writing.
impl Access {
    /// Stores a grain as [`Store::put`] does.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a grain of another namespace, author or clearance, or that its
    /// author's delegations do not cover; the refusal is recorded. Else as [`Store::put`].
    pub fn put(&self, grain: impl Into<NewGrain>) -> Result<ContentAddress, Error> {
        let caller = self.caller()?;
        self.store.inner.put_one(grain.into(), caller)
    }

    /// Stores grains together as [`Store::put_batch`] does.
    ///
    /// # Errors
    /// As [`Access::put`], with the place of the grain in the batch.
    pub fn put_batch<G: Into<NewGrain>>(
        &self,
        grains: impl IntoIterator<Item = G>,
    ) -> Result<Vec<ContentAddress>, Error> {
        let grains = grains.into_iter().map(Into::into).collect();
        self.store.inner.put_many(grains, self.caller()?)
    }

    /// Stores a grain that replaces another, as [`Store::supersede`] does.
    ///
    /// # Errors
    /// As [`Access::put`] and [`Store::supersede`]; `ERR_NOT_FOUND` for an old grain that it does
    /// not see.
    pub fn supersede(
        &self,
        old: &ContentAddress,
        new: impl Into<NewGrain>,
        justification: Option<&str>,
    ) -> Result<ContentAddress, Error> {
        let inner = &*self.store.inner;
        inner.supersede(old, new.into(), justification, self.caller()?)
    }

    /// Marks a grain as contradicted, as [`Store::contradict`] does.
    ///
    /// # Errors
    /// As [`Store::contradict`]; `ERR_NOT_FOUND` for a grain that it does not see;
    /// `ERR_ACCESS_DENIED` where it may not write.
    pub fn contradict<'a>(
        &self,
        address: &ContentAddress,
        justification: impl Into<Justification<'a>>,
    ) -> Result<(), Error> {
        let inner = &*self.store.inner;
        inner.contradict(address, justification.into(), self.caller()?)
    }

    /// Records how far a grain has been verified, as [`Store::set_verification`] does.
    ///
    /// # Errors
    /// As [`Access::contradict`].
    pub fn set_verification<'a>(
        &self,
        address: &ContentAddress,
        verification: Verification,
        justification: impl Into<Justification<'a>>,
    ) -> Result<(), Error> {
        let inner = &*self.store.inner;
        inner.set_verification(address, verification, justification.into(), self.caller()?)
    }

    pub(crate) fn caller(&self) -> Result<Caller<'_>, Error> {
        let author = self.capability.acts_as();
        Ok(Caller {
            capability: Some(&self.capability),
            actor: author.map(|did| self.store.inner.actor(did)).transpose()?,
        })
    }
}
