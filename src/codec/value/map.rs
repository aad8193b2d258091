//! Values by unique name.

use std::fmt;

use super::Value;
use super::name::{Name, Vocabulary, mark};

/// Values by unique name, kept in the order of the names' bytes (OMS 4.1).
#[derive(Clone, Default)]
pub struct Map {
    pairs: Vec<(Name, Value)>,
    /// The [marks](mark) of all names, and perhaps of others: most names that are asked for are in
    /// no map, and the rules of a grain ask for a hundred.
    marks: u64,
}

impl Map {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self {
            pairs: Vec::new(),
            marks: 0,
        }
    }

    /// Creates an empty map with room for entries.
    pub(crate) fn with_room(entries: usize) -> Self {
        Self {
            pairs: Vec::with_capacity(entries),
            marks: 0,
        }
    }

    /// Returns the value of `name`.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Value> {
        if self.marks & mark(name) == 0 {
            return None;
        }
        let at = self.find(name)?;
        self.pairs.get(at).map(|(_, value)| value)
    }

    /// Returns the value of `name` for changing.
    #[inline]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        if self.marks & mark(name) == 0 {
            return None;
        }
        let at = self.find(name)?;
        self.pairs.get_mut(at).map(|(_, value)| value)
    }

    /// Sets `name` and returns the value it had.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.set(Name::Other(name.into()), value.into())
    }

    /// Sets an entry and returns the value that it had.
    pub(crate) fn set(&mut self, name: Name, value: Value) -> Option<Value> {
        match self.pairs.binary_search_by(|(known, _)| known.cmp(&name)) {
            Ok(at) => {
                let slot = self.pairs.get_mut(at)?;
                Some(std::mem::replace(&mut slot.1, value))
            }
            Err(at) => {
                self.marks |= name.mark();
                self.pairs.insert(at, (name, value));
                None
            }
        }
    }

    /// Takes pairs whose names are unique and in order; the caller knows that they are.
    pub(in crate::codec) fn from_sorted(pairs: Vec<(Name, Value)>) -> Self {
        debug_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0));
        let marks = pairs.iter().fold(0, |marks, (name, _)| marks | name.mark());
        Self { pairs, marks }
    }

    /// Builds a map from pairs in any order; returns the first name that comes twice as the error.
    ///
    /// # Errors
    /// The duplicate name.
    pub fn from_pairs(pairs: Vec<(String, Value)>) -> Result<Self, String> {
        let pairs = pairs.into_iter();
        let pairs = pairs.map(|(name, value)| (Name::Other(name), value));
        Self::from_named(pairs.collect()).map_err(Name::into_text)
    }

    /// Builds a map as [`Map::from_pairs`] does, from names.
    pub(crate) fn from_named(mut pairs: Vec<(Name, Value)>) -> Result<Self, Name> {
        if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            let twice = pairs.windows(2).find_map(|pair| match pair {
                [a, b] if a.0 == b.0 => Some(a.0.clone()),
                _ => None,
            });
            if let Some(name) = twice {
                return Err(name);
            }
        }
        Ok(Self::from_sorted(pairs))
    }

    /// Removes `name` and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.position(name).ok()?;
        Some(self.pairs.remove(at).1)
    }

    /// Returns whether `name` is present.
    #[inline]
    pub fn contains(&self, name: &str) -> bool {
        self.marks & mark(name) != 0 && self.find(name).is_some()
    }

    /// Returns the entries in the order of the names' bytes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the entries as they are kept.
    pub(crate) fn entries(&self) -> &[(Name, Value)] {
        &self.pairs
    }

    /// Gives the entries away as they are kept.
    pub(crate) fn into_entries(self) -> Vec<(Name, Value)> {
        self.pairs
    }

    /// Returns the entries with their values for changing.
    #[cfg(feature = "interchange")]
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        self.pairs
            .iter_mut()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the place of `name` among the entries.
    #[cfg(feature = "interchange")]
    pub(crate) fn place_of(&self, name: &str) -> Option<usize> {
        self.position(name).ok()
    }

    /// Returns the values in the order of the names.
    #[cfg(feature = "interchange")]
    pub(crate) fn into_values(self) -> impl Iterator<Item = Value> {
        self.pairs.into_iter().map(|(_, value)| value)
    }

    /// Removes the entries that are not wanted.
    #[cfg(feature = "interchange")]
    pub(crate) fn retain(&mut self, mut is_wanted: impl FnMut(&str, &Value) -> bool) {
        self.pairs
            .retain(|(name, value)| is_wanted(name.as_str(), value));
    }

    /// Makes the names that are of the vocabulary known, and returns the entries with their values
    /// for changing.
    pub(crate) fn known_mut(
        &mut self,
        vocabulary: Vocabulary,
    ) -> impl Iterator<Item = (&Name, &mut Value)> {
        self.pairs.iter_mut().map(move |(name, value)| {
            if let Name::Other(text) = name
                && let Some(word) = vocabulary(text)
            {
                *name = Name::Known(word);
            }
            (&*name, value)
        })
    }

    /// Returns the pairs, of which the caller keeps order and names.
    pub(in crate::codec) const fn pairs_mut(&mut self) -> &mut Vec<(Name, Value)> {
        &mut self.pairs
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.pairs
            .binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// Returns where `name` is: in a short map most names are told apart by their length alone.
    fn find(&self, name: &str) -> Option<usize> {
        if self.pairs.len() <= SHORT {
            let mut names = self.pairs.iter().map(|(known, _)| known.as_str());
            names.position(|known| known == name)
        } else {
            self.position(name).ok()
        }
    }
}

/// How many entries are walked rather than searched.
const SHORT: usize = 24;

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.pairs == other.pairs
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        let pairs = self.pairs.into_iter();
        let pairs: Vec<_> = pairs
            .map(|(name, value)| (name.into_text(), value))
            .collect();
        pairs.into_iter()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Map {
    /// Of a name that comes twice the last value stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter();
        let mut map = Self::with_room(pairs.size_hint().0);
        for (name, value) in pairs {
            map.insert(name, value);
        }
        map
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
