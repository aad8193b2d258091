//! Facts about the terminal that stdout goes to: its width, and whether results may be styled.
//!
//! A file or a pipe is no terminal: its lines have a fixed width and no escape sequences.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use clap::ColorChoice;

/// Returns the width of a line in characters.
pub(crate) fn width() -> usize {
    let size = terminal_size::terminal_size();
    size.map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
        .clamp(40, 200)
}

/// Returns whether stdout is a terminal.
pub(crate) fn is_screen() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether a person can answer: stdin, stdout and stderr are a terminal.
pub(crate) fn is_dialogue() -> bool {
    is_screen() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Sets when results are styled, for the whole run; the first call counts.
pub(crate) fn set_color(choice: ColorChoice) {
    COLOR.get_or_init(|| choice);
}

/// Returns whether results may be styled: as `--color` says, else on a terminal, unless `NO_COLOR`
/// is set.
pub(crate) fn is_styled() -> bool {
    // https://no-color.org: a value that is set and not empty disables colours.
    let is_plain = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match COLOR.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_screen() && !is_plain(),
    }
}

static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// The width of a line in a file or a pipe.
const DEFAULT_WIDTH: usize = 120;
