//! The formats that can be read and written, as argument values: those of the library's table.
//!
//! Detection by content is done by the library.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use grainstore::interchange::Format;

/// A format that can be read, or detection by content.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImportFormat(Option<Format>);

impl ImportFormat {
    /// Returns the format; `None` if the content decides.
    pub(super) const fn format(self) -> Option<Format> {
        self.0
    }
}

impl From<Format> for ImportFormat {
    fn from(format: Format) -> Self {
        Self(Some(format))
    }
}

/// Reads the name of a format that can be read; each is listed with where the other tool keeps it.
pub(super) fn import_format() -> impl TypedValueParser<Value = ImportFormat> {
    let auto = PossibleValue::new(AUTO).help("Detect the format from the content");
    let formats = Format::all().map(|format| {
        let is_place = format.usual_places().first() == format.kept().as_ref();
        let home = if is_place { "~/" } else { "" };
        let kept = format.kept().map(|kept| format!(": {home}{kept}"));
        let help = format!("{}{}", format.about(), kept.unwrap_or_default());
        PossibleValue::new(format.name()).help(help)
    });
    let names = PossibleValuesParser::new([auto].into_iter().chain(formats));
    names.map(|name| ImportFormat(Format::named(&name)))
}

/// Reads the name of a format that can be written.
pub(super) fn export_format() -> impl TypedValueParser<Value = Format> {
    let formats = Format::all().filter(|format| format.is_written());
    let formats = formats.map(|it| PossibleValue::new(it.name()).help(it.about()));
    // The parser takes the names of the table alone.
    let names = PossibleValuesParser::new(formats);
    names.map(|name| Format::named(&name).unwrap_or(Format::Jsonl))
}

/// The name by which the content decides.
pub(super) const AUTO: &str = "auto";

/// A dialect of a tree of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Dialect {
    /// Open Knowledge Format: a file for each subject, conversation and day
    Okf,
    /// A vault of Obsidian
    Obsidian,
    /// Basic Memory: observations and relations
    BasicMemory,
    /// The memory of Claude Code
    ClaudeCode,
    /// The memories of Codex
    Codex,
    /// The workspace of OpenClaw
    Openclaw,
    /// The memories of Hermes: entries without frontmatter
    Hermes,
}

impl Dialect {
    /// Returns the name that the library has for it.
    pub(super) fn name(self) -> Option<String> {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
    }
}
