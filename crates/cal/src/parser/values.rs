//! Values, addresses and the names of fields.

use super::Parser;
use crate::code::Code;
use crate::condition::Value;
use crate::error::Error;
use crate::lexer::{self, Token};
use crate::place::Placed;

impl Parser {
    /// Parses any value.
    pub(super) fn value(&mut self) -> Result<Value, Error> {
        self.value_at(0)
    }

    fn value_at(&mut self, depth: usize) -> Result<Value, Error> {
        let value = match self.peek() {
            Token::Text(text) => Value::Text(text.clone()),
            Token::Int(n) => Value::Int(*n),
            Token::Float(n) => Value::Float(*n),
            Token::Param(name) => Value::Param {
                name: name.clone(),
                at: self.at(),
            },
            Token::Hash(digits) => Value::Hash {
                digits: digits.clone(),
            },
            Token::Word(word) if word.eq_ignore_ascii_case("true") => Value::Bool(true),
            Token::Word(word) if word.eq_ignore_ascii_case("false") => Value::Bool(false),
            Token::Sign("[") if depth < ARRAYS_MAX => return self.array(depth),
            _ => return Err(self.unexpected(&["a value"])),
        };
        self.advance();
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Value, Error> {
        self.expect_sign("[")?;
        let mut values = Vec::new();
        if self.take_sign("]") {
            return Ok(Value::Array(values));
        }
        loop {
            values.push(self.value_at(depth + 1)?);
            if !self.take_sign(",") {
                self.expect_sign("]")?;
                return Ok(Value::Array(values));
            }
        }
    }

    /// Parses a text or a parameter.
    pub(super) fn text(&mut self) -> Result<Placed<Value>, Error> {
        match self.peek() {
            Token::Text(_) | Token::Param(_) => self.placed_value(),
            _ => Err(self.unexpected(&["a text"])),
        }
    }

    /// Parses an address or a parameter.
    pub(super) fn hash(&mut self) -> Result<Placed<Value>, Error> {
        match self.peek() {
            Token::Hash(_) | Token::Param(_) => self.placed_value(),
            Token::Word(word) if word.eq_ignore_ascii_case("sha256") => {
                Err(Error::new(Code::BadHash, self.at(), lexer::ADDRESS))
            }
            _ => Err(self.unexpected(&["an address"])),
        }
    }

    /// Parses a count or a parameter.
    pub(super) fn count(&mut self) -> Result<Placed<Value>, Error> {
        match self.peek() {
            Token::Int(0..) | Token::Param(_) => self.placed_value(),
            Token::Int(_) | Token::Float(_) => {
                let message = "a count is a whole number that is not negative";
                Err(Error::new(Code::BadNumber, self.at(), message))
            }
            _ => Err(self.unexpected(&["a number"])),
        }
    }

    pub(super) fn placed_value(&mut self) -> Result<Placed<Value>, Error> {
        let at = self.at();
        let value = self.value()?;
        Ok(Placed::new(at.to(self.before()), value))
    }

    /// Parses the name of a field: a word, or the prefix of a domain and a word.
    pub(super) fn field(&mut self) -> Result<Placed<String>, Error> {
        let mut field = self.any_word("a field")?;
        if self.is_sign(":") && matches!(self.ahead(1), Token::Word(_)) {
            self.advance();
            let name = self.any_word("a field")?;
            field.at = field.at.to(name.at);
            field.it = format!("{}:{}", field.it.to_ascii_lowercase(), name.it);
        } else if crate::vocabulary::Field::named(&field.it.to_ascii_lowercase()).is_some() {
            field.it.make_ascii_lowercase();
        }
        Ok(field)
    }

    /// Parses the names of fields in parentheses.
    pub(super) fn fields_in_parentheses(&mut self) -> Result<Vec<Placed<String>>, Error> {
        self.expect_sign("(")?;
        let mut fields = vec![self.field()?];
        while self.take_sign(",") {
            fields.push(self.field()?);
        }
        self.expect_sign(")")?;
        Ok(fields)
    }
}

/// So many arrays may be in each other.
const ARRAYS_MAX: usize = 4;
