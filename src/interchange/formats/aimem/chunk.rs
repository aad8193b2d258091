//! A chunk: one memory of a bundle, and its grain (AIMEM 2.2).

use crate::codec::{Map, Value};
use crate::grain::{Draft, Time};
use crate::interchange::Error;
use crate::interchange::model::normalize::{
    Rest, context_of, normalize_tag, normalize_text, object_of, sha256,
};

use super::code;
use super::envelope::{Envelope, is_sha256};
use super::member::{Object, Urn};
use super::residual::{DNA, RESIDUAL};

/// One memory of a bundle.
pub(super) struct Chunk<'a> {
    pub(super) object: Object<'a>,
    pub(super) urn: Urn<'a>,
    content: &'a str,
    kind: &'a str,
    zone: Option<&'a str>,
    pub(super) is_pinned: bool,
    pub(super) created_at: Time,
    tags: Vec<&'a str>,
    has_embedding: bool,
}

impl<'a> Chunk<'a> {
    pub(super) fn read(object: Object<'a>, envelope: &Envelope<'_>) -> Result<Self, Error> {
        let urn = object.urn("id")?;
        let content = content(&object)?;
        let kind = object.text("memory_type")?;
        if !TYPES.contains(&kind) {
            let message = format!("\"{kind}\" is none of the eight types");
            return Err(object.fault(code::INVALID_MEMORY_TYPE, "memory_type", message));
        }
        let zone = object.get("zone").map(Value::as_text);
        if zone.is_some_and(|zone| !zone.is_some_and(|zone| ZONES.contains(&zone))) {
            let message = "must be critical, important or standard";
            return Err(object.fault(code::INVALID_ZONE, "zone", message));
        }
        Ok(Self {
            urn,
            content,
            kind,
            zone: zone.flatten(),
            is_pinned: object.flag("is_pinned")?,
            created_at: object.time("created_at")?,
            tags: tags(&object)?,
            has_embedding: embedding(&object, envelope)?,
            object,
        })
    }

    /// Returns whether only its owner may remove it (AIMEM 5).
    pub(super) fn is_dna(&self) -> bool {
        self.is_pinned || DNA.contains(&self.kind)
    }

    /// Returns the grain of this memory.
    pub(super) fn draft(&self, envelope: &Envelope<'_>) -> Draft {
        let content = normalize_text(self.content);
        let rest = Rest::of(self.object.map, "content", &content);
        let context = context_of(RESIDUAL, &rest);
        let relation = match self.kind {
            "preference" => "mg:prefers".to_owned(),
            "pitfall" => "mg:avoids".to_owned(),
            "procedure" => "mg:requires_steps".to_owned(),
            kind => format!("aimem:{kind}"),
        };
        let draft = match self.kind {
            "episodic" if !content.is_empty() => Draft::event(content),
            "goal" if !content.is_empty() => Draft::goal(content),
            _ => Draft::belief(envelope.subject(), relation, object_of(self.content)),
        };
        let mut draft = envelope
            .mark(draft)
            .confidence(1.0)
            .created_at(self.created_at)
            .set("timestamp_ms", self.created_at.ms())
            .set("origin_namespace", self.urn.producer)
            .set("context", context);
        draft = match self.zone {
            Some("critical") => draft.importance(1.0).set("recall_priority", "hot"),
            Some("important") => draft.importance(0.7).set("recall_priority", "warm"),
            _ => draft,
        };
        if let (true, Some((dim, model))) = (self.has_embedding, envelope.embedding) {
            let mut reference = Map::new();
            reference.insert("vector_id", self.urn.whole);
            reference.insert("model", normalize_text(model));
            reference.insert("dimensions", u64::try_from(dim).unwrap_or(u64::MAX));
            draft = draft.push("embedding_refs", reference);
        }
        let tags = self.tags.iter().filter_map(|tag| normalize_tag(tag));
        tags.fold(draft, Draft::tag)
    }
}

fn content<'a>(object: &Object<'a>) -> Result<&'a str, Error> {
    let content = object.text("content")?;
    if content.is_empty() {
        return Err(object.fault(code::EMPTY_CONTENT, "content", "is empty"));
    }
    if content.chars().count() > CONTENT_LEN_MAX {
        let message = "is longer than 65,536 code points";
        return Err(object.fault(code::CONTENT_TOO_LONG, "content", message));
    }
    let Some(stated) = object.get("content_hash") else {
        return Ok(content);
    };
    let stated = stated.as_text().filter(|stated| is_sha256(stated));
    let Some(stated) = stated else {
        let message = "must be sha256: and 64 lower-case hexadecimal digits";
        return Err(object.fault(code::BAD_HASH_FORMAT, "content_hash", message));
    };
    // AIMEM 2.2: over the bytes of the text, without normalisation.
    let actual = sha256(content.as_bytes());
    if stated == actual {
        Ok(content)
    } else {
        let message = format!("the content has {actual}");
        Err(object.fault(code::HASH_MISMATCH, "content_hash", message))
    }
}

fn tags<'a>(object: &Object<'a>) -> Result<Vec<&'a str>, Error> {
    let wrong = |message| object.fault(code::INVALID_TAG, "tags", message);
    let items = match object.get("tags") {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(wrong("must be an array")),
    };
    let tag = |item: &'a Value| {
        let tag = item.as_text();
        tag.filter(|tag| (1..=64).contains(&tag.chars().count()))
    };
    let tags = items.iter().map(tag).collect::<Option<_>>();
    tags.ok_or_else(|| wrong("must be strings of 1 to 64 code points"))
}

/// Validates a vector; the residual keeps it (AIMEM 2.7).
fn embedding(object: &Object<'_>, envelope: &Envelope<'_>) -> Result<bool, Error> {
    let Some(value) = object.get("embedding") else {
        return Ok(false);
    };
    let Some((dim, _)) = envelope.embedding else {
        let message = "the envelope tells no embedding_dim and embedding_model";
        return Err(object.fault(code::EMBEDDING_ENVELOPE, "embedding", message));
    };
    let bytes = value
        .as_text()
        .and_then(|text| data_encoding::BASE64.decode(text.as_bytes()).ok());
    let Some(bytes) = bytes else {
        let message = "must be base64 with padding";
        return Err(object.fault(code::EMBEDDING_ENCODING, "embedding", message));
    };
    if Some(bytes.len()) != dim.checked_mul(4) {
        let message = format!("holds {} bytes, not {dim} numbers of 4", bytes.len());
        return Err(object.fault(code::EMBEDDING_DIM, "embedding", message));
    }
    Ok(true)
}

/// AIMEM 2.2.
const TYPES: [&str; 8] = [
    "fact",
    "preference",
    "decision",
    "identity",
    "pitfall",
    "procedure",
    "episodic",
    "goal",
];
const ZONES: [&str; 3] = ["critical", "important", "standard"];
pub(super) const CONTENT_LEN_MAX: usize = 65_536;
