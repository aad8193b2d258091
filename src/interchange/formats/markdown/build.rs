//! The grains of one note: an item a Belief or an Event, a link a Belief, the file a State.

use std::collections::BTreeSet;

use crate::codec::{Map, Value};
use crate::grain::{Draft, ENVELOPE_TAG, Grain, Time, Type};
use crate::interchange::formats::tree_ids::NoteIds;
use crate::interchange::model::normalize::{
    ascii_json, normalize_tag, normalize_text, normalize_value, object_of,
};
use crate::interchange::{Error, Loss, Place, Record};

use super::continued::{foreign_id, tree_tag};
use super::dialect::{Line, Subjects};
use super::head::{Claim, day_of_name, without_items};
use super::line::{NOTE, Said, described, links, tags};
use super::name::is_memory;
use super::note::{Item, Part};
use super::residual::{RESIDUAL, of_item, with_mark};
use super::tree::{Page, Tree};

/// Builds the records of one note.
pub(super) struct Builder<'a> {
    tree: &'a Tree,
    page: &'a Page<'a>,
    ids: &'a NoteIds,
    title: String,
    kind: Kind,
    created: Time,
}

/// The kind of thing that a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Subject,
    Conversation,
    Day,
    /// A file of the memory tool: its text is one item, as it stands.
    File,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Subject, Self::Conversation, Self::Day, Self::File];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Conversation => "conversation",
            Self::Day => "day",
            Self::File => "file",
        }
    }
}

impl<'a> Builder<'a> {
    pub(super) fn new(tree: &'a Tree, page: &'a Page<'a>, ids: &'a NoteIds) -> Self {
        let stem = page.path.rsplit('/').next().unwrap_or_default();
        let stem = stem.strip_suffix(".md").unwrap_or(stem);
        let day = day_of_name(stem);
        let file = is_memory(page.path).then(|| format!("/{}", page.path));
        let title = file.or_else(|| page.head.title.clone());
        let title = title.or_else(|| page.note.heading().map(str::to_owned));
        let title = title.unwrap_or_else(|| match stem {
            "MEMORY" | "USER" => stem.to_ascii_lowercase(),
            _ => stem.to_owned(),
        });
        let default = tree.options.default_created_at;
        let created = day.or(page.head.created).or(page.written).or(default);
        Self {
            kind: kind_of(tree, page, day.is_some()),
            title: normalize_text(&title),
            created: created.unwrap_or_default(),
            tree,
            page,
            ids,
        }
    }

    /// Passes on the records of the note: its items in their order, its links, itself.
    pub(super) fn records(
        &self,
        loss: &mut Loss,
        take: &mut dyn FnMut(Result<Record, Error>) -> bool,
    ) {
        for ((item, claim), (id, _)) in self.page.claimed().zip(&self.ids.items) {
            if !take(self.item(item, claim, id)) {
                return;
            }
        }
        self.count_lost(loss);
        for (target, (id, _)) in self.links().iter().zip(&self.ids.links) {
            if !take(self.link(target, id)) {
                return;
            }
        }
        take(self.state());
    }

    /// Returns what the note links, each once, but for what an item says as its object.
    pub(super) fn links(&self) -> Vec<String> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        if self.kind != Kind::Subject {
            return found;
        }
        for (item, _) in self.page.claimed() {
            for target in links(item.text) {
                let is_new = found.len() < LINKS_MAX && !seen.contains(&target);
                if is_new && self.is_link(item, &target) {
                    seen.insert(target.clone());
                    found.push(target);
                }
            }
        }
        found
    }

    fn item(&self, item: &Item<'_>, claim: Option<&Claim>, id: &str) -> Result<Record, Error> {
        if self.kind == Kind::File {
            return self.file(item, id);
        }
        let said = Said::read(item.text, self.tree.dialect.line);
        let section = item.section.trim_start_matches('#').trim();
        let subject = match (&said.subject, self.tree.dialect.subjects) {
            (Some(subject), _) => normalize_text(subject),
            (None, Subjects::Sections(file)) if file == self.page.path && !section.is_empty() => {
                normalize_text(section)
            }
            _ => self.title.clone(),
        };
        let (relation, object) = meaning(item.text, &said, self.kind);
        let draft = match (self.kind, object, relation) {
            (Kind::Subject, object, relation) => {
                Draft::belief(subject, relation.unwrap_or_else(|| NOTE.to_owned()), object)
                    .confidence(claim.and_then(|claim| claim.confidence).unwrap_or(1.0))
            }
            (_, object, role) => {
                let event = Draft::new(Type::Event).set("content", object);
                let event = role.into_iter().fold(event, Draft::role);
                match self.kind {
                    Kind::Conversation => event.session(self.title.clone()),
                    _ => event,
                }
            }
        };
        let mut own = claim.map(|claim| claim.tags.clone()).unwrap_or_default();
        own.extend(tags(item.text));
        let mut context = of_item(item.text, claim, id);
        context.insert("file", normalize_text(self.page.path));
        context.insert("line", item.line.to_string());
        if !item.section.is_empty() {
            context.insert("section", normalize_text(item.section));
        }
        let at = claim.and_then(|claim| claim.at).unwrap_or(self.created);
        let draft = self.tagged(draft, &own).set("context", context);
        self.record(draft.created_at(at), id, item.line)
    }

    /// Makes the Belief of a file of the memory tool, as the tool itself makes it.
    fn file(&self, item: &Item<'_>, id: &str) -> Result<Record, Error> {
        let object = Map::from_iter([("text", normalize_text(item.text))]);
        let draft = Draft::belief(self.title.clone(), MEMORY_FILE, Value::Map(object))
            .confidence(1.0)
            .created_at(self.created)
            .set("context", of_item(item.text, None, id));
        self.record(self.tagged(draft, &[]), id, item.line)
    }

    /// An item whose object is a link says its relation itself.
    fn is_link(&self, item: &Item<'_>, target: &str) -> bool {
        let said = Said::read(item.text, self.tree.dialect.line);
        let is_object = said.relation.is_some() && said.object.as_text() == Some(target);
        let is_subject = said.subject.as_deref() == Some(target);
        !is_object && !is_subject
    }

    fn link(&self, target: &str, id: &str) -> Result<Record, Error> {
        let kept: Map = [("content", target), ("id", id), ("link", "")]
            .into_iter()
            .collect();
        let context: Map = [(RESIDUAL, ascii_json(&kept))].into_iter().collect();
        let draft = Draft::belief(self.title.clone(), LINKS_TO, normalize_text(target))
            .confidence(1.0)
            .created_at(self.created)
            .set("context", context);
        self.record(self.tagged(draft, &[]), id, 1)
    }

    /// Makes the State of the file: its path, and the bytes around its items.
    fn state(&self) -> Result<Record, Error> {
        let mut ids = self.ids.items.iter();
        let parts = self.page.note.parts.iter().map(|part| match part {
            Part::Gap(gap) => Value::from(*gap),
            Part::Item(_) => ids.next().map_or(Value::Nil, with_mark),
        });
        let links: Vec<Value> = self.ids.links.iter().map(with_mark).collect();
        let mut kept = Map::new();
        kept.insert("dialect", self.tree.dialect.name);
        if !self.ids.gone.is_empty() {
            kept.insert("gone", self.ids.gone.clone());
        }
        kept.insert("head", self.head());
        kept.insert("id", self.ids.note.as_str());
        kept.insert("kind", self.kind.name());
        if !links.is_empty() {
            kept.insert("links", links);
        }
        kept.insert("parts", parts.collect::<Vec<_>>());
        kept.insert("path", self.page.path);
        kept.insert("title", self.title.clone());
        let context: Map = [(RESIDUAL, ascii_json(&kept))].into_iter().collect();
        let draft = Draft::state(context)
            .created_at(self.created)
            .source("imported")
            .tag(ENVELOPE_TAG)
            .tag(tree_tag(&self.tree.scope));
        self.record(draft, &self.ids.note, 1)
    }

    /// Returns the head of the file for its State: a frontmatter that is not understood stays whole.
    fn head(&self) -> Value {
        let head = self.page.note.head;
        let first = self.page.claimed().next();
        let first = first
            .map(|(item, _)| described(item.text))
            .unwrap_or_default();
        match self.page.is_understood {
            true => without_items(head, self.tree.dialect, &first),
            false => Value::from(head),
        }
    }

    fn tagged(&self, draft: Draft, own: &[String]) -> Draft {
        let mut seen: Vec<String> = Vec::new();
        for tag in self.page.head.tags.iter().chain(own) {
            let tag = normalize_tag(tag).filter(|tag| !seen.contains(tag));
            seen.extend(tag);
        }
        let draft = draft.source("imported");
        seen.into_iter().fold(draft, Draft::tag)
    }

    fn record(&self, draft: Draft, id: &str, line: u64) -> Result<Record, Error> {
        let place = Place::pointer(format!("{}:{line}", self.page.path));
        let mut record = Record::finish(draft, self.tree.options.profile, place)?;
        record.foreign_id = Some(foreign_id(&self.tree.scope, id));
        Ok(record)
    }

    /// Counts what the frontmatter claims and a file cannot give: verification, sources, rights.
    fn count_lost(&self, loss: &mut Loss) {
        let claimed = self
            .page
            .claimed()
            .filter(|(_, claim)| claim.is_some())
            .count();
        let stale = self.page.head.grains.len().saturating_sub(claimed);
        (0..stale).for_each(|_| loss.count("grains"));
    }
}

/// Returns what an item means: the relation and the object of a belief, or the role and the words of
/// an event.
fn meaning(text: &str, said: &Said, kind: Kind) -> (Option<String>, Value) {
    let relation = said.relation.as_deref();
    if kind == Kind::Subject {
        let relation = relation.map(normalize_text).filter(|it| !it.is_empty());
        let object = match normalize_value(&said.object) {
            Value::Text(text) => object_of(&text),
            object => object,
        };
        return (relation, object);
    }
    let role = relation.filter(|role| ROLES.contains(role));
    let words = match (&said.object, relation) {
        (Value::Text(words), None) => words.as_str(),
        (Value::Text(words), Some(_)) if role.is_some() => words.as_str(),
        _ => text,
    };
    (role.map(str::to_owned), Value::Text(normalize_text(words)))
}

/// Whether a grain still says what stood in a file.
pub(super) fn stands(grain: &Grain, text: &str, line: Line) -> bool {
    if let Some(file) = file_text(grain) {
        return file == normalize_text(text);
    }
    let kind = match grain.type_() {
        Type::Event => Kind::Day,
        _ => Kind::Subject,
    };
    let said = Said::read(text, line);
    let (relation, object) = meaning(text, &said, kind);
    match kind {
        Kind::Subject => {
            let relation = relation.as_deref().unwrap_or(NOTE);
            grain.text("relation") == Some(relation) && grain.field("object") == Some(&object)
        }
        _ => {
            let words = grain
                .message_text()
                .map(|it| Value::Text(normalize_text(&it)));
            grain.text("role") == relation.as_deref() && words == Some(object)
        }
    }
}

/// Returns the text of a file of the memory tool.
pub(super) fn file_text(grain: &Grain) -> Option<&str> {
    let is_file = grain.text("relation") == Some(MEMORY_FILE);
    let object = grain.field("object").filter(|_| is_file)?;
    object.as_map()?.get("text")?.as_text()
}

fn kind_of(tree: &Tree, page: &Page<'_>, is_dated: bool) -> Kind {
    let dialect = tree.dialect;
    if is_memory(page.path) {
        return Kind::File;
    }
    if dialect.line == Line::Entry {
        return Kind::Subject;
    }
    let said = page.head.type_.as_deref();
    let [_, conversation, day] = dialect.types;
    let is_in = |folder: Option<&str>| {
        let folder = folder.filter(|folder| !folder.is_empty());
        folder.is_some_and(|folder| {
            page.path
                .strip_prefix(folder)
                .is_some_and(|it| it.starts_with('/'))
        })
    };
    match said {
        Some(said) if said == conversation => Kind::Conversation,
        Some(said) if said == day => Kind::Day,
        None if is_in(dialect.conversations) => Kind::Conversation,
        None if is_in(dialect.days) || is_dated => Kind::Day,
        Some(_) if is_dated => Kind::Day,
        _ => Kind::Subject,
    }
}

/// The relation of a Belief that is a file of the memory tool: its subject is the path, below
/// `/memories`, and its object has the `text`.
pub const MEMORY_FILE: &str = "memory_file";

/// The relation of a note to what it links.
pub(super) const LINKS_TO: &str = "links_to";

/// The most links of one note.
const LINKS_MAX: usize = 4_096;

/// The roles of turns.
const ROLES: [&str; 4] = ["assistant", "system", "tool", "user"];
