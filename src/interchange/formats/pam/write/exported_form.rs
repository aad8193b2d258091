//! The form in which a record of this format is written, which an import of the file must not take
//! for another version of it.

use crate::codec::{Map, Value};
use crate::grain::{Grain, Status, Type};
use crate::interchange::formats::shape::Shape;
use crate::interchange::{Diagnostics, Loss};

use super::super::schema::settle::settle;
use super::super::schema::tables::{CONVERSATION, ENTRY, MEMORY, RELATION};
use super::super::schema::validate;
use super::super::types::object::reported;
use super::super::types::residual::{conversation_residual, is_relation, residual};
use super::checksum_form::{to_checksum_form, write_status};

/// Returns whether a record says what an export writes of a stored version.
pub(crate) fn is_export_of(record: &Grain, stored: &Grain, status: &Status) -> bool {
    let written = written(stored, status);
    written.is_some()
        && written == compared(residual(record), record)
        && document(stored) == conversation_residual(record)
}

/// Returns the record that an export writes of a stored version, without what depends on others.
fn written(stored: &Grain, status: &Status) -> Option<Map> {
    let Some(Value::Map(mut map)) = residual(stored) else {
        return None;
    };
    let (shape, rules): (&Shape, fn(&Value, &str, &mut Diagnostics)) = match stored.type_() {
        Type::State => (&ENTRY, validate::entry),
        // A message is pruned with its conversation.
        Type::Event => return Some(map),
        _ if is_relation(stored) => (&RELATION, |_, _, _| {}),
        _ => {
            to_checksum_form(&mut map, &mut Loss::default());
            write_status(&mut map, status, None);
            (&MEMORY, validate::memory)
        }
    };
    let map = settled(map, shape, rules)?;
    compared(Some(Value::Map(map)), stored)
}

fn document(stored: &Grain) -> Option<Value> {
    let Some(Value::Map(map)) = conversation_residual(stored) else {
        return None;
    };
    settled(map, &CONVERSATION, validate::conversation).map(Value::Map)
}

fn settled(mut map: Map, shape: &Shape, rules: fn(&Value, &str, &mut Diagnostics)) -> Option<Map> {
    let mut loss = Loss::default();
    shape.prune(&mut map, "", &mut loss);
    let check = |value: &Value, faults: &mut Diagnostics| {
        shape.validate(value, "", &mut reported(faults));
        rules(value, "", faults);
    };
    settle(map, "", check, &mut loss)
}

/// Removes the references to other records, of which an export may hold fewer.
fn compared(record: Option<Value>, grain: &Grain) -> Option<Map> {
    let Some(Value::Map(mut map)) = record else {
        return None;
    };
    match grain.type_() {
        Type::State => {
            for name in ["storage", "derived_memories"] {
                map.remove(name);
            }
        }
        _ => {
            map.remove("embedding_ref");
            for (of, name) in [
                ("temporal", "superseded_by"),
                ("provenance", "conversation_ref"),
            ] {
                if let Some(Value::Map(inner)) = map.get_mut(of) {
                    inner.remove(name);
                }
            }
        }
    }
    Some(map)
}
