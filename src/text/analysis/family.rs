//! Word families: the derivations and irregular forms that a stemmer keeps apart, such as
//! `allergic` and `allergy`, `decide` and `decision`, `bought` and `buy`.
//!
//! A family is loose. A search uses it only for a word that no text has.

use crate::text::analysis::language::Language;

/// A word family: stems that begin with one of the roots and end as a derivation does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::text) struct Family {
    /// Each is at least [`ROOT_LEN_MIN`] letters long.
    pub(in crate::text) roots: Vec<String>,
    suffixes: &'static [&'static str],
    /// Irregular forms, as words.
    pub(in crate::text) forms: &'static [&'static str],
}

impl Family {
    /// Returns the family of a folded word with its stem.
    pub(in crate::text) fn of(word: &str, stem: &str, language: Language) -> Self {
        let suffixes = SUFFIXES.iter().find(|(code, _)| *code == language.code());
        let suffixes = suffixes.map_or(&[] as &[&str], |(_, suffixes)| *suffixes);
        let forms = IRREGULAR
            .iter()
            .find(|(code, forms)| *code == language.code() && forms.contains(&word));
        let has_letters = stem.chars().all(char::is_alphabetic);
        let mut roots: Vec<String> = Vec::new();
        if has_letters && !suffixes.is_empty() {
            let root = suffixes
                .iter()
                .filter_map(|suffix| stem.strip_suffix(suffix))
                .filter(|root| root.chars().count() >= ROOT_LEN_MIN)
                .min_by_key(|root| root.len());
            if let Some(root) =
                root.or_else(|| (stem.chars().count() >= ROOT_LEN_MIN).then_some(stem))
            {
                let ends = ALTERNATIONS
                    .iter()
                    .filter(|_| language == Language::ENGLISH);
                let others = ends.filter_map(|(end, other)| {
                    let root = root.strip_suffix(end)?;
                    Some(format!("{root}{other}"))
                });
                roots.extend(others.filter(|root| root.chars().count() >= ROOT_LEN_MIN));
                roots.insert(0, root.to_owned());
            }
        }
        Self {
            roots,
            suffixes,
            forms: forms.map_or(&[], |(_, forms)| forms),
        }
    }

    /// Returns whether a stem that begins with a root belongs to the family.
    pub(in crate::text) fn has(&self, stem: &str, root: &str) -> bool {
        let rest = stem.strip_prefix(root);
        rest.is_some_and(|rest| rest.is_empty() || self.suffixes.contains(&rest))
    }
}

/// A shorter root begins too many unrelated words.
const ROOT_LEN_MIN: usize = 4;

/// The endings of derivations that a stemmer leaves, longest or not.
#[rustfmt::skip]
const SUFFIXES: &[(&str, &[&str])] = &[
    ("en", &[
        "i", "y", "e", "ic", "al", "ical", "er", "or", "ar", "ist", "ism", "ment", "ness", "ion",
        "ation", "ition", "ian", "ari", "arian", "an", "ag", "age", "anc", "ance", "enc", "ence",
        "ent", "ant", "iv", "ive", "at", "ate", "ativ", "abl", "able", "ibl", "ous", "ful", "less",
        "th", "ship", "hood", "ee", "ity", "iti", "ur", "ure", "el", "fi", "iz", "ize", "ish",
    ]),
    ("de", &[
        "i", "ie", "e", "er", "ler", "in", "ung", "heit", "keit", "ig", "isch", "lich", "bar", "los",
        "schaft", "tum", "ion", "ation", "or", "ist", "ismus", "end", "nis", "chen", "lein",
    ]),
    ("nl", &[
        "i", "ie", "e", "er", "ster", "in", "ing", "heid", "ig", "isch", "lijk", "baar", "loos",
        "schap", "dom", "ion", "atie", "or", "ist", "je", "tje",
    ]),
    ("fr", &[
        "i", "e", "iqu", "ist", "ism", "eur", "ment", "tion", "ation", "ier", "er", "age", "anc",
        "enc", "ant", "ent", "al", "el", "if", "iv", "eux", "abl", "ibl",
    ]),
    ("es", &[
        "i", "e", "o", "a", "ic", "ist", "ism", "or", "dor", "mient", "cion", "acion", "er", "anz",
        "anci", "enci", "al", "iv", "os", "abl", "ibl",
    ]),
    ("it", &[
        "i", "e", "o", "a", "ic", "ist", "ism", "or", "tor", "ment", "zion", "azion", "er", "anz",
        "enz", "al", "iv", "os", "abil", "ibil",
    ]),
    ("pt", &[
        "i", "e", "o", "a", "ic", "ist", "ism", "or", "dor", "ment", "ca", "acao", "er", "anc",
        "enci", "al", "iv", "os", "avel", "ivel",
    ]),
];

/// The ends of English roots that alternate: decide and decision, permit and permission, prove and
/// proof, describe and description, receive and reception.
const ALTERNATIONS: &[(&str, &str)] = &[
    ("d", "s"),
    ("s", "d"),
    ("t", "s"),
    ("v", "f"),
    ("f", "v"),
    ("b", "pt"),
    ("pt", "b"),
    ("eiv", "ept"),
    ("ept", "eiv"),
    ("c", "t"),
    ("t", "c"),
];

/// The forms of irregular words, and their nouns.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &[&str])] = &[
    ("en", &["born", "birth", "birthday", "birthdays"]),
    ("en", &["break", "broke", "broken"]),
    ("en", &["bring", "brought"]),
    ("en", &["build", "built", "builder"]),
    ("en", &["buy", "buys", "buying", "bought", "buyer"]),
    ("en", &["catch", "caught"]),
    ("en", &["child", "children", "kid", "kids"]),
    ("en", &["choose", "chose", "chosen", "choice", "choices"]),
    ("en", &["die", "died", "dead", "death", "dying"]),
    ("en", &["drink", "drinks", "drinking", "drank", "drunk"]),
    ("en", &["drive", "drives", "driving", "drove", "driven", "driver"]),
    ("en", &["eat", "eats", "eating", "ate", "eaten"]),
    ("en", &["feel", "felt", "feeling"]),
    ("en", &["find", "found"]),
    ("en", &["fly", "flies", "flying", "flew", "flown", "flight", "flights"]),
    ("en", &["foot", "feet"]),
    ("en", &["forget", "forgot", "forgotten"]),
    ("en", &["give", "gave", "given", "gift", "gifts"]),
    ("en", &["go", "goes", "going", "went", "gone"]),
    ("en", &["grow", "grew", "grown", "growth"]),
    ("en", &["hear", "heard"]),
    ("en", &["high", "height"]),
    ("en", &["hold", "held"]),
    ("en", &["husband", "wife", "spouse", "married"]),
    ("en", &["keep", "kept"]),
    ("en", &["knife", "knives"]),
    ("en", &["leave", "leaves", "leaving", "left"]),
    ("en", &["life", "lives", "live", "living"]),
    ("en", &["long", "length"]),
    ("en", &["lose", "lost", "loss"]),
    ("en", &["make", "makes", "making", "made"]),
    ("en", &["man", "men"]),
    ("en", &["meet", "meets", "meeting", "met"]),
    ("en", &["mouse", "mice"]),
    ("en", &["pay", "pays", "paid", "payment"]),
    ("en", &["person", "people"]),
    ("en", &["ride", "rides", "riding", "rode", "ridden"]),
    ("en", &["run", "runs", "running", "ran", "runner", "runners"]),
    ("en", &["sell", "sells", "selling", "sold", "sale"]),
    ("en", &["send", "sent"]),
    ("en", &["sing", "sings", "singing", "sang", "sung", "song", "singer"]),
    ("en", &["sleep", "sleeps", "sleeping", "slept", "asleep"]),
    ("en", &["speak", "speaks", "speaking", "spoke", "spoken", "speech", "speaker"]),
    ("en", &["spend", "spent"]),
    ("en", &["swim", "swims", "swimming", "swam", "swum", "swimmer"]),
    ("en", &["teach", "teaches", "teaching", "taught", "teacher"]),
    ("en", &["think", "thought", "thoughts"]),
    ("en", &["tooth", "teeth", "dentist", "dental"]),
    ("en", &["wear", "wears", "wearing", "wore", "worn"]),
    ("en", &["weigh", "weight"]),
    ("en", &["win", "wins", "winning", "won", "winner"]),
    ("en", &["wife", "wives"]),
    ("en", &["woman", "women"]),
    ("en", &["write", "writes", "writing", "wrote", "written", "writer"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analysis::token;

    fn are_related(word: &str, other: &str, code: &str) -> bool {
        let language: Language = code.parse().unwrap();
        let stem = |word: &str| token::tokens(word, language)[0].terms.stem.clone();
        let family = Family::of(word, &stem(word), language);
        let other_stem = stem(other);
        family.forms.contains(&other)
            || family
                .roots
                .iter()
                .any(|root| family.has(&other_stem, root))
    }

    #[test]
    fn derivations_and_irregular_forms_are_one_family() {
        for (word, other, language) in [
            ("allergies", "allergic", "en"),
            ("allergic", "allergy", "en"),
            ("decide", "decision", "en"),
            ("decision", "decided", "en"),
            ("vegetarian", "vegetables", "en"),
            ("marriage", "married", "en"),
            ("employer", "employed", "en"),
            ("painter", "painting", "en"),
            ("description", "describe", "en"),
            ("bought", "buy", "en"),
            ("allergisch", "allergie", "de"),
            ("freundschaft", "freundlich", "de"),
            ("allergisch", "allergie", "nl"),
            ("alergico", "alergia", "es"),
        ] {
            assert!(are_related(word, other, language), "{word} {other}");
        }
        for (word, other, language) in [
            ("tea", "team", "en"),
            ("cat", "category", "en"),
            ("allergic", "allegory", "en"),
            ("word12", "word12er", "en"),
            ("allergies", "allergic", "tlh"),
        ] {
            assert!(!are_related(word, other, language), "{word} {other}");
        }
    }
}
