//! Reading many grains to show them: a pass over all that pass a filter, a page at a time, so that
//! memory does not grow with the store, and those of a list of addresses.

use grainstore::query::{Cursor, Found, Sort, SortBy};
use grainstore::{ContentAddress, Filter, Grain, Store};

use crate::error::Exit;

/// Calls `see` with every grain that passes the filter, in the order of storage, or for a session in
/// the order of time.
pub(super) fn each(
    store: &Store,
    filter: &Filter,
    by: SortBy,
    mut see: impl FnMut(&Found),
) -> anyhow::Result<()> {
    let mut after: Option<Cursor> = None;
    loop {
        let page = store.query_sorted(filter, Sort::by(by), PAGE_LEN, after)?;
        page.results.iter().for_each(&mut see);
        after = match page.next_cursor {
            Some(next) => Some(next),
            None => return Ok(()),
        };
    }
}

/// Returns grains by their addresses; `None` for those that are not here, and for those that the
/// caller may not read.
pub(crate) fn readable(
    store: &Store,
    addresses: &[ContentAddress],
) -> anyhow::Result<Vec<Option<Grain>>> {
    let read = |address| match store.get(address) {
        Err(error) if Exit::of(error.code()) == Exit::Denied => Ok(None),
        read => Ok(read?),
    };
    addresses.iter().map(read).collect()
}

const PAGE_LEN: usize = 4096;
