//! Conflicts of imports: records of one foreign identifier that contradict each other (OMI 13.4).

use std::collections::BTreeMap;

use crate::codec::ContentAddress;
use crate::grain::ForeignId;
use crate::index::{Family, Snapshot};
use crate::ledger::Kind;
use crate::policy::{Actor, Operation};
use crate::store::governance::contradiction;
use crate::store::instance::Inner;
use crate::store::lineage::Change;
use crate::store::records::{AliasRecord, FlagRecord, Record, StatusRecord};
use crate::store::rules::{Deed, Guard, Permit};
use crate::store::{Admin, Error, Store};

/// Grains of one foreign identifier that contradict each other (OMI 13.4).
///
/// ```
/// use grainstore::{Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// assert!(store.admin()?.conflicts()?.is_empty());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicting {
    /// The identifier.
    pub id: ForeignId,
    /// The grains, in the order in which the identifier was assigned to them.
    pub versions: Vec<ContentAddress>,
}

impl Admin<'_> {
    /// Returns the conflicts of imports that are not resolved yet.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn conflicts(self) -> Result<Vec<Conflicting>, Error> {
        let snapshot = self.store().snapshot();
        let flags = flags(self.inner(), &snapshot)?;
        let flagged = flags.iter().filter(|(_, flag)| flag.conflict);
        let mut groups: BTreeMap<ForeignId, Vec<ContentAddress>> = BTreeMap::new();
        for (address, _) in flagged {
            let Some(id) = foreign_id_of(self.inner(), &snapshot, address)? else {
                continue;
            };
            if groups.contains_key(&id) {
                continue;
            }
            let mut versions = self.inner().as_of(&snapshot).named(&id)?;
            versions.retain(|one| flags.get(one).is_some_and(|flag| flag.conflict));
            groups.insert(id, versions);
        }
        let groups = groups.into_iter();
        Ok(groups
            .map(|(id, versions)| Conflicting { id, versions })
            .collect())
    }

    /// Resolves a conflict in favour of one grain: the others of its identifier are contradicted,
    /// and the identifier belongs to it.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND` for a grain that is not part of an open conflict; `ERR_INVALIDATION_DENIED`
    /// where policy protects one of the others, and the refusal is recorded; storage errors.
    pub fn resolve_conflict(
        self,
        keep: &ContentAddress,
        justification: Option<&str>,
    ) -> Result<(), Error> {
        let conflicts = self.conflicts()?.into_iter();
        let mut conflicts = conflicts.filter(|conflict| conflict.versions.contains(keep));
        let Some(conflict) = conflicts.next() else {
            return Err(Error::NoConflict { address: *keep });
        };
        let mut txn = self.begin()?;
        let mut permit = Permit::of(Deed::ResolveConflict);
        let (needs_reason, is_protected) = (permit.asks(Guard::Reason), permit.asks(Guard::Policy));
        for address in conflict.versions {
            txn.record(&Record::Flag(FlagRecord {
                conflict: Some(false),
                ..FlagRecord::of(address)
            }))?;
            let Some(row) = txn.view().locate(&address)? else {
                continue;
            };
            let target = txn.view().version_at(row)?;
            if address == *keep || !target.status.is_current() {
                continue;
            }
            let protection = txn.view().effective_protection(row, &target, None)?;
            let change = Change {
                operation: Operation::Contradict,
                target: &address,
                facts: protection.facts(None),
                actor: Actor {
                    justification,
                    ..Actor::default()
                },
            };
            let (operation, reasons) = (Operation::Contradict, [justification, None]);
            let is_reviewed =
                needs_reason && txn.authorize_reason(operation, &target.grain, reasons)?;
            if is_protected {
                change.authorize(&mut txn, is_reviewed)?;
            }
            let change = contradiction(&txn, &target.status);
            let status = StatusRecord::of(address, change).because(justification);
            txn.change(&permit, &Record::Status(status))?;
        }
        let alias = AliasRecord {
            of: *keep,
            id: conflict.id,
        };
        txn.record(&Record::Alias(alias))?;
        txn.commit()?;
        Ok(())
    }
}

impl Store {
    /// Returns the grains whose owners decided about their export, with the decision.
    pub(crate) fn exportable(
        &self,
        snapshot: &Snapshot,
    ) -> Result<BTreeMap<ContentAddress, bool>, Error> {
        let flags = flags(&self.inner, snapshot)?.into_iter();
        let said = flags.filter_map(|(address, flag)| Some((address, flag.exportable?)));
        Ok(said.collect())
    }
}

/// The flags of a grain.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// Whether its owner permits its export.
    exportable: Option<bool>,
    /// Whether it contradicts another grain of its identifier, and the choice is open.
    conflict: bool,
}

/// Returns the flags of the grains that have any.
fn flags(inner: &Inner, snapshot: &Snapshot) -> Result<BTreeMap<ContentAddress, Flags>, Error> {
    let mut flags: BTreeMap<_, Flags> = BTreeMap::new();
    for row in snapshot.of_kind(Kind::Flag).rows()?.iter() {
        let Record::Flag(entry) = inner.record_at(row)? else {
            return Err(Error::damaged(format!("entry {row}"), "not a flag"));
        };
        let flag = flags.entry(entry.of).or_default();
        flag.exportable = entry.exportable.or(flag.exportable);
        flag.conflict = entry.conflict.unwrap_or(flag.conflict);
    }
    Ok(flags)
}

/// Returns the last identifier assigned to a grain.
fn foreign_id_of(
    inner: &Inner,
    snapshot: &Snapshot,
    address: &ContentAddress,
) -> Result<Option<ForeignId>, Error> {
    for row in snapshot
        .pointing_at(Family::Mentions, address)
        .rows()?
        .iter()
        .rev()
    {
        if let Record::Alias(alias) = inner.record_at(row)?
            && alias.of == *address
        {
            return Ok(Some(alias.id));
        }
    }
    Ok(None)
}
