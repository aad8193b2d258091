//! The public interface as a list: types, fields, variants, methods and functions with their signatures.
//! A change of it is a change of `snapshots/public_api.snap`, and so is seen in review.
//!
//! Stable rustdoc has no machine-readable form, so the list is read from the source, as rustfmt lays it
//! out. What is hidden from the documentation is not in it.

use std::collections::{BTreeMap, BTreeSet};

use super::files;
use super::imports::without_comments;
use super::sizes::documented;

#[test]
fn a_change_of_the_public_interface_is_seen() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("public_api", listed()));
}

/// Returns each documented name with what it shows, in order.
fn listed() -> String {
    let names: BTreeSet<String> = documented().into_iter().collect();
    let modules: BTreeSet<&str> = names.iter().map(|name| module_of(name)).collect();
    let mut shown: BTreeMap<&String, BTreeSet<String>> = BTreeMap::new();
    for file in files("src", "rs") {
        let path = file.path.trim_start_matches("src/").trim_end_matches(".rs");
        // A format is a module of its own.
        let format = path.strip_prefix("interchange/formats/");
        let format = format.and_then(|path| path.split('/').next());
        let module = format.filter(|format| modules.contains(format));
        let module = module.unwrap_or_else(|| path.split('/').next().unwrap());
        let code = without_comments(&file.text);
        let code = code.split("#[cfg(test)]\nmod ").next().unwrap();
        for item in items(code, "") {
            let Some(name) = item
                .of()
                .and_then(|of| names.get(&format!("{module}::{of}")))
            else {
                continue;
            };
            shown.entry(name).or_default().extend(item.lines());
        }
    }
    let mut text = String::new();
    for (name, lines) in shown {
        text += &format!("{name}\n");
        lines
            .iter()
            .for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

fn module_of(name: &str) -> &str {
    name.split("::").next().unwrap()
}

/// One item as rustfmt lays it out: its first lines up to the brace, and the lines inside.
struct Item {
    head: String,
    body: String,
}

/// Returns the items at an indentation that the documentation shows.
fn items(code: &str, indent: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut lines = code.lines();
    let mut is_hidden = false;
    while let Some(line) = lines.next() {
        let Some(text) = line
            .strip_prefix(indent)
            .filter(|it| !it.is_empty() && !it.starts_with([' ', '}', ')']))
        else {
            continue;
        };
        if text.starts_with("#[") {
            is_hidden |= text.contains("doc(hidden)");
            continue;
        }
        let (mut head, mut body) = (text.to_owned(), String::new());
        while !is_whole(&head) {
            let Some(next) = lines.next() else { break };
            head += " ";
            head += next.trim();
        }
        let end = format!("{indent}}}");
        while head.ends_with('{') {
            let Some(next) = lines.next() else { break };
            if next
                .strip_prefix(&end)
                .is_some_and(|rest| !rest.starts_with(' '))
            {
                break;
            }
            body += next;
            body += "\n";
        }
        if !std::mem::take(&mut is_hidden) {
            items.push(Item { head, body });
        }
    }
    items
}

/// Returns whether a declaration has its end: its parameters may stand on lines of their own.
fn is_whole(head: &str) -> bool {
    let count = |sign| head.matches(sign).count();
    count('(') == count(')') && head.ends_with(['{', ';', ',', '}'])
}

impl Item {
    /// Returns the type that the item declares or implements, or the function that it is.
    fn of(&self) -> Option<&str> {
        let end = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_');
        let rest = match self.head.strip_prefix("impl") {
            Some(rest) => {
                let rest = without_generics(rest).trim_start();
                rest.split_once(" for ").map_or(rest, |(_, of)| of)
            }
            None => {
                let rest = self.head.strip_prefix("pub ")?;
                let rest = rest.strip_prefix("const ").unwrap_or(rest);
                let kinds = ["struct ", "enum ", "trait ", "type ", "fn "];
                kinds.iter().find_map(|kind| rest.strip_prefix(kind))?
            }
        };
        Some(&rest[..end(rest).unwrap_or(rest.len())])
    }

    /// Returns what the item shows, a line for each part.
    fn lines(&self) -> Vec<String> {
        let head = signature(&self.head);
        let members = items(&self.body, "    ").into_iter();
        let members = members.map(|member| (signature(&member.head), member.body));
        if self.head.starts_with("impl") {
            if head.contains(" for ") {
                return vec![head];
            }
            let shown = members.filter(|(member, _)| member.starts_with("pub "));
            return shown.map(|(member, _)| member).collect();
        }
        let declares = |kind: &str| self.head.starts_with(&format!("pub {kind} "));
        let mut parts = Vec::new();
        if declares("struct") {
            let shown = members.filter(|(field, _)| field.starts_with("pub "));
            parts.extend(shown.map(|(field, _)| field));
        } else if declares("enum") {
            parts.extend(members.map(|(variant, fields)| {
                let fields = items(&fields, "        ").into_iter();
                let fields: Vec<_> = fields.map(|field| signature(&field.head)).collect();
                let shown = format!("{variant} {}", fields.join(", "));
                shown.trim_end().to_owned()
            }));
        } else if declares("trait") {
            parts.extend(members.map(|(method, _)| method));
        }
        // The inside of a tuple is private.
        let tuple = self.head.find('(').filter(|_| declares("struct"));
        let first = tuple.map_or(&*self.head, |at| &self.head[..at]);
        [signature(first)].into_iter().chain(parts).collect()
    }
}

/// Returns a declaration on one line, without its brace and its end.
fn signature(head: &str) -> String {
    let line = head.trim_end_matches([' ', '{', ';', ',']);
    let line = line.replace("( ", "(").replace(", )", ")");
    line.replace(" ,", ",")
}

/// Takes the parameters of an `impl` away.
fn without_generics(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text[at..].trim_start_matches('>');
        }
    }
    text
}

#[test]
fn what_is_public_and_not_hidden_is_listed() {
    let code = "\
#[derive(Debug)]
pub struct Found<'a> {
    pub(super) row: u64,
    pub grain: Grain,
    #[doc(hidden)]
    pub place: u32,
}

impl<'a> Found<'a> {
    #[must_use]
    pub const fn of(
        row: u64,
        grain: &'a Grain,
    ) -> Self {
        Self { row }
    }

    fn hidden(&self) {}
}

pub enum Kind {
    One,
    Two { at: u64 },
    Three {
        at: u64,
    },
}
";
    let shown = items(code, "").iter().map(Item::lines).collect::<Vec<_>>();
    assert_eq!(
        shown.concat(),
        [
            "pub struct Found<'a>",
            "pub grain: Grain",
            "pub const fn of(row: u64, grain: &'a Grain) -> Self",
            "pub enum Kind",
            "One",
            "Two { at: u64 }",
            "Three at: u64",
        ]
    );
}
