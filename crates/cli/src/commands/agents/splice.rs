//! One member put into a JSON text, with every other byte as it was.
//!
//! A configuration belongs to its user: the order of its members, its indentation and its numbers
//! stay as they were written, which writing it anew would not keep.

use serde_json::{Map, Value};

/// Returns a JSON object text with `section.name` set to a value; an empty text counts as an object.
///
/// # Errors
/// What is wrong with the text: it is no strict JSON (comments included), or no object, or the
/// section is none, or a name occurs twice.
pub(super) fn with_member(
    text: &str,
    section: &str,
    name: &str,
    value: &Value,
) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let (bom, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let parsed: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(mut expected) = parsed else {
        return Err("it is no JSON object".to_owned());
    };
    let servers = expected.entry(section).or_insert_with(|| Map::new().into());
    let Value::Object(servers) = servers else {
        return Err(format!("its \"{section}\" is no object"));
    };
    servers.insert(name.to_owned(), value.clone());

    let root = Object::at(text, 0)?;
    let spliced = match root.member(section)? {
        None => {
            let inner = serde_json::json!({ name: value });
            root.with_new(text, section, &inner, 1)
        }
        Some((start, _)) => {
            let servers = Object::at(text, start)?;
            match servers.member(name)? {
                None => servers.with_new(text, name, value, 2),
                Some((start, end)) => {
                    let (before, after) = (text.get(..start), text.get(end..));
                    let value = indented(value, 2);
                    format!(
                        "{}{value}{}",
                        before.unwrap_or_default(),
                        after.unwrap_or_default()
                    )
                }
            }
        }
    };
    // The scanner below knows less of JSON than a parser: nothing is written that it got wrong.
    match serde_json::from_str::<Value>(&spliced) {
        Ok(found) if found == Value::Object(expected) => Ok(format!("{bom}{spliced}")),
        _ => Err("it cannot be changed without changing other entries".to_owned()),
    }
}

/// The members of an object in a text, by their places.
struct Object {
    /// Each name as it is written, with the start and the end of its value.
    members: Vec<(String, usize, usize)>,
    /// Right after `{`.
    open: usize,
}

impl Object {
    /// Scans the object that begins at or after a place of a valid text.
    fn at(text: &str, start: usize) -> Result<Self, String> {
        let bytes = text.as_bytes();
        let found = text.get(start..).and_then(|rest| rest.find('{'));
        let open = found.ok_or("it has no object there")? + start + 1;
        let mut members = Vec::new();
        let mut at = open;
        loop {
            at = past(bytes, at, |byte| byte.is_ascii_whitespace() || byte == b',');
            if bytes.get(at) != Some(&b'"') {
                return Ok(Self { members, open });
            }
            let end = end_of(bytes, at);
            let name = text.get(at..end).unwrap_or_default();
            let name = serde_json::from_str(name).map_err(|error| error.to_string())?;
            let value = past(bytes, end, |byte| {
                byte.is_ascii_whitespace() || byte == b':'
            });
            at = end_of(bytes, value);
            members.push((name, value, at));
        }
    }

    /// Returns the place of a member's value; a parser would take the last of two.
    fn member(&self, name: &str) -> Result<Option<(usize, usize)>, String> {
        let mut found = self.members.iter().filter(|(other, ..)| other == name);
        let first = found.next().map(|(_, start, end)| (*start, *end));
        match found.next() {
            None => Ok(first),
            Some(_) => Err(format!("\"{name}\" occurs twice in it")),
        }
    }

    /// Returns the text with a new member at the end of the object.
    fn with_new(&self, text: &str, name: &str, value: &Value, depth: usize) -> String {
        let name = Value::from(name);
        let member = format!("{}{name}: {}", "  ".repeat(depth), indented(value, depth));
        let (at, comma, end) = match self.members.last() {
            Some((.., end)) => (*end, ",", String::new()),
            None => (self.open, "", format!("\n{}", "  ".repeat(depth - 1))),
        };
        let (before, after) = (text.get(..at), text.get(at..));
        // An empty object closes on a line of its own.
        let after = after.unwrap_or_default();
        let after = if comma.is_empty() {
            after.trim_start()
        } else {
            after
        };
        format!(
            "{}{comma}\n{member}{end}{after}",
            before.unwrap_or_default()
        )
    }
}

/// Returns a value in lines that are indented for its depth.
fn indented(value: &Value, depth: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

fn past(bytes: &[u8], mut at: usize, is_passed: impl Fn(u8) -> bool) -> usize {
    while bytes.get(at).is_some_and(|byte| is_passed(*byte)) {
        at += 1;
    }
    at
}

/// Returns the end of the value that begins at a place of a valid text.
fn end_of(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth, mut is_text) = (start, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text && depth == 0 => return at,
            b'}' | b']' if !is_text => depth -= 1,
            b',' | b':' if !is_text && depth == 0 => return at,
            byte if !is_text && depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
        at += 1;
        let is_whole = depth == 0 && !is_text && matches!(byte, b'"' | b'}' | b']');
        if is_whole {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Result<String, String> {
        with_member(
            text,
            "mcpServers",
            "grainstore",
            &serde_json::json!({ "command": "g" }),
        )
    }

    #[test]
    fn everything_else_stays_as_it_was_written() {
        let text = "{\n\t\"z\": 1.50, \"a\\\"}\": [1, {\"mcpServers\": {}}],\n\t\"mcpServers\": {\n\t\t\"x\": \
                    {\"command\": \"}{\"}\n\t},\n\t\"n\": 1e3\n}\n";
        let changed = set(text).unwrap();
        let at = changed.find(",\n    \"grainstore\"").unwrap();
        let end = changed.find("\n\t},\n\t\"n\"").unwrap();
        assert_eq!(format!("{}{}", &changed[..at], &changed[end..]), text);
        assert_eq!(
            set(&changed).unwrap(),
            changed,
            "a second time changes nothing"
        );
    }

    #[test]
    fn a_new_member_finds_its_place_in_any_object() {
        for text in [
            "",
            " \n",
            "{}",
            "{ }\n",
            "{\"a\":1}",
            "{\"mcpServers\":{}}",
            "{\"mcpServers\" : { } , \"b\":[]}",
        ] {
            let changed: Value = serde_json::from_str(&set(text).unwrap()).unwrap();
            assert_eq!(
                changed["mcpServers"]["grainstore"]["command"], "g",
                "{text}"
            );
        }
        let old = r#"{"mcpServers":{"grainstore":{"command":"old","args":[1]},"x":2}}"#;
        let changed: Value = serde_json::from_str(&set(old).unwrap()).unwrap();
        assert_eq!(
            changed["mcpServers"]["grainstore"],
            serde_json::json!({ "command": "g" })
        );
        assert_eq!(changed["mcpServers"]["x"], 2);
    }

    #[test]
    fn what_cannot_be_parsed_is_refused() {
        let refused = [
            "[]",
            "1",
            "{",
            "{\"a\": 1,}",
            "// comment\n{}",
            "{\"mcpServers\": []}",
            "{\"mcpServers\": {}, \"mcpServers\": {}}",
            "{\"mcpServers\": {\"grainstore\": 1, \"grainstore\": 2}}",
        ];
        for text in refused {
            assert!(set(text).is_err(), "{text}");
        }
    }
}
