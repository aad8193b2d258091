//! Untrusted text on a terminal: escaped, and shortened to fit.
//!
//! An unescaped grain could move the cursor, change the title of the window, or reorder a line so
//! that it reads as something else.

use grainstore::render::escaped;

/// Escapes control, invisible and reordering characters.
pub(crate) fn printable(text: &str) -> String {
    escaped(text).into_owned()
}

/// Escapes as [`printable`] does and keeps line breaks, for text whose line breaks are the
/// command's own.
pub(crate) fn printable_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(printable).collect();
    lines.join("\n")
}

/// Shortens a text to a number of characters; the last one is an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_drive_a_terminal_or_reorder_a_line() {
        let hostile = "\u{1b}[2Jgone\u{9b}31m\u{7f}\u{202e}gnp.exe\u{2066}\u{7}\nnext";
        let safe = printable(hostile);
        assert_eq!(
            safe,
            "\\u{001B}[2Jgone\\u{009B}31m\\u{007F}\\u{202E}gnp.exe\\u{2066}\\u{0007}\\u{000A}next"
        );
        assert_eq!(printable("Zoë · “het” 日本"), "Zoë · “het” 日本");
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abc defg", 5), "abc…");
        assert_eq!(cut("ééééé", 3), "éé…");
    }
}
