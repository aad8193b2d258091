//! Folding: maps spellings of one word to one form (case, accents, character widths, letter
//! variants).
//!
//! It does not remove endings; that is the stemmer's task in `language.rs`.

use crate::codec::{nfd, nfkc};

use crate::text::analysis::language::Language;

/// Returns a word in lower case, by the rules of its language, without compatibility forms.
pub(in crate::text) fn lower(word: &str, language: Language) -> String {
    if word.is_ascii() && language != Language::TURKISH {
        return word.to_ascii_lowercase();
    }
    let word = nfkc(word);
    let word: String = word.chars().filter_map(digit_or_letter).collect();
    if language == Language::TURKISH {
        // The dotless i is a letter of its own in Turkish: `I` is not a capital `i`.
        return word.replace('I', "ı").replace('İ', "i").to_lowercase();
    }
    word.to_lowercase().replace("i\u{307}", "i")
}

/// Returns a lower-case word without accents and with one form of each letter.
pub(in crate::text) fn plain(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut plain = String::with_capacity(word.len());
    for letter in word.chars() {
        if loses_accents(letter) {
            let parts = nfd(letter);
            parts.for_each(|part| push_plain(part, &mut plain));
        } else {
            push_plain(letter, &mut plain);
        }
    }
    plain
}

/// Returns a lower-case word of Vietnamese with its tone behind it: over which letter of two it stands
/// is spelling (`hoà` is `hòa`).
pub(in crate::text) fn with_tone(word: &str) -> String {
    let (mut letters, mut tones) = (String::with_capacity(word.len()), String::new());
    for part in word.chars().flat_map(nfd) {
        let of = if TONES.contains(&part) {
            &mut tones
        } else {
            &mut letters
        };
        of.push(part);
    }
    letters + &tones
}

/// Grave, acute, tilde, hook above and dot below.
const TONES: [char; 5] = ['\u{300}', '\u{301}', '\u{303}', '\u{309}', '\u{323}'];

/// Returns whether a combining mark changes the pronunciation of a letter but not its identity.
///
/// The marks of other scripts are vowels or form another letter.
pub(in crate::text) const fn is_accent(mark: char) -> bool {
    matches!(mark,
        '\u{300}'..='\u{36f}' // Latin, Greek, Cyrillic
        | '\u{591}'..='\u{5c7}' // Hebrew points
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' // Arabic vowels
        | '\u{6d6}'..='\u{6ed}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

/// Returns whether a character is left out of a word: an accent, or the tatweel, which only
/// stretches the line.
pub(in crate::text) const fn is_silent(letter: char) -> bool {
    is_accent(letter) || letter == 'ـ'
}

const fn loses_accents(letter: char) -> bool {
    // The short i of Cyrillic is a letter, not an i with an accent.
    !matches!(letter, 'й') && matches!(letter, '\0'..='\u{6ff}' | '\u{1e00}'..='\u{1fff}')
}

fn push_plain(letter: char, plain: &mut String) {
    match letter {
        'ß' => plain.push_str("ss"),
        'æ' => plain.push_str("ae"),
        'œ' => plain.push_str("oe"),
        'þ' => plain.push_str("th"),
        'ø' => plain.push('o'),
        'ł' => plain.push('l'),
        'đ' | 'ð' => plain.push('d'),
        'ı' => plain.push('i'),
        'ς' => plain.push('σ'),
        'ى' | 'ی' => plain.push('ي'),
        'ک' => plain.push('ك'),
        'ة' => plain.push('ه'),
        letter if is_silent(letter) => {}
        letter => plain.push(letter),
    }
}

/// Returns the character; for a digit of another script, the ASCII digit.
fn digit_or_letter(c: char) -> Option<char> {
    let zero = DIGITS.iter().find(|zero| {
        let from = u32::from(**zero);
        (from..from + 10).contains(&u32::from(c))
    });
    match zero {
        Some(zero) => char::from_digit(u32::from(c) - u32::from(*zero), 10),
        None => Some(c),
    }
}

/// The digit zero of each script that has ten consecutive digits.
const DIGITS: &[char] = &[
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{be6}', '\u{e50}',
];

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(word: &str, language: Language) -> String {
        plain(&lower(word, language))
    }

    #[test]
    fn case_accents_and_forms_do_not_make_another_word() {
        for (word, expected) in [
            ("Café", "cafe"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("Łódź", "lodz"),
            ("Smørrebrød", "smorrebrod"),
            ("ＡＢＣ１２", "abc12"),
            ("ﬁne", "fine"),
            ("٢٠٢٣", "2023"),
            ("أحمد", "احمد"),
            ("مُحَمَّد", "محمد"),
            ("ёлка", "елка"),
            ("мой", "мой"),
            ("Ὀδυσσεύς", "οδυσσευσ"),
            ("한국어", "한국어"),
            ("が", "が"),
            ("İstanbul", "istanbul"),
            ("ISTANBUL", "istanbul"),
        ] {
            assert_eq!(folded(word, Language::ENGLISH), expected, "{word}");
        }
        assert_eq!(lower("ISPARTA İzmir", Language::TURKISH), "ısparta izmir");
        assert_eq!(folded("ISPARTA", Language::TURKISH), "isparta");
    }

    #[test]
    fn words_of_vietnamese_differ_by_their_tones_and_not_by_where_they_stand() {
        let toned = |word: &str| with_tone(&lower(word, Language::VIETNAMESE));
        assert_eq!(toned("Hoà"), toned("hòa"));
        assert_eq!(toned("thuỷ"), toned("THỦY"));
        for (one, other) in [
            ("ma", "má"),
            ("mà", "má"),
            ("bơ", "bo"),
            ("bờ", "bơ"),
            ("đa", "da"),
        ] {
            assert_ne!(toned(one), toned(other));
        }
    }
}
