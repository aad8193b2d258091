//! Styles of parts of a line on a terminal: colours and emphasis as escape sequences.
//!
//! Files, pipes and terminals with `NO_COLOR` set get the plain text.

use super::terminal::is_styled;

/// Whether parts of a line get escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Styling {
    /// With colours and emphasis, on a terminal.
    Coloured,
    /// Without, in files and pipes, and where `NO_COLOR` is set.
    Plain,
}

/// The role of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A match of the search, or a heading.
    Strong,
    /// A detail, such as an address.
    Faint,
    /// The type of a grain.
    Kind,
    /// A state that needs attention, such as `superseded`.
    Notice,
}

impl Styling {
    /// Returns the styling for stdout.
    pub(crate) fn of_stdout() -> Self {
        if is_styled() {
            Self::Coloured
        } else {
            Self::Plain
        }
    }

    /// Returns a text in a style.
    pub(crate) fn show(self, style: Style, text: &str) -> String {
        if self == Self::Plain || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Kind => "36",
            Style::Notice => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
