//! `Changes`: the entries of the ledger as a feed.

use std::time::Duration;

use grainstore::ledger::EntryId;
use grainstore::store::{Change, Changed};
use pyo3::prelude::*;

use crate::error;
use crate::grain::Grain;
use crate::held::Held;

/// The acknowledged entries of a store from one on.
#[pyclass(module = "grainstore")]
#[derive(Debug)]
pub(crate) struct Changes(Held<grainstore::query::Changes>);

impl Changes {
    pub(crate) const fn new(feed: Held<grainstore::query::Changes>) -> Self {
        Self(feed)
    }
}

/// The entry, its time, its kind, the grain that was stored and the addresses or entries it is about.
type Told = (
    u64,
    i64,
    &'static str,
    Option<Grain>,
    Option<String>,
    Vec<u64>,
);

#[pymethods]
impl Changes {
    /// The number of the next entry.
    #[getter]
    fn get_position(&mut self, py: Python<'_>) -> PyResult<u64> {
        let feed: &grainstore::query::Changes = self.0.get_mut(py)?;
        Ok(feed.position().get())
    }

    /// Returns the next change; `None` where the store ends.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Told>> {
        let feed = self.0.get_mut(py)?;
        let change = py.detach(|| feed.next().transpose());
        Ok(change.map_err(|error| error::of(py, &error))?.map(told))
    }

    /// Waits up to so many seconds until there is another entry.
    fn wait(&mut self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let feed = self.0.get_mut(py)?;
        let timeout = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Ok(py.detach(|| feed.wait(timeout)))
    }
}

fn told(change: Change) -> Told {
    let entry = change.entry.get();
    let at = change.at.ms();
    match change.what {
        Changed::Stored(version) => {
            let address = version.grain.address().to_string();
            (
                entry,
                at,
                "stored",
                Some(Grain::new(version.grain)),
                Some(address),
                Vec::new(),
            )
        }
        Changed::Status(address) => (
            entry,
            at,
            "status",
            None,
            Some(address.to_string()),
            Vec::new(),
        ),
        Changed::Erasing(entries) => {
            let entries = entries.into_iter().map(EntryId::get).collect();
            (entry, at, "erasing", None, None, entries)
        }
        Changed::Erased => (entry, at, "erased", None, None, Vec::new()),
        _ => (entry, at, "other", None, None, Vec::new()),
    }
}
