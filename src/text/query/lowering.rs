//! `Query`, and its lowering from parsed items to clauses of the syntax tree.
//!
//! Runs of text become words and phrases here. The grammar of operators is in `parse.rs`.

use std::borrow::Cow;

use crate::codec::nfc;
use crate::text::analysis::chunk::{self, Chunk, Part};
use crate::text::analysis::script::Script;
use crate::text::error::Error;
use crate::text::query::asked::Asked;
use crate::text::query::ast::{Leaf, Node, Role, Word};
use crate::text::query::parse::{self, Form, Item, Run};

/// A parsed query, in the language of [`Search::parse`](crate::Search::parse).
///
/// ```
/// use grainstore::text::Query;
///
/// assert!(Query::parse(r#"green AND "herbal tea"^2"#).is_ok());
/// assert!(Query::parse("(:) && ~").is_ok_and(|query| query.is_empty()));
/// let error = Query::parse("tea AND (cup").unwrap_err();
/// assert_eq!(error.to_string(), "what to search for, at 8: this parenthesis is not closed");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    pub(in crate::text) clauses: Vec<(Role, Node)>,
    pub(in crate::text) asked: Asked,
    /// The text without operators and without what is excluded.
    plain: String,
    is_truncated: bool,
}

impl Query {
    /// Parses `text` in the query language. Words after the 1,024th are left out.
    ///
    /// # Errors
    /// `ERR_SEARCH_SYNTAX` with the offset in `text`; for more than 256 words and phrases with an
    /// operator, a field, a boost or in a group.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = &*nfc(text);
        let query = Self::of(parse::parse(text)?, text);
        let of_text = query.clauses.iter();
        // Plain words may be a text that was pasted, and are cut off instead.
        let clauses = of_text.filter(|(_, node)| !matches!(node, Node::Leaf(leaf) if leaf.is_bare));
        let count: usize = clauses.map(|(_, node)| node.len()).sum();
        if count > CLAUSES_MAX {
            return Err(Error::Syntax {
                place: 0,
                reason: format!("{count} words and phrases in clauses; at most {CLAUSES_MAX}"),
            });
        }
        Ok(query)
    }

    /// Reads `text` as plain words and ignores operators: for natural language instead of a query.
    ///
    /// ```
    /// use grainstore::text::Query;
    ///
    /// assert!(!Query::words("(and what NOT:").is_empty());
    /// ```
    pub fn words(text: &str) -> Self {
        let text = &*nfc(text);
        let run = Run {
            text: text.to_owned(),
            field: None,
            boost: 1.0,
            form: Form::Words,
        };
        Self::of(vec![(Role::Should, Item::Run(run))], text)
    }

    /// Returns whether it has plain words alone.
    pub(crate) fn has_words_alone(&self) -> bool {
        let is_bare = |(_, node): &(Role, Node)| matches!(node, Node::Leaf(leaf) if leaf.is_bare);
        self.clauses.iter().all(is_bare)
    }

    /// Returns the query with further plain words.
    pub(crate) fn with_words(&self, text: &str) -> Self {
        let mut with = self.clone();
        with.clauses.extend(Self::words(text).clauses);
        with
    }

    /// Returns the query of plain words without some, in small letters without accents, unless nothing
    /// would be left to look for.
    pub(crate) fn without(&self, words: &[String]) -> Cow<'_, Self> {
        let is_one = |node: &Node| match node {
            Node::Leaf(Leaf { words: of_leaf, .. }) => match of_leaf.as_slice() {
                [(_, Word::Form(part))] => words.contains(&part.folded()),
                _ => false,
            },
            Node::Group(_) => false,
        };
        if words.is_empty() || !self.has_words_alone() {
            return Cow::Borrowed(self);
        }
        let others = self.clauses.iter().filter(|(_, node)| !is_one(node));
        let clauses: Vec<_> = others.cloned().collect();
        match clauses.is_empty() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Self {
                clauses,
                ..self.clone()
            }),
        }
    }

    fn of(items: Vec<(Role, Item)>, text: &str) -> Self {
        let mut plain = String::new();
        add_plain(&items, &mut plain);
        let mut lowering = Lowering {
            words_left: WORDS_MAX,
        };
        let clauses = lowering.clauses(items, 1.0);
        Self {
            clauses,
            asked: Asked::of(text),
            plain,
            is_truncated: lowering.words_left == 0,
        }
    }

    /// Returns whether the query has no positive clause, so that nothing can match.
    pub fn is_empty(&self) -> bool {
        !has_wanted(&self.clauses)
    }

    /// Returns what the query asks for, as a model of meaning reads it: without operators, and without
    /// what is excluded.
    pub(crate) fn plain(&self) -> &str {
        &self.plain
    }

    /// Returns whether the text exceeded the limit of words and its end was left out.
    pub const fn is_truncated(&self) -> bool {
        self.is_truncated
    }
}

fn add_plain(items: &[(Role, Item)], plain: &mut String) {
    for (_, item) in items.iter().filter(|(role, _)| *role != Role::MustNot) {
        match item {
            Item::Run(run) => {
                if !plain.is_empty() {
                    plain.push(' ');
                }
                plain.push_str(&run.text);
            }
            Item::Group(items, _) => add_plain(items, plain),
        }
    }
}

fn has_wanted(clauses: &[(Role, Node)]) -> bool {
    clauses.iter().any(|(role, node)| {
        *role != Role::MustNot
            && match node {
                Node::Leaf(_) => true,
                Node::Group(clauses) => has_wanted(clauses),
            }
    })
}

/// Converts parsed items to clauses.
struct Lowering {
    words_left: usize,
}

impl Lowering {
    fn clauses(&mut self, items: Vec<(Role, Item)>, boost: f32) -> Vec<(Role, Node)> {
        let mut clauses = Vec::new();
        for (role, item) in items {
            match item {
                Item::Run(run) if role == Role::Should && run.is_bare() => {
                    let leaves = self.bare(&run, boost);
                    clauses.extend(leaves.into_iter().map(|leaf| (role, Node::Leaf(leaf))));
                }
                Item::Run(run) => {
                    let node = self.unit(&run, boost);
                    clauses.extend(node.map(|node| (role, node)));
                }
                Item::Group(items, of_group) => {
                    let inner = self.clauses(items, boost * of_group);
                    if !inner.is_empty() {
                        clauses.push((role, Node::Group(inner)));
                    }
                }
            }
        }
        clauses
    }

    /// Returns each word of a run, and each joined chunk, as an alternative.
    fn bare(&mut self, run: &Run, boost: f32) -> Vec<Leaf> {
        let boost = boost * run.boost;
        let mut leaves = Vec::new();
        for chunk in chunk::chunks(&run.text) {
            let words = self.take(words_of(&chunk));
            if is_one_word(&chunk) {
                let words: Vec<_> = (0..).zip(words).collect();
                leaves.extend((!words.is_empty()).then(|| Leaf::of(words, None, boost, true)));
                continue;
            }
            for word in words {
                leaves.push(Leaf::of(vec![(0, word)], None, boost, true));
            }
            let joined = chunk.joined.map(Word::Joined).into_iter().collect();
            for word in self.take(joined) {
                leaves.push(Leaf::of(vec![(0, word)], None, boost, true));
            }
        }
        leaves
    }

    /// Returns the words of a run as one phrase, or as the joined word.
    fn unit(&mut self, run: &Run, boost: f32) -> Option<Node> {
        let boost = boost * run.boost;
        let mut chunks: Vec<Chunk<'_>> = chunk::chunks(&run.text).collect();
        let mut words: Vec<Word> = chunks.iter().flat_map(words_of).collect();
        match (run.form, words.pop()) {
            (Form::Prefix, Some(Word::Form(part))) => words.push(Word::Prefix(part)),
            (Form::Fuzzy(distance), Some(Word::Form(part))) => {
                words.push(Word::Fuzzy(part, distance));
            }
            (_, last) => words.extend(last),
        }
        let words = (0..).zip(self.take(words)).collect::<Vec<_>>();
        if words.is_empty() {
            return None;
        }
        let together = Leaf::of(words, run.field, boost, false);
        let joined = match (chunks.as_mut_slice(), run.form) {
            ([chunk], Form::Words) => chunk.joined.take(),
            _ => None,
        };
        let Some(joined) = joined else {
            return Some(Node::Leaf(together));
        };
        let joined = Leaf::of(vec![(0, Word::Joined(joined))], run.field, boost, false);
        let either = [together, joined].map(|leaf| (Role::Should, Node::Leaf(leaf)));
        Some(Node::Group(either.into()))
    }

    /// Truncates the words to the number that the query may still have.
    fn take(&mut self, mut words: Vec<Word>) -> Vec<Word> {
        words.truncate(self.words_left);
        self.words_left -= words.len();
        words
    }
}

/// Returns whether a run of letters is short enough to be one word: then its pairs must occur
/// together and are not matched separately.
fn is_one_word(chunk: &Chunk<'_>) -> bool {
    let is_hangul = |part: &Part<'_>| part.written.chars().all(Script::is_hangul);
    chunk.parts.len() <= LETTERS_OF_WORD
        && chunk
            .parts
            .iter()
            .all(|part| part.is_letter() && !is_hangul(part))
}

/// Returns the words of a chunk; for a script that does not separate words, each run of letters as they
/// are indexed.
fn words_of(chunk: &Chunk<'_>) -> Vec<Word> {
    let parts = chunk.parts.as_slice();
    let Some(first) = parts.first().filter(|part| part.is_letter()) else {
        let parts = parts.iter().cloned().map(Part::into_owned);
        return parts.map(Word::Form).collect();
    };
    let joined =
        |letters: &[Part<'_>]| -> String { letters.iter().map(|part| &*part.written).collect() };
    let grams = parts.iter().enumerate();
    let grams = grams.filter_map(|(at, letter)| parts.get(at..at + letter.gram_len()));
    let grams: Vec<Word> = grams.map(|gram| Word::Letters(joined(gram))).collect();
    if !grams.is_empty() {
        return grams;
    }
    // Fewer letters than those of a run are the first of one, or the last of the text.
    let few = Part {
        written: joined(parts).into(),
        ..first.clone()
    };
    vec![Word::Prefix(few.into_owned())]
}

/// The longest run of Chinese or Japanese letters that is treated as one word.
const LETTERS_OF_WORD: usize = 4;

/// The maximum number of words and phrases in clauses: each is looked up in every document that the
/// others match.
const CLAUSES_MAX: usize = 256;

/// The maximum number of words of a query. Each costs a search one or more postings lists.
const WORDS_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn show(clauses: &[(Role, Node)]) -> String {
        let one = |(role, node): &(Role, Node)| {
            let sign = match role {
                Role::Should => "",
                Role::Must => "+",
                Role::MustNot => "-",
            };
            let node = match node {
                Node::Group(clauses) => format!("({})", show(clauses)),
                Node::Leaf(leaf) => {
                    let words = leaf.words.iter().map(|(_, word)| match word {
                        Word::Form(part) => part.written.to_string(),
                        Word::Letters(letters) => letters.clone(),
                        Word::Joined(joined) => format!("={joined}"),
                        Word::Prefix(part) => format!("{}*", part.written),
                        Word::Fuzzy(part, distance) => format!("{}~{distance}", part.written),
                    });
                    let words: Vec<String> = words.collect();
                    let field = leaf
                        .field
                        .map_or(String::new(), |field| format!("{field}:"));
                    let boost = if leaf.boost == 1.0 {
                        String::new()
                    } else {
                        format!("^{}", leaf.boost)
                    };
                    format!("{field}{}{boost}", words.join("_"))
                }
            };
            format!("{sign}{node}")
        };
        clauses.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn shown(text: &str) -> String {
        show(&Query::parse(text).unwrap().clauses)
    }

    #[test]
    fn words_are_alternatives_and_signs_and_quotes_bind() {
        assert_eq!(
            shown(r#"red +green -"dark blue" +"light grey" "a b""#),
            "red +green -dark_blue +light_grey a_b"
        );
        assert_eq!(
            shown("-e-mail e-mail +x:y"),
            "-(e_mail =email) e mail =email +(x_y =xy)"
        );
    }

    #[test]
    fn what_is_no_operator_is_literal_text() {
        assert_eq!(
            shown("10:30 (c) [d TO e] ~ * ^ f(x) :)"),
            "10 30 =1030 (c) d TO e f x"
        );
        assert_eq!(shown(r#"stray "quote"#), "stray quote");
        assert_eq!(shown(r#"5"x7" ("p q")"#), "5 x7 (p_q)");
        assert_eq!(shown("- item\n+ more --x"), "item more -x");
        assert_eq!(shown(r#""" "" " ~ !"#), "");
        assert_eq!(shown("https://docs.rs"), "https docs rs =httpsdocsrs");
    }

    #[test]
    fn operators_in_words_group_as_in_english() {
        assert_eq!(shown("a AND b"), "(+a +b)");
        assert_eq!(shown("a AND b OR c"), "(+a +b) c");
        assert_eq!(shown("a OR b AND NOT c"), "a (+b -c)");
        assert_eq!(shown("a AND (b OR c)"), "(+a +(b c))");
        assert_eq!(shown("a NOT b"), "a -b");
        assert_eq!(shown("not and or"), "not and or");
    }

    #[test]
    fn words_have_forms_fields_and_boosts() {
        assert_eq!(
            shown("gre* grean~ kitten~2 at~1"),
            "gre* grean~1 kitten~2 at~1"
        );
        assert_eq!(
            shown("object:dark^2 -object:(a b)^0.5"),
            "3:dark^2 -(a^0.5 b^0.5)".replace("(a^0.5 b^0.5)", "(3:a^0.5 3:b^0.5)")
        );
        assert_eq!(shown("\"dark mode\"^3 (a b)^2"), "dark_mode^3 (a^2 b^2)");
        assert_eq!(shown("東京都 茶"), "東京_京都 茶*");
    }

    #[test]
    fn a_fault_is_named_with_its_place() {
        for (text, at) in [
            ("tea (cup", 4),
            ("AND tea", 0),
            ("tea OR", 4),
            ("a AND OR b", 6),
            ("a NOT", 2),
            ("objct:dark", 0),
            ("tea~3", 3),
            ("tea^0", 3),
            ("\"a b\"~2", 5),
            ("((((((((((((((((((((((((((((((((((a", 32),
        ] {
            match Query::parse(text) {
                Err(Error::Syntax { place, .. }) => assert_eq!(place, at, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_query_ends_at_its_longest_and_says_so() {
        let text: String = (0..2_000).map(|n| format!("w{n} ")).collect();
        let query = Query::parse(&text).unwrap();
        assert!(query.is_truncated());
        assert_eq!(query.clauses.len(), WORDS_MAX);
    }
}
