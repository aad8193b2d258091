//! Namespaces and the one meaning of "inside" (OMS 28.2).
//!
//! Everything that compares namespaces goes through this file: permissions, trust, regimes, filters
//! and the terms of the index. A scope that compared them in another way would open or close more
//! than its words say.

use std::borrow::Cow;
use std::fmt;

use crate::codec::nfc;

/// A namespace, in the spelling that stored text has (NFC, OMS 4.4).
///
/// A namespace contains itself and everything below it, in whole `:` parts. The empty text is not a
/// namespace: it contains nothing and lies in nothing (ruling I24).
///
/// ```
/// use grainstore::grain::Namespace;
///
/// let acme = Namespace::new("acme");
/// assert!(acme.contains("acme") && acme.contains("acme:chatbot"));
/// assert!(!acme.contains("acmes") && !acme.contains(""));
/// assert!(!Namespace::new("").contains("") && !Namespace::new("").contains("acme"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(String);

impl Namespace {
    /// The bytes that the namespace of a new grain has at most (ruling I25).
    pub const LEN_MAX: usize = 512;

    /// The `:` parts that the namespace of a new grain has at most (ruling I25).
    pub const PARTS_MAX: usize = 64;

    /// Returns the namespace of a text, normalised.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        match nfc(&text) {
            Cow::Borrowed(_) => Self(text),
            Cow::Owned(normal) => Self(normal),
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a namespace, as stored grains spell it, is this one or lies inside it.
    pub fn contains(&self, inner: &str) -> bool {
        contains(&self.0, inner)
    }

    /// Returns what lies in both; `None` where they have nothing in common.
    pub(crate) fn common(&self, other: &Self) -> Option<Self> {
        match (self.contains(&other.0), other.contains(&self.0)) {
            (true, _) => Some(other.clone()),
            (false, true) => Some(self.clone()),
            (false, false) => None,
        }
    }

    /// Returns whether a new grain may have this namespace, as stored grains spell it: at most
    /// [`LEN_MAX`](Self::LEN_MAX) bytes and [`PARTS_MAX`](Self::PARTS_MAX) parts (ruling I25).
    ///
    /// ```
    /// use grainstore::grain::Namespace;
    ///
    /// assert!(Namespace::is_within_limits("acme:chatbot"));
    /// assert!(!Namespace::is_within_limits(&":".repeat(64)));
    /// ```
    pub fn is_within_limits(text: &str) -> bool {
        text.len() <= Self::LEN_MAX && text.matches(':').count() < Self::PARTS_MAX
    }

    /// Returns a namespace as stored grains spell it and everything it lies in: `a:b:c`, `a:b`, `a`.
    /// Of what a namespace beyond the limits lies in, only the namespaces within them.
    ///
    /// ```
    /// use grainstore::grain::Namespace;
    ///
    /// assert!(Namespace::ancestors("a:b").eq(["a:b", "a"]));
    /// assert_eq!(Namespace::ancestors("").next(), None);
    /// ```
    pub fn ancestors(inner: &str) -> impl Iterator<Item = &str> {
        let whole = (!inner.is_empty()).then_some(inner);
        std::iter::successors(whole, |inner| outer_of(inner))
    }
}

/// Returns the namespace that one lies in directly. A ledger may hold a namespace of 500 kB of
/// colons, written before there was a limit: a walk that took off one part at a time would read
/// its length squared.
fn outer_of(inner: &str) -> Option<&str> {
    if Namespace::is_within_limits(inner) {
        return inner.rsplit_once(':').map(|(outer, _)| outer);
    }
    let ends = inner.match_indices(':').map(|(at, _)| at);
    let ends = ends.take(Namespace::PARTS_MAX);
    let end = ends.take_while(|at| *at <= Namespace::LEN_MAX).last()?;
    inner.get(..end)
}

/// Returns whether one normalised text contains another, as [`Namespace::contains`].
pub(crate) fn contains(outer: &str, inner: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    !outer.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

impl From<&str> for Namespace {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Namespace {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl<'de> serde::Deserialize<'de> for Namespace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_contains_a_namespace_is_one_of_its_ancestors_and_no_other_text(
            inner in "[ab:\u{301}e]{0,6}",
            outer in "[ab:\u{301}e]{0,6}",
        ) {
            let (inner, outer) = (Namespace::new(inner), Namespace::new(outer));
            let is_ancestor = Namespace::ancestors(inner.as_str()).any(|it| it == outer.as_str());
            let is_named = !outer.as_str().is_empty();
            prop_assert_eq!(outer.contains(inner.as_str()), is_ancestor && is_named);
        }
    }

    #[test]
    fn the_empty_text_contains_nothing_and_lies_in_nothing() {
        let empty = Namespace::new("");
        for text in ["", "a", ":", ":a"] {
            assert!(!empty.contains(text), "{text}");
            assert!(!Namespace::new(text).contains(""), "{text}");
        }
    }

    #[test]
    fn the_ancestors_of_a_namespace_beyond_the_limits_are_those_within_them() {
        let colons = ":".repeat(500_000);
        let parts: Vec<&str> = Namespace::ancestors(&colons).collect();
        assert_eq!(parts.len(), 1 + Namespace::PARTS_MAX);
        let lens = parts.iter().skip(1).map(|outer| outer.len());
        assert!(lens.eq((0..Namespace::PARTS_MAX).rev()));
        let long = format!("acme:{}:end", "x".repeat(600));
        assert!(Namespace::ancestors(&long).eq([long.as_str(), "acme"]));
        let plain = "x".repeat(Namespace::LEN_MAX + 1);
        assert!(Namespace::ancestors(&plain).eq([plain.as_str()]));
    }

    #[test]
    fn two_spellings_of_one_namespace_are_one() {
        assert_eq!(Namespace::new("cafe\u{301}"), Namespace::new("caf\u{e9}"));
        assert!(Namespace::new("cafe\u{301}").contains("caf\u{e9}:menu"));
    }
}
