//! Editing a statement: how a word may go on, and which parts an editor shows differently.
//!
//! Both read statements that are not finished or wrong, which the lexer refuses.

use std::ops::Range;

use crate::vocabulary::{CATEGORIES, FIELDS, GRAMMAR, Kind, OTHER_RELATIONS};

/// A part of a statement that an editor shows differently.
///
/// ```
/// use grainstore_cal::{Highlight, highlights};
///
/// let parts = highlights("RECALL beliefs");
/// assert_eq!(parts, [(0..6, Highlight::Keyword), (7..14, Highlight::Name)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Highlight {
    /// A word of the grammar.
    Keyword,
    /// A type or a field.
    Name,
    /// A text, a number, a parameter or an address.
    Value,
    /// A comment.
    Comment,
}

/// Returns the parts of a text that is a statement or becomes one, in order.
///
/// ```
/// assert!(grainstore_cal::highlights("hello").is_empty());
/// ```
pub fn highlights(text: &str) -> Vec<(Range<usize>, Highlight)> {
    let parts = pieces(text).into_iter().filter_map(|(place, piece)| {
        let highlight = match piece {
            Piece::Comment => Highlight::Comment,
            Piece::Text | Piece::OpenText | Piece::Value => Highlight::Value,
            Piece::Sign => return None,
            Piece::Word => of_word(text.get(place.clone())?)?,
        };
        Some((place, highlight))
    });
    parts.collect()
}

/// Returns where the word before `at` begins, in bytes, and how it may go on: words of the grammar, types
/// and fields; in the text of a relation, the relations.
///
/// ```
/// let (start, words) = grainstore_cal::completions("RECALL beliefs WHERE subj", 25);
/// assert_eq!((start, words), (21, vec!["subject"]));
/// ```
pub fn completions(text: &str, at: usize) -> (usize, Vec<&'static str>) {
    let before = text.get(..at).unwrap_or_default();
    let pieces = pieces(before);
    let last = pieces.split_last();
    let Some(((place, piece), others)) = last.filter(|((place, _), _)| place.end == at) else {
        return (at, Vec::new());
    };
    let begun = before.get(place.clone()).unwrap_or_default();
    match piece {
        Piece::Word => (place.start, that_begin(words(), begun)),
        Piece::OpenText if is_of_relation(before, others) => {
            let begun = begun.get(1..).unwrap_or_default();
            (place.start + 1, that_begin(relations(), begun))
        }
        _ => (at, Vec::new()),
    }
}

/// Whether a text behind these parts is a value of the field `relation`.
fn is_of_relation(text: &str, before: &[(Range<usize>, Piece)]) -> bool {
    let words = before
        .iter()
        .rev()
        .filter(|(_, piece)| *piece == Piece::Word);
    // IN stands between the field and its values.
    let mut nearest = words
        .take(2)
        .filter_map(|(place, _)| text.get(place.clone()));
    nearest.any(|word| word.eq_ignore_ascii_case("relation"))
}

/// Returns the words that go on from `begun`: those in its case, or else in any.
fn that_begin(all: impl Iterator<Item = &'static str>, begun: &str) -> Vec<&'static str> {
    let begins = |word: &&'static str| {
        let start = word.get(..begun.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(begun))
    };
    let mut found: Vec<_> = all.filter(begins).collect();
    if found.iter().any(|word| word.starts_with(begun)) {
        found.retain(|word| word.starts_with(begun));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn words() -> impl Iterator<Item = &'static str> {
    let kinds = Kind::ALL.iter();
    let kinds = kinds.flat_map(|kind| [kind.plural(), kind.singular()]);
    keywords().chain(kinds).chain(fields())
}

/// Returns the words of the grammar, of which there is no other list: those in capitals.
fn keywords() -> impl Iterator<Item = &'static str> {
    let is_part = |c: char| c.is_ascii_alphabetic() || c == '_';
    let words = GRAMMAR.split(move |c| !is_part(c));
    words.filter(|word| word.len() > 1 && !word.contains(|c: char| c.is_ascii_lowercase()))
}

fn fields() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.name)
}

fn relations() -> impl Iterator<Item = &'static str> {
    let of_categories = CATEGORIES.iter().flat_map(|(_, relations)| *relations);
    of_categories.chain(OTHER_RELATIONS).copied()
}

fn of_word(word: &str) -> Option<Highlight> {
    if word.starts_with("sha256:") || ["true", "false"].contains(&word) {
        return Some(Highlight::Value);
    }
    if keywords().any(|keyword| keyword.eq_ignore_ascii_case(word)) {
        return Some(Highlight::Keyword);
    }
    let is_name = Kind::named(word).is_some() || fields().any(|field| field == word);
    is_name.then_some(Highlight::Name)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Comment,
    Text,
    /// A text without its end.
    OpenText,
    /// A parameter or a number.
    Value,
    Word,
    Sign,
}

/// Cuts a text into pieces; what is between them is white space.
fn pieces(text: &str) -> Vec<(Range<usize>, Piece)> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let space = rest.len() - rest.trim_start().len();
        if space > 0 {
            at += space;
            continue;
        }
        let (len, piece) = first(rest);
        pieces.push((at..at + len, piece));
        at += len;
    }
    pieces
}

/// Returns the length and the kind of the first piece of a text that is not empty.
fn first(text: &str) -> (usize, Piece) {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let part = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.find(|c| !is_part(c)).unwrap_or(rest.len())
    };
    match text.chars().next() {
        Some('-') if text.starts_with("--") => {
            (text.find('\n').unwrap_or(text.len()), Piece::Comment)
        }
        Some('"') => of_text(text),
        Some('$') => (part(1), Piece::Value),
        Some(c) if c.is_ascii_digit() => (part(0), Piece::Value),
        Some(c) if c.is_alphabetic() || c == '_' => {
            // The colon behind a label is none of its letters.
            let len = part(0);
            let word = text.get(..len).unwrap_or_default();
            (word.trim_end_matches(':').len(), Piece::Word)
        }
        Some(c) => (c.len_utf8(), Piece::Sign),
        None => (0, Piece::Sign),
    }
}

/// Returns the length of a text in quotes, and whether it has an end.
fn of_text(text: &str) -> (usize, Piece) {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return (at + 1, Piece::Text),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    (text.len(), Piece::OpenText)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> Vec<&'static str> {
        completions(text, text.len()).1
    }

    #[test]
    fn a_word_goes_on_as_a_keyword_a_type_or_a_field_in_any_case() {
        assert_eq!(completed("REC"), ["RECALL", "RECENT"]);
        assert_eq!(completed("rec"), ["recall_priority"]);
        assert_eq!(completed("recall whe"), ["WHERE"]);
        assert_eq!(completed("recall bel"), ["belief", "beliefs"]);
        assert_eq!(completed("RECALL WHERE conf"), ["confidence"]);
        assert_eq!(completed("RECALL WHERE relation IS PREF"), ["PREFERENCE"]);
        assert_eq!(
            completed("ASSEMBLE FROM a: (RECALL goa"),
            ["goal", "goal_state", "goals"]
        );
        // Words are completed where one is begun, and nothing that CAL never does.
        for text in [
            "",
            "RECALL ",
            "DEL",
            "RECALL -- bel",
            "RECALL ABOUT \"bel",
            "RECALL $bel",
        ] {
            assert_eq!(completed(text), [""; 0], "{text}");
        }
        // Only the word before the cursor counts.
        assert_eq!(
            completions("RECALL bel | COUNT", 10),
            (7, vec!["belief", "beliefs"])
        );
        assert_eq!(completions("é", 1), (1, Vec::new()));
    }

    #[test]
    fn the_text_of_a_relation_goes_on_as_one_and_no_other_text_does() {
        assert_eq!(
            completed("RECALL WHERE relation = \"mg:pref"),
            ["mg:prefers"]
        );
        assert_eq!(completed("RECALL WHERE relation IN (\"mg:sai"), ["mg:said"]);
        assert_eq!(completed("RECALL WHERE subject = \"mg:pref"), [""; 0]);
        assert_eq!(completed("RECALL WHERE relation = \"mg:prefers\""), [""; 0]);
        let text = "RECALL WHERE relation = \"mg:kn";
        assert_eq!(completions(text, text.len()), (25, vec!["mg:knows"]));
    }

    #[test]
    fn parts_are_told_apart_in_what_is_no_statement_yet() {
        let text =
            "recall goals WHERE subject = \"a \\\" b\" AND x = $y -- WHERE\n LIMIT 12 AS \"open";
        let parts: Vec<_> = highlights(text)
            .into_iter()
            .map(|(place, highlight)| (&text[place], highlight))
            .collect();
        use Highlight::{Comment, Keyword, Name, Value};
        let expected = [
            ("recall", Keyword),
            ("goals", Name),
            ("WHERE", Keyword),
            ("subject", Name),
            ("\"a \\\" b\"", Value),
            ("AND", Keyword),
            ("$y", Value),
            ("-- WHERE", Comment),
            ("LIMIT", Keyword),
            ("12", Value),
            ("AS", Keyword),
            ("\"open", Value),
        ];
        assert_eq!(parts, expected);
        assert_eq!(highlights("sha256:0a1b2c3d"), [(0..15, Value)]);
        assert_eq!(highlights("told: (")[..], []);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_cut_in_order_and_completed_at_any_place(text in "\\PC{0,40}", at in 0..60_usize) {
            let parts = highlights(&text);
            let places = parts.iter().map(|(place, _)| place.clone());
            let mut end = 0;
            for place in places {
                proptest::prop_assert!(place.start >= end && text.get(place.clone()).is_some());
                end = place.end;
            }
            let (start, _) = completions(&text, at);
            proptest::prop_assert!(start <= at);
        }
    }
}
