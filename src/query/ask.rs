use crate::codec::nfc;
use crate::grain::Grain;
use crate::store::{Store, Version};
use crate::text;

use super::{Cursor, Envelope, Error, Filter, Found, Sort};

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
        self.query_sorted(filter, Sort::default(), limit, after)
    }

    /// Returns up to `limit` grains that pass a filter, in an order, from where a page left off.
    ///
    /// All pages of an answer are of the moment of the first: what is written meanwhile changes
    /// neither what they hold nor their total. Only what is erased is missing at once.
    ///
    /// ```
    /// use grainstore::query::{Sort, SortBy};
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// for sure in [0.2, 0.9, 0.5] {
    ///     store.put(Draft::belief("user", "likes", format!("tea {sure}")).confidence(sure))?;
    /// }
    /// let sort = Sort::by(SortBy::Confidence).descending();
    /// let page = store.query_sorted(&Filter::new(), sort, 2, None)?;
    /// let rest = store.query_sorted(&Filter::new(), sort, 2, page.next_cursor)?;
    /// assert_eq!(rest.results[0].grain.text("object"), Some("tea 0.2"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; `ERR_CURSOR` for a cursor of another question; storage errors.
    pub fn query_sorted(
        &self,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Envelope, Error> {
        let mut snapshot = self.snapshot();
        if let Some(cursor) = after {
            cursor.check(filter, sort)?;
            snapshot = snapshot.until(cursor.entries)?;
        }
        let rows = self.rows(&snapshot, filter)?;
        let last = after.map(|cursor| cursor.last);
        let (places, has_more) = sort.page(self, &snapshot, &rows, last, limit)?;
        let mut envelope = Envelope {
            total: rows.len(),
            ..Envelope::default()
        };
        if let (Some(last), true) = (places.last(), has_more) {
            let cursor = Cursor::new(snapshot.watermark(), *last, filter, sort);
            envelope.next_cursor = Some(cursor);
        }
        let conditions = filter.conditions();
        for [_, _, row] in places {
            let version = self.version_at(&snapshot, row)?;
            // Hashes that clash must not show a grain that says something else.
            if conditions.iter().all(|condition| condition.holds(&version)) {
                envelope
                    .results
                    .push(Found::of(version, 1.0, filter.fields()));
            } else {
                envelope.total -= 1;
            }
        }
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
            let version = self.version_at(&snapshot, hit.row)?;
            let matched = matched_fields(&query, &version.grain);
            envelope
                .results
                .push(Found::of(version, hit.relevance(), matched));
        }
        Ok(envelope)
    }
}

impl Found {
    fn of(version: Version, score: f64, matched_fields: Vec<&'static str>) -> Self {
        Self {
            address: version.grain.address(),
            matched_fields,
            grain: version.grain,
            status: version.status,
            score,
        }
    }
}

fn matched_fields(query: &text::Query, grain: &Grain) -> Vec<&'static str> {
    let wording = grain.wording();
    let matched = wording.iter().filter(|(_, words)| query.occurs_in(words));
    matched.map(|(field, _)| *field).collect()
}
