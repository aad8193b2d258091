//! The subset of YAML that frontmatter is written in, read strictly.
//!
//! Block maps and lists, flow maps and lists, plain and quoted scalars, block scalars and comments.
//! Anchors, aliases, tags, merge keys and complex keys are refused, so that nothing expands, and the
//! depth and the number of values are bounded. Text that is refused stays as it came: no key of it
//! is believed.

use std::iter::Peekable;
use std::str::Chars;

use crate::codec::{Map, Value};

/// Reads the lines between the marks of a frontmatter.
///
/// # Errors
/// Why it is outside the subset.
pub(super) fn parse(text: &str) -> Result<Map, String> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let rest = line.trim_start_matches(' ');
        if rest.starts_with('\t') {
            return Err(format!(
                "line {}: a tab is no indentation",
                number.saturating_add(1)
            ));
        }
        let indent = line.len().saturating_sub(rest.len());
        lines.push(Line { indent, rest });
    }
    let mut parser = Parser {
        lines,
        at: 0,
        left: VALUES_MAX,
    };
    let map = parser.map(0, DEPTH_MAX)?;
    match parser.next_line() {
        None => Ok(map),
        Some(line) => Err(format!("{:?} stands outside the map", short(line.rest))),
    }
}

#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    rest: &'a str,
}

struct Parser<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
    left: usize,
}

impl<'a> Parser<'a> {
    /// Returns the next line that is not blank, without taking it.
    fn next_line(&mut self) -> Option<Line<'a>> {
        while let Some(line) = self.lines.get(self.at) {
            if !line.rest.is_empty() && !line.rest.starts_with('#') {
                return Some(*line);
            }
            self.at = self.at.saturating_add(1);
        }
        None
    }

    fn take(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn count(&mut self) -> Result<(), String> {
        self.left = self.left.checked_sub(1).ok_or("too many values")?;
        Ok(())
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Map, String> {
        let depth = depth.checked_sub(1).ok_or("nested too deep")?;
        let mut pairs: Vec<(String, Value)> = Vec::new();
        while let Some(line) = self.next_line() {
            if line.indent != indent || is_element(line.rest) {
                break;
            }
            let (key, rest) = split_key(line.rest)?;
            self.count()?;
            self.take();
            let value = self.value(rest, indent, depth)?;
            pairs.push((key, value));
        }
        Map::from_pairs(pairs).map_err(|name| format!("the key {name:?} stands twice"))
    }

    /// Reads what follows a key: on its line, or on the lines below it.
    fn value(&mut self, rest: &str, indent: usize, depth: usize) -> Result<Value, String> {
        let rest = without_comment(rest).trim();
        if matches!(rest, "|" | "|-" | "|+" | ">" | ">-" | ">+") {
            return Ok(self.block_scalar(indent, rest));
        }
        if rest.starts_with(['[', '{', '"', '\'']) {
            return flow(rest, depth, &mut self.left);
        }
        if !rest.is_empty() {
            return flow(&self.with_lines_below(rest, indent), depth, &mut self.left);
        }
        let Some(below) = self.next_line() else {
            return Ok(Value::Nil);
        };
        let is_list = is_element(below.rest);
        if below.indent > indent && !is_list {
            return self.map(below.indent, depth).map(Value::Map);
        }
        if is_list && below.indent >= indent {
            return self.list(below.indent, depth);
        }
        Ok(Value::Nil)
    }

    /// Returns a plain scalar with the lines on which it goes on.
    fn with_lines_below(&mut self, first: &str, indent: usize) -> String {
        let mut text = first.to_owned();
        while let Some(line) = self.next_line().filter(|line| line.indent > indent) {
            text.push(' ');
            text.push_str(without_comment(line.rest).trim_end());
            self.take();
        }
        text
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let depth = depth.checked_sub(1).ok_or("nested too deep")?;
        let mut items = Vec::new();
        while let Some(line) = self.next_line() {
            if line.indent != indent || !is_element(line.rest) {
                break;
            }
            self.count()?;
            let rest = line.rest.get(1..).unwrap_or_default();
            let inner = rest.trim_start();
            if split_key(inner).is_ok() && !inner.starts_with(['{', '[', '"', '\'']) {
                // A map that begins on the line of its mark.
                let shift = line.rest.len().saturating_sub(inner.len());
                let below = indent.saturating_add(shift);
                if let Some(line) = self.lines.get_mut(self.at) {
                    *line = Line {
                        indent: below,
                        rest: inner,
                    };
                }
                items.push(Value::Map(self.map(below, depth)?));
            } else {
                self.take();
                items.push(self.value(inner, indent, depth)?);
            }
        }
        Ok(Value::Array(items))
    }

    fn block_scalar(&mut self, indent: usize, mark: &str) -> Value {
        let (mut lines, mut own) = (Vec::new(), None);
        while let Some(line) = self.lines.get(self.at) {
            if !line.rest.is_empty() && line.indent <= indent {
                break;
            }
            let own = *own.get_or_insert(line.indent);
            let more = " ".repeat(line.indent.saturating_sub(own));
            lines.push(format!("{more}{}", line.rest));
            self.take();
        }
        let joined = lines.join(if mark.starts_with('|') { "\n" } else { " " });
        Value::Text(joined.trim_end().to_owned())
    }
}

fn is_element(rest: &str) -> bool {
    rest == "-" || rest.starts_with("- ")
}

/// Splits a line at the colon behind its key.
fn split_key(line: &str) -> Result<(String, &str), String> {
    let refused = || format!("{:?} is no key with a value", short(line));
    if let Some(quoted) = line.strip_prefix(['"', '\'']) {
        let mark = line.chars().next().unwrap_or('"');
        let (key, rest) = quoted.split_once(mark).ok_or_else(refused)?;
        let rest = rest.strip_prefix(':').ok_or_else(refused)?;
        return Ok((key.to_owned(), rest));
    }
    let end = line
        .find(": ")
        .or_else(|| line.ends_with(':').then(|| line.len().saturating_sub(1)));
    let (key, rest) = line
        .split_at_checked(end.ok_or_else(refused)?)
        .ok_or_else(refused)?;
    if key.is_empty() || key.starts_with(REFUSED) || key == "<<" {
        return Err(refused());
    }
    Ok((key.trim_end().to_owned(), rest.get(1..).unwrap_or_default()))
}

/// Returns a line without the comment at its end.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(mark), _) if c == mark && before != '\\' => quote = None,
            (None, '"' | '\'') if matches!(before, ' ' | '[' | '{' | ',' | ':') => quote = Some(c),
            (None, '#') if before == ' ' => return line.get(..at).unwrap_or(line),
            _ => {}
        }
        before = c;
    }
    line
}

/// Reads a value that stands on one line.
fn flow(text: &str, depth: usize, left: &mut usize) -> Result<Value, String> {
    let mut rest = text.chars().peekable();
    let value = flow_value(&mut rest, depth, left, true)?;
    skip_space(&mut rest);
    match rest.next() {
        None => Ok(value),
        Some(_) => Err(format!("{:?} goes on behind its value", short(text))),
    }
}

fn flow_value(
    rest: &mut Peekable<Chars<'_>>,
    depth: usize,
    left: &mut usize,
    is_outside: bool,
) -> Result<Value, String> {
    *left = left.checked_sub(1).ok_or("too many values")?;
    skip_space(rest);
    match rest.peek() {
        Some('[') => {
            let depth = depth.checked_sub(1).ok_or("nested too deep")?;
            rest.next();
            let mut items = Vec::new();
            while !ends(rest, ']')? {
                items.push(flow_value(rest, depth, left, false)?);
            }
            Ok(Value::Array(items))
        }
        Some('{') => {
            let depth = depth.checked_sub(1).ok_or("nested too deep")?;
            rest.next();
            let mut pairs = Vec::new();
            while !ends(rest, '}')? {
                let key = match scalar(rest, ":,}")? {
                    Value::Text(key) => key,
                    other => other.to_json(),
                };
                skip_space(rest);
                let value = match rest.next_if_eq(&':') {
                    Some(_) => flow_value(rest, depth, left, false)?,
                    None => Value::Nil,
                };
                pairs.push((key, value));
            }
            let map = Map::from_pairs(pairs);
            map.map(Value::Map)
                .map_err(|name| format!("the key {name:?} stands twice"))
        }
        _ => scalar(rest, if is_outside { "" } else { ",]}" }),
    }
}

/// Takes the mark that ends a list or a map, or the comma before its next member.
fn ends(rest: &mut Peekable<Chars<'_>>, mark: char) -> Result<bool, String> {
    loop {
        skip_space(rest);
        match rest.peek() {
            Some(',') => drop(rest.next()),
            Some(c) if *c == mark => {
                rest.next();
                return Ok(true);
            }
            Some(_) => return Ok(false),
            None => return Err(format!("{mark} is missing")),
        }
    }
}

fn scalar(rest: &mut Peekable<Chars<'_>>, stops: &str) -> Result<Value, String> {
    match rest.peek() {
        Some('"') => {
            let mut json = String::new();
            let mut is_escaped = false;
            for c in rest.by_ref() {
                json.push(c);
                let is_end = c == '"' && !is_escaped && json.len() > 1;
                is_escaped = c == '\\' && !is_escaped;
                if is_end {
                    return Value::from_json(&json).map_err(|_| format!("{json} is no text"));
                }
            }
            Err("a quoted text has no end".to_owned())
        }
        Some('\'') => {
            rest.next();
            let mut text = String::new();
            while let Some(c) = rest.next() {
                if c == '\'' && rest.next_if_eq(&'\'').is_none() {
                    return Ok(Value::Text(text));
                }
                text.push(c);
            }
            Err("a quoted text has no end".to_owned())
        }
        Some(c) if c.is_ascii() && REFUSED.contains(c) => Err(format!(
            "{c} begins what is not read: an anchor, an alias or a tag"
        )),
        _ => {
            let mut text = String::new();
            while let Some(c) = rest.next_if(|c| !stops.contains(*c)) {
                text.push(c);
            }
            Ok(plain(text.trim()))
        }
    }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Nil,
        "true" | "True" | "TRUE" => Value::from(true),
        "false" | "False" | "FALSE" => Value::from(false),
        _ => match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => Value::from(number),
            _ => Value::Text(text.to_owned()),
        },
    }
}

fn skip_space(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|c| *c == ' ').is_some() {}
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Returns text as a scalar that every reader of YAML takes for the same text.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " _-/.".contains(c);
    let first = text.chars().next().is_some_and(char::is_alphabetic);
    let last = text.chars().next_back().is_some_and(char::is_alphanumeric);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if first && last && !is_word && text.chars().all(is_plain) && text.len() <= 80 {
        return text.to_owned();
    }
    // JSON is YAML, but for what JSON leaves as it is and YAML does not: the controls of Unicode.
    let json = Value::from(text).to_json();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match u32::from(c) {
            code @ (0x7f..=0x9f | 0x2028 | 0x2029 | 0xfeff) => {
                out.push_str(&format!("\\u{code:04x}"));
            }
            _ => out.push(c),
        }
    }
    out
}

/// Marks that a plain scalar or a key must not begin with.
const REFUSED: &[char] = &['&', '*', '!', '%', '@', '`', '?', '|', '>'];

/// Deeper than any frontmatter nests.
const DEPTH_MAX: usize = 6;

/// The most values of one frontmatter.
const VALUES_MAX: usize = 100_000;
