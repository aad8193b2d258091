//! Ast.

use crate::text::analysis::chunk::Part;

/// What a clause asks of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::text) enum Role {
    Should,
    Must,
    MustNot,
}

/// What a clause is about.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) enum Node {
    Leaf(Leaf),
    /// Matches where all that must match do, none that must not does, and, where nothing must,
    /// at least one of the others does.
    Group(Vec<(Role, Self)>),
}

/// A word, or several that must stand together.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) struct Leaf {
    /// Never empty, each with its distance from the first.
    pub(in crate::text) words: Vec<(u32, Word)>,
    /// The number of the field it must stand in.
    pub(in crate::text) field: Option<u32>,
    pub(in crate::text) boost: f32,
    /// Whether it is there by itself, and nobody asked for just this.
    pub(in crate::text) is_bare: bool,
}

/// What a word of a text must be.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) enum Word {
    /// A form of this one.
    Form(Part),
    /// These letters of a script without words.
    Letters(String),
    /// A chunk whose letters are these.
    Joined(String),
    /// One that begins like this.
    Prefix(Part),
    /// One that differs from this by a few letters.
    Fuzzy(Part, u8),
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
