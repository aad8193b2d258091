//! A shared ledger whose long frames lie in objects. The sequence has a stub in the place of each, with the
//! name and the key of the object (`stub.rs`).
//!
//! An object is written before the stub that names it, once, under the hash of its bytes, and is sealed with
//! a key that the stub alone has. So the sequence decides what there is: an object of a refused or an
//! interrupted commit opens for none, an erasure is done with the row, and removing the object after that
//! only frees room. Nothing rests on a conditional put, on a list, or on an object that is gone.

mod stub;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use grainstore::crypto::Random;
use grainstore::ledger::StoreId;
use grainstore_shared::{
    Appended, Error, Head, Identity, Node, Proposal, Sequence, StoredFrame, Turn,
};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::Bucket;
use stub::Stub;

/// Opens the place that a URL names.
pub type OpenBucket = Box<dyn Fn(&str) -> Result<Bucket, crate::Error> + Send + Sync>;

/// A sequence whose long frames lie in objects, if it was created so; any other is as it is.
///
/// ```
/// use std::sync::Arc;
/// use grainstore::crypto::OsRandom;
/// use grainstore_replica::{BodySequence, Bucket};
/// use grainstore_shared::{Head, Identity, MemorySequence, Sequence};
///
/// let objects = Arc::new(object_store::memory::InMemory::new());
/// let open = Box::new(move |url: &str| Ok(Bucket::new(objects.clone(), url)));
/// let rows = Arc::new(MemorySequence::default());
/// let sequence = BodySequence::new(rows, open, Arc::new(OsRandom)).for_new("memory:///");
/// let origin = Head { entries: 0, leaf: [7; 32] };
/// assert!(sequence.create(&Identity { store: [7; 16], manifest: b"{}".to_vec(), origin, bodies: None })?);
/// # Ok::<(), grainstore_shared::Error>(())
/// ```
pub struct BodySequence {
    rows: Arc<dyn Sequence>,
    open: OpenBucket,
    random: Arc<dyn Random>,
    /// The place for a sequence that is created.
    new: Option<String>,
    /// A frame of more bytes lies in an object.
    inline_max: usize,
    bodies: OnceLock<Option<Bodies>>,
    /// `None` until the first object.
    runtime: Mutex<Option<Runtime>>,
}

/// The place of a store's objects.
#[derive(Debug, Clone)]
struct Bodies {
    bucket: Bucket,
    /// Every name begins with the store id.
    store: StoreId,
}

impl BodySequence {
    /// Takes a sequence; `open` opens the place that it names, and `random` gives the keys of objects.
    pub fn new(rows: Arc<dyn Sequence>, open: OpenBucket, random: Arc<dyn Random>) -> Self {
        Self {
            rows,
            open,
            random,
            new: None,
            inline_max: INLINE_MAX,
            bodies: OnceLock::new(),
            runtime: Mutex::default(),
        }
    }

    /// Names the place for the frames of a sequence that is created.
    #[must_use]
    pub fn for_new(mut self, url: impl Into<String>) -> Self {
        self.new = Some(url.into());
        self
    }

    /// Says up to which length a frame stays in its row.
    #[must_use]
    pub fn inlining(mut self, inline_max: usize) -> Self {
        self.inline_max = inline_max;
        self
    }

    /// Returns the place of the frames; `None` if all lie in their rows.
    fn bodies(&self) -> Result<Option<Bodies>, Error> {
        if self.bodies.get().is_none() {
            self.identity()?;
        }
        Ok(self.bodies.get().cloned().flatten())
    }

    fn opened(&self, url: &str, store: [u8; 16]) -> Result<Bodies, Error> {
        let bucket = (self.open)(url).map_err(refusal)?;
        let store = StoreId::new(store);
        Ok(Bodies { bucket, store })
    }

    /// Has work done on the thread of the storage.
    fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, crate::Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let ended = || Error::unreachable("the thread of the object storage ended");
        let (reply, answer) = mpsc::channel();
        let storage = self.storage()?;
        drop(storage.spawn(async move { reply.send(work.await).ok() }));
        let answer = answer.recv().map_err(|_| ended())?;
        answer.map_err(refusal)
    }

    /// Returns the thread that speaks to the storage: its own, so that a caller blocks on it wherever it
    /// runs.
    fn storage(&self) -> Result<Handle, Error> {
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        let runtime = match &mut *runtime {
            Some(runtime) => runtime,
            none => {
                let mut builder = Builder::new_multi_thread();
                builder.worker_threads(1).thread_name("grainstore-bodies");
                none.insert(builder.enable_all().build().map_err(Error::unreachable)?)
            }
        };
        Ok(runtime.handle().clone())
    }

    /// Writes an object with a frame, and returns its stub.
    fn put(&self, bodies: &Bodies, frame: &[u8]) -> Result<Stub, Error> {
        let (stub, object) = Stub::seal(frame, &*self.random)?;
        let (name, bucket) = (bodies.name(&stub), bodies.bucket.clone());
        self.run(async move { bucket.put(&name, object).await })?;
        Ok(stub)
    }

    /// Removes an object that no row names. It opens for none, so a failure leaves no more than bytes.
    fn remove(&self, bodies: &Bodies, stub: &Stub) {
        let (name, bucket) = (bodies.name(stub), bodies.bucket.clone());
        if let Err(error) = self.run(async move { bucket.remove(&name).await }) {
            tracing::warn!(%error, object = %stub.hash, "an object that is no longer used stays");
        }
    }

    /// Reads the objects that rows name. Between them is the number of the first row whose object is not there.
    fn fetch(
        &self,
        bodies: &Bodies,
        rows: Vec<Row>,
    ) -> Result<Result<Vec<StoredFrame>, u64>, Error> {
        let from = bodies.clone();
        let read = stream::iter(rows.into_iter().map(move |row| {
            let from = from.clone();
            async move { from.read(row).await }
        }));
        let read = self.run(read.buffered(AT_ONCE).try_collect::<Vec<_>>())?;
        Ok(read.into_iter().collect())
    }

    fn lost(bodies: &Bodies, row: &Row) -> Error {
        let name = row.stub.map(|stub| bodies.name(&stub)).unwrap_or_default();
        let (first, url) = (row.frame.first, bodies.bucket.url());
        Error::refused(format!(
            "{url} has no object {name}, which holds the frame of entry {first}"
        ))
    }
}

/// A row that was read, with its stub if it is one.
#[derive(Debug, Clone)]
struct Row {
    frame: StoredFrame,
    stub: Option<Stub>,
}

impl Row {
    fn of(frame: StoredFrame) -> Self {
        let stub = Stub::parse(&frame.bytes);
        Self { frame, stub }
    }

    /// Returns the length of its frame.
    fn len(&self) -> usize {
        let here = self.frame.bytes.len();
        let there = |stub: Stub| usize::try_from(stub.len).unwrap_or(usize::MAX);
        self.stub.map_or(here, there)
    }
}

impl Bodies {
    fn name(&self, stub: &Stub) -> String {
        format!("{}/bodies/{}", self.store, stub.hash)
    }

    /// Reads the frame of a row; its first entry if the object is not there.
    async fn read(&self, row: Row) -> Result<Result<StoredFrame, u64>, crate::Error> {
        let Row { mut frame, stub } = row;
        let Some(stub) = stub else {
            return Ok(Ok(frame));
        };
        let name = self.name(&stub);
        let found = self
            .bucket
            .get(&name, &stub.hash, stub.object_len())
            .await?;
        let Some(object) = found else {
            return Ok(Err(frame.first));
        };
        let wrong = || crate::Error::damaged(&name, &"its key does not open it");
        frame.bytes = stub.open(object).ok_or_else(wrong)?;
        Ok(Ok(frame))
    }
}

impl Sequence for BodySequence {
    fn identity(&self) -> Result<Option<Identity>, Error> {
        let Some(identity) = self.rows.identity()? else {
            return Ok(None);
        };
        if self.bodies.get().is_none() {
            let url = identity.bodies.as_deref();
            let opened = url
                .map(|url| self.opened(url, identity.store))
                .transpose()?;
            // It is the same for as long as there is the sequence.
            self.bodies.get_or_init(|| opened);
        }
        Ok(Some(Identity {
            bodies: None,
            ..identity
        }))
    }

    fn create(&self, identity: &Identity) -> Result<bool, Error> {
        let Some(url) = &self.new else {
            return self.rows.create(identity);
        };
        let bodies = self.opened(url, identity.store)?;
        let name = format!("{}/MANIFEST", bodies.store);
        let (bucket, manifest) = (bodies.bucket, identity.manifest.clone());
        // A place that takes nothing is found now, and not by the first put.
        self.run(async move { bucket.put(&name, manifest).await })?;
        self.rows.create(&Identity {
            bodies: Some(url.clone()),
            ..identity.clone()
        })
    }

    fn head(&self) -> Result<Head, Error> {
        self.rows.head()
    }

    fn append(&self, proposal: &Proposal<'_>) -> Result<Appended, Error> {
        let bodies = self.bodies()?;
        let Some(bodies) = bodies.filter(|_| proposal.frame.len() > self.inline_max) else {
            return self.rows.append(proposal);
        };
        let stub = self.put(&bodies, proposal.frame)?;
        let appended = self.rows.append(&Proposal {
            frame: &stub.to_bytes(),
            ..*proposal
        });
        if let Ok(Appended::No) = appended {
            self.remove(&bodies, &stub);
        }
        appended
    }

    fn read(&self, from: u64, max: usize) -> Result<Vec<StoredFrame>, Error> {
        let Some(bodies) = self.bodies()? else {
            return self.rows.read(from, max);
        };
        // A stub may stand for more than there is room for, so not too many are asked for.
        let rows_max = match max {
            0 | 1 => max,
            _ => max.clamp(ROWS_LEAST, ROWS_MOST),
        };
        let mut missing = None;
        loop {
            let mut rows = Vec::new();
            let mut bytes = 0_usize;
            for row in self.rows.read(from, rows_max)?.into_iter().map(Row::of) {
                bytes = bytes.saturating_add(row.len());
                if bytes > max && !rows.is_empty() {
                    break;
                }
                rows.push(row);
            }
            let first = match self.fetch(&bodies, rows.clone())? {
                Ok(frames) => return Ok(frames),
                Err(first) => first,
            };
            // An erasure may have put another object in its place; then the row differs, too.
            let row = rows.into_iter().find(|row| row.frame.first == first);
            let row = row.ok_or_else(|| Error::refused("a row that was not asked for"))?;
            if missing == row.stub {
                return Err(Self::lost(&bodies, &row));
            }
            missing = row.stub;
        }
    }

    fn wait(&self, entries: u64, patience: Duration) -> Result<Head, Error> {
        self.rows.wait(entries, patience)
    }

    fn replace(&self, frame: &StoredFrame) -> Result<bool, Error> {
        let Some(bodies) = self.bodies()? else {
            return self.rows.replace(frame);
        };
        let row = self.rows.read(frame.first, 1)?.into_iter().next();
        let row = row.filter(|row| (row.first, row.version) == (frame.first, frame.version));
        let Some(row) = row.map(Row::of) else {
            return Ok(false);
        };
        let Some(old) = row.stub else {
            return self.rows.replace(frame);
        };
        if row.len() != frame.bytes.len() {
            return Err(Error::refused("a frame keeps its length"));
        }
        let new = self.put(&bodies, &frame.bytes)?;
        let replaced = self.rows.replace(&StoredFrame {
            bytes: new.to_bytes(),
            ..*frame
        });
        match replaced {
            Ok(true) => self.remove(&bodies, &old),
            Ok(false) => self.remove(&bodies, &new),
            // Either may be the one that is used.
            Err(_) => {}
        }
        replaced
    }

    fn take_turn(&self, node: Node, lease: Duration) -> Result<Turn, Error> {
        self.rows.take_turn(node, lease)
    }

    fn end_turn(&self, node: Node) {
        self.rows.end_turn(node);
    }

    fn settle(&self) {
        self.rows.settle();
    }

    fn may_lose(&self) -> Option<bool> {
        self.rows.may_lose()
    }
}

impl Drop for BodySequence {
    /// The last handle may be dropped where a thread must not block.
    fn drop(&mut self) {
        let runtime = self
            .runtime
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for BodySequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodySequence")
            .field("rows", &self.rows)
            .field("bodies", &self.bodies)
            .finish_non_exhaustive()
    }
}

/// Returns the error of the storage as one of the sequence.
fn refusal(error: crate::Error) -> Error {
    match error.is_passing() {
        true => Error::unreachable(error),
        false => Error::refused(error),
    }
}

/// PostgreSQL itself puts what is longer out of the row.
const INLINE_MAX: usize = 2_000;
/// So many objects are read at once.
const AT_ONCE: usize = 16;
/// The bytes of rows that are asked for at once.
const ROWS_LEAST: usize = 16 << 10;
const ROWS_MOST: usize = 256 << 10;
