//! Conflicts of imports: records of one foreign identifier that contradict each other (OMI 13.4), and
//! grains that a file puts in the place of one that stands here.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::codec::ContentAddress;
use crate::grain::ForeignId;
use crate::index::{Family, Snapshot};
use crate::ledger::Kind;
use crate::policy::{Actor, Operation};
use crate::store::engine::Engine;
use crate::store::governance::contradiction;
use crate::store::import::Conflict;
use crate::store::import::tree::is_of_text;
use crate::store::lineage::Change;
use crate::store::records::{AliasRecord, FlagRecord, Record, StatusRecord};
use crate::store::rules::{Deed, Guard, Permit};
use crate::store::view::{Version, View, claims_to_replace, replaceable};
use crate::store::{Access, Error, Owner};

/// See [`Admin::conflicts`](crate::Admin::conflicts).
pub(crate) fn conflicts(owner: Owner<'_>) -> Result<Vec<Conflict>, Error> {
    owner.authorize_whole()?;
    let snapshot = owner.store().snapshot();
    let flags = flags(owner.engine(), &snapshot)?;
    let view = owner.engine().as_of(&snapshot);
    let is_open = |one: &ContentAddress| flags.get(one).is_some_and(|flag| flag.conflict);
    let mut named: BTreeMap<ForeignId, Vec<ContentAddress>> = BTreeMap::new();
    let mut forks: BTreeMap<ContentAddress, Vec<ContentAddress>> = BTreeMap::new();
    for address in flags.keys().filter(|it| is_open(it)) {
        for stands in put_in_place_of(&view, address, &is_open)? {
            forks.entry(stands).or_default().push(*address);
        }
        let Some(id) = foreign_id_of(owner.engine(), &snapshot, address)? else {
            continue;
        };
        if let Entry::Vacant(vacant) = named.entry(id) {
            let mut versions = view.named(vacant.key())?;
            versions.retain(is_open);
            vacant.insert(versions);
        }
    }
    let named = named.into_iter().map(|(id, versions)| (Some(id), versions));
    let forks = forks.into_iter().map(|(stands, forks)| {
        let versions = std::iter::once(stands).chain(forks);
        (None, versions.collect())
    });
    let groups = named
        .chain(forks)
        .filter(|(_, versions)| versions.len() > 1);
    Ok(groups
        .map(|(id, versions)| Conflict {
            id,
            versions,
            place: None,
        })
        .collect())
}

/// See [`Admin::resolve_conflict`](crate::Admin::resolve_conflict).
pub(crate) fn resolve_conflict(
    owner: Owner<'_>,
    keep: &ContentAddress,
    justification: Option<&str>,
) -> Result<(), Error> {
    let conflicts = conflicts(owner)?.into_iter();
    let mut conflicts = conflicts.filter(|conflict| conflict.versions.contains(keep));
    let Some(conflict) = conflicts.next() else {
        return Err(Error::NoConflict { address: *keep });
    };
    let mut txn = owner.begin()?;
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
    if let Some(id) = conflict.id {
        txn.record(&Record::Alias(AliasRecord { of: *keep, id }))?;
    }
    txn.commit()?;
    Ok(())
}

/// Returns the grains whose owners decided about their export, with the decision.
pub(crate) fn exportable(
    store: &Access,
    snapshot: &Snapshot,
) -> Result<BTreeMap<ContentAddress, bool>, Error> {
    let flags = flags(&store.engine, snapshot)?.into_iter();
    let said = flags.filter_map(|(address, flag)| Some((address, flag.exportable?)));
    Ok(said.collect())
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
fn flags(engine: &Engine, snapshot: &Snapshot) -> Result<BTreeMap<ContentAddress, Flags>, Error> {
    let mut flags: BTreeMap<_, Flags> = BTreeMap::new();
    for row in snapshot.of_kind(Kind::Flag).rows()?.iter() {
        let Record::Flag(entry) = engine.record_at(row)? else {
            return Err(Error::damaged(format!("entry {row}"), "not a flag"));
        };
        let flag = flags.entry(entry.of).or_default();
        flag.exportable = entry.exportable.or(flag.exportable);
        flag.conflict = entry.conflict.unwrap_or(flag.conflict);
    }
    Ok(flags)
}

/// Returns the current grains with an open conflict that a current grain claims to replace.
fn put_in_place_of(
    view: &View<'_>,
    address: &ContentAddress,
    is_open: &dyn Fn(&ContentAddress) -> bool,
) -> Result<Vec<ContentAddress>, Error> {
    let current = |address: &ContentAddress| -> Result<Option<Version>, Error> {
        let version = view.locate(address)?.map(|row| view.version_at(row));
        Ok(version.transpose()?.filter(|it| it.status.is_current()))
    };
    let Some(fork) = current(address)? else {
        return Ok(Vec::new());
    };
    let mut stands = Vec::new();
    for parent in replaceable(&fork.grain).filter(|it| is_open(it)) {
        if current(&parent)?.is_some_and(|it| claims_to_replace(&fork.grain, &it.grain)) {
            stands.push(parent);
        }
    }
    Ok(stands)
}

/// Returns the last identifier assigned to a grain.
fn foreign_id_of(
    engine: &Engine,
    snapshot: &Snapshot,
    address: &ContentAddress,
) -> Result<Option<ForeignId>, Error> {
    for row in snapshot
        .pointing_at(Family::Mentions, address)
        .rows()?
        .iter()
        .rev()
    {
        if let Record::Alias(alias) = engine.record_at(row)?
            && alias.of == *address
            && !is_of_text(&alias.id)
        {
            return Ok(Some(alias.id));
        }
    }
    Ok(None)
}
