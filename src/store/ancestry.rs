use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::policy::{Protection, Scope};

/// What grains are derived from and what protects that, remembered so that a change does not read
/// every ancestor again (OMS 23.6, ruling I11). Blobs never change, so what is remembered stays
/// true until something is erased; what is not remembered is read.
#[derive(Debug, Default)]
pub(super) struct Ancestry(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    ancestors: HashMap<ContentAddress, Arc<Ancestor>>,
    /// Under the head of a lineage, what protects what it replaced.
    lineages: HashMap<ContentAddress, Arc<Vec<(ContentAddress, Protection)>>>,
}

/// A grain as far as those derived from it are concerned.
#[derive(Debug)]
pub(super) struct Ancestor {
    pub(super) parents: Vec<ContentAddress>,
    /// What it protects below itself; none of most grains.
    pub(super) protection: Option<Protection>,
}

impl Ancestor {
    pub(super) fn of(grain: &Grain) -> Self {
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
    pub(super) fn learn(&self, grain: &Grain) {
        if grain.field("derived_from").is_some() || grain.field("invalidation_policy").is_some() {
            self.remember(grain.address(), Arc::new(Ancestor::of(grain)));
        }
    }

    pub(super) fn remember(&self, address: ContentAddress, ancestor: Arc<Ancestor>) {
        let mut known = self.0.lock();
        if known.ancestors.len() >= REMEMBERED_MAX {
            known.ancestors.clear();
        }
        known.ancestors.insert(address, ancestor);
    }

    pub(super) fn get(&self, address: &ContentAddress) -> Option<Arc<Ancestor>> {
        self.0.lock().ancestors.get(address).cloned()
    }

    /// Returns what protects what a head replaced, if it was asked before.
    pub(super) fn lineage(
        &self,
        head: &ContentAddress,
    ) -> Option<Arc<Vec<(ContentAddress, Protection)>>> {
        self.0.lock().lineages.get(head).cloned()
    }

    /// Remembers what protects what a head replaced.
    pub(super) fn remember_lineage(
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
    pub(super) fn forget_lineages(&self) {
        self.0.lock().lineages.clear();
    }

    /// Forgets everything: something was erased.
    pub(super) fn forget(&self) {
        *self.0.lock() = Remembered::default();
    }
}

/// A few megabytes; a chain that is longer is read.
const REMEMBERED_MAX: usize = 1 << 16;
