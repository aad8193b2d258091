//! The fields of one grain by the number of the field, for the rules, which ask for a hundred of
//! which most are absent.

use crate::codec::{Map, Name, Value};

use super::table::FIELDS;
use super::{Field, words};

/// The number of a field: its row in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::grain) struct Slot(u8);

/// The slot of a field that a rule is about. A rule about a field that the table lacks does not
/// compile.
macro_rules! field {
    ($name:literal) => {
        const { $crate::grain::fields::Slot::of($name) }
    };
}

/// The slots of several fields.
macro_rules! fields {
    ($($name:literal),* $(,)?) => {
        const { &[$($crate::grain::fields::Slot::of($name)),*] }
    };
}

pub(in crate::grain) use {field, fields};

impl Slot {
    /// Returns the slot of a field that the table has, when the program is compiled.
    #[expect(clippy::panic, reason = "at compile time")]
    pub(in crate::grain) const fn of(name: &str) -> Self {
        let mut row = 0_u8;
        while (row as usize) < FIELDS.len() {
            if is_same(FIELDS[row as usize].name, name) {
                return Self(row);
            }
            row += 1;
        }
        panic!("the field table has no such name")
    }

    /// Returns the slot of a name that a grain has.
    pub(in crate::grain) fn named<S: AsRef<str>>(name: &Name<S>) -> Option<Self> {
        words::named(words::word_of(name)?).map(Self)
    }

    /// Returns the slot of a key that a blob has.
    pub(super) fn keyed<S: AsRef<str>>(key: &Name<S>) -> Option<Self> {
        words::keyed(words::word_of(key)?).map(Self)
    }

    pub(in crate::grain) const fn field(self) -> &'static Field {
        &FIELDS[self.0 as usize]
    }

    pub(in crate::grain) const fn name(self) -> &'static str {
        self.field().name
    }

    pub(super) fn name_word(self) -> Name {
        Name::Known(words::name(self.0))
    }

    pub(super) fn key_word<'a>(self) -> Name<&'a str> {
        Name::Known(words::key(self.0))
    }
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The fields of a grain under their full names, those of the table each in its slot.
pub(in crate::grain) struct Fields<'a> {
    map: &'a Map,
    values: [Option<&'a Value>; FIELDS.len()],
}

impl<'a> Fields<'a> {
    pub(in crate::grain) fn of(map: &'a Map) -> Self {
        let mut values = [None; FIELDS.len()];
        for (name, value) in map.entries() {
            if let Some(slot) = Slot::named(name) {
                values[usize::from(slot.0)] = Some(value);
            }
        }
        Self { map, values }
    }

    #[inline]
    pub(in crate::grain) const fn get(&self, slot: Slot) -> Option<&'a Value> {
        self.values[slot.0 as usize]
    }

    #[inline]
    pub(in crate::grain) const fn contains(&self, slot: Slot) -> bool {
        self.get(slot).is_some()
    }

    /// Returns the text of a field that holds one.
    #[inline]
    pub(in crate::grain) fn text(&self, slot: Slot) -> Option<&'a str> {
        self.get(slot).and_then(Value::as_text)
    }

    /// Returns the length of all texts but those deep inside.
    pub(in crate::grain) fn texts_len(&self) -> usize {
        let text_len = |value: &Value| value.as_text().map_or(0, str::len);
        let len = |value: &Value| match value {
            Value::Map(map) => map.iter().map(|(_, value)| text_len(value)).sum(),
            value => text_len(value),
        };
        self.map.iter().map(|(_, value)| len(value)).sum()
    }

    /// Returns all of them, also those that are not of the table.
    pub(in crate::grain) const fn map(&self) -> &'a Map {
        self.map
    }

    /// Returns all of them in the order of their names, each with its slot if it is of the table.
    pub(in crate::grain) fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = (&'a Name, &'a Value, Option<Slot>)> {
        let entries = self.map.entries().iter();
        entries.map(|(name, value)| (name, value, Slot::named(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_in_its_slot_however_its_name_is_kept() {
        let mut map = Map::new();
        map.insert("subject", "ana");
        map.insert("x-note", 1);
        map.set(field!("object").name_word(), "tea".into());
        let fields = Fields::of(&map);
        assert_eq!(fields.text(field!("subject")), Some("ana"));
        assert_eq!(fields.text(field!("object")), Some("tea"));
        assert!(!fields.contains(field!("relation")));
        let slots = fields.iter().map(|(name, _, slot)| (name.as_str(), slot));
        let expected = [
            ("object", Some(field!("object"))),
            ("subject", Some(field!("subject"))),
            ("x-note", None),
        ];
        assert!(slots.eq(expected));
    }
}
