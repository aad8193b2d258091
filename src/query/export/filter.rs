//! `ExportFilter`: grains that must not leave the store, and references that would reveal them.
//!
//! The rules are in `policy`; this file applies them to an export and counts what is withheld.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, Lifecycle, Status};
use crate::index::Snapshot;
use crate::interchange::{Loss, is_exportable};
use crate::policy::{Purpose, may_leave};
use crate::store::governance::kept_here;
use crate::store::{Access, governance, import, read};

use super::Error;

/// Withholds grains from an export, whatever the caller asks for.
pub(super) struct ExportFilter<'a> {
    store: &'a Access,
    purpose: Purpose,
    /// The owners' decisions about their grains (PAM 21.1), if the file is for others.
    exportable: Option<BTreeMap<ContentAddress, bool>>,
    /// The grains that are withheld, once all have been read.
    held: OnceLock<BTreeSet<ContentAddress>>,
}

impl<'a> ExportFilter<'a> {
    /// Withholds by law and policy.
    pub(super) const fn by_policy(store: &'a Access, purpose: Purpose) -> Self {
        Self {
            store,
            purpose,
            exportable: None,
            held: OnceLock::new(),
        }
    }

    /// Also withholds what owners do not share.
    pub(super) fn and_by_owner(mut self, snapshot: &Snapshot) -> Result<Self, Error> {
        self.exportable = Some(import::exportable(self.store, snapshot)?);
        Ok(self)
    }

    /// Remembers the grains that are withheld.
    pub(super) fn hold(&self, grains: impl IntoIterator<Item = ContentAddress>) {
        drop(self.held.set(grains.into_iter().collect()));
    }

    /// Returns whether the file is for others.
    pub(super) const fn is_for_others(&self) -> bool {
        self.exportable.is_some()
    }

    fn holds(&self, address: &ContentAddress) -> bool {
        self.held.get().is_some_and(|held| held.contains(address))
    }

    /// Returns the rule by which a grain is withheld.
    pub(super) fn reason(&self, grain: &Grain) -> Option<String> {
        if let Some(exportable) = &self.exportable {
            let said = exportable.get(&grain.address()).copied();
            if !said.unwrap_or_else(|| is_exportable(grain)) {
                return Some("not exportable".into());
            }
        }
        let is_on_hold = governance::is_on_hold(self.store, grain);
        let is_documented = |consent: &_| read::is_documented(self.store, grain, consent);
        if let Err(rule) = may_leave(grain, is_on_hold, self.purpose, is_documented) {
            return Some(format!("withheld: {rule} (OMS {})", rule.section()));
        }
        let kept = kept_here(self.store, grain)?;
        Some(format!("withheld: {}", kept.name()))
    }

    /// Returns whether a link names a withheld grain.
    pub(super) fn names(&self, link: &Grain) -> bool {
        link.related_to().any(|end| self.holds(&end))
    }

    /// Returns the status without references to withheld grains: a superseding grain is not named.
    pub(super) fn unnamed(&self, mut status: Status) -> Status {
        if status.superseded_by.is_some_and(|by| self.holds(&by)) {
            status.superseded_by = None;
            status.lifecycle = Lifecycle::Superseded;
        }
        status
    }

    /// Counts the fields of a grain that reference withheld grains, which a reader of the file will
    /// not find.
    pub(super) fn count_dangling(&self, grain: &Grain, loss: &mut Loss) {
        let names = |text: &str| {
            let address = ContentAddress::from_reference(text);
            address.is_ok_and(|address| self.holds(&address))
        };
        for (field, value) in grain.fields().iter() {
            if value.texts().any(names) {
                loss.count(&format!("{field} of what is withheld"));
            }
        }
        let related = grain.field("related_to").and_then(Value::as_array);
        if related.is_some() && self.names(grain) {
            loss.count("related_to of what is withheld");
        }
    }
}
