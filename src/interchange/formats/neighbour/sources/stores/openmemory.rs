//! OpenMemory: the `memories.json` of its export, and the tables of its `openmemory.db`.

use crate::codec::{Map, Value};
use crate::grain::Lifecycle;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, parsed, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::names::Names;

/// The memories of a user.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::OpenMemory,
    &[
        ("apps", None),
        ("categories", None),
        ("memories", None),
        ("user", None),
    ],
    |head| {
        let is_export = head.has_all(&["apps", "categories", "memories", "user"]);
        (is_export && !head.is_array).then_some(Format::OpenMemory)
    },
    &["users", "apps", "categories", "memories"],
    || Box::new(OpenMemory::default()),
)
.in_order();

#[derive(Default)]
struct OpenMemory {
    /// The user of an export, which has one.
    user: Option<String>,
    /// The names of users, programs and categories, by the table and the id.
    names: Names,
}

impl Reader for OpenMemory {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        match array {
            "users" => self.name("users", map, "user_id"),
            "apps" => self.name("apps", map, "name"),
            "categories" => self.name("categories", map, "name"),
            "memories" => self.memory(map, builder),
            // The access rules, and the times at which states changed.
            table => {
                builder.lose(table);
                true
            }
        }
    }

    fn envelope(&mut self, members: &Map) -> &'static [&'static str] {
        let user = members.get("user").and_then(Value::as_map);
        self.user = user
            .and_then(|user| text(user, "user_id"))
            .map(str::to_owned);
        // Each memory names its categories itself.
        &["user", "memory_categories", "export_meta"]
    }
}

impl OpenMemory {
    fn name(&mut self, table: &'static str, map: &Map, member: &str) -> bool {
        let (Some(id), Some(name)) = (text(map, "id"), text(map, member)) else {
            return false;
        };
        self.names.add((table, id), name);
        true
    }

    fn named(&self, table: &'static str, id: &str) -> Option<&str> {
        self.names.get((table, id))
    }

    fn memory(&self, map: &Map, builder: &mut Builder<'_>) -> bool {
        let (Some(id), Some(said)) = (text(map, "id"), text(map, "content")) else {
            return false;
        };
        let state = text(map, "state").unwrap_or("active");
        if state == "deleted" || map.get("deleted_at").and_then(moment).is_some() {
            // Its user wanted it gone.
            builder.lose("deleted");
            return true;
        }
        let at = |name: &str| map.get(name).and_then(moment);
        let mut item = Item::note(id.to_owned(), said);
        let user = text(map, "user_id").and_then(|id| self.named("users", id));
        item.user = user.map(str::to_owned).or_else(|| self.user.clone());
        item.created = at("created_at");
        item.updated = at("updated_at");
        if state != "active" {
            // No program saw it any more.
            item.ended = at("archived_at").or(item.updated).or(item.created);
            item.ended_as = Some(Lifecycle::Archived);
            item.tags.push(state.to_owned());
        }
        let categories = map.get("category_ids").map(parsed);
        for id in categories.iter().flat_map(|ids| ids.texts()) {
            let category = self.named("categories", id).unwrap_or(id);
            item.tags.push(category.to_owned());
        }
        item.record = rest(map, PLACED);
        if let Some(metadata) = map.get("metadata").map(parsed) {
            let metadata = metadata.into_owned();
            if metadata.as_map().is_some_and(|map| !map.is_empty()) {
                item.record.insert("metadata", metadata);
            }
        }
        if let Some(app) = text(map, "app_id").and_then(|id| self.named("apps", id)) {
            item.record.insert("app", app);
        }
        builder.push(item);
        true
    }
}

const PLACED: &[&str] = &[
    "id",
    "user_id",
    "app_id",
    "content",
    "metadata",
    "state",
    "created_at",
    "updated_at",
    "archived_at",
    "category_ids",
];
