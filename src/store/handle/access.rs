//! Access to an open store: the owner's, or one narrowed to an author, a namespace, a person, a role.

use std::sync::Arc;
use std::time::Duration;

use crate::grain::Grain;
use crate::index::Snapshot;
use crate::policy::{Capability, Rule};
use crate::store::Error;
#[cfg(feature = "text")]
use crate::store::engine::text_view;
use crate::store::engine::{Background, Caller, EmbedWorker, Engine};
use crate::store::txn::{Transaction, actor};

/// An open store, and the capability by which a caller reaches it. Every room answers with functions
/// of it; the public ones are gathered in `face`.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Before `engine`: its thread must not be the last to hold that.
    embed_worker: Option<Arc<EmbedWorker>>,
    pub(in crate::store) engine: Arc<Engine>,
    /// `None` for the owner.
    capability: Option<Arc<Capability>>,
}

/// The owner's access to what no narrowed one reaches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    store: &'a Access,
    /// The access on whose behalf it acts; `None` for the owner.
    within: Option<&'a Access>,
}

impl Access {
    /// Makes the owner's access, and starts the threads behind the store.
    pub(in crate::store) fn start(engine: Engine, background: Background) -> Self {
        let engine = Arc::new(engine);
        Self {
            embed_worker: background.start(&engine),
            engine,
            capability: None,
        }
    }

    /// Returns the same store, reached by a capability.
    pub(crate) fn narrowed(&self, capability: Capability) -> Self {
        Self {
            embed_worker: self.embed_worker.clone(),
            engine: Arc::clone(&self.engine),
            capability: Some(Arc::new(capability)),
        }
    }

    /// Returns the capability that it is narrowed to; `None` for the owner's.
    pub(crate) fn capability(&self) -> Option<&Capability> {
        self.capability.as_deref()
    }

    pub(crate) fn own_capability(&self) -> Capability {
        self.capability().cloned().unwrap_or_default()
    }

    /// Returns the access to operations that are the owner's.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` if it is narrowed.
    pub(crate) fn owner(&self) -> Result<Owner<'_>, Error> {
        let rule = Rule::Owner;
        match self.capability {
            None => Ok(Owner {
                store: self,
                within: None,
            }),
            Some(_) => Err(Error::Refused { rule }),
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
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

    /// Returns whether the time of a search is over, which begins when that is first asked: a long queue
    /// that is committed before is not a part of it.
    #[cfg(feature = "text")]
    pub(crate) fn search_deadline(&self) -> impl Fn() -> bool + Sync + '_ {
        let options = self.engine.options();
        let begun = std::sync::OnceLock::new();
        move || {
            let now = options.clock.monotonic();
            now >= begun
                .get_or_init(|| now)
                .saturating_add(options.search_deadline)
        }
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

    /// Returns whether a delegation may keep a grain from it that its capability sees.
    #[cfg(feature = "text")]
    pub(crate) fn asks_delegations(&self) -> bool {
        let acts = self.capability().and_then(Capability::acts_as).is_some();
        acts && self.engine.known_state().presence().delegations()
    }

    /// Returns whether it sees a grain.
    ///
    /// # Errors
    /// Storage errors.
    pub(crate) fn sees(&self, snapshot: &Snapshot, grain: &Grain) -> Result<bool, Error> {
        match self.capability() {
            Some(capability) => self.engine.as_of(snapshot).sees(capability, grain),
            None => Ok(true),
        }
    }
}

impl<'a> Owner<'a> {
    /// Acts on behalf of a narrowed access, and within it.
    pub(crate) const fn on_behalf_of(self, narrowed: &'a Access) -> Self {
        Self {
            within: Some(narrowed),
            ..self
        }
    }

    /// Returns the access that an answer is confined to.
    pub(crate) const fn within(self) -> Option<&'a Access> {
        self.within
    }

    /// Returns whether it reaches the whole store, but for grains that a clearance or a delegation
    /// keeps from the one on whose behalf it acts.
    pub(crate) fn is_whole(self) -> bool {
        let capability = self.within.and_then(Access::capability);
        !capability.is_some_and(Capability::is_confined)
    }

    /// Refuses what concerns the whole store to the access to a part.
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

    pub(crate) const fn store(self) -> &'a Access {
        self.store
    }

    pub(in crate::store) fn engine(self) -> &'a Engine {
        &self.store.engine
    }

    /// Returns the owner as the caller of a change, with the actor that its entries name. Asked before
    /// the right to write is taken: the first change of an actor writes their name.
    ///
    /// # Errors
    /// Storage errors.
    pub(in crate::store) fn caller(self) -> Result<Caller<'static>, Error> {
        let capability = self.within.and_then(Access::capability);
        Ok(Caller::owner(actor(&self.store.engine, capability)?))
    }

    /// Begins a change of the owner that concerns the whole store. Its entries name the actor of the
    /// access on whose behalf it acts.
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for the access to a part; as [`Transaction::begin`].
    pub(in crate::store) fn begin(&self) -> Result<Transaction<'_>, Error> {
        self.authorize_whole()?;
        Transaction::begin(self.engine(), self.caller()?)
    }
}
