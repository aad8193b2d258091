//! `grainstore schema`: the JSON Schema of the lines that `put` takes.
//!
//! The schema is the library's; the examples are the lines that the help of `put` shows.

use clap::Args;
use grainstore::Type;
use serde_json::{Value, json};

use crate::args::grain_type;
use crate::commands::grains::examples;
use crate::error::Exit;
use crate::session::Session;
use grainstore::grain::json_schema;

/// Print the JSON Schema of the grains that `put` takes, with an example
///
/// For one type, or for all ten. A member that no field has is stored as application data.
#[derive(Debug, Args)]
#[command(after_long_help = "Example, the fields of a goal:
  grainstore schema goal | jq '.properties | keys'")]
pub(crate) struct SchemaTool {
    /// Grain type: belief, event, state, workflow, action, observation, goal, reasoning, …
    #[arg(value_name = "TYPE", value_parser = grain_type)]
    of: Option<Type>,
}

impl SchemaTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let schema = match self.of {
            Some(of) => schema(of)?,
            None => {
                let all: Result<Vec<Value>, _> = Type::STANDARD.into_iter().map(schema).collect();
                json!({
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "title": "grain",
                    "oneOf": all?,
                })
            }
        };
        if session.out.is_json() {
            session.out.json(&schema)?;
        } else {
            session.out.line(serde_json::to_string_pretty(&schema)?)?;
        }
        Ok(Exit::Done)
    }
}

fn schema(of: Type) -> serde_json::Result<Value> {
    let mut schema = serde_json::to_value(json_schema(of))?;
    let examples = examples().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let name = json!(of.name());
    let examples: Vec<_> = examples.filter(|line| line["type"] == name).collect();
    schema["examples"] = examples.into();
    Ok(schema)
}
