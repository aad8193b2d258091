//! Which file of a tree holds which grains.

use std::collections::{BTreeMap, HashMap};

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, Status, Time, Type};
use crate::interchange::export::{Entry, count_lost};
use crate::interchange::model::rfc3339::to_rfc3339;
use crate::interchange::{Entries, Loss, each};

use super::build::{Kind, LINKS_TO, file_text};
use super::dialect::{Dialect, Says, Subjects};
use super::name::{Paths, checked, is_memory};
use super::residual::{Kept, Laid, address_of};

/// One file to be written.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) title: String,
    pub(super) kind: Kind,
    /// The number of the State that it was read as.
    pub(super) state: Option<u32>,
    /// Its grains by subject; one subject, but for a file of sections or entries.
    pub(super) sections: Vec<(String, Vec<u32>)>,
    /// The places of the subjects in `sections`.
    places: HashMap<String, usize>,
}

/// The files of a tree, by path.
pub(super) struct Plan {
    pub(super) files: Vec<File>,
    /// The names of the files of subjects, by subject.
    pub(super) stems: HashMap<String, String>,
    /// The numbers of items that came from a tree, by their ids.
    pub(super) by_id: HashMap<String, u32>,
    pub(super) records: u64,
    pub(super) loss: Loss,
    /// Whether no file that was read is where the list of the others stands.
    pub(super) has_index: bool,
}

/// The tree that is written anew in its place.
pub(crate) struct Standing<'a, E> {
    /// Returns the grain that an item is now, by its id; `None` where the store has none.
    pub(crate) item: &'a dyn Fn(&str) -> Result<Option<ContentAddress>, E>,
    /// Returns the text of a file that is there.
    pub(crate) text: &'a dyn Fn(&str) -> Result<Option<String>, E>,
    /// Whether the store has a grain.
    pub(crate) has: &'a dyn Fn(&ContentAddress) -> Result<bool, E>,
    /// Whether a note is there, and leaves with this step if nothing writes it.
    pub(crate) leaves: &'a dyn Fn(&str) -> bool,
}

/// A note that was read: its id, its file, and the ids of its items.
type Note = (String, File, Vec<String>);

/// The part of one grain in a tree.
enum Seen {
    Note(Box<Note>),
    Item {
        kind: Kind,
        title: String,
        id: Option<String>,
        lost: Loss,
    },
    /// The items say it already.
    Implied,
    Lost(&'static str),
}

impl Plan {
    /// Reads every grain once.
    ///
    /// # Errors
    /// Those of the entries.
    pub(super) fn of<E: Entries + ?Sized>(
        entries: &E,
        dialect: &'static Dialect,
        (now, standing): (Option<Time>, Option<&Standing<'_, E::Error>>),
    ) -> Result<Self, E::Error> {
        let mut items: BTreeMap<u32, (Kind, String)> = BTreeMap::new();
        let (mut notes, mut loss, mut by_id) = (Vec::new(), Loss::default(), HashMap::new());
        let make =
            |number: u32, (grain, status): Entry| Ok((number, seen(&grain, &status, dialect, now)));
        each(entries, 0..entries.count(), make, |(number, seen)| {
            match seen {
                Seen::Note(note) => notes.push((number, *note)),
                Seen::Item {
                    kind,
                    title,
                    id,
                    lost,
                } => {
                    loss.merge(&lost);
                    items.insert(number, (kind, title));
                    // Of two versions that are current the one that was stored last stands.
                    by_id.extend(id.map(|id| (id, number)));
                }
                Seen::Implied => {}
                Seen::Lost(what) => loss.count(what),
            }
            Ok::<(), E::Error>(())
        })?;
        let records = u64::try_from(items.len()).unwrap_or(u64::MAX);
        let mut plan = Self {
            files: Vec::new(),
            stems: HashMap::new(),
            by_id,
            records,
            loss,
            has_index: true,
        };
        let mut paths = Paths::default();
        let find = |id: &str| -> Result<Option<u32>, E::Error> {
            let address = match standing {
                Some(standing) => (standing.item)(id)?,
                None => address_of(id),
            };
            address.map_or(Ok(None), |address| entries.find(&address))
        };
        plan.place_notes(&find, notes, &mut items, (&mut paths, dialect))?;
        plan.place_others(items, (&mut paths, dialect));
        plan.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(plan)
    }

    /// Puts the notes that were read where they stood, with the items that they had.
    fn place_notes<E>(
        &mut self,
        find: &dyn Fn(&str) -> Result<Option<u32>, E>,
        mut notes: Vec<(u32, Note)>,
        items: &mut BTreeMap<u32, (Kind, String)>,
        (paths, dialect): (&mut Paths, &Dialect),
    ) -> Result<(), E> {
        notes.sort_by(|(a, (_, x, _)), (b, (_, y, _))| (&x.path, a).cmp(&(&y.path, b)));
        let mut homes: HashMap<String, usize> = HashMap::new();
        for (number, (id, mut file, laid)) in notes {
            let Some(path) = checked(&file.path).filter(|path| paths.take(path)) else {
                continue;
            };
            let mut own = Vec::new();
            for id in laid {
                let number = find(&id)?.or_else(|| self.by_id.get(&id).copied());
                if let Some(number) = number.filter(|number| items.remove(number).is_some()) {
                    self.by_id.insert(id, number);
                    own.push(number);
                }
            }
            homes.insert(id, self.files.len());
            file.state = Some(number);
            file.path = path;
            let title = file.title.clone();
            file.add(&title, own);
            self.files.push(file);
        }
        if let Some(index) = dialect.index {
            self.has_index = paths.take(index.file);
        }
        // New items of a note that was read join it.
        let added = self.by_id.iter().map(|(id, at)| (*at, id.clone()));
        // The map has no order, and the same store is the same bytes.
        let mut added: Vec<(u32, String)> = added.collect();
        added.sort_unstable();
        for (number, id) in added {
            let home = id.split_once('.').and_then(|(note, _)| homes.get(note));
            let file = home.and_then(|at| self.files.get_mut(*at));
            if let (Some(file), Some((_, title))) = (file, items.get(&number).cloned()) {
                items.remove(&number);
                file.add(&title, [number]);
            }
        }
        for file in &mut self.files {
            file.sections
                .iter_mut()
                .for_each(|(_, numbers)| numbers.sort_unstable());
        }
        Ok(())
    }

    /// Puts every other item into the file of its subject, its conversation or its day.
    fn place_others(
        &mut self,
        items: BTreeMap<u32, (Kind, String)>,
        (paths, dialect): (&mut Paths, &Dialect),
    ) {
        let mut homes: HashMap<(Kind, String), usize> = HashMap::new();
        for (at, file) in self.files.iter().enumerate() {
            homes.entry((file.kind, file.title.clone())).or_insert(at);
        }
        let shared = match dialect.subjects {
            Subjects::Folder(_) => None,
            Subjects::Sections(file) | Subjects::Entries(file) => Some(file),
        };
        for (number, (kind, title)) in items {
            if kind == Kind::File {
                self.place_file(number, &title, paths);
                continue;
            }
            let is_shared = shared.filter(|_| kind == Kind::Subject);
            let key = (kind, is_shared.unwrap_or(&title).to_owned());
            let at = homes.get(&key).copied().or_else(|| {
                let path = is_shared?;
                self.files.iter().position(|file| file.path == path)
            });
            let at = at.unwrap_or_else(|| {
                let path = match is_shared {
                    Some(path) if paths.take(path) => path.to_owned(),
                    _ => paths.make(folder(dialect, kind), &title),
                };
                let title = match is_shared {
                    Some(path) => path
                        .strip_suffix(".md")
                        .unwrap_or(path)
                        .to_ascii_lowercase(),
                    None => title.clone(),
                };
                self.files.push(File::new(path, title, kind));
                self.files.len().saturating_sub(1)
            });
            homes.insert(key, at);
            if let Some(file) = self.files.get_mut(at) {
                file.add(&title, [number]);
            }
        }
        self.stems = self.stems();
    }

    /// Puts a file of the memory tool where the tool has it. Of two in one place the first stands.
    fn place_file(&mut self, number: u32, title: &str, paths: &mut Paths) {
        let Some(path) = checked(title.trim_start_matches('/')) else {
            return;
        };
        if !paths.take(&path) {
            // One that was removed left its place.
            let mut files = self.files.iter_mut();
            match files.find(|file| file.path == path && file.numbers().next().is_none()) {
                Some(file) => file.add(title, [number]),
                None => self.loss.count("conflict"),
            }
            return;
        }
        let mut file = File::new(path, title.to_owned(), Kind::File);
        file.add(title, [number]);
        self.files.push(file);
    }

    fn stems(&self) -> HashMap<String, String> {
        let subjects = self.files.iter().filter(|file| file.kind == Kind::Subject);
        let stems = subjects.flat_map(|file| {
            let stem = file.path.rsplit('/').next().unwrap_or_default();
            let stem = stem.strip_suffix(".md").unwrap_or(stem);
            let names = file.sections.iter().map(|(name, _)| name.clone());
            names.map(move |name| (name, stem.to_owned()))
        });
        stems.collect()
    }
}

impl File {
    fn new(path: String, title: String, kind: Kind) -> Self {
        Self {
            path,
            title,
            kind,
            state: None,
            sections: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Adds grains of a subject, after those of the subjects before.
    fn add(&mut self, title: &str, added: impl IntoIterator<Item = u32>) {
        let len = self.sections.len();
        let at = *self.places.entry(title.to_owned()).or_insert(len);
        if at == len {
            self.sections.push((title.to_owned(), Vec::new()));
        }
        if let Some((_, numbers)) = self.sections.get_mut(at) {
            numbers.extend(added);
        }
    }

    /// Returns the numbers of its grains.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.sections
            .iter()
            .flat_map(|(_, numbers)| numbers.iter().copied())
    }
}

fn folder(dialect: &Dialect, kind: Kind) -> &'static str {
    match (kind, dialect.subjects) {
        (Kind::Subject, Subjects::Folder(folder)) => folder,
        (Kind::Subject, _) => "",
        (Kind::Conversation, _) => dialect.conversations.unwrap_or_default(),
        (Kind::Day, _) => dialect.days.unwrap_or_default(),
        (Kind::File, _) => "memories",
    }
}

/// Says what a grain is to a tree.
fn seen(grain: &Grain, status: &Status, dialect: &Dialect, now: Option<Time>) -> Seen {
    let kept = Kept::of(grain);
    let has = |name: &str| kept.as_ref().is_some_and(|kept| kept.has(name));
    if !status.is_current() {
        return Seen::Lost("superseded");
    }
    if has("ended") || (has("link") && grain.text("relation") == Some(LINKS_TO)) {
        return Seen::Implied;
    }
    let end = grain.field("valid_to").and_then(Value::as_i64);
    if end.zip(now).is_some_and(|(end, now)| end < now.ms()) {
        return Seen::Lost("ended");
    }
    if grain.type_() == Type::State {
        return match kept {
            Some(kept) => note(&kept, dialect),
            None => Seen::Lost("state"),
        };
    }
    let (kind, title) = match grain.type_() {
        Type::Belief if is_file(grain) => (
            Kind::File,
            grain.text("subject").unwrap_or_default().to_owned(),
        ),
        Type::Belief => (
            Kind::Subject,
            grain.text("subject").unwrap_or_default().to_owned(),
        ),
        Type::Event
            if grain
                .message_text()
                .is_none_or(|text| text.trim().is_empty()) =>
        {
            return Seen::Lost("event");
        }
        Type::Event => match (
            grain.text("session_id"),
            dialect.conversations,
            dialect.days,
        ) {
            (Some(session), Some(_), _) => (Kind::Conversation, session.to_owned()),
            (_, _, Some(_)) => (Kind::Day, day_of(grain)),
            _ => return Seen::Lost("event"),
        },
        other => return Seen::Lost(other.name().unwrap_or("other")),
    };
    let mut lost = Loss::default();
    count_unsaid(grain, kind, kept.is_some(), dialect, &mut lost);
    Seen::Item {
        kind,
        title,
        id: kept.and_then(|kept| kept.text("id").map(str::to_owned)),
        lost,
    }
}

/// Whether a Belief is a file of the memory tool under a path that a tree can have.
fn is_file(grain: &Grain) -> bool {
    let path = grain.text("subject").and_then(|it| it.strip_prefix('/'));
    let path = path.filter(|path| is_memory(path));
    file_text(grain).is_some() && path.is_some_and(|path| checked(path).as_deref() == Some(path))
}

/// Reads the State of a note, if it is one of this dialect.
fn note(kept: &Kept, dialect: &Dialect) -> Seen {
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| kept.text("kind") == Some(kind.name()));
    match (kept.text("id"), kept.text("path"), kept.text("title"), kind) {
        (Some(id), Some(path), Some(title), Some(kind))
            if kept.text("dialect") == Some(dialect.name) =>
        {
            let laid = kept.parts().filter_map(|part| match part {
                Laid::Item(id, _) => Some(id.to_owned()),
                Laid::Gap(_) => None,
            });
            let file = File::new(path.to_owned(), title.to_owned(), kind);
            Seen::Note(Box::new((id.to_owned(), file, laid.collect())))
        }
        _ => Seen::Implied,
    }
}

/// Counts the fields that neither an item nor the frontmatter says.
fn count_unsaid(grain: &Grain, kind: Kind, is_of_tree: bool, dialect: &Dialect, loss: &mut Loss) {
    let mut said = vec!["subject", "relation", "object", "content", "role"];
    if dialect.key(Says::Grains).is_some() {
        said.extend(["confidence", "structural_tags"]);
    } else {
        loss.count("created_at");
        loss.count("source_type");
    }
    if kind == Kind::Conversation {
        said.push("session_id");
    }
    if is_of_tree {
        said.push("context");
    }
    count_lost(grain, &said, loss);
}

/// Returns the day of an event, in UTC.
fn day_of(grain: &Grain) -> String {
    let text = to_rfc3339(grain.event_time());
    let day = text.and_then(|text| text.get(..10).map(str::to_owned));
    day.unwrap_or_else(|| "0000-00-00".to_owned())
}
