//! The tools: each is the type of its arguments, in a file of its own.
//!
//! A tool gets a [`Scope`] and returns an [`Answer`] or a [`Failure`]; it knows nothing of the
//! protocol. This module turns both into results, and types into schemas.

mod address;
mod arguments;
mod cal;
mod correct;
mod forget;
mod get;
mod history;
mod import_conversation;
mod item;
mod memory;
mod recall;
mod remember;
mod report;
mod schema;
mod search;

use grainstore::ErrorCode;
use rmcp::handler::server::tool::schema_for_input;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, MetaObject, Tool as Description, ToolAnnotations,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::failure::Failure;
use super::shown;
use crate::Scope;
use crate::http::Operation;

pub(super) use address::resolve;
pub(super) use forget::{Deleted, Forget};
pub(super) use item::{Item, fields_within};

/// A tool: its arguments are its fields.
trait Tool: DeserializeOwned + JsonSchema + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const ABOUT: &'static str;
    const EFFECT: Effect;
    /// The operation that a token must permit.
    const NEEDS: Operation = match Self::EFFECT {
        Effect::Reads => Operation::Read,
        Effect::Adds => Operation::Write,
        Effect::Destroys => Operation::Erase,
    };
    type Output: Serialize;

    fn run(self, scope: &Scope) -> Result<Answer<Self::Output>, Failure>;
}

/// The effect of a tool on the store, as clients show it to a person before they allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    /// Adds grains or versions; nothing that was there is lost.
    Adds,
    Destroys,
}

/// An answer for a model, as text and as data.
pub(super) struct Answer<T> {
    pub(super) text: String,
    pub(super) output: T,
}

/// A tool without its type.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) needs: Operation,
    pub(super) describe: fn() -> Description,
    pub(super) run: fn(&Scope, JsonObject) -> CallToolResult,
}

/// The tools in the order in which clients list them.
pub(super) const ALL: &[Entry] = &[
    entry::<remember::Remember>(),
    entry::<recall::Recall>(),
    entry::<search::Search>(),
    entry::<search::Query>(),
    entry::<cal::Cal>(),
    entry::<cal::Change>(),
    entry::<get::Get>(),
    entry::<history::History>(),
    entry::<correct::Correct>(),
    entry::<Forget>(),
    entry::<report::Report>(),
    entry::<import_conversation::ImportConversation>(),
    entry::<memory::Files>(),
];

/// The name of the tool that is there where changes in CAL are enabled.
pub(super) const CHANGE: &str = cal::Change::NAME;

/// The name of the tool whose call a person confirms.
pub(super) const FORGET: &str = Forget::NAME;

const fn entry<T: Tool>() -> Entry {
    Entry {
        name: T::NAME,
        needs: T::NEEDS,
        describe: describe::<T>,
        run: run::<T>,
    }
}

fn describe<T: Tool>() -> Description {
    // The arguments of every tool are a struct, whose schema is an object.
    let input = schema_for_input::<T>().unwrap_or_default();
    let hints = ToolAnnotations::new().open_world(false);
    // The others mean nothing of a tool that only reads.
    let hints = match T::EFFECT {
        Effect::Reads => hints.read_only(true),
        effect => hints
            .read_only(false)
            .destructive(effect == Effect::Destroys)
            .idempotent(effect != Effect::Adds),
    };
    Description::new(T::NAME, T::ABOUT, schema::of_input(&input))
        .with_title(T::TITLE)
        .with_annotations(hints)
}

fn run<T: Tool>(scope: &Scope, arguments: JsonObject) -> CallToolResult {
    result(parse::<T>(arguments).and_then(|tool| tool.run(scope)))
}

/// Reads the arguments of a tool.
///
/// # Errors
/// `ERR_USAGE`, with what is wrong.
pub(super) fn parse<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Failure::usage(format!("the arguments do not fit the tool: {error}")))
}

/// Returns the refusal of a tool whose operation the token does not permit.
pub(super) fn denied(needs: Operation) -> CallToolResult {
    let message = format!("the token does not permit the operation {}", needs.name());
    result::<Value>(Err(Failure::new(ErrorCode::AccessDenied, message)))
}

/// Turns the outcome of a tool into a result: a failure is one that the model reads.
pub(super) fn result<T: Serialize>(outcome: Result<Answer<T>, Failure>) -> CallToolResult {
    let failure = match outcome {
        Ok(answer) => match serde_json::to_value(&answer.output) {
            Ok(output) => {
                let mut result = CallToolResult::structured(shown::document(output));
                result.content = vec![ContentBlock::text(shown::lines(&answer.text))];
                return result;
            }
            Err(error) => Failure::usage(error.to_string()),
        },
        Err(failure) => failure,
    };
    let mut result = CallToolResult::error(vec![ContentBlock::text(failure.to_text())]);
    // Not as structured content, which some clients show in place of the text.
    result.meta = Some(MetaObject(JsonObject::from_iter([(
        "error".to_owned(),
        json!(failure),
    )])));
    result
}
