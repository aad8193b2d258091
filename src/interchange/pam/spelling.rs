//! Text on its way into grains and into hashes.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::codec::{Canonical, Map, Profile, Value};

/// Returns text as a grain holds it: NFC and without byte-order marks, which no grain may hold
/// (OMS 4.4); the residual keeps them.
pub(super) fn carried(text: &str) -> String {
    nfc_parts(text).concat()
}

/// Returns a value as a grain holds it, or as JSON text where a grain cannot hold it: past the
/// depth that grains of every profile allow, or with names that become one.
pub(super) fn carried_value(value: &Value) -> Value {
    clean(value, DEPTH_MAX).unwrap_or_else(|| Value::Text(ascii_json(value)))
}

fn clean(value: &Value, depth_left: usize) -> Option<Value> {
    let below = depth_left.checked_sub(1)?;
    Some(match value {
        Value::Text(text) => Value::Text(carried(text)),
        Value::Array(items) => {
            let items = items.iter().map(|item| clean(item, below));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Map(map) => {
            let pairs = map
                .iter()
                .map(|(name, value)| Some((carried(name), clean(value, below)?)));
            Value::Map(Map::from_pairs(pairs.collect::<Option<_>>()?).ok()?)
        }
        flat => flat.clone(),
    })
}

/// Returns JSON in ASCII alone, so that no rule of grains about text can touch what it says.
///
/// Members come in the order of their names: the parsed value does not keep another.
pub(super) fn ascii_json(value: &Value) -> String {
    let json = value.to_json();
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
            continue;
        }
        // Outside strings JSON is ASCII, so every other character may be escaped.
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

/// Returns the `content_hash` of a content (PAM 6, Appendix C).
pub(super) fn content_hash(content: &str) -> String {
    let lower = content.trim_matches(is_python_space).to_lowercase();
    // The byte-order mark is a starter that composes with nothing, so the form of the whole is the
    // forms of the parts with the marks between them.
    let text = nfc_parts(&lower).join("\u{feff}");
    let words: Vec<&str> = text
        .split(is_python_space)
        .filter(|word| !word.is_empty())
        .collect();
    sha256(words.join(" ").as_bytes())
}

/// Returns `sha256:` and the digest in lower-case hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    format!("sha256:{}", data_encoding::HEXLOWER.encode(&digest))
}

/// Appendix C is normative and its `str.split` takes the four separators of ASCII for white space,
/// which Unicode does not.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Returns the parts between byte-order marks, each in NFC.
fn nfc_parts(text: &str) -> Vec<String> {
    text.split('\u{feff}').map(nfc).collect()
}

fn nfc(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let map = [("text", text)].into_iter().collect();
    let canonical = Canonical::new(map, Profile::Extended).ok();
    match canonical.and_then(|map| map.into_map().remove("text")) {
        Some(Value::Text(text)) => text,
        // Only a byte-order mark is refused, and there is none in a part.
        _ => text.to_owned(),
    }
}

/// Tool input stands four levels deep in a grain that the Standard profile holds to 16.
const DEPTH_MAX: usize = 12;

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

    #[test]
    fn a_residual_is_ascii_and_says_the_same() {
        let value = Value::from("\u{feff}Zoë 😀 \u{7f}\"\\");
        let json = ascii_json(&value);
        assert!(json.is_ascii() && json.contains("\\ufeff") && json.contains("\\ud83d\\ude00"));
        assert_eq!(Value::from_json(&json).unwrap(), value);
    }

    #[test]
    fn a_value_too_deep_for_a_grain_is_carried_as_json() {
        let deep = |levels: usize| {
            Value::from_json(&format!("{}1{}", "[".repeat(levels), "]".repeat(levels))).unwrap()
        };
        assert_eq!(carried_value(&deep(11)), deep(11));
        assert_eq!(carried_value(&deep(12)), Value::from(deep(12).to_json()));
        let twins = Value::from_json("{\"a\": 1, \"\u{feff}a\": 2}").unwrap();
        assert!(carried_value(&twins).as_text().is_some());
    }
}
