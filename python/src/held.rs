//! What belongs to the process that opened the store: a child made by `fork()` may not use it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use grainstore::ErrorCode;
use pyo3::{PyErr, PyResult, Python};

use crate::error;

/// The opening of a store: its folder, the process, and whether the program has closed it.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    folder: Option<Arc<Path>>,
    process: u32,
    is_closed: Arc<AtomicBool>,
}

impl Opening {
    /// Returns the opening of a folder, or of a store in memory, by this process.
    pub(crate) fn here(folder: Option<PathBuf>) -> Self {
        Self {
            folder: folder.map(Arc::from),
            process: std::process::id(),
            is_closed: Arc::default(),
        }
    }

    /// Returns the folder of the store; none for one in memory.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Whether the program has closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_of_this_process() {
            let message = "the store was opened before fork(): open it again in this process";
            return Err(error::raised(py, ErrorCode::Usage, message, None));
        }
        if self.is_closed() {
            return Err(closed(py));
        }
        Ok(())
    }
}

/// A handle on a store, or what holds one. Dropped in a child made by `fork()` it is left as it is:
/// the threads that would finish its work are those of the parent.
#[derive(Debug)]
pub(crate) struct Held<T: Send> {
    value: RwLock<Option<T>>,
    opening: Opening,
}

impl<T: Send> Held<T> {
    pub(crate) const fn new(value: T, opening: Opening) -> Self {
        Self {
            value: RwLock::new(Some(value)),
            opening,
        }
    }

    /// Returns the value for changing, if this process may use it and has not closed it.
    pub(crate) fn get_mut(&mut self, py: Python<'_>) -> PyResult<&mut T> {
        self.opening.check(py)?;
        let value = self.value.get_mut().unwrap_or_else(PoisonError::into_inner);
        value.as_mut().ok_or_else(|| closed(py))
    }

    pub(crate) const fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Closes the store for every handle, and gives this one back.
    pub(crate) fn close(&self, py: Python<'_>) {
        if self.opening.check(py).is_ok() {
            self.opening.is_closed.store(true, Ordering::Release);
            let value = self
                .value
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            py.detach(|| drop(value));
        }
    }
}

impl<T: Send + Clone> Held<T> {
    /// Returns the handle, if this process may use it and has not closed it.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<T> {
        self.opening.check(py)?;
        let value = self.value.read().unwrap_or_else(PoisonError::into_inner);
        value.clone().ok_or_else(|| closed(py))
    }
}

fn closed(py: Python<'_>) -> PyErr {
    error::raised(py, ErrorCode::Usage, "the store is closed", None)
}

impl<T: Send> Drop for Held<T> {
    fn drop(&mut self) {
        let value = self
            .value
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if !self.opening.is_of_this_process() {
            std::mem::forget(value);
            return;
        }
        // The last handle closes the store and waits for its threads, of which one may wait for the
        // interpreter.
        Python::attach(|py| py.detach(|| drop(value)));
    }
}
