//! Recalled passages, before they are rendered: text, source, time and cost in tokens.

use std::fmt;
use std::str::FromStr;

use crate::codec::ContentAddress;
use crate::grain::{Time, Type};

use super::{escaped, json, lines};

/// The passages that answer a question: facts first, then conversations, best first.
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
    /// The rest, for which the budget had no room, if it is known and the budget has room to say so.
    pub left_out: Option<LeftOut>,
    /// How many matches were left out as less relevant, if the handle may know.
    pub less_relevant: usize,
    /// Words that nothing has, each with what it was read as: the word spelt most like it, or by an
    /// alias.
    pub read_as: Vec<(String, String)>,
    /// The times of the hits that are about the same, oldest first, of a question that asks how often or
    /// how long: several or none, and none if the handle may not know.
    pub told: Vec<Time>,
    /// Whether the search for it ended at its deadline.
    pub is_partial: bool,
}

/// Turns of one conversation, in the order in which they were said; or facts, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passage {
    /// Whether the lines are turns; else they are facts.
    pub is_conversation: bool,
    /// The `session_id` of the conversation.
    pub session: Option<String>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// The content of one grain, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The grain.
    pub address: ContentAddress,
    /// Its type.
    pub of: Type,
    /// When it was created.
    pub time: Time,
    /// The speaker, if the grain names one.
    pub speaker: Option<String>,
    /// The text, in one line, with all that is searched.
    pub text: String,
    /// The content of the grain as a prompt has it: with names for identifiers and without tags. If
    /// `is_cut`, the passage around the words of the question, with an ellipsis where text is missing.
    pub sentence: String,
    /// Whether the budget had no room for the whole sentence.
    pub is_cut: bool,
    /// The tags of the grain.
    pub tags: Vec<String>,
    /// Whether it still holds.
    pub standing: Standing,
    /// Other lines that say the opposite, or otherwise what only one thing can be.
    pub contradicts: Vec<ContentAddress>,
    /// How well it fits the question, in [0, 1); none of a line that only stands beside one that
    /// does.
    pub score: Option<f64>,
}

/// Whether what a grain says still holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It is current.
    #[default]
    Current,
    /// It is current, and its verification is `contested`.
    Contested,
    /// It has ended: its `valid_to` is in the past.
    Ended,
    /// Another grain replaced it.
    Superseded,
    /// It was contradicted or withdrawn.
    Contradicted,
}

/// How many matches a budget had no room for.
///
/// ```
/// use grainstore::render::LeftOut;
///
/// let left_out = LeftOut { facts: 1, messages: 12 };
/// assert_eq!(left_out.to_string(), "Left out: 1 fact, 12 messages.");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Grains that are not turns.
    pub facts: usize,
    /// Turns of conversations.
    pub messages: usize,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |count: usize, name: &str| match count {
            0 => None,
            1 => Some(format!("1 {name}")),
            _ => Some(format!("{count} {name}s")),
        };
        let counts = [count(self.facts, "fact"), count(self.messages, "message")];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        write!(f, "Left out: {}.", counts.join(", "))
    }
}

impl Standing {
    /// Returns the word for it; none for what is current.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Current => None,
            Self::Contested => Some("contested"),
            Self::Ended => Some("ended"),
            Self::Superseded => Some("superseded"),
            Self::Contradicted => Some("contradicted"),
        }
    }
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
    /// Facts as a list, then a list for each conversation: for a prompt. Each fact has its date and
    /// the first digits of its address, each conversation those of its first turn.
    #[default]
    Markdown,
    /// One object with every detail.
    Json,
    /// A line for each grain, each with its time and the first digits of its address.
    Text,
    /// An element for each grain, named by its type, without addresses: the Semantic Markup Language
    /// (SML 1.0).
    Sml,
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
            Format::Sml => lines::sml(self, shown),
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

#[cfg(feature = "text")]
impl Line {
    /// Returns what the line costs by [`tokens`], as Markdown, in a passage of its kind.
    pub(crate) fn tokens(&self, is_conversation: bool) -> usize {
        let mut count = lines::TokenCount::default();
        match is_conversation {
            true => lines::turn(&mut count, self, None, escaped),
            false => lines::fact(&mut count, self, escaped),
        }
        count.tokens()
    }
}

#[cfg(feature = "text")]
impl Passage {
    /// Returns what the heading of a passage costs by [`tokens`], as Markdown, given its first line, with
    /// the empty lines around it.
    pub(crate) fn heading_tokens(is_conversation: bool, first: Option<&Line>) -> usize {
        tokens(&lines::heading(is_conversation, first)) + 1
    }
}

#[cfg(feature = "text")]
impl LeftOut {
    /// Returns what the sentence costs by [`tokens`], with the empty line before it.
    pub(crate) fn tokens(&self) -> usize {
        tokens(&lines::left_out(self))
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
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().count() - ascii;
    ascii.div_ceil(4) + others
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "markdown" => Ok(Self::Markdown),
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            "sml" => Ok(Self::Sml),
            _ => Err("one of markdown, json, text, sml".into()),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::Text => "text",
            Self::Sml => "sml",
        })
    }
}
