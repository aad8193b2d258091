use crate::text::analysis::chunk::Part;
use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::analysis::script::Script;
use crate::text::analysis::token::{self as analysis, BEHIND, Names};
use crate::text::index::schema::Of;
use crate::text::query::ast::Word;
use crate::text::query::fuzzy::Near;

/// The names a word of a query may have in the index: what is looked up, and what tells whether a
/// token of a text is meant.
pub(in crate::text) struct Wanted {
    /// Whole names.
    pub(in crate::text) names: Vec<(Of, String)>,
    /// Beginnings of names.
    pub(in crate::text) prefixes: Vec<Prefix>,
    pub(in crate::text) near: Option<Near>,
}

/// Names that begin alike.
pub(in crate::text) struct Prefix {
    pub(in crate::text) of: Option<Of>,
    pub(in crate::text) text: String,
    /// How many letters more they have at least.
    pub(in crate::text) more: usize,
    pub(in crate::text) weight: f32,
}

impl Wanted {
    /// Returns the names of a word, in whichever of `languages` a text may be.
    pub(in crate::text) fn of(word: &Word, languages: &[Language]) -> Self {
        let mut wanted = Self {
            names: Vec::new(),
            prefixes: Vec::new(),
            near: None,
        };
        match word {
            Word::Form(part) => wanted.add_forms(part, languages),
            Word::Letters(letters) => wanted.names.push((Of::Stems, letters.clone())),
            Word::Joined(joined) => {
                wanted.names.push((Of::Also, joined.clone()));
                let part = Part {
                    written: joined.clone(),
                    script: Script::of(joined.chars().next().unwrap_or_default()),
                    range: 0..joined.len(),
                };
                for language in languages {
                    wanted.add(Of::Stems, analysis::names(&part, *language).stem);
                }
            }
            Word::Prefix(part) => wanted.prefixes.push(Prefix {
                of: None,
                text: fold::plain(&fold::lower(&part.written, Language::OTHER)),
                more: 0,
                weight: 1.0,
            }),
            Word::Near(part, distance) => {
                let plain = fold::plain(&fold::lower(&part.written, Language::OTHER));
                wanted.near = Some(Near::to(&plain, *distance));
            }
        }
        wanted
    }

    fn add_forms(&mut self, part: &Part, languages: &[Language]) {
        for language in languages {
            let Names { stem, also } = analysis::names(part, *language);
            let plain = fold::plain(&fold::lower(&part.written, *language));
            let plain_len = plain.chars().count();
            self.add(Of::Also, plain);
            self.add(Of::Also, stem.clone());
            for name in also {
                if !name.as_bytes().starts_with(&[BEHIND]) {
                    self.add(Of::Also, name);
                }
            }
            if *language == Language::GERMAN {
                self.add_umlauts(part);
            }
            if language.has_compounds() && plain_len >= COMPOUND_PART_LEN_MIN {
                self.add_compounds(&stem);
            }
            self.add(Of::Stems, stem);
        }
    }

    /// Adds the other spelling of umlauts: Müller is Mueller, and neither is Muller.
    fn add_umlauts(&mut self, part: &Part) {
        let lower = fold::lower(&part.written, Language::GERMAN);
        let pairs = [("ä", "ae"), ("ö", "oe"), ("ü", "ue")];
        let long = pairs.iter().fold(lower.clone(), |word, (umlaut, letters)| {
            word.replace(umlaut, letters)
        });
        let short = pairs.iter().fold(lower.clone(), |word, (umlaut, letters)| {
            word.replace(letters, umlaut)
        });
        for written in [long, short] {
            if written != lower {
                let part = Part {
                    written,
                    ..part.clone()
                };
                let names = analysis::names(&part, Language::GERMAN);
                self.add(Of::Stems, names.stem);
            }
        }
    }

    /// Adds the compounds that end or begin with a stem.
    fn add_compounds(&mut self, stem: &str) {
        self.prefixes.push(Prefix {
            of: Some(Of::Also),
            text: analysis::from_behind(stem),
            more: COMPOUND_MORE_MIN,
            weight: COMPOUND_WEIGHT,
        });
        self.prefixes.push(Prefix {
            of: Some(Of::Stems),
            text: stem.to_owned(),
            more: COMPOUND_MORE_MIN,
            weight: COMPOUND_WEIGHT,
        });
    }

    fn add(&mut self, of: Of, name: String) {
        if !self.names.contains(&(of, name.clone())) {
            self.names.push((of, name));
        }
    }

    /// Returns whether a token with these names is meant.
    pub(in crate::text) fn fits(&self, names: &Names) -> bool {
        self.fits_name(Of::Stems, &names.stem)
            || names.also.iter().any(|name| self.fits_name(Of::Also, name))
    }

    fn fits_name(&self, of: Of, name: &str) -> bool {
        let is_named = self
            .names
            .iter()
            .any(|(its, wanted)| *its == of && wanted == name);
        let begins = || {
            self.prefixes
                .iter()
                .any(|prefix| prefix.of.is_none_or(|its| its == of) && prefix.fits(name))
        };
        let is_near = || {
            let near = self.near.as_ref();
            near.is_some_and(|near| near.distance(name.as_bytes()).is_some())
        };
        is_named || begins() || is_near()
    }
}

impl Prefix {
    /// Returns whether a name is meant.
    pub(in crate::text) fn fits(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&self.text);
        rest.is_some_and(|rest| rest.chars().count() >= self.more)
    }
}

/// A shorter word begins or ends too many others by chance.
const COMPOUND_PART_LEN_MIN: usize = 4;

/// What is less than this longer is another form of the word, not a compound.
const COMPOUND_MORE_MIN: usize = 3;

/// How much a compound counts beside the word itself.
const COMPOUND_WEIGHT: f32 = 0.5;
