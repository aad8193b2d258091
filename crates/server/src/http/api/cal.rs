//! Routes of the Context Assembly Language: a statement, and a change in two phases (CAL 1.13).

use std::sync::Arc;

use data_encoding::HEXLOWER;
use grainstore::ErrorCode;
use grainstore::crypto::{OsRandom, Random};
use grainstore_cal::{self as cal, Host, Options, Query};
use serde_json::json;

use super::grains::{warnings_of, with_warnings};
use super::request::{CalBody, CancelBody, ExecuteBody};
use crate::http::answer::{ANSWER_LEN_MAX, Answer};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::wire::Moment;

/// Answers a statement: its envelope, or its error with status 400, 403, 404 or 422.
pub(crate) fn ask(call: &Call<'_>) -> Result<Answer, Failure> {
    host(call)?;
    let asked = Asked::of(call)?;
    let view = call.scope()?.one(asked.namespace.as_deref())?;
    if asked.query.as_ref().is_ok_and(Query::is_stream) {
        return streamed(call, asked);
    }
    let answered = asked
        .query
        .and_then(|query| query.run(&view, &asked.options));
    match answered {
        Ok(answer) => Ok(asked.form.written(&answer)),
        Err(failure) => refused(failure, &asked.source),
    }
}

/// Sends the events of an ASSEMBLE; a statement that cannot be answered is refused before the first.
fn streamed(call: &Call<'_>, asked: Asked) -> Result<Answer, Failure> {
    let scope = call.scope()?;
    let query = match asked.query.and_then(|query| {
        let bound = query.clone().bound(&asked.options.parameters)?;
        bound.checked()?;
        Ok(query)
    }) {
        Ok(query) => query,
        Err(failure) => return refused(failure, &asked.source),
    };
    // Nothing of a context is kept for a reader who comes back.
    if call.header("last-event-id").is_some() {
        let code = cal::Code::NoResumption.as_str();
        let message = "a stream does not go on: ask for it anew";
        return Err(Failure::new(410, code, message));
    }
    let mut id = [0; 16];
    let unknown = |_| Failure::of(ErrorCode::NoRandomness, "no randomness");
    OsRandom.fill(&mut id).map_err(unknown)?;
    let id = HEXLOWER.encode(&id);
    let streaming = call.app.streams.begin(id, &scope.holder.id)?;
    let view = scope.one(asked.namespace.as_deref())?;
    Ok(Answer::Events(Box::new(move |send| {
        let mut tell = |mut event: cal::Event| {
            event.data["assembly_id"] = streaming.id.as_str().into();
            send(event.name, &event.data) && streaming.goes_on()
        };
        if let Err(failure) = query.stream(&view, &asked.options, &mut tell)
            && failure.code() != cal::Code::Cancelled.as_str()
        {
            let error = match failure {
                cal::Failure::Store(error) => Failure::from(error).to_json(),
                failure => failure.to_json(&asked.source),
            };
            send("error", &error);
        }
    })))
}

/// Ends an assembly that is being streamed.
pub(crate) fn cancel(call: &Call<'_>) -> Result<Answer, Failure> {
    let CancelBody { assembly_id } = call.json()?;
    let token = &call.scope()?.holder.id;
    match call.app.streams.cancel(&assembly_id, token) {
        true => Ok(Answer::Json(200, json!({ "cancelled": true }))),
        false => {
            let message = "no assembly with this id is being streamed";
            Err(Failure::of(ErrorCode::NotFound, message))
        }
    }
}

/// Prepares a change: returns its token and its plan.
pub(crate) fn prepare(call: &Call<'_>) -> Result<Answer, Failure> {
    let host = host(call)?;
    let asked = Asked::of(call)?;
    let view = call.scope()?.one(asked.namespace.as_deref())?;
    let query = asked.query;
    match query.and_then(|query| host.prepare(&view, &query, &asked.options)) {
        Ok(prepared) => Ok(Answer::Json(200, prepared.to_json())),
        Err(failure) => refused(failure, &asked.source),
    }
}

/// Makes the change of a token, once.
pub(crate) fn execute(call: &Call<'_>) -> Result<Answer, Failure> {
    let host = host(call)?;
    let scope = call.scope()?;
    let body: ExecuteBody = call.json()?;
    let view = scope.one(body.namespace.as_deref())?;
    let change = match host.redeem(&view, &body.token) {
        Ok(change) => change,
        Err(failure) => return refused(failure, ""),
    };
    let warnings = warnings_of(&view, change.grain());
    match change.apply(&view) {
        Ok(answer) => Ok(Answer::Json(200, with_warnings(answer.to_json(), warnings))),
        Err(failure) => refused(failure, ""),
    }
}

/// A statement as it came.
struct Asked {
    /// The text, to which positions of errors refer.
    source: String,
    query: Result<Query, cal::Failure>,
    namespace: Option<String>,
    options: Options,
    form: Form,
}

/// The media type of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    JsonCal,
    /// The text of AS or ASSEMBLE; the envelope where there is none.
    Text,
}

impl Asked {
    fn of(call: &Call<'_>) -> Result<Self, Failure> {
        let sent = Form::named(call.header("content-type")).unwrap_or(Form::Json);
        // CAL 1.11: the form of the answer follows Accept, else the request.
        let form = Form::named(call.header("accept")).unwrap_or(sent);
        let body = match sent {
            Form::Json => call.json()?,
            Form::JsonCal => CalBody {
                query: Some(call.json()?),
                ..CalBody::default()
            },
            Form::Text => CalBody::default(),
        };
        let now = body.now.as_ref().map(Moment::first).transpose()?;
        let options = Options {
            parameters: body.parameters,
            bytes_max: ANSWER_LEN_MAX,
            host: call.app.cal().cloned(),
            ..Options::at(now.unwrap_or(call.now))
        };
        let (source, query) = match (sent, body.cal, body.query) {
            (Form::Text, ..) => {
                let text = String::from_utf8_lossy(&call.body).into_owned();
                (text, cal::parse_bytes(&call.body))
            }
            (_, Some(text), None) => {
                let query = cal::parse(&text);
                (text, query)
            }
            (_, None, Some(form)) => (String::new(), cal::parse_json(&form)),
            _ => return Err(Failure::usage("either cal or query is the statement")),
        };
        Ok(Self {
            source,
            query: query.map_err(cal::Failure::from),
            namespace: body.namespace,
            options,
            form,
        })
    }
}

impl Form {
    /// Returns the form of the first media type of a header that is one of CAL.
    fn named(header: Option<&str>) -> Option<Self> {
        let types = header?.split(',');
        let mut types = types.map(|one| one.split(';').next().unwrap_or_default().trim());
        types.find_map(|one| match one.to_ascii_lowercase().as_str() {
            "text/cal" => Some(Self::Text),
            "application/json+cal" => Some(Self::JsonCal),
            "application/json" => Some(Self::Json),
            _ => None,
        })
    }

    fn written(self, answer: &cal::Answer) -> Answer {
        match (self, answer.text()) {
            (Self::Json, _) => Answer::Json(200, answer.to_json()),
            (Self::Text, Some(text)) => {
                Answer::Text("text/cal; charset=utf-8", text.to_owned(), Vec::new())
            }
            (Self::JsonCal | Self::Text, _) => {
                let text = answer.to_json().to_string();
                Answer::Text("application/json+cal", text, Vec::new())
            }
        }
    }
}

/// Returns the host of the server, unless its operator has switched CAL off.
fn host<'a>(call: &Call<'a>) -> Result<&'a Arc<Host>, Failure> {
    let off = || Failure::new(503, "ERR_CAL_OFF", "the operator has switched CAL off");
    call.app.cal().ok_or_else(off)
}

/// Returns the error of a statement, or that of the store.
fn refused(failure: cal::Failure, source: &str) -> Result<Answer, Failure> {
    match failure {
        cal::Failure::Store(error) => Err(error.into()),
        failure => Ok(Answer::Json(
            status(failure.code()),
            failure.to_json(source),
        )),
    }
}

/// Returns the status of a code of CAL.
fn status(code: &str) -> u16 {
    match code {
        "CAL-E030" | "CAL-E031" | "CAL-E042" | "CAL-E075" | "CAL-E076" => 422,
        "CAL-E040" | "CAL-E041" => 409,
        "CAL-E043" | "CAL-E052" => 429,
        "CAL-E044" | "CAL-E045" => 403,
        "CAL-E046" => 404,
        _ => 400,
    }
}
