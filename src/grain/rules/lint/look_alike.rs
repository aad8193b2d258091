//! Members that are no field and look like one: `sesion_id`, `userId`, `confidance`.
//!
//! Such a member is stored as application data (OMS 5.4): no filter finds it, and an erasure of a
//! person by `user_id` does not see a `userid`. It is a warning and no error, since any name may be
//! meant.

use crate::codec::Map;
use crate::grain::fields::Field;
use crate::grain::rules::findings::Findings;

/// Warns about a member whose name is not of the field table.
pub(in crate::grain::rules) fn check(name: &str, findings: &mut Findings) {
    if let Some(field) = like(name) {
        findings.warn(
            name,
            format!("not a field, stored as application data; did you mean {field}?"),
        );
    }
}

/// Returns the member that was likely meant to be a field and is none.
pub(in crate::grain::rules) fn meant<'a>(fields: &'a Map, field: &str) -> Option<&'a str> {
    let mut names = fields.iter().map(|(name, _)| name);
    names.find(|name| Field::named(name).is_none() && like(name) == Some(field))
}

/// Returns the field that a name was likely meant to be.
fn like(name: &str) -> Option<&'static str> {
    // A name with a colon or a prefix `x-` is an application's on purpose.
    if !LENGTHS.contains(&name.len()) || name.contains(':') || name.starts_with("x-") {
        return None;
    }
    let letters = letters(name.as_bytes());
    let mut plain = [0; LEN_MAX];
    let plain = plain_of(name, &mut plain)?;
    let mut found: Option<(usize, &'static str)> = None;
    for (field, known) in Field::all().iter().zip(LETTERS) {
        // Every edit changes at most two letters of the set: most fields end here.
        let different = usize::try_from((letters ^ known).count_ones()).unwrap_or(usize::MAX);
        if different > 2 * EDITS_MAX || !is_asked_for(field.name) {
            continue;
        }
        let mut other = [0; LEN_MAX];
        let Some(other) = plain_of(field.name, &mut other) else {
            continue;
        };
        // One edit in a short name, two in a long one; a short word is often another word.
        let allowed = match plain.len().max(other.len()) {
            0..=5 => 0,
            6..=9 => 1,
            _ => EDITS_MAX,
        };
        let edits = edits(plain, other);
        if edits <= allowed && found.is_none_or(|(least, _)| edits < least) {
            found = Some((edits, field.name));
        }
    }
    found.map(|(_, field)| field)
}

/// The store's own fields are refused by name, and fields of later revisions have no meaning yet.
fn is_asked_for(field: &str) -> bool {
    !Field::is_index_layer(field) && !field.starts_with('_') && field.len() > 4
}

/// Writes a name in lower case and without separators: `userId` and `user-id` are `user_id`.
fn plain_of<'a>(name: &str, buffer: &'a mut [u8; LEN_MAX]) -> Option<&'a [u8]> {
    let mut len = 0;
    for byte in name.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        *buffer.get_mut(len)? = byte.to_ascii_lowercase();
        len += 1;
    }
    buffer.get(..len)
}

/// Returns the number of letters to insert, delete, replace or swap with the next one (the
/// restricted Damerau-Levenshtein distance).
fn edits(a: &[u8], b: &[u8]) -> usize {
    let mut before = [0_usize; LEN_MAX + 1];
    let mut above: [usize; LEN_MAX + 1] = std::array::from_fn(|at| at);
    let mut last = None;
    for (row, left) in a.iter().enumerate() {
        let mut line = [row + 1; LEN_MAX + 1];
        let mut previous = None;
        for (column, right) in b.iter().enumerate() {
            let replaced = above[column] + usize::from(left != right);
            let mut least = replaced.min(above[column + 1] + 1).min(line[column] + 1);
            if column > 0 && last == Some(right) && previous == Some(left) {
                least = least.min(before[column - 1] + 1);
            }
            line[column + 1] = least;
            previous = Some(right);
        }
        (before, above) = (above, line);
        last = Some(left);
    }
    above[b.len()]
}

/// Returns the letters of a name as a set, without regard to case.
const fn letters(name: &[u8]) -> u32 {
    let (mut set, mut at) = (0, 0);
    while at < name.len() {
        let letter = name[at].to_ascii_lowercase();
        if letter.is_ascii_lowercase() {
            set |= 1 << (letter - b'a');
        }
        at += 1;
    }
    set
}

/// The letters of each field, in the order of the table.
const LETTERS: [u32; Field::all().len()] = {
    let mut sets = [0; Field::all().len()];
    let mut at = 0;
    while at < sets.len() {
        sets[at] = letters(Field::all()[at].name.as_bytes());
        at += 1;
    }
    sets
};

const EDITS_MAX: usize = 2;

/// Longer than every field.
const LEN_MAX: usize = 32;

const LENGTHS: std::ops::RangeInclusive<usize> = 5..=LEN_MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_field_is_named_and_a_name_of_an_application_is_not() {
        for (name, field) in [
            ("sesion_id", "session_id"),
            ("userid", "user_id"),
            ("userId", "user_id"),
            ("user-id", "user_id"),
            ("createdAt", "created_at"),
            ("subjct", "subject"),
            ("confidance", "confidence"),
            ("name_space", "namespace"),
            ("structural_tag", "structural_tags"),
            ("dervied_from", "derived_from"),
            ("obejct", "object"),
        ] {
            assert_eq!(like(name), Some(field), "{name}");
        }
        for name in [
            "tea",
            "color",
            "mood",
            "version",
            "author",
            "comment",
            "x-user",
            "app:user_id",
            "notes",
            "title",
            "score",
            "tokens",
            "parts",
            "source",
            "ünïcode",
            "language",
            "reasons",
        ] {
            assert_eq!(like(name), None, "{name}");
        }
    }

    #[test]
    fn the_number_of_edits_is_the_same_from_both_sides() {
        let words: [&[u8]; 6] = [b"subject", b"sbuject", b"subjects", b"object", b"", b"su"];
        for a in words {
            assert_eq!(edits(a, a), 0);
            for b in words {
                assert_eq!(edits(a, b), edits(b, a));
                // The filter by letters drops no pair that is close enough.
                let different = (letters(a) ^ letters(b)).count_ones() as usize;
                assert!(different <= 2 * edits(a, b));
            }
        }
        assert_eq!(edits(b"subject", b"sbuject"), 1);
        assert_eq!(edits(b"subject", b"object"), 2);
    }
}
