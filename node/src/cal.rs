//! Statements of the Context Assembly Language.

use grainstore::store::{Clock, SystemClock};
use grainstore_cal::{Cal as _, Failure, Options};
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use serde_json::Value;

use crate::ask::{Abort, Ask, Promised};
use crate::failure;
use crate::store::Store;
use crate::value::time;

/// The answer to a statement.
#[napi(object, object_from_js = false)]
pub struct Answered {
    /// The envelope, as JSON.
    pub envelope: String,
    /// The text of `AS`, or of an assembled context.
    pub text: Option<String>,
    /// Whether something was found.
    pub is_found: bool,
}

#[napi]
impl Store {
    /// Answers a statement. The parameters are a JSON object; `now` is the text of a time.
    #[napi(ts_return_type = "Promise<Answered>")]
    pub fn cal(
        &self,
        statement: String,
        parameters: String,
        user: Option<String>,
        now: Option<String>,
        abort: Option<&Abort>,
    ) -> Result<Promised<Answered>> {
        let now = now.map(grainstore::codec::Value::Text);
        let now = now.map_or_else(|| Ok(SystemClock.now()), |now| time(&now))?;
        let parameters = serde_json::from_str(&parameters);
        let options = Options {
            user,
            parameters: parameters.map_err(|it| failure::range(&it.to_string()))?,
            ..Options::at(now)
        };
        let handle = self.held().clone();
        Ok(Ask::promise(abort, move || {
            handle.with(|store| match store.cal(&statement, &options) {
                Ok(answer) => Ok(Answered {
                    envelope: answer.to_json().to_string(),
                    text: answer.text().map(str::to_owned),
                    is_found: answer.is_found(),
                }),
                Err(Failure::Store(source)) => Err(failure::of(&source)),
                Err(failure) => Err(refused(&failure.to_json(&statement))),
            })
        }))
    }
}

/// Returns the error for the error object of a statement.
fn refused(object: &Value) -> napi::Error {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let position = &object["position"];
    let place = position
        .is_object()
        .then(|| format!("line {}, column {}", position["line"], position["col"]));
    let hint = Some(text("suggestion")).filter(|hint| !hint.is_empty());
    failure::made(text("code"), text("message"), place, hint)
}
