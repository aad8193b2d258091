//! The statements other than RECALL and ASSEMBLE.

use super::Parser;
use crate::code::Code;
use crate::condition::Extract;
use crate::error::Error;
use crate::lexer::Token;
use crate::place::{At, Placed};
use crate::statement::{
    Add, Batch, Coalesce, Describe, Described, Entry, Exists, Explain, History, Let, Query, Revert,
    SetOp, SetOperator, Setting, Statement, Supersede,
};
use crate::vocabulary::Kind;

/// The words that begin a statement.
const STATEMENTS: &[&str] = &[
    "RECALL",
    "ASSEMBLE",
    "EXISTS",
    "HISTORY",
    "EXPLAIN",
    "DESCRIBE",
    "BATCH",
    "COALESCE",
    "ADD",
    "SUPERSEDE",
    "REVERT",
    "DEFINE",
    "(",
];

impl Parser {
    pub(super) fn query(&mut self) -> Result<Query, Error> {
        let version = self.version()?;
        let mut lets = Vec::new();
        while self.take_word("LET") {
            lets.push(self.one_let()?);
        }
        Ok(Query {
            version,
            lets,
            statement: self.statement()?,
        })
    }

    fn version(&mut self) -> Result<Option<u32>, Error> {
        if !(self.is_word("CAL") && matches!(self.ahead(1), Token::Sign("/"))) {
            return Ok(None);
        }
        self.advance();
        self.advance();
        let at = self.at();
        let version = match self.peek() {
            Token::Int(n @ 0..) => u32::try_from(*n).ok(),
            Token::Float(_) => None,
            _ => return Err(self.unexpected(&["a version"])),
        };
        self.advance();
        version
            .filter(|version| *version == 1)
            .map(Some)
            .ok_or_else(|| {
                Error::new(Code::Version, at, "the version of CAL is not known")
                    .suggest("write CAL/1")
            })
    }

    fn one_let(&mut self) -> Result<Let, Error> {
        let at = self.at();
        let Token::Param(name) = self.peek() else {
            return Err(self.unexpected(&["$ and a name"]));
        };
        let name = Placed::new(at, name.clone());
        self.advance();
        self.expect_sign("=")?;
        let (recall, extract) = self.recall_with_extract()?;
        self.expect_sign(";")?;
        Ok(Let {
            name,
            recall,
            extract: extract.map(|extract| extract.it),
        })
    }

    pub(super) fn statement(&mut self) -> Result<Statement, Error> {
        let at = self.at();
        let Token::Word(word) = self.peek() else {
            return match self.is_sign("(") {
                true => self.set_op(),
                false => Err(self.unexpected(STATEMENTS)),
            };
        };
        Ok(match word.to_ascii_uppercase().as_str() {
            "RECALL" => Statement::Recall(self.recall()?),
            "ASSEMBLE" => Statement::Assemble(self.assemble()?),
            "EXISTS" => {
                self.advance();
                Statement::Exists(Exists { hash: self.hash()? })
            }
            "HISTORY" => Statement::History(self.history(at)?),
            "EXPLAIN" => {
                self.advance();
                if self.is_word("EXPLAIN") {
                    return Err(self.unexpected(STATEMENTS));
                }
                let of = Box::new(self.statement()?);
                Statement::Explain(Explain { of })
            }
            "DESCRIBE" => Statement::Describe(self.describe()?),
            "BATCH" => Statement::Batch(self.batch(at)?),
            "COALESCE" => Statement::Coalesce(self.coalesce(at)?),
            "ADD" => Statement::Add(self.add()?),
            "SUPERSEDE" => Statement::Supersede(self.supersede()?),
            "REVERT" => Statement::Revert(self.revert()?),
            "DEFINE" => Statement::DefineTemplate(self.define_template()?),
            _ => {
                let word = word.clone();
                let error = self.unexpected(STATEMENTS);
                return Err(match error.suggestion.starts_with("expected") {
                    true => error.did_you_mean_word(&word, STATEMENTS),
                    false => error,
                });
            }
        })
    }

    fn set_op(&mut self) -> Result<Statement, Error> {
        let at = self.at();
        let left = Box::new(self.operand()?);
        let op = self.one_of(&[
            ("UNION", SetOperator::Union),
            ("INTERSECT", SetOperator::Intersect),
            ("EXCEPT", SetOperator::Except),
        ])?;
        let right = Box::new(self.operand()?);
        Ok(Statement::SetOp(SetOp {
            op: op.it,
            left,
            right,
            at: at.to(self.before()),
        }))
    }

    /// Parses an operand: a recall or another set operation in parentheses.
    fn operand(&mut self) -> Result<Statement, Error> {
        self.expect_sign("(")?;
        let operand = match self.is_sign("(") {
            true => self.deeper((OPERANDS_MAX, Code::TooManyOperands), Self::set_op)?,
            false if self.is_word("RECALL") => Statement::Recall(self.recall()?),
            false => return Err(self.unexpected(&["RECALL", "("])),
        };
        self.expect_sign(")")?;
        Ok(operand)
    }

    fn history(&mut self, at: At) -> Result<History, Error> {
        self.advance();
        let mut history = History::default();
        if matches!(self.peek(), Token::Hash(_) | Token::Param(_)) {
            history.hash = Some(self.hash()?);
            if self.take_word("DIFF") {
                history.diff = Some(self.hash()?);
            }
        } else {
            if self.take_word("IN") {
                history.within = Some(self.within()?);
            }
            self.expect_word("WHERE")?;
            history.conditions = self.conditions()?;
            if self.take_word("AS") {
                self.expect_word("OF")?;
                history.as_of = Some(self.text()?);
            }
        }
        history.at = at.to(self.before());
        Ok(history)
    }

    fn describe(&mut self) -> Result<Describe, Error> {
        self.advance();
        // OMS 28.8 writes the bare type (ruling CAL10).
        if let Token::Word(word) = self.peek()
            && let Some(kind) = Kind::named(word)
        {
            self.advance();
            return Ok(Describe {
                what: Described::Fields,
                grain_type: Some(kind),
            });
        }
        let what = self.one_of(&Described::NAMES)?.it;
        let mut grain_type = None;
        if what == Described::Fields && matches!(self.peek(), Token::Word(_)) && !self.is_label() {
            grain_type = Some(self.kind()?.it);
        }
        Ok(Describe { what, grain_type })
    }

    /// Whether the next word is the label of the next entry.
    fn is_label(&self) -> bool {
        matches!(self.ahead(1), Token::Sign(":"))
    }

    /// Parses the name of a type.
    pub(super) fn kind(&mut self) -> Result<Placed<Kind>, Error> {
        let word = self.any_word("a type")?;
        Kind::named(&word.it)
            .map(|kind| Placed::new(word.at, kind))
            .ok_or_else(|| {
                let message = format!("{} is no type of grain", word.it);
                let names = Kind::ALL.iter().map(|kind| kind.singular());
                Error::new(Code::UnknownType, word.at, message).did_you_mean(&word.it, names)
            })
    }

    fn batch(&mut self, at: At) -> Result<Batch, Error> {
        self.advance();
        self.expect_sign("{")?;
        let mut entries = Vec::new();
        loop {
            let label = self.any_word("a label")?;
            self.expect_sign(":")?;
            let reads = ["RECALL", "EXISTS", "HISTORY", "DESCRIBE", "COALESCE"];
            if !reads.iter().any(|word| self.is_word(word)) {
                return Err(self.unexpected(&reads));
            }
            let entry = self.statement()?;
            entries.push(Entry { label, entry });
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign("}")?;
        let at = at.to(self.before());
        Ok(Batch { entries, at })
    }

    fn coalesce(&mut self, at: At) -> Result<Coalesce, Error> {
        self.advance();
        self.expect_sign("(")?;
        let mut branches = vec![self.recall()?];
        while self.take_sign(",") {
            branches.push(self.recall()?);
        }
        self.expect_sign(")")?;
        let at = at.to(self.before());
        Ok(Coalesce { branches, at })
    }

    fn add(&mut self) -> Result<Add, Error> {
        self.advance();
        let grain_type = self.kind()?;
        let (set, reason) = (self.settings()?, self.reason()?);
        Ok(Add {
            grain_type,
            set,
            reason,
        })
    }

    fn supersede(&mut self) -> Result<Supersede, Error> {
        self.advance();
        let target = self.hash()?;
        let (set, reason) = (self.settings()?, self.reason()?);
        Ok(Supersede {
            target,
            set,
            reason,
        })
    }

    fn revert(&mut self) -> Result<Revert, Error> {
        self.advance();
        let target = self.hash()?;
        let reason = self.reason()?;
        Ok(Revert { target, reason })
    }

    fn settings(&mut self) -> Result<Vec<Setting>, Error> {
        let mut set = Vec::new();
        while self.take_word("SET") {
            let field = self.field()?;
            self.expect_sign("=")?;
            let value = self.value()?;
            set.push(Setting { field, value });
        }
        Ok(set)
    }

    fn reason(&mut self) -> Result<Option<Placed<crate::condition::Value>>, Error> {
        match self.take_word("REASON") {
            true => self.text().map(Some),
            false => Ok(None),
        }
    }

    /// Parses a recall and the values that are taken of it, if that is its last stage.
    pub(super) fn recall_with_extract(
        &mut self,
    ) -> Result<(crate::recall::Recall, Option<Placed<Extract>>), Error> {
        let mut recall = self.recall()?;
        let last = recall
            .pipeline
            .pop_if(|stage| matches!(stage.it, crate::recall::Stage::Extract { .. }));
        let extract = last.and_then(|stage| match stage.it {
            crate::recall::Stage::Extract { of } => Some(Placed::new(stage.at, of)),
            _ => None,
        });
        Ok((recall, extract))
    }
}

/// So many operands may be in each other.
const OPERANDS_MAX: usize = 4;
