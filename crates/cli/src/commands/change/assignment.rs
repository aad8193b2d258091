//! `FIELD=VALUE` as an argument: a text stays a text where the field holds one, else it is JSON.

use grainstore::codec::{Map, Value};
use grainstore::{ErrorCode, Type};

use crate::error::CliError;
use grainstore::grain::json_schema;

/// Sets the fields of `FIELD=VALUE` arguments in a grain of a type.
///
/// # Errors
/// `ERR_USAGE` for an argument without `=` or without a field.
pub(super) fn assign(fields: &mut Map, of: Type, arguments: &[String]) -> Result<(), CliError> {
    let schema = json_schema(of);
    for argument in arguments {
        let (name, text) = match argument.split_once('=') {
            Some((name, text)) if !name.trim().is_empty() => (name.trim(), text),
            _ => {
                let message = format!("--set {argument}: expected FIELD=VALUE");
                return Err(CliError::new(ErrorCode::Usage, message));
            }
        };
        fields.insert(name, value(&schema, name, text));
    }
    Ok(())
}

/// Returns the value that a text means for a field: `21` is a number for `exit_code`, and a text for
/// `subject`. A text that is no JSON is taken as it is.
fn value(schema: &Value, field: &str, text: &str) -> Value {
    let member = |value: &Value, name: &str| value.as_map()?.get(name).cloned();
    let property = member(schema, "properties").and_then(|all| member(&all, field));
    let kinds = property.and_then(|property| member(&property, "type"));
    let takes = |kind: &str| {
        let is_kind =
            |kinds: &Value| kinds.as_text() == Some(kind) || kinds.texts().any(|one| one == kind);
        kinds.as_ref().is_some_and(is_kind)
    };
    let parsed = Value::from_json(text).ok();
    match parsed {
        // An object of a Belief is a text or a map; a time a text or a number.
        Some(Value::Map(map)) if takes("string") && !takes("object") => {
            Value::Text(Value::Map(map).to_json())
        }
        Some(Value::Map(map)) => Value::Map(map),
        Some(Value::Int(int)) if takes("integer") => Value::Int(int),
        Some(_) | None if takes("string") => Value::Text(text.to_owned()),
        // One tag is a list of one.
        None if takes("array") => Value::Array(vec![Value::Text(text.to_owned())]),
        Some(value) => value,
        None => Value::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_kind_that_its_field_holds() {
        let mut fields = Map::new();
        let arguments = [
            "subject=21",
            "object={\"a\":1}",
            "confidence=0.5",
            "valid_to=2027-01-01T00:00:00Z",
            "valid_from=5",
            "structural_tags=home",
            "mood=calm",
            "level=3",
            "user_id=a=b",
        ];
        assign(&mut fields, Type::Belief, &arguments.map(str::to_owned)).unwrap();
        assert_eq!(
            Value::Map(fields).to_json(),
            "{\"confidence\":0.5,\"level\":3,\"mood\":\"calm\",\"object\":{\"a\":1},\
             \"structural_tags\":[\"home\"],\"subject\":\"21\",\"user_id\":\"a=b\",\
             \"valid_from\":5,\"valid_to\":\"2027-01-01T00:00:00Z\"}"
        );
        assert!(assign(&mut Map::new(), Type::Event, &["nothing".to_owned()]).is_err());
    }
}
