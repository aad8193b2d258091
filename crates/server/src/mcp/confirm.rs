//! The confirmation of a deletion: through the protocol where the client can ask its user, else by
//! a second call.
//!
//! Revisions before 2026-07-28 ask with a request of the server (`elicitation/create`); since then
//! the answer asks, and the client calls again with what the user said.

use std::collections::BTreeMap;
use std::time::Duration;

use grainstore::ContentAddress;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitationSchema, ErrorData, InputRequest, InputRequiredResult, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use serde_json::Value;

use super::failure::Failure;
use super::server::{Previewed, Server};
use super::tools::{self, Deleted, Forget};

/// Handles a call of `forget`.
///
/// # Errors
/// An internal error if a thread panicked.
pub(super) async fn forget(
    server: &Server,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let parsed = tools::parse::<Forget>(request.arguments.clone().unwrap_or_default());
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(failure) => return Ok(refused(failure)),
    };
    let asked = arguments.clone();
    let (address, preview) = match server.blocking(move |scope| asked.target(scope)).await? {
        Ok(target) => target,
        Err(failure) => return Ok(refused(failure)),
    };
    let verdict = match way_of(context) {
        Way::SecondCall => {
            let previewed = (session_of(context), address);
            by_second_call(server, previewed, arguments.confirm)
        }
        Way::Request => by_request(context, &preview).await,
        Way::Answer => match answered(&request, &address) {
            Some(verdict) => verdict,
            None => return Ok(question(&preview, &address)),
        },
    };
    let is_agreed = match verdict {
        Verdict::Agreed => true,
        Verdict::Refused => false,
        Verdict::Unknown => {
            let answer = Deleted::not_yet(address, preview, true);
            return Ok(tools::result(Ok(answer)).into());
        }
    };
    if !is_agreed {
        let answer = Deleted::not_yet(address, preview, false);
        return Ok(tools::result(Ok(answer)).into());
    }
    let entry = tools::ALL.iter().find(|entry| entry.name == tools::FORGET);
    let run = entry.map(|entry| entry.run);
    let run = run.ok_or_else(|| ErrorData::internal_error("the tool is missing", None))?;
    let arguments = request.arguments.unwrap_or_default();
    Ok(server
        .blocking(move |scope| run(scope, arguments))
        .await?
        .into())
}

fn refused(failure: Failure) -> CallToolResponse {
    tools::result::<Deleted>(Err(failure)).into()
}

/// How a client can ask its user.
enum Way {
    /// With a request of the server.
    Request,
    /// With an answer that asks, and a call that repeats it.
    Answer,
    /// The model asks, and calls again.
    SecondCall,
}

/// The decision of the user.
enum Verdict {
    Agreed,
    Refused,
    Unknown,
}

fn way_of(context: &RequestContext<RoleServer>) -> Way {
    let capabilities = context.client_capabilities();
    let can = capabilities.and_then(|capabilities| capabilities.elicitation);
    // A client that names no mode has forms.
    if !can.is_some_and(|can| can.form.is_some() || can.url.is_none()) {
        return Way::SecondCall;
    }
    let version = context.protocol_version();
    match version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
        true => Way::Answer,
        false => Way::Request,
    }
}

/// Returns the session of a request over HTTP.
fn session_of(context: &RequestContext<RoleServer>) -> Option<String> {
    let parts = context.extensions.get::<axum::http::request::Parts>()?;
    let id = parts.headers.get("mcp-session-id")?;
    Some(id.to_str().ok()?.to_owned())
}

/// A call counts as confirmed if this client was told before to ask about this grain.
fn by_second_call(server: &Server, told: Previewed, confirms: bool) -> Verdict {
    // A poisoned lock loses previews, which are asked for again.
    let Ok(mut previewed) = server.previewed().lock() else {
        return Verdict::Unknown;
    };
    if confirms && previewed.remove(&told) {
        return Verdict::Agreed;
    }
    if previewed.len() >= PREVIEWED_MAX {
        previewed.clear();
    }
    previewed.insert(told);
    Verdict::Unknown
}

async fn by_request(context: &RequestContext<RoleServer>, preview: &str) -> Verdict {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(preview)));
    let options = PeerRequestOptions::with_timeout(PATIENCE);
    let sent = context
        .peer
        .send_cancellable_request(request, options)
        .await;
    let Ok(sent) = sent else {
        return Verdict::Refused;
    };
    match sent.await_response().await {
        Ok(ClientResult::ElicitResult(result)) => {
            verdict(&serde_json::to_value(result).unwrap_or_default())
        }
        _ => Verdict::Refused,
    }
}

/// Returns what the user said about this grain; `None` if they were not asked yet.
fn answered(request: &CallToolRequestParams, address: &ContentAddress) -> Option<Verdict> {
    let responses = request.input_responses.as_ref()?;
    let response = responses.get(QUESTION)?;
    // An answer about another grain is none.
    (request.request_state.as_deref() == Some(&*address.to_string())).then(|| verdict(response))
}

fn question(preview: &str, address: &ContentAddress) -> CallToolResponse {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(preview)));
    let requests = BTreeMap::from([(QUESTION.to_owned(), request)]);
    InputRequiredResult::new(Some(requests), Some(address.to_string())).into()
}

/// Reads `{"action": "accept", "content": {"delete": true}}`; everything else is a refusal.
fn verdict(result: &Value) -> Verdict {
    let accepts = result.get("action").and_then(Value::as_str) == Some("accept");
    let agrees = result.pointer("/content/delete") == Some(&Value::Bool(true));
    match accepts && agrees {
        true => Verdict::Agreed,
        false => Verdict::Refused,
    }
}

fn form(preview: &str) -> ElicitRequestParams {
    let schema = ElicitationSchema::builder().required_bool_property("delete", |property| {
        property
            .title("Delete for good")
            .description("The memory cannot be restored.")
            .with_default(false)
    });
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Delete this memory for good? {preview}"),
        requested_schema: schema.build_unchecked(),
    }
}

/// The name of the one question.
const QUESTION: &str = "delete";

/// How long a person may think.
const PATIENCE: Duration = Duration::from_secs(300);

const PREVIEWED_MAX: usize = 1_000;
