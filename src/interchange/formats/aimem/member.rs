//! The members of a record, read as the draft types them, and URNs (AIMEM 2.3).

use crate::code::ErrorCode;
use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::model::rfc3339::parse_rfc3339;
use crate::interchange::{Error, Place};

use super::code;

/// An object of a bundle with its place. Null reads as absent, as the reference reads it.
pub(super) struct Object<'a> {
    pub(super) map: &'a Map,
    pub(super) at: Place,
}

impl<'a> Object<'a> {
    pub(super) fn new(value: &'a Value, at: Place) -> Result<Self, Error> {
        match value {
            Value::Map(map) => Ok(Self { map, at }),
            _ => Err(Error::format(code::NOT_OBJECT, at, "must be an object")),
        }
    }

    pub(super) fn fault(&self, code: ErrorCode, name: &str, what: impl AsRef<str>) -> Error {
        fault(&self.at, code, name, what)
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| **value != Value::Nil)
    }

    pub(super) fn required(&self, name: &str) -> Result<&'a Value, Error> {
        let missing = || self.fault(code::MISSING_FIELD, name, "is missing");
        self.get(name).ok_or_else(missing)
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, Error> {
        let wrong = || self.fault(code::INVALID_FIELD, name, "must be a string");
        self.required(name)?.as_text().ok_or_else(wrong)
    }

    /// Returns a time in UTC.
    pub(super) fn time(&self, name: &str) -> Result<Time, Error> {
        let wrong = |message: &str| self.fault(code::INVALID_TIMESTAMP, name, message);
        let text = self.required(name)?.as_text();
        let text = text.ok_or_else(|| wrong("must be a string"))?;
        if !(text.ends_with(['Z', 'z']) || text.ends_with("+00:00") || text.ends_with("-00:00")) {
            return Err(wrong("must be in UTC"));
        }
        parse_rfc3339(text).map_err(|message| wrong(&message))
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.fault(code::INVALID_FIELD, name, "must be true or false")),
        }
    }

    /// Returns a reference to a record of this bundle.
    pub(super) fn urn(&self, name: &str) -> Result<Urn<'a>, Error> {
        let text = self.text(name)?;
        Urn::parse(text).ok_or_else(|| {
            let message = "must be urn:aimem:<producer>:<local>";
            self.fault(code::INVALID_URN, name, message)
        })
    }
}

/// Returns an error of a member of a record.
pub(super) fn fault(at: &Place, code: ErrorCode, name: &str, what: impl AsRef<str>) -> Error {
    let what = what.as_ref();
    let (place, message) = match at {
        Place::File => (Place::Pointer(format!("/{name}")), what.to_owned()),
        Place::Pointer(at) => (Place::Pointer(format!("{at}/{name}")), what.to_owned()),
        place => (place.clone(), format!("{name}: {what}")),
    };
    Error::format(code, place, message)
}

/// The name of a record (AIMEM 2.3).
#[derive(Clone, Copy)]
pub(super) struct Urn<'a> {
    pub(super) whole: &'a str,
    pub(super) producer: &'a str,
    pub(super) local: &'a str,
}

impl<'a> Urn<'a> {
    pub(super) fn parse(whole: &'a str) -> Option<Self> {
        let (producer, local) = whole.strip_prefix("urn:aimem:")?.split_once(':')?;
        let is_local = (1..=256).contains(&local.len())
            && local
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b':');
        (is_producer(producer) && is_local).then_some(Self {
            whole,
            producer,
            local,
        })
    }
}

/// A producer namespace (AIMEM 2.3).
pub(super) fn is_producer(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_urn_has_a_producer_and_a_local_name_without_a_colon() {
        let long = "l".repeat(256);
        for (urn, is_one) in [
            ("urn:aimem:p:1".to_owned(), true),
            ("urn:aimem:p-9:!~a/b".to_owned(), true),
            (format!("urn:aimem:{}:{long}", "p".repeat(63)), true),
            (format!("urn:aimem:p:{long}l"), false),
            (format!("urn:aimem:{}:x", "p".repeat(64)), false),
            ("urn:aimem:P:1".to_owned(), false),
            ("urn:aimem::1".to_owned(), false),
            ("urn:aimem:p:".to_owned(), false),
            ("urn:aimem:p:a:b".to_owned(), false),
            ("urn:aimem:p:a b".to_owned(), false),
            ("urn:aimem:p:é".to_owned(), false),
            ("URN:aimem:p:a".to_owned(), false),
            ("not-a-urn".to_owned(), false),
        ] {
            assert_eq!(Urn::parse(&urn).is_some(), is_one, "{urn}");
        }
    }
}
