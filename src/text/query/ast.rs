//! The syntax tree of a query: clauses with a role, over words and phrases.
//!
//! It does not depend on the index: terms and weights are assigned by the planner.

use crate::text::analysis::chunk::Part;

/// The role of a clause in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::text) enum Role {
    Should,
    Must,
    MustNot,
}

/// The content of a clause.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) enum Node {
    Leaf(Leaf),
    /// Matches if all `Must` clauses match, no `MustNot` clause does, and, without a `Must` clause,
    /// at least one `Should` clause does.
    Group(Vec<(Role, Self)>),
}

/// A word or a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) struct Leaf {
    /// Never empty; each word with its distance from the first.
    pub(in crate::text) words: Vec<(u32, Word)>,
    /// The number of the field that it must occur in.
    pub(in crate::text) field: Option<u32>,
    pub(in crate::text) boost: f32,
    /// Whether it was typed without any operator, quote, field or boost.
    pub(in crate::text) is_bare: bool,
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) enum Word {
    /// Any form of this word.
    Form(Part<'static>),
    /// Letters of a script that does not separate words, as many as are indexed together.
    Letters(String),
    /// A chunk that consists of these letters.
    Joined(String),
    /// A word with this prefix.
    Prefix(Part<'static>),
    /// A word within this edit distance.
    Fuzzy(Part<'static>, u8),
}

impl Node {
    /// Returns the number of words and phrases.
    pub(in crate::text) fn len(&self) -> usize {
        match self {
            Self::Leaf(_) => 1,
            Self::Group(clauses) => clauses.iter().map(|(_, node)| node.len()).sum(),
        }
    }
}

impl Leaf {
    pub(in crate::text) const fn of(
        words: Vec<(u32, Word)>,
        field: Option<u32>,
        boost: f32,
        is_bare: bool,
    ) -> Self {
        Self {
            words,
            field,
            boost,
            is_bare,
        }
    }
}
