use std::collections::{HashMap, HashSet};

use tantivy::tokenizer::TextAnalyzer;

use super::analysis::{self, Word};

/// What to look for, read from what somebody typed.
///
/// Words are alternatives and add up; `"words in quotes"` must stand together in that order;
/// `+word` or `+"a phrase"` must occur, `-word` or `-"a phrase"` must not. Everything else is
/// literal text: no input is an error. A query that names nothing to look for, only what must not
/// occur or no word at all, finds nothing.
///
/// ```
/// use grainstore::text::Query;
///
/// let query = Query::parse(r#"green "herbal teas" -coffee"#);
/// assert!(query.occurs_in("She collects Herbal Tea."));
/// assert!(!query.occurs_in("coffee or a tea, herbal"));
/// assert!(Query::parse("(:) \" && ~").is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    clauses: Vec<Clause>,
    is_truncated: bool,
}

impl Query {
    /// Reads `text`: what lies beyond the 1,024th different word is left out.
    pub fn parse(text: &str) -> Self {
        let mut analyzer = analysis::analyzer();
        let mut query = Self::default();
        let mut seen = HashSet::new();
        let mut words_left = WORDS_MAX;
        for piece in (Pieces { rest: text }) {
            for clause in piece.clauses(&mut analyzer) {
                if seen.contains(&clause) {
                    continue;
                }
                let Some(left) = words_left.checked_sub(clause.words.len()) else {
                    query.is_truncated = true;
                    return query;
                };
                words_left = left;
                seen.insert(clause.clone());
                query.clauses.push(clause);
            }
        }
        query
    }

    /// Returns whether there is nothing to look for, so that nothing can be found.
    pub fn is_empty(&self) -> bool {
        self.wanted().next().is_none()
    }

    /// Returns whether the text was longer than a query may be, and its end was left out.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns whether a word or phrase to look for occurs in `text`, analysed as documents are.
    ///
    /// It tells which field of a hit matched (OMS 28.1, `matched_fields`).
    pub fn occurs_in(&self, text: &str) -> bool {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for word in analysis::words(&mut analysis::analyzer(), text) {
            places.entry(word.stem).or_default().push(word.position);
        }
        self.wanted().any(|clause| clause.occurs_at(&places))
    }

    /// Returns what is looked for or ruled out.
    pub(super) fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Returns what is looked for.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &Clause> {
        self.clauses
            .iter()
            .filter(|clause| clause.role != Role::MustNot)
    }
}

/// What a clause asks of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Should,
    Must,
    MustNot,
}

/// A word, or several that must stand together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Clause {
    pub(super) role: Role,
    /// Never empty. Positions count from the first word.
    pub(super) words: Vec<Word>,
}

impl Clause {
    /// Returns the clause of `words`, or nothing where there are none.
    fn new(role: Role, mut words: Vec<Word>) -> Option<Self> {
        let start = words.first()?.position;
        for word in &mut words {
            word.position = word.position.saturating_sub(start);
        }
        Some(Self { role, words })
    }

    fn occurs_at(&self, places: &HashMap<String, Vec<usize>>) -> bool {
        let stands = |word: &Word, start: usize| {
            let position = start.saturating_add(word.position);
            places
                .get(&word.stem)
                .is_some_and(|positions| positions.binary_search(&position).is_ok())
        };
        let starts = self.words.first().and_then(|first| places.get(&first.stem));
        starts.is_some_and(|starts| {
            let mut starts = starts.iter();
            starts.any(|start| self.words.iter().all(|word| stands(word, *start)))
        })
    }
}

/// A stretch of the query text with one role.
#[derive(Debug, PartialEq, Eq)]
struct Piece<'a> {
    role: Role,
    is_quoted: bool,
    text: &'a str,
}

impl Piece<'_> {
    /// Returns what the piece asks for.
    ///
    /// `-e-mail` rules out "e mail" and not every "e": a piece with a sign is one clause. Without a
    /// sign and outside quotes every word is a clause of its own.
    fn clauses(&self, analyzer: &mut TextAnalyzer) -> Vec<Clause> {
        let words = analysis::words(analyzer, self.text);
        if self.is_quoted || self.role != Role::Should {
            return Clause::new(self.role, words).into_iter().collect();
        }
        let single = |word| Clause::new(self.role, vec![word]);
        words.into_iter().filter_map(single).collect()
    }
}

/// Cuts a query text into pieces.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let text = self.rest.trim_start();
        if text.is_empty() {
            return None;
        }
        let (role, text) = if let Some(text) = text.strip_prefix('+') {
            (Role::Must, text)
        } else if let Some(text) = text.strip_prefix('-') {
            (Role::MustNot, text)
        } else {
            (Role::Should, text)
        };
        let quoted = text.strip_prefix('"').and_then(|text| text.split_once('"'));
        let (is_quoted, text, rest) = match quoted {
            Some((phrase, rest)) => (true, phrase, rest),
            None => {
                let (run, rest) = split_run(text);
                (false, run, rest)
            }
        };
        self.rest = rest;
        Some(Piece {
            role,
            is_quoted,
            text,
        })
    }
}

/// Splits `text` before its first space, or before a quote that opens: one not in or after a word,
/// so that `("a b")` holds a phrase and `5"` does not begin one.
fn split_run(text: &str) -> (&str, &str) {
    let mut last = None;
    let is_end = |c: char| {
        let opens = c == '"' && last.is_some_and(|last: char| !last.is_alphanumeric());
        last = Some(c);
        c.is_whitespace() || opens
    };
    let end = text.find(is_end).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// How many words a query may have; each costs a search a list to read.
const WORDS_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |clause: &Clause| {
            let sign = match clause.role {
                Role::Should => "",
                Role::Must => "+",
                Role::MustNot => "-",
            };
            let stems: Vec<&str> = clause.words.iter().map(|word| word.stem.as_str()).collect();
            format!("{sign}{}", stems.join("_"))
        };
        Query::parse(text).clauses().iter().map(show).collect()
    }

    #[test]
    fn words_are_alternatives_and_signs_and_quotes_bind() {
        assert_eq!(
            shown(r#"red +green -"dark blue" +"light grey" "a b""#),
            ["red", "+green", "-dark_blue", "+light_grey", "a_b"]
        );
        assert_eq!(
            shown("-e-mail e-mail +x:y"),
            ["-e_mail", "e", "mail", "+x_y"]
        );
    }

    #[test]
    fn everything_else_is_literal_text() {
        assert_eq!(
            shown(r#"a:b (c) [d TO e] f^2 g~ *"#),
            ["a", "b", "c", "d", "to", "e", "f", "2", "g"]
        );
        assert_eq!(shown(r#"stray "quote"#), ["stray", "quot"]);
        assert_eq!(shown(r#"5"x7" ("p q")"#), ["5", "x7", "p_q"]);
        assert_eq!(shown("- item\n+ more --x"), ["item", "more", "-x"]);
        assert_eq!(shown(r#""" "" " ~ !"#), Vec::<String>::new());
    }

    #[test]
    fn a_repeated_word_counts_once() {
        assert_eq!(shown("tea teas TEA +tea"), ["tea", "+tea"]);
    }

    #[test]
    fn a_query_ends_at_its_longest_and_says_so() {
        let text: String = (0..2_000).map(|n| format!("w{n} ")).collect();
        let query = Query::parse(&text);
        assert!(query.is_truncated());
        assert_eq!(query.clauses().len(), WORDS_MAX);
        assert!(!Query::parse(&"tea ".repeat(100_000)).is_truncated());
    }

    #[test]
    fn a_phrase_occurs_only_where_its_words_stand_together() {
        let query = Query::parse("\"new york\"");
        assert!(query.occurs_in("a new, New York"));
        assert!(!query.occurs_in("york is new"));
        assert!(!query.occurs_in("new old york"));
        assert!(!Query::parse("-new").occurs_in("new"));
    }
}
