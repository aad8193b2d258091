//! The JSON form of a statement: one key for each clause, and no other.

use serde_json::{Map, Value as Json};

use crate::code::Code;
use crate::error::Error;
use crate::lexer::normalised;
use crate::parser;
use crate::place::At;
use crate::statement::{Let, Query, Statement};

/// Returns the statement of a text that comes as bytes.
///
/// ```
/// use grainstore_cal::{Code, parse_bytes};
///
/// assert_eq!(parse_bytes(b"RECALL \xff").unwrap_err().code, Code::InvalidUtf8);
/// ```
///
/// # Errors
/// CAL-E070; as [`parse`](crate::parse).
pub fn parse_bytes(bytes: &[u8]) -> Result<Query, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Error::new(Code::InvalidUtf8, At::default(), "a statement is UTF-8"))?;
    parser::parse(text)
}

/// Returns the statement of its JSON form.
///
/// ```
/// let json = serde_json::json!({
///     "cal_version": 1, "statement": "recall", "grain_type": "beliefs", "about": "alice",
///     "where": [{"field": "confidence", "op": ">=", "value": 0.8}], "recent": 5, "as": "markdown"
/// });
/// let query = grainstore_cal::parse_json(&json)?;
/// let text = "CAL/1 RECALL beliefs ABOUT \"alice\" WHERE confidence >= 0.8 RECENT 5 AS markdown";
/// assert_eq!(query.to_string(), text);
/// # Ok::<(), grainstore_cal::Error>(())
/// ```
///
/// # Errors
/// CAL-E002 for a key or a value that the form does not have; as [`parse`](crate::parse).
pub fn parse_json(json: &Json) -> Result<Query, Error> {
    let Json::Object(object) = json else {
        return Err(refused("a statement is an object"));
    };
    let mut object = object.clone();
    for value in object.values_mut() {
        normalise(value)?;
    }
    let version = object.remove("cal_version").map(|version| {
        let version = version.as_u64().and_then(|n| u32::try_from(n).ok());
        version.ok_or_else(|| Error::new(Code::Version, At::default(), "no version of CAL"))
    });
    let lets = object.remove("let").map(|lets| {
        serde_json::from_value::<Vec<Let>>(lets).map_err(|error| refused(error.to_string()))
    });
    let statement: Statement =
        serde_json::from_value(Json::Object(object)).map_err(|error| refused(error.to_string()))?;
    let query = Query {
        version: version.transpose()?,
        lets: lets.transpose()?.unwrap_or_default(),
        statement,
    };
    // A name in JSON may be any text: a form that cannot be written as text is no statement.
    match parser::parse(&query.to_string()) {
        Ok(read) if read == query => Ok(query),
        Ok(_) => Err(refused("the statement has no text form")),
        Err(error) => Err(Error {
            at: At::default(),
            ..error
        }),
    }
}

impl Query {
    /// Returns the JSON form.
    pub fn to_json(&self) -> Json {
        // A statement is a tree of texts and finite numbers, which always has a form.
        let mut form = serde_json::to_value(&self.statement).unwrap_or_default();
        let mut head = Map::new();
        if let Some(version) = self.version {
            head.insert("cal_version".into(), version.into());
        }
        if !self.lets.is_empty() {
            let lets = serde_json::to_value(&self.lets).unwrap_or_default();
            head.insert("let".into(), lets);
        }
        if let Json::Object(object) = &mut form {
            head.append(object);
        }
        Json::Object(head)
    }
}

/// Puts every text in normal form C.
fn normalise(value: &mut Json) -> Result<(), Error> {
    match value {
        Json::String(text) => *text = normalised(text, At::default())?,
        Json::Array(values) => values.iter_mut().try_for_each(normalise)?,
        Json::Object(object) => object.values_mut().try_for_each(normalise)?,
        _ => {}
    }
    Ok(())
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(Code::Unexpected, At::default(), message)
}
