//! The grains that an answer shows: those that the handle sees and may rely on, recorded as read
//! and counted as retrieved.
//!
//! A query is evaluated in the same way for every handle. A narrowed one evaluates it inside its
//! namespace, and leaves out grains that its capability, its delegations or open reviews exclude.

use crate::policy::Capability;
use crate::store::Access;
use crate::store::read::{may_rely_on, read_recorder, retrieved, unless_erased};

use super::{Cursor, Error, Filter, Found, Page, Sort};

/// Returns a page of the grains that the handle may show, recorded as read.
///
/// A narrowed handle counts what it shows: while there are more pages, the total is a lower
/// bound.
pub(super) fn visible_page(
    store: &Access,
    filter: &Filter,
    sort: Sort,
    limit: usize,
    after: Option<Cursor>,
) -> Result<Page, Error> {
    let page = unless_erased(|| page_to_show(store, filter, sort, limit, after));
    recorded(store, "query", page?)
}

/// Returns such a page before it is recorded.
pub(super) fn page_to_show(
    store: &Access,
    filter: &Filter,
    sort: Sort,
    limit: usize,
    after: Option<Cursor>,
) -> Result<Page, Error> {
    let Some(capability) = store.capability() else {
        return super::run_query::page(store, filter, sort, limit, after);
    };
    let Some(filter) = narrow(capability, filter) else {
        return Ok(Page::default());
    };
    let mut shown = Page {
        next_cursor: after,
        ..Page::default()
    };
    while shown.results.len() < limit {
        let missing = limit - shown.results.len();
        let page = super::run_query::page(store, &filter, sort, missing, shown.next_cursor)?;
        keep_visible(store, page.results, &mut shown)?;
        shown.next_cursor = page.next_cursor;
        shown.is_cut = page.is_cut;
        if shown.next_cursor.is_none() || page.is_cut {
            break;
        }
    }
    shown.total_is_lower_bound = shown.next_cursor.is_some();
    Ok(shown)
}

/// Returns the best `limit` of a ranking that the handle may show, recorded as read.
pub(super) fn visible_ranking(
    store: &Access,
    operation: &'static str,
    filter: &Filter,
    limit: usize,
    rank: impl Fn(&Filter, usize) -> Result<Page, Error>,
) -> Result<Page, Error> {
    let ranking = unless_erased(|| ranking_to_show(store, filter, limit, &rank));
    recorded(store, operation, ranking?)
}

fn ranking_to_show(
    store: &Access,
    filter: &Filter,
    limit: usize,
    rank: &impl Fn(&Filter, usize) -> Result<Page, Error>,
) -> Result<Page, Error> {
    let Some(capability) = store.capability() else {
        return rank(filter, limit);
    };
    let Some(filter) = narrow(capability, filter) else {
        return Ok(Page::default());
    };
    let mut asked = limit;
    loop {
        let page = rank(&filter, asked)?;
        let is_all = page.results.len() < asked;
        let mut shown = Page {
            is_partial: page.is_partial,
            is_cut: page.is_cut,
            ..Page::default()
        };
        let is_all = is_all && !page.is_cut;
        keep_visible(store, page.results, &mut shown)?;
        if is_all || page.is_cut || page.is_partial || shown.results.len() >= limit {
            shown.total_is_lower_bound = !is_all || shown.is_partial;
            shown.results.truncate(limit);
            return Ok(shown);
        }
        // Ranked first, filtered second: a hidden grain must not take the place of a visible
        // one.
        asked = asked.saturating_mul(2);
    }
}

fn keep_visible(store: &Access, results: Vec<Found>, shown: &mut Page) -> Result<(), Error> {
    let snapshot = store.snapshot();
    for found in results {
        // The index holds hashes of namespaces; the grain has the whole one (OMS 3.1.1).
        if store.sees(&snapshot, &found.grain)? && may_rely_on(store, &found.grain)? {
            shown.results.push(found);
            shown.total += 1;
        }
    }
    Ok(())
}

/// Records the grains of an answer as read, and counts them as retrieved (OMS 22.10).
fn recorded(store: &Access, operation: &'static str, envelope: Page) -> Result<Page, Error> {
    let grains = envelope.results.iter().map(|found| &found.grain);
    read_recorder(store, operation).all(grains)?;
    retrieved(store, envelope.results.iter().map(|found| found.row));
    Ok(envelope)
}

/// Returns the filter inside the namespace and the person of a capability; `None` if the namespaces
/// are disjoint.
pub(super) fn narrow(capability: &Capability, filter: &Filter) -> Option<Filter> {
    let filter = if capability.reviews() {
        filter.clone().with_unreviewed()
    } else {
        filter.clone()
    };
    let filter = match capability.user() {
        Some(user) => filter.user(user),
        None => filter,
    };
    match capability.namespaces() {
        None => Some(filter),
        Some([]) => None,
        Some([namespace]) => filter.within(namespace.as_str()),
        // A filter names one; the whole namespace of each grain is compared before it is shown.
        Some(_) => Some(filter),
    }
}
