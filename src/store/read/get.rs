//! Reading grains: by address, in lists, along their lineage, by foreign identifier.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::{ForeignId, Grain, Status};
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::policy::Rule;
use crate::store::view::Version;
use crate::store::{Error, Store};

/// A page of a listing, and the beginning of the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Addresses in the order in which their grains were stored.
    pub addresses: Vec<ContentAddress>,
    /// The position to continue from; `None` at the end. It stays valid while others write.
    pub next: Option<EntryId>,
}

/// Returns the newest versions that [`Store::history`] has and that pass `shows`, up to the one by which they
/// have so many bytes, and how many more there are. No more than these are in memory.
///
/// ```
/// use grainstore::store::newest_versions;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let tea = store.put(Draft::belief("user", "likes", "tea").confidence(0.9))?;
/// let milk = Draft::belief("user", "likes", "milk").confidence(0.9).derived_from(tea);
/// let milk = store.supersede(&tea, milk, None)?;
/// let (versions, more) = newest_versions(&store, &tea, 1, |_| true)?;
/// assert_eq!((versions[0].grain.address(), versions.len(), more), (milk, 1, 1));
/// # Ok::<(), grainstore::Error>(())
/// ```
///
/// # Errors
/// As [`Store::history`].
pub fn newest_versions(
    store: &Store,
    address: &ContentAddress,
    bytes: usize,
    shows: impl Fn(&Version) -> bool,
) -> Result<(Vec<Version>, u64), Error> {
    let read = || store.versions_to_show(address, bytes, &shows);
    let (versions, more) = store.unless_erased(read)?;
    let grains = versions.iter().map(|version| &version.grain);
    store.read_recorder("history").all(grains)?;
    Ok((versions, more))
}

impl Store {
    /// Returns a grain by its address; its bytes are checked against it. `None` also for a grain
    /// that a narrowed handle does not see.
    ///
    /// A grain of an unlocked person is also found by the hash of its ciphertext, which is its address
    /// in the files (OMS 20.2); [`Grain::address`] is its own, by which all else knows it.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INTEGRITY`; `ERR_CONSENT` in a namespace that
    /// requires a consent for reading; through an agent's handle `ERR_REVIEW_REQUIRED` for a grain
    /// that a person must review before a program acts on it (OMS 6.1).
    pub fn get(&self, address: &ContentAddress) -> Result<Option<Grain>, Error> {
        let found = self.find(address)?;
        self.record_reads("get", found.iter())?;
        Ok(found.map(|(_, grain)| grain))
    }

    /// Asks again while a grain is erased between the look-up of its row and the reading of its
    /// bytes, in this process or in another: from then on no snapshot has the row.
    pub(crate) fn unless_erased<T>(&self, ask: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        for _ in 0..ASKED_AGAIN_MAX {
            match ask() {
                Err(error) if error.code() == ErrorCode::Erased => {}
                answer => return answer,
            }
        }
        ask()
    }

    /// Returns grains by their addresses, in the same order: all of them, or none where one is
    /// refused.
    ///
    /// # Errors
    /// [`Error::Batch`] with the position of the first address that is refused, and the error and
    /// code of [`Store::get`].
    pub fn get_batch(&self, addresses: &[ContentAddress]) -> Result<Vec<Option<Grain>>, Error> {
        let found = addresses.iter().enumerate().map(|(index, address)| {
            let found = self.find(address);
            found.map_err(|source| Error::batch(index, source))
        });
        let found = found.collect::<Result<Vec<_>, _>>()?;
        self.record_reads("get", found.iter().flatten())?;
        let grains = found.into_iter().map(|found| found.map(|(_, grain)| grain));
        Ok(grains.collect())
    }

    /// Reads a grain that the handle may show, with its row, before it is recorded as shown.
    pub(in crate::store) fn find(
        &self,
        address: &ContentAddress,
    ) -> Result<Option<(EntryId, Grain)>, Error> {
        self.unless_erased(|| self.find_once(address))
    }

    fn find_once(&self, address: &ContentAddress) -> Result<Option<(EntryId, Grain)>, Error> {
        let snapshot = self.snapshot();
        let mut seen = self.seen(&snapshot, address)?;
        if seen.is_none()
            && let Some(own) = self.engine.as_of(&snapshot).sealed_as(address)?
        {
            seen = self.seen(&snapshot, &own)?;
        }
        let Some((row, grain)) = seen else {
            return Ok(None);
        };
        let mut allowed = self.authorize_read(&snapshot, &grain);
        if allowed.is_ok() && !self.may_rely_on(&grain)? {
            let rule = Rule::Unreviewed;
            allowed = Err(Error::Refused { rule });
        }
        allowed.map_err(|refusal| self.refuse_read("get", &grain, refusal))?;
        Ok(Some((row, self.engine.with_signature(row, grain)?)))
    }

    /// Reads a grain that the handle sees, for the store's own use: it does not count as retrieved
    /// (OMS 22.10).
    ///
    /// # Errors
    /// As [`Store::get`].
    pub(crate) fn peek(&self, address: &ContentAddress) -> Result<Option<Grain>, Error> {
        let snapshot = self.snapshot();
        let Some((row, grain)) = self.seen(&snapshot, address)? else {
            return Ok(None);
        };
        self.authorize_read(&snapshot, &grain)?;
        Ok(Some(self.engine.with_signature(row, grain)?))
    }

    /// Returns a stored grain and its row, unless the handle does not see it.
    fn seen(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<Option<(EntryId, Grain)>, Error> {
        for row in snapshot.candidates(address)?.iter() {
            // The ledger decides whether the index was right.
            if let Some(grain) = self.engine.grain_if(row, address)? {
                return Ok(self.sees(snapshot, &grain)?.then_some((row, grain)));
            }
        }
        if let Some(row) = self.engine.locate_damaged(address)? {
            // It is there, and reading it says how it is damaged.
            self.engine.ledger().read(row)?;
        }
        Ok(None)
    }

    /// Returns the row of a stored grain that the handle sees.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; storage errors.
    pub(crate) fn seen_row(
        &self,
        snapshot: &Snapshot,
        address: &ContentAddress,
    ) -> Result<EntryId, Error> {
        let address = *address;
        if self.capability().is_none() {
            return self.engine.as_of(snapshot).row_of(&address);
        }
        let seen = self.seen(snapshot, &address)?;
        seen.map(|(row, _)| row).ok_or(Error::NotFound { address })
    }

    /// Records and counts grains that are shown to the caller, with their rows.
    pub(in crate::store) fn record_reads<'g>(
        &self,
        operation: &'static str,
        found: impl Iterator<Item = &'g (EntryId, Grain)> + Clone,
    ) -> Result<(), Error> {
        let recorder = self.recorder_of_found(operation);
        recorder.all(found.clone().map(|(_, grain)| grain))?;
        self.retrieved(found.map(|(row, _)| *row));
        Ok(())
    }

    /// Returns whether the store has a grain that the handle sees.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INDEX_DAMAGED`.
    pub fn exists(&self, address: &ContentAddress) -> Result<bool, Error> {
        match self.unless_erased(|| self.seen_row(&self.snapshot(), address)) {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the status of a grain, which the store keeps beside its blob (OMS 28.3).
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn status(&self, address: &ContentAddress) -> Result<Status, Error> {
        self.unless_erased(|| {
            let snapshot = self.snapshot();
            let row = self.seen_row(&snapshot, address)?;
            self.engine.as_of(&snapshot).status_at(row)
        })
    }

    /// Returns the addresses of up to `limit` grains that the handle sees, oldest first, from where
    /// `after` left off.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn list(&self, after: Option<EntryId>, limit: usize) -> Result<Page, Error> {
        self.unless_erased(|| self.page_of_list(after, limit))
    }

    fn page_of_list(&self, after: Option<EntryId>, limit: usize) -> Result<Page, Error> {
        let snapshot = self.snapshot();
        let mut page = Page {
            addresses: Vec::new(),
            next: None,
        };
        let mut last = None;
        for row in snapshot.grains_from(after.map_or(EntryId::FIRST, EntryId::next)) {
            let (_, grain) = self.engine.grain(row)?;
            if !self.sees(&snapshot, &grain)? {
                continue;
            }
            if page.addresses.len() == limit {
                page.next = last;
                break;
            }
            page.addresses.push(grain.address());
            last = Some(row);
        }
        Ok(page)
    }

    /// Returns every grain of the lineage that a grain belongs to: those it supersedes and those
    /// that superseded it, in the order in which they were stored; without those that the handle
    /// does not see or that need a missing consent.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`, `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`; `ERR_CONSENT` if the requested
    /// grain itself needs a missing consent.
    pub fn history(&self, address: &ContentAddress) -> Result<Vec<Version>, Error> {
        Ok(newest_versions(self, address, usize::MAX, |_| true)?.0)
    }

    fn versions_to_show(
        &self,
        address: &ContentAddress,
        bytes: usize,
        shows: &dyn Fn(&Version) -> bool,
    ) -> Result<(Vec<Version>, u64), Error> {
        let snapshot = self.snapshot();
        let start = self.seen_row(&snapshot, address)?;
        let (mut shown, mut more, mut len) = (Vec::new(), 0, 0_usize);
        for row in self
            .engine
            .as_of(&snapshot)
            .lineage_rows(start)?
            .into_iter()
            .rev()
        {
            let mut version = self.version_at(&snapshot, row)?;
            match self.authorize_read(&snapshot, &version.grain) {
                Err(Error::Denied { address: kept, .. }) if kept != *address => continue,
                allowed => allowed
                    .map_err(|refusal| self.refuse_read("history", &version.grain, refusal))?,
            }
            // OMS 6.1: what waits for a person's review is no version that a program acts on.
            if !self.may_rely_on(&version.grain)? {
                if version.grain.address() == *address {
                    let rule = Rule::Unreviewed;
                    let refusal = Error::Refused { rule };
                    return Err(self.refuse_read("history", &version.grain, refusal));
                }
                continue;
            }
            if !self.sees(&snapshot, &version.grain)? || !shows(&version) {
                continue;
            }
            if len < bytes {
                len = len.saturating_add(version.grain.blob().len());
                version.stored_by = self.engine.actor_of(row)?;
                shown.push(version);
            } else {
                more += 1;
            }
        }
        shown.reverse();
        Ok((shown, more))
    }

    /// Reads the grain of a row; the caller got the row from this store's index.
    pub(crate) fn version_at(&self, snapshot: &Snapshot, row: EntryId) -> Result<Version, Error> {
        self.engine.as_of(snapshot).version_at(row)
    }

    /// Returns the entries of the grains that were damaged when the index was built, which does not
    /// have them.
    #[cfg(feature = "interchange")]
    pub(crate) fn unindexed_damage(&self) -> impl Iterator<Item = u64> {
        self.engine.damaged().into_iter().map(EntryId::get)
    }

    /// Reads the grain of a row; `None` if its bytes are damaged.
    #[cfg(feature = "interchange")]
    pub(crate) fn sound_version_at(
        &self,
        snapshot: &Snapshot,
        row: EntryId,
    ) -> Result<Option<Version>, Error> {
        self.engine.as_of(snapshot).sound_version_at(row)
    }

    /// Returns whether a grain of a row that was read before may be used again: it was not erased,
    /// and there is no person whose key could have been destroyed since.
    #[cfg(feature = "interchange")]
    pub(crate) fn is_still_there(&self, row: EntryId) -> bool {
        self.engine.keyring().is_empty() && !self.engine.ledger().is_erased(row)
    }

    /// Returns the grain that a foreign identifier was assigned to, the newest if there are
    /// several.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn resolve(&self, id: &ForeignId) -> Result<Option<ContentAddress>, Error> {
        let snapshot = self.snapshot();
        let addresses = self.engine.as_of(&snapshot).named(id)?;
        for address in addresses.into_iter().rev() {
            if self.capability().is_none() {
                return Ok(Some(address));
            }
            if self.seen(&snapshot, &address)?.is_some() {
                return Ok(Some(address));
            }
        }
        Ok(None)
    }
}

/// How often a question is asked again: each time another erasure has come between.
const ASKED_AGAIN_MAX: usize = 16;
