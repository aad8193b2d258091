//! The route that counts grains by a field: conversations, persons, types.
//!
//! A token of the whole store gets the counts of the index. For any other token the grains that it sees are
//! read one by one, so that a count tells nothing of the rest.

use std::collections::HashMap;

use grainstore::query::{Sort, SortBy};
use grainstore::{ContentAddress, Filter, Grain, Store, Type};
use serde_json::{Value, json};

use super::grains::grain_json;
use super::request::{GroupsBody, PAGE_MAX, filter_of, limited};
use crate::http::answer::{Answer, bounded};
use crate::http::call::Call;
use crate::http::failure::Failure;

/// Counts grains by a field, the group with the latest first.
pub(crate) fn groups(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: GroupsBody = call.json()?;
    let view = scope.asked(body.filter.namespace.as_deref())?;
    let filter = filter_of(&body.filter)?;
    let limit = limited(body.limit, PAGE_MAX)?;
    let page = body.skip..body.skip.saturating_add(limit);
    let (total, found, is_cut) = match scope.whole() {
        Ok(store) => {
            let groups = store.maintenance()?.groups(&filter, &body.by, page)?;
            (groups.0, groups.1, false)
        }
        Err(_) => {
            // The field is checked by the library in either case.
            scope
                .owner()
                .maintenance()?
                .groups(&Filter::new(), &body.by, 0..0)?;
            let (groups, is_cut) = seen_groups(view, &bounded(filter), &body.by)?;
            let shown = groups.iter().take(page.end).skip(page.start).cloned();
            (groups.len(), shown.collect(), is_cut)
        }
    };
    let mut shown = Vec::with_capacity(found.len());
    for (count, addresses) in found {
        let grains = addresses
            .iter()
            .map(|address| view.get(address).ok().flatten());
        let grains: Vec<Grain> = grains.flatten().collect();
        // A grain that this token must not read has a group that it is not told of.
        if let Some(value) = grains.first().and_then(|grain| value_of(grain, &body.by)) {
            let grains: Vec<Value> = grains.iter().map(grain_json).collect();
            let mut group = json!({ "value": value, "count": count, "grains": grains });
            if body.by == "session_id"
                && let Some(title) = title_of(view, &value)?
            {
                group["title"] = json!(title);
            }
            shown.push(group);
        }
    }
    Ok(Answer::Json(
        200,
        json!({ "groups": shown, "total": total, "is_cut": is_cut }),
    ))
}

/// Returns the title that an import brought of a conversation, which is in a state beside its messages.
fn title_of(view: &Store, session: &str) -> Result<Option<String>, Failure> {
    let states = Filter::new().session(session).of_type(Type::State);
    let states = view.query(&states, STATES_MAX, None)?;
    let title = |grain: &Grain| {
        let title = grain.field("context")?.as_map()?.get("title")?.as_text()?;
        Some(title.to_owned()).filter(|title| !title.is_empty())
    };
    Ok(states.results.iter().find_map(|found| title(&found.grain)))
}

type Group = (u64, Vec<ContentAddress>);

/// Returns the groups of the newest grains that a handle sees, and whether there are older ones.
fn seen_groups(view: &Store, filter: &Filter, by: &str) -> Result<(Vec<Group>, bool), Failure> {
    let newest_first = filter.clone().sorted(Sort::by(SortBy::Time).descending());
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut seen = 0;
    for page in view.pages(&newest_first, PAGE_MAX) {
        let page = page?;
        for found in &page.results {
            let Some(value) = value_of(&found.grain, by) else {
                continue;
            };
            let place = *places.entry(value).or_insert_with(|| {
                groups.push((0, Vec::new()));
                groups.len() - 1
            });
            if let Some((count, addresses)) = groups.get_mut(place) {
                *count += 1;
                // The latest stays last; before it are the earliest so far, in the order of time.
                let latest = addresses.pop();
                addresses.insert(0, found.address);
                addresses.truncate(EARLIEST);
                addresses.extend(latest);
            }
        }
        seen += page.results.len();
        if seen >= SEEN_MAX {
            return Ok((groups, page.next_cursor.is_some()));
        }
    }
    Ok((groups, false))
}

fn value_of(grain: &Grain, by: &str) -> Option<String> {
    match by {
        "type" => grain.type_().name().map(str::to_owned),
        field => grain.text(field).map(str::to_owned),
    }
}

/// The states of a conversation among which its title is looked for.
const STATES_MAX: usize = 5;

/// As many as the library returns of a group.
const EARLIEST: usize = 4;

/// The newest grains that are read for one answer.
const SEEN_MAX: usize = 20_000;
