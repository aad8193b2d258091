//! Lists of memories as assistants print them when they are asked for an export (`[2025-11-03] - text`),
//! and the `memory.json` of ChatGPT.

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, stable_id, text};
use crate::interchange::json_head::JsonFormat;

use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;
use crate::interchange::formats::neighbour::source::{Reader, Source};

/// A list of memories.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source {
    format: Format::MemoryList,
    json: JsonFormat {
        markers: &[("content", None), ("enabled", None)],
        inner: &[],
        detect: |head| {
            let is_list = head.is_array && head.has_all(&["content", "enabled"]);
            is_list.then_some(Format::MemoryList)
        },
    },
    is_text: is_list,
    arrays: &[""],
    is_in_order: false,
    spans_files: false,
    rank: |_| 0,
    reader: || Box::new(MemoryList::default()),
};

#[derive(Default)]
struct MemoryList {
    /// The memory whose text may go on in the next line.
    open: Option<(Option<Time>, String)>,
    /// The heading that the next memories stand under.
    section: String,
}

impl Reader for MemoryList {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        match element {
            Value::Text(line) => self.line(line, builder),
            Value::Map(map) => memory(map, builder),
            _ => false,
        }
    }

    fn end(&mut self, builder: &mut Builder<'_>) {
        if let Some((created, said)) = self.open.take() {
            let mut item = Item::note(stable_id(&["memory", &said]), &said);
            item.created = created;
            if !self.section.is_empty() {
                item.record.insert("section", self.section.as_str());
            }
            builder.push(item);
        }
    }
}

impl MemoryList {
    fn line(&mut self, line: &str, builder: &mut Builder<'_>) -> bool {
        if let Some((created, said)) = dated(line) {
            self.end(builder);
            self.open = Some((created, said.to_owned()));
            return true;
        }
        let said = line.trim().trim_start_matches('\u{feff}');
        let heading = said.trim_start_matches('#');
        if said.is_empty() || said.starts_with("```") {
            self.end(builder);
        } else if heading.len() < said.len() {
            self.end(builder);
            heading.trim().clone_into(&mut self.section);
        } else if let Some((_, open)) = &mut self.open {
            // A long memory is broken into lines.
            open.push('\n');
            open.push_str(said);
        } else {
            return false;
        }
        true
    }
}

/// Returns whether the first line of a text, behind fences and headings, is an entry of a list.
fn is_list(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let lines = head.trim_start_matches('\u{feff}').lines().map(str::trim);
    let is_before = |line: &&str| line.is_empty() || line.starts_with(['#', '`']);
    let mut entries = lines.skip_while(is_before);
    entries.next().is_some_and(|line| dated(line).is_some())
}

/// Returns the time, unless it is unknown, and the text of an entry.
fn dated(line: &str) -> Option<(Option<Time>, &str)> {
    let entry = line.trim().trim_start_matches(['-', '*', '•', ' ']);
    let (date, said) = entry.strip_prefix('[')?.split_once(']')?;
    let said = said.trim_start();
    let marks = ['-', '–', '—', ':'];
    let said = said.strip_prefix(marks)?.trim();
    let date = date.trim();
    let created = match date.to_ascii_lowercase().as_str() {
        "unknown" | "unknown date" | "no date" | "n/a" => None,
        _ => Some(moment(&date.into())?),
    };
    (!said.is_empty()).then_some((created, said))
}

fn memory(map: &Map, builder: &mut Builder<'_>) -> bool {
    let words = ["content", "memory", "text"];
    let Some((name, said)) = words.into_iter().find_map(|it| Some((it, text(map, it)?))) else {
        return false;
    };
    let id = text(map, "id").map(str::to_owned);
    let times = |names: [&'static str; 3]| {
        let mut names = names.into_iter();
        names.find_map(|name| Some((name, moment(map.get(name)?)?)))
    };
    let created = times(["created_at", "create_time", "created_timestamp"]);
    let updated = times(["updated_at", "update_time", "last_updated"]);
    let mut placed = vec!["id", name];
    placed.extend(
        [created, updated]
            .into_iter()
            .flatten()
            .map(|(name, _)| name),
    );
    let id = id.unwrap_or_else(|| stable_id(&["memory", said]));
    let mut item = Item::note(id, said);
    item.created = created.map(|(_, time)| time);
    item.updated = updated.map(|(_, time)| time);
    if map.get("enabled").and_then(Value::as_bool) == Some(false) {
        item.tags.push("disabled".to_owned());
    }
    item.record = rest(map, &placed);
    builder.push(item);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_date_in_brackets_and_a_text() {
        let day = |text: &str| moment(&text.into());
        for (line, expected) in [
            (
                "[2025-11-03] - Prefers pnpm",
                Some((day("2025-11-03"), "Prefers pnpm")),
            ),
            ("- [unknown] - Lives in Graz", Some((None, "Lives in Graz"))),
            ("* [2025-11-03]: a - b", Some((day("2025-11-03"), "a - b"))),
            ("[x] - done", None),
            ("- [ ] - open", None),
            ("[2025-11-03] Prefers pnpm", None),
            ("[2025-11-03] - ", None),
            ("[1,2]", None),
        ] {
            assert_eq!(dated(line), expected, "{line}");
        }
    }
}
