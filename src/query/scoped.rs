//! Queries through an [`Access`] handle: restricted to its namespace and to what its actor may see.
//!
//! The evaluation is that of the store.

use crate::store::{Access, Store};

use super::{Cursor, Envelope, Error, Filter, Found, Sort};

impl Access {
    /// Returns up to `limit` grains that pass a filter and that it sees, in the order in which they
    /// were stored. What waits for a person's review is left out (OMS 6.1), but not of a reviewer's.
    ///
    /// The total counts the grains that are shown; while there are more pages, it is a lower bound.
    ///
    /// # Errors
    /// As [`Store::query`](crate::Store::query).
    pub fn query(
        &self,
        filter: &Filter,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Envelope, Error> {
        self.query_sorted(filter, Sort::default(), limit, after)
    }

    /// Returns what [`Access::query`] does, in an order.
    ///
    /// # Errors
    /// As [`Store::query_sorted`](crate::Store::query_sorted).
    pub fn query_sorted(
        &self,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Envelope, Error> {
        let mut shown = Envelope {
            next_cursor: after,
            ..Envelope::default()
        };
        let Some(filter) = self.narrow(filter) else {
            return Ok(Envelope::default());
        };
        while shown.results.len() < limit {
            let missing = limit - shown.results.len();
            let after = shown.next_cursor;
            let page = self.store().page(&filter, sort, missing, after)?;
            self.show(page.results, &mut shown)?;
            shown.next_cursor = page.next_cursor;
            if shown.next_cursor.is_none() {
                break;
            }
        }
        shown.total_is_lower_bound = shown.next_cursor.is_some();
        self.store().shown(self.read_recorder("query"), shown)
    }

    /// Returns the `limit` grains whose words fit `text` best, of those that pass a filter and that
    /// it sees; see [`Store::search`](crate::Store::search) for the words and
    /// [`Access::query`] for what is left out and counted.
    ///
    /// # Errors
    /// As [`Store::search`](crate::Store::search).
    pub fn search(&self, text: &str, filter: &Filter, limit: usize) -> Result<Envelope, Error> {
        self.seen("search", filter, limit, |store, filter, limit| {
            store.searched(text, filter, limit)
        })
    }

    /// Returns the best `limit` that the handle sees of a ranking.
    pub(super) fn seen(
        &self,
        operation: &'static str,
        filter: &Filter,
        limit: usize,
        rank: impl Fn(&Store, &Filter, usize) -> Result<Envelope, Error>,
    ) -> Result<Envelope, Error> {
        let Some(filter) = self.narrow(filter) else {
            return Ok(Envelope::default());
        };
        let mut asked = limit;
        loop {
            let page = rank(self.store(), &filter, asked)?;
            let is_all = page.results.len() < asked;
            let mut shown = Envelope::default();
            self.show(page.results, &mut shown)?;
            if is_all || shown.results.len() >= limit {
                shown.total_is_lower_bound = !is_all;
                shown.results.truncate(limit);
                return self.store().shown(self.read_recorder(operation), shown);
            }
            // Ranked first, seen second: what is hidden must not take the place of what is not.
            asked = asked.saturating_mul(2);
        }
    }

    /// Returns the filter restricted to the namespace of the handle; `None` if the two are
    /// disjoint.
    pub(super) fn narrow(&self, filter: &Filter) -> Option<Filter> {
        let filter = if self.capability().reviews() {
            filter.clone().with_unreviewed()
        } else {
            filter.clone()
        };
        match self.capability().namespace() {
            None => Some(filter),
            Some("") => None,
            Some(namespace) => filter.within(namespace),
        }
    }

    fn show(&self, results: Vec<Found>, shown: &mut Envelope) -> Result<(), Error> {
        let snapshot = self.store().snapshot();
        for found in results {
            // The index holds hashes of namespaces; the grain has the whole one (OMS 3.1.1).
            if self.sees(&snapshot, &found.grain)? && self.may_rely_on(&found.grain)? {
                shown.results.push(found);
                shown.total += 1;
            }
        }
        Ok(())
    }
}
