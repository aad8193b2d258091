//! The Context Assembly Language (CAL 1.0) of the Open Memory Specification, for grainstore.
//!
//! [`parse`] and [`parse_json`] return the same [`Query`] for the two forms of a statement, and its
//! `Display` is the canonical text. A statement reads, assembles or evolves memory; the grammar has
//! none that deletes.

mod assemble;
mod bind;
mod check;
mod code;
mod condition;
mod editing;
mod error;
mod format;
mod host;
mod json;
mod lexer;
mod parser;
mod place;
mod print;
mod recall;
mod run;
mod statement;
mod template;
mod time;
mod vocabulary;

pub use assemble::{Assemble, Budget, Preset, Shape, Source, StreamOption, Unit};
pub use code::Code;
pub use condition::{Condition, Extract, Op, Operand, Subquery, Value};
pub use editing::{Highlight, completions, highlights};
pub use error::Error;
pub use host::{Host, Prepared};
pub use json::{parse_bytes, parse_json};
pub use place::{At, Placed};
pub use recall::{Arg, Direction, Format, Opt, Recall, Stage, Thread, Within};
pub use run::{Answer, Body, Cal, Change, Context, Event, Failure, Grains, Options, SourceUse};
pub use statement::{
    Add, Batch, Coalesce, Describe, Described, Entry, Exists, Explain, History, Let, Query, Revert,
    SetOp, SetOperator, Setting, Statement, Supersede,
};
pub use template::{DefineTemplate, Sections};
pub use vocabulary::{GRAMMAR, Kind};

/// Returns the statement of a text: its syntax is checked, its meaning by [`Query::checked`].
///
/// ```
/// use grainstore_cal::{Code, parse};
///
/// assert!(parse("RECALL beliefs WHERE subject = \"alice\"").is_ok());
/// assert_eq!(parse("DELETE beliefs").unwrap_err().code, Code::Unexpected);
/// ```
///
/// # Errors
/// Codes of syntax, such as CAL-E002, each with its place.
pub fn parse(text: &str) -> Result<Query, Error> {
    parser::parse(text)
}
