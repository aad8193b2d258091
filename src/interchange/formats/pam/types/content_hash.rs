//! The `content_hash` of a memory, as the reference program computes it.

use crate::interchange::model::normalize::{nfc_parts, sha256};

/// Returns the `content_hash` of a content (PAM 6, Appendix C).
pub(crate) fn content_hash(content: &str) -> String {
    let lower = content.trim_matches(is_python_space).to_lowercase();
    // The byte-order mark is a starter that composes with nothing, so the normal form of the whole
    // is that of the parts with the marks between them.
    let text = nfc_parts(&lower).join("\u{feff}");
    let words: Vec<&str> = text
        .split(is_python_space)
        .filter(|word| !word.is_empty())
        .collect();
    sha256(words.join(" ").as_bytes())
}

/// Appendix C is normative, and its `str.split` takes the four separators of ASCII for white space,
/// which Unicode does not.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_hash_is_what_the_reference_program_computes() {
        // Computed with the program of Appendix C.
        let cases = [
            (
                "  Hello \t\n World\u{1c}! ",
                "a4bf1f6be616bf6a0de2ff6264de43a64bb768d38c783ec2bc74b5d4dcf5f889",
            ),
            (
                "ΣΟΦΟΣ",
                "5ea41adffb9eb971b8f55a567307e4cbabab9f8c9907d9f866b3c33e268e64c7",
            ),
            (
                "İstanbul\u{feff} A\u{301}",
                "1510ed5f803359e8c98f3c79a699de51fd6185f730db47724705a5516bdd1456",
            ),
            (
                "\u{1f}a\u{a0}b\u{3000}",
                "c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65",
            ),
            (
                "a\u{200b}b\u{301}\u{feff}\u{301}x",
                "b60423d4f878c0ad6febe581e580d498c7eee8fb616d52a38157c885cbad9af9",
            ),
            (
                "\u{2028}Z\u{85}y",
                "e1c6611a4dad247563612d237319be50a3ce8c8b69513d2008ddb252cc0a62f8",
            ),
        ];
        for (content, hash) in cases {
            assert_eq!(
                content_hash(content),
                format!("sha256:{hash}"),
                "{content:?}"
            );
        }
    }
}
