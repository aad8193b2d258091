//! RECALL with its clauses in any order, each once, and its stages in theirs.

use super::Parser;
use crate::code::Code;
use crate::condition::Extract;
use crate::error::Error;
use crate::lexer::Token;
use crate::place::{At, Placed};
use crate::recall::{Direction, Format, Recall, Stage, Thread};
use crate::vocabulary::Kind;

/// The words that begin a clause of a recall.
const CLAUSES: &[&str] = &[
    "IN",
    "ABOUT",
    "LIKE",
    "SINCE",
    "BETWEEN",
    "THREAD",
    "WHERE",
    "WITH",
    "RECENT",
    "CONTRADICTIONS",
    "AS",
];

/// The words that begin a stage.
const STAGES: &[&str] = &[
    "SELECT", "ORDER", "LIMIT", "OFFSET", "COUNT", "FIRST", "SUBJECTS", "OBJECTS", "HASHES",
    "GROUP", "PROJECT",
];

impl Parser {
    pub(super) fn recall(&mut self) -> Result<Recall, Error> {
        let start = self.at();
        self.expect_word("RECALL")?;
        let mut recall = Recall {
            my: self.take_word("MY"),
            ..Recall::default()
        };
        if let Token::Word(word) = self.peek()
            && (Kind::named(word).is_some() || self.is_misspelt_type(word))
        {
            recall.grain_type = Some(self.kind()?);
        }
        loop {
            let Token::Word(word) = self.peek() else {
                if self.take_sign("|") {
                    let stage = self.stage()?;
                    recall.pipeline.push(stage);
                    continue;
                }
                break;
            };
            let word = word.to_ascii_uppercase();
            if STAGES.contains(&word.as_str()) {
                let stage = self.stage()?;
                recall.pipeline.push(stage);
            } else if let Some(clause) = CLAUSES.iter().find(|clause| **clause == word) {
                self.clause(clause, &mut recall)?;
            } else {
                return Err(self.no_clause(&word));
            }
        }
        recall.at = start.to(self.before());
        Ok(recall)
    }

    /// Whether a word behind RECALL can only be meant as a type.
    fn is_misspelt_type(&self, word: &str) -> bool {
        let is_known = CLAUSES
            .iter()
            .chain(STAGES)
            .any(|it| it.eq_ignore_ascii_case(word));
        !is_known
            && !crate::vocabulary::is_among(crate::vocabulary::RESERVED, word)
            && (!crate::vocabulary::is_among(crate::vocabulary::DESTRUCTIVE, word))
    }

    fn no_clause(&self, word: &str) -> Error {
        let error = self.unexpected(&[]);
        if !error.suggestion.is_empty() {
            return error;
        }
        error.did_you_mean_word(word, &[CLAUSES, STAGES].concat())
    }

    fn clause(&mut self, clause: &str, recall: &mut Recall) -> Result<(), Error> {
        let at = self.at();
        self.advance();
        let fresh = match clause {
            "IN" => set(&mut recall.within, self.within()?),
            "ABOUT" => set(&mut recall.about, self.text()?),
            "LIKE" => set(&mut recall.like, self.text()?),
            "SINCE" => set(&mut recall.since, self.text()?),
            "BETWEEN" => {
                let from = self.value()?;
                self.expect_word("AND")?;
                let to = self.value()?;
                let between = Placed::new(at.to(self.before()), [from, to]);
                set(&mut recall.between, between)
            }
            "THREAD" => {
                let thread = match self.take_word("FROM") {
                    true => Thread::From(self.hash()?.it),
                    false => Thread::Session(self.text()?.it),
                };
                set(
                    &mut recall.thread,
                    Placed::new(at.to(self.before()), thread),
                )
            }
            "WHERE" => {
                let fresh = recall.conditions.is_empty();
                recall.conditions.extend(self.conditions()?);
                fresh
            }
            "WITH" => {
                let fresh = recall.with.is_empty();
                recall.with.extend(self.options()?);
                fresh
            }
            "RECENT" => set(&mut recall.recent, self.count()?),
            "CONTRADICTIONS" => !std::mem::replace(&mut recall.contradictions, true),
            _ => {
                let format = self.format()?;
                set(&mut recall.format, format)
            }
        };
        let message = format!("{clause} stands there twice");
        // ABOUT names the subject of a recall, and a recall has one subject.
        let code = match clause {
            "ABOUT" => Code::NotApplicable,
            _ => Code::Unexpected,
        };
        match fresh {
            true => Ok(()),
            false => Err(Error::new(code, at, message)),
        }
    }

    pub(super) fn format(&mut self) -> Result<Placed<Format>, Error> {
        self.one_of(&Format::ALL.map(|format| (format.as_str(), format)))
    }

    fn stage(&mut self) -> Result<Placed<Stage>, Error> {
        let at = self.at();
        let word = match self.peek() {
            Token::Word(word) => word.to_ascii_uppercase(),
            _ => return Err(self.unexpected(STAGES)),
        };
        if !STAGES.contains(&word.as_str()) {
            return Err(self.unexpected(&[]).did_you_mean_word(&word, STAGES));
        }
        self.advance();
        let stage = match word.as_str() {
            "SELECT" => Stage::Select {
                fields: self.field_list()?,
            },
            "ORDER" => {
                self.expect_word("BY")?;
                self.order_by()?
            }
            "LIMIT" => Stage::Limit {
                count: self.count()?.it,
            },
            "OFFSET" => Stage::Offset {
                count: self.count()?.it,
            },
            "COUNT" => Stage::Count {},
            "FIRST" => Stage::First {},
            "SUBJECTS" => extract(Extract::Subjects),
            "OBJECTS" => extract(Extract::Objects),
            "HASHES" => extract(Extract::Hashes),
            "GROUP" => {
                self.expect_word("BY")?;
                Stage::GroupBy {
                    field: self.field()?,
                }
            }
            _ => self.project()?,
        };
        Ok(Placed::new(at.to(self.before()), stage))
    }

    fn field_list(&mut self) -> Result<Vec<Placed<String>>, Error> {
        let mut fields = vec![self.field()?];
        while self.list_goes_on() {
            self.advance();
            fields.push(self.field()?);
        }
        Ok(fields)
    }

    fn order_by(&mut self) -> Result<Stage, Error> {
        let field = self.field()?;
        let dir = match self.take_word("DESC") {
            true => Direction::Desc,
            false => {
                self.take_word("ASC");
                Direction::Asc
            }
        };
        Ok(Stage::OrderBy { field, dir })
    }

    fn project(&mut self) -> Result<Stage, Error> {
        let (mut content, mut attr) = (Vec::new(), Vec::new());
        loop {
            let group = self.one_of(&[("content", true), ("attr", false)])?;
            let fields = self.fields_in_parentheses()?;
            let into = if group.it { &mut content } else { &mut attr };
            if !into.is_empty() {
                return Err(twice(group.at));
            }
            *into = fields;
            let goes_on = self.is_sign(",")
                && matches!(self.ahead(2), Token::Sign("("))
                && (self.is_ahead(1, "content") || self.is_ahead(1, "attr"));
            if !goes_on {
                return Ok(Stage::Project { content, attr });
            }
            self.advance();
        }
    }
}

fn twice(at: At) -> Error {
    Error::new(
        Code::Unexpected,
        at,
        "a group of PROJECT stands there twice",
    )
}

const fn extract(of: Extract) -> Stage {
    Stage::Extract { of }
}

/// Sets a clause; returns whether it was not set before.
fn set<T>(clause: &mut Option<T>, value: T) -> bool {
    clause.replace(value).is_none()
}
