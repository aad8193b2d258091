//! The fields that the Lightweight profile allows (OMS 18.3).

use crate::codec::Profile;

use super::required_fields::is_required;
use crate::grain::fields::Fields;
use crate::grain::{Error, Type};

/// Refuses fields that a device of the profile does not carry, on writing and on reading.
///
/// OMS 18.3: a microcontroller carries these fields, what its type requires, and nothing else.
pub(in crate::grain) fn check_lightweight(
    of: Type,
    fields: &Fields<'_>,
    profile: Profile,
) -> Result<(), Error> {
    if profile != Profile::Lightweight {
        return Ok(());
    }
    let is_carried =
        |name: &str| CARRIED.contains(&name) || (is_required(of, name) && !OMITTED.contains(&name));
    match fields.map().iter().find(|(name, _)| !is_carried(name)) {
        Some((name, _)) => Err(Error::Forbidden {
            field: name.to_owned(),
            reason: "the Lightweight profile does not carry it (OMS 18.3)",
        }),
        None => Ok(()),
    }
}

const CARRIED: [&str; 7] = [
    "type",
    "subject",
    "relation",
    "object",
    "confidence",
    "created_at",
    "namespace",
];

/// Omitted by the section even where a type requires it; the others it names no type requires.
const OMITTED: [&str; 1] = ["context"];
