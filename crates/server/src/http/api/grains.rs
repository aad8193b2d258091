//! Routes for single grains and batches: put, get, exists, history, supersede, contradict, delete
//! (OMS 28.4).

use std::collections::HashSet;

use grainstore::codec::{Profile, Value};
use grainstore::grain::Status;
use grainstore::interchange::{ReadOptions, jsonl};
use grainstore::policy::Trust;
use grainstore::store::{Authorization, NewGrain, Signature, Version};
use grainstore::{ContentAddress, Draft, ErrorCode, Grain, Store, Time, newest_versions};
use serde_json::json;

use super::request::{
    AddressesBody, BatchBody, ContradictBody, DeleteBody, GrainBody, PAGE_MAX, SupersedeBody,
    limited,
};
use crate::http::answer::{ANSWER_LEN_MAX, Answer};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::token_scope::TokenScope;

/// Stores a grain.
pub(crate) fn put(call: &Call<'_>) -> Result<Answer, Failure> {
    let body: GrainBody = call.json()?;
    let grain = new_grain(call, body, None)?;
    let view = call.scope()?.handle();
    let warnings = warnings_of(view, &grain);
    let put = view.insert(NewGrain::from(grain))?;
    let answer = json!({ "address": put.address.to_string(), "new": put.is_new });
    Ok(Answer::Json(200, with_warnings(answer, warnings)))
}

/// Stores grains together, or none of them.
pub(crate) fn put_batch(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let BatchBody { grains } = call.json()?;
    limited(grains.len(), PAGE_MAX)?;
    let mut ready: Vec<Grain> = Vec::with_capacity(grains.len());
    for (index, body) in grains.into_iter().enumerate() {
        ready.push(new_grain(call, body, None).map_err(|it| it.at(index))?);
    }
    let view = scope.handle();
    let warnings = ready.iter().enumerate().flat_map(|(index, grain)| {
        let warnings = warnings_of(view, grain).into_iter();
        warnings.map(move |warning| json!({ "index": index, "message": warning }))
    });
    let warnings = warnings.collect();
    let stored = view.put_batch(ready)?;
    let addresses: Vec<_> = stored.iter().map(|put| put.address.to_string()).collect();
    let is_new: Vec<_> = stored.iter().map(|put| put.is_new).collect();
    let answer = json!({ "addresses": addresses, "new": is_new });
    Ok(Answer::Json(200, with_warnings(answer, warnings)))
}

/// Returns a grain with its status.
pub(crate) fn get(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let grain = scope.get(&call.address()?)?;
    let mut document = grain_json(&grain);
    let status = scope.handle().status(&grain.address())?;
    document["status"] = status_json(scope, &status)?;
    Ok(Answer::Json(200, document))
}

/// Returns grains in the order of their addresses; `null` for one that is not there. An address that
/// is named again is answered once, and an answer that would be too long ends before that.
pub(crate) fn get_batch(call: &Call<'_>) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let AddressesBody { addresses } = call.json()?;
    limited(addresses.len(), PAGE_MAX)?;
    let (mut grains, mut known) = (Vec::new(), HashSet::new());
    let (mut len, mut next) = (0, None);
    for (index, text) in addresses.iter().enumerate() {
        if len >= ANSWER_LEN_MAX {
            next = Some(index);
            break;
        }
        let mut find = || -> Result<Option<serde_json::Value>, Failure> {
            let address = text.parse::<ContentAddress>()?;
            if !known.insert(address) {
                return Ok(None);
            }
            let found = scope.handle().get(&address)?;
            len += found.as_ref().map_or(0, |grain| grain.blob().len());
            let found = found.map_or(serde_json::Value::Null, |grain| grain_json(&grain));
            Ok(Some(found))
        };
        grains.extend(find().map_err(|failure| failure.at(index))?);
    }
    let mut answer = json!({ "grains": grains });
    if let Some(next) = next {
        answer["next"] = json!(next);
    }
    Ok(Answer::Json(200, answer))
}

/// Says whether a grain is there.
pub(crate) fn exists(call: &Call<'_>) -> Result<Answer, Failure> {
    let exists = call.scope()?.sees(&call.address()?)?;
    Ok(Answer::Json(200, json!({ "exists": exists })))
}

/// Returns the versions of a grain, oldest first.
pub(crate) fn history(call: &Call<'_>) -> Result<Answer, Failure> {
    let (scope, address) = (call.scope()?, call.address()?);
    // The newest matter most.
    let handle = scope.handle();
    let (versions, left_out) = newest_versions(handle, &address, ANSWER_LEN_MAX, |_| true)?;
    let versions: Result<Vec<_>, _> = { versions.iter() }
        .map(|version| version_json(scope, version))
        .collect();
    let mut answer = json!({ "versions": versions? });
    if left_out > 0 {
        answer["left_out"] = json!(left_out);
    }
    Ok(Answer::Json(200, answer))
}

/// Replaces a grain with a newer version.
pub(crate) fn supersede(call: &Call<'_>) -> Result<Answer, Failure> {
    let (scope, old) = (call.scope()?, call.address()?);
    let SupersedeBody {
        grain,
        justification,
    } = call.json()?;
    let handle = scope.handle();
    if !handle.exists(&old)? {
        return Err(Failure::unseen(&old));
    }
    let grain = new_grain(call, grain, Some(&old))?;
    let warnings = warnings_of(handle, &grain);
    let new = handle.supersede(&old, NewGrain::from(grain), justification.as_deref())?;
    let answer = json!({ "address": new.to_string(), "supersedes": old.to_string() });
    Ok(Answer::Json(200, with_warnings(answer, warnings)))
}

/// Marks a grain as contradicted.
pub(crate) fn contradict(call: &Call<'_>) -> Result<Answer, Failure> {
    let address = call.address()?;
    let ContradictBody { justification } = call.json()?;
    let scope = call.scope()?;
    let handle = scope.handle();
    handle.contradict(&address, justification.as_deref())?;
    let status = status_json(scope, &handle.status(&address)?)?;
    Ok(Answer::Json(
        200,
        json!({ "address": address.to_string(), "status": status }),
    ))
}

/// Erases a grain (OMS 28.4: for compliance, never in general).
pub(crate) fn delete(call: &Call<'_>) -> Result<Answer, Failure> {
    let (scope, address) = (call.scope()?, call.address()?);
    let DeleteBody { reason, authority } = call.json()?;
    let authorization = Authorization {
        reason: &reason,
        authority: &authority,
    };
    scope.admin()?.delete(&address, authorization)?;
    Ok(Answer::Json(200, json!({ "deleted": address.to_string() })))
}

/// Returns the warnings about a grain that is to be stored, as the handle sees the others (ruling P17).
pub(crate) fn warnings_of(view: &Store, grain: &Grain) -> Vec<serde_json::Value> {
    // A failed look at another grain keeps none from being stored.
    let warnings = view.warnings(grain).unwrap_or_default();
    warnings.iter().map(|it| json!(it.to_string())).collect()
}

/// Adds the warnings to an answer, if there are any.
pub(crate) fn with_warnings(
    mut answer: serde_json::Value,
    warnings: Vec<serde_json::Value>,
) -> serde_json::Value {
    if !warnings.is_empty() {
        answer["warnings"] = warnings.into();
    }
    answer
}

/// Returns the grain of a document. A draft gets the author, the user,
/// the namespace and the time that it lacks, and names `supersedes`.
fn new_grain(
    call: &Call<'_>,
    body: GrainBody,
    supersedes: Option<&ContentAddress>,
) -> Result<Grain, Failure> {
    let scope = call.scope()?;
    let is_encoded = body.contains_key("blob") || body.contains_key("envelope");
    let text = serde_json::Value::Object(body).to_string();
    if is_encoded {
        let options = ReadOptions {
            profile: Profile::Extended,
            ..ReadOptions::default()
        };
        let record = jsonl::Reader::new(text.as_bytes(), &options).next();
        let missing = || Failure::of(ErrorCode::Schema, "no grain");
        let grain = record.ok_or_else(missing)??.grain;
        scope.named(grain.text("namespace"))?;
        return Ok(grain);
    }
    let mut draft = Draft::from_json(&text)?;
    if let Some(old) = supersedes {
        draft = draft.replacing(*old);
    }
    let namespace = draft.fields().get("namespace").and_then(Value::as_text);
    scope.named(namespace)?;
    let draft = match scope.handle().capability() {
        Some(capability) => capability.fill(draft),
        None => draft,
    };
    let grain = draft.created_at_or(call.now).finish(Profile::Extended)?;
    Ok(grain)
}

/// Returns a grain with its address.
pub(crate) fn grain_json(grain: &Grain) -> serde_json::Value {
    json!({ "address": grain.address().to_string(), "grain": grain })
}

/// Returns a grain as it stands in the store.
pub(crate) fn version_json(
    scope: &TokenScope,
    version: &Version,
) -> Result<serde_json::Value, Failure> {
    let mut document = grain_json(&version.grain);
    document["status"] = status_json(scope, &version.status)?;
    document["stored_at"] = json!(version.stored_at.ms());
    document["stored_by"] = json!(version.stored_by);
    if let Some(signature) = &version.signature {
        document["signature"] = signature_json(signature);
    }
    Ok(document)
}

pub(crate) fn signature_json(signature: &Signature) -> serde_json::Value {
    let mut members = json!({
        "signer": signature.signer.as_str(),
        "trust": signature.trust.name(),
    });
    if let Trust::Untrusted(doubt) = signature.trust {
        members["doubt"] = json!(doubt.name());
    }
    members
}

/// Returns a status; what replaced the grain only where the token reaches it.
pub(crate) fn status_json(
    scope: &TokenScope,
    status: &Status,
) -> Result<serde_json::Value, Failure> {
    let by = scope.successor(status)?;
    Ok(json!({
        "current": status.is_current(),
        "superseded_by": by.map(|address| address.to_string()),
        "system_valid_to": status.system_valid_to.map(Time::ms),
        "verification_status": status.verification.name(),
        "contradicted": status.contradicted,
        "lifecycle": status.lifecycle.name(),
    }))
}
