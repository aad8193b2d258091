use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::{StatusChange, Time};
use crate::index::{Family, Snapshot};
use crate::ledger::Kind;
use crate::policy::{Actor, Operation, Rule, Verdict};

use super::commit::{Frame, Writer};
use super::entry::{
    AliasEntry, ErasingEntry, StatusEntry, completed_by, encode_erased, subject_of,
};
use super::open::Inner;
use super::permit::Change;
use super::{Error, Store};

/// Why a grain is deleted, and on whose authority (ruling I19). Both stay in the ledger.
///
/// ```
/// use grainstore::store::Deletion;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::event("my number is 555 0100"))?;
/// let deletion = Deletion { reason: "GDPR Art. 17", authority: "the data protection officer" };
/// store.delete(&address, deletion)?;
/// assert!(!store.exists(&address)?);
/// assert_eq!(store.search("number", &Default::default(), 10)?.total, 0);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deletion<'a> {
    /// Why, in words; nothing of what is deleted.
    pub reason: &'a str,
    /// Who wants it gone: a person, an office, a DID.
    pub authority: &'a str,
}

impl Store {
    /// Deletes a grain for compliance (OMS 28.4): its bytes, every entry that names it, its keys
    /// and its words are gone from the store's files when this returns. What is left is an entry
    /// with the reason, the authority, and a mark by which the grain is known if it comes again.
    ///
    /// It cannot be undone. Backups and exports made before keep their copies.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_INVALIDATION_DENIED` for a grain that a hold or its retention keeps,
    /// and without a reason and an authority; the refusal is recorded. Storage errors: from the
    /// first entry on the grain is invisible, and the next open completes what is left.
    pub fn delete(&self, address: &ContentAddress, deletion: Deletion<'_>) -> Result<(), Error> {
        let address = *address;
        match self.inner.delete_all(&[address], deletion)?.pop() {
            Some(Deleted::Now) => Ok(()),
            Some(Deleted::Kept(rule)) => Err(Error::Denied { address, rule }),
            Some(Deleted::Before) | None => Err(Error::NotFound { address }),
        }
    }
}

/// What became of a grain that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deleted {
    Now,
    /// It is not here, or no longer.
    Before,
    Kept(Rule),
}

impl Inner {
    /// Deletes grains, many in one turn: files are rewritten once for all of a turn, and not once for
    /// each grain. What keeps one is recorded. Returns what became of each, in their order.
    pub(super) fn delete_all(
        &self,
        addresses: &[ContentAddress],
        deletion: Deletion<'_>,
    ) -> Result<Vec<Deleted>, Error> {
        let mut all = Vec::with_capacity(addresses.len());
        for addresses in addresses.chunks(ERASED_AT_ONCE) {
            let mut writer = self.lead_alone();
            let snapshot = self.index.snapshot();
            let (mut frame, mut targets) = (Frame::default(), Vec::new());
            for address in addresses {
                let Some(row) = self.locate(&snapshot, address)? else {
                    all.push(Deleted::Before);
                    continue;
                };
                let target = self.version_at(&snapshot, row)?;
                let shield = self.shield(&snapshot, row, &target, None)?;
                let change = Change {
                    operation: Operation::Delete,
                    target: address,
                    facts: shield.facts(None),
                    actor: Actor {
                        justification: Some(deletion.reason),
                        authority: Some(deletion.authority),
                        ..Actor::default()
                    },
                };
                match self.verdict(&writer, &change) {
                    Verdict::Deny(rule) => {
                        frame.deny_about(address, Operation::Delete.name(), rule, None)?;
                        all.push(Deleted::Kept(rule));
                    }
                    Verdict::Allow | Verdict::Review => {
                        targets.push((row, *address));
                        all.push(Deleted::Now);
                    }
                }
            }
            if targets.is_empty() {
                self.commit(&mut writer, &frame)?;
            } else {
                self.erase(&mut writer, &snapshot, &mut frame, &targets, deletion)?;
            }
        }
        Ok(all)
    }

    /// Begins and completes the erasure of grains that nothing keeps, each with its row.
    fn erase(
        &self,
        writer: &mut Writer,
        snapshot: &Snapshot,
        frame: &mut Frame,
        targets: &[(u64, ContentAddress)],
        deletion: Deletion<'_>,
    ) -> Result<(), Error> {
        let mut erasing = self.traces(snapshot, targets, frame)?;
        erasing.reason = deletion.reason.to_owned();
        erasing.authority = deletion.authority.to_owned();
        frame.record(Kind::Erasing, erasing.encode()?);
        let rows = self.commit_erasure(writer, frame)?;
        self.has_tombstones.store(true, Ordering::Release);
        // The erasure is the last entry of its frame.
        self.complete(writer, rows.end.saturating_sub(1), &erasing.rows)
    }

    /// Commits the entry that begins an erasure; on a full disk the ballast makes room for it, for
    /// what must be forgotten must not stay because nothing else fits.
    fn commit_erasure(
        &self,
        writer: &mut Writer,
        frame: &Frame,
    ) -> Result<std::ops::Range<u64>, Error> {
        match self.commit(writer, frame) {
            Err(error) if error.code() == ErrorCode::StorageFull => {
                self.ballast.release(&*self.disk)?;
                self.commit(writer, frame)
            }
            outcome => outcome,
        }
    }

    /// Finds every entry that names one of the grains, and writes again what such an entry says
    /// about another grain.
    fn traces(
        &self,
        snapshot: &Snapshot,
        targets: &[(u64, ContentAddress)],
        frame: &mut Frame,
    ) -> Result<ErasingEntry, Error> {
        let key = self.manifest.tombstone_key();
        let all: BTreeSet<ContentAddress> = targets.iter().map(|(_, address)| *address).collect();
        let mut tombstones = Vec::with_capacity(targets.len());
        // An entry may name two of them.
        let mut rows = self.forget_reads(snapshot, &all, frame)?;
        for (row, address) in targets {
            rows.insert(*row);
            tombstones.push(key.of_address(address));
            let mentions = snapshot.pointing_at(Family::Mentions, address).rows()?;
            for entry in mentions.iter() {
                let found = self.ledger.read(entry)?;
                match found.header.kind {
                    Kind::Status => {
                        let Some(status) = StatusEntry::decode(&found.body) else {
                            continue;
                        };
                        if status.of != *address {
                            if status.change.superseded_by != Some(*address) {
                                continue;
                            }
                            if !all.contains(&status.of) {
                                let time = Time::from_ms(found.header.time_ms);
                                let kept = status.unnamed(entry, time);
                                frame.record(Kind::Status, kept.encode()?);
                            }
                        }
                    }
                    Kind::Alias => {
                        let Some(alias) = AliasEntry::decode(&found.body) else {
                            continue;
                        };
                        if alias.of != *address {
                            continue;
                        }
                        tombstones.push(key.of_name(alias.name()));
                    }
                    _ if subject_of(&found.body) != Some(*address) => continue,
                    _ => {}
                }
                rows.insert(entry);
            }
        }
        Ok(ErasingEntry {
            rows: rows.into_iter().collect(),
            tombstones,
            reason: String::new(),
            authority: String::new(),
        })
    }

    /// Carries out an erasure that the ledger holds as entry `begun`. Every step can be repeated.
    fn complete(&self, writer: &mut Writer, begun: u64, rows: &[u64]) -> Result<(), Error> {
        let stands = self.is_standing(rows)?;
        // First of all nobody sees it any more, with however old a snapshot.
        self.index.erase(rows.iter().copied());
        self.forget_vectors(rows);
        self.ledger.redact(rows)?;
        self.index.expunge()?;
        if let Some(text) = &self.text {
            text.erase(rows)?;
        }
        if let Some(accesses) = &self.accesses {
            accesses.forget(rows)?;
        }
        self.ancestry.forget();
        if stands {
            self.load_standing()?;
        }
        let mut frame = Frame::default();
        frame.record(Kind::Erased, encode_erased(begun)?);
        self.commit(writer, &frame)?;
        if let Err(error) = self.ballast.restore(&*self.disk) {
            tracing::warn!(%error, "no room is kept for erasing on a full disk");
        }
        Ok(())
    }

    /// Completes the erasures that a crash cut short, and learns whether anything was ever deleted.
    pub(super) fn resume_erasures(&self) -> Result<(), Error> {
        let snapshot = self.index.snapshot();
        let begun = snapshot.of_kind(Kind::Erasing).rows()?;
        if begun.is_empty() {
            return Ok(());
        }
        self.has_tombstones.store(true, Ordering::Release);
        let mut open: Vec<u64> = begun.iter().collect();
        for row in snapshot.of_kind(Kind::Erased).rows()?.iter() {
            let done = completed_by(&self.ledger.read(row)?.body);
            open.retain(|begun| Some(*begun) != done);
        }
        let mut writer = self.lead_alone();
        for begun in open {
            let body = self.ledger.read(begun)?.body;
            let erasing = ErasingEntry::decode(&body)
                .ok_or_else(|| Error::damaged(format!("entry {begun}"), "not an erasure"))?;
            self.complete(&mut writer, begun, &erasing.rows)?;
        }
        Ok(())
    }

    /// OMS 28.4: what was deleted comes back only where somebody asks for just that.
    pub(super) fn refuse_deleted(
        &self,
        address: &ContentAddress,
        again: bool,
    ) -> Result<(), Error> {
        if !again && self.was_deleted(address)? {
            return Err(Error::Erased { address: *address });
        }
        Ok(())
    }

    /// Returns whether a grain was deleted here.
    pub(super) fn was_deleted(&self, address: &ContentAddress) -> Result<bool, Error> {
        self.has_mark(|store| store.manifest.tombstone_key().of_address(address))
    }

    /// Returns whether a grain with this foreign name was deleted here.
    pub(super) fn was_named(&self, name: [&str; 3]) -> Result<bool, Error> {
        self.has_mark(|store| store.manifest.tombstone_key().of_name(name))
    }

    fn has_mark(&self, mark: impl FnOnce(&Self) -> [u8; 32]) -> Result<bool, Error> {
        if !self.has_tombstones.load(Ordering::Acquire) {
            return Ok(false);
        }
        let mark = mark(self);
        for row in self.index.snapshot().tombstones(&mark).rows()?.iter() {
            let erasing = ErasingEntry::decode(&self.ledger.read(row)?.body);
            if erasing.is_some_and(|erasing| erasing.tombstones.contains(&mark)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl StatusEntry {
    /// The other grain stays superseded, by what nobody can name any more.
    fn unnamed(self, entry: u64, said_at: Time) -> Self {
        let change = StatusChange {
            superseded_by: None,
            system_valid_to: self.change.system_valid_to.or(Some(said_at)),
            ..self.change
        };
        Self {
            change,
            instead_of: self.instead_of.or(Some(entry)),
            ..self
        }
    }
}

/// Enough that rewriting files costs little for each, and few enough that one entry lists them and
/// that writers do not wait for long.
const ERASED_AT_ONCE: usize = 1_000;
