//! What protects grains from above and along their lineage, remembered between changes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Type};
use crate::policy::{Protection, Scope};

use crate::store::state::Presence;
use crate::store::state::presence::protects;

/// Ancestors of grains and what protects them, remembered so that a change does not read every
/// ancestor again (OMS 23.6, ruling I11).
///
/// Blobs never change, so what is remembered stays true until something is erased; the rest is read.
#[derive(Debug, Default)]
pub(crate) struct LineageCache(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    ancestors: HashMap<ContentAddress, Arc<Ancestor>>,
    /// Under the head of a lineage, what protects what it replaced.
    lineages: HashMap<ContentAddress, Arc<Vec<(ContentAddress, Protection)>>>,
    /// What grains that replace each other by what they say are about, as a hash.
    claims: HashMap<ContentAddress, u64>,
}

/// A grain as far as those derived from it are concerned.
#[derive(Debug)]
pub(crate) struct Ancestor {
    pub(crate) parents: Vec<ContentAddress>,
    /// What it protects below itself; none of most grains.
    pub(crate) protection: Option<Protection>,
}

impl Ancestor {
    pub(crate) fn of(grain: &Grain) -> Self {
        let protection = Protection::of(grain);
        let reaches = protection.scope() == Scope::Subtree && !protection.is_open();
        Self {
            parents: grain.derived_from().collect(),
            protection: reaches.then_some(protection),
        }
    }
}

impl LineageCache {
    /// Remembers a grain that was just stored, if anything can rest on it.
    pub(super) fn learn(&self, grain: &Grain, presence: Presence) {
        if let Some(claim) = claim_of(grain) {
            let mut known = self.0.lock();
            if known.claims.len() >= REMEMBERED_MAX {
                known.claims.clear();
            }
            known.claims.insert(grain.address(), claim);
        }
        let is_below = presence.protections() && grain.field("derived_from").is_some();
        if is_below || protects(grain) {
            self.remember(grain.address(), Arc::new(Ancestor::of(grain)));
        }
    }

    pub(crate) fn remember(&self, address: ContentAddress, ancestor: Arc<Ancestor>) {
        let mut known = self.0.lock();
        if known.ancestors.len() >= REMEMBERED_MAX {
            known.ancestors.clear();
        }
        known.ancestors.insert(address, ancestor);
    }

    pub(crate) fn get(&self, address: &ContentAddress) -> Option<Arc<Ancestor>> {
        self.0.lock().ancestors.get(address).cloned()
    }

    /// Returns whether a grain is remembered to be about something else than another one claims, so
    /// that the other cannot be said to replace it (ruling I4).
    pub(crate) fn is_about_else(&self, address: &ContentAddress, claim: u64) -> bool {
        let known = self.0.lock().claims.get(address).copied();
        known.is_some_and(|known| known != claim)
    }

    /// Returns what protects what a head replaced, if it was asked before.
    pub(crate) fn lineage(
        &self,
        head: &ContentAddress,
    ) -> Option<Arc<Vec<(ContentAddress, Protection)>>> {
        self.0.lock().lineages.get(head).cloned()
    }

    /// Remembers what protects what a head replaced.
    pub(crate) fn remember_lineage(
        &self,
        head: ContentAddress,
        earlier: Arc<Vec<(ContentAddress, Protection)>>,
    ) {
        let mut known = self.0.lock();
        if known.lineages.len() >= REMEMBERED_MAX {
            known.lineages.clear();
        }
        known.lineages.insert(head, earlier);
    }

    /// Forgets lineages: an import may have joined others to them.
    pub(crate) fn forget_lineages(&self) {
        self.0.lock().lineages.clear();
    }

    /// Forgets everything: something was erased.
    pub(crate) fn forget(&self) {
        *self.0.lock() = Remembered::default();
    }
}

/// Returns a hash of what a grain is about, the same for all that could replace each other by
/// saying something else about it; none of types that never do.
pub(crate) fn claim_of(grain: &Grain) -> Option<u64> {
    let about = match grain.type_() {
        Type::Belief => [grain.text("subject"), grain.text("relation")],
        Type::Goal => [grain.text("description"), None],
        _ => return None,
    };
    let mut hasher = DefaultHasher::new();
    (grain.type_().byte(), grain.text("namespace"), about).hash(&mut hasher);
    Some(hasher.finish())
}

/// A few megabytes; a chain that is longer is read.
const REMEMBERED_MAX: usize = 1 << 16;
