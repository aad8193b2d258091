use super::terminal::is_styled;

/// Whether a terminal is told how to show pieces of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Styling {
    /// In colours.
    Coloured,
    /// As it is: in files, in pipes, and for whoever sets `NO_COLOR`.
    Plain,
}

/// How a piece of a line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// What was looked for, headings.
    Strong,
    /// What is rarely read.
    Faint,
    /// What kind of thing it is.
    Kind,
    /// What calls for a second look.
    Notice,
}

impl Styling {
    /// Returns what suits where stdout goes.
    pub(crate) fn of_stdout() -> Self {
        if is_styled() {
            Self::Coloured
        } else {
            Self::Plain
        }
    }

    /// Returns a text to be shown in a style.
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
