//! A cache of the protections that reach grains from ancestors and along their lineage.

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Type};
use crate::policy::{Protection, Scope};
use crate::process::Mutex;

use crate::store::state::Presence;
use crate::store::state::presence::protects;

/// Ancestors of grains and their protections, remembered so that a change does not read every
/// ancestor again (OMS 23.6, ruling I11).
///
/// Blobs never change, so the remembered facts stay true until an erasure.
#[derive(Debug, Default)]
pub(crate) struct LineageCache(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    ancestors: HashMap<ContentAddress, Arc<Ancestor>>,
    /// The protections of the grains that a head replaced, by the head.
    lineages: HashMap<ContentAddress, Arc<Vec<(ContentAddress, Protection)>>>,
    /// The claim of a grain as a hash (type, namespace, and subject with relation, or description):
    /// only grains with the same claim can replace each other implicitly. By the hash of the
    /// address under a random key, so that no two with one hash can be made.
    claims: HashMap<u64, u64>,
    key: RandomState,
}

/// The facts about a grain that concern the grains derived from it.
#[derive(Debug)]
pub(crate) struct Ancestor {
    pub(crate) parents: Vec<ContentAddress>,
    /// The protection of the grains below it; `None` for most grains.
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
    /// Remembers a grain that was just stored, if other grains can depend on it.
    pub(super) fn learn(&self, grain: &Grain, presence: Presence) {
        if let Some(claim) = claim_of(grain) {
            let mut known = self.0.lock();
            if known.claims.len() >= REMEMBERED_MAX {
                known.claims.clear();
            }
            let name = known.key.hash_one(grain.address());
            known.claims.insert(name, claim);
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

    /// Returns whether the remembered claim of a grain differs from another's, so that the other
    /// does not replace it implicitly (ruling I4).
    pub(crate) fn is_about_else(&self, address: &ContentAddress, claim: u64) -> bool {
        let known = self.0.lock();
        let known = known.claims.get(&known.key.hash_one(address)).copied();
        known.is_some_and(|known| known != claim)
    }

    /// Returns the remembered protections of the grains that a head replaced.
    pub(crate) fn lineage(
        &self,
        head: &ContentAddress,
    ) -> Option<Arc<Vec<(ContentAddress, Protection)>>> {
        self.0.lock().lineages.get(head).cloned()
    }

    /// Remembers the protections of the grains that a head replaced.
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

    /// Forgets everything, after an erasure.
    pub(crate) fn forget(&self) {
        *self.0.lock() = Remembered::default();
    }
}

/// Returns a hash of the claim of a grain, equal for all grains that could replace each other
/// implicitly; `None` for types that never do.
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

/// A bound of a few megabytes; facts beyond it are read again.
const REMEMBERED_MAX: usize = 1 << 16;
