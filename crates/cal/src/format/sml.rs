//! SML: a flat element for each grain, named by its type; an envelope around a context (SML 1.0).

use super::Head;
use super::item::Item;

/// Returns the elements, in an envelope if there is a head.
pub(super) fn written(groups: &[Vec<Item>], head: Option<&Head>) -> String {
    let Some(head) = head else {
        let lines = groups.iter().flatten().map(|item| element(item) + "\n");
        return lines.collect();
    };
    let mut text = opening(head);
    for group in groups.iter().filter(|group| !group.is_empty()) {
        text.push('\n');
        for item in group {
            text.push_str("  ");
            text.push_str(&element(item));
            text.push('\n');
        }
    }
    text.push('\n');
    text.push_str(CLOSING);
    text
}

/// Returns the line that opens a context.
pub(super) fn opening(head: &Head) -> String {
    match &head.intent {
        Some(intent) => format!("<context intent=\"{}\">\n", attribute(intent)),
        None => "<context>\n".to_owned(),
    }
}

/// The line that closes it.
pub(super) const CLOSING: &str = "</context>\n";

pub(super) fn element(item: &Item) -> String {
    let tag = item.kind.singular();
    let mut line = format!("<{tag}");
    for (name, value) in &item.attributes {
        line.push_str(&format!(" {name}=\"{}\"", attribute(&value.to_string())));
    }
    line.push('>');
    line.push_str(&text(&item.text));
    line.push_str(&format!("</{tag}>"));
    line
}

/// Escapes a text, so that it opens and closes no element.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Escapes the value of an attribute, so that it does not end.
pub(super) fn attribute(value: &str) -> String {
    let value = text(&super::item::one_line(value));
    value.replace('>', "&gt;").replace('"', "&quot;")
}
