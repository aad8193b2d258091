//! Formatted output: grains as text for a model or a program, without addresses, namespaces and full
//! times (CAL 10, SML 1.0).
//!
//! Stored text is untrusted: in every format a grain is on a line of its own that its text cannot
//! end, and no text can open or close an element (ruling CAL19).

mod data;
mod item;
mod lines;
mod sml;
mod toon;

use grainstore::Time;

pub(crate) use item::{Item, Level, humanised, item, one_line};

use crate::recall::Format;

/// The circumstances of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style<'a> {
    /// The moment from which times are told.
    pub(crate) now: Time,
    pub(crate) level: Level,
    /// The fields that PROJECT chooses: of the text, and of the attributes.
    pub(crate) project: Option<(&'a [String], &'a [String])>,
}

/// The head of an assembled context.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) name: Option<String>,
    pub(crate) intent: Option<String>,
    /// The tokens that are used, and those of the budget.
    pub(crate) tokens: Option<[usize; 2]>,
}

/// Writes groups of grains, each of one type; under a head for an assembled context.
pub(crate) fn written(format: Format, groups: &[Vec<Item>], head: Option<&Head>) -> String {
    match format {
        Format::Sml => sml::written(groups, head),
        Format::Markdown => lines::markdown(groups, head),
        Format::Text => lines::plain(groups),
        Format::Json => data::json(groups),
        Format::Yaml => data::yaml(groups),
        Format::Triples => data::triples(groups),
        Format::Toon => toon::written(groups, head),
    }
}

/// Returns the line of a grain, as a preset of templates has it.
pub(crate) fn line(format: Format, item: &Item) -> String {
    match format {
        Format::Sml => sml::element(item),
        Format::Markdown => lines::listed(item),
        _ => lines::line(item),
    }
}

/// Returns what stands before the grains of a context.
pub(crate) fn header(format: Format, head: &Head) -> String {
    match format {
        Format::Sml => sml::opening(head),
        Format::Markdown => lines::markdown(&[], Some(head)),
        _ => String::new(),
    }
}

/// Returns what stands behind the grains of a context.
pub(crate) const fn footer(format: Format) -> &'static str {
    match format {
        Format::Sml => sml::CLOSING,
        _ => "",
    }
}

/// Returns a value for a template of a preset: one line, which opens and closes no element.
pub(crate) fn escaped(format: Format, value: &str) -> String {
    match format {
        Format::Sml => sml::attribute(value),
        _ => one_line(value),
    }
}

/// Returns what a grain adds to a text by [`grainstore::render::tokens`].
pub(crate) fn cost(format: Format, item: &Item) -> usize {
    let alone = std::slice::from_ref(item);
    let line = match format {
        Format::Sml => sml::element(item),
        Format::Markdown => lines::listed(item),
        Format::Text => lines::line(item),
        Format::Json => data::json(&[alone.to_vec()]),
        Format::Yaml => data::yaml(&[alone.to_vec()]),
        Format::Triples => data::triple(item),
        Format::Toon => toon::row(item, &toon::columns(alone)),
    };
    grainstore::render::tokens(&line) + 1
}

/// Puts grains that follow each other into groups of one type.
pub(crate) fn grouped(items: Vec<Item>) -> Vec<Vec<Item>> {
    let mut groups: Vec<Vec<Item>> = Vec::new();
    for item in items {
        let of_type = |group: &&mut Vec<Item>| group.first().is_some_and(|it| it.kind == item.kind);
        match groups.iter_mut().find(of_type) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}
