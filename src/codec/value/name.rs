//! The names of the entries of a map. Of a name that the program knows there is one copy, which
//! every map shares.

use std::cmp::Ordering;

/// A name that the program knows, with its place among all of them.
///
/// There is one list of such names, in the order of their bytes, so that the places alone say which
/// of two comes first. Their text is ASCII and therefore canonical.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    text: &'static str,
    place: u16,
    mark: u64,
}

/// Finds the word of a text in the list of all words.
pub(crate) type Vocabulary = fn(&str) -> Option<&'static Word>;

/// The name of an entry of a map.
#[derive(Debug, Clone)]
pub(crate) enum Name<S = String> {
    /// One that the program knows.
    Known(&'static Word),
    /// Any text, also one that the program knows.
    Other(S),
}

impl Word {
    pub(crate) const fn new(text: &'static str, place: u16) -> Self {
        Self {
            text,
            place,
            mark: mark(text),
        }
    }

    pub(crate) const fn text(&self) -> &'static str {
        self.text
    }

    pub(crate) const fn place(&self) -> u16 {
        self.place
    }
}

impl<S: AsRef<str>> Name<S> {
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Known(word) => word.text,
            Self::Other(text) => text.as_ref(),
        }
    }

    pub(crate) fn borrowed(&self) -> Name<&str> {
        match self {
            Self::Known(word) => Name::Known(word),
            Self::Other(text) => Name::Other(text.as_ref()),
        }
    }

    pub(super) fn mark(&self) -> u64 {
        match self {
            Self::Known(word) => word.mark,
            Self::Other(text) => mark(text.as_ref()),
        }
    }
}

impl Name {
    /// Returns the name of a text, which is copied unless it is of the vocabulary.
    pub(crate) fn of(text: &str, vocabulary: Vocabulary) -> Self {
        vocabulary(text).map_or_else(|| Self::Other(text.to_owned()), Self::Known)
    }

    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Known(word) => word.text.to_owned(),
            Self::Other(text) => text,
        }
    }
}

impl<S: AsRef<str>> Ord for Name<S> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a.place.cmp(&b.place),
            _ => self.as_str().cmp(other.as_str()),
        }
    }
}

impl<S: AsRef<str>> PartialOrd for Name<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: AsRef<str>> PartialEq for Name<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S: AsRef<str>> Eq for Name<S> {}

/// Returns one bit that follows from the length, the first and the last byte of a name. Of a name
/// in the program the compiler computes it.
#[inline]
pub(super) const fn mark(name: &str) -> u64 {
    match name.as_bytes() {
        [] => 1,
        [only] => 1 << (*only % 64),
        [first, .., last] => {
            let first = (*first as usize).wrapping_mul(5);
            let last = (*last as usize).wrapping_mul(3);
            let len = name.len().wrapping_mul(11);
            1 << (len.wrapping_add(first).wrapping_add(last) % 64)
        }
    }
}
