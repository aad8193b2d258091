//! Routes for the operator: is the server alive, can it answer, what did it do, what does it offer.

use std::sync::LazyLock;

use grainstore::ContentAddress;
use serde_json::json;

use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::openapi;
use crate::http::telemetry::store_metrics;

/// The process answers.
pub(crate) fn alive(_: &Call<'_>) -> Result<Answer, Failure> {
    Ok(Answer::Json(200, json!({ "status": "ok" })))
}

/// The store answers, and the server is not about to end.
pub(crate) fn ready(call: &Call<'_>) -> Result<Answer, Failure> {
    if call.app.is_closing() {
        return Err(Failure::busy(
            503,
            "ERR_CLOSING",
            "the server is shutting down",
        ));
    }
    // Any address will do: the index is asked for it.
    call.app.store().exists(&ContentAddress::new([0; 32]))?;
    Ok(Answer::Json(200, json!({ "status": "ready" })))
}

/// Returns the counters of the server.
pub(crate) fn metrics(call: &Call<'_>) -> Result<Answer, Failure> {
    let mut text = call.app.render_metrics();
    // A token that is confined learns nothing of the rest of the store.
    if let Ok(store) = call.scope()?.whole() {
        text.push_str(&store_metrics(store, call.app.disk_free())?);
    }
    Ok(Answer::Text("text/plain; version=0.0.4", text, Vec::new()))
}

/// Describes the interface. Anyone may ask, so that the description is made once.
pub(crate) fn description(_: &Call<'_>) -> Result<Answer, Failure> {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi::document().to_string());
    Ok(Answer::Text(
        "application/json",
        DOCUMENT.clone(),
        Vec::new(),
    ))
}
