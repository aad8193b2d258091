use std::collections::BTreeMap;

use crate::codec::ContentAddress;
use crate::grain::{StatusChange, Verification};
use crate::index::{Family, Snapshot};
use crate::ledger::Kind;
use crate::policy::{Actor, Operation};
use crate::store::commit::group::Frame;
use crate::store::governance::permit::Change;
use crate::store::instance::open::Inner;
use crate::store::records::entry::{AliasEntry, FlagEntry, StatusEntry, encode_conflict};
use crate::store::{Error, Store};

/// Grains that came in under one name and contradict each other (OMI 13.4).
///
/// ```
/// use grainstore::{Options, Store};
///
/// assert!(Store::in_memory(Options::default())?.conflicts()?.is_empty());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicting {
    /// The format, within what the id is unique, and the id.
    pub name: [String; 3],
    /// The grains, in the order in which the name was given to them.
    pub versions: Vec<ContentAddress>,
}

impl Store {
    /// Returns the conflicts of imports that nobody has resolved yet.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn conflicts(&self) -> Result<Vec<Conflicting>, Error> {
        let snapshot = self.snapshot();
        let flags = self.inner.flags(&snapshot)?;
        let flagged = flags.iter().filter(|(_, flag)| flag.conflict);
        let mut groups: BTreeMap<[String; 3], Vec<ContentAddress>> = BTreeMap::new();
        for (address, _) in flagged {
            let Some(name) = self.inner.name_of(&snapshot, address)? else {
                continue;
            };
            if groups.contains_key(&name) {
                continue;
            }
            let parts = [name[0].as_str(), name[1].as_str(), name[2].as_str()];
            let mut versions = self.inner.named(&snapshot, parts)?;
            versions.retain(|one| flags.get(one).is_some_and(|flag| flag.conflict));
            groups.insert(name, versions);
        }
        let groups = groups.into_iter();
        Ok(groups
            .map(|(name, versions)| Conflicting { name, versions })
            .collect())
    }

    /// Resolves a conflict in favour of one grain: the others of its name are contradicted, and the
    /// name is its own.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND` for a grain that is in no conflict; `ERR_INVALIDATION_DENIED` where policy
    /// protects one of the others, and the refusal is recorded; storage errors.
    pub fn resolve_conflict(
        &self,
        keep: &ContentAddress,
        justification: Option<&str>,
    ) -> Result<(), Error> {
        let conflicts = self.conflicts()?.into_iter();
        let mut conflicts = conflicts.filter(|conflict| conflict.versions.contains(keep));
        let Some(conflict) = conflicts.next() else {
            return Err(Error::NoConflict { address: *keep });
        };
        let inner = &*self.inner;
        let mut writer = inner.lead_alone();
        let snapshot = inner.index.snapshot();
        let mut frame = Frame::default();
        for address in conflict.versions {
            frame.record(Kind::Flag, encode_conflict(&address, false)?);
            let Some(row) = inner.locate(&snapshot, &address)? else {
                continue;
            };
            let target = inner.version_at(&snapshot, row)?;
            if address == *keep || !target.status.is_current() {
                continue;
            }
            let shield = inner.shield(&snapshot, row, &target, None)?;
            let change = Change {
                operation: Operation::Contradict,
                target: &address,
                facts: shield.facts(None),
                actor: Actor {
                    justification,
                    ..Actor::default()
                },
            };
            inner.permit(&mut writer, &change, &mut frame)?;
            let status = StatusEntry {
                of: address,
                change: StatusChange {
                    contradicted: Some(true),
                    verification: Some(Verification::Contested),
                    system_valid_to: Some(inner.options.clock.now().max(writer.last)),
                    ..StatusChange::default()
                },
                justification: justification.map(str::to_owned),
                is_imported: false,
                instead_of: None,
            };
            frame.record(Kind::Status, status.encode()?);
        }
        let [format, scope, id] = conflict.name;
        let alias = AliasEntry {
            of: *keep,
            format,
            scope,
            id,
        };
        frame.record(Kind::Alias, alias.encode()?);
        inner.commit(&mut writer, &frame)?;
        Ok(())
    }
}

impl Store {
    /// Returns the grains whose owners said whether they may leave the store, and what they said.
    pub(crate) fn exportable(
        &self,
        snapshot: &Snapshot,
    ) -> Result<BTreeMap<ContentAddress, bool>, Error> {
        let flags = self.inner.flags(snapshot)?.into_iter();
        let said = flags.filter_map(|(address, flag)| Some((address, flag.exportable?)));
        Ok(said.collect())
    }
}

/// What the flags of a grain say about it.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// Whether its owner lets it leave the store.
    exportable: Option<bool>,
    /// Whether it contradicts another of its name, and nobody has chosen yet.
    conflict: bool,
}

impl Inner {
    /// Returns what the flags say about the grains that have any.
    fn flags(&self, snapshot: &Snapshot) -> Result<BTreeMap<ContentAddress, Flags>, Error> {
        let mut flags: BTreeMap<_, Flags> = BTreeMap::new();
        for row in snapshot.of_kind(Kind::Flag).rows()?.iter() {
            let entry = FlagEntry::decode(&self.ledger.read(row)?.body);
            let entry =
                entry.ok_or_else(|| Error::damaged(format!("entry {row}"), "not a flag"))?;
            let flag = flags.entry(entry.of).or_default();
            flag.exportable = entry.exportable.or(flag.exportable);
            flag.conflict = entry.conflict.unwrap_or(flag.conflict);
        }
        Ok(flags)
    }

    /// Returns the last name that was given to a grain.
    fn name_of(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<Option<[String; 3]>, Error> {
        for row in snapshot
            .pointing_at(Family::Mentions, address)
            .rows()?
            .iter()
            .rev()
        {
            let entry = self.ledger.read(row)?;
            if entry.header.kind != Kind::Alias {
                continue;
            }
            let alias = AliasEntry::decode(&entry.body).filter(|alias| alias.of == *address);
            if let Some(alias) = alias {
                return Ok(Some([alias.format, alias.scope, alias.id]));
            }
        }
        Ok(None)
    }
}
