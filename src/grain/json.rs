//! Grains as JSON: full field names, times in milliseconds, bytes in base64.

use crate::codec::{self, Value};

use super::{Draft, Error, Type};

impl Draft {
    /// Reads a JSON object of full field names; its `type` names one of the ten types.
    ///
    /// Times may be milliseconds or RFC 3339 text; bytes are base64.
    ///
    /// ```
    /// use grainstore::grain::Draft;
    ///
    /// let draft = Draft::from_json(r#"{"type": "event", "content": "hello",
    ///     "created_at": "2026-01-15T10:00:00Z"}"#)?;
    /// assert_eq!(draft.finish(Default::default())?.created_at().ms(), 1_768_471_200_000);
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_JSON` for text that is not strict JSON, `ERR_CORRUPT` for a member that is there twice, `ERR_NOT_MAP`, `ERR_NO_TYPE`,
    /// `ERR_UNKNOWN_TYPE`.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Self::from_value(Value::from_json(text)?)
    }

    /// Takes a map of full field names.
    ///
    /// # Errors
    /// `ERR_NOT_MAP`, `ERR_NO_TYPE`, `ERR_UNKNOWN_TYPE`.
    pub fn from_value(value: Value) -> Result<Self, Error> {
        let Value::Map(fields) = value else {
            return Err(Error::Codec(codec::Error::NotMap));
        };
        let name = match fields.get("type") {
            Some(Value::Text(name)) => name,
            Some(Value::Nil) | None => return Err(Error::NoType),
            Some(_) => {
                return Err(Error::WrongKind {
                    field: "type".into(),
                    expected: "text",
                });
            }
        };
        let of = Type::named(name).ok_or_else(|| Error::UnknownType { name: name.clone() })?;
        Ok(Self::from_fields(of, fields))
    }
}
