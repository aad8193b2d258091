//! Phases and execution modes of Action grains (OMS 27.1).

use crate::codec::Value;

use super::elided::is_elided;
use super::findings::Findings;
use super::required_fields::is_present;
use crate::grain::fields::{Fields, Slot, field, fields};
use crate::grain::{Error, Type};

pub(super) fn check(fields: &Fields<'_>, findings: &mut Findings) -> Result<(), Error> {
    // Ruling S10: without the elided phase it is unknown which rules the other fields must follow.
    if fields!["action_phase", "execution_mode"]
        .iter()
        .any(|slot| is_elided(fields, *slot))
    {
        return Ok(());
    }
    let phase = phase(fields)?;
    let is_code = fields.text(field!("execution_mode")) == Some("code_exec");
    let required: &[Slot] = match phase {
        Phase::Definition => fields!["tool_name", "tool_description", "input_schema"],
        Phase::Call => fields!["tool_name", "input"],
        Phase::Result => fields!["tool_call_id", "content", "is_error", "derived_from"],
        // Ruling T3: the specification's own example of executed code has no tool.
        Phase::Complete if is_code => fields!["code", "is_error"],
        Phase::Complete => fields!["tool_name", "input", "content", "is_error"],
    };
    if let Some(missing) = required.iter().find(|slot| !is_present(fields, **slot)) {
        return Err(Error::missing(missing.name(), Type::Action));
    }
    let outcome = fields!["stdout", "stderr", "exit_code", "content"];
    if phase == Phase::Complete && is_code && !outcome.iter().any(|slot| is_present(fields, *slot))
    {
        return Err(Error::missing(
            "stdout, stderr, exit_code or content",
            Type::Action,
        ));
    }
    if phase == Phase::Result && !names_a_call(fields) {
        findings.writer_rule(Error::Empty {
            field: "derived_from".into(),
        })?;
    }
    if let Some(slot) = phase
        .forbidden()
        .iter()
        .find(|slot| fields.contains(**slot))
    {
        return Err(Error::Forbidden {
            field: slot.name().to_owned(),
            reason: "the action phase excludes it (OMS 27.1)",
        });
    }
    for slot in phase.omitted() {
        if fields.contains(*slot) {
            findings.warn(
                slot.name(),
                "usually omitted in this action phase (OMS 27.1)",
            );
        }
    }
    Ok(())
}

/// OMS 27.1: a result is derived from the grain of its call; a citation is none.
fn names_a_call(fields: &Fields<'_>) -> bool {
    let sources = fields.get(field!("derived_from")).and_then(Value::as_array);
    sources.is_none_or(|sources| sources.iter().any(|source| source.as_text().is_some()))
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Definition,
    Call,
    Result,
    Complete,
}

fn phase(fields: &Fields<'_>) -> Result<Phase, Error> {
    match fields.get(field!("action_phase")) {
        None => Ok(Phase::Complete),
        Some(Value::Text(text)) => match text.as_str() {
            "definition" => Ok(Phase::Definition),
            "call" => Ok(Phase::Call),
            "result" => Ok(Phase::Result),
            other => Err(Error::NotListed {
                field: "action_phase".into(),
                value: other.to_owned(),
                allowed: "definition, call, result, or absent".into(),
            }),
        },
        Some(_) => Err(Error::WrongKind {
            field: "action_phase".into(),
            expected: "text",
        }),
    }
}

impl Phase {
    /// Fields that MUST NOT be there.
    const fn forbidden(self) -> &'static [Slot] {
        match self {
            Self::Definition => fields![
                "input",
                "content",
                "is_error",
                "stdout",
                "stderr",
                "exit_code",
                "duration_ms",
            ],
            Self::Call => fields![
                "content",
                "is_error",
                "stdout",
                "stderr",
                "exit_code",
                "duration_ms",
            ],
            Self::Result | Self::Complete => fields![],
        }
    }

    /// Fields the table says to omit without saying MUST NOT.
    const fn omitted(self) -> &'static [Slot] {
        match self {
            Self::Definition => fields!["tool_call_id", "call_batch_id", "derived_from"],
            Self::Call => fields![
                "tool_description",
                "input_schema",
                "output_schema",
                "strict",
            ],
            Self::Result => fields![
                "tool_name",
                "input",
                "tool_description",
                "input_schema",
                "output_schema",
                "strict",
                "tool_type",
                "tool_version",
            ],
            Self::Complete => fields![
                "tool_description",
                "input_schema",
                "output_schema",
                "strict",
                "derived_from",
            ],
        }
    }
}
