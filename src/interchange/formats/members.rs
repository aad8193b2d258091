//! The members of foreign records: how readers of other tools' JSON take them.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::json::strict;
use crate::interchange::model::rfc3339::parse_rfc3339;

/// Returns a member that is text and not empty.
pub(crate) fn text<'a>(map: &'a Map, name: &str) -> Option<&'a str> {
    map.get(name)?.as_text().filter(|text| !text.is_empty())
}

/// Returns a member that is a time with an offset, as the export has it.
pub(crate) fn time(map: &Map, name: &str) -> Option<String> {
    let text = text(map, name)?;
    parse_rfc3339(text).ok().map(|_| text.to_owned())
}

/// Returns the objects of an array.
pub(crate) fn objects<'a>(map: &'a Map, name: &str) -> impl Iterator<Item = &'a Map> {
    let items = map.get(name).and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_map)
}

/// Returns a value, or the object or array that it is as JSON text.
pub(crate) fn parsed(value: &Value) -> Cow<'_, Value> {
    let text = value.as_text().map(str::trim_start);
    let json = text.filter(|text| text.starts_with(['{', '[']));
    match json.and_then(|text| strict::parse(text.as_bytes()).ok()) {
        Some(parsed) => Cow::Owned(parsed),
        None => Cow::Borrowed(value),
    }
}

/// Builds an object of the members that are present.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Option<Value>)>) -> Value {
    let members = members
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|it| *it != Value::Nil)?)));
    Value::Map(members.collect())
}

/// Returns an object without the members that have a place of their own.
pub(crate) fn rest(map: &Map, placed: &[&str]) -> Map {
    map.iter()
        .filter(|(name, value)| !placed.contains(name) && **value != Value::Nil)
        .map(|(name, value)| (name, value.clone()))
        .collect()
}

/// Returns an object as [`rest`] does, without a copy of it.
pub(crate) fn into_rest(mut map: Map, placed: &[&str]) -> Map {
    map.retain(|name, value| !placed.contains(&name) && *value != Value::Nil);
    map
}

/// Returns an id for a record without one: equal records get equal ids.
pub(crate) fn stable_id(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    let hex = data_encoding::HEXLOWER.encode(&hash.finalize());
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    // RFC 9562, version 8: converter by rules of our own.
    format!(
        "{}-{}-8{}-8{}-{}",
        group(0, 8),
        group(8, 12),
        group(12, 15),
        group(15, 18),
        group(18, 30)
    )
}

/// Returns a time as tools write it: RFC 3339, a date and time without an offset (UTC), as databases
/// print them, a date alone (UTC), or the seconds, milliseconds or microseconds since 1970.
pub(crate) fn moment(value: &Value) -> Option<Time> {
    match value {
        Value::Text(text) => written(text.trim()),
        Value::Int(int) => since_1970(int.as_i64()?),
        Value::Float(seconds) => {
            let ms = (seconds * 1000.0).round();
            // Of seconds alone fractions are written.
            let is_seconds = *seconds > 0.0 && ms < 1e14;
            // A double below 10^14 without a fraction is an integer.
            is_seconds
                .then(|| format!("{ms:.0}").parse().ok())
                .flatten()
                .map(Time::from_ms)
        }
        _ => None,
    }
}

fn written(text: &str) -> Option<Time> {
    let day = |text: &str| text.len() == 10;
    let parsed = |text: &str| parse_rfc3339(text).ok();
    parsed(text)
        .or_else(|| parsed(&format!("{text}T00:00:00Z")).filter(|_| day(text)))
        .or_else(|| {
            let text = text.replacen(' ', "T", 1);
            parsed(&text)
                .or_else(|| parsed(&format!("{text}Z")))
                // `2026-05-01 08:00:00+00`, as PostgreSQL prints it.
                .or_else(|| parsed(&format!("{text}:00")))
        })
}

fn since_1970(count: i64) -> Option<Time> {
    let ms = match count {
        ..=0 => return None,
        1..=99_999_999_999 => count.checked_mul(1000)?,
        100_000_000_000..=99_999_999_999_999 => count,
        _ => count.checked_div(1000)?,
    };
    Some(Time::from_ms(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_tools_write_it() {
        let at = |value: Value| moment(&value).map(|time| time.to_string());
        let may = Some("2026-05-01T08:00:00.000Z".to_owned());
        for text in [
            "2026-05-01T08:00:00Z",
            "2026-05-01T10:00:00+02:00",
            "2026-05-01T08:00:00",
            "2026-05-01 08:00:00.000",
            "2026-05-01 08:00:00+00",
        ] {
            assert_eq!(at(text.into()), may, "{text}");
        }
        let second = 1_777_622_400_i64;
        for count in [second, second * 1000, second * 1_000_000] {
            assert_eq!(at(count.into()), may, "{count}");
        }
        assert_eq!(at(Value::Float(1_777_622_400.0)), may);
        assert_eq!(
            at("2026-05-01".into()).as_deref(),
            Some("2026-05-01T00:00:00.000Z")
        );
        for none in [
            Value::from("soon"),
            Value::from(0_i64),
            Value::Float(f64::NAN),
            Value::Nil,
        ] {
            assert_eq!(moment(&none), None, "{none:?}");
        }
    }
}
