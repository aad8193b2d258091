use crate::text::analysis::language::Language;
use crate::text::index::schema::{Fields, Of};
use crate::text::index::segment_reader::Segment;
use crate::text::query::ast::{Leaf, Node, Role, Word};
use crate::text::query::fuzzy::{Expansion, Pattern};
use crate::text::query::stop_words as stop;
use crate::text::query::term_expansion::Wanted;

/// A query as the segments can answer it: each word with its names in the index, each leaf with
/// what it is worth.
pub(in crate::text) struct Plan {
    pub(in crate::text) root: Vec<(Role, Step)>,
    pub(in crate::text) leaves: Vec<Planned>,
    /// The mean length of a document in words.
    pub(in crate::text) len_mean: f64,
}

/// A clause: a leaf by its number, or a group.
pub(in crate::text) enum Step {
    Leaf(usize),
    Group(Vec<(Role, Self)>),
}

/// A word, or several that must stand together.
#[derive(Debug, PartialEq)]
pub(in crate::text) struct Planned {
    /// Each with its distance from the first and the names it may have.
    pub(in crate::text) words: Vec<(u32, Vec<Name>)>,
    pub(in crate::text) field: Option<u32>,
    /// The inverse document frequency times the boost.
    pub(in crate::text) worth: f64,
    /// Whether it is looked for, rather than ruled out.
    pub(in crate::text) is_wanted: bool,
}

/// A name in the index and how much an occurrence of it counts.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) struct Name {
    pub(in crate::text) of: Of,
    pub(in crate::text) text: String,
    pub(in crate::text) weight: f32,
}

/// Makes a plan from a query.
struct Planner<'a> {
    segments: &'a [Segment<'a>],
    languages: Vec<Language>,
    documents: u64,
    leaves: Vec<Planned>,
}

impl Plan {
    /// Plans a query over segments.
    ///
    /// The statistics are those of all segments together, so a document scores the same whichever
    /// segment holds it.
    pub(in crate::text) fn of(
        clauses: &[(Role, Node)],
        fields: &Fields,
        keeps_stop_words: bool,
        segments: &[Segment<'_>],
    ) -> tantivy::Result<Self> {
        let documents = segments
            .iter()
            .map(|segment| u64::from(segment.len()))
            .sum();
        let words: u64 = segments.iter().map(Segment::len_words).sum();
        let mut planner = Planner {
            segments,
            languages: languages(fields.language, segments)?,
            documents,
            leaves: Vec::new(),
        };
        let kept = stop::kept(clauses, fields.language, keeps_stop_words);
        let root = planner.steps(kept, true)?;
        Ok(Self {
            root,
            leaves: planner.leaves,
            len_mean: as_f64(words) / as_f64(documents.max(1)),
        })
    }
}

/// Returns the language of the view and those that documents name.
pub(in crate::text) fn languages(
    default: Language,
    segments: &[Segment<'_>],
) -> tantivy::Result<Vec<Language>> {
    let mut codes = Vec::new();
    for segment in segments {
        segment.languages(&mut codes)?;
    }
    codes.sort_unstable();
    codes.dedup();
    let named = codes
        .iter()
        .filter_map(|code| code.parse::<Language>().ok());
    let mut languages = vec![default];
    languages.extend(named.filter(|language| *language != default));
    Ok(languages)
}

impl Planner<'_> {
    fn steps<'n>(
        &mut self,
        clauses: impl Iterator<Item = &'n (Role, Node)>,
        is_wanted: bool,
    ) -> tantivy::Result<Vec<(Role, Step)>> {
        let mut steps: Vec<(Role, Step)> = Vec::new();
        for (role, node) in clauses {
            let is_wanted = is_wanted && *role != Role::MustNot;
            let step = match node {
                Node::Group(clauses) => Step::Group(self.steps(clauses.iter(), is_wanted)?),
                Node::Leaf(leaf) => {
                    let planned = self.leaf(leaf, is_wanted)?;
                    let is_repeated = steps.iter().any(|(other, step)| {
                        let Step::Leaf(number) = step else {
                            return false;
                        };
                        other == role && self.leaves.get(*number) == Some(&planned)
                    });
                    // A word that is said twice counts once.
                    if is_repeated {
                        continue;
                    }
                    self.leaves.push(planned);
                    Step::Leaf(self.leaves.len() - 1)
                }
            };
            steps.push((*role, step));
        }
        Ok(steps)
    }

    fn leaf(&mut self, leaf: &Leaf, is_wanted: bool) -> tantivy::Result<Planned> {
        let mut words = Vec::new();
        let mut idf = 0.0;
        for (offset, word) in &leaf.words {
            let names = self.names(word)?;
            if is_wanted {
                idf += self.idf(&names)?;
            }
            words.push((*offset, names));
        }
        Ok(Planned {
            words,
            field: leaf.field,
            worth: idf * f64::from(leaf.boost),
            is_wanted,
        })
    }

    /// Returns the names that a word has in the index.
    fn names(&self, word: &Word) -> tantivy::Result<Vec<Name>> {
        let wanted = Wanted::of(word, &self.languages);
        let mut names = Vec::new();
        let mut add = |of, text: String, weight| {
            if !names
                .iter()
                .any(|name: &Name| name.of == of && name.text == text)
            {
                names.push(Name { of, text, weight });
            }
        };
        for (of, text) in wanted.names {
            add(of, text, 1.0);
        }
        for prefix in wanted.prefixes {
            let expansion = Expansion::new(Pattern::Prefix(prefix.text.clone()));
            for (of, text, _) in self.expand(expansion, prefix.of)? {
                if prefix.fits(&text) {
                    add(of, text, prefix.weight);
                }
            }
        }
        if let Some(near) = wanted.near {
            let expansion = Expansion::new(Pattern::Near(near));
            for (of, text, distance) in self.expand(expansion, None)? {
                add(of, text, 1.0 / f32::from(distance + 1));
            }
        }
        Ok(names)
    }

    fn expand(
        &self,
        mut expansion: Expansion,
        of: Option<Of>,
    ) -> tantivy::Result<Vec<(Of, String, u8)>> {
        for segment in self.segments {
            for each in [Of::Stems, Of::Also] {
                if of.is_none_or(|of| of == each) {
                    expansion.collect(each, segment)?;
                }
            }
        }
        Ok(expansion.into_names())
    }

    /// Returns the inverse document frequency of a word, in the form that is never negative.
    fn idf(&self, names: &[Name]) -> tantivy::Result<f64> {
        let mut with = [0; 2];
        for name in names {
            for segment in self.segments {
                let [stems, also] = &mut with;
                *(if name.of == Of::Stems { stems } else { also }) +=
                    segment.documents_with(name.of, &name.text)?;
            }
        }
        // A document may have several of the names, and most have both kinds of one word.
        let with = with.into_iter().max().unwrap_or(0).min(self.documents);
        let without = as_f64(self.documents - with);
        Ok(((without + 0.5) / (as_f64(with) + 0.5)).ln_1p())
    }
}

/// Counts of documents and words are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "a count of what is on a disk")]
pub(in crate::text) const fn as_f64(count: u64) -> f64 {
    count as f64
}
