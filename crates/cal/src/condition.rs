//! A condition of WHERE, and the values of statements.

use serde::{Deserialize, Serialize};

use crate::place::{At, Placed};
use crate::recall::Recall;

/// `field op value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The name of the field, with the prefix of its domain.
    pub field: Placed<String>,
    /// The operator.
    pub op: Op,
    /// The value; an array for IN, BETWEEN, INCLUDE and EXCLUDE.
    pub value: Operand,
    #[serde(skip)]
    pub(crate) at: At,
}

/// An operator of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// `=`.
    #[serde(rename = "=")]
    Eq,
    /// `!=`.
    #[serde(rename = "!=")]
    Ne,
    /// `>=`.
    #[serde(rename = ">=")]
    Ge,
    /// `<=`.
    #[serde(rename = "<=")]
    Le,
    /// `>`.
    #[serde(rename = ">")]
    Gt,
    /// `<`.
    #[serde(rename = "<")]
    Lt,
    /// `IN (..)`.
    #[serde(rename = "in")]
    In,
    /// `BETWEEN .. AND ..`.
    #[serde(rename = "between")]
    Between,
    /// `IS category`.
    #[serde(rename = "is")]
    Is,
    /// `INCLUDE [..]`.
    #[serde(rename = "include")]
    Include,
    /// `EXCLUDE [..]`.
    #[serde(rename = "exclude")]
    Exclude,
}

impl Op {
    /// Returns the operator as a statement has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "!=",
            Self::Ge => ">=",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Lt => "<",
            Self::In => "IN",
            Self::Between => "BETWEEN",
            Self::Is => "IS",
            Self::Include => "INCLUDE",
            Self::Exclude => "EXCLUDE",
        }
    }
}

/// The right side of a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Operand {
    /// `(RECALL .. | SUBJECTS)`.
    Subquery(Box<Subquery>),
    /// A value or several.
    Value(Value),
}

/// A recall of which a condition takes the values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subquery {
    /// The recall.
    pub recall: Recall,
    /// The values that it takes.
    pub extract: Extract,
}

/// The values that are taken of the grains of a recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extract {
    /// The subjects of beliefs.
    Subjects,
    /// The objects of beliefs.
    Objects,
    /// The addresses.
    Hashes,
}

impl Extract {
    /// Returns the keyword.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Subjects => "SUBJECTS",
            Self::Objects => "OBJECTS",
            Self::Hashes => "HASHES",
        }
    }
}

/// A value of a statement.
///
/// ```
/// use grainstore_cal::Value;
///
/// assert_eq!(Value::Float(1.0).to_string(), "1.0");
/// assert_eq!(Value::Text("a \"b\"".into()).to_string(), r#""a \"b\"""#);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// A text, in normal form C.
    Text(String),
    /// `[..]`.
    Array(Vec<Self>),
    /// `$name`, or the name of a LET.
    Param {
        /// The name, without the sign.
        #[serde(rename = "$param")]
        name: String,
        /// The place.
        #[serde(skip)]
        at: At,
    },
    /// `sha256:` and 8 to 64 digits.
    Hash {
        /// The digits.
        #[serde(rename = "$hash")]
        digits: String,
    },
}

impl Value {
    /// Returns the text of a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number of a number.
    pub const fn as_number(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(*n as f64),
            Self::Float(n) => Some(*n),
            _ => None,
        }
    }
}
