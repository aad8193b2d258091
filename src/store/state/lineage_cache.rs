use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Type};
use crate::index::Snapshot;
use crate::policy::{Protection, Scope};

use crate::store::Error;

/// What grains are derived from and what protects that, remembered so that a change does not read
/// every ancestor again (OMS 23.6, ruling I11). Blobs never change, so what is remembered stays
/// true until something is erased; what is not remembered is read.
#[derive(Debug, Default)]
pub(crate) struct Ancestry {
    known: Mutex<Remembered>,
    /// Whether a grain was ever stored that protects anything: as long as none was, nothing reaches
    /// any other grain, and neither lineages nor ancestors are walked.
    is_any_protected: AtomicBool,
}

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

impl Ancestry {
    /// Remembers a grain that was just stored, if it has anything to say.
    pub(crate) fn learn(&self, grain: &Grain) {
        if let Some(claim) = claim_of(grain) {
            let mut known = self.known.lock();
            if known.claims.len() >= REMEMBERED_MAX {
                known.claims.clear();
            }
            known.claims.insert(grain.address(), claim);
        }
        let protects = grain.field("invalidation_policy").is_some();
        // OMS 8.10: a consent is soft-locked though it does not say so.
        if protects || grain.type_() == Type::Consent {
            self.is_any_protected.store(true, Ordering::Release);
        }
        if protects || (self.is_any_protected() && grain.field("derived_from").is_some()) {
            self.remember(grain.address(), Arc::new(Ancestor::of(grain)));
        }
    }

    /// Learns from the index whether anything is protected.
    pub(crate) fn recover(&self, snapshot: &Snapshot) -> Result<(), Error> {
        let protects = [snapshot.protected(), snapshot.of_type(Type::Consent)];
        for scan in protects {
            if !scan.rows()?.is_empty() {
                self.is_any_protected.store(true, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Returns whether anything may be protected by another grain than itself.
    pub(crate) fn is_any_protected(&self) -> bool {
        self.is_any_protected.load(Ordering::Acquire)
    }

    pub(crate) fn remember(&self, address: ContentAddress, ancestor: Arc<Ancestor>) {
        let mut known = self.known.lock();
        if known.ancestors.len() >= REMEMBERED_MAX {
            known.ancestors.clear();
        }
        known.ancestors.insert(address, ancestor);
    }

    pub(crate) fn get(&self, address: &ContentAddress) -> Option<Arc<Ancestor>> {
        self.known.lock().ancestors.get(address).cloned()
    }

    /// Returns whether a grain is remembered to be about something else than another one claims, so
    /// that the other cannot be said to replace it (ruling I4).
    pub(crate) fn is_about_else(&self, address: &ContentAddress, claim: u64) -> bool {
        let known = self.known.lock().claims.get(address).copied();
        known.is_some_and(|known| known != claim)
    }

    /// Returns what protects what a head replaced, if it was asked before.
    pub(crate) fn lineage(
        &self,
        head: &ContentAddress,
    ) -> Option<Arc<Vec<(ContentAddress, Protection)>>> {
        self.known.lock().lineages.get(head).cloned()
    }

    /// Remembers what protects what a head replaced.
    pub(crate) fn remember_lineage(
        &self,
        head: ContentAddress,
        earlier: Arc<Vec<(ContentAddress, Protection)>>,
    ) {
        let mut known = self.known.lock();
        if known.lineages.len() >= REMEMBERED_MAX {
            known.lineages.clear();
        }
        known.lineages.insert(head, earlier);
    }

    /// Forgets lineages: an import may have joined others to them.
    pub(crate) fn forget_lineages(&self) {
        self.known.lock().lineages.clear();
    }

    /// Forgets everything: something was erased.
    pub(crate) fn forget(&self) {
        *self.known.lock() = Remembered::default();
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
