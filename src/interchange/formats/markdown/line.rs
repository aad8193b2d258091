//! An item and what it says: a relation and an object, or the words of a turn.

use crate::codec::Value;
use crate::interchange::model::normalize::ascii_json;

use super::dialect::Line;

/// The statement of an item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// The subject, if the item itself names it.
    pub(super) subject: Option<String>,
    /// The relation of a belief, or the role of a turn.
    pub(super) relation: Option<String>,
    pub(super) object: Value,
}

/// The relation of a text that says none.
pub(super) const NOTE: &str = "note";

impl Said {
    /// Reads an item. Every text says something.
    pub(super) fn read(text: &str, line: Line) -> Self {
        let text = dedented(text.trim());
        let (subject, text) = match line {
            Line::Entry => split_subject(&text),
            Line::Colon | Line::Category => (None, text.as_str()),
        };
        if let Some(Value::Array(whole)) = json_of(text) {
            let (subject, relation, object) = match whole.as_slice() {
                [Value::Text(relation), object] => (subject, relation, object),
                [Value::Text(subject), Value::Text(relation), object] => {
                    (Some(subject.clone()), relation, object)
                }
                _ => {
                    return Self {
                        subject,
                        relation: None,
                        object: Value::Array(whole),
                    };
                }
            };
            return Self {
                subject,
                relation: Some(relation.clone()),
                object: object.clone(),
            };
        }
        let found = match line {
            Line::Category => split_category(text),
            Line::Colon | Line::Entry => split_colon(text),
        };
        let (relation, rest) = match found {
            Some((relation, rest)) => (Some(relation.to_owned()), rest),
            None => (None, text),
        };
        Self {
            subject,
            relation,
            object: object_of(rest),
        }
    }

    /// Writes it as an item that reads as the same. `link` returns the link to what has a note of
    /// its own.
    pub(super) fn write(&self, line: Line, link: &dyn Fn(&str) -> Option<String>) -> String {
        let relation = self.relation.as_deref();
        let plain = self.object.as_text().map(str::to_owned);
        let linked = self.object.as_text().and_then(link);
        let json = |value: &Value| format!("`json:{}`", ascii_json(value).replace('`', "\\u0060"));
        let objects = linked.into_iter().chain(plain).chain([json(&self.object)]);
        for object in objects {
            let text = self.stated(relation, &object, line);
            if is_one_item(&text) && Self::read(&text, line) == *self {
                return text;
            }
        }
        // A relation or a subject that is no name: all of them, as one value.
        let subject = self.subject.as_deref().map(Value::from);
        let relation = Value::from(relation.unwrap_or(NOTE));
        let whole = subject.into_iter().chain([relation, self.object.clone()]);
        json(&Value::Array(whole.collect()))
    }

    fn stated(&self, relation: Option<&str>, object: &str, line: Line) -> String {
        let text = match (relation, line) {
            (None, _) => object.to_owned(),
            (Some(relation), Line::Category) if object.starts_with("[[") => {
                format!("{relation} {object}")
            }
            (Some(relation), Line::Category) => format!("[{relation}] {object}"),
            (Some(relation), _) => format!("{relation}: {object}"),
        };
        let text = match &self.subject {
            Some(subject) => format!("[[{subject}]] {text}"),
            None => text,
        };
        indented(&text)
    }
}

/// Returns the targets of the wiki links in a text, each once; embedded ones and those in code too.
pub(super) fn links(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    if text.contains(JSON) {
        // A value is no prose.
        return found;
    }
    while let Some((_, after)) = rest.split_once("[[") {
        let Some((inner, behind)) = after.split_once("]]") else {
            break;
        };
        rest = behind;
        let target = shown(inner);
        let is_name = !target.is_empty() && target.len() <= NAME_LEN_MAX && !target.contains('\n');
        if is_name && !found.contains(&target) && found.len() < LINKS_MAX {
            found.push(target);
        }
    }
    found
}

/// Returns the tags in a text: `#word`, at the beginning or behind a space.
pub(super) fn tags(text: &str) -> Vec<String> {
    let words = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('#'));
    let words = words.map(|word| word.trim_end_matches(['.', ',', ';', ')', '!', '?']));
    let is_tag = |word: &&str| {
        word.len() <= NAME_LEN_MAX
            && word.chars().any(char::is_alphabetic)
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || "_-/".contains(c))
    };
    words
        .filter(is_tag)
        .take(LINKS_MAX)
        .map(str::to_owned)
        .collect()
}

/// Returns the name that a wiki link shows: behind its bar, else of its target.
fn shown(inner: &str) -> String {
    let name = match inner.split_once('|') {
        Some((_, alias)) => alias,
        None => inner.split(['#', '^']).next().unwrap_or_default(),
    };
    name.trim().to_owned()
}

fn object_of(text: &str) -> Value {
    if let Some(value) = json_of(text) {
        return value;
    }
    let inner = text
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"));
    match inner.map(shown) {
        Some(name) if !name.is_empty() && !name.contains(['[', ']']) => Value::Text(name),
        _ => Value::Text(text.to_owned()),
    }
}

/// Reads the form of a value that no text has.
fn json_of(text: &str) -> Option<Value> {
    let json = text.strip_prefix(JSON)?.strip_suffix('`')?;
    Value::from_json(json).ok()
}

fn split_colon(text: &str) -> Option<(&str, &str)> {
    let (relation, rest) = text.split_once(": ")?;
    let is_stated = is_relation(relation) && !rest.trim().is_empty();
    is_stated.then_some((relation, rest))
}

fn split_category(text: &str) -> Option<(&str, &str)> {
    let stated = |relation: &str, rest: &str| is_relation(relation) && !rest.trim().is_empty();
    if let Some((category, rest)) = text.strip_prefix('[').and_then(|it| it.split_once("] ")) {
        return stated(category, rest).then_some((category, rest));
    }
    let (relation, link) = text.split_once(" [[")?;
    let behind = link.split_once("]]").map(|(_, behind)| behind.trim())?;
    let is_alone = behind.is_empty() || (behind.starts_with('(') && behind.ends_with(')'));
    let link = text.get(relation.len().saturating_add(1)..)?;
    let end = link.find("]]")?.saturating_add(2);
    (is_alone && is_relation(relation)).then_some((relation, link.get(..end)?))
}

fn split_subject(text: &str) -> (Option<String>, &str) {
    let split = text
        .strip_prefix("[[")
        .and_then(|rest| rest.split_once("]] "));
    match split {
        Some((subject, rest)) if is_name(subject) && !rest.trim().is_empty() => {
            (Some(subject.to_owned()), rest)
        }
        _ => (None, text),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(['[', ']', '|', '\n'])
}

/// Whether text is the name of a relation, and not the beginning of a sentence.
fn is_relation(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    text.len() <= RELATION_LEN_MAX
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(is_part)
}

/// Takes the two spaces off the lines behind the first, which a list item is set in by.
fn dedented(text: &str) -> String {
    let mut lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        out.push_str(line.strip_prefix("  ").unwrap_or(line));
    }
    out
}

/// Whether text in a list is one item of it and leaves what follows as it is.
fn is_one_item(text: &str) -> bool {
    let is_fence =
        |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let is_even = text.split('\n').filter(is_fence).count() % 2 == 0;
    is_even && !text.is_empty() && text.trim() == text && !text.contains(['\r', '§'])
}

fn indented(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        if !line.is_empty() {
            out.push_str("  ");
            out.push_str(line);
        }
    }
    out
}

/// How a value begins that no text has.
const JSON: &str = "`json:";

const RELATION_LEN_MAX: usize = 64;
const NAME_LEN_MAX: usize = 256;
const LINKS_MAX: usize = 256;

/// Returns the beginning of an item, as the description of its file.
pub(super) fn described(text: &str) -> String {
    let first = one_line(text);
    match first.char_indices().nth(DESCRIPTION_LEN) {
        Some((at, _)) => format!("{}…", first.get(..at).unwrap_or_default().trim_end()),
        None => first,
    }
}

/// Returns a text in one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const DESCRIPTION_LEN: usize = 100;
