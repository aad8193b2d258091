//! Until when a grain must be kept, and whose word its deletion needs (OMS 6.1, A.3).

use crate::codec::{Value, nfc};
use crate::grain::{Grain, Time};

use super::transfer::{profile_fields, tags};

/// Returns until when a grain's `retention_policy` keeps it: `minimum_retention_years` from its
/// creation (OMS 6.1). A year has 366 days here, so that no leap day shortens it.
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::policy::retained_until;
///
/// let json = r#"{"type":"event","content":"a receipt","created_at":0,
///     "retention_policy":{"minimum_retention_years":1}}"#;
/// let grain = Draft::from_json(json)?.finish(Default::default())?;
/// assert_eq!(retained_until(&grain), Some(Time::from_ms(366 * 86_400_000)));
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
pub fn retained_until(grain: &Grain) -> Option<Time> {
    let own = stated(grain, "minimum_retention_years");
    // OMS A.3: it overrides a default, so it never shortens the grain's own period.
    let is_finance = tags(grain).any(|tag| tag == "profile:finance");
    let finance = is_finance.then(|| profile_fields(grain, "fin:retention_years"));
    let years = own.into_iter().chain(finance.into_iter().flatten());
    let years = years.filter_map(Value::as_i64).max()?;
    Some(after_years(grain.created_at(), years))
}

/// Returns whose word a grain's `retention_policy` requires for a deletion (OMS 6.1); `None` if it
/// requires none.
pub(crate) fn deletion_requires(grain: &Grain) -> Option<&str> {
    let required = stated(grain, "deletion_requires").and_then(Value::as_text);
    let required = required.map(str::trim);
    required.filter(|text| !text.is_empty())
}

/// Returns the regulation that a grain's `retention_policy` names (OMS 6.1).
pub(crate) fn regulation(grain: &Grain) -> Option<&str> {
    stated(grain, "regulation").and_then(Value::as_text)
}

/// Returns a member of a grain's `retention_policy`.
fn stated<'a>(grain: &'a Grain, name: &str) -> Option<&'a Value> {
    grain.field("retention_policy")?.as_map()?.get(name)
}

/// Returns whether an authority names what a deletion requires, in capitals or not.
pub(super) fn names_required(authority: &str, required: &str) -> bool {
    let plain = |text: &str| nfc(text).to_lowercase();
    plain(authority).contains(&plain(required))
}

pub(super) fn after_years(from: Time, years: i64) -> Time {
    let kept = years.max(0).saturating_mul(YEAR_MS);
    Time::from_ms(from.ms().saturating_add(kept))
}

const YEAR_MS: i64 = 366 * 24 * 60 * 60 * 1000;
