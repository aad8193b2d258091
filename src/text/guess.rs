//! The language of a text that names none: by letters that only one language has, else by a detector
//! whose answer words of that language bear out.
//!
//! The detector always answers, and short texts, code and names are of no language that it knows. No
//! other file names its crate.

use whichlang::{Lang, detect_language};

use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::query::stop_words;

/// Returns the language of texts that belong together; `None` if none is told or it is `default`.
pub(in crate::text) fn language<'t>(
    texts: impl Iterator<Item = &'t str> + Clone,
    default: Language,
) -> Option<Language> {
    let by_letters = texts.clone().find_map(Language::of_letters);
    by_letters.or_else(|| guessed(texts.max_by_key(|text| text.len())?, default))
}

fn guessed(text: &str, default: Language) -> Option<Language> {
    let end = (0..=START_LEN).rfind(|end| text.is_char_boundary(*end));
    let text = text.get(..end?.min(text.len())).unwrap_or(text);
    let is_letter = |letter: char| letter.is_alphabetic();
    let words = || text.split(|c| !is_letter(c)).filter(|it| !it.is_empty());
    words().nth(WORDS_MIN - 1)?;
    let language = named(detect_language(text)).filter(|found| *found != default)?;
    let words: Vec<String> = words()
        .map(|word| fold::lower(word, Language::OTHER))
        .collect();
    let has = |letters: &[char]| words.iter().any(|word| word.contains(letters));
    let is_borne_out = match language {
        Language::TURKISH => has(&TURKISH),
        Language::VIETNAMESE => has(&VIETNAMESE),
        _ => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let own = stop_words::of_language(&words, language);
            let others = stop_words::of_language(&words, default);
            let own = words.iter().filter(|it| own.contains(*it));
            own.filter(|it| !others.contains(*it)).count() >= STOP_WORDS_MIN
        }
    };
    is_borne_out.then_some(language)
}

/// Returns the language of an answer, if the stemmer of its script is not that of the language anyway.
fn named(found: Lang) -> Option<Language> {
    let code = match found {
        Lang::Deu => "de",
        Lang::Eng => "en",
        Lang::Fra => "fr",
        Lang::Ita => "it",
        Lang::Nld => "nl",
        Lang::Por => "pt",
        Lang::Spa => "es",
        Lang::Swe => "sv",
        Lang::Tur => "tr",
        Lang::Vie => "vi",
        Lang::Ara | Lang::Cmn | Lang::Hin | Lang::Jpn | Lang::Kor | Lang::Rus => return None,
    };
    code.parse().ok()
}

/// The beginning of a text tells its language: so many bytes.
const START_LEN: usize = 256;

/// Three words may be of any language.
const WORDS_MIN: usize = 4;

/// One word such as `la` is a word of several languages, and of names.
const STOP_WORDS_MIN: usize = 2;

/// Letters of Turkish, of which there are no stop words, that Romanian, Polish and Finnish have not.
const TURKISH: [char; 3] = ['ç', 'ş', 'ü'];

/// Letters of Vietnamese that Romanian and Turkish have not.
const VIETNAMESE: [char; 10] = ['đ', 'ê', 'ô', 'ơ', 'ư', 'ạ', 'ả', 'ế', 'ộ', 'ẹ'];

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str, default: Language) -> Option<&'static str> {
        language(std::iter::once(text), default).map(Language::code)
    }

    #[test]
    fn a_text_of_four_words_with_words_of_its_language_tells_it() {
        for (text, found) in [
            ("Mein Bruder wohnt in der Stadt und hat einen Hund.", "de"),
            ("Nous avons loué un appartement près de la plage.", "fr"),
            ("Las llaves del coche están detrás de la puerta.", "es"),
            (
                "De huisarts heeft me nieuwe tabletten voorgeschreven.",
                "nl",
            ),
            ("Annem çiçekleri her sabah suluyor.", "tr"),
            ("Má tôi sinh năm 1958.", "vi"),
            ("Sunt alergic la nuci și la pește.", "ro"),
        ] {
            assert_eq!(code(text, Language::ENGLISH), Some(found), "{text}");
        }
        let english = "I left the keys with the neighbours and they are at home.";
        assert_eq!(code(english, Language::GERMAN), Some("en"));
    }

    #[test]
    fn few_words_names_code_and_the_language_of_the_view_tell_none() {
        for text in [
            "",
            "guten Morgen zusammen",
            "Go get 'em, Jon!",
            "My passport expires in April 2027.",
            "const MAX_RETRY_COUNT = 5; parseHTTPResponse(x)",
            "Sunt alergic la nuci.",
            "Surorile mele cresc albine la marginea satului.",
            "Мы читали интересные книги о ёлках",
            "I left the keys with the neighbours and they are at home.",
        ] {
            assert_eq!(code(text, Language::ENGLISH), None, "{text}");
        }
        let german = "Mein Bruder wohnt in der Stadt und hat einen Hund.";
        assert_eq!(code(german, Language::GERMAN), None);
    }

    #[test]
    fn the_longest_text_tells_and_is_read_to_its_start() {
        let long = format!(
            "{} {}",
            "Nous avons loué un appartement. ".repeat(20),
            "ß".repeat(300)
        );
        let texts = ["likes", long.as_str(), "the tag"];
        let found = language(texts.into_iter(), Language::ENGLISH);
        assert_eq!(found.map(Language::code), Some("fr"));
        assert_eq!(code(&"ß".repeat(300), Language::ENGLISH), None);
    }
}
