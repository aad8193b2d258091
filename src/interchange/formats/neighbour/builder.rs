//! The records of items, and the record that a grain carries of its element.

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{Draft, Grain, Lifecycle, StatusChange, Time, Type};
use crate::interchange::io::record_sink::RecordSink;
use crate::interchange::model::normalize::{
    self, ascii_json, normalize_tag, normalize_text, normalized, normalized_text, residual_json,
};
use crate::interchange::model::rfc3339::to_rfc3339;
use crate::interchange::{Diagnostics, Error, ForeignId, Format, Loss, Place, Record};

use super::item::{Fact, Item, Said, Turn};
use super::known::{Known, Notes};
use crate::code::ErrorCode;

/// Builds the records of a source, in the order of its items.
pub(super) struct Builder<'a> {
    format: Format,
    /// The user that the caller names.
    scope: Option<&'a str>,
    profile: Profile,
    pub(super) sink: RecordSink<'a>,
    pub(super) findings: Diagnostics,
    pub(super) loss: Loss,
    pub(super) known: Known<'a>,
    /// The place of the element that is read, and the time of its file.
    pub(super) place: Place,
    pub(super) written: Option<Time>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        format: Format,
        scope: Option<&'a str>,
        profile: Profile,
        notes: Option<&'a Notes>,
        take: &'a mut dyn FnMut(Record) -> bool,
    ) -> Self {
        Self {
            format,
            scope,
            profile,
            sink: RecordSink::new(take),
            findings: Diagnostics::default(),
            loss: Loss::default(),
            known: Known::new(notes),
            place: Place::File,
            written: None,
        }
    }

    /// Counts something that no grain carries.
    pub(super) fn lose(&mut self, name: &str) {
        self.loss.count(name);
    }

    /// Returns the objects of an array; anything else in it is counted.
    pub(super) fn objects<'v>(&mut self, map: &'v Map, name: &str, lost: &str) -> Vec<&'v Map> {
        let items = map.get(name).and_then(Value::as_array).unwrap_or_default();
        let found: Vec<_> = items.iter().filter_map(Value::as_map).collect();
        (found.len()..items.len()).for_each(|_| self.lose(lost));
        found
    }

    /// Returns the grain of a turn that was built before.
    pub(super) fn grain_of(&mut self, session: &str, id: &str) -> Option<ContentAddress> {
        self.known.grain_of((session, id))
    }

    /// Has those that answer a turn without a grain answer what it answered.
    pub(super) fn pass_on(&mut self, session: &str, id: &str, parent: &str) {
        if let Some(grain) = self.grain_of(session, parent)
            && self.grain_of(session, id).is_none()
        {
            self.known.insert((session, id), grain);
        }
    }

    /// Passes on the record of an item.
    pub(super) fn push(&mut self, item: Item) {
        if let Some(record) = self.build(item) {
            self.sink.push(record);
        }
    }

    /// Builds the record of an item; one that fits no grain is a finding, and counted.
    pub(super) fn build(&mut self, item: Item) -> Option<Record> {
        let kind = match item.said {
            Said::Fact(_) => "memory",
            Said::Turn(_) => "message",
        };
        let user = self.scope.or(item.user.as_deref()).unwrap_or("local");
        let user = normalize_text(user);
        let is_turn = matches!(item.said, Said::Turn(_));
        let session = item.session.clone().unwrap_or_default();
        let id = match is_turn {
            true => message_id(self.format, &user, &session, &item.id),
            false => ForeignId::new(self.format.name(), user.clone(), item.id.as_str()),
        };
        let Some(created) = item.created.or(self.written) else {
            let message = "has no time, and neither has its file";
            let error = Error::format(ErrorCode::ProviderTime, self.place.clone(), message);
            self.findings.push(error);
            self.lose(kind);
            return None;
        };
        if !self.known.is_new((id.scope(), &item.id)) {
            self.lose("duplicate");
            return None;
        }
        let ended = |at| ended(at, item.ended_as);
        let status = item.ended.map(ended).unwrap_or_default();
        let own = item.id.clone();
        let draft = self.draft(item, &user, created);
        match Record::finish(draft, self.profile, self.place.clone()) {
            Ok(mut record) => {
                if is_turn {
                    let turn = (session.as_str(), own.as_str());
                    self.known.insert(turn, record.grain.address());
                }
                record.foreign_id = Some(id);
                record.status = status;
                Some(record)
            }
            Err(error) => {
                self.findings.push(error);
                self.lose(kind);
                None
            }
        }
    }

    fn draft(&mut self, mut item: Item, user: &str, created: Time) -> Draft {
        let kept = kept(&mut item);
        let (mut context, draft) = match item.said {
            Said::Fact(fact) => (Map::new(), fact.draft(user)),
            Said::Turn(mut turn) => {
                let session = item.session.as_deref().unwrap_or_default();
                let parent = turn.parent.take();
                let parent = parent.and_then(|id| self.grain_of(session, &id));
                let context = std::mem::take(&mut turn.context);
                let draft = turn.draft();
                let parent = parent.into_iter();
                let draft = parent.fold(draft, |draft, it| draft.set("parent_message_id", it));
                (context, draft)
            }
        };
        context.insert(KEPT, ascii_json(&kept));
        let mut draft = draft
            .user(user)
            .created_at(created)
            .source("imported")
            .set("origin_namespace", self.format.name())
            .set("context", normalized(Value::Map(context)));
        if let Some(session) = item.session {
            draft = draft.session(normalized_text(session));
        }
        if let Some(time) = item.valid_from {
            draft = draft.valid_from(time);
        }
        if let Some(time) = item.valid_to {
            draft = draft.valid_to(time);
        }
        let mut tags: Vec<_> = item
            .tags
            .iter()
            .filter_map(|it| normalize_tag(it))
            .collect();
        tags.sort();
        tags.dedup();
        let draft = tags.into_iter().fold(draft, Draft::tag);
        item.derived.into_iter().fold(draft, Draft::derived_from)
    }
}

impl Fact {
    fn draft(self, user: &str) -> Draft {
        // As the owner of a memory of PAM, and as its facts in words are: a person has one subject.
        let subject = self.subject.map(normalized_text);
        let subject = subject.unwrap_or_else(|| format!("pam:owner:{user}"));
        let relation = self.relation.map(normalized_text);
        let relation = relation.unwrap_or_else(|| "pam:fact".to_owned());
        let object = object_of(self.object);
        let draft = Draft::belief(subject, relation, object).confidence(1.0);
        let sentence = self.sentence.into_iter();
        sentence.fold(draft, |draft, it| {
            draft.set("embedding_text", normalized_text(it))
        })
    }
}

impl Turn {
    fn draft(self) -> Draft {
        let mut draft = Draft::new(Type::Event);
        if let Some(role) = self.role {
            draft = draft.role(role);
        }
        let text = normalized_text(self.text);
        // OMS 8.2 wants content or blocks.
        if !self.blocks.is_empty() || text.is_empty() {
            let blocks: Vec<_> = self.blocks.into_iter().map(normalized).collect();
            draft = draft.set("content_blocks", blocks);
        }
        if !text.is_empty() {
            draft = draft.set("content", text);
        }
        let model = self.model.into_iter();
        model.fold(draft, |draft, it| {
            draft.set("model_id", normalized_text(it))
        })
    }
}

/// Returns the id of a message: its own is unique in its session.
pub(super) fn message_id(format: Format, user: &str, session: &str, id: &str) -> ForeignId {
    let scope = Value::from(vec![user, session]).to_json();
    ForeignId::new(format!("{}:message", format.name()), scope, id)
}

/// Returns the statement of a source that it ended a fact.
fn ended(at: Time, ended_as: Option<Lifecycle>) -> StatusChange {
    StatusChange {
        system_valid_to: Some(at),
        lifecycle: Some(ended_as.unwrap_or(Lifecycle::Superseded)),
        ..StatusChange::default()
    }
}

/// Returns the part of an element that its grain does not have: its members, and the times by which a
/// newer version is told.
fn kept(item: &mut Item) -> Map {
    let times = [("created_at", item.created), ("updated_at", item.updated)];
    let times = times
        .into_iter()
        .filter_map(|(name, time)| Some((name, to_rfc3339(time?)?)));
    let times: Map = times.collect();
    let mut kept = Map::new();
    if !item.record.is_empty() {
        kept.insert("record", std::mem::take(&mut item.record));
    }
    if !times.is_empty() {
        kept.insert("temporal", times);
    }
    kept
}

/// Returns what a fact says as the object of a Belief.
fn object_of(said: Value) -> Value {
    match said {
        Value::Text(text) if text.is_empty() || !text.is_ascii() => normalize::object_of(&text),
        said => normalized(said),
    }
}

/// Returns everything that a grain says of the element it was read from.
pub(super) fn residual(grain: &Grain) -> Option<Value> {
    let Value::Map(mut kept) = residual_json(grain, KEPT)? else {
        return None;
    };
    for name in SAID {
        if let Some(value) = grain.field(name) {
            let name = if name == "object" { "content" } else { name };
            kept.insert(name, value.clone());
        }
    }
    Some(Value::Map(kept))
}

/// The member of a context that holds the rest of an element.
const KEPT: &str = "x-neighbour";
/// The fields that an element is told apart by beside it.
const SAID: [&str; 6] = [
    "subject",
    "relation",
    "object",
    "content",
    "content_blocks",
    "embedding_text",
];
