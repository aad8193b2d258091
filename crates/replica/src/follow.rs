//! Following: a directory that is brought after a copy, for readers, and for a restore.
//!
//! Each frame is proven and chained to those before. Readers see it once all of a manifest is there.

use std::collections::BTreeSet;
use std::path::Path;

use grainstore::ledger::{EntryId, Ledger, Lock, StoreId, Stretch};
use grainstore::store::replica;

use crate::bucket::Bucket;
use crate::cipher::{Identities, OVERHEAD};
use crate::manifest::{Manifest, ManifestName, Part, object_name};
use crate::memory::{Memory, Seen, current, is_follower};
use crate::trust::TrustedSigner;
use crate::{Error, tree};

/// How a copy is read.
#[derive(Debug, Default)]
pub struct FollowOptions {
    /// The keys that open an encrypted copy.
    pub identities: Option<Identities>,
    /// The signer that each manifest must have; any or none without it.
    pub signer: Option<TrustedSigner>,
}

/// The result of one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Followed {
    /// The number of entries of the directory, and of the copy.
    pub entries: u64,
    /// The last leaf of their hash chain.
    pub head: [u8; 32],
    /// The number of entries that the pass added.
    pub added: u64,
    /// The time of the newest entry, in milliseconds since 1970.
    pub newest_ms: i64,
}

/// Brings a directory after a copy. It can be read meanwhile, as a store that is read-only.
///
/// [`Shipper`](crate::Shipper) has an example.
#[derive(Debug)]
pub struct Follower {
    bucket: Bucket,
    options: FollowOptions,
    store_id: StoreId,
    ledger: Ledger,
    _lock: Lock,
    memory: Memory,
    seen: Seen,
    /// Entries whose body is not the one that was written, until an erasure lists them.
    unproven: BTreeSet<EntryId>,
    listed: BTreeSet<EntryId>,
}

impl Follower {
    /// Opens a directory that follows a copy: a new or empty one, or one that has followed it.
    ///
    /// # Errors
    /// `ERR_NOT_A_STORE` if there is no copy; `ERR_STORE_EXISTS` for another directory;
    /// `ERR_BACKUP_DIVERGED` if the copy is of another store, was rolled back or is forked;
    /// `ERR_SEALED` for an encrypted copy without its key; `ERR_SIGNATURE`; `ERR_STORE_LOCKED` while another process
    /// follows there; errors of the storage.
    pub async fn open(
        bucket: Bucket,
        folder: &Path,
        options: FollowOptions,
    ) -> Result<Self, Error> {
        let has_files = folder
            .read_dir()
            .is_ok_and(|mut items| items.next().is_some());
        if has_files && !is_follower(folder) {
            return Err(Error::NotAFollower("it holds other files"));
        }
        let (name, manifest) = bucket.newest().await?.ok_or(Error::NoCopy)?;
        if let Some(signer) = &options.signer {
            signer.verify(&manifest)?;
        }
        let memory = Memory::of_follower(folder)?;
        // Of another place nothing was seen; the chain says whether it is the same store.
        let seen = memory.read()?.filter(|seen| seen.url == bucket.url());
        let seen = match seen {
            Some(seen) => seen,
            None => {
                let seen = Seen {
                    entries: 0,
                    ..Seen::of(bucket.url(), name, &manifest)
                };
                // Before there is a store: no process must ever write to it.
                memory.write(&seen)?;
                seen
            }
        };
        let identity = object_name(&manifest.identity);
        let sealed = bucket.get(&identity, &manifest.identity, OVERHEAD as u64 * 4);
        let sealed = sealed.await?.ok_or_else(|| lost(&identity))?;
        let bytes = opened(
            options.identities.as_ref(),
            &manifest,
            &identity,
            sealed,
            OVERHEAD as u64,
        )?;
        let store_id = replica::id_in(&bytes)?;
        let (ledger, unproven, lock) = replica::open_copy(folder, &bytes)?;
        Ok(Self {
            bucket,
            options,
            store_id,
            ledger,
            _lock: lock,
            memory,
            seen,
            unproven: unproven.into_iter().collect(),
            listed: BTreeSet::new(),
        })
    }

    /// Adds all that the newest manifest names.
    ///
    /// # Errors
    /// As [`Follower::open`]; `ERR_STORAGE_DAMAGED` for objects that are gone, or are not what was
    /// shipped. After an error of the storage the next pass goes on.
    pub async fn pass(&mut self) -> Result<Followed, Error> {
        let before = self.ledger.len();
        let (mut name, mut manifest) = self.newest().await?;
        loop {
            match self.apply(&manifest).await {
                Ok(()) => break,
                // The object of an erased entry is replaced, and an older manifest names it.
                Err(error @ Error::Lost { .. }) => {
                    let (next, newer) = self.newest().await?;
                    if next == name {
                        return Err(error);
                    }
                    (name, manifest) = (next, newer);
                }
                Err(error) => return Err(error),
            }
        }
        if self.seen.manifest != name {
            self.seen = Seen::of(self.bucket.url(), name, &manifest);
            self.memory.write(&self.seen)?;
        }
        Ok(Followed {
            entries: self.ledger.len(),
            head: self.ledger.head(),
            added: self.ledger.len() - before,
            newest_ms: manifest.newest_ms,
        })
    }

    async fn newest(&self) -> Result<(ManifestName, Manifest), Error> {
        let found = current(&self.bucket, Some(&self.seen)).await?;
        let (name, manifest) = found.ok_or(Error::NoCopy)?;
        if let Some(signer) = &self.options.signer {
            signer.verify(&manifest)?;
        }
        match manifest.store == self.store_id.to_string() {
            true => Ok((name, manifest)),
            false => Err(Error::OtherStore),
        }
    }

    async fn apply(&mut self, manifest: &Manifest) -> Result<(), Error> {
        let own = self.ledger.position();
        let diverged = Error::Diverged {
            entries: manifest.end.entries,
        };
        if manifest.end.entries < own.entries {
            return Err(diverged);
        }
        for part in tree::behind(&self.bucket, &manifest.parts, own.entries).await? {
            let stretch = self.fetch(manifest, &part).await?;
            self.ledger.append_stretch(&stretch)?;
            self.unproven
                .extend(stretch.blank.iter().chain(&stretch.broken));
            self.listed.extend(&stretch.listed);
        }
        let end = self.ledger.position();
        if (end.entries, end.head) != (manifest.end.entries, manifest.end.head.to_bytes()) {
            return Err(diverged);
        }
        self.unproven.retain(|entry| !self.listed.contains(entry));
        if let Some(entry) = self.unproven.first() {
            let reason = format!("the body of entry {entry} is not what was written");
            return Err(Error::damaged("the ledger", &reason));
        }
        self.ledger.publish();
        // Readers know the erasure by now, so none takes a blank body for damage.
        let listed: Vec<EntryId> = self.listed.iter().copied().collect();
        if !listed.is_empty() {
            self.ledger.redact(&listed)?;
            self.listed.clear();
        }
        Ok(())
    }

    /// Reads an object, and proves that its frames continue this ledger.
    async fn fetch(&self, manifest: &Manifest, part: &Part) -> Result<Stretch, Error> {
        let name = part.name();
        let sealed_max = part
            .bytes
            .saturating_add(part.bytes / 1024 + OVERHEAD as u64);
        let sealed = self.bucket.get(&name, &part.hash, sealed_max).await?;
        let sealed = sealed.ok_or_else(|| lost(&name))?;
        let identities = self.options.identities.as_ref();
        let mut bytes = opened(identities, manifest, &name, sealed, part.bytes)?;
        if bytes.len() as u64 != part.bytes {
            return Err(Error::damaged(
                &name,
                &"it is not as long as its manifest says",
            ));
        }
        let mut from = self.ledger.position();
        if part.segment != from.segment {
            from.segment = part.segment;
            from.offset = part.offset;
        }
        // The first of its frames may be here.
        let known = from.offset.checked_sub(part.offset);
        let known = known.and_then(|known| usize::try_from(known).ok());
        match known.filter(|known| *known < bytes.len()) {
            Some(known) => drop(bytes.drain(..known)),
            None => return Err(Error::damaged(&name, &"it is not where the ledger ends")),
        }
        let stretch = replica::prove_stretch(bytes, from, &self.store_id);
        let stretch = stretch.map_err(|error| Error::damaged(&name, &error))?;
        match stretch.to.entries == part.end {
            true => Ok(stretch),
            false => Err(Error::damaged(
                &name,
                &"it has other entries than its manifest says",
            )),
        }
    }
}

fn lost(name: &str) -> Error {
    Error::Lost {
        name: name.to_owned(),
        count: 1,
    }
}

/// Returns the bytes of an object in the clear.
fn opened(
    identities: Option<&Identities>,
    manifest: &Manifest,
    name: &str,
    bytes: Vec<u8>,
    max: u64,
) -> Result<Vec<u8>, Error> {
    match (manifest.sealed, identities) {
        (false, _) => Ok(bytes),
        (true, Some(identities)) => identities.decrypt(name, &bytes, max),
        (true, None) => Err(Error::Sealed("the copy is encrypted".to_owned())),
    }
}
