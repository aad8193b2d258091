//! The writing system of a letter, as far as the analysis treats scripts differently.
//!
//! It decides which stemmer applies and whether words are separated by spaces.

/// The script that a word is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) enum Script {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Tamil,
    Devanagari,
    Armenian,
    /// Scripts that do not separate words or attach grammar to them: Han, Kana, Hangul, Thai, Lao,
    /// Khmer, Burmese. Their texts are indexed as runs of two letters, those of Thai of three.
    Unspaced,
    Other,
}

impl Script {
    /// Returns whether a letter is Thai.
    pub(in crate::text) const fn is_thai(letter: char) -> bool {
        matches!(letter, '\u{e00}'..='\u{e7f}')
    }

    /// Returns whether a letter is Korean Hangul, whose words carry particles.
    pub(in crate::text) const fn is_hangul(letter: char) -> bool {
        matches!(letter, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7ff}')
    }

    /// Returns the script of a letter.
    pub(in crate::text) const fn of(letter: char) -> Self {
        match letter {
            '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff21}'..='\u{ff5a}' => Self::Latin,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Self::Greek,
            '\u{400}'..='\u{52f}' => Self::Cyrillic,
            '\u{530}'..='\u{58f}' => Self::Armenian,
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}' => Self::Arabic,
            '\u{900}'..='\u{97f}' => Self::Devanagari,
            '\u{b80}'..='\u{bff}' => Self::Tamil,
            '\u{e00}'..='\u{eff}' // Thai, Lao
            | '\u{1000}'..='\u{109f}' // Burmese
            | '\u{1100}'..='\u{11ff}' // Hangul, letter by letter
            | '\u{1780}'..='\u{17ff}' // Khmer
            | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' // radicals, marks of repetition
            | '\u{3041}'..='\u{31ff}' // Kana, Bopomofo, compatible Hangul
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Han
            | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' // Hangul
            | '\u{f900}'..='\u{faff}' // Han
            | '\u{ff66}'..='\u{ffdc}' // half-width Kana and Hangul
            | '\u{20000}'..='\u{3ffff}' => Self::Unspaced,
            _ => Self::Other,
        }
    }
}
