//! `Store::query` and `query_sorted`: the evaluation of one page of a filter.
//!
//! The rows come from `plan.rs`, their order from `sort.rs`.

use crate::grain::Grain;
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::store::{Store, Version};

use super::{Cursor, Envelope, Error, Filter, Found, Sort};

impl Store {
    /// Returns up to `limit` grains that pass a filter, in the order in which they were stored; those
    /// of one [session](Filter::session) in the order of time (OMS 28.6).
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
        self.query_sorted(filter, Sort::of(filter), limit, after)
    }

    /// Returns up to `limit` grains that pass a filter, in a sort order, from a cursor on.
    ///
    /// All pages show the snapshot of the first page: neither concurrent writes nor expiry change
    /// their contents or total. Only erased grains disappear at once.
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
    /// `ERR_FILTER`; `ERR_CURSOR` for a cursor of another query; storage errors.
    pub fn query_sorted(
        &self,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Envelope, Error> {
        self.visible_page(filter, sort, limit, after)
    }

    /// Returns a page as [`Store::query_sorted`] does, before it is recorded as read.
    pub(super) fn page(
        &self,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Envelope, Error> {
        let (mut snapshot, mut now) = (self.snapshot(), self.now());
        if let Some(cursor) = after {
            cursor.check(filter, sort)?;
            snapshot = snapshot.as_of(cursor.entries)?;
            now = cursor.now;
        }
        let rows = self.rows_at(&snapshot, filter, now)?;
        let last = after.map(|cursor| cursor.last);
        let (places, has_more) = sort.page(self, &snapshot, &rows, last, limit)?;
        let mut envelope = Envelope {
            total: rows.len(),
            ..Envelope::default()
        };
        if let (Some(last), true) = (places.last(), has_more) {
            let moment = (snapshot.watermark(), now);
            envelope.next_cursor = Some(Cursor::new(moment, *last, filter, sort));
        }
        let (conditions, fields) = (self.conditions_of(&snapshot, filter)?, filter.fields());
        let (mut len, end) = (0_usize, places.len().saturating_sub(1));
        for (at, place) in places.into_iter().enumerate() {
            let row = EntryId::new(place[2]);
            let version = self.version_at(&snapshot, row)?;
            len = len.saturating_add(version.grain.blob().len());
            // Each result is checked against the filter again, since term hashes can collide.
            if conditions.iter().all(|condition| condition.holds(&version)) {
                envelope
                    .results
                    .push(Found::of(row, version, 1.0, fields.clone()));
            } else {
                envelope.total -= 1;
            }
            if len >= filter.answer_len_max() && at < end {
                let moment = (snapshot.watermark(), now);
                envelope.next_cursor = Some(Cursor::new(moment, place, filter, sort));
                envelope.is_cut = true;
                break;
            }
        }
        Ok(envelope)
    }

    pub(super) fn found(
        &self,
        snapshot: &Snapshot,
        row: EntryId,
        score: f64,
        matched: impl FnOnce(&Grain) -> Vec<&'static str>,
    ) -> Result<Found, Error> {
        let version = self.version_at(snapshot, row)?;
        let matched_fields = matched(&version.grain);
        Ok(Found::of(row, version, score, matched_fields))
    }
}

impl Found {
    fn of(row: EntryId, version: Version, score: f64, matched_fields: Vec<&'static str>) -> Self {
        Self {
            row,
            address: version.grain.address(),
            matched_fields,
            explanation: Vec::new(),
            grain: version.grain,
            signature: version.signature,
            status: version.status,
            score,
        }
    }
}
