//! JSON with comments and commas at the end of lists, as the settings of editors are written.
//!
//! The text stays as it is. It is read through a copy of the same length, in which comments and such commas
//! are spaces, so that a place in the one is the same place in the other.

/// Returns a text without comments and without commas before the end of a list or an object: each of their
/// bytes is a space, but for the ends of lines.
pub(super) fn without_comments(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.bytes().peekable();
    // Where the last comma is, if there was nothing but space since.
    let mut comma = None;
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'"', _) => {
                plain.push(byte);
                while let Some(byte) = bytes.next() {
                    plain.push(byte);
                    match byte {
                        b'\\' => plain.extend(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
                comma = None;
            }
            (b'/', Some(b'/')) => {
                plain.push(b' ');
                while let Some(byte) = bytes.next_if(|byte| *byte != b'\n') {
                    plain.push(if byte == b'\r' { byte } else { b' ' });
                }
            }
            (b'/', Some(b'*')) => {
                // The first star is not the last one too: `/*/` is no whole comment.
                plain.extend([b' ', b' ']);
                bytes.next();
                let mut before = b' ';
                for byte in bytes.by_ref() {
                    plain.push(if byte == b'\n' { byte } else { b' ' });
                    if (before, byte) == (b'*', b'/') {
                        break;
                    }
                    before = byte;
                }
            }
            (b',', _) => {
                comma = Some(plain.len());
                plain.push(byte);
            }
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take().and_then(|at: usize| plain.get_mut(at)) {
                    *comma = b' ';
                }
                plain.push(byte);
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                plain.push(byte);
            }
        }
    }
    // Whole characters were replaced or none of them.
    String::from_utf8(plain).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_and_last_commas_are_spaces_in_the_same_places() {
        for (text, plain) in [
            ("{\"a\": 1,}", "{\"a\": 1 }"),
            ("// é\n{}", "     \n{}"),
            ("{/* a\nb */}", "{    \n    }"),
            ("[1, /* , */ 2, // ]\n]", "[1,         2      \n]"),
            ("{\"a//\": \"/*,]\\\"\"}", "{\"a//\": \"/*,]\\\"\"}"),
            ("/*/ */{}", "      {}"),
        ] {
            assert_eq!(without_comments(text), plain);
            assert_eq!(plain.len(), text.len());
        }
    }
}
