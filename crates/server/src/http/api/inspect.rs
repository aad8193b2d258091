//! Routes for those who look at a store: the token itself, the protection of a grain, growth, the
//! ledger as a log, and conflicts of imports.

use std::collections::BTreeMap;

use grainstore::interchange::ForeignId;
use grainstore::ledger::EntryId;
use grainstore::policy::{Actor, Operation};
use grainstore::query::{Sort, SortBy};
use grainstore::store::{Asked, AuditEntry, AuditFilter};
use grainstore::{ContentAddress, ErrorCode};
use serde_json::{Value, json};

use super::request::{AuditBody, GrowthBody, PAGE_MAX, SettleBody, filter_of, limited};
use crate::http::answer::{Answer, bounded};
use crate::http::call::Call;
use crate::http::failure::Failure;

/// Returns the rights of the token.
pub(crate) fn token(call: &Call<'_>) -> Result<Answer, Failure> {
    let holder = &call.scope()?.holder;
    let grant = &holder.grant;
    let operations = grant.operations.iter().map(|it| it.name());
    Ok(Answer::Json(
        200,
        json!({
            "id": holder.id,
            "actor": grant.actor,
            "user": grant.user,
            "namespaces": grant.namespaces,
            "cleared": grant.cleared,
            "operations": operations.collect::<Vec<_>>(),
        }),
    ))
}

/// Says what may be done with a grain, and which rule forbids the rest.
pub(crate) fn protection(call: &Call<'_>) -> Result<Answer, Failure> {
    let (scope, address) = (call.scope()?, call.address()?);
    let admin = scope.admin()?;
    // Of the rules that ask for a reason or an authority, a caller learns when they state one.
    let stated = Actor {
        justification: Some("stated"),
        authority: Some("stated"),
        ..Actor::default()
    };
    let mut changes = serde_json::Map::new();
    for operation in [
        Operation::Supersede,
        Operation::Contradict,
        Operation::Delete,
    ] {
        let asked = Asked::Change(operation);
        let found = admin.explain_policy(&address, asked, &stated)?;
        changes.insert(
            operation.name().to_owned(),
            json!({
                "is_allowed": found.is_allowed,
                "rule": found.rule,
                "stands_in": found.stands_in,
                "wants": found.wants,
                "protected_by": found.protected_by.map(|by| by.to_string()),
            }),
        );
    }
    let resting = admin.resting_on(&address)?;
    let resting: Vec<_> = resting.iter().map(ToString::to_string).collect();
    Ok(Answer::Json(
        200,
        json!({ "changes": changes, "resting_on": resting }),
    ))
}

/// Counts grains by day, type and namespace, the newest first.
pub(crate) fn growth(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let body: GrowthBody = call.json()?;
    let view = scope.asked(body.filter.namespace.as_deref())?;
    let filter = bounded(filter_of(&body.filter)?);
    let newest_first = filter.sorted(Sort::by(SortBy::Stored).descending());
    let mut counts: BTreeMap<(i64, String, String), u64> = BTreeMap::new();
    let (mut seen, mut is_cut) = (0, false);
    for page in view.pages(&newest_first, PAGE_MAX) {
        let page = page?;
        for found in &page.results {
            let day = found.grain.created_at().ms().div_euclid(DAY_MS);
            let of = found.grain.type_().name().unwrap_or("other").to_owned();
            let namespace = found.grain.text("namespace").unwrap_or_default().to_owned();
            *counts.entry((day, of, namespace)).or_default() += 1;
        }
        seen += page.results.len();
        if seen >= COUNTED_MAX {
            is_cut = page.next_cursor.is_some();
            break;
        }
    }
    let days = counts.iter().map(|((day, of, namespace), count)| {
        json!({
            "day": day.saturating_mul(DAY_MS),
            "type": of,
            "namespace": namespace,
            "count": count,
        })
    });
    Ok(Answer::Json(
        200,
        json!({ "days": days.collect::<Vec<_>>(), "counted": seen, "is_cut": is_cut }),
    ))
}

/// Returns a page of the ledger as a log.
pub(crate) fn audit(call: &Call<'_>) -> Result<Answer, Failure> {
    let store = call.scope()?.whole()?;
    let body: AuditBody = call.json()?;
    let limit = limited(body.limit, PAGE_MAX)?;
    let address = body.address.as_deref().map(str::parse::<ContentAddress>);
    let filter = AuditFilter {
        from: body.from.map(|moment| moment.first()).transpose()?,
        to: body.to.map(|moment| moment.last()).transpose()?,
        by: body.by,
        operation: body.operation,
        address: address.transpose()?,
        person: body.person,
    };
    let after = body.after.map(EntryId::new);
    let log = store.maintenance()?.audit();
    let entries = match body.newest_first {
        true => log.log_back(&filter, after, limit)?,
        false => log.log(&filter, after, limit)?,
    };
    let next = entries.last().filter(|_| entries.len() == limit);
    Ok(Answer::Json(
        200,
        json!({
            "entries": entries.iter().map(entry_json).collect::<Vec<_>>(),
            "next": next.map(|entry| entry.entry.get()),
        }),
    ))
}

fn entry_json(entry: &AuditEntry) -> Value {
    let addresses = entry.addresses.iter().map(ToString::to_string);
    json!({
        "entry": entry.entry.get(),
        "at": entry.at.ms(),
        "by": entry.by,
        "user": entry.user,
        "token": entry.token,
        "operation": entry.operation,
        "addresses": addresses.collect::<Vec<_>>(),
        "detail": entry.detail,
    })
}

/// Returns the conflicts of imports that are not settled.
pub(crate) fn conflicts(call: &Call<'_>) -> Result<Answer, Failure> {
    let conflicts = call.scope()?.admin()?.conflicts()?;
    let conflicts = conflicts.iter().map(|conflict| {
        let versions = conflict.versions.iter().map(ToString::to_string);
        json!({
            "format": conflict.id.as_ref().map(ForeignId::format),
            "scope": conflict.id.as_ref().map(ForeignId::scope),
            "id": conflict.id.as_ref().map(ForeignId::id),
            "versions": versions.collect::<Vec<_>>(),
        })
    });
    let conflicts: Vec<_> = conflicts.collect();
    Ok(Answer::Json(200, json!({ "conflicts": conflicts })))
}

/// Settles a conflict in favour of one grain.
pub(crate) fn settle(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let SettleBody {
        keep,
        justification,
    } = call.json()?;
    let keep = keep.parse::<ContentAddress>()?;
    if justification.as_deref().is_some_and(str::is_empty) {
        return Err(Failure::of(ErrorCode::Usage, "a justification is empty"));
    }
    let admin = scope.admin()?;
    admin.resolve_conflict(&keep, justification.as_deref())?;
    Ok(Answer::Json(200, json!({ "kept": keep.to_string() })))
}

const DAY_MS: i64 = 86_400_000;

/// The newest grains that are counted: a chart needs no more, and the answer is quick.
const COUNTED_MAX: usize = 20_000;
