//! The texts of sections: a closed subset of Mustache (CAL 10.6) without partials, lambdas and
//! unescaped forms. Names are of a closed set, so that a mistake is found when a template is read.

use crate::code::Code;
use crate::error::Error;
use crate::place::At;

/// A part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Text(String),
    /// `{{name}}`.
    Value(String),
    /// `{{#name}} .. {{/name}}`: written if the value is there.
    If(String, Vec<Self>),
    /// `{{^name}} .. {{/name}}`: written if it is not.
    Unless(String, Vec<Self>),
    /// `{{#each grain.tags}} .. {{/each}}`: written for each tag, which is `{{this}}`.
    Each(Vec<Self>),
}

/// The values of the variables of a text, escaped as its format asks.
pub(crate) trait Values {
    /// Returns the value of a variable; empty where there is none.
    fn value(&self, name: &str) -> String;

    /// Returns the tags of the grain.
    fn tags(&self) -> Vec<String>;
}

/// Reads a section.
///
/// # Errors
/// CAL-E090 for an unknown name, E091 for a section that is not closed, E093 for one that is too
/// deep, E094 for what is no tag.
pub(super) fn read(text: &str, at: At) -> Result<Vec<Node>, Error> {
    let mut reader = Reader { rest: text, at };
    reader.nodes(None, 0)
}

struct Reader<'a> {
    rest: &'a str,
    at: At,
}

impl<'a> Reader<'a> {
    /// Reads until the tag that closes `open`, or the end.
    fn nodes(&mut self, open: Option<&str>, depth: usize) -> Result<Vec<Node>, Error> {
        if depth > DEPTH_MAX {
            let message = format!("sections of a template are at most {DEPTH_MAX} deep");
            return Err(Error::new(Code::TemplateTooDeep, self.at, message));
        }
        let mut nodes = Vec::new();
        loop {
            let Some((before, after)) = self.rest.split_once("{{") else {
                nodes.push(Node::Text(std::mem::take(&mut self.rest).to_owned()));
                return match open {
                    None => Ok(nodes),
                    Some(name) => Err(self.unbalanced(name)),
                };
            };
            nodes.push(Node::Text(before.to_owned()));
            let Some((tag, rest)) = after.split_once("}}") else {
                return Err(self.invalid("a tag ends with two braces"));
            };
            self.rest = rest;
            let tag = tag.trim();
            match tag.chars().next() {
                Some('!') => {}
                Some('#') => nodes.push(self.section(rest_of(tag), depth)?),
                Some('^') => {
                    let name = self.known(rest_of(tag))?;
                    nodes.push(Node::Unless(
                        name.clone(),
                        self.nodes(Some(&name), depth + 1)?,
                    ));
                }
                Some('/') => {
                    let name = rest_of(tag);
                    return match open == Some(name) {
                        true => Ok(nodes),
                        false => Err(self.unbalanced(name)),
                    };
                }
                Some('&' | '{' | '>' | '=') | None => {
                    return Err(self.invalid("there is no such tag"));
                }
                Some(_) if tag == "this" => nodes.push(Node::Value(tag.to_owned())),
                Some(_) => nodes.push(Node::Value(self.known(tag)?)),
            }
        }
    }

    fn section(&mut self, name: &'a str, depth: usize) -> Result<Node, Error> {
        let mut words = name.split_whitespace();
        if words.next() == Some("each") {
            return match (words.next(), words.next()) {
                (Some("grain.tags"), None) => Ok(Node::Each(self.nodes(Some("each"), depth + 1)?)),
                _ => Err(self.unknown(name)),
            };
        }
        let name = self.known(name)?;
        Ok(Node::If(name.clone(), self.nodes(Some(&name), depth + 1)?))
    }

    fn known(&self, name: &str) -> Result<String, Error> {
        match VARIABLES.contains(&name) {
            true => Ok(name.to_owned()),
            false => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let message = format!("{name} is no variable of a template");
        let error = Error::new(Code::UnknownVariable, self.at, message);
        error.did_you_mean(name, VARIABLES.iter().copied())
    }

    fn unbalanced(&self, name: &str) -> Error {
        let message = format!("the section {name} is not opened and closed once each");
        Error::new(Code::UnbalancedSection, self.at, message)
    }

    fn invalid(&self, message: &str) -> Error {
        Error::new(Code::InvalidTemplate, self.at, message)
    }
}

/// Returns a tag without its first sign.
fn rest_of(tag: &str) -> &str {
    tag.get(1..).unwrap_or_default().trim()
}

/// Writes a section.
pub(crate) fn rendered(nodes: &[Node], values: &dyn Values) -> String {
    let mut text = String::new();
    write(nodes, values, None, &mut text);
    text
}

fn write(nodes: &[Node], values: &dyn Values, this: Option<&str>, text: &mut String) {
    for node in nodes {
        match node {
            Node::Text(written) => text.push_str(written),
            Node::Value(name) if name == "this" => text.push_str(this.unwrap_or_default()),
            Node::Value(name) => text.push_str(&values.value(name)),
            Node::If(name, inner) if !values.value(name).is_empty() => {
                write(inner, values, this, text);
            }
            Node::Unless(name, inner) if values.value(name).is_empty() => {
                write(inner, values, this, text);
            }
            Node::If(..) | Node::Unless(..) => {}
            Node::Each(inner) => {
                for tag in values.tags().iter().take(ITERATIONS_MAX) {
                    write(inner, values, Some(tag), text);
                }
            }
        }
    }
}

/// The closed set of CAL 10.6.
const VARIABLES: &[&str] = &[
    "assembly.name",
    "assembly.intent",
    "assembly.source_count",
    "assembly.grain_count",
    "budget.total",
    "budget.used",
    "budget.remaining",
    "budget.unit",
    "budget.utilization",
    "disclosure.level",
    "timestamp",
    "source.label",
    "source.index",
    "source.priority",
    "source.grain_count",
    "source.tokens_used",
    "source.truncated",
    "grain.content",
    "grain.type",
    "grain.subject",
    "grain.relation",
    "grain.humanized_relation",
    "grain.object",
    "grain.confidence",
    "grain.importance",
    "grain.tags",
    "grain.created_at",
    "grain.relative_time",
    "grain.score",
    "grain.hash",
    "grain.is_full",
    "grain.is_summary",
];

const DEPTH_MAX: usize = 5;
const ITERATIONS_MAX: usize = 200;
