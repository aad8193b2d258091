//! Highlighting: marks the words of a query in a text and selects a snippet.
//!
//! It analyses the text again and matches tokens by the same term expansion as the index. It reads
//! no postings.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::analysis::language::Language;
use crate::text::analysis::token::{self, Token};
use crate::text::document;
use crate::text::error::Error;
use crate::text::index::view::View;
use crate::text::query::ast::{Leaf, Node, Role};
use crate::text::query::lowering::Query;
use crate::text::query::plan;
use crate::text::query::statistics::Statistics;
use crate::text::query::stop_words;
use crate::text::query::term_expansion::TermExpansion;

/// Finds the matches of a query in a text, as the index does.
pub struct Highlighter {
    leaves: Vec<HighlightLeaf>,
    language: Language,
}

/// A word or phrase of the query, and the field that it must occur in.
struct HighlightLeaf {
    words: Vec<(u32, TermExpansion)>,
    field: Option<u32>,
}

/// An excerpt of a text around the matches of a query.
///
/// ```
/// use grainstore::text::Snippet;
///
/// let snippet = Snippet { text: "prefers green tea".into(), marks: vec![8..13] };
/// assert_eq!(snippet.marked("*", "*"), "prefers *green* tea");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The excerpt as one line, with an ellipsis where text was left out.
    pub text: String,
    /// The byte ranges of the matches in the excerpt.
    pub marks: Vec<Range<usize>>,
}

pub(in crate::text) fn highlighter(view: &View, query: &Query) -> Result<Highlighter, Error> {
    let snapshot = view.snapshot();
    let languages = snapshot
        .segments(&view.fields)
        .and_then(|segments| plan::languages(view.fields.language, &Statistics::of_all(&segments)));
    let languages = languages.map_err(Error::index("reading languages"))?;
    let mut leaves = Vec::new();
    let kept = stop_words::kept(
        &query.clauses,
        view.fields.language,
        view.options.stop_words,
    );
    gather(kept, &languages, &mut leaves);
    Ok(Highlighter {
        leaves,
        language: view.fields.language,
    })
}

/// Adds the leaves of all clauses except `MustNot`.
fn gather<'n>(
    clauses: impl Iterator<Item = &'n (Role, Node)>,
    languages: &[Language],
    leaves: &mut Vec<HighlightLeaf>,
) {
    for (_, node) in clauses.filter(|(role, _)| *role != Role::MustNot) {
        match node {
            Node::Group(clauses) => gather(clauses.iter(), languages, leaves),
            Node::Leaf(Leaf { words, field, .. }) => {
                let words = words.iter();
                let words =
                    words.map(|(offset, word)| (*offset, TermExpansion::of(word, languages)));
                leaves.push(HighlightLeaf {
                    words: words.collect(),
                    field: *field,
                });
            }
        }
    }
}

impl Highlighter {
    /// Returns the byte ranges of the matches in the text of a field, in order.
    pub fn marks(&self, field: &str, text: &str, language: Option<Language>) -> Vec<Range<usize>> {
        let language = language.or_else(|| Language::of_letters(text));
        let tokens = token::tokens(text, language.unwrap_or(self.language));
        let number = document::number_of(field);
        let mut marks = Vec::new();
        let mut steps = STEPS_MAX;
        for leaf in &self.leaves {
            if leaf.field.is_none_or(|expansion| expansion == number) {
                leaf.mark(&tokens, &mut steps, &mut marks);
            }
        }
        marks.sort_unstable_by_key(|mark| (mark.start, mark.end));
        let mut joined: Vec<Range<usize>> = Vec::new();
        for mark in marks {
            match joined.last_mut() {
                Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
                _ => joined.push(mark),
            }
        }
        joined
    }

    /// Returns the excerpt of about `len_max` characters with the most matches, from the
    /// concatenated texts of several fields.
    pub fn snippet_of(
        &self,
        fields: &[(&str, String)],
        language: Option<Language>,
        len_max: usize,
    ) -> Snippet {
        let (mut text, mut marks) = (String::new(), Vec::new());
        for (field, part) in fields {
            if !text.is_empty() {
                text.push(' ');
            }
            let start = text.len();
            let found = self.marks(field, part, language);
            marks.extend(
                found
                    .iter()
                    .map(|mark| start + mark.start..start + mark.end),
            );
            text.push_str(part);
        }
        let part = best_part(&text, &marks, len_max);
        Snippet::of(&text, &marks, part)
    }

    /// Returns the excerpt of about `len_max` characters with the most matches, from the text of a
    /// field.
    pub fn snippet(
        &self,
        field: &str,
        text: &str,
        language: Option<Language>,
        len_max: usize,
    ) -> Snippet {
        let marks = self.marks(field, text, language);
        let part = best_part(text, &marks, len_max);
        Snippet::of(text, &marks, part)
    }

    /// Finds the matches in a text, of which passages are cut.
    pub(crate) fn marked<'t>(&self, text: &'t str, language: Option<Language>) -> Marked<'t> {
        Marked {
            text,
            marks: self.marks("content", text, language),
        }
    }
}

/// A text with the matches in it: it is analysed once, however often a passage of it is cut.
pub(crate) struct Marked<'t> {
    text: &'t str,
    marks: Vec<Range<usize>>,
}

impl Marked<'_> {
    /// Returns the excerpt as [`Highlighter::snippet`] does, as long as `len_max` allows.
    pub(crate) fn passage(&self, len_max: usize) -> String {
        let text = self.text;
        let mut part = best_part(text, &self.marks, len_max);
        if part.end == text.len() {
            // There is room before it.
            part.start = part.start.min(back(text, part.end, len_max));
        }
        Snippet::of(text, &[], part).text
    }
}

impl HighlightLeaf {
    /// Marks the matches, as far as `steps` comparisons reach.
    fn mark(&self, tokens: &[Token], steps: &mut usize, marks: &mut Vec<Range<usize>>) {
        let Some(((_, first), others)) = self.words.split_first() else {
            return;
        };
        for (at, token) in tokens.iter().enumerate() {
            let Some(left) = steps.checked_sub(1) else {
                return;
            };
            *steps = left;
            if first.matches(&token.terms) {
                let rest = tokens.get(at..).unwrap_or_default();
                let start = marks.len();
                marks.push(token.range.clone());
                if !find_others(token, others, rest, steps, marks) {
                    marks.truncate(start);
                }
            }
        }
    }
}

/// Adds the matches of the other words of a phrase, which stand after its first; returns whether
/// all of them are there.
fn find_others(
    first: &Token,
    words: &[(u32, TermExpansion)],
    mut rest: &[Token],
    steps: &mut usize,
    marks: &mut Vec<Range<usize>>,
) -> bool {
    for (offset, expansion) in words {
        let position = first.position.saturating_add(*offset);
        // The words of a phrase are in order, so each is looked for behind the one before.
        let behind = rest.iter().take_while(|token| token.position < position);
        let skipped = behind.count();
        let Some(left) = steps.checked_sub(skipped.saturating_add(1)) else {
            return false;
        };
        *steps = left;
        rest = rest.get(skipped..).unwrap_or_default();
        let near = rest.first().filter(|near| near.position == position);
        let Some(near) = near.filter(|near| expansion.matches(&near.terms)) else {
            return false;
        };
        // Letter pairs overlap: each covers two letters.
        marks.push(near.range.clone());
    }
    true
}

/// Returns the range of about `len_max` characters with the most matches, from the start of a word
/// to the end of one.
fn best_part(text: &str, marks: &[Range<usize>], len_max: usize) -> Range<usize> {
    if text.chars().count() <= len_max {
        return 0..text.len();
    }
    let before = len_max / 4;
    let starts = marks.iter().map(|mark| back(text, mark.start, before));
    let mut held = Held::new(text, marks);
    let mut best = (held.within(0..forth(text, 0, len_max)), 0);
    for start in starts {
        let value = held.within(start..forth(text, start, len_max));
        if value > best.0 {
            best = (value, start);
        }
    }
    best.1..forth(text, best.1, len_max)
}

/// The marks within a part that moves forward: every word of a text may be a mark, so each is looked
/// at twice.
struct Held<'a> {
    text: &'a str,
    marks: &'a [Range<usize>],
    first: usize,
    end: usize,
    counts: HashMap<String, usize>,
}

impl<'a> Held<'a> {
    fn new(text: &'a str, marks: &'a [Range<usize>]) -> Self {
        Self {
            text,
            marks,
            first: 0,
            end: 0,
            counts: HashMap::new(),
        }
    }

    /// Returns the number of different words that are marked within a part, and of all.
    fn within(&mut self, part: Range<usize>) -> (usize, usize) {
        let word = |mark: &Range<usize>| {
            self.text
                .get(mark.clone())
                .unwrap_or_default()
                .to_lowercase()
        };
        while let Some(mark) = self.marks.get(self.end).filter(|mark| mark.end <= part.end) {
            *self.counts.entry(word(mark)).or_default() += 1;
            self.end += 1;
        }
        while let Some(mark) = self.marks.get(self.first)
            && mark.start < part.start
            && self.first < self.end
        {
            let word = word(mark);
            let left = self.counts.get(&word).map_or(0, |count| count - 1);
            match left {
                0 => drop(self.counts.remove(&word)),
                _ => drop(self.counts.insert(word, left)),
            }
            self.first += 1;
        }
        (self.counts.len(), self.end - self.first)
    }
}

/// Returns the start of a word about `len` characters before `at`.
fn back(text: &str, at: usize, len: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let far = before
        .char_indices()
        .rev()
        .nth(len)
        .map_or(0, |(place, _)| place);
    if far == 0 {
        return 0;
    }
    let space = text
        .get(far..at)
        .and_then(|part| part.find(char::is_whitespace));
    space.map_or(far, |space| far + space + 1)
}

/// Returns the end of a word about `len` characters after `start`.
fn forth(text: &str, start: usize, len: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let Some((far, _)) = rest.char_indices().nth(len) else {
        return text.len();
    };
    let part = rest.get(..far).unwrap_or_default();
    let space = part.rfind(char::is_whitespace);
    start + space.filter(|space| *space > far / 2).unwrap_or(far)
}

impl Snippet {
    fn of(text: &str, marks: &[Range<usize>], part: Range<usize>) -> Self {
        let mut snippet = Self::default();
        if part.start > 0 {
            snippet.text.push('…');
        }
        let mut at = part.start;
        let inside = marks
            .iter()
            .filter(|mark| mark.start >= part.start && mark.end <= part.end);
        for mark in inside {
            snippet.push(text.get(at..mark.start).unwrap_or_default());
            let start = snippet.text.len();
            snippet.push(text.get(mark.clone()).unwrap_or_default());
            snippet.marks.push(start..snippet.text.len());
            at = mark.end;
        }
        snippet.push(text.get(at..part.end).unwrap_or_default());
        if part.end < text.len() {
            snippet.text.push('…');
        }
        snippet
    }

    /// Appends text as one line.
    fn push(&mut self, part: &str) {
        let line = part.chars().map(|c| if c.is_control() { ' ' } else { c });
        self.text.extend(line);
    }

    /// Returns the text with markers around the matches.
    pub fn marked(&self, before: &str, behind: &str) -> String {
        let mut marked = String::with_capacity(self.text.len());
        let mut at = 0;
        for mark in &self.marks {
            marked.push_str(self.text.get(at..mark.start).unwrap_or_default());
            marked.push_str(before);
            marked.push_str(self.text.get(mark.clone()).unwrap_or_default());
            marked.push_str(behind);
            at = mark.end;
        }
        marked.push_str(self.text.get(at..).unwrap_or_default());
        marked
    }
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter")
            .field("leaves", &self.leaves.len())
            .field("language", &self.language)
            .finish()
    }
}

/// The words of a query compared with the words of a text, at most: a text of a megabyte may repeat
/// the phrase that is looked for at every word.
const STEPS_MAX: usize = 4_000_000;
