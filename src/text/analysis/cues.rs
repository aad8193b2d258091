//! Cues: words that say a time or a number, and the months, in the languages that have a table.
//!
//! Documents are marked by them and questions are read by them, so that both use the same words.
//! A language without a table has digits only.

use std::sync::LazyLock;

use crate::text::analysis::language::Language;

/// A word that says a number.
pub(in crate::text) const NUMBER: u8 = 1;

/// A word that says a time.
pub(in crate::text) const TIME: u8 = 2;

/// The words of a language; all are folded.
struct Cues {
    language: &'static str,
    /// From January to December, each with its abbreviations.
    months: [&'static [&'static str]; 12],
    times: &'static [&'static str],
    numbers: &'static [&'static str],
    when: &'static [&'static str],
    how_many: &'static [&'static [&'static str]],
}

/// Returns which cues a folded word is in a text of a language, as bits.
pub(in crate::text) fn cues_of(word: &str, language: Language) -> u8 {
    let bytes = word.as_bytes();
    if bytes.iter().any(u8::is_ascii_digit) {
        let is_year = matches!(bytes, [b'1', b'9', _, _] | [b'2', b'0', _, _])
            && bytes.iter().all(u8::is_ascii_digit);
        return if is_year { NUMBER | TIME } else { NUMBER };
    }
    let mut tables = SORTED.iter();
    let table = tables.find(|(of, _)| *of == language.code());
    let words = table.map_or(&[][..], |(_, words)| words);
    let found = words.binary_search_by_key(&word, |(of, _)| *of);
    let found = found.ok().and_then(|at| words.get(at));
    found.map_or(0, |(_, cues)| *cues)
}

/// Words in order with the cues that each is.
type CuedWords = Vec<(&'static str, u8)>;

/// The language of each table with its words in order and the cues that each is: every new word of a
/// text is looked up.
static SORTED: LazyLock<Vec<(&str, CuedWords)>> = LazyLock::new(|| {
    let sorted = |cues: &Cues| {
        let months = cues.months.iter().copied().flatten();
        let times = cues.times.iter().chain(months);
        let mut words: CuedWords = times.map(|word| (*word, TIME)).collect();
        words.extend(cues.numbers.iter().map(|word| (*word, NUMBER)));
        words.sort_unstable();
        words.dedup_by(|(word, cues), (kept, all)| {
            *all |= if word == kept { *cues } else { 0 };
            word == kept
        });
        (cues.language, words)
    };
    TABLE.iter().map(sorted).collect()
});

/// Returns the month, from 1 to 12, that a folded word names in any language.
pub(in crate::text) fn month(word: &str) -> Option<i8> {
    TABLE.iter().find_map(|cues| {
        let place = cues.months.iter().position(|of| of.contains(&word))?;
        i8::try_from(place + 1).ok()
    })
}

/// Returns whether a month's name is a frequent word as well.
pub(in crate::text) fn is_ambiguous_month(word: &str) -> bool {
    matches!(
        word,
        "may" | "march" | "mar" | "mars" | "dec" | "set" | "sept" | "out" | "ago"
    )
}

/// Returns which cues a question asks for, by its first folded words: a time by "when", a number
/// by "how many".
pub(in crate::text) fn asked_cues(words: &[String]) -> u8 {
    let begins = |with: &[&str]| {
        // "And when", "In wie vielen": one word may stand before.
        (0..=1).any(|skipped| {
            let rest = words.get(skipped..).unwrap_or_default();
            rest.len() >= with.len() && rest.iter().zip(with).all(|(word, its)| word == its)
        })
    };
    let mut cues = 0;
    for language in TABLE {
        if language.when.iter().any(|word| begins(&[word])) {
            cues |= TIME;
        }
        if language.how_many.iter().any(|words| begins(words)) {
            cues |= NUMBER;
        }
    }
    cues
}

#[rustfmt::skip]
const TABLE: &[Cues] = &[
    Cues {
        language: "en",
        months: [
            &["january", "jan"], &["february", "feb"], &["march", "mar"], &["april", "apr"], &["may"],
            &["june", "jun"], &["july", "jul"], &["august", "aug"], &["september", "sep", "sept"],
            &["october", "oct"], &["november", "nov"], &["december", "dec"],
        ],
        times: &[
            "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today",
            "tonight", "tomorrow", "yesterday", "week", "weeks", "weekend", "weekends", "month",
            "months", "year", "years", "ago", "last", "next", "recently", "morning", "evening",
            "spring", "summer", "autumn", "winter", "birthday", "anniversary", "christmas", "easter",
            "am", "pm",
        ],
        numbers: &[
            "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
            "twelve", "twenty", "thirty", "fifty", "hundred", "thousand", "million", "dozen", "once",
            "twice", "couple", "few", "several", "first", "second", "third",
        ],
        when: &["when"],
        how_many: &[&["how", "many"], &["how", "much"], &["how", "often"], &["how", "old"]],
    },
    Cues {
        language: "de",
        months: [
            &["januar", "janner", "jan"], &["februar", "feb"], &["marz"], &["april", "apr"], &["mai"],
            &["juni"], &["juli"], &["august", "aug"], &["september", "sept"], &["oktober", "okt"],
            &["november", "nov"], &["dezember", "dez"],
        ],
        times: &[
            "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "heute",
            "gestern", "morgen", "vorgestern", "ubermorgen", "woche", "wochen", "wochenende", "monat",
            "monate", "monaten", "jahr", "jahre", "jahren", "letzte", "letzten", "letztes", "nachste",
            "nachsten", "nachstes", "fruhling", "sommer", "herbst", "winter", "geburtstag",
            "weihnachten", "ostern", "uhr",
        ],
        numbers: &[
            "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwolf",
            "zwanzig", "dreissig", "funfzig", "hundert", "tausend", "million", "dutzend", "einmal",
            "zweimal", "dreimal", "paar",
        ],
        when: &["wann"],
        how_many: &[&["wie", "viel"], &["wie", "viele"], &["wie", "vielen"], &["wieviel"],
            &["wieviele"], &["wie", "oft"], &["wie", "alt"]],
    },
    Cues {
        language: "fr",
        months: [
            &["janvier"], &["fevrier"], &["mars"], &["avril"], &["mai"], &["juin"], &["juillet"],
            &["aout"], &["septembre"], &["octobre"], &["novembre"], &["decembre"],
        ],
        times: &[
            "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "aujourd",
            "hier", "demain", "semaine", "semaines", "mois", "an", "ans", "annee", "annees",
            "dernier", "derniere", "prochain", "prochaine", "printemps", "ete", "automne", "hiver",
            "anniversaire", "noel", "paques", "heures",
        ],
        numbers: &[
            "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze",
            "vingt", "trente", "cinquante", "cent", "mille", "million", "douzaine",
        ],
        when: &["quand"],
        how_many: &[&["combien"]],
    },
    Cues {
        language: "es",
        months: [
            &["enero"], &["febrero"], &["marzo"], &["abril"], &["mayo"], &["junio"], &["julio"],
            &["agosto"], &["septiembre", "setiembre"], &["octubre"], &["noviembre"], &["diciembre"],
        ],
        times: &[
            "lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo", "hoy", "ayer",
            "manana", "semana", "semanas", "mes", "meses", "ano", "anos", "pasado", "pasada",
            "proximo", "proxima", "primavera", "verano", "otono", "invierno", "cumpleanos", "navidad",
        ],
        numbers: &[
            "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once",
            "doce", "veinte", "treinta", "cincuenta", "cien", "mil", "millon", "docena",
        ],
        when: &["cuando"],
        how_many: &[&["cuantos"], &["cuantas"], &["cuanto"], &["cuanta"]],
    },
    Cues {
        language: "it",
        months: [
            &["gennaio"], &["febbraio"], &["marzo"], &["aprile"], &["maggio"], &["giugno"],
            &["luglio"], &["agosto"], &["settembre"], &["ottobre"], &["novembre"], &["dicembre"],
        ],
        times: &[
            "lunedi", "martedi", "mercoledi", "giovedi", "venerdi", "sabato", "domenica", "oggi",
            "ieri", "domani", "settimana", "settimane", "mese", "mesi", "anno", "anni", "scorso",
            "scorsa", "prossimo", "prossima", "primavera", "estate", "autunno", "inverno",
            "compleanno", "natale",
        ],
        numbers: &[
            "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci", "undici",
            "dodici", "venti", "trenta", "cinquanta", "cento", "mille", "milione",
        ],
        when: &["quando"],
        how_many: &[&["quanti"], &["quante"], &["quanto"], &["quanta"]],
    },
    Cues {
        language: "pt",
        months: [
            &["janeiro"], &["fevereiro"], &["marco"], &["abril"], &["maio"], &["junho"], &["julho"],
            &["agosto"], &["setembro"], &["outubro"], &["novembro"], &["dezembro"],
        ],
        times: &[
            "segunda", "terca", "quarta", "quinta", "sexta", "sabado", "domingo", "hoje", "ontem",
            "amanha", "semana", "semanas", "mes", "meses", "ano", "anos", "passado", "passada",
            "proximo", "proxima", "primavera", "verao", "outono", "inverno", "aniversario", "natal",
        ],
        numbers: &[
            "dois", "duas", "tres", "quatro", "cinco", "seis", "sete", "oito", "nove", "dez", "onze",
            "doze", "vinte", "trinta", "cinquenta", "cem", "mil", "milhao",
        ],
        when: &["quando"],
        how_many: &[&["quantos"], &["quantas"], &["quanto"], &["quanta"]],
    },
    Cues {
        language: "nl",
        months: [
            &["januari"], &["februari"], &["maart"], &["april"], &["mei"], &["juni"], &["juli"],
            &["augustus"], &["september"], &["oktober"], &["november"], &["december"],
        ],
        times: &[
            "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag", "vandaag",
            "gisteren", "morgen", "week", "weken", "weekend", "maand", "maanden", "jaar", "jaren",
            "geleden", "vorige", "volgende", "lente", "zomer", "herfst", "winter", "verjaardag",
            "kerstmis",
        ],
        numbers: &[
            "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen", "tien", "elf", "twaalf",
            "twintig", "dertig", "vijftig", "honderd", "duizend", "miljoen", "dozijn",
        ],
        when: &["wanneer"],
        how_many: &[&["hoeveel"], &["hoe", "veel"], &["hoe", "vaak"], &["hoe", "oud"]],
    },
    Cues {
        language: "ru",
        months: [
            &["январь", "января", "январе"], &["февраль", "февраля", "феврале"],
            &["март", "марта", "марте"], &["апрель", "апреля", "апреле"], &["май", "мая", "мае"],
            &["июнь", "июня", "июне"], &["июль", "июля", "июле"], &["август", "августа", "августе"],
            &["сентябрь", "сентября", "сентябре"], &["октябрь", "октября", "октябре"],
            &["ноябрь", "ноября", "ноябре"], &["декабрь", "декабря", "декабре"],
        ],
        times: &[
            "понедельник", "вторник", "среду", "четверг", "пятницу", "субботу", "воскресенье",
            "сегодня", "вчера", "завтра", "неделю", "неделе", "недели", "месяц", "месяце", "год",
            "году", "года", "лет", "назад", "прошлой", "прошлом", "следующей", "следующем", "весной",
            "летом", "осенью", "зимой", "рождения",
        ],
        numbers: &[
            "два", "две", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять", "десять",
            "двадцать", "тридцать", "сто", "тысяча", "тысячи", "миллион",
        ],
        when: &["когда"],
        how_many: &[&["сколько"]],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_numbers_are_known_by_their_words_and_digits() {
        let german = Language::GERMAN;
        assert_eq!(cues_of("yesterday", Language::ENGLISH), TIME);
        assert_eq!(cues_of("gestern", german), TIME);
        assert_eq!(cues_of("yesterday", german), 0);
        assert_eq!(cues_of("2023", Language::OTHER), NUMBER | TIME);
        assert_eq!(cues_of("7th", german), NUMBER);
        assert_eq!(month("mayo"), Some(5));
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(asked_cues(&words("when did it")), TIME);
        assert_eq!(asked_cues(&words("and how many were")), NUMBER);
        assert_eq!(asked_cues(&words("tell me about when")), 0);
    }

    #[test]
    fn every_word_of_a_table_is_the_cues_that_its_lists_say() {
        for cues in TABLE {
            let language: Language = cues.language.parse().unwrap();
            let months = cues.months.iter().copied().flatten();
            for word in cues.times.iter().chain(cues.numbers).chain(months.clone()) {
                let is_time = cues.times.contains(word) || months.clone().any(|of| of == word);
                let is_number = cues.numbers.contains(word);
                let expected = (u8::from(is_time) * TIME) | (u8::from(is_number) * NUMBER);
                assert_eq!(cues_of(word, language), expected, "{word}");
            }
        }
    }
}
