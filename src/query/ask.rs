use crate::grain::Grain;
use crate::index::Snapshot;
use crate::store::Store;

use super::{Cursor, Envelope, Error, Filter, Found};

impl Store {
    /// Returns up to `limit` grains that pass a filter, in the order in which they were stored.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark mode").confidence(0.9))?;
    /// let found = store.query(&Filter::new().subject("user"), 10, None)?;
    /// assert_eq!(found.total, 1);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors.
    pub fn query(
        &self,
        filter: &Filter,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Envelope, Error> {
        let snapshot = self.snapshot();
        let rows = self.rows(&snapshot, filter)?;
        let from = after.map_or(0, |cursor| cursor.row.saturating_add(1));
        let mut rest = rows.iter().copied().skip_while(|row| *row < from);
        let mut envelope = Envelope {
            total: u64::try_from(rows.len()).unwrap_or(u64::MAX),
            ..Envelope::default()
        };
        let mut last = None;
        for row in rest.by_ref().take(limit) {
            let found = self.found(&snapshot, row, 1.0, |_| filter.fields())?;
            envelope.results.push(found);
            last = Some(Cursor { row });
        }
        envelope.next_cursor = rest.next().and(last);
        Ok(envelope)
    }

    /// Returns the rows that a filter shows, in the order in which they were stored.
    pub(super) fn rows(&self, snapshot: &Snapshot, filter: &Filter) -> Result<Vec<u64>, Error> {
        let rows = match filter.rows(snapshot)? {
            Some(rows) => rows,
            None => snapshot.grains(),
        };
        Ok(rows
            .iter()
            .filter(|row| filter.shows(snapshot, *row))
            .collect())
    }

    /// Returns a row as an answer shows it.
    pub(super) fn found(
        &self,
        snapshot: &Snapshot,
        row: u64,
        score: f64,
        matched: impl FnOnce(&Grain) -> Vec<&'static str>,
    ) -> Result<Found, Error> {
        let version = self.version_at(snapshot, row)?;
        Ok(Found {
            address: version.grain.address(),
            matched_fields: matched(&version.grain),
            grain: version.grain,
            signature: version.signature,
            status: version.status,
            score,
        })
    }
}
