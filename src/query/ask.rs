use crate::codec::nfc;
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::store::Store;
use crate::text;

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

    /// Returns the `limit` grains whose words fit `text` best, of those that pass a filter.
    ///
    /// Words are stemmed as English and any of them may occur; `"a phrase"` must occur as it
    /// stands, `+word` must occur, `-word` must not. What was put is found at once.
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::belief("user", "prefers", "dark modes").confidence(0.9))?;
    /// let found = store.search("mode", &Filter::new(), 10)?;
    /// assert_eq!(found.results[0].matched_fields, ["object"]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors; `ERR_TEXT`, also for a store opened without its text view.
    pub fn search(&self, text: &str, filter: &Filter, limit: usize) -> Result<Envelope, Error> {
        let snapshot = self.snapshot();
        let rows = filter.rows(&snapshot)?;
        let withheld = self.withheld(&snapshot)?;
        let accept = |row: u64| {
            let passes = rows.as_ref().is_none_or(|rows| rows.contains(row));
            passes
                && !withheld.contains(row)
                && row < snapshot.watermark()
                && filter.shows(&snapshot, row)
        };
        let query = text::Query::parse(&nfc(text));
        let hits = self.text_view()?.search(&query, limit, &accept)?;
        let mut envelope = Envelope {
            total: u64::try_from(hits.total).unwrap_or(u64::MAX),
            total_is_lower_bound: hits.total_is_lower_bound,
            ..Envelope::default()
        };
        for hit in &hits.hits {
            let matched = |grain: &Grain| matched_fields(&query, grain);
            let found = self.found(&snapshot, hit.row, hit.relevance(), matched)?;
            envelope.results.push(found);
        }
        Ok(envelope)
    }

    /// Returns the rows that a filter shows, in the order in which they were stored.
    pub(super) fn rows(&self, snapshot: &Snapshot, filter: &Filter) -> Result<Vec<u64>, Error> {
        let rows = match filter.rows(snapshot)? {
            Some(rows) => rows,
            None => snapshot.grains(),
        };
        let withheld = self.withheld(snapshot)?;
        Ok(rows
            .iter()
            .filter(|row| filter.shows(snapshot, *row) && !withheld.contains(*row))
            .collect())
    }

    fn found(
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
            status: version.status,
            score,
        })
    }
}

fn matched_fields(query: &text::Query, grain: &Grain) -> Vec<&'static str> {
    let wording = grain.wording();
    let matched = wording.iter().filter(|(_, words)| query.occurs_in(words));
    matched.map(|(field, _)| *field).collect()
}
