//! The one rule of which characters of stored text are shown as escapes.
//!
//! A model reads Unicode tags and zero-width characters that no person sees, and a terminal obeys
//! control and bidirectional characters: text that looks harmless could speak to either.

use std::borrow::Cow;

/// Returns stored text with its control, invisible and reordering characters as escapes.
///
/// A joiner (U+200C, U+200D) between two characters beyond ASCII stays: Persian, the scripts of
/// India and emoji are written with it.
///
/// ```
/// use grainstore::render::escaped;
///
/// assert_eq!(escaped("tea\u{E0041}\u{200B}!"), r"tea\u{E0041}\u{200B}!");
/// assert_eq!(escaped("Zoë 日本 👩\u{200D}🔬"), "Zoë 日本 👩\u{200D}🔬");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    // Most text is printable ASCII, and bytes are looked at faster than characters.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain || !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        if is_harmful(c) && !is_joined(before, c, after) {
            safe.push_str(&format!("\\u{{{:04X}}}", u32::from(c)));
        } else {
            safe.push(c);
        }
        before = c;
    }
    Cow::Owned(safe)
}

/// Returns whether a character is a joiner where one has a meaning.
const fn is_joined(before: char, c: char, after: char) -> bool {
    let is_joiner = matches!(c, '\u{200c}' | '\u{200d}');
    let is_written = !before.is_ascii() && !is_harmful(before) && !after.is_ascii();
    is_joiner && is_written && !is_harmful(after)
}

/// C0, DEL and C1 drive a terminal; the marks, embeddings, overrides and isolates of the
/// bidirectional algorithm are those of the "Trojan Source" attack; the others have no width.
const fn is_harmful(c: char) -> bool {
    c.is_ascii_control()
        || matches!(c,
            '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_is_not_seen_is_shown() {
        for c in ('\u{e0000}'..='\u{e007f}')
            .chain("\u{200b}\u{feff}\u{2060}\u{ad}\u{202e}\u{1b}".chars())
        {
            let shown = escaped(&format!("é{c}é")).into_owned();
            assert_eq!(shown, format!("é\\u{{{:04X}}}é", u32::from(c)));
        }
        let joined = "a\u{200d}b é\u{200d}\u{200d}é";
        assert!(!escaped(joined).contains('\u{200d}'));
        assert_eq!(escaped("می\u{200c}خواهم"), "می\u{200c}خواهم");
        assert!(matches!(escaped("plain text"), Cow::Borrowed(_)));
    }
}
