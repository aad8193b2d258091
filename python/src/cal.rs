//! Statements of the Context Assembly Language.

use grainstore::store::{Clock, SystemClock};
use grainstore_cal::{Cal as _, Failure, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::error;
use crate::store::Store;
use crate::value::time;

#[pymethods]
impl Store {
    /// Answers a statement with its envelope as JSON, the text that it asks for, and whether something
    /// was found. The parameters are a JSON object.
    fn cal(
        &self,
        py: Python<'_>,
        statement: &str,
        parameters: &str,
        user: Option<String>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>, bool)> {
        let now = now.map_or_else(|| Ok(SystemClock.now()), time)?;
        let parameters = serde_json::from_str(parameters);
        let options = Options {
            user,
            parameters: parameters.map_err(|it| PyValueError::new_err(it.to_string()))?,
            ..Options::at(now)
        };
        let store = self.handle(py)?;
        let answered = py.detach(|| {
            store.cal(statement, &options).map(|answer| {
                let text = answer.text().map(str::to_owned);
                (answer.to_json().to_string(), text, answer.is_found())
            })
        });
        answered.map_err(|failure| match failure {
            Failure::Store(source) => error::of(py, &source),
            failure => refused(py, &failure.to_json(statement)),
        })
    }
}

/// Returns the exception for the error object of a statement.
fn refused(py: Python<'_>, object: &Value) -> PyErr {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let position = &object["position"];
    let place = position
        .is_object()
        .then(|| format!("line {}, column {}", position["line"], position["col"]));
    let hint = Some(text("suggestion")).filter(|hint| !hint.is_empty());
    error::made(py, (text("code"), text("message"), place, hint))
}
