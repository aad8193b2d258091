//! The parser of the query language: operators, groups, fields and boosts.
//!
//! It produces items whose text is not analyzed yet. Syntax errors carry a byte offset; input that
//! is no operator is literal text.

use crate::grain;

use crate::text::document;
use crate::text::error::Error;
use crate::text::query::ast::Role;

/// An item of a query.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) enum Item {
    Run(Run),
    /// Items in parentheses, with their boost.
    Group(Vec<(Role, Self)>, f32),
}

/// A text without operators.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) struct Run {
    pub(in crate::text) text: String,
    pub(in crate::text) field: Option<u32>,
    pub(in crate::text) boost: f32,
    pub(in crate::text) form: Form,
}

/// How the words of a run are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) enum Form {
    Words,
    /// A phrase in quotes.
    Phrase,
    Prefix,
    Fuzzy(u8),
}

impl Run {
    /// Returns whether each of its words is an alternative of its own.
    pub(in crate::text) fn is_bare(&self) -> bool {
        self.form == Form::Words && self.field.is_none() && self.boost == 1.0
    }
}

/// Parses the query language.
pub(in crate::text) fn parse(text: &str) -> Result<Vec<(Role, Item)>, Error> {
    let mut parser = Parser { text, at: 0 };
    parser.alternatives(None, 0)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// Reads alternatives up to the end, or up to the closing parenthesis.
    fn alternatives(
        &mut self,
        field: Option<u32>,
        depth: usize,
    ) -> Result<Vec<(Role, Item)>, Error> {
        let mut items = Vec::new();
        let mut dangling = None;
        loop {
            self.skip_space();
            if self.rest().is_empty() || (depth > 0 && self.rest().starts_with(')')) {
                break;
            }
            let start = self.at;
            if let Some(word @ ("AND" | "OR")) = self.keyword() {
                // Between alternatives OR changes nothing. AND has been read with its left operand.
                if items.is_empty() || dangling.is_some() || word == "AND" {
                    return Err(syntax(start, format!("nothing stands before this {word}")));
                }
                self.at += word.len();
                dangling = Some(start);
                continue;
            }
            if let Some(item) = self.conjunction(field, depth)? {
                items.push(item);
                dangling = None;
            }
        }
        match dangling {
            Some(place) => Err(syntax(place, "nothing stands behind this OR")),
            None => Ok(items),
        }
    }

    /// Reads one item, or several joined by AND.
    fn conjunction(
        &mut self,
        field: Option<u32>,
        depth: usize,
    ) -> Result<Option<(Role, Item)>, Error> {
        let mut all = Vec::new();
        all.extend(self.signed(field, depth)?);
        loop {
            self.skip_space();
            let start = self.at;
            if self.keyword() != Some("AND") || all.is_empty() {
                break;
            }
            self.at += "AND".len();
            self.skip_space();
            let ends = self.rest().is_empty() || self.rest().starts_with(')');
            if ends || matches!(self.keyword(), Some("AND" | "OR")) {
                let place = if ends { start } else { self.at };
                return Err(syntax(place, "nothing stands behind this AND"));
            }
            all.extend(self.signed(field, depth)?);
        }
        if all.len() < 2 {
            return Ok(all.pop());
        }
        for (role, _) in &mut all {
            if *role == Role::Should {
                *role = Role::Must;
            }
        }
        Ok(Some((Role::Should, Item::Group(all, 1.0))))
    }

    /// Reads one item with its `+`, `-` or `NOT`.
    fn signed(&mut self, field: Option<u32>, depth: usize) -> Result<Option<(Role, Item)>, Error> {
        let mut role = Role::Should;
        if self.keyword() == Some("NOT") {
            let start = self.at;
            self.at += "NOT".len();
            self.skip_space();
            let ends = self.rest().is_empty() || self.rest().starts_with(')');
            if ends || self.keyword().is_some() {
                return Err(syntax(start, "nothing stands behind this NOT"));
            }
            role = Role::MustNot;
        }
        if self.eat("+") {
            role = Role::Must;
        } else if self.eat("-") {
            role = Role::MustNot;
        }
        Ok(self.item(field, depth)?.map(|item| (role, item)))
    }

    fn item(&mut self, field: Option<u32>, depth: usize) -> Result<Option<Item>, Error> {
        let field = self.scope()?.or(field);
        let start = self.at;
        if self.eat("(") {
            if depth == DEPTH_MAX {
                return Err(syntax(start, "too many parentheses within each other"));
            }
            let items = self.alternatives(field, depth + 1)?;
            if !self.eat(")") {
                return Err(syntax(start, "this parenthesis is not closed"));
            }
            return Ok(Some(Item::Group(items, self.boost()?)));
        }
        if let Some((phrase, _)) = self
            .rest()
            .strip_prefix('"')
            .and_then(|rest| rest.split_once('"'))
        {
            self.at += phrase.len() + 2;
            if self.rest().starts_with('~') {
                return Err(syntax(self.at, "a phrase has no distance"));
            }
            let run = Run {
                text: phrase.to_owned(),
                field,
                boost: self.boost()?,
                form: Form::Phrase,
            };
            return Ok(Some(Item::Run(run)));
        }
        let text = split_run(self.rest(), depth > 0);
        self.at += text.len();
        let run = of_run(text, start, field)?;
        Ok((!run.text.is_empty()).then_some(Item::Run(run)))
    }

    /// Reads a `field:` prefix.
    fn scope(&mut self) -> Result<Option<u32>, Error> {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        let Some((name, behind)) = len.and_then(|len| rest.split_at_checked(len)) else {
            return Ok(None);
        };
        let Some(behind) = behind.strip_prefix(':').filter(|_| !name.is_empty()) else {
            return Ok(None);
        };
        let is_scope = behind.starts_with(|c: char| c.is_alphanumeric() || c == '"' || c == '(');
        if !is_scope || name.len() == 1 {
            return Ok(None);
        }
        let number = document::number_of(name);
        if number == 0 {
            let (known, more) = grain::SEARCHABLE_FIELDS.split_at(NAMED_FIELDS);
            let (known, more) = (known.join(", "), more.len());
            let reason = format!(
                "{name} is no field with words in it; such are {known} and {more} more; in \"quotes\" it is \
                 looked for as text"
            );
            return Err(syntax(self.at, reason));
        }
        self.at += name.len() + 1;
        Ok(Some(number))
    }

    /// Reads a `^2` suffix.
    fn boost(&mut self) -> Result<f32, Error> {
        let rest = self.rest();
        let Some(number) = rest.strip_prefix('^') else {
            return Ok(1.0);
        };
        let len = number.find(|c: char| !c.is_ascii_digit() && c != '.');
        let number = number
            .get(..len.unwrap_or(number.len()))
            .unwrap_or_default();
        let boost = of_boost(number, self.at)?;
        self.at += number.len() + 1;
        Ok(boost)
    }

    /// Returns the operator in capital letters at this position.
    fn keyword(&self) -> Option<&'static str> {
        let rest = self.rest();
        ["AND", "OR", "NOT"].into_iter().find(|word| {
            rest.strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|c: char| !c.is_whitespace() && c != '('))
        })
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_there = self.rest().starts_with(sign);
        if is_there {
            self.at += sign.len();
        }
        is_there
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

/// Returns the start of `text` up to white space, the closing parenthesis, or an opening quote. A
/// quote inside or after a word does not open a phrase: `("a b")` contains a phrase, and `5"` does
/// not begin one.
fn split_run(text: &str, closes: bool) -> &str {
    let mut last = None;
    let mut open = 0_usize;
    let is_end = |c: char| {
        let opens = c == '"' && last.is_some_and(|last: char| !last.is_alphanumeric());
        last = Some(c);
        match c {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' if closes => return true,
            _ => {}
        }
        c.is_whitespace() || opens
    };
    let end = text.find(is_end).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// Reads the suffixes of a word: `*`, `~`, `~2`, `^2`.
fn of_run(text: &str, start: usize, field: Option<u32>) -> Result<Run, Error> {
    let (text, boost) = match text.rsplit_once('^') {
        Some((word, number)) if ends_in_word(word) && is_number(number) => {
            (word, of_boost(number, start + word.len())?)
        }
        _ => (text, 1.0),
    };
    let (text, form) = match text.rsplit_once('~') {
        Some((word, number)) if ends_in_word(word) && (number.is_empty() || is_number(number)) => {
            let letters = word.chars().rev().take_while(|c| c.is_alphanumeric());
            let distance = match number {
                "" if letters.count() < LONG => 1,
                "" | "2" => 2,
                "1" => 1,
                _ => {
                    let place = start + word.len();
                    return Err(syntax(place, "words may differ by 1 or 2 letters"));
                }
            };
            (word, Form::Fuzzy(distance))
        }
        _ => match text.strip_suffix('*') {
            Some(word) if ends_in_word(word) => (word, Form::Prefix),
            _ => (text, Form::Words),
        },
    };
    Ok(Run {
        text: text.to_owned(),
        field,
        boost,
        form,
    })
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_alphanumeric() || c == '*' || c == '~')
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn of_boost(number: &str, place: usize) -> Result<f32, Error> {
    let boost = number.parse().ok();
    let boost = boost.filter(|boost: &f32| *boost > 0.0 && *boost <= BOOST_MAX);
    boost.ok_or_else(|| syntax(place, "a boost is a number above 0 and up to 1000"))
}

fn syntax(place: usize, reason: impl Into<String>) -> Error {
    Error::Syntax {
        place,
        reason: reason.into(),
    }
}

/// The maximum nesting depth of parentheses.
const DEPTH_MAX: usize = 32;

/// Words of at least this many letters get an edit distance of 2 if no number is given.
const LONG: usize = 6;

const BOOST_MAX: f32 = 1_000.0;
/// How many fields a refusal names.
const NAMED_FIELDS: usize = 6;
