//! The error of a statement: its code, its place, and what could stand there instead.

use serde_json::{Value, json};

use crate::code::Code;
use crate::place::At;

/// A statement that is refused, or a warning about one that is answered.
///
/// ```
/// let error = grainstore_cal::parse("RECALL fact").unwrap_err();
/// assert_eq!((error.at.start, error.at.end), (7, 11));
/// assert_eq!(error.suggestion, "did you mean belief?");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Error {
    /// The kind.
    pub code: Code,
    /// One sentence about it.
    pub message: String,
    /// A hint at what to write instead; empty if there is nothing to suggest.
    pub suggestion: String,
    /// The bytes of the statement that it is about; empty for the JSON form.
    pub at: At,
    /// The words or values that can stand there.
    pub expected: Vec<String>,
}

impl Error {
    pub(crate) fn new(code: Code, at: At, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            suggestion: String::new(),
            at,
            expected: Vec::new(),
        }
    }

    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = suggestion.into();
        self
    }

    pub(crate) fn expecting<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.expected = words.into_iter().map(str::to_owned).collect();
        self
    }

    /// Adds the known word that is spelt most like `word`, if one is near.
    pub(crate) fn did_you_mean<'a>(
        mut self,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let word = word.to_ascii_lowercase();
        // The names of later versions of the specification.
        let renamed = match word.as_str() {
            "fact" | "facts" => Some("belief"),
            "tool" | "tools" => Some("action"),
            "tool_phase" => Some("action_phase"),
            _ => None,
        };
        let near = known
            .iter()
            .map(|other| (distance(&word, other), *other))
            .filter(|(far, other)| *far <= 1 + other.len() / 4)
            .min();
        if let Some(meant) = renamed.or(near.map(|(_, other)| other)) {
            self.suggestion = format!("did you mean {meant}?");
        }
        self.expecting(known)
    }

    /// Adds the known keyword that is spelt most like `word`.
    pub(crate) fn did_you_mean_word(self, word: &str, keywords: &[&str]) -> Self {
        let near = keywords
            .iter()
            .map(|other| (distance(&word.to_ascii_uppercase(), other), *other))
            .filter(|(far, other)| *far <= 1 + other.len() / 4)
            .min();
        let meant = near.map(|(_, other)| format!("did you mean {other}?"));
        let suggestion =
            meant.unwrap_or_else(|| format!("expected one of {}", keywords.join(", ")));
        self.suggest(suggestion).expecting(keywords.iter().copied())
    }

    /// Returns whether `source` is refused for what is missing at its end, so that more text may make it
    /// a statement.
    ///
    /// ```
    /// let unfinished = |text| grainstore_cal::parse(text).unwrap_err().is_unfinished(text);
    /// assert!(unfinished("RECALL beliefs WHERE") && unfinished("RECALL ABOUT \"ali"));
    /// assert!(!unfinished("RECALL fact"));
    /// ```
    pub fn is_unfinished(&self, source: &str) -> bool {
        let end = source.trim_end().len();
        match self.code {
            Code::Empty => true,
            Code::UnterminatedText | Code::InvalidTemplate => self.at.end >= source.len(),
            _ => self.code == Code::Unexpected && self.at.start >= end,
        }
    }

    /// Returns the error object of the specification; its position counts characters of `source`.
    ///
    /// ```
    /// let source = "RECALL fact";
    /// let error = grainstore_cal::parse(source).unwrap_err();
    /// let position = serde_json::json!({"start": 7, "end": 11, "line": 1, "col": 8});
    /// assert_eq!(error.to_json(source)["position"], position);
    /// ```
    pub fn to_json(&self, source: &str) -> Value {
        let (line, col) = self.at.line_and_column(source);
        let chars = |byte: usize| source.get(..byte).map_or(0, |part| part.chars().count());
        let mut object = json!({
            "code": self.code.as_str(),
            "message": self.message,
            "suggestion": self.suggestion,
        });
        if self.at.end > 0 {
            object["position"] = json!({
                "start": chars(self.at.start),
                "end": chars(self.at.end),
                "line": line,
                "col": col,
            });
        }
        if !self.expected.is_empty() {
            object["expected"] = json!(self.expected);
        }
        object
    }

    /// Returns the line of the statement with a caret under the place, the message and the
    /// suggestion: for a terminal.
    ///
    /// ```
    /// let source = "RECALL fact";
    /// let error = grainstore_cal::parse(source).unwrap_err();
    /// assert!(error.pointed(source).starts_with("RECALL fact\n       ^^^^\n"));
    /// ```
    pub fn pointed(&self, source: &str) -> String {
        let (line, col) = self.at.line_and_column(source);
        let text = source.lines().nth(line - 1).unwrap_or_default();
        let marked = source.get(self.at.start..self.at.end);
        let width = marked.map_or(1, |part| part.lines().next().unwrap_or(" ").chars().count());
        let (before, carets) = (" ".repeat(col - 1), "^".repeat(width.max(1)));
        let mut shown = match self.at.end {
            0 => self.to_string(),
            _ => format!("{text}\n{before}{carets}\n{self}"),
        };
        if !self.suggestion.is_empty() {
            shown.push_str(&format!("; {}", self.suggestion));
        }
        shown
    }
}

/// Returns how many letters must be changed, put in or left out to make one word the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(LETTERS_MAX).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(x != *y);
            diagonal = *above;
            left = changed.min(*above + 1).min(left + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// No known word is longer.
const LETTERS_MAX: usize = 64;
