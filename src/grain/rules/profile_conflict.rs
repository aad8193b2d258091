//! Fields of a profile that stand at the top level and in `context` with two values (OMS A, ruling P3).

use crate::codec::{Map, Value};

use super::findings::Findings;
use super::profile_table::PROFILES;
use crate::grain::Error;

/// Refuses a grain of which policy could not say what the stricter value is.
pub(super) fn check(fields: &Map, findings: &mut Findings) -> Result<(), Error> {
    match conflict(fields) {
        Some(name) => findings.writer_rule(Error::Forbidden {
            field: format!("context.{name}"),
            reason: "it has another value beside context, and neither is stricter (OMS A)",
        }),
        None => Ok(()),
    }
}

/// Returns the first field of a profile that has two values of which neither is stricter.
pub(in crate::grain) fn conflict(fields: &Map) -> Option<&str> {
    let context = fields.get("context").and_then(Value::as_map)?;
    let mut both = context.iter().filter_map(|(name, inner)| {
        let (prefix, _) = name.split_once(':')?;
        let is_known = PROFILES.iter().any(|profile| profile.prefix == prefix);
        let top = fields.get(name).filter(|top| is_known && *top != inner)?;
        Some((name, top, inner))
    });
    both.find(|(name, top, inner)| !has_stricter(name, top, inner))
        .map(|(name, ..)| name)
}

/// Returns whether one of two values is the stricter one; policy takes it wherever it stands.
fn has_stricter(name: &str, top: &Value, inner: &Value) -> bool {
    let both = |fits: fn(&Value) -> bool| fits(top) && fits(inner);
    match name {
        "legal:privilege" => [top, inner]
            .iter()
            .any(|value| value.as_text() == Some("none")),
        "con:ccpa_opted_out" => both(|value| value.as_bool().is_some()),
        "fin:retention_years" => both(|value| value.as_i64().is_some()),
        _ => false,
    }
}
