//! The words, numbers, symbols and operators of jq.
//!
//! White space and comments are passed over before each of them. Which may follow which is the
//! parser's affair.

use super::{Commas, Parser};

impl<'a> Parser<'a> {
    pub(super) fn number(&mut self) -> Option<()> {
        let digits = |c: char| c.is_ascii_digit();
        self.take_while(digits);
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            self.take_while(digits);
        }
        if let Some(rest) = self.rest.strip_prefix(['e', 'E']) {
            self.rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            self.take_while(digits)?;
        }
        Some(())
    }

    pub(super) fn variable(&mut self) -> Option<()> {
        self.expect("$")?;
        self.word()?;
        while let Some(rest) = self.rest.strip_prefix("::") {
            self.rest = rest;
            self.word()?;
        }
        Some(())
    }

    pub(super) fn name(&mut self) -> Option<()> {
        let word = self.word()?;
        (!KEYWORDS.contains(&word)).then_some(())
    }

    /// Returns whether a dot with a name follows, without space between the two.
    pub(super) fn starts_field(&mut self) -> bool {
        self.skip_space();
        let name = self.rest.strip_prefix('.').unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    pub(super) fn field(&mut self) {
        self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        self.word();
    }

    /// Takes a word if one follows: a name or a keyword.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.skip_space();
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Takes one keyword if it follows as a whole word.
    pub(super) fn keyword(&mut self, keyword: &str) -> bool {
        let start = self.rest;
        let is_next = self.word() == Some(keyword) && !self.rest.starts_with("::");
        if !is_next {
            self.rest = start;
        }
        is_next
    }

    /// Takes an operator if one follows, and returns how tightly it binds.
    pub(super) fn operator(&mut self, commas: Commas) -> Option<Binding> {
        for (symbol, binding) in OPERATORS {
            let is_end = *symbol == "," && commas == Commas::End;
            if !is_end && self.symbol(symbol) {
                return Some(*binding);
            }
        }
        if self.keyword("and") {
            Some(Binding::And)
        } else {
            self.keyword("or").then_some(Binding::Or)
        }
    }

    pub(super) fn starts(&mut self, symbol: char) -> bool {
        self.skip_space();
        self.rest.starts_with(symbol)
    }

    pub(super) fn symbol(&mut self, symbol: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Option<()> {
        self.symbol(symbol).then_some(())
    }

    pub(super) fn take_while(&mut self, fits: impl Fn(char) -> bool) -> Option<&'a str> {
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!taken.is_empty()).then_some(taken)
    }

    /// Passes over white space and comments.
    pub(super) fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
            let Some(comment) = self.rest.strip_prefix('#') else {
                return;
            };
            self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }
}

/// How tightly operators bind, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Pipe,
    Comma,
    Alternative,
    Assign,
    Or,
    And,
    Compare,
    Sum,
    Product,
}

/// Longer operators stand before those they begin with.
const OPERATORS: &[(&str, Binding)] = &[
    ("//=", Binding::Assign),
    ("|=", Binding::Assign),
    ("+=", Binding::Assign),
    ("-=", Binding::Assign),
    ("*=", Binding::Assign),
    ("/=", Binding::Assign),
    ("%=", Binding::Assign),
    ("==", Binding::Compare),
    ("!=", Binding::Compare),
    ("<=", Binding::Compare),
    (">=", Binding::Compare),
    ("//", Binding::Alternative),
    ("|", Binding::Pipe),
    (",", Binding::Comma),
    ("=", Binding::Assign),
    ("<", Binding::Compare),
    (">", Binding::Compare),
    ("+", Binding::Sum),
    ("-", Binding::Sum),
    ("*", Binding::Product),
    ("/", Binding::Product),
    ("%", Binding::Product),
];

const KEYWORDS: &[&str] = &[
    "def", "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "label",
    "break", "and", "or", "import", "include", "module", "__loc__",
];
