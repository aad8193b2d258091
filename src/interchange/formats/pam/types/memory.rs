//! A memory object, read as far as grains need it.

use crate::codec::{ContentAddress, Profile};
use crate::grain::{Draft, Lifecycle, StatusChange, Time, Verification};
use crate::interchange::Error;
use crate::interchange::model::embedded_grain::{self, Unpacked};

use super::super::code;
use super::super::schema::tables::is_tag;
use super::super::types::owner::Owner;
use super::super::write::embedded_memory::EXTENSION;
use super::content_hash::content_hash;
use super::object::Object;
use super::residual::{RESIDUAL, memory_residual};
use crate::interchange::model::normalize::{normalize_text, relation_name};

/// A memory object, read as far as grains need it (PAM 4).
pub(crate) struct Memory<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) id: &'a str,
    kind: Kind<'a>,
    content: &'a str,
    tags: Vec<&'a str>,
    pub(crate) status: Status,
    confidence: f64,
    pub(crate) created_at: Time,
    updated_at: Option<Time>,
    valid_from: Option<Time>,
    valid_until: Option<Time>,
    pub(crate) superseded_by: Option<&'a str>,
    platform: &'a str,
    pub(crate) conversation_ref: Option<&'a str>,
    pub(crate) message_ref: Option<&'a str>,
    extraction_method: Option<&'a str>,
    pub(crate) exportable: Option<bool>,
}

/// PAM 5.
enum Kind<'a> {
    Preference,
    Instruction,
    Goal,
    Custom(&'a str),
    Other(&'a str),
}

/// PAM 7.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Status {
    Active,
    Superseded,
    Deprecated,
    Retracted,
    Archived,
}

impl<'a> Memory<'a> {
    pub(crate) fn read(object: Object<'a>) -> Result<Self, Error> {
        let temporal = object.required_object("temporal")?;
        let provenance = object.required_object("provenance")?;
        let access = object.object("access")?;
        let exportable = access.map(|access| access.flag("exportable")).transpose()?;
        let content = object.required_text("content")?;
        let memory = Self {
            id: object.required_text("id")?,
            kind: kind(&object)?,
            content,
            tags: tags(&object)?,
            status: status(&object)?,
            confidence: confidence(&object)?,
            created_at: temporal.required_time("created_at")?,
            updated_at: temporal.time("updated_at")?,
            valid_from: temporal.time("valid_from")?,
            valid_until: temporal.time("valid_until")?,
            superseded_by: temporal.text("superseded_by")?,
            platform: provenance.platform("platform")?,
            conversation_ref: provenance.text("conversation_ref")?,
            message_ref: provenance.text("message_ref")?,
            extraction_method: provenance.text("extraction_method")?,
            exportable: exportable.flatten(),
            object,
        };
        memory.check_times(&temporal)?;
        memory.check_hash()?;
        Ok(memory)
    }

    fn check_times(&self, temporal: &Object<'_>) -> Result<(), Error> {
        if self.updated_at.is_some_and(|time| time < self.created_at) {
            let message = "is before created_at";
            return Err(temporal.member_fault("updated_at", code::TEMPORAL, message));
        }
        if self.valid_until.is_some() && self.valid_until < self.valid_from {
            let message = "is before valid_from";
            return Err(temporal.member_fault("valid_until", code::TEMPORAL, message));
        }
        Ok(())
    }

    fn check_hash(&self) -> Result<(), Error> {
        let expected = content_hash(self.content);
        if self.object.required_text("content_hash")? == expected {
            return Ok(());
        }
        let message = format!("the content has {expected}");
        Err(self
            .object
            .member_fault("content_hash", code::CONTENT_HASH, message))
    }

    /// Returns the grain that this memory embeds.
    pub(crate) fn unpack(&self, profile: Profile) -> Option<Unpacked> {
        let metadata = self.object.get("metadata")?.as_map()?;
        embedded_grain::unpack(metadata.get(EXTENSION)?, self.content, profile)
    }

    /// Returns the grains that stand beside the embedded one.
    pub(crate) fn sides(&self, profile: Profile) -> Vec<Unpacked> {
        let metadata = self.object.get("metadata");
        let packed = metadata.and_then(|metadata| metadata.as_map()?.get(EXTENSION));
        embedded_grain::unpack_sides(packed, profile)
    }

    /// Returns the grain of this memory, derived from the memories it replaces and the message it
    /// comes from.
    pub(crate) fn draft(
        &self,
        owner: &Owner<'_>,
        replaced: impl Iterator<Item = ContentAddress>,
        message: Option<ContentAddress>,
    ) -> Draft {
        let content = normalize_text(self.content);
        let residual = memory_residual(self.object.map, &content);
        let draft = match &self.kind {
            Kind::Goal => Draft::goal(content),
            Kind::Preference => Draft::belief(owner.subject(), "mg:prefers", content),
            Kind::Instruction => Draft::belief(owner.subject(), "mg:requires", content),
            Kind::Custom(name) => {
                Draft::belief(owner.subject(), relation_name("pam:custom", name), content)
            }
            Kind::Other(name) => Draft::belief(owner.subject(), format!("pam:{name}"), content),
        };
        let mut draft = owner
            .mark(draft)
            .confidence(self.confidence)
            .created_at(self.created_at)
            .set("timestamp_ms", self.created_at.ms())
            .source(source_type(self.extraction_method))
            .set("origin_namespace", self.platform)
            .set("context", residual_context(residual));
        if let Some(time) = self.valid_from {
            draft = draft.valid_from(time);
        }
        if let Some(time) = self.valid_until {
            draft = draft.valid_to(time);
        }
        if let Some(conversation) = self.conversation_ref {
            draft = draft.session(normalize_text(conversation));
        }
        for tag in &self.tags {
            draft = draft.tag(*tag);
        }
        // OMS 23.1: a grain is derived from those it replaces.
        replaced.chain(message).fold(draft, Draft::derived_from)
    }

    pub(crate) const fn ending(&self) -> Ending {
        Ending {
            status: self.status,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// The members of a memory that decide whether it is current.
#[derive(Clone, Copy)]
pub(crate) struct Ending {
    status: Status,
    pub(crate) created_at: Time,
    updated_at: Option<Time>,
}

impl Ending {
    /// Returns the status for the index layer; `end` is when the memory stopped being current,
    /// unless it says so itself.
    pub(crate) fn change(self, replacement: Option<ContentAddress>, end: Time) -> StatusChange {
        let none = StatusChange::default();
        let ended = StatusChange {
            system_valid_to: Some(self.updated_at.unwrap_or(end)),
            ..none
        };
        match self.status {
            Status::Active => none,
            Status::Deprecated => StatusChange {
                lifecycle: Some(Lifecycle::Deprecated),
                ..none
            },
            Status::Superseded => StatusChange {
                superseded_by: replacement,
                lifecycle: replacement.is_none().then_some(Lifecycle::Superseded),
                ..ended
            },
            Status::Retracted => StatusChange {
                verification: Some(Verification::Retracted),
                ..ended
            },
            Status::Archived => StatusChange {
                lifecycle: Some(Lifecycle::Archived),
                ..ended
            },
        }
    }
}

fn kind<'a>(object: &Object<'a>) -> Result<Kind<'a>, Error> {
    let custom = object.text("custom_type")?;
    let kind = match object.required_text("type")? {
        "preference" => Kind::Preference,
        "instruction" => Kind::Instruction,
        "goal" => Kind::Goal,
        "custom" => {
            let message = "custom needs a custom_type that is not empty";
            let name = custom.filter(|name| !name.is_empty());
            let missing = || object.member_fault("custom_type", code::CUSTOM_TYPE, message);
            return name.map(Kind::Custom).ok_or_else(missing);
        }
        name @ ("fact" | "skill" | "context" | "relationship" | "identity" | "environment"
        | "project") => Kind::Other(name),
        other => {
            let message = format!("\"{other}\" is none of the types of PAM 5");
            return Err(object.member_fault("type", code::SCHEMA, message));
        }
    };
    if custom.is_some() {
        let message = "must be null unless type is custom";
        return Err(object.member_fault("custom_type", code::CUSTOM_TYPE, message));
    }
    Ok(kind)
}

fn status(object: &Object<'_>) -> Result<Status, Error> {
    Ok(match object.text("status")? {
        None | Some("active") => Status::Active,
        Some("superseded") => Status::Superseded,
        Some("deprecated") => Status::Deprecated,
        Some("retracted") => Status::Retracted,
        Some("archived") => Status::Archived,
        Some(other) => {
            let message = format!("\"{other}\" is none of the statuses of PAM 7");
            return Err(object.member_fault("status", code::SCHEMA, message));
        }
    })
}

fn confidence(object: &Object<'_>) -> Result<f64, Error> {
    let Some(scores) = object.object("confidence")? else {
        return Ok(1.0);
    };
    let (current, initial) = (scores.unit("current")?, scores.unit("initial")?);
    Ok(current.or(initial).unwrap_or(1.0))
}

fn tags<'a>(object: &Object<'a>) -> Result<Vec<&'a str>, Error> {
    let mut tags = Vec::new();
    for (value, at) in object.elements("tags")? {
        let tag = value.as_text().unwrap_or_default();
        if !is_tag(tag) {
            let message = "must be a string that matches ^[a-z0-9][a-z0-9_-]*$";
            return Err(super::object::fault(code::SCHEMA, at, message));
        }
        tags.push(tag);
    }
    Ok(tags)
}

fn source_type(extraction_method: Option<&str>) -> &'static str {
    match extraction_method {
        Some("explicit_user_input" | "manual") => "user_explicit",
        Some("llm_inference") => "llm_generated",
        _ => "imported",
    }
}

fn residual_context(residual: String) -> crate::codec::Map {
    [(RESIDUAL, residual)].into_iter().collect()
}
