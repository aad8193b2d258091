//! Sensitivity from tags (OMS 13.2, 13.4, 27.4).

use crate::codec::{Sensitivity, Value};

use super::findings::Findings;
use crate::grain::fields::{Fields, field};

/// Returns whether a tag is one of the eighteen identifiers of HIPAA's Safe Harbor (OMS 27.4).
///
/// Any other `phi:` tag marks health information all the same.
///
/// ```
/// use grainstore::grain::is_listed_phi_tag;
///
/// assert!(is_listed_phi_tag("phi:mrn"));
/// assert!(!is_listed_phi_tag("phi:diagnosis"));
/// ```
pub fn is_listed_phi_tag(tag: &str) -> bool {
    tag.strip_prefix("phi:")
        .is_some_and(|identifier| SAFE_HARBOR.contains(&identifier))
}

/// Returns the lowest header sensitivity the tags allow.
pub(in crate::grain) fn required_by_tags(fields: &Fields<'_>) -> Sensitivity {
    let tags = fields.get(field!("structural_tags"));
    let levels = tags.into_iter().flat_map(Value::texts).map(of_tag);
    levels.max().unwrap_or_default()
}

/// Points at `phi:` tags that are not of the list, so that a misspelt one is noticed.
pub(super) fn check(fields: &Fields<'_>, findings: &mut Findings) {
    let tags = fields.get(field!("structural_tags"));
    for tag in tags.into_iter().flat_map(Value::texts) {
        if tag.starts_with("phi:") && !is_listed_phi_tag(tag) {
            findings.warn(
                "structural_tags",
                "a phi: tag is not one of the eighteen listed (OMS 27.4)",
            );
        }
    }
}

fn of_tag(tag: &str) -> Sensitivity {
    match tag.split_once(':') {
        // OMS 27.4: any phi: tag counts, not only the eighteen listed.
        Some(("phi", _)) => Sensitivity::Phi,
        Some(("pii" | "sec" | "legal", _)) => Sensitivity::Pii,
        Some(("reg", _)) => Sensitivity::Internal,
        _ => Sensitivity::Public,
    }
}

/// 45 CFR 164.514(b), as OMS 27.4 names them.
const SAFE_HARBOR: [&str; 18] = [
    "name",
    "geo_subdivision",
    "date",
    "age_over_89",
    "phone",
    "fax",
    "email",
    "ssn",
    "mrn",
    "health_plan_id",
    "account_number",
    "certificate_license",
    "vehicle_id",
    "device_id",
    "url",
    "ip_address",
    "biometric",
    "photo",
];
