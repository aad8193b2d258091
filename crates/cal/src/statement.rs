//! The statements of CAL: a closed set, none of which deletes.

use serde::{Deserialize, Serialize};

use crate::assemble::Assemble;
use crate::condition::{Condition, Extract, Value};
use crate::place::{At, Placed};
use crate::recall::{Recall, Within};
use crate::template::DefineTemplate;
use crate::vocabulary::Kind;

/// A statement with what precedes it.
///
/// ```
/// let query = grainstore_cal::parse("recall beliefs about \"alice\" limit 3")?;
/// assert_eq!(query.to_string(), "RECALL beliefs ABOUT \"alice\" | LIMIT 3");
/// let json = query.to_json();
/// assert_eq!(grainstore_cal::parse_json(&json)?, query);
/// # Ok::<(), grainstore_cal::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The version that it asks for.
    pub version: Option<u32>,
    /// The named recalls.
    pub lets: Vec<Let>,
    /// The statement.
    pub statement: Statement,
}

/// `LET $name = RECALL ..;`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Let {
    /// The name, without the sign.
    pub name: Placed<String>,
    /// The recall.
    pub recall: Recall,
    /// The values that are taken of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<Extract>,
}

/// The closed set of statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "statement", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a query has one, a batch ten, and most are recalls"
)]
pub enum Statement {
    /// Finds grains.
    Recall(Recall),
    /// Writes a context from several recalls.
    Assemble(Assemble),
    /// Joins, intersects or subtracts two recalls.
    SetOp(SetOp),
    /// Whether there is a grain.
    Exists(Exists),
    /// The versions of a grain.
    History(History),
    /// How a statement would be answered.
    Explain(Explain),
    /// The types, the fields, the capabilities.
    Describe(Describe),
    /// Several statements.
    Batch(Batch),
    /// The first of several recalls that finds anything.
    Coalesce(Coalesce),
    /// Stores a grain.
    Add(Add),
    /// Replaces a grain.
    Supersede(Supersede),
    /// Takes a replacement back.
    Revert(Revert),
    /// Keeps a template in the host.
    DefineTemplate(DefineTemplate),
}

impl Query {
    /// Returns whether it is a change: ADD, SUPERSEDE or REVERT.
    ///
    /// ```
    /// assert!(grainstore_cal::parse("REVERT sha256:01234567 REASON \"wrong\"")?.is_change());
    /// assert!(!grainstore_cal::parse("RECALL")?.is_change());
    /// # Ok::<(), grainstore_cal::Error>(())
    /// ```
    pub const fn is_change(&self) -> bool {
        matches!(
            self.statement,
            Statement::Add(_) | Statement::Supersede(_) | Statement::Revert(_)
        )
    }

    /// Returns whether it asks for a stream of events.
    pub const fn is_stream(&self) -> bool {
        matches!(&self.statement, Statement::Assemble(it) if it.stream.is_some())
    }
}

impl Statement {
    /// Returns the name of the kind of statement, as the envelope of an answer has it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Recall(_) => "recall",
            Self::Assemble(_) => "assemble",
            Self::SetOp(_) => "set_op",
            Self::Exists(_) => "exists",
            Self::History(_) => "history",
            Self::Explain(_) => "explain",
            Self::Describe(_) => "describe",
            Self::Batch(_) => "batch",
            Self::Coalesce(_) => "coalesce",
            Self::Add(_) => "add",
            Self::Supersede(_) => "supersede",
            Self::Revert(_) => "revert",
            Self::DefineTemplate(_) => "define_template",
        }
    }
}

/// `(..) UNION (..)`; an operand is a recall or another set operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetOp {
    /// The operation.
    pub op: SetOperator,
    /// The left operand.
    pub left: Box<Statement>,
    /// The right operand.
    pub right: Box<Statement>,
    #[serde(skip)]
    pub(crate) at: At,
}

/// An operation on sets of grains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetOperator {
    /// Of either.
    Union,
    /// Of both.
    Intersect,
    /// Of the left and not the right.
    Except,
}

impl SetOperator {
    /// Returns the keyword.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Union => "UNION",
            Self::Intersect => "INTERSECT",
            Self::Except => "EXCEPT",
        }
    }
}

/// `EXISTS sha256:..`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exists {
    /// The address.
    pub hash: Placed<Value>,
}

/// `HISTORY ..`: of an address, or of a subject and a relation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct History {
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<Placed<Value>>,
    /// The version to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<Placed<Value>>,
    /// The namespace.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub within: Option<Placed<Within>>,
    /// `subject = ..` and `relation = ..`.
    #[serde(rename = "where", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Placed<Value>>,
    #[serde(skip)]
    pub(crate) at: At,
}

/// `EXPLAIN ..`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// The statement.
    pub of: Box<Statement>,
}

/// `DESCRIBE ..`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Describe {
    /// What.
    pub what: Described,
    /// The type whose fields are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain_type: Option<Kind>,
}

/// A subject of DESCRIBE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Described {
    /// The types.
    GrainTypes,
    /// The fields, of a type or common.
    Fields,
    /// The levels and limits that are implemented.
    Capabilities,
    /// The program.
    Server,
    /// The templates.
    Templates,
    /// The grammar.
    Grammar,
}

impl Described {
    /// All with their names.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("grain_types", Self::GrainTypes),
        ("fields", Self::Fields),
        ("capabilities", Self::Capabilities),
        ("server", Self::Server),
        ("templates", Self::Templates),
        ("grammar", Self::Grammar),
    ];
}

/// `BATCH { label: .., .. }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The statements with their labels.
    pub entries: Vec<Entry>,
    #[serde(skip)]
    pub(crate) at: At,
}

/// A labelled statement of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The label.
    pub label: Placed<String>,
    /// The statement: one that reads.
    pub entry: Statement,
}

/// `COALESCE (.., ..)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coalesce {
    /// The recalls.
    pub branches: Vec<Recall>,
    #[serde(skip)]
    pub(crate) at: At,
}

/// `SET field = value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The field.
    pub field: Placed<String>,
    /// The value.
    pub value: Value,
}

/// `ADD type SET .. REASON ..`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Add {
    /// The type.
    pub grain_type: Placed<Kind>,
    /// The fields.
    #[serde(default)]
    pub set: Vec<Setting>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Placed<Value>>,
}

/// `SUPERSEDE hash SET .. REASON ..`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Supersede {
    /// The grain.
    pub target: Placed<Value>,
    /// The fields that change.
    #[serde(default)]
    pub set: Vec<Setting>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Placed<Value>>,
}

/// `REVERT hash REASON ..`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revert {
    /// The grain.
    pub target: Placed<Value>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Placed<Value>>,
}
