use crate::codec::nfc;
use crate::grain::Grain;
use crate::store::Store;
use crate::text;

use super::{Envelope, Error, Filter};

impl Store {
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
        let rows = self.rows(&snapshot, filter)?;
        let accept = |row: u64| rows.contains(row);
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
}

fn matched_fields(query: &text::Query, grain: &Grain) -> Vec<&'static str> {
    let wording = grain.wording();
    let matched = wording.iter().filter(|(_, words)| query.occurs_in(words));
    matched.map(|(field, _)| *field).collect()
}
