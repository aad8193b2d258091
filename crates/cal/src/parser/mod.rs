//! The parser: recursive descent, a function for each production. Its recursion is bounded, since
//! subqueries, set operations and arrays may be only so deep.

mod assemble;
mod clauses;
mod recall;
mod statement;
mod template;
mod values;

use crate::code::Code;
use crate::error::Error;
use crate::lexer::{self, Token};
use crate::place::{At, Placed};
use crate::statement::Query;
use crate::vocabulary::{DESTRUCTIVE, RESERVED, is_among};

/// Returns the statement of a text, with its parameters unbound.
///
/// # Errors
/// The codes of syntax, CAL-E001 to E007, E014, E015, E070 and E071.
pub(crate) fn parse(source: &str) -> Result<Query, Error> {
    if source.len() > SOURCE_MAX {
        let message = format!("a statement has at most {SOURCE_MAX} bytes");
        return Err(Error::new(Code::TooLong, At::default(), message));
    }
    let tokens = lexer::tokens(source)?;
    let mut parser = Parser {
        tokens,
        next: 0,
        depth: 0,
    };
    if *parser.peek() == Token::End {
        let message = "there is no statement";
        return Err(Error::new(Code::Empty, parser.at(), message));
    }
    let query = parser.query()?;
    match parser.peek() {
        Token::End => Ok(query),
        _ => Err(parser.unexpected(&["the end of the statement"])),
    }
}

/// The bytes that a statement may have.
pub(crate) const SOURCE_MAX: usize = 8_192;

struct Parser {
    /// Never empty: the last is the end.
    tokens: Vec<(Token, At)>,
    next: usize,
    /// How many subqueries or operands this one is in.
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> &Token {
        let token = self.tokens.get(self.next + by);
        token.map_or(&Token::End, |(token, _)| token)
    }

    /// Returns the place of the next token.
    fn at(&self) -> At {
        let last = self.tokens.len().saturating_sub(1);
        let token = self.tokens.get(self.next.min(last));
        token.map(|(_, at)| *at).unwrap_or_default()
    }

    /// Returns the place of the token before.
    fn before(&self) -> At {
        let token = self.next.checked_sub(1).and_then(|at| self.tokens.get(at));
        token.map(|(_, at)| *at).unwrap_or_default()
    }

    fn advance(&mut self) {
        self.next += 1;
    }

    /// Whether a token further on is a keyword.
    fn is_ahead(&self, by: usize, keyword: &str) -> bool {
        matches!(self.ahead(by), Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn is_word(&self, keyword: &str) -> bool {
        self.is_ahead(0, keyword)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(it) if *it == sign)
    }

    /// Takes a keyword if it is next.
    fn take_word(&mut self, keyword: &str) -> bool {
        let is_it = self.is_word(keyword);
        self.next += usize::from(is_it);
        is_it
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_it = self.is_sign(sign);
        self.next += usize::from(is_it);
        is_it
    }

    fn expect_word(&mut self, keyword: &str) -> Result<(), Error> {
        match self.take_word(keyword) {
            true => Ok(()),
            false => Err(self.unexpected(&[keyword])),
        }
    }

    fn expect_sign(&mut self, sign: &'static str) -> Result<(), Error> {
        match self.take_sign(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&[sign])),
        }
    }

    /// Takes any word, whatever it means elsewhere.
    fn any_word(&mut self, expected: &str) -> Result<Placed<String>, Error> {
        let at = self.at();
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.advance();
                Ok(Placed::new(at, word))
            }
            _ => Err(self.unexpected(&[expected])),
        }
    }

    /// Takes a word of a closed list, in any case.
    fn one_of<T: Copy>(&mut self, known: &[(&'static str, T)]) -> Result<Placed<T>, Error> {
        let at = self.at();
        if let Token::Word(word) = self.peek() {
            let found = known
                .iter()
                .find(|(name, _)| word.eq_ignore_ascii_case(name));
            if let Some((_, it)) = found {
                self.advance();
                return Ok(Placed::new(at, *it));
            }
            let names = known.iter().map(|(name, _)| *name);
            return Err(self.unexpected(&[]).did_you_mean(word, names));
        }
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        Err(self.unexpected(&names))
    }

    /// Takes a name that is no keyword and not reserved.
    fn identifier(&mut self, expected: &str) -> Result<Placed<String>, Error> {
        let name = self.any_word(expected)?;
        if is_among(RESERVED, &name.it) {
            let message = format!("{} is a word of the language and names nothing", name.it);
            return Err(Error::new(Code::Unexpected, name.at, message));
        }
        Ok(name)
    }

    /// Returns an error about the next token.
    fn unexpected(&self, expected: &[&str]) -> Error {
        let (message, suggestion) = match self.peek() {
            Token::End => ("the statement ends too early".to_owned(), ""),
            Token::Word(word) if is_among(DESTRUCTIVE, word) => {
                let message = format!("{word} is no word of CAL");
                (
                    message,
                    "CAL reads, assembles and evolves; it never deletes",
                )
            }
            Token::Word(word) if is_among(" OR NOT ", word) => {
                let message = format!("{word} has no meaning in this version");
                (
                    message,
                    "conditions are joined by AND; use IN or != instead",
                )
            }
            Token::Word(word) => (format!("{word} cannot stand here"), ""),
            Token::Text(_) | Token::Raw(_) => ("a text cannot stand here".to_owned(), ""),
            Token::Int(_) | Token::Float(_) => ("a number cannot stand here".to_owned(), ""),
            Token::Param(name) => (format!("${name} cannot stand here"), ""),
            Token::Hash(_) => ("an address cannot stand here".to_owned(), ""),
            Token::Sign(sign) => (format!("{sign} cannot stand here"), ""),
        };
        let error = Error::new(Code::Unexpected, self.at(), message);
        let error = error.expecting(expected.iter().copied());
        match (suggestion, expected) {
            ("", [one]) => error.suggest(format!("expected {one}")),
            ("", []) => error,
            ("", _) => error.suggest(format!("expected one of {}", expected.join(", "))),
            _ => error.suggest(suggestion),
        }
    }

    /// Parses one level deeper.
    fn deeper<T>(
        &mut self,
        (max, code): (usize, Code),
        parse: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth >= max {
            let message = format!("statements are in each other at most {max} times");
            return Err(Error::new(code, self.at(), message));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Whether a list goes on: behind a comma stands neither the next recall nor the next label.
    fn list_goes_on(&self) -> bool {
        let is_labelled = matches!(self.ahead(2), Token::Sign(":"));
        self.is_sign(",") && !self.is_ahead(1, "RECALL") && !is_labelled
    }
}
