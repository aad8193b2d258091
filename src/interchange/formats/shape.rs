//! Validation of a JSON value by a schema that is a table; each format has its own tables.

use std::fmt::{self, Display};

use crate::codec::{Map, Value};
use crate::interchange::Loss;
use crate::interchange::model::rfc3339::parse_rfc3339;

/// The schema of an object: its members, and whether it may have others.
pub(crate) struct Shape {
    pub(crate) members: &'static [Member],
    pub(crate) is_open: bool,
}

/// A member of an object.
pub(crate) struct Member {
    name: &'static str,
    need: Need,
    rule: Rule,
}

/// Whether a member is required.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Required,
    /// May be absent, but is not null.
    Optional,
    /// May be absent or null.
    Nullable,
}

/// The rule for a value.
pub(crate) enum Rule {
    Text,
    /// Text that is not empty.
    Filled,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// Text that is what the words say, which the function checks.
    Is(&'static str, fn(&str) -> bool),
    Time,
    Flag,
    Number,
    /// A number from 0 to 1.
    Unit,
    /// A whole number of at least this.
    Count(f64),
    Object(&'static Shape),
    /// An array of these, with at least that many.
    Items(&'static Self, usize),
    /// The same, without duplicates.
    Set(&'static Self, usize),
    /// The input of a tool: an object or text.
    Input,
}

pub(crate) const fn required(name: &'static str, rule: Rule) -> Member {
    let need = Need::Required;
    Member { name, need, rule }
}

pub(crate) const fn optional(name: &'static str, rule: Rule) -> Member {
    let need = Need::Optional;
    Member { name, need, rule }
}

pub(crate) const fn nullable(name: &'static str, rule: Rule) -> Member {
    let need = Need::Nullable;
    Member { name, need, rule }
}

/// Takes a violation: a JSON pointer and what is wrong there.
pub(crate) type Report<'r> = dyn FnMut(String, String) + 'r;

/// A place in a value, which becomes a pointer where something is wrong.
enum At<'a> {
    Root(&'a str),
    Member(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(at) => f.write_str(at),
            Self::Member(of, name) => write!(f, "{of}/{name}"),
            Self::Item(of, index) => write!(f, "{of}/{index}"),
        }
    }
}

impl At<'_> {
    fn is_wrong(&self, message: impl Into<String>, report: &mut Report<'_>) {
        report(self.to_string(), message.into());
    }
}

impl Member {
    /// Reports every violation of the member of an object that is at this pointer.
    pub(crate) fn validate(&self, map: &Map, at: &str, report: &mut Report<'_>) {
        self.validate_at(map, &At::Root(at), report);
    }

    fn validate_at(&self, map: &Map, of: &At<'_>, report: &mut Report<'_>) {
        let at = At::Member(of, self.name);
        match (map.get(self.name), self.need) {
            (None, Need::Required) => at.is_wrong("is missing", report),
            (None, _) | (Some(Value::Nil), Need::Nullable) => {}
            (Some(Value::Nil), _) => at.is_wrong("must not be null", report),
            (Some(value), _) => self.rule.validate(value, &at, report),
        }
    }
}

impl Shape {
    /// Reports every violation of the schema by a value that is at this pointer.
    pub(crate) fn validate(&self, value: &Value, at: &str, report: &mut Report<'_>) {
        self.validate_at(value, &At::Root(at), report);
    }

    fn validate_at(&self, value: &Value, at: &At<'_>, report: &mut Report<'_>) {
        let Value::Map(map) = value else {
            return at.is_wrong("must be an object", report);
        };
        for member in self.members {
            member.validate_at(map, at, report);
        }
        if !self.is_open {
            self.validate_names(map, at, report);
        }
    }

    /// Removes the members that the schema does not have, and counts them by name; `of` is the name
    /// of the object.
    pub(crate) fn prune(&self, map: &mut Map, of: &str, loss: &mut Loss) {
        if !self.is_open && !map.iter().all(|(name, _)| self.has(name)) {
            let foreign = map.iter().map(|(name, _)| name.to_owned());
            let foreign: Vec<String> = foreign.filter(|name| !self.has(name)).collect();
            for name in foreign {
                map.remove(&name);
                loss.count(&format!("{of}.{name}"));
            }
        }
        for member in self.members {
            let (shape, items) = match &member.rule {
                Rule::Object(shape) => (*shape, map.get_mut(member.name).map(std::slice::from_mut)),
                Rule::Items(Rule::Object(shape), _) => match map.get_mut(member.name) {
                    Some(Value::Array(items)) => (*shape, Some(items.as_mut_slice())),
                    _ => continue,
                },
                _ => continue,
            };
            for item in items.into_iter().flatten() {
                if let Value::Map(inner) = item {
                    shape.prune(inner, member.name, loss);
                }
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    fn validate_names(&self, map: &Map, at: &At<'_>, report: &mut Report<'_>) {
        for (name, _) in map.iter() {
            if !self.has(name) {
                let name = name.replace('~', "~0").replace('/', "~1");
                let message = "is not in the schema: what is foreign belongs into metadata";
                At::Member(at, &name).is_wrong(message, report);
            }
        }
    }
}

impl Rule {
    fn validate(&self, value: &Value, at: &At<'_>, report: &mut Report<'_>) {
        let text = value.as_text();
        match self {
            Self::Object(shape) => return shape.validate_at(value, at, report),
            Self::Items(rule, min) => return rule.validate_all(value, *min, at, report),
            Self::Set(rule, min) => {
                rule.validate_all(value, *min, at, report);
                return validate_set(value, at, report);
            }
            _ => {}
        }
        let message = match self {
            Self::Text if text.is_none() => "must be a string".to_owned(),
            Self::Filled if text.is_none_or(str::is_empty) => {
                "must be a string that is not empty".to_owned()
            }
            Self::OneOf(words) if !text.is_some_and(|text| words.contains(&text)) => {
                format!("must be one of {}", words.join(", "))
            }
            Self::Is(words, is_one) if !text.is_some_and(is_one) => format!("must be {words}"),
            Self::Time => match text.map(parse_rfc3339) {
                Some(Ok(_)) => return,
                Some(Err(message)) => message,
                None => "must be a string: an RFC 3339 date and time".to_owned(),
            },
            Self::Flag if value.as_bool().is_none() => "must be true or false".to_owned(),
            Self::Number if number(value).is_none() => "must be a number".to_owned(),
            Self::Unit if unit(value).is_none() => "must be a number from 0 to 1".to_owned(),
            Self::Count(min)
                if !number(value).is_some_and(|it| it.fract() == 0.0 && it >= *min) =>
            {
                format!("must be a whole number of at least {min}")
            }
            Self::Input if text.is_none() && value.as_map().is_none() => {
                "must be an object or a string".to_owned()
            }
            _ => return,
        };
        at.is_wrong(message, report);
    }

    fn validate_all(&self, value: &Value, min: usize, at: &At<'_>, report: &mut Report<'_>) {
        let Some(items) = value.as_array() else {
            return at.is_wrong("must be an array", report);
        };
        if items.len() < min {
            at.is_wrong(format!("must have at least {min} elements"), report);
        }
        for (index, item) in items.iter().enumerate() {
            self.validate(item, &At::Item(at, index), report);
        }
    }
}

fn validate_set(value: &Value, at: &At<'_>, report: &mut Report<'_>) {
    let mut seen = std::collections::HashSet::new();
    for (index, item) in value.as_array().unwrap_or_default().iter().enumerate() {
        // An element that is no text is an error already.
        if item.as_text().is_some_and(|text| !seen.insert(text)) {
            At::Item(at, index).is_wrong("comes twice", report);
        }
    }
}

/// Returns a number of JSON.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(float) => Some(*float),
        Value::Int(int) => Some(int.to_f64()),
        _ => None,
    }
}

/// Returns a number from 0 to 1.
pub(crate) fn unit(value: &Value) -> Option<f64> {
    number(value).filter(|number| (0.0..=1.0).contains(number))
}

/// A text of RFC 3986.
pub(crate) const URI: Rule = Rule::Is("a URI", is_uri);

/// Validates by RFC 3986, as the format `uri` asks: a scheme, and no character that must be
/// escaped.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let hierarchy = rest.split(['?', '#']).next().unwrap_or_default();
    let authority = hierarchy.strip_prefix("//").map(|rest| {
        let end = rest.find('/').unwrap_or(rest.len());
        rest.split_at_checked(end).unwrap_or((rest, ""))
    });
    let (authority, path) = authority.unwrap_or(("", hierarchy));
    let tail = rest.strip_prefix(hierarchy).unwrap_or_default();
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme_byte)
        && is_authority(authority)
        && is_escaped(path, b"/:@")
        && tail.matches('#').count() <= 1
        && is_escaped(tail, b"/:@?#")
}

fn is_authority(authority: &str) -> bool {
    let host = authority
        .rsplit_once('@')
        .map_or(
            authority,
            |(user, host)| {
                if is_escaped(user, b":") { host } else { " " }
            },
        );
    let (literal, rest) = match host.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((literal, rest))) => (Some(literal), rest),
        Some(None) => return false,
        None => (None, host),
    };
    let (name, port) = rest.split_once(':').unwrap_or((rest, ""));
    let is_literal = literal.is_none_or(|literal| {
        name.is_empty()
            && (literal.parse::<std::net::Ipv6Addr>().is_ok() || literal.starts_with('v'))
    });
    is_literal && is_escaped(name, b"") && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether text has only unreserved characters, sub-delimiters, escapes and these.
fn is_escaped(text: &str, more: &[u8]) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte);
        let mut is_hex = || bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
        let is_escape = byte == b'%' && is_hex() && is_hex();
        if !is_plain && !is_escape && !more.contains(&byte) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_nothing_unescaped() {
        for text in [
            "https://portable-ai-memory.org/spec/v1.0",
            "urn:example:a:b",
            "a:",
            "mailto:a@b.example",
            "http://u:p@[::1]:80/a%20b?c=/?#d?",
            "https://example.com",
            "file:///x",
        ] {
            assert!(is_uri(text), "{text}");
        }
        for text in [
            "",
            "x",
            "/a/b",
            "//host/x",
            "1a:b",
            "a b:c",
            "http://a b/",
            "http://x/%zz",
            "http://x/%2",
            "http://x/{y}",
            "http://x/\u{e9}",
            "http://x/#a#b",
            "http://[::1",
            "http://[x]/",
            "http://a:b:c/",
            "http://x/a\"b",
            ":x",
            "http://x/[",
            "http://a b@c/",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }
}
