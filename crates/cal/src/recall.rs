//! RECALL: its clauses and stages.

use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Extract, Value};
use crate::place::{At, Placed};
use crate::vocabulary::Kind;

/// `RECALL ..`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recall {
    /// MY: of the user of the caller.
    #[serde(skip_serializing_if = "is_false")]
    pub my: bool,
    /// The type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grain_type: Option<Placed<Kind>>,
    /// IN: the namespace.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub within: Option<Placed<Within>>,
    /// ABOUT: the subject, or else words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Placed<Value>>,
    /// LIKE: words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<Placed<Value>>,
    /// SINCE: a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Placed<Value>>,
    /// BETWEEN: two times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<Placed<[Value; 2]>>,
    /// THREAD: a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<Placed<Thread>>,
    /// WHERE: conditions that all hold.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// WITH: options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<Placed<Opt>>,
    /// The stages, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pipeline: Vec<Placed<Stage>>,
    /// RECENT: so many of the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent: Option<Placed<Value>>,
    /// CONTRADICTIONS: only what is contradicted.
    #[serde(skip_serializing_if = "is_false")]
    pub contradictions: bool,
    /// AS: the format.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub format: Option<Placed<Format>>,
    #[serde(skip)]
    pub(crate) at: At,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) const fn is_false(it: &bool) -> bool {
    !*it
}

/// The namespaces that a recall reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Within {
    /// One.
    Namespace(Value),
    /// One and those below it.
    Scope(Value),
}

/// The conversation of a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    /// Of a session.
    Session(Value),
    /// The one that a message belongs to.
    From(Value),
}

/// A stage of the pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case", deny_unknown_fields)]
pub enum Stage {
    /// Keeps fields.
    Select {
        /// Their names.
        fields: Vec<Placed<String>>,
    },
    /// Sorts.
    OrderBy {
        /// The field.
        field: Placed<String>,
        /// Whether the largest comes first.
        #[serde(default)]
        dir: Direction,
    },
    /// Keeps the first.
    Limit {
        /// How many.
        count: Value,
    },
    /// Leaves out the first.
    Offset {
        /// How many.
        count: Value,
    },
    /// Counts.
    Count {},
    /// Keeps the first one.
    First {},
    /// Takes values.
    Extract {
        /// Which.
        of: Extract,
    },
    /// Counts by a field.
    GroupBy {
        /// The field.
        field: Placed<String>,
    },
    /// Chooses what formatted output shows.
    Project {
        /// The fields of the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        content: Vec<Placed<String>>,
        /// The fields of the attributes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attr: Vec<Placed<String>>,
    },
}

/// A direction of a sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The smallest first.
    #[default]
    Asc,
    /// The largest first.
    Desc,
}

/// An option of WITH, such as `diversity(mmr, lambda = 0.5)`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opt {
    /// The name, in lower case.
    pub name: String,
    /// The arguments in its parentheses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Arg>,
}

/// An argument of an option: `name = value`, `word`, `word(value)` or a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Arg {
    /// The name before `=`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A bare word, in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// A value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// A format of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Flat markup, an element for each grain.
    Sml,
    /// Lists under headings.
    Markdown,
    /// A line for each grain.
    Text,
    /// An array of objects.
    Json,
    /// A list of maps.
    Yaml,
    /// Statements.
    Triples,
    /// A table for each type.
    Toon,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Sml,
        Self::Markdown,
        Self::Text,
        Self::Json,
        Self::Yaml,
        Self::Triples,
        Self::Toon,
    ];

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sml => "sml",
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Triples => "triples",
            Self::Toon => "toon",
        }
    }
}
