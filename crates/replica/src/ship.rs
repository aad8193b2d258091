//! Shipping: the frames behind the end of the copy as objects, then a manifest that names them.
//!
//! It reads files and takes no lock that a writer takes. Nothing counts before its manifest, so a kill
//! anywhere leaves the copy as it was, and objects without a manifest, which the next run removes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use grainstore::ledger::{self, Disk, EntryId, LedgerPosition, StoreId, Stretch};
use grainstore::store::replica;

use crate::bucket::Bucket;
use crate::cipher::Recipients;
use crate::manifest::{LISTS, Manifest, ManifestName, OBJECTS, Part, object_name};
use crate::memory::{Memory, Seen, current};
use crate::trust::{self, ManifestKey};
use crate::{Error, Hash, tree};

/// How a store is shipped.
#[derive(Debug, Default)]
pub struct ShipOptions {
    /// The recipients that objects are encrypted to; `None` leaves objects in the clear.
    pub recipients: Option<Recipients>,
    /// Signs each manifest, so that readers can demand it ([`TrustedSigner`](crate::TrustedSigner)); a copy whose newest
    /// manifest it has not signed is refused.
    pub key: Option<ManifestKey>,
    /// Ships all of the ledger again, whatever the copy has lost or was rolled back to.
    pub anew: bool,
}

/// The result of one pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shipped {
    /// The number of entries of the copy.
    pub entries: u64,
    /// The time of the newest of them, in milliseconds since 1970.
    pub newest_ms: i64,
    /// The number of entries that the pass added.
    pub added: u64,
    /// The number of bytes of the ledger that the pass shipped.
    pub ledger_bytes: u64,
    /// The number of bytes that the pass wrote: objects, lists and manifests.
    pub written_bytes: u64,
    /// The number of erased entries that the pass removed from the copy.
    pub erased: u64,
    /// The number of erased entries that objects of the copy may still hold.
    pub waits: u64,
}

/// Ships a store to one place.
///
/// ```
/// use std::sync::Arc;
/// use grainstore::{Draft, Options, Store};
/// use grainstore_replica::{Bucket, Follower, ShipOptions, Shipper};
///
/// let home = tempfile::tempdir()?;
/// let (path, copy) = (home.path().join("store"), home.path().join("copy"));
/// let store = Store::open(&path, Options::default())?;
/// let address = store.put(Draft::event("hello"))?;
/// let bucket = Bucket::new(Arc::new(object_store::memory::InMemory::new()), "memory:///");
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// runtime.block_on(async {
///     let mut shipper = Shipper::open(&path, bucket.clone(), ShipOptions::default()).await?;
///     assert_eq!(shipper.pass().await?.entries, 1);
///     Follower::open(bucket, &copy, Default::default()).await?.pass().await
/// })?;
/// assert!(Store::open(&copy, Options::default().read_only())?.exists(&address)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Shipper {
    disk: Arc<dyn Disk>,
    store_id: StoreId,
    bucket: Bucket,
    memory: Memory,
    recipients: Option<Recipients>,
    key: Option<ManifestKey>,
    /// The copy with what is shipped and not published yet.
    manifest: Manifest,
    published: Option<ManifestName>,
    /// The manifests before, the newest last.
    older: Vec<ManifestName>,
    /// Whether the manifest is another than the published one.
    is_changed: bool,
    /// Whether the ledger was compared with the copy.
    is_compared: bool,
    /// Blank entries of which no shipped erasure is known that lists them.
    unlisted: BTreeSet<u64>,
    /// Erased entries whose old objects are not removed yet.
    held: u64,
    pass: Shipped,
}

impl Shipper {
    /// Begins to ship the store in a directory, or goes on where the copy ends.
    ///
    /// # Errors
    /// `ERR_BACKUP_DIVERGED` if the copy is of another store, was rolled back or is forked;
    /// `ERR_STORAGE_DAMAGED` if it has lost objects; `ERR_STORE_LOCKED` while another process ships
    /// there; errors of the store and of the storage.
    pub async fn open(store: &Path, bucket: Bucket, options: ShipOptions) -> Result<Self, Error> {
        let (disk, identity) = replica::open_source(store)?;
        let store_id = replica::id_in(&identity)?;
        let memory = Memory::of_source(store, bucket.url())?;
        let seen = memory.read()?;
        let found = match current(&bucket, seen.as_ref()).await {
            Err(Error::RolledBack { .. } | Error::Forked { .. }) if options.anew => None,
            found => found?,
        };
        let of_seen = seen
            .iter()
            .flat_map(|seen| [Some(seen.manifest), seen.next]);
        let last = of_seen.flatten().map(|name| name.number).max().unwrap_or(0);
        let is_new = found.is_none();
        let published = found.as_ref().map(|(name, _)| *name);
        let sealed = options.recipients.is_some();
        let manifest = match found {
            Some((_, manifest)) if !options.anew => manifest,
            _ => Manifest::empty(&store_id, Hash::of(&[]), sealed),
        };
        if manifest.signature.is_some() && options.key.is_none() {
            return Err(Error::Unsigned {
                number: manifest.number.saturating_add(1),
                reason: "those before are signed: name the key again".to_owned(),
            });
        }
        if manifest.store != store_id.to_string() {
            return Err(Error::OtherStore);
        }
        if manifest.sealed != sealed {
            let reason = match sealed {
                true => "the copy is not encrypted; ship to another place, or anew",
                false => "the copy is encrypted: name its recipients again",
            };
            return Err(Error::Sealed(reason.to_owned()));
        }
        if let (Some(key), false, false) = (&options.key, is_new, options.anew) {
            key.signer().verify(&manifest)?;
        }
        let listed = bucket.manifest_names().await?;
        let listed_last = listed.last().map_or(0, |name| name.number);
        let number = manifest.number.max(last).max(listed_last);
        let held = seen.as_ref().map_or(0, |seen| seen.waits);
        let held = held.max(manifest.waits.len() as u64);
        let mut shipper = Self {
            disk: Arc::new(disk),
            store_id,
            bucket,
            memory,
            recipients: options.recipients,
            key: options.key,
            manifest: Manifest { number, ..manifest },
            published,
            older: listed,
            is_changed: false,
            is_compared: false,
            unlisted: BTreeSet::new(),
            held,
            pass: Shipped::default(),
        };
        shipper
            .prepare(&identity, is_new, options.anew, seen.is_some())
            .await?;
        Ok(shipper)
    }

    /// Makes a new copy ready, or looks whether an earlier one is whole.
    async fn prepare(
        &mut self,
        identity: &[u8],
        is_new: bool,
        anew: bool,
        was_seen: bool,
    ) -> Result<(), Error> {
        if anew || is_new {
            if is_new && !anew {
                self.refuse_orphans().await?;
            }
            let bytes = self.sealed(identity)?;
            self.manifest.identity = Hash::of(&bytes);
            self.put(&object_name(&self.manifest.identity.clone()), bytes)
                .await?;
            self.is_changed = true;
            if anew {
                return Ok(());
            }
            // Before any frames: objects without a manifest mean that manifests were lost.
            return self.publish().await;
        }
        self.check().await?;
        // Without a memory a manifest may be there that the list lacks.
        match was_seen {
            true => self.clear().await,
            false => Ok(()),
        }
    }

    /// Refuses a place whose manifests are gone.
    async fn refuse_orphans(&self) -> Result<(), Error> {
        let is_empty = self.bucket.names(LISTS).await?.is_empty();
        // The first object is written before the first manifest.
        match is_empty && self.bucket.names(OBJECTS).await?.len() <= 1 {
            true => Ok(()),
            false => Err(Error::RolledBack { seen: 1, found: 0 }),
        }
    }

    /// Ships all that is durable, and removes the objects that hold what is erased since.
    ///
    /// # Errors
    /// As [`Shipper::open`]. After an error of the storage the next pass goes on.
    pub async fn pass(&mut self) -> Result<Shipped, Error> {
        self.pass = Shipped::default();
        let before = self.manifest.end.entries;
        let mut is_erased = false;
        loop {
            let end = replica::durable_end(&self.disk, self.store_id)?;
            self.ship_to(end).await?;
            if !is_erased && !self.manifest.waits.is_empty() {
                is_erased = true;
                self.erase().await?;
                // Each body that was blank when it was read is listed before the end published by now.
                continue;
            }
            let Some(entry) = self.unlisted.first() else {
                break;
            };
            let later = replica::durable_end(&self.disk, self.store_id)?;
            if later.entries <= end.entries {
                return Err(damaged(end, *entry));
            }
        }
        if self.is_changed {
            self.publish().await?;
        }
        if self.held > self.manifest.waits.len() as u64 {
            self.clear().await?;
        }
        Ok(Shipped {
            entries: self.manifest.end.entries,
            newest_ms: self.manifest.newest_ms,
            added: self.manifest.end.entries - before,
            waits: self.held,
            ..self.pass
        })
    }

    async fn ship_to(&mut self, end: LedgerPosition) -> Result<(), Error> {
        let begun = self.manifest.end;
        if end.entries < begun.entries {
            return Err(Error::Behind {
                here: end.entries,
                there: begun.entries,
            });
        }
        let diverged = || Error::Diverged {
            entries: begun.entries,
        };
        while self.manifest.end.entries < end.entries {
            let from = LedgerPosition::from(self.manifest.end);
            let read = replica::read_stretch(&*self.disk, &self.store_id, from, end, STRETCH_BYTES);
            let stretch = match read {
                Err(error) if !self.is_compared && is_damage(&error) => return Err(diverged()),
                read => read?,
            };
            if stretch.to.entries == from.entries {
                return Err(diverged());
            }
            self.ship(&stretch).await?;
        }
        if self.manifest.end.head.to_bytes() != end.head {
            return Err(diverged());
        }
        self.is_compared = true;
        Ok(())
    }

    async fn ship(&mut self, stretch: &Stretch) -> Result<(), Error> {
        let bytes = self.sealed(stretch.bytes())?;
        let hash = Hash::of(&bytes);
        self.put(&object_name(&hash), bytes).await?;
        self.pass.ledger_bytes += stretch.bytes().len() as u64;
        self.manifest.parts.push(Part {
            level: 0,
            hash,
            first: stretch.from.entries,
            end: stretch.to.entries,
            segment: stretch.from.segment,
            offset: stretch.from.offset,
            bytes: stretch.bytes().len() as u64,
        });
        self.manifest.end = stretch.to.into();
        self.manifest.newest_ms = self.manifest.newest_ms.max(stretch.newest_ms);
        self.is_changed = true;
        let unproven = stretch.blank.iter().chain(&stretch.broken);
        self.unlisted.extend(unproven.map(|entry| entry.get()));
        for entry in stretch.listed.iter().map(|entry| entry.get()) {
            self.unlisted.remove(&entry);
            self.manifest.waits.push(entry);
        }
        if !stretch.listed.is_empty() {
            self.manifest.waits.sort_unstable();
            self.manifest.waits.dedup();
        }
        self.pass.written_bytes += tree::fold(&self.bucket, &mut self.manifest.parts).await?;
        Ok(())
    }

    /// Ships the objects again whose erased entries are blank in the store by now.
    async fn erase(&mut self) -> Result<(), Error> {
        let waits: BTreeSet<u64> = self.manifest.waits.iter().copied().collect();
        let parts = tree::holding(&self.bucket, &self.manifest.parts, &waits).await?;
        let mut replaced = Vec::new();
        let mut done = BTreeSet::new();
        for part in parts {
            let stretch = self.read_again(&part)?;
            let blank: BTreeSet<u64> = stretch.blank.iter().map(|entry| entry.get()).collect();
            let inside: Vec<u64> = waits.range(part.first..part.end).copied().collect();
            if !inside.iter().all(|entry| blank.contains(entry)) {
                continue;
            }
            if let Some(entry) = stretch.broken.first() {
                return Err(damaged(stretch.from, entry.get()));
            }
            let bytes = self.sealed(stretch.bytes())?;
            let hash = Hash::of(&bytes);
            if hash != part.hash {
                self.put(&object_name(&hash), bytes).await?;
                replaced.push(Part { hash, ..part });
            }
            done.extend(inside);
        }
        let mut parts = self.manifest.parts.clone();
        tree::replace(&self.bucket, &mut parts, &replaced).await?;
        self.manifest.parts = parts;
        self.manifest.waits.retain(|entry| !done.contains(entry));
        self.pass.erased += done.len() as u64;
        self.is_changed |= !done.is_empty();
        self.held = self
            .held
            .max((self.manifest.waits.len() + done.len()) as u64);
        Ok(())
    }

    /// Reads the frames of an object as they are in the ledger now.
    fn read_again(&self, part: &Part) -> Result<Stretch, Error> {
        let position = |entries, offset| LedgerPosition {
            entries,
            // Nothing is compared with it: the check of each frame covers the headers.
            head: [0; 32],
            segment: part.segment,
            offset,
        };
        let from = position(part.first, part.offset);
        let until = position(part.end, part.offset.saturating_add(part.bytes));
        let max = usize::try_from(part.bytes).unwrap_or(usize::MAX);
        let stretch = replica::read_stretch(&*self.disk, &self.store_id, from, until, max)?;
        match stretch.to.entries == part.end && stretch.bytes().len() == max {
            true => Ok(stretch),
            false => Err(Error::Diverged { entries: part.end }),
        }
    }

    /// Writes the manifest. Its number is never given to another one, whatever became of it.
    async fn publish(&mut self) -> Result<(), Error> {
        self.manifest.number = self.manifest.number.saturating_add(1);
        if let Some(key) = &self.key {
            trust::sign(&mut self.manifest, key)?;
        }
        let bytes = self.manifest.to_bytes();
        let name = ManifestName::of(self.manifest.number, &bytes);
        // The name is known before it is there: a process that ends in between looks for it.
        if let Some(seen) = self.memory.read()? {
            self.memory.write(&Seen {
                waits: self.held.max(self.manifest.waits.len() as u64),
                next: Some(name),
                ..seen
            })?;
        }
        self.put(&name.to_string(), bytes).await?;
        self.held = self.held.max(self.manifest.waits.len() as u64);
        let seen = Seen::of(self.bucket.url(), name, &self.manifest);
        self.memory.write(&Seen {
            waits: self.held,
            ..seen
        })?;
        self.older.extend(self.published.replace(name));
        self.is_changed = false;
        while self.older.len() > OLDER_KEPT {
            let oldest = self.older.remove(0);
            self.bucket.remove(&oldest.to_string()).await?;
        }
        Ok(())
    }

    /// Looks whether the copy has all objects that its manifest names.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` names the first that is gone; `ERR_BACKUP_DIVERGED`; `ERR_STORAGE_IO`.
    pub async fn check(&self) -> Result<(), Error> {
        if let Some(name) = &self.published
            && !self.bucket.has(&name.to_string()).await?
        {
            let found = self.bucket.newest().await?;
            return Err(Error::RolledBack {
                seen: name.number,
                found: found.map_or(0, |(name, _)| name.number),
            });
        }
        let listed = self.listed().await?;
        let mut lost = Vec::new();
        for name in self.named().await?.difference(&listed) {
            // A list may be stale.
            if !self.bucket.has(name).await? {
                lost.push(name.clone());
            }
        }
        let count = lost.len();
        match lost.into_iter().next() {
            None => Ok(()),
            Some(name) => Err(Error::Lost { name, count }),
        }
    }

    /// Removes the objects that the manifest does not name: those of erased entries, and those of a
    /// run that was killed.
    async fn clear(&mut self) -> Result<(), Error> {
        let named = self.named().await?;
        for name in self.listed().await?.difference(&named) {
            self.bucket.remove(name).await?;
        }
        self.held = self.manifest.waits.len() as u64;
        if let Some(seen) = self.memory.read()? {
            let waits = self.held;
            self.memory.write(&Seen { waits, ..seen })?;
        }
        Ok(())
    }

    async fn named(&self) -> Result<BTreeSet<String>, Error> {
        let mut names = tree::names(&self.bucket, &self.manifest.parts).await?;
        names.insert(object_name(&self.manifest.identity));
        Ok(names)
    }

    async fn listed(&self) -> Result<BTreeSet<String>, Error> {
        let mut listed = BTreeSet::new();
        for folder in [OBJECTS, LISTS] {
            let names = self.bucket.names(folder).await?.into_iter();
            // Another file is another program's.
            let names = names.filter(|name| name.parse::<Hash>().is_ok());
            listed.extend(names.map(|name| format!("{folder}/{name}")));
        }
        Ok(listed)
    }

    fn sealed(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        match &self.recipients {
            None => Ok(bytes.to_vec()),
            Some(recipients) => recipients.encrypt(bytes),
        }
    }

    async fn put(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let written = bytes.len() as u64;
        self.bucket.put(name, bytes).await?;
        self.pass.written_bytes += written;
        Ok(())
    }
}

/// A body that is not what was written, and that no erasure lists: a copy of it is not made.
fn damaged(at: LedgerPosition, entry: u64) -> Error {
    Error::from(ledger::Error::Damaged {
        segment: at.segment,
        offset: at.offset,
        sequence: EntryId::new(entry),
        reason: "a body is not what was written, and no erasure lists it",
    })
}

fn is_damage(error: &grainstore::Error) -> bool {
    error.code() == grainstore::ErrorCode::StorageDamaged
}

/// The longest object, in bytes, but for one frame that is longer: an erasure ships it again.
const STRETCH_BYTES: usize = 8 << 20;
/// A reader may be at an older manifest for a moment.
const OLDER_KEPT: usize = 8;
