//! The words of the program: every name and every short key of the field table and of nested fields,
//! once, in the order of their bytes (OMS 6). A map keeps no copy of one, and which field it means
//! is a step in a table.

use crate::codec::{Name, Word};

use super::Field;
use super::table::{
    ACTION_CONTENT_KEY, CONTENT_REF, EMBEDDING_REF, FIELDS, INTEGRATION, NestedField, RELATED_TO,
};

/// Finds the word of a text.
pub(crate) fn word(text: &str) -> Option<&'static Word> {
    let mut slot = slot_of(text.as_bytes());
    loop {
        // An empty slot points behind the words, and there are more slots than words.
        let word = WORDS.get(usize::from(*INDEX.get(slot)?))?;
        if word.text() == text {
            return Some(word);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// Returns the word of a name, if it has one.
pub(super) fn word_of<S: AsRef<str>>(name: &Name<S>) -> Option<&'static Word> {
    match name {
        Name::Known(word) => Some(word),
        Name::Other(text) => word(text.as_ref()),
    }
}

/// Returns the number of the field that a word is the full name of.
pub(super) fn named(word: &Word) -> Option<u8> {
    let row = *NAMED.get(usize::from(word.place()))?;
    (row != NONE).then_some(row)
}

/// Returns the number of the field that a word is the short key of.
pub(super) fn keyed(word: &Word) -> Option<u8> {
    let row = *KEYED.get(usize::from(word.place()))?;
    (row != NONE).then_some(row)
}

/// Returns the short key of a field.
pub(super) fn key(number: u8) -> &'static Word {
    &WORDS[usize::from(KEYS[usize::from(number)])]
}

/// Returns the full name of a field.
pub(super) fn name(number: u8) -> &'static Word {
    &WORDS[usize::from(NAMES[usize::from(number)])]
}

static WORDS: [Word; LEN] = {
    let mut words = [Word::new("", 0); LEN];
    let mut place = 0;
    while place < LEN {
        words[place] = Word::new(TEXTS.0[place], as_place(place));
        place += 1;
    }
    words
};

/// The fields by the word that is their name, and by the word that is their key.
static NAMED: [u8; LEN] = rows(false);
static KEYED: [u8; LEN] = rows(true);

/// The words by the field whose name, and whose key, they are.
static NAMES: [u16; FIELDS.len()] = places(false);
static KEYS: [u16; FIELDS.len()] = places(true);

/// The words by a slot that follows from the length and three bytes of the text.
static INDEX: [u16; SLOTS] = {
    let mut slots = [u16::MAX; SLOTS];
    let mut place = 0;
    while place < LEN {
        let mut slot = slot_of(TEXTS.0[place].as_bytes());
        while slots[slot] != u16::MAX {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = as_place(place);
        place += 1;
    }
    slots
};

const LEN: usize = TEXTS.1;

/// The texts in order, and how many there are.
const TEXTS: (Texts, usize) = {
    let mut texts = [""; TEXTS_MAX];
    let mut len = put(&mut texts, 0, ACTION_CONTENT_KEY);
    let mut row = 0;
    while row < FIELDS.len() {
        len = put(&mut texts, len, FIELDS[row].name);
        len = put(&mut texts, len, FIELDS[row].key);
        row += 1;
    }
    let mut table = 0;
    while table < NESTED.len() {
        let mut row = 0;
        while row < NESTED[table].len() {
            len = put(&mut texts, len, NESTED[table][row].0);
            len = put(&mut texts, len, NESTED[table][row].1);
            row += 1;
        }
        table += 1;
    }
    let mut row = 0;
    while row < FOREIGN.len() {
        len = put(&mut texts, len, FOREIGN[row]);
        row += 1;
    }
    (texts, len)
};

/// Names that are of no field, and that the messages of exported conversations have by the million.
const FOREIGN: [&str; 42] = [
    "account",
    "attachments",
    "author",
    "channel",
    "chat_messages",
    "children",
    "citations",
    "content",
    "content_type",
    "conversation",
    "conversation_id",
    "create_time",
    "created_at",
    "current_node",
    "default_model_slug",
    "end_turn",
    "files",
    "id",
    "is_archived",
    "mapping",
    "message",
    "metadata",
    "model",
    "model_slug",
    "name",
    "parent",
    "parent_id",
    "parts",
    "provider_message_id",
    "raw_metadata",
    "recipient",
    "role",
    "sender",
    "status",
    "temporal",
    "text",
    "title",
    "type",
    "update_time",
    "updated_at",
    "uuid",
    "weight",
];

const NESTED: [&[NestedField]; 4] = [CONTENT_REF, EMBEDDING_REF, RELATED_TO, INTEGRATION];

type Texts = [&'static str; TEXTS_MAX];

const TEXTS_MAX: usize = 512;

/// Puts a text in its place among the first `len`, if it is not there; returns how many there are.
const fn put(texts: &mut Texts, len: usize, text: &'static str) -> usize {
    let place = place_of(texts, len, text);
    if place < len && !precedes(text, texts[place]) {
        return len;
    }
    let mut last = len;
    while last > place {
        texts[last] = texts[last - 1];
        last -= 1;
    }
    texts[place] = text;
    len + 1
}

/// Returns how many of the first `len` texts come before one.
const fn place_of(texts: &Texts, len: usize, text: &str) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = usize::midpoint(low, high);
        if precedes(texts[middle], text) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

const fn precedes(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

const fn places(of_keys: bool) -> [u16; FIELDS.len()] {
    let mut places = [0; FIELDS.len()];
    let mut row = 0;
    while row < FIELDS.len() {
        places[row] = as_place(place_of(&TEXTS.0, LEN, text_of(&FIELDS[row], of_keys)));
        row += 1;
    }
    places
}

const fn rows(of_keys: bool) -> [u8; LEN] {
    assert!(
        FIELDS.len() < NONE as usize,
        "fields are numbered in a byte"
    );
    let mut rows = [NONE; LEN];
    let mut row = 0_u8;
    while (row as usize) < FIELDS.len() {
        rows[place_of(&TEXTS.0, LEN, text_of(&FIELDS[row as usize], of_keys))] = row;
        row += 1;
    }
    rows
}

const fn text_of(field: &Field, of_keys: bool) -> &'static str {
    if of_keys { field.key } else { field.name }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are at most twice as many as fields"
)]
const fn as_place(place: usize) -> u16 {
    place as u16
}

const fn slot_of(text: &[u8]) -> usize {
    let len = text.len();
    if len == 0 {
        return 0;
    }
    let sum = len * 131 + text[0] as usize * 7 + text[len / 2] as usize * 31;
    (sum + text[len - 1] as usize * 257) % SLOTS
}

const SLOTS: usize = 2048;

const NONE: u8 = u8::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_the_order_of_their_bytes_and_each_is_found() {
        assert!(WORDS.is_sorted_by(|a, b| a.text() < b.text()));
        for (place, known) in WORDS.iter().enumerate() {
            assert_eq!(usize::from(known.place()), place);
            assert!(known.text().is_ascii() && !known.text().is_empty());
            assert!(std::ptr::eq(word(known.text()).unwrap(), known));
        }
    }

    #[test]
    fn no_text_is_looked_for_in_many_slots() {
        let runs = INDEX.split(|place| *place == u16::MAX).map(<[u16]>::len);
        assert!(runs.max() < Some(8));
    }
}
