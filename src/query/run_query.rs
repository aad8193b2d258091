//! `Store::query` and `Store::pages`: the evaluation of a filter, one page at a time.
//!
//! The rows come from `plan.rs`, their order from `sort.rs`.

use crate::grain::Grain;
use crate::index::Snapshot;
use crate::ledger::EntryId;
use crate::store::read::{now, version_at};
use crate::store::{Access, Version};

use super::plan::{conditions_of, rows_at};
use super::visible::visible_page;
use super::{Cursor, Error, Filter, Found, Page, Sort};

/// See [`Store::query`](crate::Store::query).
pub(crate) fn query(
    store: &Access,
    filter: &Filter,
    limit: usize,
    after: Option<Cursor>,
) -> Result<Page, Error> {
    visible_page(store, filter, Sort::of(filter), limit, after)
}

/// See [`Store::pages`](crate::Store::pages).
pub(crate) fn pages(
    store: &Access,
    filter: Filter,
    limit: usize,
) -> impl Iterator<Item = Result<Page, Error>> + use<'_> {
    // The cursor of the next page, `None` of the first; without a place there are no more.
    let mut place = Some(None);
    std::iter::from_fn(move || {
        let page = query(store, &filter, limit, place.take()?);
        if let Ok(page) = &page {
            place = page.next_cursor.map(Some);
        }
        Some(page)
    })
}

/// Returns a page as [`Store::query`](crate::Store::query) does, before it is recorded as read.
pub(crate) fn page(
    store: &Access,
    filter: &Filter,
    sort: Sort,
    limit: usize,
    after: Option<Cursor>,
) -> Result<Page, Error> {
    let (mut snapshot, mut now) = (store.snapshot(), now(store));
    if let Some(cursor) = after {
        cursor.check(filter, sort)?;
        snapshot = snapshot.as_of(cursor.entries)?;
        now = cursor.now;
    }
    let rows = rows_at(store, &snapshot, filter, now)?;
    let last = after.map(|cursor| cursor.last);
    let (places, has_more) = sort.page(store, &snapshot, &rows, last, limit)?;
    let mut envelope = Page {
        total: rows.len(),
        ..Page::default()
    };
    if let (Some(last), true) = (places.last(), has_more) {
        let moment = (snapshot.watermark(), now);
        envelope.next_cursor = Some(Cursor::new(moment, *last, filter, sort));
    }
    let (conditions, fields) = (conditions_of(store, &snapshot, filter)?, filter.fields());
    let (mut len, end) = (0_usize, places.len().saturating_sub(1));
    for (at, place) in places.into_iter().enumerate() {
        let row = EntryId::new(place[2]);
        let version = version_at(store, &snapshot, row)?;
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
    store: &Access,
    snapshot: &Snapshot,
    row: EntryId,
    score: f64,
    matched: impl FnOnce(&Grain) -> Vec<&'static str>,
) -> Result<Found, Error> {
    let version = version_at(store, snapshot, row)?;
    let matched_fields = matched(&version.grain);
    Ok(Found::of(row, version, score, matched_fields))
}

impl Found {
    fn of(row: EntryId, version: Version, score: f64, matched_fields: Vec<&'static str>) -> Self {
        Self {
            row,
            address: version.grain.address(),
            matched_fields,
            explanation: Vec::new(),
            #[cfg(feature = "text")]
            snippet: None,
            grain: version.grain,
            signature: version.signature,
            status: version.status,
            score,
        }
    }
}
