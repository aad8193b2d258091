//! ASSEMBLE: a context from several recalls within a budget.

use serde::{Deserialize, Serialize};

use crate::condition::Value;
use crate::place::{At, Placed};
use crate::recall::{Format, Opt, Recall};
use crate::template::Sections;

/// `ASSEMBLE .. FROM ..`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Assemble {
    /// The name of the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Placed<String>>,
    /// FOR: the intent.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub intent: Option<Placed<Value>>,
    /// FROM: the sources.
    #[serde(rename = "from")]
    pub sources: Vec<Source>,
    /// BUDGET.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Placed<Budget>>,
    /// PRIORITY: labels, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priority: Vec<Placed<String>>,
    /// FORMAT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Placed<Shape>>,
    /// STREAM with its options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<Placed<Vec<StreamOption>>>,
    /// WITH: options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<Placed<Opt>>,
    #[serde(skip)]
    pub(crate) at: At,
}

/// A source of a context: a recall, or the name of a LET.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Source {
    /// The label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Placed<String>>,
    /// The recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<Recall>,
    /// The name of a LET, without the sign.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub named: Option<Placed<String>>,
}

/// How much a context may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// How many.
    pub amount: Value,
    /// Of what.
    pub unit: Unit,
}

/// The unit of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Tokens, by the estimate of [`grainstore::render::tokens`].
    Tokens,
    /// Grains.
    Grains,
}

/// How a context is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// In a format.
    Format(Format),
    /// By a preset: another name of a format.
    Preset(Preset),
    /// By a template that was defined.
    Template(String),
    /// By a template between braces.
    Inline(Box<Sections>),
}

/// Another name of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// SML.
    Structured,
    /// Markdown.
    Readable,
    /// Text.
    Compact,
    /// JSON.
    Data,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 4] = [Self::Structured, Self::Readable, Self::Compact, Self::Data];

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Readable => "readable",
            Self::Compact => "compact",
            Self::Data => "data",
        }
    }

    /// Returns the format.
    pub const fn format(self) -> Format {
        match self {
            Self::Structured => Format::Sml,
            Self::Readable => Format::Markdown,
            Self::Compact => Format::Text,
            Self::Data => Format::Json,
        }
    }
}

/// An option of STREAM: a word, or `chunk_size = n`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamOption {
    /// The name, in lower case.
    pub name: String,
    /// The number of `chunk_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}
