//! Bringing a record into a form that no validator refuses, before it is written.

use crate::codec::{Map, Value};
use crate::interchange::{Diagnostics, Loss, Place};

/// Removes from a record what `check` reports, and counts it by name; `of` names the record. `None`
/// for a record that cannot be written at all.
///
/// An import accepts more than the schemas do, and a file that our own validation refuses would be
/// refused by others.
pub(crate) fn settle(
    map: Map,
    of: &str,
    check: impl Fn(&Value, &mut Diagnostics),
    loss: &mut Loss,
) -> Option<Map> {
    let mut value = Value::Map(map);
    loop {
        let mut faults = Diagnostics::default();
        check(&value, &mut faults);
        if faults.is_empty() {
            break;
        }
        let mut is_changed = false;
        // The last come first: the removal of an element moves those after it.
        for error in faults.list.iter().rev() {
            if let Place::Pointer(at) = error.place()
                && let Some(removed) = remove(&mut value, at)
            {
                loss.count(&format!("{of}{removed}"));
                is_changed = true;
            }
        }
        if !is_changed {
            loss.count(of);
            return None;
        }
    }
    match value {
        Value::Map(map) => Some(map),
        _ => None,
    }
}

/// Removes the value at a pointer, or the object that lacks it; returns the names on the way to it.
fn remove(value: &mut Value, at: &str) -> Option<String> {
    let (parent, last) = at.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let is_removed = match lookup(value, parent) {
        Some(Value::Map(map)) => map.remove(&last).is_some(),
        Some(Value::Array(items)) => match last.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    };
    if !is_removed {
        return remove(value, parent);
    }
    let names = at.split('/').filter(|name| name.parse::<u64>().is_err());
    Some(names.collect::<Vec<_>>().join("."))
}

fn lookup<'v>(value: &'v mut Value, at: &str) -> Option<&'v mut Value> {
    at.split('/').skip(1).try_fold(value, |value, name| {
        let name = name.replace("~1", "/").replace("~0", "~");
        match value {
            Value::Map(map) => map.get_mut(&name),
            Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::code;
    use super::super::super::types::object::fault;
    use super::*;

    #[test]
    fn what_is_reported_is_removed_and_an_object_that_lacks_something_with_it() {
        let record = Value::from_json(r#"{"a": [1, {"b/c": 2}, 3], "d": {"e": 4}, "f": 5}"#);
        let Ok(Value::Map(map)) = record else {
            panic!()
        };
        let check = |value: &Value, faults: &mut Diagnostics| {
            let mut report = |at: &str| faults.push(fault(code::SCHEMA, at.to_owned(), "wrong"));
            if value.as_map().is_some_and(|map| map.contains("d")) {
                report("/a/0");
                report("/a/1/b~1c");
                report("/d/missing");
            }
        };
        let mut loss = Loss::default();
        let settled = settle(map.clone(), "memory", check, &mut loss).unwrap();
        assert_eq!(Value::Map(settled).to_json(), r#"{"a":[{},3],"f":5}"#);
        let lost: Vec<_> = loss.iter().collect();
        assert_eq!(
            lost,
            [("memory.a", 1), ("memory.a.b~1c", 1), ("memory.d", 1)]
        );
        let missing = |_: &Value, faults: &mut Diagnostics| {
            faults.push(fault(code::SCHEMA, "/g".to_owned(), "is missing"));
        };
        assert_eq!(settle(map, "memory", missing, &mut loss), None);
    }
}
