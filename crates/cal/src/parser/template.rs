//! Templates: the sections of one between braces, and DEFINE TEMPLATE.

use super::Parser;
use crate::code::Code;
use crate::error::Error;
use crate::lexer::Token;
use crate::place::Placed;
use crate::template::{DefineTemplate, Sections};

impl Parser {
    pub(super) fn define_template(&mut self) -> Result<DefineTemplate, Error> {
        self.advance();
        self.expect_word("TEMPLATE")?;
        let name = self.identifier("a name")?;
        let extends = match self.take_word("EXTENDS") {
            true => Some(self.identifier("a preset")?),
            false => None,
        };
        let sections = self.sections()?;
        Ok(DefineTemplate {
            name,
            extends,
            sections,
        })
    }

    /// Parses one section or more.
    pub(super) fn sections(&mut self) -> Result<Sections, Error> {
        let mut sections = Sections::default();
        loop {
            let keyword = Sections::KEYWORDS.iter().find(|word| self.is_word(word));
            let Some(keyword) = keyword else {
                let is_empty = sections.given().next().is_none();
                return match is_empty {
                    true => Err(self.unexpected(&Sections::KEYWORDS)),
                    false => Ok(sections),
                };
            };
            let at = self.at();
            self.advance();
            self.expect_sign("{")?;
            let Token::Raw(text) = self.peek() else {
                return Err(self.unexpected(&["the text of a section"]));
            };
            let text = Placed::new(self.at(), text.clone());
            self.advance();
            self.expect_sign("}")?;
            if sections.of(keyword).replace(text).is_some() {
                let message = format!("{keyword} stands there twice");
                return Err(Error::new(Code::DuplicateSection, at, message));
            }
        }
    }
}
