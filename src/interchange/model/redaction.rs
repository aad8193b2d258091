//! Redaction: what is left out of a record that is to be shared.
//!
//! PAM 21 lets users strip the identifiers of the platforms that their memory came from, and OMI 16.2
//! asks for redaction before a file is shared. One meaning serves both: the ids that accounts, messages
//! and conversations have there, what a platform wrote beside them, and the grain that is embedded
//! whole, since it has all of these.

use crate::codec::{Map, Value};

use super::loss::Loss;

/// Removes members from a record, and counts them. A path goes through objects, and through all the
/// objects of an array; an object that has nothing left goes, too.
pub(crate) fn redact(record: &mut Map, paths: &[&str], loss: &mut Loss) {
    for path in paths {
        take(record, path, path, loss);
    }
}

fn take(map: &mut Map, rest: &str, path: &str, loss: &mut Loss) {
    let Some((of, rest)) = rest.split_once('/') else {
        if map.remove(rest).is_some_and(|value| value != Value::Nil) {
            loss.count(&format!("{path}: redacted"));
        }
        return;
    };
    match map.get_mut(of) {
        Some(Value::Map(inner)) => {
            take(inner, rest, path, loss);
            if inner.is_empty() {
                map.remove(of);
            }
        }
        Some(Value::Array(items)) => {
            for item in items {
                if let Value::Map(item) = item {
                    take(item, rest, path, loss);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(json: &str) -> Map {
        match Value::from_json(json).unwrap() {
            Value::Map(map) => map,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn members_go_wherever_a_path_leads_and_are_counted() {
        let mut record = map(
            r#"{"a":{"id":"x","b":1},"c":{"id":"x"},"d":[{"id":"x","e":2},{"id":null},3],"id":"x"}"#,
        );
        let mut loss = Loss::default();
        redact(
            &mut record,
            &["a/id", "c/id", "d/id", "none/id", "a/b/id"],
            &mut loss,
        );
        assert_eq!(record, map(r#"{"a":{"b":1},"d":[{"e":2},{},3],"id":"x"}"#));
        let counted: Vec<_> = loss.iter().collect();
        assert_eq!(
            counted,
            [
                ("a/id: redacted", 1),
                ("c/id: redacted", 1),
                ("d/id: redacted", 1)
            ]
        );
    }
}
