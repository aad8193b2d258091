//! A sequence whose network fails when a test says so.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use grainstore_shared::{
    Appended, Error, Head, Identity, MemorySequence, Node, Proposal, Sequence, StoredFrame, Turn,
};
use parking_lot::Mutex;

type Step = Box<dyn FnOnce() + Send>;

/// A sequence in memory behind a network that fails.
#[derive(Clone)]
pub(crate) struct Faulty {
    inner: MemorySequence,
    is_offline: Arc<AtomicBool>,
    /// 1: the next append arrives, and its answer does not; 2: it does not arrive.
    loses: Arc<AtomicU8>,
    before_append: Arc<Mutex<Option<Step>>>,
}

impl Faulty {
    pub(crate) fn new(inner: MemorySequence) -> Self {
        Self {
            inner,
            is_offline: Arc::default(),
            loses: Arc::default(),
            before_append: Arc::default(),
        }
    }

    pub(crate) fn inner(&self) -> MemorySequence {
        self.inner.clone()
    }

    pub(crate) fn set_offline(&self, is_offline: bool) {
        self.is_offline.store(is_offline, Ordering::SeqCst);
    }

    pub(crate) fn lose_next_append(&self, arrives: bool) {
        self.loses
            .store(if arrives { 1 } else { 2 }, Ordering::SeqCst);
    }

    /// Takes a step between the next decision and its append.
    pub(crate) fn before_next_append(&self, step: impl FnOnce() + Send + 'static) {
        *self.before_append.lock() = Some(Box::new(step));
    }

    fn online(&self) -> Result<&MemorySequence, Error> {
        match self.is_offline.load(Ordering::SeqCst) {
            true => Err(Error::unreachable("the network is down")),
            false => Ok(&self.inner),
        }
    }
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

impl Sequence for Faulty {
    fn identity(&self) -> Result<Option<Identity>, Error> {
        self.online()?.identity()
    }

    fn create(&self, identity: &Identity) -> Result<bool, Error> {
        self.online()?.create(identity)
    }

    fn head(&self) -> Result<Head, Error> {
        self.online()?.head()
    }

    fn append(&self, proposal: &Proposal<'_>) -> Result<Appended, Error> {
        if let Some(step) = self.before_append.lock().take() {
            step();
        }
        let lost = || Error::unreachable("the answer was lost");
        match self.loses.swap(0, Ordering::SeqCst) {
            1 => {
                self.online()?.append(proposal)?;
                Err(lost())
            }
            2 => Err(lost()),
            _ => self.online()?.append(proposal),
        }
    }

    fn read(&self, from: u64, max: usize) -> Result<Vec<StoredFrame>, Error> {
        self.online()?.read(from, max)
    }

    fn wait(&self, entries: u64, patience: Duration) -> Result<Head, Error> {
        self.online()?.wait(entries, patience)
    }

    fn replace(&self, frame: &StoredFrame) -> Result<bool, Error> {
        self.online()?.replace(frame)
    }

    fn take_turn(&self, node: Node, lease: Duration) -> Result<Turn, Error> {
        // A turn of a test ends when it says so, not after a time of the library's.
        self.online()?.take_turn(node, lease)
    }

    fn end_turn(&self, node: Node) {
        if let Ok(sequence) = self.online() {
            sequence.end_turn(node);
        }
    }
}
