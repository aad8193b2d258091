//! JSON objects read by the types of the schema; each error has the place of the member.

use std::fmt::{Display, Write as _};

use crate::code::ErrorCode;
use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::formats::shape::number;
use crate::interchange::model::rfc3339::parse_rfc3339;
use crate::interchange::{Diagnostics, Error, Place};

use super::super::code;
use super::super::schema::tables::is_platform;

/// A JSON object with its place, whose members are read as the schema types them.
///
/// Null reads as absent: where the schema allows null it means nothing else.
#[derive(Clone)]
pub(crate) struct Object<'a> {
    pub(crate) map: &'a Map,
    /// The JSON pointer, after the name of the file and `#` outside the store itself.
    pub(crate) at: String,
}

impl<'a> Object<'a> {
    pub(crate) fn new(value: &'a Value, at: String) -> Result<Self, Error> {
        match value {
            Value::Map(map) => Ok(Self { map, at }),
            _ => Err(fault(code::SCHEMA, at, "must be an object")),
        }
    }

    /// Returns an error about a member.
    pub(crate) fn member_fault(
        &self,
        name: &str,
        code: ErrorCode,
        message: impl Into<String>,
    ) -> Error {
        fault(code, format!("{}/{name}", self.at), message)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| **value != Value::Nil)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.member_fault(name, code::SCHEMA, "must be a string")),
        }
    }

    /// Returns a string that must be there and must not be empty.
    pub(crate) fn required_text(&self, name: &str) -> Result<&'a str, Error> {
        match self.text(name)? {
            None => Err(self.missing(name)),
            Some("") => Err(self.member_fault(name, code::SCHEMA, "is empty")),
            Some(text) => Ok(text),
        }
    }

    pub(crate) fn time(&self, name: &str) -> Result<Option<Time>, Error> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        parse_rfc3339(text)
            .map(Some)
            .map_err(|message| self.member_fault(name, code::SCHEMA, message))
    }

    pub(crate) fn required_time(&self, name: &str) -> Result<Time, Error> {
        self.time(name)?.ok_or_else(|| self.missing(name))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.member_fault(name, code::SCHEMA, "must be true or false")),
        }
    }

    /// Returns a number from 0 to 1.
    pub(crate) fn unit(&self, name: &str) -> Result<Option<f64>, Error> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = number(value);
        let number =
            number.ok_or_else(|| self.member_fault(name, code::SCHEMA, "must be a number"))?;
        if (0.0..=1.0).contains(&number) {
            Ok(Some(number))
        } else {
            Err(self.member_fault(name, code::SCHEMA, "must be from 0 to 1"))
        }
    }

    pub(crate) fn object(&self, name: &str) -> Result<Option<Self>, Error> {
        let value = self.get(name);
        value
            .map(|value| Self::new(value, below(&self.at, &name)))
            .transpose()
    }

    pub(crate) fn required_object(&self, name: &str) -> Result<Self, Error> {
        self.object(name)?.ok_or_else(|| self.missing(name))
    }

    /// Returns the elements of an array, each with its pointer; an absent array has none.
    pub(crate) fn elements(
        &self,
        name: &str,
    ) -> Result<impl Iterator<Item = (&'a Value, String)> + use<'a>, Error> {
        let items = match self.get(name) {
            None => &[],
            Some(Value::Array(items)) => items.as_slice(),
            Some(_) => return Err(self.member_fault(name, code::SCHEMA, "must be an array")),
        };
        // Most arrays are absent, and no place in one is asked for.
        let at = match items {
            [] => String::new(),
            _ => below(&self.at, &name),
        };
        let numbered = items.iter().enumerate();
        Ok(numbered.map(move |(index, item)| (item, below(&at, &index))))
    }

    pub(crate) fn objects(&self, name: &str) -> Result<Vec<Self>, Error> {
        let elements = self.elements(name)?;
        elements.map(|(value, at)| Self::new(value, at)).collect()
    }

    /// Returns a platform identifier (PAM 11).
    pub(crate) fn platform(&self, name: &str) -> Result<&'a str, Error> {
        let platform = self.required_text(name)?;
        if is_platform(platform) {
            Ok(platform)
        } else {
            Err(self.member_fault(name, code::SCHEMA, "must match ^[a-z0-9_-]{2,32}$"))
        }
    }

    pub(crate) fn missing(&self, name: &str) -> Error {
        self.member_fault(name, code::SCHEMA, "is missing")
    }
}

/// Returns the pointer of a member or an item, in one piece of memory: each message has several.
fn below(at: &str, part: &dyn Display) -> String {
    let mut pointer = String::with_capacity(at.len().saturating_add(PART_LEN));
    pointer.push_str(at);
    // Writing to a String cannot fail.
    let _ = write!(pointer, "/{part}");
    pointer
}

/// As long as the names of most members.
const PART_LEN: usize = 12;

/// Returns what takes the violations of a schema as errors.
pub(crate) fn reported(faults: &mut Diagnostics) -> impl FnMut(String, String) {
    |at, message| faults.push(fault(code::SCHEMA, at, message))
}

pub(crate) fn fault(code: ErrorCode, at: String, message: impl Into<String>) -> Error {
    let place = if at.is_empty() {
        Place::File
    } else {
        Place::Pointer(at)
    };
    Error::format(code, place, message)
}

/// The characters of platform identifiers and tags.
pub(crate) const fn is_name_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')
}
