//! The answer to a statement, or why there is none, as a model reads it.

use grainstore::render::escaped;
use grainstore_cal::{Answer, Body, Failure as Refusal};

use crate::mcp::failure::Failure;
use crate::mcp::tools::address::short;

/// Returns the answer as lines.
pub(super) fn text_of(answer: &Answer) -> String {
    if let Some(text) = answer.text() {
        return text.to_owned();
    }
    match &answer.body {
        Body::Grains(grains) if grains.select.is_none() => {
            let lines = grains.found.iter().map(|found| {
                let sentence = found.grain.sentence();
                format!("- {} ({})\n", escaped(&sentence), short(&found.address))
            });
            lines.collect()
        }
        _ => {
            let mut document = answer.to_json();
            if let Some(members) = document.as_object_mut() {
                members.remove("_cal");
            }
            format!("{document}\n")
        }
    }
}

/// Returns a refusal as a model reads it: with a mark under the place of a mistake.
pub(super) fn refused(refusal: &Refusal, statement: &str) -> Failure {
    let message = match refusal {
        Refusal::Statement(error) => escaped_lines(&error.pointed(statement)),
        other => other.to_string(),
    };
    Failure {
        code: refusal.code(),
        message,
        advice: "",
    }
}

fn escaped_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(escaped).collect();
    lines.join("\n")
}
