//! The rules of a valid grain (OMS 8, 14, 19.3, 23–27), checked in the order of ruling T15:
//! presence and kinds, empty texts, ranges, closed lists, sensitivity.

mod action;
mod lint;
mod lightweight;
mod elided;
mod jq;
mod kind;
mod licence;
mod enum_values;
mod findings;
mod required_fields;
mod profile;
mod profile_conflict;
mod profile_table;
mod references;
mod schema;
mod sensitivity;

use super::fields::{Fields, INDEX_LAYER};
use super::{Error, Type};
use findings::Findings;
use profile::Declared;

pub(super) use elided::{is_elidable, read_hash};
pub(super) use findings::Origin;
pub use findings::Warning;
pub(super) use kind::{check_namespace, members_of};
pub(super) use lightweight::check_lightweight;
pub(super) use profile_conflict::conflict;
pub use schema::json_schema;
pub use sensitivity::is_listed_phi_tag;
pub(super) use sensitivity::required_by_tags;

/// Judges the fields of a grain; opaque types are not judged (OMS 19.4).
pub(super) fn check(of: Type, fields: &Fields<'_>, origin: Origin) -> Result<Vec<Warning>, Error> {
    let mut findings = Findings {
        origin,
        warnings: Vec::new(),
    };
    kind::check_bytes(fields)?;
    // OMS 5.6, ruling P14: what the store alone says is said by no blob, of whatever type.
    index_layer(fields, &mut findings)?;
    if matches!(of, Type::Opaque(_)) {
        return Ok(findings.warnings);
    }
    let profiles = Declared::of(fields);
    elided::check(fields, &mut findings)?;
    required_fields::check(of, fields, &mut findings)?;
    profiles.check_presence(&mut findings)?;
    kind::check(of, fields, &mut findings)?;
    profiles.check_kinds(&mut findings)?;
    required_fields::check_empty(of, fields, &mut findings)?;
    profiles.check_empty(&mut findings)?;
    kind::check_ranges(fields, &mut findings)?;
    profiles.check_ranges(&mut findings)?;
    enum_values::check(of, fields, &mut findings)?;
    profiles.check_lists(&mut findings)?;
    profile_conflict::check(fields.map(), &mut findings)?;
    references::check(of, fields, &mut findings)?;
    sensitivity::check(fields, &mut findings);
    lint::check(of, fields, &mut findings);
    Ok(findings.warnings)
}

/// OMS 5.6, 28.3: only the store holds a grain's status. Files with a status in blobs exist,
/// so ruling I2 keeps their bytes and ignores the values.
fn index_layer(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    for slot in INDEX_LAYER {
        if fields.contains(*slot) {
            findings.writer_rule(Error::Forbidden {
                field: slot.name().to_owned(),
                reason: "the store keeps it in the index layer",
            })?;
        }
    }
    Ok(())
}
