//! ASSEMBLE: its sources, then its clauses in any order, each once.

use super::Parser;
use crate::assemble::{Assemble, Budget, Preset, Shape, Source, StreamOption, Unit};
use crate::code::Code;
use crate::error::Error;
use crate::lexer::Token;
use crate::place::Placed;
use crate::recall::Format;

/// The words that begin a clause of an assembly.
const CLAUSES: &[&str] = &["BUDGET", "PRIORITY", "FORMAT", "STREAM", "WITH"];

impl Parser {
    pub(super) fn assemble(&mut self) -> Result<Assemble, Error> {
        let start = self.at();
        self.expect_word("ASSEMBLE")?;
        let mut assemble = Assemble::default();
        if !self.is_word("FOR") && !self.is_word("FROM") {
            assemble.name = Some(self.identifier("a name")?);
        }
        if self.take_word("FOR") {
            assemble.intent = Some(self.text()?);
        }
        self.expect_word("FROM")?;
        assemble.sources.push(self.source()?);
        while self.take_sign(",") {
            assemble.sources.push(self.source()?);
        }
        while let Token::Word(word) = self.peek() {
            let word = word.to_ascii_uppercase();
            let Some(clause) = CLAUSES.iter().find(|clause| **clause == word) else {
                return Err(self.unexpected(&[]).did_you_mean_word(&word, CLAUSES));
            };
            self.assemble_clause(clause, &mut assemble)?;
        }
        assemble.at = start.to(self.before());
        Ok(assemble)
    }

    fn source(&mut self) -> Result<Source, Error> {
        let mut source = Source::default();
        if matches!(
            (self.peek(), self.ahead(1)),
            (Token::Word(_), Token::Sign(":"))
        ) {
            source.label = Some(self.any_word("a label")?);
            self.advance();
        }
        let is_in_parentheses = self.take_sign("(");
        let at = self.at();
        match self.peek() {
            Token::Param(name) => {
                source.named = Some(Placed::new(at, name.clone()));
                self.advance();
            }
            _ if is_in_parentheses => source.recall = Some(self.recall()?),
            _ => return Err(self.unexpected(&["(", "$ and a name"])),
        }
        if is_in_parentheses {
            self.expect_sign(")")?;
        }
        Ok(source)
    }

    fn assemble_clause(&mut self, clause: &str, into: &mut Assemble) -> Result<(), Error> {
        let at = self.at();
        self.advance();
        let fresh = match clause {
            "BUDGET" => {
                let amount = self.count()?.it;
                let unit = self
                    .one_of(&[("tokens", Unit::Tokens), ("grains", Unit::Grains)])?
                    .it;
                let budget = Budget { amount, unit };
                let budget = Placed::new(at.to(self.before()), budget);
                into.budget.replace(budget).is_none()
            }
            "PRIORITY" => {
                let fresh = into.priority.is_empty();
                into.priority.push(self.any_word("a label")?);
                while self.take_sign(">") {
                    into.priority.push(self.any_word("a label")?);
                }
                fresh
            }
            "FORMAT" => {
                let shape = self.shape()?;
                let shape = Placed::new(at.to(self.before()), shape);
                into.format.replace(shape).is_none()
            }
            "STREAM" => {
                let options = self.stream_options()?;
                let options = Placed::new(at.to(self.before()), options);
                into.stream.replace(options).is_none()
            }
            _ => {
                let fresh = into.with.is_empty();
                into.with.extend(self.options()?);
                fresh
            }
        };
        match fresh {
            true => Ok(()),
            false => {
                let message = format!("{clause} stands there twice");
                Err(Error::new(Code::Unexpected, at, message))
            }
        }
    }

    fn shape(&mut self) -> Result<Shape, Error> {
        if self.take_word("TEMPLATE") {
            if self.take_sign("{") {
                let sections = self.sections()?;
                self.expect_sign("}")?;
                return Ok(Shape::Inline(Box::new(sections)));
            }
            return Ok(Shape::Template(self.identifier("a template")?.it));
        }
        let formats = Format::ALL.map(|format| (format.as_str(), Ok(format)));
        let presets = Preset::ALL.map(|preset| (preset.as_str(), Err(preset)));
        let shape = self.one_of(&[&formats[..], &presets[..]].concat())?.it;
        Ok(shape.map_or_else(Shape::Preset, Shape::Format))
    }

    fn stream_options(&mut self) -> Result<Vec<StreamOption>, Error> {
        let mut options = Vec::new();
        if !self.take_sign("{") {
            return Ok(options);
        }
        loop {
            let word = self.any_word("an option of STREAM")?;
            let name = word.it.to_ascii_lowercase();
            if !["progress", "budget", "chunks", "all", "chunk_size"].contains(&name.as_str()) {
                let message = format!("{} is no option of STREAM", word.it);
                return Err(Error::new(Code::BadStreamOption, word.at, message));
            }
            let value = match name == "chunk_size" {
                true => {
                    self.expect_sign("=")?;
                    Some(self.count()?.it)
                }
                false => None,
            };
            options.push(StreamOption { name, value });
            if !self.take_sign(",") {
                self.expect_sign("}")?;
                return Ok(options);
            }
        }
    }
}
