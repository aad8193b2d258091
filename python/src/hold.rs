//! Legal holds on grains.

use grainstore::store::Authorization;
use pyo3::prelude::*;

use crate::store::Store;
use crate::value::address;

/// The grain, since when it is held, the reason and the authority.
type Hold = (String, i64, String, String);

#[pymethods]
impl Store {
    fn place_hold(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        reason: &str,
        authority: &str,
    ) -> PyResult<()> {
        let address = address(of)?;
        let by = Authorization { reason, authority };
        self.ask(py, |store| store.admin()?.place_hold(&address, by))
    }

    fn lift_hold(
        &self,
        py: Python<'_>,
        of: &Bound<'_, PyAny>,
        reason: &str,
        authority: &str,
    ) -> PyResult<bool> {
        let address = address(of)?;
        let by = Authorization { reason, authority };
        self.ask(py, |store| store.admin()?.lift_hold(&address, by))
    }

    fn holds(&self, py: Python<'_>) -> PyResult<Vec<Hold>> {
        let holds = self.ask(py, |store| Ok(store.admin()?.holds()))?;
        let holds = holds.into_iter().map(|hold| {
            let by = hold.authorization;
            let address = hold.address.to_string();
            (address, hold.since.ms(), by.reason, by.authority)
        });
        Ok(holds.collect())
    }
}
