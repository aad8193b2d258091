//! Recalled passages, before they are rendered: text, source, time and cost in tokens.

use std::fmt;
use std::str::FromStr;

use crate::codec::ContentAddress;
use crate::grain::Time;

use super::{escaped, json, lines};

/// The passages that answer a question, best first.
///
/// ```
/// use grainstore::render::{Format, Recollection};
///
/// assert_eq!(Recollection::default().render(Format::Markdown), "");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recollection {
    /// The passages.
    pub passages: Vec<Passage>,
    /// Their cost as Markdown, by [`tokens`].
    pub tokens: usize,
    /// Whether the budget had no room for something that was found.
    pub is_cut: bool,
    /// Whether the search for it ended at its deadline.
    pub is_partial: bool,
}

/// Lines of one conversation, in the order in which they were said; or a line by itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passage {
    /// The `session_id` of the conversation.
    pub session: Option<String>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// The text of one grain, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The grain.
    pub address: ContentAddress,
    /// When it was created.
    pub time: Time,
    /// The speaker, if the grain names one.
    pub speaker: Option<String>,
    /// The text, in one line.
    pub text: String,
    /// How well it fits the question, in [0, 1); none of a line that only stands beside one that
    /// does.
    pub score: Option<f64>,
}

/// How a recollection is written.
///
/// ```
/// use grainstore::render::Format;
///
/// assert_eq!("markdown".parse(), Ok(Format::Markdown));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// A list under a heading for each conversation.
    #[default]
    Markdown,
    /// One object with every detail.
    Json,
    /// A line for each grain.
    Text,
}

impl Recollection {
    /// Returns the recollection as text. Nothing a grain says can begin a line of its own, and what
    /// could not be seen of it is shown ([`escaped`]).
    pub fn render(&self, format: Format) -> String {
        self.written(format, escaped)
    }

    /// Returns the recollection as text, with the characters of each grain as they are: for a
    /// caller that needs the original and shows it to no model.
    pub fn render_raw(&self, format: Format) -> String {
        self.written(format, |text| text.into())
    }

    fn written(&self, format: Format, shown: lines::Shown) -> String {
        match format {
            Format::Markdown => lines::markdown(self, shown),
            Format::Json => json::render(self, shown),
            Format::Text => lines::plain(self, shown),
        }
    }

    /// Returns how many lines there are.
    pub fn len(&self) -> usize {
        self.passages
            .iter()
            .map(|passage| passage.lines.len())
            .sum()
    }

    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.passages.is_empty()
    }
}

impl Line {
    /// Returns what the line costs by [`tokens`], as Markdown.
    pub fn tokens(&self) -> usize {
        tokens(&lines::item(self, escaped))
    }
}

impl Passage {
    /// Returns what the heading costs by [`tokens`], as Markdown.
    pub fn heading_tokens(&self) -> usize {
        tokens(&lines::heading(self, escaped))
    }
}

/// Estimates how many tokens a model makes of a text: one for every four ASCII characters, and one
/// for every other character. Tokenizers differ; of English and code this is seldom too few.
///
/// ```
/// use grainstore::render::tokens;
///
/// assert_eq!(tokens("green tea"), 3);
/// assert_eq!(tokens("緑茶"), 2);
/// ```
pub fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "markdown" => Ok(Self::Markdown),
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            _ => Err("one of markdown, json, text".into()),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Text => "text",
        })
    }
}
