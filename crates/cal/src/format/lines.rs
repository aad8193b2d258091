//! Markdown and plain text: a line for each grain.

use super::Head;
use super::item::{Item, one_line};
use crate::vocabulary::Kind;

/// Returns a list for each group under a heading.
pub(super) fn markdown(groups: &[Vec<Item>], head: Option<&Head>) -> String {
    let mut text = String::new();
    if let Some(head) = head {
        let title = head.intent.as_deref().or(head.name.as_deref());
        match title {
            Some(title) => text.push_str(&format!("## Context: {}\n", one_line(title))),
            None => text.push_str("## Context\n"),
        }
    }
    for group in groups {
        let Some(first) = group.first() else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("**{}**\n", capitalised(first.kind.plural())));
        for item in group {
            text.push_str(&listed(item));
            text.push('\n');
        }
    }
    text
}

/// Returns a line of a list.
pub(super) fn listed(item: &Item) -> String {
    format!("- {}", said(item, true))
}

/// Returns a line for each grain, under its type.
pub(super) fn plain(groups: &[Vec<Item>]) -> String {
    let lines = groups.iter().flatten().map(|item| line(item) + "\n");
    lines.collect()
}

pub(super) fn line(item: &Item) -> String {
    format!("[{}] {}", item.kind.singular(), said(item, false))
}

/// Returns the text with its subject before it and its other attributes behind it.
fn said(item: &Item, names_confidence: bool) -> String {
    let subject = match item.kind {
        Kind::Belief => item.attribute("subject").map(|subject| subject + " "),
        Kind::Goal => item.attribute("subject").map(|subject| subject + ": "),
        _ => None,
    };
    let others = item.attributes.iter().filter(|(name, _)| match item.kind {
        Kind::Belief | Kind::Goal => name != "subject",
        _ => true,
    });
    let notes = others.map(|(name, value)| match (item.kind, name.as_str()) {
        (Kind::Belief, "confidence") if !names_confidence => value.to_string(),
        (Kind::Goal, "state") => value.to_string(),
        _ => format!("{name}: {value}"),
    });
    let notes: Vec<String> = notes.collect();
    let mut text = subject.unwrap_or_default() + &item.text;
    if !notes.is_empty() {
        text.push_str(&format!(" ({})", notes.join(", ")));
    }
    text
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
