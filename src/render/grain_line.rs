//! The line of a grain: who says what, and how much room it takes before it is read.

use crate::codec::Value;
use crate::grain::{Grain, Type};

use super::{Line, Standing};

impl Line {
    /// Returns the line of a grain that holds, with its identifiers as they are and without the text
    /// that is searched, which a line gets once there is room for it.
    pub(crate) fn of(grain: &Grain) -> Self {
        let tags = grain.field("structural_tags");
        let tags = tags.into_iter().flat_map(Value::texts);
        Self {
            address: grain.address(),
            of: grain.type_(),
            time: grain.event_time(),
            speaker: speaker(grain).map(str::to_owned),
            text: String::new(),
            sentence: grain.sentence(),
            is_cut: false,
            tags: tags.map(str::to_owned).collect(),
            standing: Standing::Current,
            contradicts: Vec::new(),
            score: None,
        }
    }

    /// Returns what no other line says again: its sentence without what makes no difference to a
    /// reader, and who says it.
    pub(crate) fn said(&self) -> String {
        let mut said = folded(&self.sentence);
        if let Some(speaker) = &self.speaker {
            said.push('\n');
            said.push_str(speaker);
        }
        said
    }
}

/// The room that the line of a grain takes, and whether another line may say the same: known of a
/// grain that is not read. The text view keeps it in 16 bits, so another rendering needs another
/// name of its analyzer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LineShape {
    /// The tokens of the line, at least; 0 if they are not known.
    pub(crate) tokens: u8,
    /// A hash of what it says.
    pub(crate) said: u8,
}

impl LineShape {
    /// Returns the shape of the line of a grain; none where names will stand in place of identifiers.
    pub(crate) fn of(grain: &Grain) -> Self {
        let line = Line::of(grain);
        let is_named = line.speaker.as_deref().is_some_and(has_identifiers);
        if line.sentence.is_empty() || has_identifiers(&line.sentence) || is_named {
            return Self::default();
        }
        let tokens = line.tokens(is_turn(grain));
        Self {
            tokens: u8::try_from(tokens).unwrap_or(u8::MAX),
            said: Self::hash_of(&line.said()),
        }
    }

    /// Returns the hash of what a line says.
    pub(crate) fn hash_of(said: &str) -> u8 {
        let mix = |hash: u32, byte: u8| hash.wrapping_mul(31).wrapping_add(byte.into());
        let [a, b, c, d] = said.bytes().fold(0, mix).to_be_bytes();
        a ^ b ^ c ^ d
    }

    pub(crate) const fn to_bits(self) -> u16 {
        u16::from_be_bytes([self.tokens, self.said])
    }

    pub(crate) const fn from_bits(bits: u16) -> Self {
        let [tokens, said] = bits.to_be_bytes();
        Self { tokens, said }
    }
}

/// Returns whether a grain is a turn of a conversation, and no fact.
pub(crate) fn is_turn(grain: &Grain) -> bool {
    let is_said = matches!(grain.type_(), Type::Event | Type::Action);
    is_said
        && ["session_id", "role"]
            .iter()
            .any(|name| grain.text(name).is_some())
}

/// Returns whether a text has identifiers that a prompt has names for: DIDs, or what is as long as a
/// hash.
pub(crate) fn has_identifiers(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_one = |byte: &&u8| is_of_identifier(char::from(**byte));
    // A run of so many bytes has the last byte of a part of as many: the others need not be looked at.
    let mut ends = (HASH_LEN..=bytes.len()).step_by(HASH_LEN);
    let has_run = ends.any(|end| {
        let (before, behind) = bytes.split_at(end);
        let before = before.iter().rev().take_while(is_one).count();
        before > 0 && before + behind.iter().take_while(is_one).count() >= HASH_LEN
    });
    has_run || (bytes.contains(&b':') && text.contains("did:"))
}

/// Returns whether a character is one of an identifier.
pub(crate) const fn is_of_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | '-' | '_' | '%')
}

/// Returns who said a grain: a person by name, where one is known, else the role or the tool.
fn speaker(grain: &Grain) -> Option<&str> {
    let role = grain.text("role");
    let observer = grain.text("observer_id");
    let is_name = |text: &&str| !text.contains(|c: char| c.is_ascii_digit());
    match role {
        None | Some("user") => observer.filter(is_name).or(role).or(observer),
        Some(_) => role,
    }
    .or_else(|| grain.text("tool_name"))
}

/// Returns a text without what makes no difference to a reader.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return folded_ascii(text);
    }
    let mut folded = String::with_capacity(text.len());
    let words = text.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(&word.to_lowercase());
    }
    folded
}

/// Returns what [`folded`] does of ASCII, of which it looks at bytes: without a branch, as each byte is
/// written and one that separates only stays behind a word.
fn folded_ascii(text: &str) -> String {
    let mut folded = vec![0; text.len()];
    let (mut len, mut before) = (0, b' ');
    for byte in text.bytes() {
        let byte = FOLDED.get(usize::from(byte)).copied().unwrap_or(b' ');
        if let Some(slot) = folded.get_mut(len) {
            *slot = byte;
        }
        len += usize::from(byte != b' ' || before != b' ');
        before = byte;
    }
    folded.truncate(len - usize::from(len > 0 && before == b' '));
    String::from_utf8(folded).unwrap_or_default()
}

/// Of each byte of ASCII the small letter or the digit that it is, or else a space.
const FOLDED: [u8; 128] = {
    let mut folded = [b' '; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            folded[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    folded
};

/// The digits of a hash, at least.
pub(crate) const HASH_LEN: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grain::{Draft, Time};

    fn grain(draft: Draft) -> Grain {
        let draft = draft.created_at(Time::from_ms(1_768_471_200_000));
        draft.finish(Default::default()).unwrap()
    }

    #[test]
    fn a_shape_is_of_the_line_and_survives_its_bits() {
        let tea = grain(Draft::belief("mira", "mg:prefers", "green tea").confidence(0.9));
        let shape = LineShape::of(&tea);
        assert_eq!(usize::from(shape.tokens), Line::of(&tea).tokens(false));
        assert_eq!(shape.said, LineShape::hash_of("mira prefers green tea"));
        assert_eq!(LineShape::from_bits(shape.to_bits()), shape);
        let said = grain(Draft::event("Tea!").role("user"));
        let shape = LineShape::of(&said);
        assert_eq!(usize::from(shape.tokens), Line::of(&said).tokens(true));
        assert_eq!(shape.said, LineShape::hash_of("tea\nuser"));
        let long = grain(Draft::event("word ".repeat(400)));
        assert_eq!(LineShape::of(&long).tokens, u8::MAX);
    }

    #[test]
    fn a_line_that_names_change_has_no_shape() {
        // A hash that is the whole object is said by its first digits, whatever has a name.
        let hash = "0123456789abcdef".repeat(4);
        for object in ["of did:key:z6Mk".to_owned(), format!("from {hash}")] {
            let named = grain(Draft::belief("mira", "has", object).confidence(0.9));
            assert_eq!(LineShape::of(&named), LineShape::default());
        }
    }

    proptest! {
        #[test]
        fn an_identifier_is_a_did_or_a_run_as_long_as_a_hash(
            parts in prop::collection::vec(
                prop_oneof!["[a-z0-9:._%-]{0,70}", "[ é,\n]{1,3}", Just("did:".to_owned())],
                0..6,
            ),
        ) {
            let text = parts.concat();
            let runs = text.split(|c| !is_of_identifier(c));
            let has_run = runs.map(str::len).any(|len| len >= HASH_LEN);
            prop_assert_eq!(has_identifiers(&text), has_run || text.contains("did:"), "{}", text);
        }
    }

    #[test]
    fn what_makes_no_difference_to_a_reader_is_not_said() {
        assert_eq!(folded("  Green,  TEA! 7 "), "green tea 7");
        assert_eq!(folded("Zoë – ТЕСТ"), "zoë тест");
        for text in ["", " - ", "a", "-A-", "a  b.", " C3 - pO "] {
            let long = folded(&format!("{text} é"));
            let long = long.strip_suffix('é').map(str::trim_end);
            assert_eq!(Some(&*folded(text)), long, "{text:?}");
        }
    }
}
