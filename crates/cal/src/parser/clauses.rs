//! The clauses that several statements have: IN, WHERE and WITH.

use super::Parser;
use crate::code::Code;
use crate::condition::{Condition, Op, Operand, Subquery, Value};
use crate::error::Error;
use crate::lexer::Token;
use crate::place::Placed;
use crate::recall::{Arg, Opt, Within};
use crate::vocabulary::CATEGORIES;

impl Parser {
    pub(super) fn within(&mut self) -> Result<Placed<Within>, Error> {
        let at = self.at();
        let within = match self.take_word("SCOPE") {
            true => Within::Scope(self.text()?.it),
            false => Within::Namespace(self.text()?.it),
        };
        Ok(Placed::new(at.to(self.before()), within))
    }

    pub(super) fn conditions(&mut self) -> Result<Vec<Condition>, Error> {
        let mut conditions = vec![self.condition()?];
        while self.take_word("AND") {
            conditions.push(self.condition()?);
        }
        Ok(conditions)
    }

    fn condition(&mut self) -> Result<Condition, Error> {
        let start = self.at();
        let field = self.field()?;
        let op = self.operator()?;
        let value = match op {
            Op::In => self.set()?,
            Op::Between => {
                let from = self.value()?;
                self.expect_word("AND")?;
                Operand::Value(Value::Array(vec![from, self.value()?]))
            }
            Op::Is => {
                let known: Vec<_> = CATEGORIES.iter().map(|(name, _)| (*name, *name)).collect();
                Operand::Value(Value::Text(self.one_of(&known)?.it.to_owned()))
            }
            _ => Operand::Value(self.value()?),
        };
        Ok(Condition {
            field,
            op,
            value,
            at: start.to(self.before()),
        })
    }

    fn operator(&mut self) -> Result<Op, Error> {
        let op = match self.peek() {
            Token::Sign("=") => Op::Eq,
            Token::Sign("!=") => Op::Ne,
            Token::Sign(">=") => Op::Ge,
            Token::Sign("<=") => Op::Le,
            Token::Sign(">") => Op::Gt,
            Token::Sign("<") => Op::Lt,
            Token::Word(_) => {
                let words = [Op::In, Op::Between, Op::Is, Op::Include, Op::Exclude];
                return Ok(self.one_of(&words.map(|op| (op.as_str(), op)))?.it);
            }
            _ => {
                let signs = ["=", "!=", ">=", "<=", ">", "<", "IN", "BETWEEN", "INCLUDE"];
                return Err(self.unexpected(&signs));
            }
        };
        self.advance();
        Ok(op)
    }

    /// Parses what stands behind IN: values, or a recall with the values that are taken of it.
    fn set(&mut self) -> Result<Operand, Error> {
        self.expect_sign("(")?;
        if self.is_word("RECALL") {
            let depth = (SUBQUERIES_MAX, Code::TooDeep);
            let (recall, extract) = self.deeper(depth, Self::recall_with_extract)?;
            let Some(extract) = extract else {
                return Err(self.unexpected(&["| SUBJECTS", "| OBJECTS", "| HASHES"]));
            };
            self.expect_sign(")")?;
            let extract = extract.it;
            return Ok(Operand::Subquery(Box::new(Subquery { recall, extract })));
        }
        let mut values = vec![self.value()?];
        while self.take_sign(",") {
            values.push(self.value()?);
        }
        self.expect_sign(")")?;
        Ok(Operand::Value(Value::Array(values)))
    }

    pub(super) fn options(&mut self) -> Result<Vec<Placed<Opt>>, Error> {
        let mut options = vec![self.option()?];
        while self.list_goes_on() {
            self.advance();
            options.push(self.option()?);
        }
        Ok(options)
    }

    fn option(&mut self) -> Result<Placed<Opt>, Error> {
        let start = self.at();
        let name = self.any_word("an option")?.it.to_ascii_lowercase();
        let mut args = Vec::new();
        if self.take_sign("(") {
            loop {
                args.push(self.argument()?);
                if !self.take_sign(",") {
                    break;
                }
            }
            self.expect_sign(")")?;
        }
        Ok(Placed::new(start.to(self.before()), Opt { name, args }))
    }

    fn argument(&mut self) -> Result<Arg, Error> {
        let mut arg = Arg::default();
        let is_bool = self.is_word("true") || self.is_word("false");
        if let Token::Word(word) = self.peek()
            && !is_bool
        {
            let word = word.to_ascii_lowercase();
            self.advance();
            if self.take_sign("(") {
                arg.word = Some(word);
                arg.value = Some(self.value()?);
                self.expect_sign(")")?;
            } else if self.take_sign("=") {
                arg.name = Some(word);
                arg.value = Some(self.value()?);
            } else {
                arg.word = Some(word);
            }
            return Ok(arg);
        }
        arg.value = Some(self.value()?);
        Ok(arg)
    }
}

/// So many subqueries may be in each other.
const SUBQUERIES_MAX: usize = 3;
