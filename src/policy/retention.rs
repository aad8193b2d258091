use crate::codec::Value;
use crate::grain::{Grain, Time};

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
    let policy = grain.field("retention_policy")?.as_map()?;
    let years = policy
        .get("minimum_retention_years")
        .and_then(Value::as_i64)?;
    let kept = years.max(0).saturating_mul(YEAR_MS);
    Some(Time::from_ms(grain.created_at().ms().saturating_add(kept)))
}

const YEAR_MS: i64 = 366 * 24 * 60 * 60 * 1000;
