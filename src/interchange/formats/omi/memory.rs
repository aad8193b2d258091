//! A record, and the grains of it and of its relations (OMI 6).

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Draft, Time};
use crate::interchange::ForeignId;
use crate::interchange::formats::shape::unit;
use crate::interchange::model::normalize::{
    self, Rest, ascii_json, normalize_tag, normalize_text, object_of, relation_name,
};

use super::residual::{INHERITED, RELATION, RESIDUAL};
use super::validate::{day, is_language, moment};

/// A valid record.
pub(super) struct Memory<'a> {
    pub(super) map: &'a Map,
    pub(super) id: &'a str,
    pub(super) content: &'a str,
    pub(super) created: Time,
    /// Its own subject, or the envelope's.
    subject: Option<&'a Map>,
    /// The parts inherited from the envelope that mean something without it.
    inherited: Map,
}

/// A relation of a record that has a type and a target.
pub(super) struct Relation<'a> {
    map: &'a Map,
    kind: &'a str,
    pub(super) target: &'a str,
}

impl<'a> Memory<'a> {
    /// Reads a record; `None` if it lacks what every level needs.
    pub(super) fn read(map: &'a Map, envelope: &'a Map) -> Option<Self> {
        let id = map.get("id")?.as_text()?;
        let mut inherited = Map::new();
        if !map.contains("subject")
            && let Some(subject) = envelope.get("subject")
        {
            inherited.insert("subject", subject.clone());
        }
        if !is_global(id)
            && let Some(namespace) = envelope.get("id_namespace")
        {
            inherited.insert("id_namespace", namespace.clone());
        }
        Some(Self {
            id,
            content: map.get("content")?.as_text()?,
            created: moment(map.get("created")?)?,
            subject: map
                .get("subject")
                .or_else(|| envelope.get("subject"))
                .and_then(Value::as_map),
            inherited,
            map,
        })
    }

    /// Returns the merge key (OMI 13.3).
    pub(super) fn foreign_id(&self, file_scope: &str) -> ForeignId {
        self.foreign_id_in(&self.inherited, file_scope)
    }

    /// Returns the merge key of a record that has inherited this.
    pub(super) fn foreign_id_in(&self, inherited: &Map, file_scope: &str) -> ForeignId {
        let namespace = inherited.get("id_namespace").and_then(Value::as_text);
        let scope = match namespace {
            _ if is_global(self.id) => String::new(),
            Some(namespace) => format!("namespace:{namespace}"),
            None => format!("file:{file_scope}"),
        };
        ForeignId::new("omi", scope, self.id)
    }

    /// Returns the grain of this record.
    pub(super) fn draft(&self) -> Draft {
        let content = normalize_text(self.content);
        let kind = self.text("type");
        let draft = match kind {
            Some("episodic") if !content.is_empty() => Draft::event(content.as_str()),
            Some("procedural") => self.belief("mg:requires_steps".into()),
            Some(kind) => self.belief(relation_name("omi", kind)),
            None => self.belief("omi".into()),
        };
        let confidence = self.map.get("confidence").and_then(unit);
        let mut draft = self
            .mark(draft)
            .confidence(confidence.unwrap_or(1.0))
            .set("timestamp_ms", self.created.ms())
            .set("context", self.context(&content));
        for (name, field) in [("valid_from", "valid_from"), ("valid_to", "valid_to")] {
            if let Some(time) = self.map.get(name).and_then(moment) {
                draft = draft.set(field, time.ms());
            }
        }
        let tags = self.map.get("tags").into_iter().flat_map(Value::texts);
        tags.filter_map(normalize_tag).fold(draft, Draft::tag)
    }

    /// Returns the relations that have a type and a target.
    pub(super) fn relations(&self) -> impl Iterator<Item = Relation<'a>> {
        let items = self.map.get("relations").and_then(Value::as_array);
        items.unwrap_or_default().iter().filter_map(|item| {
            let map = item.as_map()?;
            Some(Relation {
                kind: map.get("type")?.as_text().filter(|text| !text.is_empty())?,
                target: map.get("target")?.as_text()?,
                map,
            })
        })
    }

    /// Returns the grain of a relation; a `supersedes` among them is a hint and changes nothing
    /// (OMI 9.4).
    pub(super) fn relation_draft(
        &self,
        relation: &Relation<'_>,
        source: ContentAddress,
        target: Option<ContentAddress>,
    ) -> Draft {
        let kind = match relation.kind {
            "supersedes" => "replaces",
            "contradicts" => "contradicts",
            "derived_from" => "depends_on",
            _ => "similar",
        };
        let links: Vec<_> = [Some(source), target]
            .into_iter()
            .flatten()
            .map(|address| normalize::link(address, kind))
            .collect();
        let name = relation_name("omi:rel", relation.kind);
        let subject = Some(normalize_text(self.id)).filter(|id| !id.is_empty());
        let subject = subject.unwrap_or_else(|| "omi:unnamed".to_owned());
        let draft = Draft::belief(subject, name, object_of(relation.target));
        let context = normalize::context_of(RELATION, relation.map);
        self.mark(draft)
            .confidence(1.0)
            .set("context", context)
            .set("related_to", links)
    }

    fn belief(&self, relation: String) -> Draft {
        Draft::belief(self.subject_name(), relation, object_of(self.content))
    }

    /// Sets the time, the source and the user of a grain.
    fn mark(&self, draft: Draft) -> Draft {
        let source = self.map.get("source").and_then(Value::as_map);
        let source = |name: &str| source.and_then(|source| source.get(name)?.as_text());
        let mut draft = draft
            .created_at(self.created)
            .source(match source("method") {
                Some("asserted") => "user_explicit",
                Some("extracted") => "llm_generated",
                Some("observed" | "derived") => "agent_inferred",
                _ => "imported",
            });
        let of_subject = |name: &str| {
            self.subject
                .and_then(|subject| subject.get(name)?.as_text())
        };
        if let (Some("person"), Some(id)) = (of_subject("type"), of_subject("id"))
            && !normalize_text(id).is_empty()
        {
            draft = draft.user(normalize_text(id));
        }
        match source("platform").map(normalize_text) {
            Some(platform) if !platform.is_empty() => draft.set("origin_namespace", platform),
            _ => draft,
        }
    }

    fn subject_name(&self) -> String {
        let id = self
            .subject
            .and_then(|subject| subject.get("id")?.as_text());
        let id = id.map(normalize_text).filter(|id| !id.is_empty());
        id.unwrap_or_else(|| "omi:unknown".to_owned())
    }

    fn context(&self, content: &str) -> Map {
        let rest = Rest::of(self.map, "content", content);
        let mut context = normalize::context_of(RESIDUAL, &rest);
        if !self.inherited.is_empty() {
            let inherited = Value::Map(self.inherited.clone());
            context.insert(INHERITED, ascii_json(&inherited));
        }
        if let Some(lang) = self.text("lang").filter(|lang| is_language(lang)) {
            context.insert("con:locale", lang);
        }
        // OMI 4.3: a date is not its midnight, so it is no time of a grain.
        for (name, member) in [
            ("valid_from", "omi:valid_from"),
            ("valid_to", "omi:valid_to"),
        ] {
            if let Some(day) = self.map.get(name).and_then(day) {
                context.insert(member, day);
            }
        }
        context
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.map.get(name)?.as_text()
    }
}

/// Returns whether an id names the same record everywhere: a UUID, a ULID, a URN or an absolute
/// URI by its form, which may be looked at to choose a key (OMI 13.3).
pub(super) fn is_global(id: &str) -> bool {
    let groups = id.split('-').map(|group| {
        let is_hex = group.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex { group.len() } else { 0 }
    });
    let is_ulid = id.len() == 26
        && id.starts_with(|c: char| ('0'..='7').contains(&c))
        && id.bytes().all(|byte| {
            byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"ILOU".contains(&byte))
        });
    let is_urn = id.split_once(':').is_some_and(|(scheme, rest)| {
        let name = rest.split_once(':');
        scheme.eq_ignore_ascii_case("urn")
            && name.is_some_and(|(nid, nss)| nid.len() > 1 && !nss.is_empty())
    });
    let is_uri = id.split_once("://").is_some_and(|(scheme, rest)| {
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(is_scheme)
            && !rest.is_empty()
    });
    is_ulid || is_urn || is_uri || groups.eq([8, 4, 4, 4, 12])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_global_by_its_form() {
        for id in [
            "01JZ0WFR4K2Q6N7S8T9V0ABCDF",
            "123e4567-e89b-12d3-a456-426614174000",
            "urn:omi:x:1",
            "https://example.com/1",
        ] {
            assert!(is_global(id), "{id}");
        }
        for id in [
            "1",
            "mem-001",
            "mem:1",
            "81JZ0WFR4K2Q6N7S8T9V0ABCDF",
            "01JZ0WFR4K2Q6N7S8T9V0ABCDU",
            "123e4567e89b12d3a456426614174000",
            "urn:x",
            "://x",
            "",
        ] {
            assert!(!is_global(id), "{id}");
        }
    }
}
