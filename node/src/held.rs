//! The handles of an opened store. Closing it takes the library's handle out of each of them, once the
//! calls that are under way have ended.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use napi::bindgen_prelude::Result;

use crate::failure;

/// The opening of a store: its folder, and the places of its handles.
pub(crate) struct Opening {
    folder: Option<PathBuf>,
    is_closed: AtomicBool,
    slots: Mutex<Vec<Weak<dyn Empty>>>,
}

impl Opening {
    /// Returns the opening of a folder, or of a store in memory.
    pub(crate) fn of(folder: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self {
            folder,
            is_closed: AtomicBool::new(false),
            slots: Mutex::default(),
        })
    }

    /// Returns the folder of the store; none for one in memory.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Whether the program has closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Closes the store for every handle, when the calls that are under way have ended.
    pub(crate) fn close(&self) {
        let slots = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            self.is_closed.store(true, Ordering::Release);
            std::mem::take(&mut *slots)
        };
        for slot in slots.iter().filter_map(Weak::upgrade) {
            slot.empty();
        }
    }
}

/// A place that may be emptied.
trait Empty: Send + Sync {
    fn empty(&self);
}

struct Slot<T: Send + 'static>(RwLock<Option<T>>);

impl<T: Send + Sync + 'static> Empty for Slot<T> {
    fn empty(&self) {
        let value = self
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(value);
    }
}

impl<T: Send + 'static> Drop for Slot<T> {
    fn drop(&mut self) {
        let value = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = value.take() {
            // The last handle closes the store and waits for its threads, of which one may wait for
            // the event loop: this is the loop's thread when the handle is collected.
            drop(std::thread::Builder::new().spawn(move || drop(value)));
        }
    }
}

/// A handle on a store, or what holds one.
pub(crate) struct Held<T: Send + 'static> {
    slot: Arc<Slot<T>>,
    opening: Arc<Opening>,
}

impl<T: Send + 'static> Clone for Held<T> {
    fn clone(&self) -> Self {
        Self {
            slot: Arc::clone(&self.slot),
            opening: Arc::clone(&self.opening),
        }
    }
}

impl<T: Send + Sync + 'static> Held<T> {
    pub(crate) fn new(value: T, opening: &Arc<Opening>) -> Self {
        let slot = Arc::new(Slot(RwLock::new(Some(value))));
        let mut slots = opening.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if opening.is_closed() {
            slot.empty();
        } else {
            slots.retain(|slot| slot.strong_count() > 0);
            let erased: Arc<dyn Empty> = Arc::<Slot<T>>::clone(&slot);
            slots.push(Arc::downgrade(&erased));
        }
        drop(slots);
        Self {
            slot,
            opening: Arc::clone(opening),
        }
    }

    pub(crate) const fn opening(&self) -> &Arc<Opening> {
        &self.opening
    }

    /// Uses the value on a thread that may wait until it is closed.
    pub(crate) fn with<R>(&self, using: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        let value = self.slot.0.read().unwrap_or_else(PoisonError::into_inner);
        using(value.as_ref().ok_or_else(closed)?)
    }

    /// Changes the value on a thread that may wait for others.
    pub(crate) fn with_mut<R>(&self, using: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let mut value = self.slot.0.write().unwrap_or_else(PoisonError::into_inner);
        using(value.as_mut().ok_or_else(closed)?)
    }

    /// Gives the value back, when the calls that are under way have ended.
    pub(crate) fn empty(&self) {
        self.slot.empty();
    }

    /// Looks at the value on the thread of the event loop, which does not wait while it is closed.
    pub(crate) fn at_once<R>(&self, using: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        let value = self.slot.0.try_read().map_err(|_| closed())?;
        using(value.as_ref().ok_or_else(closed)?)
    }
}

fn closed() -> napi::Error {
    failure::usage("the store is closed")
}
