//! The fields of the types that revision 1.5 adds, Skill and Recommendation, and their short keys.
//!
//! They are read as what they are and kept as they came. No other type has them: an application field of a
//! grain of 1.3 may have any of these names, and would get another address under a short key.

use crate::grain::Type;

/// Returns the short key of a field of a later type.
pub(super) fn key_of(of: Type, name: &str) -> Option<&'static str> {
    let found = fields(of).iter().find(|(known, _)| *known == name);
    found.map(|(_, key)| *key)
}

/// Returns the full name that a short key of a later type stands for.
pub(super) fn name_of(of: Type, key: &str) -> Option<&'static str> {
    let found = fields(of).iter().find(|(_, known)| *known == key);
    found.map(|(name, _)| *name)
}

const fn fields(of: Type) -> &'static [(&'static str, &'static str)] {
    match of {
        Type::Opaque(0x0b) => SKILL,
        Type::Opaque(0x0c) => RECOMMENDATION,
        _ => &[],
    }
}

/// OMS 1.5, 6.12; `description` and the common fields have the keys that they have here.
const SKILL: &[(&str, &str)] = &[
    ("name", "skname"),
    ("instructions", "instr"),
    ("when_to_use", "wtu"),
    ("version", "sver"),
    ("allowed_tools", "atls"),
    ("resources", "res"),
    ("dependencies", "deps"),
    ("input_modalities", "imod"),
    ("output_modalities", "omod"),
    ("domain", "dom"),
    ("holder_did", "hdid"),
    ("proficiency", "prof"),
    ("practice_count", "prcnt"),
    ("last_practiced_at", "lpa"),
    ("strategies", "strat"),
    ("transferable", "xfer"),
];

/// OMS 1.5, 6.13. Its review state is of the index layer, and no field.
const RECOMMENDATION: &[(&str, &str)] = &[
    ("target_ref", "tref"),
    ("analyzer", "anlz"),
    ("summary", "summ"),
    ("dedup_key", "ddk"),
    ("proposal_cal", "pcal"),
    ("proposal_edit", "pedit"),
    ("proposal_data", "pdata"),
    ("severity", "sev"),
    ("metric_snapshot", "msnap"),
    ("evidence_query", "evq"),
];

#[cfg(test)]
mod tests {
    use super::super::Field;
    use super::*;

    #[test]
    fn a_later_field_takes_no_name_and_no_key_of_another() {
        for of in [SKILL, RECOMMENDATION] {
            for (at, (name, key)) in of.iter().enumerate() {
                assert!(Field::named(name).is_none() && Field::keyed(key).is_none());
                assert!(Field::named(key).is_none() && Field::keyed(name).is_none());
                let mut others = of.iter().skip(at + 1);
                assert!(others.all(|(other, taken)| other != name && taken != key));
            }
        }
    }
}
