//! The languages that have a stemmer, and which stemmer a word gets.
//!
//! The stemmers are those of the Snowball project; no other file names their crate.

use std::fmt;
use std::str::FromStr;

use frostem::{Algorithm, Stemmer};

use crate::text::analysis::script::Script;

/// The language of a text. It selects the stemmer.
///
/// Any BCP 47 language tag is accepted. Words of a language without a stemmer are indexed
/// unstemmed.
///
/// ```
/// use grainstore::text::Language;
///
/// assert_eq!("de-AT".parse(), Ok(Language::GERMAN));
/// assert_eq!("tlh".parse(), Ok(Language::OTHER));
/// assert_eq!(Language::default(), Language::ENGLISH);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(Option<&'static str>);

impl Language {
    /// English.
    pub const ENGLISH: Self = Self(Some("en"));
    /// German.
    pub const GERMAN: Self = Self(Some("de"));
    /// Turkish.
    pub const TURKISH: Self = Self(Some("tr"));
    /// Vietnamese, which has no endings, and whose words differ by their tones.
    pub(in crate::text) const VIETNAMESE: Self = Self(Some("vi"));
    /// Another language without a stemmer.
    pub const OTHER: Self = Self(None);

    /// Returns the language code: two letters, or `und` for another language without a stemmer.
    pub const fn code(self) -> &'static str {
        match self.0 {
            Some(code) => code,
            None => "und",
        }
    }

    /// Returns the language of a text by letters that no other language has, in words that are no names:
    /// those are written in the letters of their own language anywhere.
    pub(in crate::text) fn of_letters(text: &str) -> Option<Self> {
        if text.is_ascii() {
            return None;
        }
        let words = || text.split(|letter: char| !letter.is_alphabetic());
        let no_names = || words().filter(|word| word.starts_with(char::is_lowercase));
        LETTERS.iter().find_map(|(code, letters, least)| {
            let has = |word: &&str| word.contains(letters);
            let words = no_names().filter(has).take(*least).count();
            (words == *least).then_some(Self(Some(code)))
        })
    }

    /// Returns whether the language joins nouns into compounds, as in `Krankenversicherung`.
    pub(in crate::text) const fn has_compounds(self) -> bool {
        matches!(
            self.code().as_bytes(),
            b"de" | b"nl" | b"da" | b"sv" | b"no" | b"fi"
        )
    }

    /// Returns the stemmer for a word in `script` within a text of this language.
    ///
    /// A word in another script than that of the language is stemmed in the main language of its
    /// script: a Russian name in an English text is still inflected.
    pub(in crate::text) fn stemmer(self, script: Script) -> Option<Stemmer> {
        let own = self.row().filter(|row| row.2 == script);
        // A language without a stemmer that is written in Latin script keeps its words unstemmed.
        if own.is_none() && self.is_unstemmed() && script == Script::Latin {
            return None;
        }
        let row = own.or_else(|| LANGUAGES.iter().find(|row| row.2 == script))?;
        Some(Stemmer::new(row.1))
    }

    fn is_unstemmed(self) -> bool {
        [Self::OTHER, Self::VIETNAMESE].contains(&self)
    }

    fn row(self) -> Option<&'static Row> {
        LANGUAGES.iter().find(|row| Some(row.0) == self.0)
    }
}

#[cfg(test)]
impl Language {
    /// Returns the languages with a stemmer, each with its script.
    pub(in crate::text) fn all() -> impl Iterator<Item = (Self, Script)> {
        LANGUAGES.iter().map(|row| (Self(Some(row.0)), row.2))
    }
}

impl Default for Language {
    fn default() -> Self {
        Self::ENGLISH
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Language({})", self.code())
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Language {
    type Err = std::convert::Infallible;

    fn from_str(tag: &str) -> Result<Self, Self::Err> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        // Bokmål and Nynorsk share one stemmer.
        let primary = match primary.to_ascii_lowercase().as_str() {
            "nb" | "nn" => "no".to_owned(),
            primary => primary.to_owned(),
        };
        if primary == Self::VIETNAMESE.code() {
            return Ok(Self::VIETNAMESE);
        }
        let row = LANGUAGES.iter().find(|row| row.0 == primary);
        Ok(Self(row.map(|row| row.0)))
    }
}

type Row = (&'static str, Algorithm, Script);

/// The languages with a stemmer. The first entry of a script is the language assumed for its words
/// in a text whose language uses another script.
const LANGUAGES: &[Row] = &[
    ("en", Algorithm::English, Script::Latin),
    ("ru", Algorithm::Russian, Script::Cyrillic),
    ("ar", Algorithm::Arabic, Script::Arabic),
    ("el", Algorithm::Greek, Script::Greek),
    ("ta", Algorithm::Tamil, Script::Tamil),
    ("hi", Algorithm::Hindi, Script::Devanagari),
    ("hy", Algorithm::Armenian, Script::Armenian),
    ("ca", Algorithm::Catalan, Script::Latin),
    ("cs", Algorithm::Czech, Script::Latin),
    ("da", Algorithm::Danish, Script::Latin),
    ("de", Algorithm::German, Script::Latin),
    ("es", Algorithm::Spanish, Script::Latin),
    ("et", Algorithm::Estonian, Script::Latin),
    ("eu", Algorithm::Basque, Script::Latin),
    ("fi", Algorithm::Finnish, Script::Latin),
    ("fr", Algorithm::French, Script::Latin),
    ("ga", Algorithm::Irish, Script::Latin),
    ("hu", Algorithm::Hungarian, Script::Latin),
    ("id", Algorithm::Indonesian, Script::Latin),
    ("it", Algorithm::Italian, Script::Latin),
    ("lt", Algorithm::Lithuanian, Script::Latin),
    ("ne", Algorithm::Nepali, Script::Devanagari),
    ("nl", Algorithm::Dutch, Script::Latin),
    ("no", Algorithm::Norwegian, Script::Latin),
    ("pl", Algorithm::Polish, Script::Latin),
    ("pt", Algorithm::Portuguese, Script::Latin),
    ("ro", Algorithm::Romanian, Script::Latin),
    ("sv", Algorithm::Swedish, Script::Latin),
    ("tr", Algorithm::Turkish, Script::Latin),
];

/// Letters of one language alone, and how many words with one tell it: Vietnamese dishes are named in
/// other languages too, in small letters.
const LETTERS: [(&str, IsLetter, usize); 3] = [
    ("vi", is_vietnamese, 2),
    ("ro", |letter| matches!(letter, 'ș' | 'ț'), 1),
    ("tr", |letter| matches!(letter, 'ğ' | 'ı'), 1),
];

type IsLetter = fn(char) -> bool;

/// Returns whether a small letter has a horn, or a tone above another mark.
const fn is_vietnamese(letter: char) -> bool {
    matches!(letter,
        'ơ' | 'ư'
        | '\u{1ea4}'..='\u{1eb7}'
        | '\u{1ebe}'..='\u{1ec7}'
        | '\u{1ed0}'..='\u{1ee3}'
        | '\u{1ee8}'..='\u{1ef1}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(tag: &str, script: Script, word: &str) -> Option<String> {
        let language: Language = tag.parse().unwrap_or_default();
        let stemmer = language.stemmer(script)?;
        Some(stemmer.stem(word).into_owned())
    }

    #[test]
    fn a_word_is_reduced_by_the_language_that_its_script_is_of() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(stem("en", Script::Latin, "running"), some("run"));
        assert_eq!(stem("de", Script::Latin, "häuser"), some("haus"));
        assert_eq!(stem("en", Script::Cyrillic, "книги"), some("книг"));
        assert_eq!(stem("ru", Script::Latin, "running"), some("run"));
        assert_eq!(stem("tlh", Script::Latin, "running"), None);
        assert_eq!(stem("en", Script::Other, "word"), None);
    }

    #[test]
    fn every_language_is_found_by_its_code() {
        for (code, ..) in LANGUAGES {
            assert_eq!(code.parse::<Language>().map(Language::code), Ok(*code));
        }
    }

    #[test]
    fn a_text_in_letters_of_one_language_alone_is_of_that_language() {
        for (text, code) in [
            ("Bố uống cà phê không đường.", Some("vi")),
            ("Chìa khóa ở trong ngăn kéo bếp.", Some("vi")),
            ("Sunt alergic la nuci și la pește.", Some("ro")),
            ("Dün kitaplarımı geri verdim.", Some("tr")),
            ("I met Erdoğan and Mrs Nguyễn in Łódź.", None),
            ("I ate phở with Țuică.", None),
            ("La señora García está allí.", None),
            ("plain words", None),
        ] {
            let found = Language::of_letters(text).map(Language::code);
            assert_eq!(found, code, "{text}");
        }
    }
}
