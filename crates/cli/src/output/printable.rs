//! Untrusted text on a terminal: escaped, and shortened to fit.
//!
//! An unescaped grain could move the cursor, change the title of the window, or reorder a line so
//! that it reads as something else.

/// Escapes control characters and characters that reorder text, in the notation of JSON.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmful(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
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

/// C0, DEL and C1 drive a terminal; the marks, embeddings, overrides and isolates of the
/// bidirectional algorithm are those of the "Trojan Source" attack.
const fn is_harmful(c: char) -> bool {
    c.is_ascii_control()
        || matches!(c,
            '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}')
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
            "\\u001b[2Jgone\\u009b31m\\u007f\\u202egnp.exe\\u2066\\u0007\\u000anext"
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
