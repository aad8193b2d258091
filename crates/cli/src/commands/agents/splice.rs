//! One member, or one element of a list, put into a JSON text or taken out of it, with every other byte
//! as it was.
//!
//! A configuration belongs to its user: the order of its members, its indentation and its numbers
//! stay as they were written, which writing it anew would not keep. Comments stay too.

use serde_json::{Map, Value};

use super::comments::without_comments;

/// Returns a JSON object text with `section.name` set to a value; an empty text counts as an object.
///
/// # Errors
/// What is wrong with the text: it is no JSON, or no object, or the section is none, or a name occurs
/// twice.
pub(super) fn with_member(
    text: &str,
    section: &str,
    name: &str,
    value: &Value,
) -> Result<String, String> {
    edited(text, |expected, text| {
        let servers = expected.entry(section).or_insert_with(|| Map::new().into());
        let Value::Object(servers) = servers else {
            return Err(format!("its \"{section}\" is no object"));
        };
        servers.insert(name.to_owned(), value.clone());

        let root = Object::at(text, 0)?;
        let Some((start, _)) = root.member(section)? else {
            let inner = serde_json::json!({ name: value });
            return Ok(root.with_new(text, section, &inner, 1));
        };
        let servers = Object::at(text, start)?;
        Ok(match servers.member(name)? {
            None => servers.with_new(text, name, value, 2),
            Some((start, end)) => replaced(text, start, end, &indented(value, 2)),
        })
    })
}

/// Returns a JSON object text in which the list `section.name` has one element for which `is_own`
/// holds: `element`, at its end; `None` has none. A list, and a section, that becomes empty goes.
///
/// # Errors
/// As [`with_member`]; the member is no list.
pub(super) fn with_element(
    text: &str,
    (section, name): (&str, &str),
    element: Option<&Value>,
    is_own: impl Fn(&Value) -> bool,
) -> Result<String, String> {
    edited(text, |expected, text| {
        let lists = match expected.get(section) {
            None => &Map::new(),
            Some(Value::Object(lists)) => lists,
            Some(_) => return Err(format!("its \"{section}\" is no object")),
        };
        let list = match lists.get(name) {
            None => Vec::new(),
            Some(Value::Array(list)) => list.clone(),
            Some(_) => return Err(format!("its \"{section}.{name}\" is no list")),
        };
        let (own, mut kept): (Vec<_>, Vec<_>) =
            (0..).zip(list).partition(|(_, element)| is_own(element));
        if own.len() <= 1 && own.first().map(|(_, own)| own) == element {
            return Ok(text.to_owned());
        }
        kept.extend(element.map(|element| (0, element.clone())));
        let kept = kept.into_iter().map(|(_, element)| element).collect();
        set_list(expected, section, name, kept);

        let mut spliced = text.to_owned();
        for (number, _) in own.iter().rev() {
            spliced = without(&spliced, section, name, *number)?;
        }
        match element {
            Some(element) => appended(&spliced, section, name, element),
            None => Ok(spliced),
        }
    })
}

/// Edits a JSON object text: `edit` changes the members that are expected, and returns the text.
fn edited(
    text: &str,
    edit: impl FnOnce(&mut Map<String, Value>, &str) -> Result<String, String>,
) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let (bom, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let parsed = serde_json::from_str(&without_comments(text));
    let parsed: Value = parsed.map_err(|error| error.to_string())?;
    let Value::Object(mut expected) = parsed else {
        return Err("it is no JSON object".to_owned());
    };
    let edited = edit(&mut expected, text)?;
    // The scanner below knows less of JSON than a parser: nothing is written that it got wrong.
    match serde_json::from_str::<Value>(&without_comments(&edited)) {
        Ok(found) if found == Value::Object(expected) => Ok(format!("{bom}{edited}")),
        _ => Err("it cannot be changed without changing other entries".to_owned()),
    }
}

/// Returns a text with other text in a place.
fn replaced(text: &str, start: usize, end: usize, by: &str) -> String {
    let (before, after) = (text.get(..start), text.get(end..));
    format!(
        "{}{by}{}",
        before.unwrap_or_default(),
        after.unwrap_or_default()
    )
}

/// Sets a list, or removes an empty one, and the section with its last.
fn set_list(root: &mut Map<String, Value>, section: &str, name: &str, list: Vec<Value>) {
    let lists = root.entry(section).or_insert_with(|| Map::new().into());
    let Value::Object(lists) = lists else { return };
    match list.is_empty() {
        true => drop(lists.remove(name)),
        false => drop(lists.insert(name.to_owned(), list.into())),
    }
    if lists.is_empty() {
        root.remove(section);
    }
}

/// Returns a text with an element at the end of a list, which is made if there is none.
fn appended(text: &str, section: &str, name: &str, element: &Value) -> Result<String, String> {
    let root = Object::at(text, 0)?;
    let Some((start, _)) = root.member(section)? else {
        let lists = serde_json::json!({ name: [element] });
        return Ok(root.with_new(text, section, &lists, 1));
    };
    let lists = Object::at(text, start)?;
    let Some((start, _)) = lists.member(name)? else {
        return Ok(lists.with_new(text, name, &serde_json::json!([element]), 2));
    };
    let (open, elements) = elements_at(text, start);
    let element = format!("      {}", indented(element, 3));
    let last = elements.last().map(|(_, end)| *end);
    Ok(with_last(text, last, open, &element, "\n    "))
}

/// Returns a text without an element of a list: without the list if it was the last, and without the
/// section if that was its last.
fn without(text: &str, section: &str, name: &str, number: usize) -> Result<String, String> {
    let root = Object::at(text, 0)?;
    let missing = || format!("it has no \"{section}.{name}\"");
    let (start, _) = root.member(section)?.ok_or_else(missing)?;
    let lists = Object::at(text, start)?;
    let (start, _) = lists.member(name)?.ok_or_else(missing)?;
    let (open, elements) = elements_at(text, start);
    let (places, open, gone) = if elements.len() > 1 {
        (elements, open, number)
    } else if lists.members.len() > 1 {
        (lists.places(), lists.open, lists.number_of(name))
    } else {
        (root.places(), root.open, root.number_of(section))
    };
    let cut = |from: usize, to: usize| replaced(text, from, to, "");
    let place = |number: usize| places.get(number).copied();
    let (start, end) = place(gone).ok_or_else(missing)?;
    Ok(
        match (gone.checked_sub(1).and_then(place), place(gone + 1)) {
            (Some((_, before)), _) => cut(before, end),
            (None, Some((next, _))) => cut(start, next),
            // Nothing is left in it but the space around what goes.
            (None, None) => {
                let rest = text.get(end..).unwrap_or_default();
                cut(open, end + (rest.len() - rest.trim_start().len()))
            }
        },
    )
}

/// Returns the place after the `[` of a list in a valid text, and the places of its elements.
fn elements_at(text: &str, start: usize) -> (usize, Vec<(usize, usize)>) {
    let text = without_comments(text);
    let bytes = text.as_bytes();
    let (open, mut elements) = (start + 1, Vec::new());
    let mut at = open;
    loop {
        at = past(bytes, at, |byte| byte.is_ascii_whitespace() || byte == b',');
        if bytes.get(at).is_none_or(|byte| *byte == b']') {
            return (open, elements);
        }
        let end = end_of(bytes, at);
        elements.push((at, end));
        at = end;
    }
}

/// A member of an object in a text: its name, where it begins, and its value from start to end.
struct Member {
    name: String,
    begins: usize,
    start: usize,
    end: usize,
}

/// The members of an object in a text, by their places.
struct Object {
    members: Vec<Member>,
    /// Right after `{`.
    open: usize,
}

impl Object {
    /// Scans the object that begins at or after a place of a valid text.
    fn at(text: &str, start: usize) -> Result<Self, String> {
        let text = without_comments(text);
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
            let (begins, end) = (at, end_of(bytes, at));
            let name = text.get(begins..end).unwrap_or_default();
            let name = serde_json::from_str(name).map_err(|error| error.to_string())?;
            let start = past(bytes, end, |byte| {
                byte.is_ascii_whitespace() || byte == b':'
            });
            at = end_of(bytes, start);
            members.push(Member {
                name,
                begins,
                start,
                end: at,
            });
        }
    }

    /// Returns the place of a member's value; a parser would take the last of two.
    fn member(&self, name: &str) -> Result<Option<(usize, usize)>, String> {
        let mut found = self.members.iter().filter(|member| member.name == name);
        let first = found.next().map(|member| (member.start, member.end));
        match found.next() {
            None => Ok(first),
            Some(_) => Err(format!("\"{name}\" occurs twice in it")),
        }
    }

    /// Returns where each member begins and ends.
    fn places(&self) -> Vec<(usize, usize)> {
        let places = self.members.iter();
        places.map(|member| (member.begins, member.end)).collect()
    }

    fn number_of(&self, name: &str) -> usize {
        let mut members = self.members.iter();
        members.position(|member| member.name == name).unwrap_or(0)
    }

    /// Returns the text with a new member at the end of the object.
    fn with_new(&self, text: &str, name: &str, value: &Value, depth: usize) -> String {
        let name = Value::from(name);
        let member = format!("{}{name}: {}", "  ".repeat(depth), indented(value, depth));
        let last = self.members.last().map(|last| last.end);
        let end = format!("\n{}", "  ".repeat(depth - 1));
        with_last(text, last, self.open, &member, &end)
    }
}

/// Returns a text with an item on a line of its own behind the last one of a list or an object, which ends
/// at `last`; where there is none, behind the `open` bracket, with `end` before the closing one.
fn with_last(text: &str, last: Option<usize>, open: usize, item: &str, end: &str) -> String {
    let (before, after) = text
        .split_at_checked(last.unwrap_or(open))
        .unwrap_or((text, ""));
    if last.is_none() {
        let comment = after.trim_start().starts_with('/');
        let after = if comment { after } else { after.trim_start() };
        return format!("{before}\n{item}{end}{after}");
    }
    // A comment behind the last item is about that one, and a comma there is enough.
    let line = after.split_inclusive('\n').next().unwrap_or_default();
    let line = line.trim_end_matches(['\r', '\n']);
    let (space, rest) = line.split_at(line.len() - line.trim_start().len());
    let (comma, comment) = match rest.strip_prefix(',') {
        Some(comment) => (1, comment),
        None => (0, rest),
    };
    let is_block = comment.trim_start().starts_with("/*") && comment.trim_end().ends_with("*/");
    let (comment, passed) = match is_block || comment.trim_start().starts_with("//") {
        true => (comment, line.len()),
        false if comma == 1 => ("", space.len() + comma),
        false => ("", 0),
    };
    let space = if passed == 0 { "" } else { space };
    let after = after.get(passed..).unwrap_or_default();
    format!("{before},{space}{comment}\n{item}{after}")
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
    fn comments_stay_where_they_are() {
        let text = "// mine\n{\n  // of a\n  \"a\": 1, // one\n  \"b\": [2,], /* two */\n}\n";
        let changed = set(text).unwrap();
        let own =
            "\n  \"mcpServers\": {\n    \"grainstore\": {\n      \"command\": \"g\"\n    }\n  }";
        assert_eq!(changed.replace(own, ""), text);
        let last = set("{\"a\": 1 // one\n}").unwrap();
        assert!(last.starts_with("{\"a\": 1, // one\n"), "{last}");
        let empty = set("{ // none yet\n}").unwrap();
        assert!(empty.contains("// none yet\n}"), "{empty}");
        for changed in [&changed, &last, &empty] {
            assert_eq!(
                set(changed).unwrap(),
                *changed,
                "a second time changes nothing"
            );
        }
    }

    #[test]
    fn what_cannot_be_parsed_is_refused() {
        let refused = [
            "[]",
            "1",
            "{",
            "{\"a\": 1,,}",
            "/* comment\n{}",
            "{\"mcpServers\": []}",
            "{\"mcpServers\": {}, \"mcpServers\": {}}",
            "{\"mcpServers\": {\"grainstore\": 1, \"grainstore\": 2}}",
        ];
        for text in refused {
            assert!(set(text).is_err(), "{text}");
        }
    }

    fn hook(text: &str, element: Option<i64>) -> Result<String, String> {
        let element = element.map(|number| serde_json::json!({ "own": number }));
        let is_own = |it: &Value| it.get("own").is_some();
        with_element(text, ("hooks", "Stop"), element.as_ref(), is_own)
    }

    #[test]
    fn an_element_comes_and_goes_and_leaves_every_other_byte() {
        for text in [
            "{}\n",
            "{\"a\":1}",
            "{\n  \"a\": 1.50,\n  \"hooks\": {\n    \"Start\": [ {\"x\": 1e3} ]\n  }\n}\n",
            "{\"hooks\": {\"Stop\": [1,\t[\"]\"] ]}, \"z\" : {\"own\":1}}",
            "\u{feff}{\"hooks\":{\"Stop\":[{\"y\":2}],\"End\":[]},\"b\":[]}",
        ] {
            let with = hook(text, Some(1)).unwrap();
            assert_ne!(with, text);
            assert_eq!(
                hook(&with, Some(1)).unwrap(),
                with,
                "a second time changes nothing"
            );
            assert_eq!(hook(&with, None).unwrap(), text, "{with}");
            let other = hook(&with, Some(2)).unwrap();
            assert_eq!(hook(&other, None).unwrap(), text, "{other}");
            assert_eq!(hook(text, None).unwrap(), text);
        }
    }

    #[test]
    fn an_element_finds_its_place_between_others() {
        let text = r#"{"hooks":{"Stop":[{"own":0},{"a":1},{"own":9}, 3]}}"#;
        assert_eq!(
            hook(text, None).unwrap(),
            r#"{"hooks":{"Stop":[{"a":1}, 3]}}"#
        );
        let changed: Value = serde_json::from_str(&hook(text, Some(1)).unwrap()).unwrap();
        assert_eq!(
            changed["hooks"]["Stop"],
            serde_json::json!([{ "a": 1 }, 3, { "own": 1 }])
        );
        for text in ["[]", "{", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}"] {
            assert!(hook(text, Some(1)).is_err(), "{text}");
        }
    }
}
