//! Reading many grains to show them: a pass over all that pass a filter, a page at a time, so that
//! memory does not grow with the store, and those of a list of addresses.

use grainstore::query::{Found, Sort, SortBy};
use grainstore::{ContentAddress, Filter, Grain, Store};

/// Calls `see` with every grain that passes the filter, in the order of storage, or for a session in
/// the order of time.
pub(super) fn each(
    store: &Store,
    filter: &Filter,
    by: SortBy,
    mut see: impl FnMut(&Found),
) -> anyhow::Result<()> {
    let in_order = filter.clone().sorted(Sort::by(by));
    for page in store.pages(&in_order, PAGE_LEN) {
        page?.results.iter().for_each(&mut see);
    }
    Ok(())
}

/// Returns grains by their addresses; `None` for those that are not here, and for those that the
/// caller may not read.
pub(crate) fn readable(
    store: &Store,
    addresses: &[ContentAddress],
) -> anyhow::Result<Vec<Option<Grain>>> {
    let read = |address| match store.get(address) {
        Err(error) if error.is_denied() => Ok(None),
        read => Ok(read?),
    };
    addresses.iter().map(read).collect()
}

const PAGE_LEN: usize = 4096;
